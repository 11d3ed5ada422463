"""What a report says by itself: each part is Markdown made of rows of measurements, and the plots beside it."""

import datetime
import os
import platform
import re
import shutil
from pathlib import Path

from ..core import judge_client as judge, machine, measurements, table
from . import charts, plot, profile_tables as report_profile
from ..core.course import ROOT, has_solutions


# Keys for sweeps over types, where a step may refuse large ranges.
NARROW = "range:0:255"
# What recorded results are of.
RECORDED = "the solution, recorded"


def _number(text):
    return table.grouped(float(text)) if text else ""


def _count(n):
    n = int(n)
    if n >= 1024 and n & (n - 1) == 0:
        return f"2<sup>{n.bit_length() - 1}</sup>"
    return f"{n:,}"


def pipe(headings, rows, left=1):
    """A Markdown table whose first `left` columns are flush left."""

    def line(cells):
        return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"

    rule = "|" + "".join("---|" if i < left else "---:|" for i in range(len(headings)))
    return "\n".join([line(headings), rule, *map(line, rows)])


def failures(rows, lab):
    """(measurements of a lab that failed, launch shapes that took too long for a step which ends with others)"""
    own = [row for row in measurements.whole(rows) if row["lab"] == lab]
    ends = {row["name"] for row in measurements.verified(own)}
    bad = [row for row in own if row["status"] not in ("verified", "unsupported")]
    slow = [row for row in bad if row["status"] == "hung" and row["blocks"] != "0" and row["name"] in ends]
    return [row for row in bad if row not in slow], slow


def _launch(row):
    return f"&lt;&lt;&lt;{row['blocks']}, {row['threads']}&gt;&gt;&gt;"


class Report:
    """The rows and the place of one report. A method a part: Markdown, or "" where there is nothing to say."""

    def __init__(self, lab, folder, rows, kind, facts, device, others=(), solution=False, profiled=None, left_out=None):
        """facts: the lab's table of steps; device: [(what, value)]; others: [(name, rows)] of other machines; profiled: what
        report_profile.gather() gives; left_out: sweep -> sentences on what of it was not measured"""
        self.lab, self.folder, self.rows, self.kind, self.facts = lab, folder, rows, kind, facts
        self.device, self.others, self.solution = device, others, solution
        self.profiled = profiled
        self.left_out = left_out or {}
        self.plots = plot.available()

    # --- helpers ---

    def figure(self, name, draw, caption, *more):
        """The Markdown of a plot in plots/, drawn by `draw(rows, lab, stem, ..)`; "" where it has nothing to show."""
        if not self.plots:
            return ""
        stem = self.folder / "plots" / name
        if not draw(self.rows, self.lab, stem, *more):
            return ""
        return f"![{caption}](plots/{name}.svg)"

    def not_measured(self, *sweeps):
        """Sentences on what these sweeps left out."""
        return list(dict.fromkeys(sentence for name in sweeps for sentence in self.left_out.get(name, [])))

    def own(self):
        """Verified rows of this lab's steps, in the build that is reported."""
        return [row for row in measurements.verified(self.rows) if row["lab"] == self.lab and row["build"] == self.kind]

    def _over_n(self, lines, golds, cell, what):
        sizes = sorted({int(row["n"]) for own in lines.values() for row in own})
        if not sizes:
            return ""
        rows = []
        for name, own in [*((charts.label(own[0]), own) for own in lines.values()), *golds]:
            by_n = {int(row["n"]): cell(row) for row in own}
            rows.append([name, *(by_n.get(n, "") for n in sizes)])
        return pipe([what, *(f"n = {_count(n)}" for n in sizes)], rows)

    def _golds(self, lines):
        """The gold standard's rows, a line for each of its programs, where a line of the lab has the same n and type."""
        found = {}
        for own in lines.values():
            for row in own:
                for gold in charts.usual(self.rows):
                    if gold["lab"] == "gold" and all(
                        gold[key] == row[key] for key in ("build", "task", "tile", "type", "n")
                    ):
                        name = charts.gold_name(gold["name"], gold["build"])
                        found.setdefault(f"*{name}*", {})[int(gold["n"])] = gold
        return [(name, [by_n[n] for n in sorted(by_n)]) for name, by_n in found.items()]

    # --- the parts ---

    def statement(self):
        """The lab's first words and its steps."""
        handout = ROOT / "labs" / self.lab / "README.md"
        words = ""
        if handout.is_file():
            text = handout.read_text(encoding="utf-8")
            paragraphs = [p for p in re.split(r"\n\s*\n", text) if p.strip()]
            first = next((p for p in paragraphs if not p.lstrip().startswith(("#", "|", "!", "`", "<!--"))), "")
            words = re.sub(r"\[([^\]]+)\]\((?!https?:)[^)]+\)", r"\1", first).strip()
        rows = [
            [
                f"{number:02}",
                fact["name"] + ("" if task == "sort" else f" ({task})"),
                fact["idea"],
                ", ".join(fact["types"]),
                "yes" if fact["stable"] else "no" if task == "sort" else "",
            ]
            for (number, task), fact in self.facts.items()
        ]
        return words + "\n\n" + pipe(["step", "name", "idea", "keys", "stable"], rows, left=5)

    def machine(self):
        """The table of hardware and software."""
        rows = []
        with_gpu = self.kind == "cuda"
        device = dict(self.device)
        if with_gpu:
            rows += [
                ["GPU", device.pop("device", "?")],
                *([what, _digits(value)] for what, value in device.items() if value not in ("0", "")),
            ]
            told = machine.answer("nvidia-smi", "--id=0", "--query-gpu=driver_version", "--format=csv,noheader")
            rows.append(["driver", told or "?"])
        else:
            rows.append(["GPU", "none used: CUDA on the processor (the cpu build)"])
            wanted = (
                "compute capability",
                "shared memory a block, bytes",
                "constant memory, bytes",
                "registers a block",
                "threads a block, at most",
                "blocks of a launch, at most",
            )
            rows += [[f"{what} (as emulated)", _digits(device[what])] for what in wanted if what in device]
        roof = next((row["roof_gb_per_s"] for row in self.own() if row["roof_gb_per_s"]), "")
        if roof:
            rows.append(
                [
                    f"memory's roof: copying on the {'GPU' if with_gpu else 'processor, all cores'}, read + written, GB/s",
                    _number(roof),
                ]
            )
        nvcc = machine.answer("nvcc", "--version") or ""
        release = re.search(r"release ([\d.]+), V([\d.]+)", nvcc)
        rows.append(["CUDA toolkit", f"{release[1]} (nvcc {release[2]})" if release else "none"])
        rows += host_facts()
        own = self.own()
        if own:
            commits = list(dict.fromkeys(row["commit"] for row in own if row["commit"]))
            dates = sorted({row["date"][:10] for row in own})
            rows.append(
                [
                    "measured",
                    f"{dates[0]}{'' if len(dates) == 1 else ' to ' + dates[-1]}, commit {', '.join(commits)}"
                    f"{' (+: with changes that are not committed)' if any('+' in c for c in commits) else ''}",
                ]
            )
        return pipe(["what", "value"], rows, left=2)

    def program(self):
        """Which files, how long, and which kernels were launched."""
        top = ROOT / ("solutions" if self.solution and has_solutions() else "labs") / self.lab
        rows = []
        for path in sorted(top.glob("[0-9][0-9]_*.cu")):
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
            code = [line for line in lines if line.strip() and not line.strip().startswith("//")]
            kernels = re.findall(
                r"__global__\s+(?:__launch_bounds__\([^)]*\)\s*)?void\s+(?:__launch_bounds__\([^)]*\)\s*)?(\w+)",
                "\n".join(code),
            )
            rows.append([f"`{path.name}`", ", ".join(f"`{name}`" for name in dict.fromkeys(kernels)), len(code)])
        return pipe(["file", "kernels", "lines of code"], rows, left=2) if rows else ""

    def results(self):
        """How it was measured."""
        own = measurements.whole(self.own())
        if not own:
            return "Nothing has been measured yet: no step of this lab runs to its end."
        runs = sum(int(row["repeats"]) for row in own)
        text = (
            f"{len(own):,} measurements, {runs:,} timed runs. Each run had an input of its own, and each output was "
            "verified against the gold standard. A time is the median of the runs, without the copies to the device "
            "and back, after a warm-up"
            + (", with the level 2 cache flushed before each run" if self.kind == "cuda" else "")
            + ". All tables and plots come from the rows in `csv/`."
        )
        if self.kind == "cpu":
            text += (
                "\n\n**These are times of the cpu build**: CUDA emulated on the processor. They show how the work grows; "
                "which step is faster on a GPU they do not show."
            )
        well = {row["name"] for row in own}
        told = {}
        for row in failures(self.rows, self.lab)[0]:
            told.setdefault((row["step"], row["name"], row["status"]), []).append(row)
        for (step, name, status), rows in told.items():
            if name not in well:
                text += f"\n\nStep {int(step):02} {name} is not among them: {status}: {rows[0]['message']}"
                continue
            cases = [
                f"n = {int(row['n']):,}"
                + f", launch {_launch(row)}" * (row["blocks"] != "0")
                + f", {row['type']}, {row['input']}"
                for row in rows
            ]
            where = "; ".join(cases[:3]) + " and others" * (len(cases) > 3)
            text += f"\n\nStep {int(step):02} {name}, {status} at {where}: {rows[0]['message']}"
        wide = [row for row in own if row["message"].startswith("spread")]
        if wide:
            text += (
                f"\n\nIn {len(wide)} of the measurements the middle half of the runs spans more than a quarter of the "
                "median: the machine had other work, or the times are too short to be known well."
            )
        return text

    def n(self):
        """Time and speed over n."""
        rows = [row for row in charts.usual(self.rows) if row["build"] == self.kind]
        sweep = charts.powers(rows)
        lines = {key: own for key, own in charts.by_line(sweep, self.lab).items() if key[1] == "sort"}
        if not lines:
            return ""
        golds = self._golds(lines)
        kinds = sorted({own[0]["type"] for own in lines.values()})
        told = f"Uniform {' and '.join(kinds)} keys, ascending; the launch shape is each step's own choice."
        gold_share = {key: [row for row in own if row["ratio"]] for key, own in lines.items()}
        texts = [
            told,
            self.figure(
                "speed",
                _of(rows, charts.over_n),
                "Keys a second against the number of keys: all steps, the gold "
                "standard (dashed; for tiles dotted), and the memory's roof: each key read and written once at the "
                "speed of a copy. (What fits into a cache can exceed it.)",
                "speed",
            ),
            self.figure("time", _of(rows, charts.over_n), "Time of one sort against the number of keys.", "time"),
            self._over_n(lines, golds, lambda row: _number(row["median_ms"]), "median, ms"),
            self._over_n(lines, golds, lambda row: table.grouped(charts.speed(row) / 1e6), "Mkeys/s"),
            self._over_n(
                {key: own for key, own in gold_share.items() if own},
                [],
                lambda row: table.grouped(100 * float(row["ratio"])),
                "% of the gold standard",
            ),
            self._over_n(lines, golds, lambda row: _number(row["percent_of_roof"]), "% of the memory's roof"),
            *self.not_measured("n"),
        ]
        return "\n\n".join(filter(None, texts))

    def parts(self):
        """Reduction, histogram, scan: beside their gold standards."""
        rows = [row for row in charts.usual(self.rows) if row["build"] == self.kind]
        sweep = charts.powers(rows)
        lines = {key: own for key, own in charts.by_line(sweep, self.lab).items() if key[1] != "sort"}
        if not lines:
            return ""
        return "\n\n".join(
            filter(
                None,
                [
                    self.figure(
                        "parts",
                        _of(rows, charts.parts_over_n),
                        "Values a second against their number, each part beside the gold standard's.",
                    ),
                    self._over_n(lines, self._golds(lines), lambda row: _number(row["median_ms"]), "median, ms"),
                    self._over_n(
                        lines, self._golds(lines), lambda row: _number(row["percent_of_roof"]), "% of the memory's roof"
                    ),
                ],
            )
        )

    def _kernel_rows(self):
        return [
            row
            for row in self.own()
            if row["kernel"] not in ("", *measurements.TRANSFERS) and row["input"] == "uniform"
        ]

    def kernels(self):
        """Each kernel's time over launch shapes and sizes; the shares at the largest n."""
        rows = self._kernel_rows()
        if not rows:
            return ""
        texts = [
            self.figure(
                "kernels",
                charts.kernels,
                "The share of each kernel in the time of all kernels of a step, at "
                "the largest n of the sweep. (Kernels are timed in runs of their own, which are not part of the "
                "times above.)",
            )
        ]
        shaped = [row for row in rows if int(row["n"]) in (1000, 10000, 100000)]
        kernels = {}
        for row in shaped:
            kernels.setdefault((int(row["step"]), row["task"], row["name"], row["kernel"]), []).append(row)
        for (number, _, name, kernel), own in sorted(kernels.items(), key=lambda item: item[0][:3]):
            texts.append(f"Kernel `{kernel}` of step {number:02} {name}, milliseconds of all its launches in one sort:")
            texts.append(_shape_table(own, lambda row: _number(row["median_ms"])))
        return "\n\n".join(filter(None, [*texts, *self.not_measured("sizes")]))

    def profile(self):
        """What each kernel does to memory; without a profile, what a launch of it has."""
        return self._profile() if self.profiled else self._launches()

    def _profile(self):
        found = self.profiled
        names = {number: f"{number:02} {fact['name']}" for (number, task), fact in self.facts.items() if task == "sort"}
        known = {(int(row["step"]), row["kernel"]): row for row in self._kernel_rows()}
        launches, memory = report_profile.launch_table(found, names, known), report_profile.memory_table(found, names)
        if found["source"] == "cuda":
            source = "profiled by Nsight Compute"
        else:
            source = (
                "profiled by the check build, which counts what a GPU would do and takes the time of this processor"
                + (f" (not by Nsight Compute: {found['why']})" if found["why"] else "")
                + "; registers are nvcc's to tell" * (self.kind == "cpu")
            )
        return "\n\n".join(
            [
                f"One sort of {_count(found['n'])} keys, {source}. Times are of all launches together, registers of a thread, static "
                "and dynamic shared memory (bytes) and barriers of a block; occupancy is of a multiprocessor's warps"
                + ("." if found["source"] == "cuda" else ", at most, by threads and shared memory."),
                pipe(*launches, left=2),
                "What the kernels do to memory. A request is an instruction of a warp; it takes one wavefront of shared memory, and "
                "more where lanes meet in a bank. Global memory moves in sectors of 32 bytes; ideal is what the same bytes need "
                "when neighbours are read together. (Atomics on shared memory stand apart, those on global memory are among "
                "its requests.)",
                pipe(*memory, left=2),
            ]
        )

    def _launches(self):
        """Shape, memory and registers of each kernel."""
        rows = [row for row in self._kernel_rows() if (row["blocks"], row["threads"]) == ("0", "0")]
        largest = {}
        for row in rows:
            key = row["step"], row["task"], row["name"]
            largest[key] = max(largest.get(key, 0), int(row["n"]))
        rows = [row for row in rows if int(row["n"]) == largest[row["step"], row["task"], row["name"]]]
        if not rows:
            return ""
        lines = []
        for row in sorted(rows, key=lambda row: (int(row["step"]), row["task"] != "sort")):
            lines.append(
                [
                    charts.label(row),
                    f"`{row['kernel']}`",
                    _count(row["n"]),
                    row["launches"],
                    f"{int(row['grid']):,}",
                    row["block"],
                    row["static_shared"] or "-",
                    row["dynamic_shared"],
                    row["registers"] or "-",
                    _number(row["median_ms"]),
                ]
            )
        note = (
            ""
            if self.kind == "cuda"
            else (" Static shared memory and registers are nvcc's to tell, and not known without it.")
        )
        return (
            f"The largest launch of each kernel, in the largest sort that was measured: threads and bytes of shared memory a block, registers a thread.{note}\n\n"
            + pipe(
                [
                    "step",
                    "kernel",
                    "n",
                    "launches",
                    "blocks",
                    "threads",
                    "static shared",
                    "dynamic shared",
                    "registers",
                    "ms in all",
                ],
                lines,
                left=2,
            )
        )

    def shapes(self):
        """Speed over blocks and threads."""
        own = [row for row in measurements.whole(self.own()) if row["blocks"] != "0" and row["task"] == "sort"]
        if not own:
            return ""
        texts = [
            self.figure(
                "shapes",
                charts.shapes,
                "Keys a second over blocks and threads of the launch, a map a step. Brighter is faster.",
            ),
            self.figure(
                "shape-lines",
                charts.shape_lines,
                "Time against the number of keys for some launch shapes; the fastest at the "
                "largest n has the step's colour.",
            ),
        ]
        steps = {}
        for row in measurements.whole(self.own()):
            if int(row["n"]) in (1000, 10000, 100000) and row["input"] == "uniform":
                steps.setdefault((int(row["step"]), row["task"], row["name"]), []).append(row)
        for (number, _, name), rows in sorted(steps.items()):
            if any(row["blocks"] != "0" for row in rows):
                texts += [
                    f"Step {number:02} {name}, median in milliseconds:",
                    _shape_table(rows, lambda row: _number(row["median_ms"])),
                ]
        impossible = {}
        for row in measurements.whole(self.rows):
            if row["status"] == "unsupported" and row["blocks"] != "0":
                shape = int(row["blocks"]), int(row["threads"]), _launch(row)
                impossible.setdefault(row["message"], set()).add(shape)
        for message, some in impossible.items():
            launches = ", ".join(launch for *_, launch in sorted(some)[:6]) + " and others" * (len(some) > 6)
            texts.append(f"Left out: {launches}: {message}.")
        slow = {}
        for row in failures(self.rows, self.lab)[1]:
            limit = re.search(r"within ([\d.]+ s)", row["message"])
            slow.setdefault((int(row["step"]), row["name"], limit[1] if limit else "the time limit"), []).append(row)
        for (number, name, limit), rows in sorted(slow.items()):
            cases = "; ".join(f"{_launch(row)} with n = {int(row['n']):,}" for row in rows)
            texts.append(
                f"Left out: step {number:02} {name} took longer than {limit} for {cases}. (It ends with other "
                "launch shapes.)"
            )
        return "\n\n".join(filter(None, [*texts, *self.not_measured("sizes", "shapes")]))

    def _by(self, rows, column, heading, words=str, more=None):
        """A line for each value of a column, a column for each step. more: (heading, words of the value) of a second column."""
        rows = [row for row in rows if row["task"] == "sort"]
        steps = list(
            dict.fromkeys((int(row["step"]), row["name"]) for row in sorted(rows, key=lambda r: int(r["step"])))
        )
        values = list(dict.fromkeys(row[column] for row in rows))
        lines = []
        for value in values:
            found = {row["name"]: row for row in rows if row[column] == value}
            cells = (table.grouped(charts.speed(found[name]) / 1e6) if name in found else "" for _, name in steps)
            lines.append([words(value), *([more[1](value)] if more else []), *cells])
        return pipe(
            [heading, *([more[0]] if more else []), *(f"{number:02} {name}, Mkeys/s" for number, name in steps)], lines
        )

    def inputs(self):
        """Speed over distributions."""
        plain = [
            row
            for row in measurements.whole(self.own())
            if row["task"] == "sort" and ":" not in row["input"] and row["blocks"] == "0"
        ]
        texts = []
        for place, rows in enumerate(_swept(plain, "input")):
            rows, kind = charts.by_entropy(rows), rows[0]["type"]

            def bits(name, kind=kind):
                value = charts.entropy(name, kind)
                return "" if value is None else table.grouped(value)

            texts += [
                f"{_count(rows[0]['n'])} {kind} keys, ascending."
                + (
                    " Entropy is of a key, in bits: random inputs come first, by entropy (and-K: keys that are the AND "
                    "of K uniform words), and then those that differ by their order."
                    if place == 0
                    else ""
                ),
                self.figure(
                    _numbered("inputs", place),
                    _of(rows, charts.inputs),
                    "Keys a second for each distribution of the keys.",
                ),
                self._by(rows, "input", "input", more=("entropy", bits)),
            ]
        return "\n\n".join(filter(None, [*texts, *self.not_measured("inputs")])) if texts else ""

    def types(self):
        """Speed over key types."""
        plain = [
            row
            for row in measurements.whole(self.own())
            if row["task"] == "sort" and row["blocks"] == "0" and row["input"] in ("uniform", NARROW)
        ]
        texts = []
        for place, rows in enumerate(_swept(plain, "type", ("n", "input"))):
            rows.sort(key=lambda row: list(charts.BYTES).index(row["type"]))
            texts += [
                f"{_count(rows[0]['n'])} keys, uniform"
                + " from 0 to 255" * (rows[0]["input"] == NARROW)
                + ", ascending."
                + (" (pairs: u32 keys that carry u32 values.)" if any(row["type"] == "pairs" for row in rows) else ""),
                self.figure(_numbered("types", place), _of(rows, charts.types), "Keys a second for each type of key."),
                self._by(rows, "type", "type"),
            ]
        return "\n\n".join(filter(None, [*texts, *self.not_measured("types")])) if texts else ""

    def ranges(self):
        """Speed over the largest value, and over launch shapes with each."""
        ranged = [
            row
            for row in measurements.whole(self.own())
            if charts.largest_value(row) is not None and row["task"] == "sort"
        ]
        rows = _most([row for row in ranged if row["blocks"] == "0"], "input")
        texts = []
        if len({row["input"] for row in rows}) > 1:
            rows.sort(key=charts.largest_value)
            texts = [
                f"{_count(rows[0]['n'])} {rows[0]['type']} keys, uniform from 0 to the largest value: the fewer values, the less "
                "entropy. A step that is missing refuses that range.",
                self.figure(
                    "ranges", _of(rows, charts.value_range), "Keys a second against the number of different values."
                ),
                self.figure(
                    "range-lines",
                    charts.value_range_lines,
                    "Time against the number of keys, for several largest values.",
                ),
                self._by(rows, "input", "largest value", lambda name: f"{int(name.split(':')[2]):,}"),
            ]
        texts += self._ranges_by_shape([row for row in ranged if row["blocks"] != "0"])
        return "\n\n".join(filter(None, [*texts, *self.not_measured("ranges")])) if texts else ""

    def _ranges_by_shape(self, ranged):
        """A table a step: launch shapes down, largest values across."""
        texts = []
        for number, name in sorted({(int(row["step"]), row["name"]) for row in ranged}):
            rows = _most([row for row in ranged if row["name"] == name], "input")
            values = sorted({charts.largest_value(row) for row in rows})
            cells = {(int(row["blocks"]), int(row["threads"]), charts.largest_value(row)): row for row in rows}
            shapes = sorted({shape[:2] for shape in cells})
            if len(values) < 2 or len(shapes) < 2:
                continue
            texts += [
                f"Step {number:02} {name}, milliseconds for {_count(rows[0]['n'])} {rows[0]['type']} keys, by launch shape "
                "and largest value:",
                pipe(
                    ["launch shape", *(f"0 to {value:,}" for value in values)],
                    [
                        [
                            _launch({"blocks": blocks, "threads": threads}),
                            *(
                                _number(cells[blocks, threads, value]["median_ms"])
                                if (blocks, threads, value) in cells
                                else ""
                                for value in values
                            ),
                        ]
                        for blocks, threads in shapes
                    ],
                ),
            ]
        return texts

    def transfers(self):
        """The copies, beside the sort itself."""
        rows = [row for row in self.own() if row["blocks"] == "0" and row["input"] == "uniform"]
        copies = [row for row in rows if row["kernel"] in measurements.TRANSFERS]
        if not copies:
            return ""
        last = max(copies, key=lambda row: (row["task"] == "sort", row["tile"] == "0", int(row["step"])))
        same = ("step", "name", "type")
        lines = []
        for n in sorted({int(row["n"]) for row in copies if all(row[k] == last[k] for k in same)}):
            found = {row["kernel"]: row for row in rows if int(row["n"]) == n and all(row[k] == last[k] for k in same)}
            if not {"", *measurements.TRANSFERS} <= found.keys():
                continue
            there, back, sort = found["to device"], found["to host"], found[""]
            total = sum(charts.milliseconds(row) for row in (there, back, sort))
            lines.append(
                [
                    _count(n),
                    _number(there["median_ms"]),
                    _number(there["gb_per_s"]),
                    _number(back["median_ms"]),
                    _number(back["gb_per_s"]),
                    _number(sort["median_ms"]),
                    f"{100 * (1 - charts.milliseconds(sort) / total):.0f}" if total else "",
                ]
            )
        where = "ordinary (pageable) memory" if self.kind == "cuda" else "one part of the processor's memory to another"
        return f"Step {charts.label(last)}, {last['type']} keys; the copies go from {where}.\n\n" + pipe(
            ["n", "to the device, ms", "GB/s", "back, ms", "GB/s", "sort, ms", "copies, % of all"], lines, left=1
        )

    def processors(self):
        """The best on a GPU against the best on a CPU."""
        gpu_rows, gpu_name, gpu_recorded = [], "", False
        for name, rows in [("", self.rows), *self.others]:
            found = [row for row in measurements.verified(rows) if row["build"] == "cuda" and row["lab"] == self.lab]
            if found:
                gpu_rows, gpu_name, gpu_recorded = rows, found[0]["machine"].split(",")[0], bool(name)
                break
        cpu = [
            row
            for row in charts.usual(self.rows)
            if row["build"] == "cpu" and row["lab"] == "gold" and row["task"] == "sort" and row["tile"] == "0"
        ]
        if not gpu_rows or not cpu:
            return ""
        usual = [row for row in charts.usual(gpu_rows) if row["build"] == "cuda"]
        lines = [
            own for key, own in charts.by_line(usual, self.lab).items() if key[1] == "sort" and own[0]["tile"] == "0"
        ]
        if not lines:
            return ""
        best = max(lines, key=lambda own: max(map(charts.speed, own)))
        kind = best[0]["type"]
        cpu = [row for row in cpu if row["type"] == kind] or cpu
        where = f"{gpu_name}, {RECORDED}" if gpu_recorded else gpu_name
        series = [(f"{charts.label(best[0])}, {where}", int(best[0]["step"]), 0, _points(best))]
        copies, same = {}, ("lab", "step", "name", "type", "build", "blocks", "threads", "input")
        for other in measurements.verified(gpu_rows):
            if other["kernel"] in measurements.TRANSFERS and all(other[key] == best[0][key] for key in same):
                copies.setdefault(int(other["n"]), {})[other["kernel"]] = charts.milliseconds(other)
        copied = [
            (n, n / ((charts.milliseconds(row) + sum(copies[n].values())) * 1e-3))
            for row in best
            if len(copies.get(n := int(row["n"]), {})) == 2
        ]
        series.append(("the same with the copies", int(best[0]["step"]), 1, copied))
        names = [
            name
            for name in dict.fromkeys(row["name"] for row in cpu)
            if name in ("counting", "sort", "vqsort", "spreadsort", "stable-sort")
        ]
        for place, name in enumerate(names):
            own = sorted((row for row in cpu if row["name"] == name), key=lambda row: int(row["n"]))
            series.append(
                (
                    charts.gold_name(name, "cpu"),
                    None,
                    0 if name in ("counting", "vqsort") else 1 + place % 2,
                    _points(own),
                )
            )
        tables = []
        for sizes in _powers_and_others(n for line in series for n, _ in line[3]):
            lines = [
                [name, *(table.grouped(n / speed * 1e3) if (speed := dict(points).get(n)) else "" for n in sizes)]
                for name, _, _, points in series
                if {n for n, _ in points} & set(sizes)
            ]
            tables.append(pipe(["median, ms", *(f"n = {_count(n)}" for n in sizes)], lines))
        caption = f"Keys a second: the best step on a GPU ({where}) and the best programs on this processor."
        text = ""
        drawn = []  # over powers of two; what was measured at other sizes only, over these
        for name, number, dashes, points in series:
            powers = [point for point in points if charts.is_power(point[0])]
            drawn.append((name, number, dashes, powers if len(powers) > 1 else points))
        if self.plots and charts.machines(drawn, self.folder / "plots" / "processors", f"keys a second, {kind}"):
            text = f"![{caption}](plots/processors.svg)\n\n"
        vector = "VQSort uses its vector units; " * ("vqsort" in names)
        recorded = " (the solution's results, recorded there and not on this machine)" * gpu_recorded
        return (
            f"GPU: {gpu_name}{recorded}. CPU: {measurements.hardware(cpu[0]['machine'])}; {vector}all run on one "
            "core.\n\n" + text + "\n\n".join(tables)
        )

    def machines(self):
        """The best step of each machine over n."""
        found = []
        for name, rows in [("this report", self.rows), *self.others]:
            for kind in ("cuda", "cpu"):
                own = [row for row in charts.usual(rows) if row["build"] == kind]
                lines = [line for key, line in charts.by_line(own, self.lab).items() if key[1] == "sort"]
                whole = [line for line in lines if line[0]["tile"] == "0"] or lines
                if whole:
                    best = max(whole, key=lambda line: max(map(charts.speed, line)))
                    where = best[0]["machine"].split(",")[0] + f", {RECORDED}" * name.endswith(RECORDED)
                    found.append((name, kind, where, best))
        if len(found) < 2:
            return ""
        names = [where for _, _, where, _ in found]
        series, rows, titles = [], [], {}
        sizes = sorted({int(row["n"]) for *_, line in found for row in line if charts.is_power(row["n"])})
        sizes = sizes[::2] if len(sizes) > 8 else sizes
        for place, (name, kind, where, best) in enumerate(found):
            title = where if names.count(where) == 1 else f"{where} ({name.removesuffix(f', {RECORDED}')})"
            title += " (cpu build)" if kind == "cpu" else ""
            titles[name, kind] = title
            best = [row for row in best if charts.is_power(row["n"])]
            if not best:
                continue
            series.append((f"{charts.label(best[0])}, {title}", int(best[0]["step"]), place, _points(best)))
            by_n = {int(row["n"]): row for row in best}
            rows.append(
                [
                    title,
                    charts.label(best[0]),
                    *(table.grouped(charts.speed(by_n[n]) / 1e6) if n in by_n else "" for n in sizes),
                ]
            )
        text = ""
        if self.plots and charts.machines(series, self.folder / "plots" / "machines", "keys a second"):
            text = "![Keys a second of the fastest step on each machine.](plots/machines.svg)\n\n"
        fastest = pipe(["machine", "fastest step, Mkeys/s", *(f"n = {_count(n)}" for n in sizes)], rows, left=2)
        return "\n\n".join([text + fastest, *self._step_by_step(titles)])

    def _step_by_step(self, titles):
        """Tables of each step that several machines have timed with the same launch shapes, or over the same ranges of
        values, or both, at the largest number of keys that they have in common."""
        several = {}  # (step, what, name, type) -> n -> machine -> launch or range -> milliseconds
        for name, rows in [("this report", self.rows), *self.others]:
            for row in measurements.whole(measurements.verified(rows)):
                if row["lab"] != self.lab or (name, row["build"]) not in titles or row["order"] != "ascending":
                    continue
                shaped, largest = row["blocks"] != "0", charts.largest_value(row)
                ranged = largest is not None
                if not (shaped or ranged) or not (ranged or row["input"] == "uniform"):
                    continue
                names = (["launch shape", _launch(row)] if shaped else []) + (
                    ["largest value", f"{largest:,}"] if ranged else []
                )
                what, words = " and ".join(names[::2]), ", ".join(names[1::2])
                cell = (largest, int(row["blocks"]), int(row["threads"]), words)
                case = several.setdefault((int(row["step"]), what, row["name"], row["type"]), {})
                at = case.setdefault(int(row["n"]), {}).setdefault(titles[name, row["build"]], {})
                at[cell] = _number(row["median_ms"])
        texts = []
        for (number, what, name, kind), by_n in sorted(several.items()):
            common = [n for n, machines in by_n.items() if len(machines) > 1]
            if not common:
                continue
            machines = by_n[max(common)]
            cells = sorted({cell for timed in machines.values() for cell in timed})
            if len(cells) < 2:
                continue
            texts += [
                f"Step {number:02} {name}, milliseconds for {max(common):,} {kind} keys, by {what}:",
                pipe(
                    [what, *machines],
                    [[cell[-1], *(timed.get(cell, "") for timed in machines.values())] for cell in cells],
                ),
            ]
        return texts


# --- rows and cells ---


def _digits(value):
    if not re.fullmatch(r"[\d x()]+", value):
        return value
    return re.sub(r"\d{5,}", lambda digits: f"{int(digits[0]):,}", value)


def _powers_and_others(sizes):
    """Powers of two, at most eight or so, and the other sizes, each for a table of its own."""
    sizes = sorted(set(sizes))
    powers = [n for n in sizes if charts.is_power(n)]
    others = [n for n in sizes if not charts.is_power(n)]
    return [some for some in (powers[::2] if len(powers) > 8 else powers, others) if some]


def _points(rows):
    return [(int(row["n"]), charts.speed(row)) for row in rows]


def _of(rows, draw):
    """`draw` on these rows in place of all."""
    return lambda _, *more: draw(rows, *more)


def _most(rows, column, keys=("n", "type")):
    """The rows of that n (and type) for which the most values of `column` were measured."""
    groups = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    return max(groups.values(), key=lambda group: (len({row[column] for row in group}), int(group[0]["n"])), default=[])


def _swept(rows, column, keys=("n", "type")):
    """The rows of a sweep over `column`, each step at the n where it has most values: a list an n, largest first."""
    values = {}
    for row in rows:
        values.setdefault(row["name"], {}).setdefault(tuple(row[key] for key in keys), set()).add(row[column])
    most = _most(rows, column, keys)
    main = tuple(most[0][key] for key in keys) if most else ()
    place = {name: max(found, key=lambda key: (len(found[key]), key == main)) for name, found in values.items()}
    groups = {}
    for row in rows:
        if place[row["name"]] == tuple(row[key] for key in keys):
            groups.setdefault(place[row["name"]], []).append(row)
    groups = [group for group in groups.values() if len({row[column] for row in group}) > 1]
    return sorted(groups, key=lambda group: -int(group[0]["n"]))


def _numbered(name, place):
    return name if place == 0 else f"{name}-{place + 1}"


def _shape_table(rows, cell):
    sizes = sorted({int(row["n"]) for row in rows})
    shapes = sorted({(int(row["blocks"]), int(row["threads"])) for row in rows})
    found = {(int(row["blocks"]), int(row["threads"]), int(row["n"])): cell(row) for row in rows}
    lines = [
        [
            "its own choice" if shape == (0, 0) else f"&lt;&lt;&lt;{shape[0]}, {shape[1]}&gt;&gt;&gt;",
            *(found.get((*shape, n), "") for n in sizes),
        ]
        for shape in shapes
        if any((*shape, n) in found for n in sizes)
    ]
    return pipe(["launch", *(f"n = {n:,}" for n in sizes)], lines)


def host_facts():
    """Rows about the processor and the system."""
    model = machine.processor() or platform.processor() or platform.machine()
    memory = f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 2**30:.1f} GiB"
    disk = shutil.disk_usage(ROOT)
    system = ""
    try:
        system = re.search(
            r'^PRETTY_NAME="?([^"\n]*)', Path("/etc/os-release").read_text(encoding="utf-8"), re.MULTILINE
        )[1]
    except (OSError, TypeError):
        system = platform.system()
    cxx = machine.compiler()
    version = (machine.answer(*cxx, "--version") or "").splitlines() if cxx else []
    return [
        ["processor", model],
        ["cores", f"{len(os.sched_getaffinity(0))}"],
        ["memory", memory],
        ["disk", f"{disk.total / 1e9:.0f} GB, {disk.free / 1e9:.0f} GB free"],
        ["system", f"{system}, {platform.system()} {platform.release()}"],
        ["C++ compiler", version[0] if version else "none"],
        ["made", datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")],
    ]


def device_facts(runner):
    """[(what, value)] about the device that a runner has."""
    return judge.device(runner)

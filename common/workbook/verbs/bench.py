"""Times steps against the gold standard: sweeps over n, launch shapes, inputs, value ranges, types, steps and labs."""

import contextlib
import fcntl
import hashlib
import json
import os
import re
import time
from pathlib import Path

from ..core import build, files, judge_client as judge, machine, measurements, table
from ..core.course import BUILD, find_lab, find_step, labs, shown, steps
from .run import add_common_arguments, prepare
from ..core.terminal import Problem, Terminated, Usage, note, paint

DEFAULT_N = {"cpu": ["2^10", "2^14", "2^18"], "cuda": ["2^10", "2^14", "2^18", "2^22", "2^26"]}
GRID = {"blocks": (1, 4, 16, 64, 256, 1024), "threads": (32, 64, 128, 256, 512, 1024)}
FOLDER = BUILD / "bench"
UNFINISHED = FOLDER / "unfinished"
KEPT_FOR = 30 * 24 * 3600  # seconds that an unfinished sweep waits to be gone on with
IN_USE_FOR = 3600  # seconds within which a sweep that still runs has written a row
WIDE = 25  # percent of the median; above it the judge warns of a spread, too


def add_arguments(parser):
    """The verb's options."""
    several = {"nargs": "+", "action": "extend"}
    parser.add_argument("lab", nargs="+", metavar="LAB", help="one or several; all: every lab there is")
    parser.add_argument("--step", metavar="STEP", help="else all", **several)
    parser.add_argument("--n", metavar="N", help="how many keys, as 1000 or 2^20; several are swept", **several)
    parser.add_argument("--input", metavar="NAME", help="uniform, sorted, range:0:255, .. or file:PATH", **several)
    parser.add_argument("--largest-value", metavar="V", help="uniform keys from 0 to V, as 255 or 2^16", **several)
    parser.add_argument("--type", metavar="TYPE", help="u32, i32, f32, u64, pairs, ..", **several)
    parser.add_argument("--order", metavar="ORDER", help="ascending, descending", **several)
    parser.add_argument("--blocks", metavar="B", help="blocks of a launch; 0: the step chooses", **several)
    parser.add_argument("--threads", metavar="T", help="threads of a block; 0: the step chooses", **several)
    parser.add_argument(
        "--shapes",
        metavar="BxT",
        help="launch shapes one by one, as 64x256; grid: from <<<1, 32>>> to <<<1024, 1024>>>",
        **several,
    )
    parser.add_argument("--kernels", action="store_true", help="how long each kernel of a step takes, as well")
    parser.add_argument("--transfers", action="store_true", help="how long the copies to the device and back take")
    parser.add_argument("--repeats", metavar="MAX", help="timed runs of a measurement at most")
    parser.add_argument("--min-time", metavar="SECONDS", help="of sorting in a measurement at least")
    parser.add_argument("--time-limit", metavar="SECONDS", help="that a measurement may take in all")
    parser.add_argument("--budget", metavar="SECONDS", help="after which no measurement of a lab begins")
    parser.add_argument("--csv", metavar="FILE", help="where the rows go; else a new file a lab in build/bench/")
    parser.add_argument("--machine", metavar="NAME", help="a short name of this machine, for the rows; else its own")
    parser.add_argument("--fresh", action="store_true", help="do not go on with what an interrupted bench has measured")
    add_common_arguments(parser)


# --- one sweep ---


def number(text):
    """65536 for "2^16" and "65536". Usage: it is no number."""
    match = re.fullmatch(r"(\d{1,19})(?:\^(\d{1,2}))?", text)
    if not match:
        raise Usage(f"{text} is no whole number: give one, or a power as in 2^16")
    return int(match[1]) ** int(match[2] or 1)


def shapes(words):
    """The launch shapes that `--shapes` means, as the judge takes them."""
    found = []
    for word in words or []:
        if word == "grid":
            found += [f"{blocks}x{threads}" for blocks in GRID["blocks"] for threads in GRID["threads"]]
        elif re.fullmatch(r"\d{1,9}x\d{1,9}", word):
            found.append(word)
        else:
            raise Usage(f"--shapes {word} is no launch shape: give blocks and threads as in 64x256, or grid")
    return list(dict.fromkeys(found))


def digest(programs, options):
    """What two runs of one measurement have in common: the machine, the programs, byte for byte, and what is asked."""
    words = [machine.identity(), *(str(option) for option in options)]
    sum_ = hashlib.sha256(json.dumps(words).encode())
    for program in programs:
        sum_.update(Path(program).read_bytes())
    return sum_.hexdigest()[:16]


class Interrupted(KeyboardInterrupt):
    """An interruption of a sweep; `rows` is what was measured before, in the file `path`; `status`: the exit status."""

    def __init__(self, rows, path, status=130):
        super().__init__()
        self.rows, self.path, self.status = rows, path, status


@contextlib.contextmanager
def _alone(path):
    """Problem: another command measures into this file, too. It would go on writing to it after we have moved it."""
    with open(path.with_suffix(".lock"), "w", encoding="ascii") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Problem("another bench is measuring just this: wait for it, or end it") from None
        yield


def tidy(prefix, programs):
    """Removes unfinished sweeps that nobody will go on with: old ones, and those of this prefix by other programs."""
    for path in UNFINISHED.iterdir():
        with contextlib.suppress(OSError):
            age = time.time() - path.stat().st_mtime
            other = path.name.startswith(prefix) and not path.name.startswith(prefix + programs)
            if age > KEPT_FOR or (other and age > IN_USE_FOR):
                path.unlink()


def sweep(what, lab, kind, runner, options, fresh=False):
    """One call of the judge, which goes on where the same call, of the same programs, was interrupted.

    Gives the rows, the judge's exit status, and the file that holds the rows; the caller moves or removes it.
    """
    UNFINISHED.mkdir(parents=True, exist_ok=True)
    options = ["--gold", str(build.gold(kind)), *options]
    programs = [runner, build.gold(kind), build.judge()]
    prefix, mark = f"{lab}-{kind}-{Path(runner).parent.name}-", digest(programs, [])[:8]
    path = UNFINISHED / f"{prefix}{mark}-{digest(programs, options)}.csv"
    tidy(prefix, mark)
    with _alone(path):
        if fresh:
            path.unlink(missing_ok=True)
        _mend(path)
        try:
            rows, status = judge.bench(what, lab, runner, kind, path, options)
        except KeyboardInterrupt as stop:
            measurements.mend(path)  # its last row may have been cut short
            kept = measurements.read(path) if path.exists() and path.stat().st_size else []
            raise Interrupted(kept, path, 143 if isinstance(stop, Terminated) else 130) from None
    return rows, status, path


def _mend(path):
    damaged = measurements.mend(path)
    if damaged is None:
        note(f"{shown(path)} held no measurements of this version: all is measured anew")
    elif damaged:
        note(
            f"{damaged} row{'s' * (damaged > 1)} of {shown(path)} {'were' if damaged > 1 else 'was'} damaged, and "
            f"{'are' if damaged > 1 else 'is'} measured again"
        )


# --- the tables that are printed ---


def percent_of_gold(row, gold):
    """The step's speed in percent of the gold standard's; "-" where one of them has none."""
    if gold is None or row["status"] != "verified" or not row["keys_per_s"] or not float(gold["keys_per_s"]):
        return "-"
    return table.significant(100 * float(row["keys_per_s"]) / float(gold["keys_per_s"])) + "%"


def _percent(text):
    return table.significant(float(text)) + "%" if text else "-"


def _label(row):
    return f"{int(row['step']):02} {row['name']}"


def _varying(rows):
    return [name for name in ("input", "type", "order", "shape") if len({_value(row, name) for row in rows}) > 1]


def _value(row, name):
    return f"{row['blocks']}x{row['threads']}" if name == "shape" else row[name]  # as --shapes takes it


def _cells(row, varying):
    return [os.path.basename(row[name]) if name == "input" else _value(row, name) for name in varying]


def lines_of(rows):
    """The table: a line for each measurement of a step, and those columns only that tell lines apart."""
    measured = [row for row in measurements.whole(rows) if row["lab"] != "gold" and row["status"] != "unsupported"]
    varying = _varying(measured)
    headings = ["step", "n", *varying, "ms", "spread", "Mkeys/s", "of gold", "of roof"]
    lines = []
    for row in sorted(measured, key=lambda row: int(row["step"])):
        gold = measurements.best_gold(rows, row)
        cells = [_label(row), table.count(row["n"]), *_cells(row, varying)]
        if row["status"] == "verified":
            median = float(row["median_ms"])
            spread = 100 * (float(row["q3_ms"]) - float(row["q1_ms"])) / median if median else 0
            speed = table.significant(float(row["keys_per_s"]) / 1e6) if row["keys_per_s"] else "-"
            rival = f"{percent_of_gold(row, gold):>6} {gold['name'] if gold else ''}".rstrip()
            cells += [
                table.significant(median),
                f"{spread:.0f}%" + "!" * (spread > WIDE),
                speed,
                rival,
                _percent(row["percent_of_roof"]),
            ]
        else:
            cells += [row["status"], "-", "-", "-", "-"]
        lines.append(cells)
    return _fit(headings, lines, ("step", "of gold", *varying), ("of roof", "spread", "Mkeys/s"))


def _fit(headings, lines, left, less):
    """The lines of a table that fits the terminal where that can be, and what it lacks for that."""
    fitted, dropped = table.fit(headings, lines, left, less)
    return fitted + [f"(too wide for this terminal, and in the file of rows: {', '.join(dropped)})"] * bool(dropped)


def kernel_lines(rows):
    """A line for each kernel of each measurement, with its share of the time of all kernels; none without such rows."""
    parts = [row for row in rows if row["kernel"] and row["kernel"] not in measurements.TRANSFERS]
    if not parts:
        return []
    varying = _varying(parts)
    same = ("lab", "step", "name", "n", "input", "type", "order", "blocks", "threads")
    total = {}
    for row in parts:
        key = tuple(row[name] for name in same)
        total[key] = total.get(key, 0) + float(row["median_ms"])
    headings = ["step", "n", *varying, "kernel", "launches", "ms in all", "share", "grid", "block"]
    lines = []
    for row in sorted(parts, key=lambda row: int(row["step"])):
        share = 100 * float(row["median_ms"]) / (total[tuple(row[name] for name in same)] or 1)
        lines.append(
            [
                _label(row),
                table.count(row["n"]),
                *_cells(row, varying),
                row["kernel"],
                row["launches"],
                table.significant(float(row["median_ms"])),
                f"{share:.0f}%",
                row["grid"],
                row["block"],
            ]
        )
    return _fit(headings, lines, ("step", "kernel", *varying), ("block", "grid", "launches"))


def transfer_lines(rows):
    """A line for each measurement with its copies; none without such rows."""
    parts = [row for row in rows if row["kernel"] in measurements.TRANSFERS]
    if not parts:
        return []
    varying = _varying(parts)
    headings = ["step", "n", *varying, "copy", "ms", "GB/s"]
    lines = [
        [
            _label(row),
            table.count(row["n"]),
            *_cells(row, varying),
            row["kernel"],
            table.significant(float(row["median_ms"])),
            table.significant(float(row["gb_per_s"] or 0)),
        ]
        for row in sorted(parts, key=lambda row: int(row["step"]))
    ]
    return _fit(headings, lines, ("step", "copy", *varying), ())


def skipped(rows):
    """Sentences on what was asked for and is impossible."""
    groups = {}
    for row in rows:
        if row["status"] == "unsupported":
            groups.setdefault(row["message"], []).append(row)
    return [
        f"skipped: {len(group)} measurement{'s' * (len(group) > 1)}"
        f" (step{'s' * (len({row['step'] for row in group}) > 1)} "
        f"{', '.join(sorted({row['step'] for row in group}))}): {message}"
        for message, group in groups.items()
    ]


def failed_lines(rows):
    """A line for each way in which a step failed, with the numbers of keys at which it did."""
    groups = {}
    for row in rows:
        groups.setdefault((row["step"], row["status"], row["message"]), []).append(int(row["n"]))
    lines = []
    for (step, status, message), sizes in groups.items():
        sizes = sorted(set(sizes))
        where = ", ".join(map(table.count, sizes[:4])) + ", .." * (len(sizes) > 4)
        lines.append(f"{paint('step ' + step, 'red')}, n = {where}: {status}: {message}")
    return lines


def show(lab, rows, kind, solution):
    """Prints what was measured of a lab."""
    measured = [row for row in measurements.whole(rows) if row["lab"] != "gold"]
    one = measured[0]
    print(table.wrapped(f"{lab}{' (solution)' if solution else ''}, {kind} build, {one['machine']}"))
    shared = [one[name] for name in ("type", "order", "input") if len({row[name] for row in measured}) == 1]
    roof = next((float(row["roof_gb_per_s"]) for row in measured if row["roof_gb_per_s"]), 0)
    all_verified = all(row["status"] in ("verified", "unsupported") for row in measured)
    words = [
        *([", ".join(shared)] if shared else []),
        *(["all outputs verified"] if all_verified else []),
        "spread: the middle half of the runs, in percent of the median",
        "of gold: speed in percent of the fastest gold standard's, which is named",
    ]
    if roof:
        words.append(
            f"roof: memory is copied at {table.significant(roof)} GB/s, and each key has to be read and written once"
        )
    print(table.wrapped("; ".join(words)))
    for lines in (lines_of(rows), kernel_lines(rows), transfer_lines(rows)):
        if lines:
            print("\n" + "\n".join(lines))
    print()
    for sentence in skipped(measured):
        print(sentence)
    for line in failed_lines(row for row in measured if row["status"] not in ("verified", "unsupported")):
        print(line)


# --- the verb ---


def judge_options(arguments, asked, kind):
    """What the judge is told of a lab."""
    inputs = list(arguments.input)
    inputs += [f"range:0:{number(value)}" for value in arguments.largest_value or []]
    n = arguments.n
    if not n and not any(name.startswith("file:") for name in inputs):
        n = DEFAULT_N[kind]
    options = judge.option("step", [step.number for step in asked])
    options += judge.option("n", n) + judge.option("input", inputs)
    for name in (
        "type",
        "order",
        "blocks",
        "threads",
        "seed",
        "timeout",
        "repeats",
        "min_time",
        "time_limit",
        "budget",
    ):
        options += judge.option(name.replace("_", "-"), getattr(arguments, name))
    options += judge.option("shapes", shapes(arguments.shapes)) + judge.option("machine-id", arguments.machine)
    return options + ["--kernels"] * arguments.kernels + ["--transfers"] * arguments.transfers


def _asked(arguments):
    """The labs, each with its steps."""
    names = labs() if arguments.lab == ["all"] else [find_lab(name) for name in arguments.lab]
    if arguments.step and len(names) > 1:
        raise Usage("--step goes with one lab")
    return {lab: [find_step(lab, step) for step in arguments.step] if arguments.step else steps(lab) for lab in names}


def main(arguments):
    """A table a lab."""
    asked = _asked(arguments)
    if arguments.shapes and (arguments.blocks or arguments.threads):
        raise Usage("--shapes gives blocks and threads together: leave out --blocks and --threads")
    shapes(arguments.shapes)
    for value in arguments.largest_value or []:
        number(value)
    arguments.input = judge.file_inputs(arguments.input)
    csv = Path(arguments.csv) if arguments.csv else None
    why_not = files.writable(csv) if csv else None
    if why_not:
        raise Usage(f"{csv} cannot be written ({why_not}): name a file in a directory that is there with --csv")
    idle = machine.idle_cores()
    if idle is not None and idle < 0.8:
        note(
            f"warning: other programs keep this machine busy ({idle:.1f} of {os.cpu_count()} cores are idle): times "
            "will be too long"
        )
    well, everything, done = True, [], []
    for lab, lab_steps in asked.items():
        kind, runner = prepare(arguments, lab, lambda kind: [build.gold(kind)])
        if not judge.any_written(lab, runner, [step.number for step in lab_steps]):
            which = f"no step of {lab}" if len(lab_steps) > 1 else f"step {lab_steps[0].number} of {lab}"
            note(
                f"{which} is {'' if len(lab_steps) > 1 else 'not '}written yet, so there is nothing to time. "
                f"./workbook check {lab} says where to begin"
            )
            well = False
            continue
        try:
            rows, status, path = sweep(
                f"timing {lab}", lab, kind, runner, judge_options(arguments, lab_steps, kind), arguments.fresh
            )
        except Interrupted as stop:
            kept = [row for row in measurements.whole(stop.rows) if row["lab"] != "gold"]
            if kept:
                show(lab, stop.rows, kind, arguments.solution)
            how = "ended by a signal" if stop.status == 143 else "interrupted"
            count = len(measurements.whole(stop.rows))
            note(f"{how}; {count} measurements of {lab} are kept, and the same command goes on from there")
            return stop.status
        measured = [row for row in measurements.whole(rows) if row["lab"] != "gold"]
        if all(row["status"] == "unsupported" for row in measured):
            path.unlink(missing_ok=True)
            why = list(dict.fromkeys(row["message"] for row in measured))
            raise Usage(
                f"an empty sweep: nothing that was asked for of {lab} can be measured"
                + (f": {'; '.join(why[:3])}{'; ..' if len(why) > 3 else ''}" if why else "")
            )
        everything += rows
        done.append(path)
        show(lab, rows, kind, arguments.solution)
        well = (
            well
            and status == 0
            and all(row["status"] in ("verified", "unsupported") for row in measured)
            and any(row["status"] == "verified" for row in measured)
        )
        if not csv:
            whose = "solution-" if arguments.solution else ""
            name = f"{lab}-{whose}{kind}-{time.strftime('%Y%m%d-%H%M%S')}.csv"
            target = files.move_to_free_name(path, FOLDER / name)
            print(f"all rows: {shown(target)}\n")
    if csv and done:
        measurements.write(csv, everything)
        for path in done:
            path.unlink(missing_ok=True)
        print(f"all rows: {shown(csv)}")
    return 0 if well else 1

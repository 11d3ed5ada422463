#!/usr/bin/env python3
"""Writes the tables and the plots of recorded results, from reports/results/MACHINE/LAB.csv.

peers.csv in the same folder has the rows of other libraries, which count as gold standards of every lab.

    python3 reports/tables.py            writes RESULTS.md, the tables in other documents, and the plots
    python3 reports/tables.py --check    writes nothing; fails if one of them is out of date

reports/RESULTS.md has every table. Other documents mark the place of a table by a pair of comments:

    <!-- results: MACHINE LAB -->        the speeds of one lab
    <!-- results: MACHINE -->            one small table of all labs
    <!-- results: MACHINE algorithms --> the fastest step of each lab, over n
    <!-- end of results -->

Of the plots in reports/results/MACHINE, speed.svg has one panel per lab, algorithms.svg one line per lab. LAB-timeline-
STEP.svg is drawn from the file LAB-timeline-STEP.json, which `./workbook picture --json` writes. Checking them needs no
matplotlib: a plot carries a checksum of what it was made from.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "common"))

from workbook.core import course, files, timelines  # noqa: E402
from workbook.core import rows as row_files  # noqa: E402
from workbook.core.console import Problem  # noqa: E402
from workbook.core.rows import Row, best_gold, share_of_gold  # noqa: E402
from workbook.reporting import host_copies, lines_over_n, parts_labs, plot, timeline  # noqa: E402
from workbook.reporting.selection import Line, by_line, powers, speed, usual  # noqa: E402
from workbook.reporting.tables import pipe  # noqa: E402

COMMAND = "python3 reports/tables.py"
RESULTS = ROOT / "reports/results"
PAGE = ROOT / "reports/RESULTS.md"
MACHINES = ("h200", "epyc-2-cores")  # in the order of RESULTS.md; the first one has the plots
ALGORITHMS = "algorithms"  # in place of a lab's name
MARK = re.compile(r"(<!-- results: (\S+)(?: (\S+))? -->\n).*?(<!-- end of results -->)", re.DOTALL)
CHECKSUMS = re.compile(r"\n<!-- made of (\w+), is (\w+) -->\n$")
LARGEST = 1 << 28  # n of the small table
PEERS = "peers"  # reports/results/MACHINE/peers.csv: other libraries, timed by bench --peer for the keys of all labs
COPIES_FROM = 1 << 24  # n in the table of copies: fewer keys are not worth the trip
INTRODUCTION = f"""# Results

Recorded speeds of the solutions' steps. `{COMMAND}` makes this page from the rows in `reports/results/`.

Each cell is the speed in keys per second (k: thousand, M: million, G: billion, T: trillion), then, in brackets, the
speed as a percentage of the fastest gold standard's for the same task and keys. Gold standards are NVIDIA's CUB on a
GPU, in the same run, and other libraries where they were measured, in a run of their own; on a CPU, the fastest
programs that we know. Their rows are in italics. Steps marked "tiles" sort each tile of the array separately and are
compared with gold standards that do the same. Keys are uniform, unless a row names how many different values they
have. A speed is that of the median of several runs, but at 2<sup>26</sup> keys and more of only one to three; the
column `repeats` in the rows has their number.
"""
MACHINE_INTRODUCTIONS = {
    "h200": "Measured on a GPU.",
    "epyc-2-cores": (
        "The same sources on a CPU (the cpu build). One core executes the threads of a block in turn, so these "
        "times show how long a student waits for a verdict. They say nothing about a GPU. Step 00 of lab 05 is the "
        "exception: it is a program for one core, as its gold standards are."
    ),
}


def read(path: Path) -> list[Row]:
    """The verified rows of whole steps in a file."""
    try:
        rows = row_files.read(path)
        row_files.check_machines(rows)
    except Problem as problem:
        sys.exit(f"tables.py: {problem}")
    return row_files.whole(row_files.verified(rows))


def recorded(machine: str, lab: str) -> list[Row]:
    """The verified rows of a lab's steps, of the gold standard in the same run, and of peers."""
    peers = RESULTS / machine / f"{PEERS}.csv"
    return read(RESULTS / machine / f"{lab}.csv") + (read(peers) if peers.is_file() else [])


# --- cells ---


def size_text(n: int) -> str:
    """A number of keys; a power of two as such."""
    exponent = n.bit_length() - 1
    return f"2<sup>{exponent}</sup>" if n == 1 << exponent else f"{n:,}"


def speed_text(keys_per_s: float) -> str:
    """Three digits and a unit."""
    units = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
    unit, name = next((pair for pair in units if keys_per_s >= pair[0]), (1, ""))
    return f"{keys_per_s / unit:.3g} {name}".rstrip()


def percent_text(share: float) -> str:
    """Three digits, but never as a power of ten."""
    return f"{share:,.0f}" if share >= 1000 else f"{share:.3g}"


def values_text(input_name: str) -> str:
    """For keys that are not uniform, how many values they have."""
    ends = re.fullmatch(r"range:(\d+):(\d+)", input_name)
    return f", {int(ends[2]) - int(ends[1]) + 1} values" if ends else ""


def cell(row: Row | None, rows: Sequence[Row]) -> str:
    """A step's speed and its share of the fastest gold standard's."""
    if row is None:
        return ""
    share = share_of_gold(row, best_gold(rows, row))
    return speed_text(speed(row)) + (f" ({percent_text(100 * share)} %)" if share else "")


# --- the table of a lab ---


def columns(rows: Iterable[Row]) -> list[int]:
    """The sizes in the heading: powers of sixteen if many sizes were measured, else all."""
    every = sorted({row.n for row in powers(list(rows))})
    few = [n for n in every if n.bit_length() % 4 == 1]
    return few if len(every) > 6 and len(few) > 2 else every


def ordered(lines: dict[Line, list[Row]]) -> list[list[Row]]:
    """The rows of each line: by step, the sort before its parts."""
    return [lines[line] for line in sorted(lines, key=lambda line: (line[0], line[1] != "sort", line[2]))]


def gold_standards(rows: Sequence[Row], lines: Sequence[Sequence[Row]]) -> dict[tuple[str, str, str], dict[int, Row]]:
    """(name, type, input) of each gold standard that a line is compared with -> its rows by n."""
    golds = [row for row in rows if row.is_gold]
    names = {
        (gold.name, gold.type, gold.input): None
        for own in lines
        for row in own
        for gold in golds
        if row_files.work(gold) == row_files.work(row)
    }
    return {
        name: {gold.n: gold for gold in reversed(golds) if (gold.name, gold.type, gold.input) == name} for name in names
    }


def lab_table(machine: str, lab: str) -> str:
    """The speeds of one lab's steps and of their gold standards."""
    path = RESULTS / machine / f"{lab}.csv"
    if not path.is_file():
        return "Not measured yet.\n"
    rows = recorded(machine, lab)
    lines = ordered(by_line(usual(rows), lab))
    sizes = columns(row for own in lines for row in own)
    cells = []
    for own in lines:
        by_n = {row.n: row for row in own}
        first = own[0]
        name = f"{first.step:02d} {first.name}{', tiles' * bool(first.tile)}, {first.type}{values_text(first.input)}"
        cells.append([name, *(cell(by_n.get(n), rows) for n in sizes)])
    for (gold, kind, input_name), golds_by_n in gold_standards(rows, lines).items():
        cells.append(
            [
                f"*{gold}, {kind}{values_text(input_name)}*",
                *(speed_text(speed(golds_by_n[n])) if n in golds_by_n else "" for n in sizes),
            ]
        )
    return (
        pipe(["keys per second by step", *(f"n = {size_text(n)}" for n in sizes)], cells)
        + "\n\nKeys per second; in brackets, percent of the fastest gold standard. "
        + host_memory_note(rows)
        + provenance(machine, lines, lab)
        + copies(path)
    )


def host_memory_note(rows: Sequence[Row]) -> str:
    """What limits the steps of a lab that sort host memory; "" for other labs."""
    if not any(row.memory for row in rows):
        return ""
    return (
        "The keys are in pinned host memory, and every time contains the copies to the device and back; the gold "
        "standard on the GPU may use all of its memory, a step as much as the keys occupy, but at least 256 KiB. "
    )


def copies(path: Path) -> str:
    """For steps that sort host memory: other amounts of device memory, pageable memory, and the copies alone."""
    rows = [row for row in row_files.read(path) if row.status == "verified" and row.n >= COPIES_FROM]
    paragraph = host_copies.paragraph("cuda", [row for row in rows if row.input == "uniform"])
    return f"\n{paragraph}\n" if paragraph else ""


def provenance(machine: str, lines: Sequence[Sequence[Row]], lab: str) -> str:
    """The machine, the dates, the commits, and the command: the lab's own ("command 05-radix: ..."), or that of all."""
    text = (RESULTS / machine / "machine.txt").read_text(encoding="utf-8")
    facts = dict(re.findall(r"^([\w -]+): (.*)$", text, re.MULTILINE))
    command = facts.get(f"command {lab}", facts["command"])
    measured = sorted((row.date, row.commit[:7], row.machine) for line in lines for row in line)
    days = list(dict.fromkeys(date[:10] for date, _, _ in measured))
    commits = list(dict.fromkeys(commit for _, commit, _ in measured))
    when = f"on {days[0]}" if len(days) == 1 else f"from {days[0]} to {days[-1]}"
    if len(commits) == 1:
        where = f"at commit {commits[0]} by `{command}`"
    else:
        where = f"at commits {', '.join(commits)} by the commands in `reports/results/{machine}/machine.txt`"
    return f"Machine: {measured[-1][2]}. Measured {when} {where}.\n"


# --- the small table ---


def labs_of(machine: str) -> list[str]:
    """The labs with recorded results."""
    return sorted(path.stem for path in (RESULTS / machine).glob("*.csv") if path.stem != PEERS)


def small_table(machine: str) -> str:
    """One line per lab: each step's percentage of the fastest gold standard at 2^28, or at the largest n recorded.

    That of the record step is bold."""
    steps_of: dict[str, dict[int, str]] = {}
    for lab in labs_of(machine):
        rows = recorded(machine, lab)
        names = {step.name for step in course.steps(lab)}
        for (step, _, name), own in by_line(usual(rows), lab).items():
            small = [row for row in own if row.n <= LARGEST]
            if name not in names or not small:
                continue
            row = small[-1]
            share = share_of_gold(row, best_gold(rows, row))
            where = "" if row.n == LARGEST else f" at {size_text(row.n)}"
            percent = f"{percent_text(100 * share)} %{where}" if share else "-"
            bold = "**" * (name in [step.name for step in course.records(lab)])
            steps_of.setdefault(lab, {})[step] = f"{bold}{name}{', tiles' * bool(row.tile)}: {percent}{bold}"
    numbers = sorted({step for steps in steps_of.values() for step in steps})
    lines = [[lab, *(steps.get(step, "") for step in numbers)] for lab, steps in steps_of.items()]
    return pipe(["lab", *(f"step {step:02}" for step in numbers)], lines, left=1 + len(numbers)) + "\n"


# --- the labs beside each other ---


def fastest_of_labs(machine: str) -> dict[str, list[Row]]:
    """Lab -> its fastest step at each n."""
    return parts_labs.fastest_of_labs([row for lab in labs_of(machine) for row in recorded(machine, lab)])


def algorithms_table(machine: str) -> str:
    """The fastest step of each lab, over n."""
    best = fastest_of_labs(machine)
    return f"{parts_labs.table_of(best)}\n\n{provenance(machine, list(best.values()), ALGORITHMS)}"


# --- documents ---


def generated(machine: str, lab: str | None) -> str:
    """The table between a pair of comments."""
    if lab == ALGORITHMS:
        return algorithms_table(machine)
    return lab_table(machine, lab) if lab else small_table(machine)


def page() -> str:
    """RESULTS.md."""
    parts = [INTRODUCTION]
    for machine in MACHINES:
        parts.append(f"## {machine}\n\n{MACHINE_INTRODUCTIONS[machine]}\n")
        if machine == MACHINES[0]:
            parts.append(
                f"![Keys per second against the number of keys, one panel per lab](results/{machine}/speed.svg)\n"
            )
        parts += [f"### {lab}\n\n{lab_table(machine, lab)}" for lab in labs_of(machine)]
    return "\n".join(parts)


def documents() -> dict[Path, str]:
    """Every document with tables, as it should be."""
    found = {PAGE: page()}
    for path in [ROOT / "README.md", ROOT / "labs/README.md", *sorted(ROOT.glob("labs/*/README.md"))]:
        text = path.read_text(encoding="utf-8")
        found[path] = MARK.sub(lambda match: f"{match[1]}\n{generated(match[2], match[3])}\n{match[4]}", text)
    return found


# --- the plots ---


def digest(*contents: bytes) -> str:
    """A checksum."""
    return hashlib.sha256(b"\0".join(contents)).hexdigest()[:16]


def checksum_of(data: Sequence[Path], names: Sequence[str]) -> str:
    """Of what a plot depends on: the measurements, and the code that draws it."""
    code = [ROOT / f"common/workbook/{name}.py" for name in names]
    return digest(*(path.read_bytes() for path in [*data, *code]))


def plot_sources(path: Path) -> str:
    """The checksum of a plot's sources."""
    recorded = path.with_suffix(".json")
    if recorded.is_file():
        return checksum_of([recorded], ("core/timelines", "reporting/plot", "reporting/timeline"))
    names = [f"reporting/{name}" for name in ("labels", "lines_over_n", "parts_labs", "plot", "selection")]
    return checksum_of(sorted(path.parent.glob("*.csv")), names)


def plot_is_current(path: Path) -> bool:
    """Whether the plot was made from the present sources and is as it was made."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError:
        return False
    sums = CHECKSUMS.search(text)
    if not sums:
        return False
    return sums[1] == plot_sources(path) and sums[2] == digest(text[: sums.start()].encode())


def draw_speed(machine: str, stem: Path) -> None:
    """One panel per lab."""
    lines_over_n.all_labs({lab: recorded(machine, lab) for lab in labs_of(machine)}, stem)


def draw_algorithms(machine: str, stem: Path) -> None:
    """One line per lab."""
    lines_over_n.machines(parts_labs.series_of(fastest_of_labs(machine)), stem, parts_labs.TITLE, ("svg",))


PLOTS: dict[str, Callable[[str, Path], None]] = {"speed": draw_speed, ALGORITHMS: draw_algorithms}


def plots() -> list[Path]:
    """Every plot: those of the first machine, and one for each recorded timeline."""
    recorded = sorted(path for machine in MACHINES for path in (RESULTS / machine).glob("*-timeline-*.json"))
    return [
        *(RESULTS / MACHINES[0] / f"{name}.svg" for name in PLOTS),
        *(path.with_suffix(".svg") for path in recorded),
    ]


def write_plot(path: Path) -> None:
    """One of plots()."""
    if not plot.available():
        sys.exit("tables.py: the plots need matplotlib (./workbook doctor)")
    if path.stem in PLOTS:
        PLOTS[path.stem](path.parent.name, path.with_suffix(""))
    else:
        draw_timeline(path)
    text = path.read_text(encoding="utf-8").rstrip("\n")
    files.write_whole(path, f"{text}\n<!-- made of {plot_sources(path)}, is {digest(text.encode())} -->\n")


def draw_timeline(path: Path) -> None:
    """A recorded timeline."""
    try:
        timeline.draw(timelines.read(path.with_suffix(".json")), path.with_suffix(""), ("svg",))
    except Problem as problem:
        sys.exit(f"tables.py: {problem}")


def main() -> None:
    parser = argparse.ArgumentParser(prog=COMMAND, description="Writes the tables and plots of recorded results.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if something is out of date")
    check = parser.parse_args().check
    stale = []
    for path, text in documents().items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            stale.append(path)
            if not check:
                files.write_whole(path, text)
    for path in plots():
        if not plot_is_current(path):
            stale.append(path)
            if not check:
                write_plot(path)
    names = ", ".join(str(path.relative_to(ROOT)) for path in stale)
    if check and stale:
        sys.exit(f"tables.py: out of date: {names}; run {COMMAND}")
    if stale:
        print(f"written: {names}")


if __name__ == "__main__":
    main()

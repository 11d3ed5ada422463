#!/usr/bin/env python3
"""Writes the tables and the charts of recorded results, from reports/results/MACHINE/LAB.csv.

peers.csv in the same folder has the rows of other libraries, which count as gold standards of every lab.

    python3 reports/tables.py            writes the tables in documents, such as RESULTS.md, and the charts
    python3 reports/tables.py --check    writes nothing; fails if one of them is out of date

Documents mark the place of a part by a pair of comments:

    <!-- results: MACHINE chart -->      the chart of all labs, and a sentence about where other libraries are faster
    <!-- results: MACHINE LAB -->        the speeds of one lab
    <!-- results: MACHINE tables -->     those of all labs, folded, and how they were measured
    <!-- results: MACHINE algorithms --> the fastest step of each lab, over n
    <!-- results: MACHINE phases -->     sorts on several GPUs
    <!-- results: MACHINE grid -->       the records beside other libraries, from MACHINE/grid/*.csv: the output of
                                         `bench --preset peers`, and of measure.cpp for more keys; nothing without them
    <!-- end of results -->

LAB-timeline-STEP.svg is drawn from the file LAB-timeline-STEP.json, which `./workbook picture --json` writes. Checking
charts needs no matplotlib: each carries a checksum of what it was made from.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "common"))

from workbook.core import course, files, timelines  # noqa: E402
from workbook.core import rows as row_files  # noqa: E402
from workbook.core.console import Problem, grouped  # noqa: E402
from workbook.core.rows import Row, best_gold, share_of_gold  # noqa: E402
from workbook.reporting import (  # noqa: E402
    host_copies,
    lines_over_n,
    parts_labs,
    peer_maps,
    phases,
    plot,
    step_charts,
    timeline,
)
from workbook.reporting.selection import Key, by_line, powers, speed, usual  # noqa: E402
from workbook.reporting.step_charts import Compared  # noqa: E402
from workbook.reporting.tables import fold, golds_for, over_n, paragraphs, pipe  # noqa: E402

COMMAND = "python3 reports/tables.py"
RESULTS = ROOT / "reports/results"
MACHINE = "h200"  # the one with charts
SEVERAL = "h200-x2"  # where step 04 of lab 06 ran on several GPUs
MARK = re.compile(r"(<!-- results: (\S+) (\S+) -->\n).*?(<!-- end of results -->)", re.DOTALL)
CHECKSUMS = re.compile(r"\n<!-- made of (\w+), is (\w+) -->\n$")
PEERS = "peers"  # reports/results/MACHINE/peers.csv: other libraries, timed by bench --peer for the keys of all labs
COPIES_FROM = 1 << 24  # n in the table of copies: fewer keys are not worth the trip


@cache
def read(path: Path) -> list[Row]:
    """The verified rows of whole steps in a file."""
    rows = row_files.read(path)
    row_files.check_machines(rows)
    return row_files.whole(row_files.verified(rows))


def recorded(machine: str, lab: str) -> list[Row]:
    """The verified rows of a lab's steps, of the gold standard in the same run, and of peers."""
    peers = RESULTS / machine / f"{PEERS}.csv"
    return read(RESULTS / machine / f"{lab}.csv") + (read(peers) if peers.is_file() else [])


# --- tables over n ---


def named(row: Row, name: str) -> str:
    """The name of a row's line with the type of its keys and, if they are not uniform, how many values they have."""
    ends = re.fullmatch(r"range:(\d+):(\d+)", row.input)
    return f"{name}, {row.type}" + (f", {int(ends[2]) - int(ends[1]) + 1} values" if ends else "")


def cell(row: Row, rows: Sequence[Row]) -> str:
    """A speed and, for a step, its share of the fastest gold standard's."""
    share = None if row.is_gold else share_of_gold(row, best_gold(rows, row))
    return plot.rate_text(speed(row)) + (f" ({grouped(100 * share)} %)" if share else "")


def speeds(machine: str, lab: str, peers: bool) -> tuple[str, list[Row], dict[str, list[Row]]]:
    """The table of a lab, with the gold standards of the same run and perhaps the peers; its rows; and the peers'."""
    rows = recorded(machine, lab)
    lines = by_line(usual(rows), lab)
    golds = golds_for(lines, rows, lambda row: named(row, row.name))
    others = {name: own for name, own in golds.items() if " " in own[0].name}  # "library-1.0 radix"
    shown = {name: own for name, own in golds.items() if peers or name not in others}
    few = at_columns(lines)
    table = over_n("keys per second", few, shown, lambda row: cell(row, rows), lambda row: named(row, row.label))
    return table, [row for own in lines.values() for row in own], others


def at_columns(lines: Mapping[Key, Sequence[Row]]) -> dict[Key, list[Row]]:
    """The rows with a size in the heading: powers of sixteen, and 2^26, if many sizes were measured, else all.

    At 2^26, libraries were measured that were measured at no other size."""
    every = sorted({row.n for row in powers([row for own in lines.values() for row in own])})
    few = [n for n in every if n.bit_length() % 4 == 1 or n == 1 << 26]
    sizes = few if len(every) > 6 and len(few) > 2 else every
    return {line: [row for row in own if row.n in sizes] for line, own in lines.items()}


def lab_table(machine: str, lab: str) -> str:
    """The speeds of one lab's steps and of all their gold standards, for a handout."""
    table, rows, _ = speeds(machine, lab, peers=True)
    words = "Keys per second; in brackets, percent of the fastest gold standard. "
    return f"{table}\n\n{words}{provenance(machine, rows, lab)}\n"


def facts_of(machine: str) -> dict[str, str]:
    """What machine.txt says about how everything was measured."""
    text = (RESULTS / machine / "machine.txt").read_text(encoding="utf-8")
    return dict(re.findall(r"^([\w -]+): (.*)$", text, re.MULTILINE))


def origin(machine: str, rows: Sequence[Row], lab: str) -> str:
    """When and how these rows were measured: by the lab's own command ("command 05-radix: ..."), or by that of all."""
    facts = facts_of(machine)
    measured = sorted((row.date[:10], row.commit[:7]) for row in rows)
    first, last = measured[0][0], measured[-1][0]
    when = f"on {first}" if first == last else f"from {first} to {last}"
    commits = list(dict.fromkeys(commit for _, commit in measured))
    if len(commits) == 1:
        return f"{when} at commit {commits[0]} by `{facts.get(f'command {lab}', facts['command'])}`"
    return f"{when} at commits {', '.join(commits)} by the commands in `reports/results/{machine}/machine.txt`"


def provenance(machine: str, rows: Sequence[Row], lab: str) -> str:
    """The same in a sentence, after the machine."""
    return f"Machine: {max(rows, key=lambda row: row.date).machine}. Measured {origin(machine, rows, lab)}."


def copies(machine: str, lab: str) -> str:
    """For steps that sort host memory: other amounts of device memory, pageable memory, and the copies alone."""
    rows = [row for row in row_files.read(RESULTS / machine / f"{lab}.csv") if row.status == "verified"]
    return host_copies.paragraph("cuda", [row for row in rows if row.input == "uniform" and row.n >= COPIES_FROM])


def labs_of(machine: str) -> list[str]:
    """The labs with recorded results."""
    return sorted(path.stem for path in (RESULTS / machine).glob("*.csv") if path.stem != PEERS)


def fastest_of_labs(machine: str) -> dict[str, list[Row]]:
    """Lab -> its fastest step at each n."""
    return parts_labs.fastest_of_labs([row for lab in labs_of(machine) for row in recorded(machine, lab)])


def algorithms_table(machine: str) -> str:
    """The fastest step of each lab, over n."""
    best = fastest_of_labs(machine)
    rows = [row for own in best.values() for row in own]
    return f"{parts_labs.table_of(best)}\n\n{provenance(machine, rows, 'algorithms')}\n"


# --- documents ---


def steps_of(machine: str) -> list[Compared]:
    """What charts show of the steps of all labs."""
    return [step for lab in labs_of(machine) for step in step_charts.compared(recorded(machine, lab), lab)]


def chart(machine: str) -> str:
    """The chart of all labs as a picture, whose text has the speeds of the records."""
    steps = [step for step in steps_of(machine) if step.share]
    name = steps[0].row.machine.split(",")[0]
    records = (f"{step.row.name} of {step.row.lab} {grouped(step.share or 0)}\xa0%" for step in steps if step.is_record)
    words = f"Bar chart of the speed of each step on an {name} in percent of the fastest gold standard. The records: "
    words += ", ".join(records)
    picture = textwrap.fill(f"![{words}](reports/results/{machine}/gold.svg)", 120, break_on_hyphens=False)
    return paragraphs(picture, worst(machine)) + "\n"


def tables(machine: str) -> str:
    """The folded tables of a machine, and when and how they were measured."""
    heading = "Every step, at 2<sup>28</sup> keys or the most that it was timed with"
    folds = [fold(heading, step_charts.table(steps_of(machine)))]
    peers: dict[str, list[Row]] = {}
    measured = {}
    for lab in labs_of(machine):
        table, measured[lab], others = speeds(machine, lab, peers=False)
        folds.append(fold(f"{lab} over n", table, copies(machine, lab)))
        peers.update(others)
    if peers:
        measured[PEERS] = [row for own in peers.values() for row in own]
        table = over_n("keys per second", {}, at_columns(peers), lambda row: cell(row, []))
        folds.append(fold("Other libraries over n", table))
    name = max((row for own in measured.values() for row in own), key=lambda row: row.date).machine
    when = pipe(["rows", "measured"], [(lab, origin(machine, own, lab)) for lab, own in measured.items()], left=2)
    return paragraphs(*folds, f"Machine: {name}.", when) + "\n"


def phases_table(machine: str) -> str:
    """Sorts on several GPUs, and how they were measured."""
    facts = facts_of(machine)
    when = f"on {facts['date'][:10]} at commit {facts['commit']} by `{facts['command']}`"
    return f"{phases.table(RESULTS / machine)}\n\nMachine: {facts['gpu']}. Measured {when}.\n"


def grid_folder(machine: str) -> Path:
    """Where the comparisons over inputs, types and numbers of keys are, and their maps."""
    return RESULTS / machine / "grid"


def worst(machine: str) -> str:
    """The worst factor of those comparisons in words; nothing if there are none."""
    every = peer_maps.maps(grid_folder(machine))
    return textwrap.fill(peer_maps.sentence(every), 120, break_on_hyphens=False) if every else ""


def grid(machine: str) -> str:
    """Those comparisons: when they were measured, and a map per step and type."""
    every = peer_maps.maps(grid_folder(machine))
    if not every:
        return ""
    facts = facts_of(f"{machine}/grid")
    words = (
        f"{peer_maps.sentence(every)} They were measured on {facts['date'][:10]} at commit {facts['commit']} by "
        f"`{facts['command']}`: see [reports/records](records/README.md)."
    )
    pictures = (
        f"![A map of factors for {which}: a line per input, a column per number of keys.]"
        f"(results/{machine}/grid/{which.stem}.svg)"
        for which in every
    )
    text = textwrap.fill(words, 120, break_on_hyphens=False, break_long_words=False)
    return (
        paragraphs("### Where another library is faster", text, fold("A map for each step and type", *pictures)) + "\n"
    )


PARTS = {
    "chart": chart,
    "tables": tables,
    "algorithms": algorithms_table,
    "phases": phases_table,
    "grid": grid,
}


def documents() -> dict[Path, str]:
    """Every document with tables, as it should be."""

    def part(match: re.Match[str]) -> str:
        text = PARTS[match[3]](match[2]) if match[3] in PARTS else lab_table(match[2], match[3])
        return f"{match[1]}\n{text}\n{match[4]}"

    paths = [ROOT / "README.md", ROOT / "reports/RESULTS.md", *sorted(ROOT.glob("labs/**/*.md"))]
    return {path: MARK.sub(part, path.read_text(encoding="utf-8")) for path in paths}


def maps() -> dict[Path, str]:
    """Every map of comparisons, as it should be."""
    drawn = {folder: peer_maps.drawings(peer_maps.maps(folder)) for folder in RESULTS.glob("*/grid")}
    return {folder / name: svg for folder, own in drawn.items() for name, svg in own.items()}


# --- the charts ---


def digest(*contents: bytes) -> str:
    """A checksum."""
    return hashlib.sha256(b"\0".join(contents)).hexdigest()[:16]


def checksum_of(data: Sequence[Path], names: Sequence[str]) -> str:
    """Of what a plot depends on: the measurements, and the code that draws it."""
    code = [ROOT / f"common/workbook/{name}.py" for name in names]
    return digest(*(path.read_bytes() for path in [*data, *code]))


def plot_sources(path: Path) -> str:
    """The checksum of a chart's sources."""
    recorded = path.with_suffix(".json")
    if recorded.is_file():
        return checksum_of([recorded], ("core/timelines", "pictures/theme", "reporting/plot", "reporting/timeline"))
    modules = ("labels", "lines_over_n", "parts_labs", "phases", "plot", "selection", "step_charts")
    data = sorted(file for pattern in ("*.csv", "*.jsonl") for file in path.parent.glob(pattern))
    ideas = repr([course.ideas(lab) for lab in course.labs()]).encode()
    return digest(checksum_of(data, ["pictures/theme", *(f"reporting/{name}" for name in modules)]).encode(), ideas)


def plot_is_current(path: Path) -> bool:
    """Whether the plot was made from the present sources and is as it was made."""
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    sums = CHECKSUMS.search(text)
    return bool(sums and sums[1] == plot_sources(path) and sums[2] == digest(text[: sums.start()].encode()))


def plots() -> dict[Path, Callable[[Path], object]]:
    """Every chart, and what draws it."""
    rows = {lab: recorded(MACHINE, lab) for lab in labs_of(MACHINE)}
    best = parts_labs.series_of(fastest_of_labs(MACHINE))
    drawn: dict[str, Callable[..., object]] = {
        f"{MACHINE}/gold": partial(step_charts.gold_chart, steps_of(MACHINE)),
        f"{MACHINE}/staircases": partial(step_charts.staircases, steps_of(MACHINE)),
        f"{MACHINE}/bandwidth": partial(step_charts.bandwidth_chart, steps_of(MACHINE)),
        f"{MACHINE}/speed": partial(lines_over_n.all_labs, rows),
        f"{MACHINE}/algorithms": partial(lines_over_n.machines, best, title=parts_labs.TITLE),
        f"{SEVERAL}/phases": partial(phases.chart, RESULTS / SEVERAL),
    }
    for path in sorted((RESULTS / MACHINE).glob("*-timeline-*.json")):
        drawn[f"{MACHINE}/{path.stem}"] = partial(timeline.draw, timelines.read(path))
    return {RESULTS / f"{name}.svg": partial(draw, formats=("svg",)) for name, draw in drawn.items()}


def write_plot(path: Path, draw: Callable[[Path], object]) -> None:
    """One of plots()."""
    if not plot.available():
        sys.exit("tables.py: the charts need matplotlib (./workbook doctor)")
    draw(path.with_suffix(""))
    text = path.read_text(encoding="utf-8").rstrip("\n")
    files.write_whole(path, f"{text}\n<!-- made of {plot_sources(path)}, is {digest(text.encode())} -->\n")


def main() -> None:
    parser = argparse.ArgumentParser(prog=COMMAND, description="Writes the tables and plots of recorded results.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if something is out of date")
    check = parser.parse_args().check
    stale = []
    for path, text in {**documents(), **maps()}.items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            stale.append(path)
            if not check:
                files.write_whole(path, text)
    for path, draw in plots().items():
        if not plot_is_current(path):
            stale.append(path)
            if not check:
                write_plot(path, draw)
    names = ", ".join(str(path.relative_to(ROOT)) for path in stale)
    if check and stale:
        sys.exit(f"tables.py: out of date: {names}; run {COMMAND}")
    if stale:
        print(f"written: {names}")


if __name__ == "__main__":
    try:
        main()
    except Problem as problem:
        sys.exit(f"tables.py: {problem}")

#!/usr/bin/env python3
"""Measures how often the first lines of `check` name the line of a mistake.

    measure.py BUILD RESULTS.csv [--labs 01,03] [--known N] [--planted N] [--seed SEED]

BUILD is Meson's build folder, with the solutions' runners. Draws up to N mistakes of each lab from lab_*.py, and N that
the rules of planted.py make in what a student writes of the first steps (which does not need a clone here), and those
of human.py. Adds a line to RESULTS.csv for each as soon as it is known, so an interrupted run can be continued. A
verdict names a mistake if one of its places is at most two lines away from a changed line: "first" are the lines up to
the first that is not indented, "searched" those about a small change that fixes the step, "eight" the first eight. The
verdicts are kept beside the results. Prints a table at the end.
"""

from __future__ import annotations

import argparse
import csv
import random
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import planted
import steps
from human import MISTAKES as HUMAN
from mistake import ROOT, changed, named, paragraphs

from workbook.check import explaining
from workbook.core import build
from workbook.diagnose.diagnosis import Diagnosis, Evidence, diagnose
from workbook.diagnose.search import Searched

SECONDS = 300  # for one mistake
AS_USUAL: Mapping[str, object] = {}  # the limits of the search
COLUMNS = ("group", "lab", "file", "name", "line", "first", "searched", "eight", "kind", "seconds")
EARLY = ("00", "01", "02", "03")  # steps in which mistakes are planted


@dataclass(frozen=True)
class Sample:
    """A file with a mistake, as steps.verdict() takes it."""

    group: str
    lab: str
    file: str
    name: str
    source: str
    step: int = 0
    alone: bool = False
    is_searched: bool = True

    @property
    def lines(self) -> set[int]:
        """The lines that differ from the solution's."""
        return changed((ROOT / "solutions" / self.lab / self.file).read_text(encoding="utf-8"), self.source)


def known(lab: str, count: int, drawn: random.Random) -> list[Sample]:
    """Mistakes of a lab's list, from as many files as there are."""
    found = [item for item in steps.MISTAKES if item.lab.startswith(lab)]
    drawn.shuffle(found)
    files: dict[str, list[Sample]] = {}
    for item in found:
        step, alone = item.step, item.alone
        files.setdefault(item.file, []).append(
            Sample("known", item.lab, item.file, item.name, item.source, step, alone)
        )
    return list(in_turn(list(files.values())))[:count]


def by_rules(lab: str, count: int, drawn: random.Random) -> list[Sample]:
    """Mistakes that the rules make in lines that the starter does not give."""
    kinds: dict[str, list[Sample]] = {}
    for path in sorted((ROOT / "solutions").glob(f"{lab}*/*.cu")):
        if path.name[:2] not in EARLY:
            continue
        text = path.read_text(encoding="utf-8")
        given = {line.strip() for line in (ROOT / "labs" / path.parent.name / path.name).read_text().splitlines()}
        for one in planted.mistakes(text, given):
            name = f"{one.line} {one.becomes.strip() or '(deleted)'}"
            made = Sample("planted", path.parent.name, path.name, name, planted.with_mistake(text, one))
            kinds.setdefault(one.kind, []).append(made)
    for group in kinds.values():
        drawn.shuffle(group)
    groups = list(kinds.values())
    drawn.shuffle(groups)
    return list(in_turn(groups))[:count]


def by_hand(lab: str) -> list[Sample]:
    """Those that readers have made."""
    own = (item for item in HUMAN if item.lab.startswith(lab))
    return [Sample("human", item.lab, item.file, item.name, item.source, item.step) for item in own]


def in_turn(groups: Sequence[Sequence[Sample]]) -> Iterator[Sample]:
    """One of each group, then a second one of each."""
    for i in range(max(map(len, groups), default=0)):
        yield from (group[i] for group in groups if i < len(group))


class Late(Exception):
    """A mistake has taken too long."""


def measured(folder: Path, sample: Sample, kept: Path) -> dict[str, str]:
    """One line of the results."""
    found: list[Diagnosis] = []

    def ring(*_: object) -> None:
        raise Late

    def diagnosed(evidence: Evidence, searched: Searched) -> Diagnosis:
        found.append(diagnose(evidence, searched))
        return found[-1]

    signal.signal(signal.SIGALRM, ring)
    signal.alarm(SECONDS)
    try:
        with mock.patch.object(explaining, "diagnose", diagnosed):
            printed, seconds = steps.verdict(folder, sample, AS_USUAL)  # type: ignore[arg-type]
    except Late:
        printed, seconds = "", float(SECONDS)
    finally:
        signal.alarm(0)
    kept.write_text(
        f"{sample.lab} {sample.file} {sample.name}\n{sorted(sample.lines)}\n\n{printed}\n", encoding="utf-8"
    )
    verdicts = ["late" if not printed else "over" if "OVER " in printed else "none"] * 3
    if found:
        first, eight = paragraphs(printed)
        changes = [f"line {change.line}" for change in found[-1].changes]
        verdicts = ["yes" if named(lines, sample.file, sample.lines) else "no" for lines in (first, changes, eight)]
    values = (sample.group, sample.lab, sample.file, sample.name, str(min(sample.lines)), *verdicts)
    return dict(zip(COLUMNS, (*values, found[-1].kind if found else "", f"{seconds:.1f}")))


def table(rows: Sequence[dict[str, str]]) -> str:
    """How many of the mistakes with a verdict are named, by lab and group."""
    lines = ["lab group n first searched eight"]
    judged = [row for row in rows if row["first"] in ("yes", "no")]
    for lab, group in sorted({(row["lab"], row["group"]) for row in judged}):
        own = [row for row in judged if (row["lab"], row["group"]) == (lab, group)]
        shares = [str(sum(row[name] == "yes" for row in own)) for name in ("first", "searched", "eight")]
        lines.append(" ".join([lab, group, str(len(own)), *shares]))
    return "\n".join(lines)


def main() -> int:
    """Measures; the exit status."""
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("--labs", default="01,02,03,04,05,06")
    parser.add_argument("--known", type=int, default=10)
    parser.add_argument("--planted", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    folder = arguments.build.resolve()
    build.use_folder(folder)
    samples: list[list[Sample]] = []
    for lab in arguments.labs.split(","):
        drawn = random.Random(f"{arguments.seed} {lab}")
        chosen = known(lab, arguments.known, drawn)
        samples += [by_hand(lab), chosen, by_rules(lab, arguments.planted, drawn)]
    done = list(csv.DictReader(arguments.results.open())) if arguments.results.exists() else []
    kept = arguments.results.with_suffix("")
    kept.mkdir(exist_ok=True)
    for sample in in_turn(samples):
        if any((row["group"], row["file"], row["name"]) == (sample.group, sample.file, sample.name) for row in done):
            continue
        row = measured(folder, sample, kept / f"{len(done):03}.txt")
        with arguments.results.open("a", newline="") as file:
            out = csv.DictWriter(file, COLUMNS)
            if not done:
                out.writeheader()
            out.writerow(row)
        done.append(row)
        print(*row.values(), flush=True)
    print(table(done))
    return 0


if __name__ == "__main__":
    sys.exit(main())

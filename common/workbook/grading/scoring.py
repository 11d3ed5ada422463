"""What grading found out about a step, whatever a rubric says, and the points that a rubric gives for it.

A Grade keeps its records. So a new rubric needs no new runs, and the same functions give points at first and later.
"""

# Python 3.9 cannot evaluate `int | None`, and the annotations are evaluated when a record is read.
# ruff: noqa: UP045

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Optional

from ..core.check_build import Observation
from ..core.console import Problem, listed
from ..core.judge_types import Outcome, Timeline, from_json
from . import judging
from .grades import Criterion, Failure, Grade, Run
from .judging import NamedCase, Raced, Tally
from .rubric import Rubric
from .texts import shortened

MOST_FINDINGS = 50  # of a case that are kept
_STEP = re.compile(r"(?:.*/)?\d\d_\w+\.cu")


class NotRecorded(Exception):
    """The records lack what a rubric gives points for; the text says what."""


@dataclass(frozen=True)
class Record:
    """What grading found out about one step, or about the report on a lab."""

    lab: str
    step: Optional[int]  # None: the report
    kind: str = ""  # why it was not run, in a few words that count as a difficulty: "does not compile"; "" if it was
    why: str = ""  # the same as a sentence
    failures: tuple[Failure, ...] = ()  # what keeps a step, or some of its key types, from being run
    with_reference: tuple[int, ...] = ()  # the steps whose solutions took the place of the student's in the cases
    cases: str = ""  # a hash of the cases and their seeds
    has_budgets: bool = False  # that can be judged on the machine
    tallies: tuple[Tally, ...] = ()  # of the cases, by build
    # Of the check build; None: the rubric gave no points for it, or no case passed.
    verdict: Optional[Observation] = None
    check_cases: tuple[NamedCase, ...] = ()  # those that failed there
    speed: Optional[Raced] = None  # None: not measured, because a case fails or the rubric gave no points for it
    words: int = 0  # of a report that are the student's own

    @property
    def is_right(self) -> bool:
        """Whether no fault of this step is known that would affect steps that use it."""
        seen = self.verdict
        is_clean = seen is None or (seen.passed and not seen.lesser)
        return bool(self.tallies) and not any(tally.failed for tally in self.tallies) and is_clean


def hash_of(cases: Iterable[NamedCase]) -> str:
    """A hash of cases with their seeds: two submissions with the same one had the same cases."""
    text = json.dumps([dataclasses.asdict(case) for case in cases])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


# --- what is kept ---


def slim(outcome: Outcome) -> Outcome:
    """An outcome without what no points depend on. A submission's process may send texts of any length and number, and
    name any file."""
    findings = tuple(replace(finding, text=shortened(finding.text)) for finding in outcome.findings[:MOST_FINDINGS])
    place = (outcome.file, outcome.line) if _STEP.fullmatch(outcome.file) else ("", None)
    return replace(
        outcome, file=place[0], line=place[1], message=shortened(outcome.message), printed=shortened(outcome.printed),
        shown_keys=shortened(outcome.shown_keys), findings=findings, kernels=(), timeline=Timeline(), remarks=(),
        notes=(), launches=(),
    )  # fmt: skip


def of_tally(tally: Tally) -> Tally:
    """A tally with those of its failures that a grade may name: some of each kind, and one of each status."""
    first_of_status = {outcome.status: (case, outcome) for case, outcome in reversed(tally.failures)}
    kept = {id(outcome) for _, outcome in [*judging.first_of_each(tally.failures), *first_of_status.values()]}
    return replace(tally, failures=[(case, slim(one)) for case, one in tally.failures if id(one) in kept])


def of_verdict(verdict: Observation) -> Observation:
    """A verdict without its remarks, which cost no points."""
    own = {one.name: getattr(verdict, one.name) for one in dataclasses.fields(verdict)}
    slimmed: dict[str, Any] = {name: slim(value) for name, value in own.items() if isinstance(value, Outcome)}
    return replace(verdict, remarks={}, **slimmed)


def failed_cases(verdict: Observation, cases: Iterable[NamedCase]) -> tuple[NamedCase, ...]:
    """The cases that a verdict names."""
    named = [value.case for value in vars(verdict).values() if isinstance(value, Outcome)]
    return tuple(case for case in cases if case.case in named)


def encoded(record: Record) -> dict[str, Any]:
    """A record as a Grade keeps it, and as it is read again."""
    plain: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(record), allow_nan=False))
    return plain


def records(grade: Grade) -> list[Record]:
    """The records of a grade. Raises Problem if they are damaged."""
    try:
        return [from_json(Record, record) for record in grade.records]
    except TypeError as error:
        raise Problem(
            f"the record of {grade.student} is damaged: {error}\nGrade again, with --only {grade.student}"
        ) from error


# --- points ---


def scored(grade: Grade, marks: Rubric, run: Run, folder: Path, out: Path) -> Grade:
    """The grade with the points that a rubric gives for its records. Raises NotRecorded. `folder` and `out`, of the
    submissions and the grades, are for the commands that repeat a case."""
    found = [one for record in records(grade) for one in criteria(record, marks, run.builds)]
    command = ["./workbook", "grade", str(folder), "--out", str(out), "--replay", grade.student]
    return replace(grade, criteria=tuple(_with_replay(one, command) for one in found))


def _with_replay(criterion: Criterion, command: Sequence[str]) -> Criterion:
    failures = (replace(f, replay=shlex.join([*command, f.case_id])) if f.case_id else f for f in criterion.failures)
    return replace(criterion, failures=tuple(failures))


def criteria(record: Record, marks: Rubric, builds: Sequence[str]) -> list[Criterion]:
    """The criteria of a step or of a report: those for which the rubric gives points and that can be judged."""
    possible = {"report": record.step is None, "correct": True, "check": True, "budgets": record.has_budgets}
    possible["speed"] = marks.speed.build in builds
    names = ("report",) if record.step is None else ("correct", "check", "budgets", "speed")
    points = {name: marks.points(record.lab, record.step, name) for name in names if possible[name]}
    points = {name: most for name, most in points.items() if most}
    if record.why:
        # The failure once: with the first criterion.
        return [
            judging.no_points(record.lab, record.step, name, most, record.why, *(() if at else record.failures))
            for at, (name, most) in enumerate(points.items())
        ]
    if record.step is None:
        return [judging.report(record.lab, record.words, marks.least_words, most) for most in points.values()]
    return _of_step(record, record.step, marks, points)


def _of_step(record: Record, step: int, marks: Rubric, points: Mapping[str, float]) -> list[Criterion]:
    """The criteria of a step that was run."""
    lab, found = record.lab, []
    if "correct" in points:
        correct = judging.correct(lab, step, record.tallies, points["correct"], marks.least_share)
        failures = correct.failures
        if record.failures:  # these say why cases end in the starter's code
            failures = tuple(one for one in failures if not one.outcome or one.outcome.status != "not-written")
        correct = replace(correct, failures=(*record.failures, *failures))
        found.append(judging.earned(correct, record.verdict) if record.verdict else correct)
    rest = {name: most for name, most in points.items() if name != "correct"}
    if not any(tally.passed for tally in record.tallies):
        return found + [judging.no_points(lab, step, name, most, "no case passed") for name, most in rest.items()]
    for name, most in rest.items():
        if name == "speed":
            found.append(_speed(record, step, marks, most))
            continue
        if record.verdict is None:
            raise NotRecorded(f"the check build did not run step {step:02} of {lab}")
        if name == "check":
            found.append(judging.check(lab, step, record.verdict, record.check_cases, most, marks.unchecked_launch))
        else:
            found.append(judging.budgets(lab, step, record.verdict, most))
    return found


def _speed(record: Record, step: int, marks: Rubric, most: float) -> Criterion:
    if any(tally.failed for tally in record.tallies):
        words = "the speed is judged only if every case passes"
        return judging.no_points(record.lab, step, "speed", most, words)
    raced, speed = record.speed, marks.speed
    if raced is None:
        raise NotRecorded(f"the speed of step {step:02} of {record.lab} was not measured")
    if (raced.build, raced.against, raced.keys) != (speed.build, speed.against, speed.keys):
        raise NotRecorded(
            f"speeds were measured on the {raced.build} build against {raced.against} with up to {raced.keys:,} keys, "
            f"and the rubric wants {speed.build}, {speed.against} and {speed.keys:,} keys"
        )
    return judging.speed(record.lab, step, raced, speed, most)


# --- grades that can be compared ---


def usual_cases(grades: Iterable[Grade]) -> dict[tuple[str, int | None], str]:
    """The hash of the cases that most students have had, by lab and step."""
    counted: dict[tuple[str, int | None], Counter[str]] = {}
    for record in (record for grade in grades for record in records(grade) if record.cases):
        counted.setdefault((record.lab, record.step), Counter())[record.cases] += 1
    return {place: hashes.most_common(1)[0][0] for place, hashes in counted.items()}


def differences(grades: Sequence[Grade], run: Run) -> list[str]:
    """What keeps recorded outcomes from being compared: other seeds, builds or cases. A line for each."""
    found: dict[str, list[str]] = {}
    usual = usual_cases(grades)
    for grade in grades:
        if not grade.records:
            if grade.criteria:
                found.setdefault("graded by an earlier version, without a record of outcomes", []).append(grade.student)
            continue
        if grade.seeds != run.seeds:
            found.setdefault("other seeds", []).append(grade.student)
        if grade.builds != run.builds:
            builds = f"other builds ({', '.join(grade.builds)}; the run has {', '.join(run.builds)})"
            found.setdefault(builds, []).append(grade.student)
        for record in records(grade):
            if record.cases and usual[record.lab, record.step] != record.cases:
                found.setdefault(f"other cases of {record.lab}, step {record.step:02}", []).append(grade.student)
    return [f"{what}: {listed(list(dict.fromkeys(students)))}" for what, students in found.items()]

"""The rubric: how many points there are for what. tests/rubric.toml explains its tables."""

from __future__ import annotations

import importlib.util
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import date, datetime
from pathlib import Path
from typing import Any, NoReturn

from ..core import course
from ..core.console import Problem, Usage, nearest
from ..core.judge_types import Lab
from .late import Late, Whole

RUBRIC = course.ROOT / "tests/rubric.toml"  # the workbook's
STEP_CRITERIA = ("correct", "check", "budgets", "speed")
LAB_CRITERIA = ("report",)
TABLES = ("step", "lab", "correct", "check", "report", "speed", "labs", "late", "drop")
# What holds where a rubric lacks the table: the same as in tests/rubric.toml.
LEAST_SHARE, UNCHECKED_LAUNCH, LEAST_WORDS = 0.25, 1.0, 100
EXTRA = "extra"  # of a step: its points are not part of the maximum


@dataclass(frozen=True)
class Speed:
    """How a ratio of speeds becomes points."""

    build: str = "cuda"
    against: str = "reference"
    keys: int = 1 << 24
    none: float = 0.25
    full: float = 0.75
    levels: int = 4
    band: float = 0.05

    def share(self, ratio: float) -> float:
        """The share of the points for a ratio, from 0 to 1."""
        width = (self.full - self.none) / self.levels
        reached = [
            level for level in range(1, self.levels + 1) if ratio >= (self.none + level * width) * (1 - self.band)
        ]
        return len(reached) / self.levels


@dataclass(frozen=True)
class Rubric:
    """The points of each criterion, and what they depend on."""

    text: str
    steps: Mapping[tuple[str, int], Mapping[str, float]]  # by lab and number
    labs: Mapping[str, Mapping[str, float]]
    least_share: float
    unchecked_launch: float  # the points of `check` that it costs
    least_words: int
    speed: Speed
    named: frozenset[tuple[str, int, str]] = frozenset()  # criteria of single steps: lab, number, criterion
    whole: Whole = field(default_factory=Whole)

    def points(self, lab: str, step: int | None, criterion: str) -> float:
        """The most points for a criterion of a step, or of the lab as a whole."""
        return self.labs[lab][criterion] if step is None else self.steps[lab, step][criterion]

    def require_points(self, chosen: Iterable[str], builds: Sequence[str], path: Path) -> None:
        """Raises Usage if nothing that can be judged in these labs, on these builds, has points."""
        judged = [self.labs[lab][name] for lab in chosen for name in LAB_CRITERIA]
        for lab in chosen:
            extra = self.whole.extra.get(lab, ())
            for step in course.steps(lab):
                points = self.steps[lab, step.number] if step.number not in extra else {}
                judged += [most for name, most in points.items() if name != "speed" or self.speed.build in builds]
        if not any(judged):
            speed = (
                "" if self.speed.build in builds else f", and speed is not judged without the {self.speed.build} build"
            )
            raise Usage(
                f"{path}: nothing that can be judged has points. A rubric must name every criterion that is to be "
                f"judged: what [step] and [lab] leave out gets no points{speed}. Start from a copy of tests/rubric.toml"
            )

    def require_budgets(self, tables: Iterable[Lab], path: Path) -> None:
        """Raises Usage if the rubric names the budgets of a step that has none."""
        for table in tables:
            having = {line.number for line in table.steps if line.budget and line.budget.n}
            for lab, number, criterion in sorted(self.named):
                if (
                    (lab, criterion) == (table.name, "budgets")
                    and number not in having
                    and self.steps[lab, number][criterion]
                ):
                    raise Usage(f"{path}: step {number:02} of {lab} has no budgets: set budgets = 0")


def reader_of_toml() -> str:
    """The module that reads TOML; "" if there is none. Python has its own from 3.11 on."""
    return next((name for name in ("tomllib", "tomli") if importlib.util.find_spec(name)), "")


def _toml(text: str) -> dict[str, Any]:
    module = reader_of_toml()
    if not module:
        raise Problem("this Python cannot read TOML: install python3-tomli (with pip: tomli), or use Python 3.11")
    document: dict[str, Any] = importlib.import_module(module).loads(text)
    return document


class _Reader:
    """Reads the tables, and refuses what does not exist with the line that names it."""

    def __init__(self, path: Path, text: str) -> None:
        self.path, self.text = path, text

    def fail(self, words: str, where: str) -> NoReturn:
        """Raises Usage, with the first line that has the name `where` as a key or in the name of a table."""
        name = re.escape(where)
        pattern = re.compile(rf'\s*(\[.*(?<![\w-])"?{name}"?(?![\w-]).*\]|"?{name}"?\s*=)')
        for number, line in enumerate(self.text.splitlines(), 1):
            if pattern.match(line):
                raise Usage(f"{self.path}:{number}: {words}\n  {line.strip()}")
        raise Usage(f"{self.path}: {words}")

    def unknown(self, what: str, name: str, known: Sequence[str]) -> NoReturn:
        """Raises Usage about a name that does not exist."""
        near = nearest(name, known)
        meant = f" (did you mean {near}?)" if near else ""
        self.fail(f"there is no {what} '{name}'{meant}; choose one of: {', '.join(known)}", name)

    def table(self, value: Any, name: str, known: Sequence[str], what: str = "setting") -> dict[str, Any]:
        """A table that has no other keys than these; empty if it is missing."""
        if value is None:
            return {}
        if not isinstance(value, dict):
            self.fail(f"{name} must be a table", name)
        for key in value:
            if key not in known:
                self.unknown(what, key, known)
        return value

    def number(self, value: Any, name: str, least: float = 0, most: float = math.inf) -> float:
        """A number in a range."""
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
        if not is_number or not least <= value <= most:
            upto = f"{least:g} to {most:g}" if most < math.inf else f"{least:g} on"
            self.fail(f"{name} must be a number from {upto}; it is {value!r}", name)
        return float(value)

    def points(self, table: Mapping[str, Any], known: Sequence[str], base: Mapping[str, float]) -> dict[str, float]:
        """The points of criteria; those that the table leaves out are as in `base`."""
        return {name: self.number(table[name], name) if name in table else base[name] for name in known}


def _speed(reader: _Reader, table: Mapping[str, Any]) -> Speed:
    words = {"build": ("cuda", "cpu"), "against": ("reference", "gold")}
    for name, known in words.items():
        if name in table and table[name] not in known:
            reader.fail(f"{name} must be one of: {', '.join(known)}; it is {table[name]!r}", name)
    numbers = {name: reader.number(table[name], name) for name in table if name not in words}
    values: dict[str, Any] = {**{name: table[name] for name in words if name in table}, **numbers}
    for name in ("keys", "levels"):
        if name in values:
            values[name] = int(reader.number(values[name], name, 1))
    speed = Speed(**values)
    if not speed.none < speed.full:
        reader.fail("full must be greater than none", "full")
    if not speed.band < 1:
        reader.fail("band must be less than 1", "band")
    return speed


def _late(reader: _Reader, table: Mapping[str, Any]) -> Late:
    due = table.get("due")
    if due is None and table:
        reader.fail("late needs due, the deadline, such as due = 2026-11-20T23:59:00", "late")
    if isinstance(due, date) and not isinstance(due, datetime):
        due = datetime(due.year, due.month, due.day, 23, 59, 59)
    if due is not None and not isinstance(due, datetime):
        reader.fail(f"due must be a time without quotes, such as 2026-11-20T23:59:00; it is {due!r}", "due")
    shares = {name: reader.number(table[name], name, 0, 1) for name in ("per_day",) if name in table}
    numbers = {name: reader.number(table[name], name) for name in table if name not in ("due", "per_day")}
    return Late(due.astimezone() if due else None, **shares, **numbers)


def _whole(reader: _Reader, document: Mapping[str, Any], named: Iterable[tuple[str, int, str]]) -> Whole:
    """What concerns a submission as a whole. `named`: the criteria of single steps."""
    late = reader.table(document.get("late"), "late", [one.name for one in fields(Late)])
    labs = reader.table(document.get("drop"), "drop", ("lowest",))
    extra: dict[str, set[int]] = {}
    for lab, number, criterion in named:
        if criterion == EXTRA:
            extra.setdefault(lab, set()).add(number)
    lowest = int(reader.number(labs.get("lowest", 0), "lowest"))
    return Whole(_late(reader, late), {lab: frozenset(steps) for lab, steps in extra.items()}, lowest)


def _steps_of(
    reader: _Reader, lab: str, tables: Mapping[str, Any], base: Mapping[str, float]
) -> tuple[dict[int, dict[str, float]], set[tuple[str, int, str]]]:
    """The points of a lab's steps, and which of them the rubric names for single steps."""
    known = course.steps(lab)
    found = {step.number: dict(base) for step in known}
    named = set()
    for name, table in tables.items():
        step = next(
            (s for s in known if name in (str(s.number), f"{s.number:02}", s.name, f"{s.number:02}_{s.name}")), None
        )
        if step is None:
            reader.unknown(f"step of {lab}", name, [f"{s.number:02}" for s in known])
        given = reader.table(table, name, (*STEP_CRITERIA, EXTRA), f"criterion of step {name}")
        if not isinstance(given.get(EXTRA, False), bool):
            reader.fail(f"{EXTRA} must be true or false", EXTRA)
        found[step.number] = reader.points(given, STEP_CRITERIA, found[step.number])
        named |= {(lab, step.number, criterion) for criterion in given if given[criterion] is not False}
    return found, named


def _with_points(document: dict[str, Any]) -> dict[str, Any]:
    """A rubric that has neither [step] nor [lab] gives the workbook's points, but for those of its single steps."""
    if "step" in document or "lab" in document or not isinstance(document.get("labs", {}), dict):
        return document
    ours = _toml(RUBRIC.read_text(encoding="utf-8"))
    labs: dict[str, Any] = {**ours["labs"], **document.get("labs", {})}
    for lab, table in ours["labs"].items():
        own = labs[lab].get("steps", {}) if isinstance(labs[lab], dict) else None
        if isinstance(own, dict):
            labs[lab] = {**table, **labs[lab], "steps": {**table["steps"], **own}}
    return {**document, "step": ours["step"], "lab": ours["lab"], "labs": labs}


def parse(text: str, path: Path) -> Rubric:
    """The rubric in a text. Raises Usage, with the file, the line and what it says, for what is wrong with it."""
    reader = _Reader(path, text)
    try:
        document = _toml(text)
    except ValueError as error:
        raise Usage(f"{path} is not TOML: {error}") from error
    document = _with_points(reader.table(document, "the rubric", TABLES, "table"))
    zero_step, zero_lab = dict.fromkeys(STEP_CRITERIA, 0.0), dict.fromkeys(LAB_CRITERIA, 0.0)
    each_step = reader.points(
        reader.table(document.get("step"), "step", STEP_CRITERIA, "criterion"), STEP_CRITERIA, zero_step
    )
    each_lab = reader.points(
        reader.table(document.get("lab"), "lab", LAB_CRITERIA, "criterion"), LAB_CRITERIA, zero_lab
    )
    single = reader.table(document.get("labs"), "labs", course.labs(), "lab")
    steps: dict[tuple[str, int], Mapping[str, float]] = {}
    labs: dict[str, Mapping[str, float]] = {}
    named: set[tuple[str, int, str]] = set()
    for lab in course.labs():
        table = reader.table(single.get(lab), lab, (*LAB_CRITERIA, "steps"), f"criterion of {lab}")
        labs[lab] = reader.points(table, LAB_CRITERIA, each_lab)
        tables = table.get("steps", {})
        if not isinstance(tables, dict):
            reader.fail("steps must be a table", "steps")
        found, names = _steps_of(reader, lab, tables, each_step)
        steps.update({(lab, number): points for number, points in found.items()})
        named |= names
    correct = reader.table(document.get("correct"), "correct", ("least_share",))
    check = reader.table(document.get("check"), "check", ("unchecked_launch",))
    report = reader.table(document.get("report"), "report", ("least_words",))
    speed = reader.table(document.get("speed"), "speed", [one.name for one in fields(Speed)])
    return Rubric(
        text,
        steps,
        labs,
        reader.number(correct.get("least_share", LEAST_SHARE), "least_share", 0, 1),
        reader.number(check.get("unchecked_launch", UNCHECKED_LAUNCH), "unchecked_launch"),
        int(reader.number(report.get("least_words", LEAST_WORDS), "least_words")),
        _speed(reader, speed),
        frozenset(named),
        _whole(reader, document, named),
    )


def read(path: Path) -> Rubric:
    """The rubric in a file. Raises Usage."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Usage(f"the rubric {path} cannot be read: {getattr(error, 'strerror', '') or error}") from error
    return parse(text, path)

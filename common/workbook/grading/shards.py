"""A class that several machines grade: each takes every N-th submission, and the outputs are joined into one."""

import dataclasses
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from ..core import files
from ..core.console import Problem, Usage
from . import by_hand, outputs, pseudonyms
from .grades import Grade, Run, read_grades, read_run, write_run

T = TypeVar("T")
_SAME = {"labs": "labs", "rubric": "rubric", "seeds": "seeds", "commit": "commit of the workbook", "builds": "builds"}


@dataclasses.dataclass(frozen=True)
class Shard:
    """The part number `number` of `of`, counted from 1."""

    number: int = 1
    of: int = 1

    def __str__(self) -> str:
        return f"{self.number}/{self.of}" if self.of > 1 else ""

    def part(self, submissions: Sequence[T]) -> list[T]:
        """Every N-th of the submissions, which are in the same order for all parts."""
        return list(submissions[self.number - 1 :: self.of])


def parse(text: str) -> Shard:
    """The shard that an argument names: 2/4. Raises Usage."""
    match = re.fullmatch(r"(\d+)/(\d+)", text) if text else None
    if text and not (match and 1 <= int(match[1]) <= int(match[2])):
        raise Usage(f"'{text}' is not a shard: write K/N with K from 1 to N, such as 2/4")
    return Shard(int(match[1]), int(match[2])) if match else Shard()


def merge(out: Path, parts: Sequence[Path]) -> list[Grade]:
    """Joins the grades in the folders `parts` into `out`, and writes everything that is made from them.

    Raises Problem, before anything is written, if the folders are not all the finished shards of one run.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise Problem(f"{out} exists and is not an empty folder: merge into a new one")
    runs = [_run_of(part) for part in parts]
    for run, part in zip(runs[1:], parts[1:]):
        require_alike(str(part), run, parts[0], runs[0])
    _require_all(runs, parts)
    grades = _joined(parts)
    run = dataclasses.replace(
        runs[0],
        shard="",
        date=min(run.date for run in runs),
        sandbox=_each(run.sandbox for run in runs),
        machine=_each(run.machine for run in runs),
    )
    write_run(out, run)
    by_hand.join(out, parts)
    if any(names := [pseudonyms.read(part) for part in parts]):
        pseudonyms.write(out, pseudonyms.joined(names, (grade.student for grade in grades)))
    for grade in grades:
        outputs.write_student(out, run, grade)
    if (people := outputs.roster_file(parts[0])).is_file():
        files.write_whole(outputs.roster_file(out), people.read_bytes())
    outputs.write_class(out, run, grades)
    return grades


def _each(words: Iterable[str]) -> str:
    """Different words once each."""
    return "; ".join(dict.fromkeys(words))


def _run_of(part: Path) -> Run:
    run = read_run(part)
    if run is None:
        raise Problem(f"{part} holds no grades: name the folders that were written with --shard")
    if not (part / "grades.csv").is_file():
        raise Problem(f"{part} is not finished: run its shard again, which goes on where it stopped")
    return run


def require_alike(what: str, run: Run, first: Path, of_first: Run) -> None:
    """Raises Problem if a shard cannot be merged with the first one. `what`: the shard's folder, or "this shard"."""
    for name, words in _SAME.items():
        if getattr(run, name) != getattr(of_first, name):
            raise Problem(
                f"{what} and {first} are not of one run: the {words} differ{'s' * (not words.endswith('s'))}.\n"
                "Grade all shards with --seeds-of the first one, the same rubric and the same commit, and either all "
                "with a GPU or all without"
            )


def _require_all(runs: Sequence[Run], parts: Sequence[Path]) -> None:
    shards = [parse(run.shard) for run in runs]
    for shard, part in zip(shards, parts):
        if shard.of != len(parts):
            raise Problem(f"{part} is shard {shard or '1/1'}, and {len(parts)} folders were named: name all shards")
    for number in range(1, len(parts) + 1):
        if number not in {shard.number for shard in shards}:
            raise Problem(f"shard {number}/{len(parts)} is missing")


def _joined(parts: Sequence[Path]) -> list[Grade]:
    found: dict[str, Path] = {}
    grades = []
    for part in parts:
        for grade in read_grades(part):
            if grade.student in found:
                raise Problem(f"{grade.student} was graded in {found[grade.student]} and in {part}")
            found[grade.student] = part
            grades.append(grade)
    return grades

"""by-hand.csv: points and comments that an instructor gives, which a new run keeps.

It is a CSV file in the folder of grades, with the columns COLUMNS. With a criterion, `points` are those that it gets
instead of the grader's. Without one, they are added to the lab's, or taken off if they are negative. A comment is shown
at a line of the step's file, at its criterion, its step, or on top. A line whose `student` is "#NAME" gives a comment a
name: where "#NAME" is in another comment, it stands for the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..core import course, files
from ..core.console import Problem, Usage, nearest
from . import gradebooks, roster, texts
from .grades import BY_HAND, Criterion, Grade
from .rubric import LAB_CRITERIA, STEP_CRITERIA

COLUMNS = ("student", "lab", "step", "line", "criterion", "points", "comment")


@dataclass(frozen=True)
class Line:
    """What a line of the file says."""

    where: str  # "by-hand.csv:3"
    student: str
    lab: str  # "": the submission as a whole
    step: int | None
    criterion: str
    points: float | None
    comment: str
    at: int | None = None  # a line of the step's file


def file_of(out: Path) -> Path:
    """Where the file is."""
    return out / "by-hand.csv"


def begin(out: Path) -> None:
    """Writes the file's first line, unless there is a file."""
    if not file_of(out).exists():
        files.write_whole(file_of(out), gradebooks.to_csv([COLUMNS]))


def join(out: Path, parts: Iterable[Path]) -> None:
    """Writes the lines of the files of all parts of a class."""
    rows = []
    for part in parts:
        (_, header), *lines = roster.table_of(file_of(part)) if file_of(part).is_file() else [(1, list(COLUMNS))]
        cells = [dict(zip(map(str.casefold, header), line)) for _, line in lines]
        rows += [[cell.get(name, "") for name in COLUMNS] for cell in cells]
    files.write_whole(file_of(out), gradebooks.to_csv([COLUMNS, *rows]))


def read(out: Path, labs: Sequence[str], student_of: Callable[[str], str]) -> list[Line]:
    """The lines of the file; none without one. `labs`: those of the run; `student_of`: the student that a name or a
    pseudonym means, "" if there is none. Raises Usage with the line and what is wrong with it."""
    path = file_of(out)
    if not path.is_file():
        return []
    table = roster.table_of(path)
    header = [cell.casefold() for cell in table[0][1]] if table else []
    if table and (set(header) - set(COLUMNS) or "student" not in header or len(set(header)) < len(header)):
        raise Usage(f"{path}:1: the first line must name the columns: {','.join(COLUMNS)}")
    for number, row in table[1:]:
        if any(row[len(header) :]):
            raise Usage(f"{path}:{number}: more cells than the first line has: put quotes around a comment with commas")
    rows = [
        (f"{path}:{number}", {**dict.fromkeys(COLUMNS, ""), **dict(zip(header, cells))}) for number, cells in table[1:]
    ]
    named = {cells["student"][1:]: cells["comment"] for _, cells in rows if cells["student"].startswith("#")}
    lines = []
    for where, cells in rows:
        if not cells["student"].startswith("#"):
            cells["comment"] = _filled(where, cells["comment"], named)
            lines.append(_line(where, cells, labs, student_of))
    _require_different(lines)
    return lines


def _filled(where: str, comment: str, named: Mapping[str, str]) -> str:
    """A comment with the texts of the comments that it names."""

    def text(match: re.Match[str]) -> str:
        if match[1] not in named and (near := nearest(match[1], named)):
            raise Usage(f"{where}: no line defines the comment '{match[0]}'; did you mean #{near}?")
        return named.get(match[1], match[0])  # such as #pragma

    return re.sub(r"(?<!\S)#([^\W\d][\w-]*)", text, comment)


def _line(where: str, values: dict[str, str], labs: Sequence[str], student_of: Callable[[str], str]) -> Line:
    student = student_of(values["student"])
    if not student:
        raise Usage(f"{where}: there is no student '{values['student']}' in these grades")
    step_word, criterion = values["step"], values["criterion"].casefold()
    lab = _lab(where, values["lab"], labs)
    if not lab and (step_word or criterion or values["points"]):
        raise Usage(f"{where}: name the lab, because this run has several: {', '.join(labs)}")
    step = _step(where, lab, step_word)
    known = LAB_CRITERIA if step is None else STEP_CRITERIA
    if criterion and criterion not in known:
        near = nearest(criterion, known)
        meant = f" (did you mean {near}?)" if near else ""
        raise Usage(
            f"{where}: there is no criterion '{criterion}' {'without' if step is None else 'of'} a step{meant}; choose "
            f"one of: {', '.join(known)}"
        )
    points = _points(where, values["points"]) if values["points"] else None
    if points is not None and step is not None and not criterion:
        raise Usage(f"{where}: name the criterion that gets these points. To add points to the lab, leave out the step")
    if points is None and not values["comment"]:
        raise Usage(f"{where}: there are neither points nor a comment")
    if values["line"] and (step is None or not re.fullmatch("[0-9]+", values["line"])):
        raise Usage(f"{where}: line must be a line number in a step's file, and the step must be given, too")
    return Line(where, student, lab, step, criterion, points, values["comment"], int(values["line"] or 0) or None)


def _lab(where: str, word: str, labs: Sequence[str]) -> str:
    """The lab of the run that a word means; "" for no word, which can mean any of several."""
    if not word:
        return labs[0] if len(labs) == 1 else ""
    try:
        lab = course.find_lab(word)
    except Usage as error:
        raise Usage(f"{where}: {error}") from error
    if lab not in labs:
        raise Usage(f"{where}: these grades are not for {lab}, but for {', '.join(labs)}")
    return lab


def _step(where: str, lab: str, word: str) -> int | None:
    try:
        return course.find_step(lab, word).number if word else None
    except Problem as error:
        raise Usage(f"{where}: {error}") from error


def _points(where: str, word: str) -> float:
    if not re.fullmatch(r"[-+]?\d+([.,]\d+)?", word):
        raise Usage(f"{where}: points must be a number, such as 4.5 or -1, not '{word}'")
    return float(word.replace(",", "."))


def _require_different(lines: Iterable[Line]) -> None:
    seen: dict[tuple[object, ...], Line] = {}
    for line in lines:
        key = line.student, line.lab, line.step, line.criterion
        if line.criterion and line.points is not None and seen.setdefault(key, line) is not line:
            raise Usage(f"{line.where}: {seen[key].where} has points for the same criterion already: remove one line")


def applied(grade: Grade, lines: Iterable[Line]) -> Grade:
    """A grade, as it was made from its records, with what the lines say. Raises Usage for what cannot be applied."""
    own = [line for line in lines if line.student == grade.student]
    if grade.not_graded or not own:  # until it is graded, there is nothing to give points for
        return replace(grade, comments=())
    criteria = [one for one in grade.criteria if one.name != BY_HAND]
    comments = []
    for line in own:
        if line.points is not None and not grade.records:
            raise Usage(_why_no_points(grade, line))
        if line.points is not None and not line.criterion:
            words = f"points {'added' if line.points >= 0 else 'taken off'} by hand"
            criteria.append(Criterion(line.lab, None, BY_HAND, line.points, 0, words, comment=line.comment))
        elif line.criterion or line.step is not None:
            at = _place(grade, line, criteria)
            _require_line(grade, line)
            criteria[at] = _changed(criteria[at], line)
        else:
            comments.append(line.comment)
    return replace(grade, criteria=tuple(criteria), comments=tuple(comments))


def _why_no_points(grade: Grade, line: Line) -> str:
    if grade.is_missing:
        return f"{line.where}: {grade.student} has handed in nothing that points could be given for"
    return (
        f"{line.where}: {grade.student} was graded by an earlier version of the workbook: grade again, with --only "
        f"{grade.student}, before you change the points"
    )


def _place(grade: Grade, line: Line, criteria: Sequence[Criterion]) -> int:
    """The place of the criterion that a line means; for a step, its first one."""
    for at, one in enumerate(criteria):
        if (one.lab, one.step) == (line.lab, line.step) and line.criterion in ("", one.name):
            return at
    what = f"{line.criterion} of step {line.step:02}" if line.step is not None else line.criterion
    raise Usage(
        f"{line.where}: the grade of {grade.student} has no criterion '{what}'; its feedback lists those it has"
    )


def _require_line(grade: Grade, line: Line) -> None:
    """Raises Usage if the student's file lacks the line that a comment is about."""
    if line.at is None or line.step is None:
        return
    file = course.find_step(line.lab, str(line.step)).file
    if line.at > (lines := len(grade.sources.get(file, "").splitlines())):
        raise Usage(f"{line.where}: {file} of {grade.student} has {lines} lines, and no line {line.at}")


def _changed(criterion: Criterion, line: Line) -> Criterion:
    if line.at is None:
        criterion = replace(criterion, comment="; ".join(filter(None, (criterion.comment, line.comment))))
    elif line.comment:
        criterion = replace(criterion, at_lines=(*criterion.at_lines, (line.at, line.comment)))
    if line.points is None:
        return criterion
    if not 0 <= line.points <= criterion.max_points:
        raise Usage(
            f"{line.where}: {gradebooks.title(criterion)} can have from 0 to "
            f"{texts.points(criterion.max_points)} points. To give more, add a line without a step and a criterion"
        )
    before = texts.points(criterion.points)
    words = f"{criterion.words}; your instructor set the points (grading gave {before})"
    return replace(criterion, points=line.points, words=words)

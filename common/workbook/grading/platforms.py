"""The gradebooks of Canvas and Moodle, filled in: the files that they exported, with their ids and headers.

Both read a file that they have exported. Canvas needs the columns about the student, and one for the assignment; it
finds the assignment by its number, which is in the header. Moodle needs the worksheet as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from . import gradebooks, texts
from .grades import Grade, Run
from .roster import Roster

STUDENT = ("student", "id", "sis user id", "sis login id", "root account", "section")  # of Canvas
POSSIBLE = "points possible"
_ASSIGNMENT = re.compile(r".* \(\d+\)")  # a column of Canvas: the name and the number of the assignment


def filled(roster: Roster, run: Run, grades: Sequence[Grade]) -> str:
    """The file that the platform reads. Who was not graded keeps the grade that the export has."""
    by_student = {grade.student: grade for grade in grades}
    by_line = {row.cells: by_student.get(row.id) for row in roster.rows}
    make = _canvas if roster.kind == "canvas" else _moodle
    return gradebooks.to_csv(make(roster, run, by_line))


def above_maximum(roster: Roster, grades: Sequence[Grade]) -> list[str]:
    """The students who get the maximum although they have more points, because Moodle takes no larger grade."""
    listed = {row.id for row in roster.rows} if roster.kind == "moodle" else set()
    more = [grade for grade in grades if grade.points is not None and grade.points > grade.max_points + 1e-9]
    return [grade.student for grade in more if grade.student in listed]


def _points(grade: Grade | None, most: str, before: str, is_capped: bool = False) -> str:
    """The points as the platform counts them: if its maximum is another one, they are scaled to it."""
    if grade is None or grade.points is None:
        return before
    try:
        scale = float(most.replace(",", ".")) / grade.max_points if grade.max_points else 1.0
    except ValueError:  # the platform has no maximum yet
        scale = 1.0
    points = max(0.0, min(grade.points, grade.max_points)) if is_capped else grade.points
    return texts.points(points * scale)


def _canvas(roster: Roster, run: Run, by_line: dict[tuple[str, ...], Grade | None]) -> list[list[str]]:
    header, *lines = roster.table
    kept = [at for at, name in enumerate(header) if name.casefold() in STUDENT]
    column = _canvas_column(header, run)
    possible = next((line for line in lines if line[0].casefold() == POSSIBLE), ())
    most = possible[column] if column is not None and column < len(possible) else ""
    total = texts.points(max((grade.max_points for grade in by_line.values() if grade), default=0))
    title = header[column] if column is not None else " ".join(run.labs)
    rows = [[*(header[at] for at in kept), title]]
    rows.append([*("    Points Possible" if at == 0 else "" for at in kept), most or total])
    for line in lines:
        if line in by_line:
            before = line[column] if column is not None and column < len(line) else ""
            student = [texts.cell(line[at]) if at < len(line) else "" for at in kept]
            rows.append([*student, _points(by_line[line], most, before)])
    return rows


def _canvas_column(header: Sequence[str], run: Run) -> int | None:
    """The assignment that is named after the lab, or the only one; None: Canvas will ask for a new one."""
    assignments = [at for at, name in enumerate(header) if _ASSIGNMENT.fullmatch(name)]
    named = [at for at in assignments if any(lab in header[at].casefold() for lab in run.labs)]
    return next((found[0] for found in (named, assignments) if len(found) == 1), None)


def _moodle(roster: Roster, run: Run, by_line: dict[tuple[str, ...], Grade | None]) -> list[list[str]]:
    header, *lines = roster.table
    names = [name.casefold() for name in header]
    grade_at, most_at = (names.index(name) if name in names else None for name in ("grade", "maximum grade"))
    rows = [list(header)]
    for line in lines:
        if line in by_line and grade_at is not None:
            cells = [*line, *[""] * (len(header) - len(line))]
            before = cells[grade_at]
            cells = [texts.cell(cell) if cell != "-" else cell for cell in cells]
            cells[grade_at] = _points(by_line[line], cells[most_at] if most_at is not None else "", before, True)
            rows.append(cells)
    return rows

"""The roster of a class: who is on it, and what is agreed with each of them.

It is a CSV file with the columns `id` and, if they are needed, `name`, `group`, `login`, `email`, `extension`,
`handed_in` and `attempt`; or the roster of Classroom 50, the gradebook that Canvas exports, or the grading worksheet of
a Moodle assignment, to which these columns may be added.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Union

from ..core.console import Problem, Usage, nearest

OWN = ("id", "name", "group", "login", "email", "extension", "handed_in", "attempt")
PARTS = ("first_name", "last_name")  # that a name may come in
# What the columns of the platforms are here. The last of a student's ids that is not empty names the student.
CANVAS = {"sis login id": "id", "sis user id": "id", "id": "id", "student": "name"}
ALIASES = {"username": "login"}  # of Classroom 50
MOODLE = {"id number": "id", "identifier": "id", "full name": "name", "email address": "email"}
MOODLE_TIME = "last modified (submission)"
# As Moodle writes it in English: "Sunday, 22 November 2026, 10:30 AM".
_MOODLE_TIMES = ("%A, %d %B %Y, %I:%M %p", "%A, %B %d, %Y, %I:%M %p", "%A, %d %B %Y, %H:%M")
_PARTICIPANT = re.compile(r"\D+ (\d+)")  # Moodle's identifier, in any language: "Participant 4711"
_TEXT_FORMULA = re.compile(r'="(.*)"')  # how a spreadsheet keeps the zeros at the beginning of a number
_SHORTENED = re.compile(r"\d[.,]\d+E\+\d+", re.IGNORECASE)
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "ø": "oe", "å": "aa"})

Extension = Union[None, timedelta, datetime]


@dataclass(frozen=True)
class Row:
    """A student."""

    id: str
    line: int  # of the file
    cells: tuple[str, ...]  # of the line
    ids: tuple[str, ...]  # all that platforms may call the student
    name: str = ""
    group: str = ""
    extension: Extension = None  # days, or a deadline of the student's own
    handed_in: datetime | None = None
    attempt: str = ""  # which of several counts: its number, or the name of its file or folder


@dataclass(frozen=True)
class Roster:
    """The students of a class, and the table that they come from."""

    path: Path
    kind: str  # "own", "canvas" or "moodle"
    table: tuple[tuple[str, ...], ...]  # with its header
    rows: tuple[Row, ...]

    def row(self, student: str) -> Row | None:
        """The row of a student, by the id that names the student."""
        return next((row for row in self.rows if row.id == student), None)

    def find(self, ids: Sequence[str], name: str) -> Row | None:
        """Whom ids and a name of a platform mean: an id of somebody with that name, or a name that is unique."""
        wanted = {folded(id_) for id_ in ids}
        by_id = [row for row in self.rows if wanted & {folded(id_) for id_ in row.ids}]
        # A platform's number is not part of its name, and may be somebody else's. A clone is named after a login.
        named = {id_ for id_ in wanted if id_ in folded(name)}
        agreeing = [
            row
            for row in by_id
            if not name or not row.name or agree(name, row.name) or named & {folded(id_) for id_ in row.ids}
        ]
        by_name = [row for row in self.rows if spellings(row.name) & spellings(name)]
        return next((found[0] for found in (agreeing, by_name) if len(found) == 1), None)


# --- names ---


def folded(text: str) -> str:
    """A name without the differences that platforms make: case, accents, spaces and signs."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in plain if letter.isalnum())


def spellings(name: str) -> set[str]:
    """The forms of a name: "Anna Müller" is annamuller, annamueller, mulleranna and muelleranna."""
    last, comma, first = name.partition(",")
    words = (f"{first} {last}" if comma else name).split()
    orders = {" ".join(words), " ".join(words[-1:] + words[:-1])}
    found = {folded(form) for order in orders for form in (order, order.casefold().translate(_UMLAUTS))}
    return found - {""}


def agree(one: str, other: str) -> bool:
    """Whether two names may be those of one person: a word of one is in the other."""
    return any(
        part in form
        for first, second in ((one, other), (other, one))
        for word in re.split(r"[\W_]+", first)
        for part in spellings(word)
        for form in spellings(second)
        if len(part) > 1
    )


# --- the file ---


def _text(path: Path) -> str:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise Usage(f"{path} cannot be read: {error.strerror}") from error
    code = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        return content.decode(code)
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise Usage(f"{path}:{line}: this is not UTF-8. Save the file as 'CSV UTF-8'") from error


def table_of(path: Path) -> list[tuple[int, list[str]]]:
    """The lines of the file that are not empty, with their numbers. They are separated by what the first one has most
    of: commas, semicolons or tabs."""
    text = _text(path).replace("\r\n", "\n").replace("\r", "\n")
    separator = re.match(r"sep=(.)(?=\n)", text)  # Excel's line about it
    text = text[separator.end() :] if separator else text
    header = text.lstrip().partition("\n")[0]
    reader = csv.reader(io.StringIO(text), delimiter=separator[1] if separator else max(",;\t", key=header.count))
    try:
        lines = [(reader.line_num, [cell.strip() for cell in line]) for line in reader]
    except csv.Error as error:
        raise Usage(f"{path}:{reader.line_num}: this is not a CSV file: {error}") from error
    return [(number, line) for number, line in lines if any(line)]


def _columns(path: Path, header: Sequence[str]) -> tuple[str, list[str]]:
    """The kind of the file, and what each of its columns is here; "" for what is not read."""
    names = [cell.casefold() for cell in header]
    if {"student", "id", "section"} <= set(names):
        return "canvas", [CANVAS.get(name, name if name in OWN else "") for name in names]
    if {"identifier", "full name"} <= set(names):
        own = {} if "handed_in" in names else {MOODLE_TIME: MOODLE_TIME}
        return "moodle", [{**MOODLE, **own}.get(name, name if name in OWN else "") for name in names]
    columns = [name.replace(" ", "_").replace("-", "_") for name in names]
    columns = [ALIASES.get(name, name) for name in columns]
    for name in columns:
        if name not in OWN and name not in PARTS and nearest(name, OWN):
            raise Usage(f"{path}:1: there is no column '{name}'; did you mean '{nearest(name, OWN)}'?")
    double = [name for name in OWN if columns.count(name) > 1]
    if not {"id", "login"} & set(columns) or double:
        wrong = f"two columns '{double[0]}'" if double else "no column 'id'"
        raise Usage(
            f"{path}:1: the roster has {wrong}. Its first line must name the columns: {', '.join(OWN)}, of which only "
            "id is needed, or login. Canvas's gradebook and Moodle's grading worksheet can be used as they are exported"
        )
    return "own", [name if name in (*OWN, *PARTS) else "" for name in columns]


def read(path: Path) -> Roster:
    """The roster in a file. Raises Usage, with the file, the line and what is wrong with it."""
    table = table_of(path)
    if not table:
        raise Usage(f"the roster {path} is empty")
    kind, columns = _columns(path, table[0][1])
    rows: list[Row] = []
    for number, line in table[1:]:
        cells = [(column, _plain(cell)) for column, cell in zip(columns, line) if column and cell]
        ids = [cell for column, cell in cells if column == "id"]
        if kind == "canvas" and not ids:  # Canvas has lines about the points, without a student
            continue
        rows.append(replace(_row(path, number, kind, cells), cells=tuple(line)))
    _require_different(path, rows)
    if not rows:
        raise Usage(f"the roster {path} has no students")
    return Roster(path, kind, tuple(tuple(line) for _, line in table), tuple(rows))


def _plain(cell: str) -> str:
    formula = _TEXT_FORMULA.fullmatch(cell)
    return formula[1] if formula else cell


def _row(path: Path, number: int, kind: str, cells: Sequence[tuple[str, str]]) -> Row:
    values = dict(reversed(cells))  # the first of several columns
    ids = [cell for column, cell in cells if column == "id"]
    if kind != "own":  # from the last column to the first: what people know a student by, then the platform's number
        ids = [match[1] if (match := _PARTICIPANT.fullmatch(id_)) else id_ for id_ in reversed(ids)]
    ids += [values["login"]] if not ids and values.get("login") else []
    where = f"{path}:{number}"
    if not ids:
        raise Usage(f"{where}: this line has no id")
    if ids[0].startswith(("=", "+", "-", "@")) or _SHORTENED.fullmatch(ids[0]):
        raise Usage(
            f"{where}: the id '{ids[0]}' is not one but what a spreadsheet has made of it. Format the column as text, "
            "and enter the ids again"
        )
    more = [values[name] for name in ("login", "email") if name in values]
    return Row(
        ids[0],
        number,
        (),
        tuple(dict.fromkeys([*ids, *more, *(mail.partition("@")[0] for mail in more)])),
        values.get("name", "") or " ".join(values[part] for part in PARTS if part in values),
        values.get("group", ""),
        _extension(values.get("extension", ""), where),
        time_of(values["handed_in"], where) if "handed_in" in values else _of_moodle(values.get(MOODLE_TIME, "")),
        values.get("attempt", ""),
    )


def _require_different(path: Path, rows: Sequence[Row]) -> None:
    seen: dict[str, Row] = {}
    for row in rows:
        other = seen.setdefault(folded(row.id) or row.id, row)
        if other is not row:
            raise Problem(
                f"{path}:{row.line}: the id '{row.id}' is also in line {other.line}. Each student needs an id that "
                "differs by more than case and signs"
            )


# --- times ---


def time_of(text: str, where: str) -> datetime:
    """The time in a text. A day alone is its end; without a time zone, it is this machine's. Raises Usage."""
    plain = re.sub(r"(\.\d+)? ?(Z|UTC)$", "+00:00", text.strip())
    try:
        time = datetime.fromisoformat(plain)
    except ValueError:
        raise Usage(f"{where}: '{text}' is not a time. Write it like 2026-11-20 or 2026-11-20T23:59") from None
    if len(plain) == len("2026-11-20"):
        time = time.replace(hour=23, minute=59, second=59)
    return time.astimezone()


def _of_moodle(text: str) -> datetime | None:
    """The time in a cell of Moodle's grading worksheet, in this machine's zone; None if it is in another language."""
    for form in _MOODLE_TIMES:
        try:
            return datetime.strptime(" ".join(text.split()), form).astimezone()
        except ValueError:
            continue
    return None


def _extension(text: str, where: str) -> Extension:
    if not text:
        return None
    if re.fullmatch(r"\d+([.,]\d+)?", text):
        return timedelta(days=float(text.replace(",", ".")))
    try:
        return time_of(text, where)
    except Usage:
        raise Usage(
            f"{where}: '{text}' is not an extension. Write a number of days, or the student's deadline like 2026-11-25"
        ) from None

"""What a mistake is: a few changed words of a solution, and what the reader must see: the verdict, the kind of the
first finding, and a place near the mistake. Sentences are not compared, but for errors of the compiler."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NEAR = 2  # lines
FIRST = "The first thing to fix:"


def changed(right: str, wrong: str) -> set[int]:
    """The lines in which a wrong text differs from the right one."""
    parts = difflib.SequenceMatcher(None, right.splitlines(), wrong.splitlines(), autojunk=False).get_opcodes()
    places = [(first, end) for tag, _, _, first, end in parts if tag != "equal"]
    return {line for first, end in places for line in range(first + 1, max(end, first + 1) + 1)}


def paragraphs(printed: str) -> tuple[list[str], list[str]]:
    """The first lines of a verdict, up to the first that is not indented, and the first eight."""
    lines = [line for line in printed.partition(FIRST)[2].splitlines() if line.strip()]
    first = lines[:1]
    for line in lines[1:]:
        if not line.startswith(" "):
            break
        first.append(line)
    return first, lines[:8]


def named(lines: Sequence[str], file: str, places: set[int]) -> bool:
    """Whether lines of a verdict name one of these lines of a file, or a line near it."""
    said = " ".join(line.strip() for line in lines)
    found = {int(line) for line in re.findall(rf"{re.escape(file)}:(\d+)", said)}
    for first, second in re.findall(r"\blines? (\d+)(?:(?: and | to |, )(\d+))?", said):
        found |= {int(line) for line in (first, second) if line}
    return any(abs(place - line) <= NEAR for place in found for line in places)


@dataclass(frozen=True)
class Mistake:
    """One mistake. In `shown`, {at} stands for the file and line of the first change, {at+2} for the line two below."""

    lab: str
    file: str
    name: str
    changes: Mapping[str, str]  # what is replaced, which occurs once in the file, and by what
    shown: Sequence[str] = ("FAILED",)  # what is printed, in this order
    step: int = 0  # that is checked; 0: the one with the mistake
    alone: bool = False  # the check build alone shows it, and only that one is run
    needs_gcc: bool = False  # clang++ does not show it (see ./workbook doctor)
    is_searched: bool = False  # small changes of the file are tried, too, which takes seconds; they name its place

    @property
    def original(self) -> Path:
        """The solution's file."""
        return ROOT / "solutions" / self.lab / self.file

    @property
    def source(self) -> str:
        """The file with the mistake."""
        text = self.original.read_text(encoding="utf-8")
        for old, new in self.changes.items():
            if text.count(old) != 1:
                raise SystemExit(f"{self.name}: {self.file} has {text.count(old)} times: {old}")
            text = text.replace(old, new)
        return text

    @property
    def line(self) -> int:
        """The line of the first change."""
        text = self.original.read_text(encoding="utf-8")
        return text[: text.index(next(iter(self.changes)))].count("\n") + 1

    @property
    def changed(self) -> set[int]:
        """All lines that differ from the solution's."""
        return changed(self.original.read_text(encoding="utf-8"), self.source)

    def expected(self) -> list[str]:
        """What is shown, with the files and lines."""
        place = re.compile(r"\{at([+-]\d+)?\}")
        return [place.sub(lambda match: f"{self.file}:{self.line + int(match[1] or 0)}", text) for text in self.shown]

    def missing(self, printed: str, expected: Sequence[str] = ()) -> str:
        """The first text that is not shown where it should be; "" if none is missing."""
        at = 0
        for wanted in expected or self.expected():
            found = re.compile(re.escape(wanted)).search(printed, at)
            if not found:
                return wanted
            at = found.end()
        if self.is_searched and not named(paragraphs(printed)[0], self.file, self.changed):
            return f"a line near {self.file}:{self.line}"
        return ""

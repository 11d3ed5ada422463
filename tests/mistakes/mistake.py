"""What a mistake is: a few changed words of a solution, and what the reader must see."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Mistake:
    """One mistake. In `shown`, {at} stands for the file and line of the first change, {at+2} for the line two below."""

    lab: str
    file: str
    name: str
    changes: Mapping[str, str]  # what is replaced, which occurs once in the file, and by what
    shown: Sequence[str]  # what is printed, in this order
    step: int = 0  # that is checked; 0: the one with the mistake
    quick: bool = False  # part of the default suite
    alone: bool = False  # the check build alone shows it, and only that one is run
    is_searched: bool = False  # small changes of the file are tried, too, which takes seconds

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

    def expected(self) -> list[str]:
        """What is shown, with the files and lines."""
        place = re.compile(r"\{at([+-]\d+)?\}")
        return [place.sub(lambda match: f"{self.file}:{self.line + int(match[1] or 0)}", text) for text in self.shown]

    def missing(self, printed: str) -> str:
        """The first text that is not shown where it should be; "" if none is missing. A case of the cpu build may fail
        before the check build finds anything."""
        at = 0
        for wanted in self.expected():
            pattern = re.escape(wanted)
            if wanted.startswith("FAILED") and wanted.endswith(", check build"):
                pattern += rf"|{re.escape(wanted[: -len('check build')])}cpu build: [^\n]*\n\nThe check build shows why"
            found = re.compile(pattern).search(printed, at)
            if not found:
                return wanted
            at = found.end()
        return ""

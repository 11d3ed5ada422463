"""The text of a file with all of its mutants, of which a run chooses one."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from .reading import read


@dataclass(frozen=True)
class Mutant:
    """One small change. `text`: what is wrong with the file if the change mends it."""

    number: int
    place: int  # the number of the first mutant there
    line: int
    text: str
    function: str  # in which it is
    rank: int  # from 0 to 4: mutants that say more have a lower one
    kind: str = ""  # "put" and "taken", of barriers


class Schemata:
    """The mutants of a file, and the edits that make them. Places are indices of tokens."""

    def __init__(self, text: str, excluded: Iterable[int] = ()) -> None:
        """`excluded`: lines that stay as they are. RewriteError."""
        self.tokens = read(text)
        self.mutants: list[Mutant] = []
        self.function = ""
        self._text = text
        self._lines = text.splitlines()
        self._ends = [match.end() for match in re.finditer("\n", text)]  # of lines
        self._excluded = frozenset(excluded)
        self._count = 0
        self._edits: list[tuple[int, int, tuple[int, int], str]] = []  # offset, order there, text

    def text(self) -> str:
        """The file with all mutants. Nothing moves to another line."""
        pieces: list[str] = []
        position = 0
        for at, _, _, added in sorted(self._edits, key=lambda edit: edit[:3]):
            pieces += [self._text[position:at], added]
            position = at
        return "".join(pieces) + self._text[position:]

    # --- what the author wrote ---

    def line(self, index: int) -> int:
        """A token's line."""
        return bisect_right(self._ends, self.tokens[index].start) + 1

    def whole_line(self, index: int) -> str:
        """The text of that line."""
        return self._lines[self.line(index) - 1].partition("//")[0].strip()

    def spelled(self, begin: int, end: int) -> str:
        """The tokens [begin, end) on one line."""
        return " ".join(self._text[self.tokens[begin].start : self.tokens[end - 1].end].split())

    def is_excluded(self, begin: int, end: int) -> bool:
        """Whether the tokens [begin, end) begin or end in a line that stays as it is."""
        return bool({self.line(begin), self.line(end - 1)} & self._excluded)

    # --- edits ---

    def add(self, index: int, *texts: str, rank: int = 1, kind: str = "") -> int:
        """Adds mutants, one for each text that is not empty; the number of the first."""
        first = self._count
        for text in texts:
            if text:
                self.mutants.append(Mutant(self._count, first, self.line(index), text, self.function, rank, kind))
            self._count += 1
        return first

    def wrap(self, begin: int, end: int, before: str, after: str) -> None:
        """Puts text around the tokens [begin, end). If that is done twice, the second is around the first."""
        first, last = self.tokens[begin].start, self.tokens[end - 1].end
        length, number = last - first, len(self._edits)
        self._edits.append((first, 1, (-length, -number), before))
        self._edits.append((last, 0, (length, number), after))

    def put_behind(self, index: int, text: str) -> None:
        """Puts text behind a token."""
        self._edits.append((self.tokens[index].end, 0, (0, 0), text))

    def put_before(self, index: int, text: str) -> None:
        """Puts text before a statement that begins at a token."""
        self._edits.append((self.tokens[index].start, 1, (-len(self._text) - 1, 0), text))

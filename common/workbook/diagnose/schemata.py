"""The text of a file with all of its mutants, of which a run chooses one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .syntax import Node, first_line, is_statement, last_line, spelled

_PASSED = ("argument_list", "subscript_argument_list", "kernel_call_syntax", "initializer_list")
LONGEST = 64  # characters of an expression that is shown around the part that changes


@dataclass(frozen=True)
class Change:
    """A small change of a file. `kind`: "replace", "remove", "leave" (a jump that should be `continue`), "exchange"
    (two statements), or for a barrier "put-barrier", "take-barrier", "move-barrier"."""

    kind: str
    line: int
    old: str  # what is there
    new: str  # what would be there; of a barrier that is put, or moved, the line behind which it belongs


@dataclass(frozen=True)
class Mutant:
    """A change that the program can make."""

    number: int
    place: int  # the number of the first mutant there
    rank: int  # from 0 to 4: mutants that say more have a lower one
    function: str  # in which it is
    change: Change

    @property
    def line(self) -> int:
        """Where it is."""
        return self.change.line


class Schemata:
    """The mutants of a file, and the edits that make them."""

    def __init__(self, source: bytes, excluded: Iterable[int] = ()) -> None:
        """`excluded`: lines that stay as they are."""
        self.mutants: list[Mutant] = []
        self.function = ""
        self._source = source
        self._excluded = frozenset(excluded)
        self._count = 0
        self._edits: list[tuple[int, int, tuple[int, int], str]] = []  # offset, order there, text

    def text(self) -> str:
        """The file with all mutants. Nothing moves to another line."""
        pieces: list[bytes] = []
        position = 0
        for at, _, _, added in sorted(self._edits, key=lambda edit: edit[:3]):
            pieces += [self._source[position:at], added.encode()]
            position = at
        return b"".join([*pieces, self._source[position:]]).decode(errors="replace")

    def is_excluded(self, node: Node) -> bool:
        """Whether a node stays as it is: it is not understood, or does not compile with changes."""
        return node.has_error or bool({first_line(node), last_line(node)} & self._excluded)

    def add(self, node: Node, *news: str, rank: int = 1, kind: str = "replace") -> int:
        """Adds mutants of a node, one for each text that is not empty and would take its place; the number of the
        first. They are shown with the expression around the node."""
        first = self._count
        around = _around(node) if kind == "replace" else node
        old = spelled(around)
        before = self._spelled(around.start_byte, node.start_byte)
        after = self._spelled(node.end_byte, around.end_byte)
        for new in news:
            if new:
                shown = before + new + after if kind == "replace" else new
                line = last_line(node) if kind == "put-barrier" else first_line(node)  # it comes after the node
                change = Change(kind, line, old, " ".join(shown.split()))
                self.mutants.append(Mutant(self._count, first, rank, self.function, change))
            self._count += 1
        return first

    def _spelled(self, begin: int, end: int) -> str:
        return self._source[begin:end].decode(errors="replace")

    # --- edits ---

    def wrap(self, node: Node, before: str, after: str) -> None:
        """Puts text around a node. If that is done twice, the second is around the first."""
        self.wrap_all(node, node, before, after)

    def wrap_all(self, one: Node, last: Node, before: str, after: str) -> None:
        """Puts text around two nodes and what is between them."""
        begin, end = one.start_byte, last.end_byte
        length, number = end - begin, len(self._edits)
        self._edits.append((begin, 1, (-length, -number), before))
        self._edits.append((end, 0, (length, number), after))

    def put_behind(self, node: Node, text: str) -> None:
        """Puts text behind an operator."""
        self._edits.append((node.end_byte, 0, (0, 0), text))

    def put_before(self, node: Node, text: str) -> None:
        """Puts text before a statement, or a brace."""
        self._edits.append((node.start_byte, 1, (-len(self._source) - 1, 0), text))


def _around(node: Node) -> Node:
    """The largest expression around a node that is short."""
    best, parent = node, node.parent
    while parent is not None and len(parent.text) <= LONGEST and not is_statement(parent):
        if parent.type.endswith("_expression") and parent.type != "lambda_expression":
            best = parent
        elif parent.type not in _PASSED:
            break
        parent = parent.parent
    return best

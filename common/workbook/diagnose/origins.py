"""Where the index of an access, and the bounds of the loop around it, come from: the definitions of the variables in
them, of those in these definitions, and so on, into functions that are called and out to those that call. The syntax
tree knows no types of other files, so whatever is indexed, is a pointer, or has a type with template arguments is taken
for an array."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .syntax import (
    LOOPS,
    Node,
    Syntax,
    called_name,
    descendants,
    first_line,
    is_called,
    last_line,
    name_of,
    names_of,
    parameters_of,
    spelled,
)

MOST = 40  # variables that are followed
_COMPUTES = ("binary_expression", "call_expression", "conditional_expression", "unary_expression")
_OF_GRID = ("blockIdx", "blockDim", "gridDim", "threadIdx")


@dataclass(frozen=True)
class Line:
    """A line of the step's file, and why it matters: "defines" (a variable that the place uses), "passes" (what a
    call passes for a parameter), "returns" (what a function that is called returns), "launch" (of the kernel), "loop",
    "endless" (a loop in which nothing changes its condition) or "condition" (around the place)."""

    kind: str
    line: int
    code: str


@dataclass(frozen=True)
class _Origin:
    line: Line
    rank: int  # 0: it computes something; 1: it is another name; 2: it divides the work among threads
    depth: int  # definitions between it and the place


def origins(syntax: Syntax, line: int, tests: Iterable[Node] = ()) -> list[Line]:
    """What the place at a line depends on, what is computed first. `tests`: conditions that decide whether it is
    reached."""
    statement = syntax.statement_at(line)
    if statement is None:
        return []
    names = [name for test in tests for name in _read(syntax, test.child_by_field_name("condition"))]
    names += _of_place(syntax, statement, line)
    own = syntax.function_at(line)

    def distance(one: _Origin) -> tuple[int, int, bool, int]:
        is_elsewhere = syntax.function_at(one.line.line) != own
        return one.rank, one.depth, is_elsewhere, 0 if is_elsewhere else abs(one.line.line - line)

    found = sorted(_followed(syntax, names, line), key=distance)
    lines: dict[int, Line] = {}
    for one in found:
        lines.setdefault(one.line.line, one.line)
    return list(lines.values())


def _followed(syntax: Syntax, names: Iterable[str], line: int) -> Iterator[_Origin]:
    """The definitions of these names, the nearest first."""
    waiting = [(name, line, 0) for name in names]
    seen: set[tuple[str, int]] = set()
    while waiting and len(seen) < MOST:
        name, at, depth = waiting.pop(0)
        if (name, at) in seen:
            continue
        seen.add((name, at))
        whole, dot, member = name.partition(".")
        if name.endswith("["):
            node = syntax.stored(name[:-1], at)
        else:
            node = syntax.definition(name, at) or (syntax.definition(whole, at) if dot else None)
        if node is not None:
            value = node.child_by_field_name("value") or node.child_by_field_name("right") or node
            if first_line(node) != line:
                yield _Origin(Line("defines", first_line(node), spelled(_whole(node))), _rank(value), depth)
        elif (value := syntax.passed(whole, at)) is not None:
            if value.type in ("identifier", "field_expression"):
                waiting.append((spelled(value) + dot + member, first_line(value), depth))
                continue
            yield _Origin(Line("passes", first_line(value), f"{spelled(value)}, for {whole}"), _rank(value), depth)
        else:
            continue
        waiting += [(other, first_line(value), depth + 1) for other in _read(syntax, value)]
        for returned in _returned(syntax, value):
            yield _Origin(Line("returns", first_line(returned), spelled(returned)), _rank(returned), depth)


def divides_work(code: str) -> bool:
    """Whether code divides work among threads or blocks, rather than computing with their data."""
    return any(name in code for name in _OF_GRID)


def _rank(value: Node) -> int:
    if divides_work(spelled(value)):
        return 2
    return 0 if any(one.type in _COMPUTES for one in descendants(value)) else 1


def _returned(syntax: Syntax, value: Node) -> Iterator[Node]:
    """The statements that return what an expression calls."""
    called = dict.fromkeys(called_name(one) for one in descendants(value) if one.type == "call_expression")
    functions = [one for one in syntax.functions() if called and name_of(one) in called]
    functions += filter(None, (syntax.definition(name, first_line(value)) for name in called))  # lambdas
    for function in functions:
        yield from (one for one in descendants(function) if one.type == "return_statement" and one.named_children)


def _whole(node: Node) -> Node:
    """A definition with its type, unless that is a loop's, and with a condition on the same line."""
    parent = node.parent
    if parent is not None and parent.type in ("declaration", "expression_statement"):
        node, parent = parent, parent.parent
    is_under = parent is not None and parent.type == "if_statement" and first_line(parent) == first_line(node)
    return parent if is_under else node


def _of_place(syntax: Syntax, statement: Node, line: int) -> list[str]:
    """The variables in the indices of a line, or all that it reads if it has none; then those with which a loop around
    it compares them."""
    bodies = [statement.child_by_field_name(name) for name in ("body", "consequence", "alternative")]
    head = [child for child in statement.named_children if child not in bodies]
    indices = [
        one
        for one in itertools.chain.from_iterable(map(descendants, head))
        if one.type == "subscript_argument_list" and first_line(one) <= line <= last_line(one)
    ]
    names = [name for node in indices or head for name in _read(syntax, node, is_index=bool(indices))]
    for loop in syntax.around(line):
        condition = loop.child_by_field_name("condition") if loop.type in LOOPS else None
        compared = _read(syntax, condition) if condition is not None else []
        if set(names) & set(compared):
            names += compared
    return list(dict.fromkeys(names))


def _read(syntax: Syntax, node: Node, is_index: bool = False) -> list[str]:
    """The variables of an expression whose values count: no arrays, and no objects but for their members. `is_index`:
    arrays of indices count, too, as "array["."""
    kinds = _types_at(syntax, first_line(node))
    found = []
    for one in descendants(node):
        if one.type != "identifier" or is_called(one):
            continue
        whole, parent = one, one.parent
        while parent is not None and parent.type == "field_expression":
            whole, parent = parent, parent.parent
        is_base = parent is not None and parent.type == "subscript_expression" and parent.named_children[0] == whole
        is_method = parent is not None and parent.type == "call_expression" and whole != one
        is_array = whole == one and any(mark in kinds.get(spelled(one), "") for mark in "*<")
        if is_base and is_index:
            found.append(spelled(whole) + "[")
        elif not is_base and not is_method and not is_array:
            found.append(spelled(whole))
    return list(dict.fromkeys(found))


def _types_at(syntax: Syntax, line: int) -> dict[str, str]:
    """The types of a function's variables as they are written."""
    function = syntax.function_at(line)
    if function is None:
        return {}
    declared = [name for node in descendants(function) if node.type == "declaration" for name in names_of(node)]
    return {name.name: name.type for name in (*parameters_of(function), *declared)}

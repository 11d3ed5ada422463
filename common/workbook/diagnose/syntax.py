"""The syntax tree of a step's file: its functions, names, loops and conditions. Without the packages tree-sitter and
tree-sitter-cuda there is none."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

Node = Any  # tree_sitter.Node, if that is installed
INTEGERS = frozenset(
    "int unsigned long short size_t int64_t uint64_t int32_t uint32_t int16_t uint16_t ptrdiff_t".split()  # noqa: SIM905
)
LOOPS = ("for_statement", "while_statement", "do_statement", "for_range_loop")
_DECLARATORS = ("init_declarator", "pointer_declarator", "reference_declarator", "array_declarator")
_CHANGES = {"assignment_expression": "left", "update_expression": "argument"}
_UNKNOWN = ("call_expression", "subscript_expression", "pointer_expression", "field_expression")
GAP = "// Your code"  # begins the comment in place of what a student writes


@dataclass(frozen=True)
class Name:
    """A variable, and its type as it is written, without const."""

    name: str
    type: str
    is_constant: bool = False  # known to the compiler

    @property
    def is_integer(self) -> bool:
        """Whether it is declared as an integer."""
        words = self.type.replace("std::", "").split()
        return bool(words) and all(word in INTEGERS for word in words)


@functools.cache
def _parser() -> Any:
    """None: it is not installed, or another version than this file knows."""
    try:
        library, grammar = map(importlib.import_module, ("tree_sitter", "tree_sitter_cuda"))
        return library.Parser(library.Language(grammar.language()))
    except (ImportError, AttributeError, TypeError, ValueError):
        return None


def is_available() -> bool:
    """Whether files can be parsed on this machine."""
    return _parser() is not None


class Syntax:
    """A file's tree."""

    def __init__(self, text: str) -> None:
        self.source = text.encode()
        self.root: Node | None = _parser().parse(self.source).root_node if is_available() else None

    def functions(self) -> Iterator[Node]:
        """The definitions of functions outside of others."""
        waiting = [self.root] if self.root else []
        while waiting:
            node = waiting.pop(0)
            if node.type == "function_definition":
                yield node
            elif node.type in ("translation_unit", "namespace_definition", "declaration_list", "template_declaration"):
                waiting[:0] = node.named_children

    def function_at(self, line: int) -> Node | None:
        """The function around a line."""
        return next((node for node in self.functions() if first_line(node) <= line <= last_line(node)), None)

    def statement_at(self, line: int) -> Node | None:
        """The smallest statement or declaration in a function that begins at or before a line, and reaches it."""
        found, waiting = None, [self.function_at(line)]
        while waiting:
            node = waiting.pop()
            if node is None or not first_line(node) <= line <= last_line(node):
                continue
            if is_statement(node):
                found = node
            head = node.child_by_field_name("initializer") if node.type == "for_statement" else None
            waiting += [child for child in node.named_children if child != head]
        return found

    def around(self, line: int) -> list[Node]:
        """The loops and conditions around a line, the innermost first."""
        node, found = self.statement_at(line), []
        while node is not None and node.type != "function_definition":
            if node.type in (*LOOPS, "if_statement"):
                found.append(node)
            node = node.parent
        return found

    def definition(self, name: str, line: int) -> Node | None:
        """The last declaration of a variable, or the last assignment to it or to its member "a.b", before a line of the
        same function."""
        function = self.function_at(line)
        best = None
        for node in descendants(function) if function else ():
            if first_line(node) > line:
                continue
            target = None
            if node.type == "init_declarator":
                target = declared(node)
            elif node.type == "assignment_expression" and first_line(node) < line:
                left = node.child_by_field_name("left")
                target = spelled(left) if left.type in ("identifier", "field_expression") else None
            if target == name and (best is None or first_line(node) >= first_line(best)):
                best = node
        return best

    def stored(self, array: str, line: int) -> Node | None:
        """The last assignment to an element of an array in the same function, and not below a line. If there is none
        and the array is a member ("a.b"), the first to an element of a member of that name in another function."""
        own, member = self.function_at(line), "." + array.rpartition(".")[2]
        best, other = None, None
        for node in descendants(self.root) if self.root else ():
            left = node.child_by_field_name("left") if node.type == "assignment_expression" else None
            if left is None or left.type != "subscript_expression":
                continue
            base, is_own = spelled(left.named_children[0]), self.function_at(first_line(node)) == own
            if is_own and base == array and first_line(node) <= line:
                best = node
            elif not is_own and "." in array and base.endswith(member):
                other = other or node
        return best or other

    def passed(self, name: str, line: int) -> Node | None:
        """The argument that the first call, or launch, of the function at a line passes for this parameter."""
        function = self.function_at(line)
        names = [one.name for one in parameters_of(function)] if function else []
        if name not in names or self.root is None:
            return None
        for node in descendants(self.root):
            if node.type == "call_expression" and called_name(node) == name_of(function):
                arguments = node.child_by_field_name("arguments").named_children
                return arguments[names.index(name)] if len(arguments) == len(names) else None
        return None

    def empty_gap(self, names: Collection[str]) -> int:
        """The line of a gap in which nothing is written yet, in one of these functions or in one
        that they call; 0 if there is none."""
        functions = {name_of(node): node for node in self.functions()}
        reached = [name for name in names if name in functions]
        for name in reached:
            calls = (called_name(node) for node in descendants(functions[name]) if node.type == "call_expression")
            reached += [called for called in calls if called in functions and called not in reached]
        lines = self.source.decode(errors="replace").splitlines()
        for name in reached:
            for first in range(first_line(functions[name]), last_line(functions[name])):
                if lines[first].strip().startswith(GAP):
                    rest = [line.strip() for line in lines[first:] if not line.strip().startswith("//")]
                    after = next((line for line in rest if not line.startswith("(void)")), "")
                    if after.startswith(("}", "NOT_WRITTEN(")):
                        return first + 1
        return 0


# --- nodes ---


def spelled(node: Node) -> str:
    """The text of a node on one line."""
    return " ".join(node.text.decode(errors="replace").split())


def first_line(node: Node) -> int:
    """Its first line, from 1."""
    line: int = node.start_point[0]
    return line + 1


def last_line(node: Node) -> int:
    """Its last line."""
    line: int = node.end_point[0]
    return line + 1


def is_statement(node: Node) -> bool:
    """Whether a node is a statement, or a declaration of variables."""
    kind: str = node.type
    return kind == "declaration" or (kind.endswith(("_statement", "_loop")) and kind != "compound_statement")


def descendants(node: Node) -> Iterator[Node]:
    """A node and all named ones in it, in the order of the file."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        yield one
        waiting += reversed(one.named_children)


def identifiers(node: Node) -> list[str]:
    """The names of variables that an expression reads, each once: not those of functions, types and members."""
    found = []
    for one in descendants(node):
        if one.type == "identifier" and not is_called(one):
            found.append(spelled(one))
    return list(dict.fromkeys(found))


def never_ends(loop: Node) -> bool:
    """Whether a loop that has begun to run stays in it: nothing in it leaves it or changes a variable of its condition.
    What a condition reads from memory, or what a function returns, may change."""
    condition = loop.child_by_field_name("condition")
    inside = list(descendants(loop))
    if any(one.type in ("break_statement", "return_statement", "goto_statement", "throw_statement") for one in inside):
        return False
    if condition is None:
        return bool(loop.type == "for_statement")
    if any(one.type in _UNKNOWN for one in descendants(condition)):
        return False
    changed = {
        name
        for one in inside
        if (field := _CHANGES.get(one.type))
        for name in identifiers(one.child_by_field_name(field))[:1]
    }
    changed.update(name for one in inside if one.type == "call_expression" for name in identifiers(one))
    return not changed & set(identifiers(condition))


def is_called(node: Node) -> bool:
    """Whether a name is that of a function that is called, with its template arguments or without."""
    parent = node.parent
    while parent is not None and parent.type in ("template_function", "qualified_identifier"):
        node, parent = parent, parent.parent
    return parent is not None and parent.type == "call_expression" and parent.child_by_field_name("function") == node


def called_name(call: Node) -> str:
    """The name of the function that is called, without namespaces and template arguments."""
    names = [spelled(one) for one in descendants(call.child_by_field_name("function")) if one.type == "identifier"]
    return names[0] if names else ""


def declared(node: Node) -> str:
    """The name that a declarator gives to a variable; "" if it gives none, or several."""
    while node is not None and node.type in _DECLARATORS:
        node = node.child_by_field_name("declarator") or next(iter(node.named_children), None)
    return spelled(node) if node is not None and node.type == "identifier" else ""


def words_before(node: Node) -> set[str]:
    """What a declaration says before its type: const, constexpr, static, __shared__ ..."""
    return {
        spelled(child) for child in node.children if child.type in ("type_qualifier", "storage_class_specifier")
    } | {child.type for child in node.children if child.type.startswith("__")}


def names_of(node: Node) -> list[Name]:
    """The variables that a declaration, or a parameter, declares."""
    kind = node.child_by_field_name("type")
    if kind is None:
        return []
    is_constant = "constexpr" in words_before(node)
    found = []
    for declarator in node.children_by_field_name("declarator"):
        marks = ""
        inner = declarator
        while inner is not None and inner.type in _DECLARATORS:
            marks += "*" * (inner.type in ("pointer_declarator", "array_declarator"))
            inner = inner.child_by_field_name("declarator") or next(iter(inner.named_children), None)
        if name := declared(declarator):
            found.append(Name(name, spelled(kind) + marks, is_constant))
    return found


def parameters_of(node: Node) -> list[Name]:
    """The parameters of a function or a lambda."""
    declarator = node.child_by_field_name("declarator")
    while declarator is not None and declarator.type not in ("function_declarator", "lambda_declarator"):
        declarator = declarator.child_by_field_name("declarator")
    listed = declarator.child_by_field_name("parameters") if declarator is not None else None
    return [name for one in (listed.named_children if listed is not None else ()) for name in names_of(one)]


def is_of_device(function: Node) -> bool:
    """Whether a function runs in kernels."""
    body = function.child_by_field_name("body")
    head = function.text[: body.start_byte - function.start_byte] if body is not None else function.text
    return b"__global__" in head or b"__device__" in head


def name_of(function: Node) -> str:
    """A function's name, without its namespaces."""
    node = function.child_by_field_name("declarator")
    while node is not None and node.type not in ("identifier", "field_identifier"):
        node = node.child_by_field_name("declarator") or node.child_by_field_name("name")
    return spelled(node) if node is not None else ""

"""The places of a step's file where a small change may fix a mistake."""

from __future__ import annotations

from collections.abc import Iterable

from .expressions import Expressions
from .schemata import Schemata
from .syntax import (
    LOOPS,
    Name,
    Node,
    Syntax,
    is_of_device,
    name_of,
    names_of,
    parameters_of,
    spelled,
    words_before,
)
from .values import constants

_JUMPS = ("return_statement", "break_statement", "continue_statement")
_BARRIERS = ("__syncthreads", "__syncwarp")
_FIXED = {"constexpr", "__shared__", "static", "extern"}


class Statements:
    """All mutants of a file."""

    def __init__(self, syntax: Syntax, excluded: Iterable[int] = (), has_constants: bool = True) -> None:
        """`excluded`: lines that stay as they are, because their changes do not compile. `has_constants`: whether names
        that seem to stand for numbers are used as factors."""
        self._made = Schemata(syntax.source, excluded)
        self._expressions = Expressions(self._made, constants(syntax.root) if has_constants and syntax.root else ())
        self._has_shared = b"__shared__" in syntax.source
        self._can_wait = False
        self._loops = 0  # around the statement
        for function in syntax.functions():
            body = function.child_by_field_name("body")
            if body is not None and body.type == "compound_statement":
                self._made.function = name_of(function)
                self._can_wait = is_of_device(function) and self._has_shared
                self._expressions.scopes = [parameters_of(function)]
                self._block(body)
        self.mutants = self._made.mutants

    def text(self) -> str:
        """The file with all mutants."""
        return self._made.text()

    # --- statements ---

    def _block(self, node: Node) -> None:
        """The statements between braces."""
        self._expressions.scopes.append([])
        previous: Node | None = None
        for child in node.named_children:
            if child.type in ("comment", "preproc_call"):  # such as #pragma unroll, which belongs to the next one
                previous = child if child.type == "preproc_call" else previous
                continue
            if previous is None or previous.type != "preproc_call":
                self._put_barrier(child)
            is_expression = self._statement(child)
            if previous is not None and is_expression and previous.type == "expression_statement":
                self._exchange(previous, child)
            previous = child if is_expression else None
        self._put_barrier(node.children[-1])
        self._expressions.scopes.pop()

    def _statement(self, node: Node) -> bool:
        """One statement; whether it is an expression."""
        if node.type == "compound_statement":
            self._block(node)
        elif node.type == "expression_statement" and node.named_child_count:
            return self._of_expression(node)
        elif node.type == "declaration":
            self._declaration(node)
        elif node.type == "if_statement":
            self._if(node)
        elif node.type in LOOPS:
            self._loop(node)
        elif node.type in _JUMPS:
            self._jump(node)
        elif node.type in ("switch_statement", "case_statement", "else_clause", "labeled_statement"):
            for child in node.named_children:
                self._statement(child)
        return False

    def _of_expression(self, node: Node) -> bool:
        """An expression and a semicolon; whether it can change places with the next one."""
        inner = node.named_children[0]
        if inner.type == "call_expression":
            called = spelled(inner.child_by_field_name("function"))
            if called.isupper() and not any(spelled(one).startswith("cuda") for one in _arguments(inner)):
                return False  # a macro of which nothing is known
        lambdas = [one for one in inner.named_children if one.type == "lambda_expression"]
        for one in (*lambdas, *_arguments(inner)):
            self._lambda(one)
        self._expressions.expression(inner)
        if any(one.type == "lambda_expression" for one in (*lambdas, *_arguments(inner))):
            return False
        self._delete(node)
        return True

    def _lambda(self, node: Node) -> None:
        """The body of a lambda, if it may use all names."""
        captures = node.child_by_field_name("captures") if node.type == "lambda_expression" else None
        body = node.child_by_field_name("body") if captures is not None else None
        kinds = {one.type for one in captures.named_children} if captures is not None else set()
        if body is None or "lambda_default_capture" not in kinds:
            return
        self._expressions.scopes.append(parameters_of(node))
        loops, self._loops = self._loops, 0
        self._block(body)
        self._loops = loops
        self._expressions.scopes.pop()

    def _if(self, node: Node) -> None:
        clause = node.child_by_field_name("condition")
        test = clause.child_by_field_name("value")
        is_constant = any(child.type == "constexpr" for child in node.children)
        self._expressions.scopes.append([])
        if test is not None and not is_constant and test.type != "declaration":
            self._expressions.expression(test)
            self._expressions.condition(test)
        for name in ("consequence", "alternative"):
            branch = node.child_by_field_name(name)
            if branch is not None:
                self._statement(branch)
        self._expressions.scopes.pop()

    def _loop(self, node: Node) -> None:
        self._expressions.scopes.append([])
        if node.type == "for_statement":
            first = node.child_by_field_name("initializer")
            if first is not None and first.type == "declaration":
                self._declaration(first)
            elif first is not None:
                self._expressions.expression(first)
            self._delete(node, rank=3)
        elif node.type == "for_range_loop":
            kind = spelled(node.child_by_field_name("type"))
            name = spelled(node.child_by_field_name("declarator")).lstrip("&* ")
            self._expressions.scopes[-1].append(Name(name, kind))
        test = node.child_by_field_name("condition")
        if test is not None:
            inner = test.child_by_field_name("value") if test.type == "condition_clause" else test
            self._expressions.expression(inner, is_loop=True)
        update = node.child_by_field_name("update")
        if update is not None:
            self._expressions.expression(update)
        self._loops += 1
        self._statement(node.child_by_field_name("body"))
        self._loops -= 1
        self._expressions.scopes.pop()

    def _jump(self, node: Node) -> None:
        if node.named_child_count:  # a value is returned
            self._expressions.expression(node.named_children[0])
            return
        self._delete(node, rank=1)
        if self._loops and node.type != "continue_statement" and not self._made.is_excluded(node):
            number = self._made.add(node, "continue", rank=0, kind="leave")
            self._made.wrap(node, f"if (mutants::is({number})) continue; else ", "")

    def _declaration(self, node: Node) -> None:
        """Variables, with the expressions that give them their values."""
        is_fixed = bool(_FIXED & words_before(node))
        names = {name.name: name for name in names_of(node)}
        for declarator in node.children_by_field_name("declarator"):
            value = declarator.child_by_field_name("value") if declarator.type == "init_declarator" else None
            if value is not None and value.type == "lambda_expression":
                self._lambda(value)
            elif value is not None and value.type == "argument_list" and not is_fixed:
                self._expressions.arguments(value)
            elif value is not None and not is_fixed:
                self._expressions.expression(value, is_value=True)
        self._expressions.scopes[-1] += names.values()

    # --- what is left out, moved or put there ---

    def _delete(self, node: Node, rank: int = 2) -> None:
        """A statement that may be left out."""
        if self._made.is_excluded(node):
            return
        is_barrier = node.text.decode(errors="replace").startswith(_BARRIERS)
        kind = "take-barrier" if is_barrier else "remove"
        number = self._made.add(node, "-", rank=1 if is_barrier else rank, kind=kind)
        self._made.wrap(node, f"if (mutants::is({number})) {{}} else ", "")
        if node.text.startswith(b"__syncwarp"):
            number = self._made.add(node.named_children[0], "__syncthreads()", rank=0)
            self._made.wrap(node, f"if (mutants::is({number})) __syncthreads(); else ", "")

    def _exchange(self, one: Node, two: Node) -> None:
        """Two statements in the wrong order."""
        if self._made.is_excluded(one) or self._made.is_excluded(two):
            return
        a, b = spelled(one), spelled(two)
        number = self._made.add(two, a, rank=2, kind="exchange")
        self._made.wrap_all(one, two, f"if (mutants::is({number})) {{ {b} {a} }} else {{ ", " }")

    def _put_barrier(self, node: Node) -> None:
        """A barrier before a statement, or at the end of a block."""
        if not self._can_wait or self._made.is_excluded(node):
            return
        before = node.prev_sibling
        place = before if before is not None and before.type != "comment" else node
        number = self._made.add(place, spelled(node), kind="put-barrier")
        self._made.put_before(node, f"if (mutants::is({number})) __syncthreads(); ")


def _arguments(call: Node) -> list[Node]:
    """The arguments of a call; none of another expression."""
    arguments = call.child_by_field_name("arguments") if call.type == "call_expression" else None
    return list(arguments.named_children) if arguments is not None else []

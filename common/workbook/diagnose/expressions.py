"""The mutants of expressions."""

from __future__ import annotations

from .syntax import Node, descendants, is_called, spelled
from .values import OPAQUE, Values

_RELATIONS = {"<": 0, "<=": 1, ">": 2, ">=": 3, "==": 4, "!=": 5}
_EQUAL = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
_TURNED = {"<": (">", ">="), "<=": (">=", ">"), ">": ("<", "<="), ">=": ("<=", "<"), "==": ("!=", ""), "!=": ("==", "")}
# What mutants.h makes of each operator.
_ARITHMETIC = {
    "+": ("-", "^"),
    "-": ("+", "^"),
    "*": ("/", "+"),
    "/": ("*", "%"),
    "%": ("/", "&"),
    "&": ("|", "%"),
    "|": ("&", "^"),
    "^": ("|", "+"),
}
_SHIFTS = {"<<": ">>", ">>": "<<"}
_ASSIGNMENTS = {"+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=", "<<=": ">>=", ">>=": "<<="}
_TWINS = {"min": "max", "max": "min"}
# What may stand in place of a built-in variable.
_OF_ALL = "blockIdx.x * blockDim.x + threadIdx.x"
_BUILTINS = {
    "threadIdx.x": (_OF_ALL, "blockIdx.x", "0"),
    "blockIdx.x": (_OF_ALL, "0", "threadIdx.x"),
    "blockDim.x": ("gridDim.x", "blockDim.x * gridDim.x"),
    "gridDim.x": ("gridDim.x * blockDim.x", "blockDim.x", "1"),
}
_UNEVALUATED = ("sizeof", "decltype", "alignof")
_LOOSE = frozenset({"+", "-", "%", "&", "|", "^", "<<", ">>"})  # an operand that needs brackets beside * or /


class Expressions(Values):
    """Adds the mutants of expressions."""

    # --- whole expressions ---

    def expression(self, node: Node, is_loop: bool = False, is_value: bool = False, is_changed: bool = False) -> None:
        """An expression. `is_loop`: it ends a loop. `is_value`: it may be a number. `is_changed`: it is written, or its
        address is taken."""
        if self._made.is_excluded(node) or node.type in OPAQUE:
            return
        kind = node.type
        if kind == "parenthesized_expression" and node.named_child_count == 1:
            self.expression(node.named_children[0], is_loop, is_value, is_changed)
        elif kind == "binary_expression":
            self._binary(node, is_loop, is_value)
        elif kind == "conditional_expression":
            self._choice(node)
        elif kind == "assignment_expression":
            self._assignment(node)
        elif kind == "call_expression":
            self._call(node, is_value)
        elif kind == "subscript_expression":
            self._subscript(node)
        elif kind == "field_expression":
            self._field(node)
        elif kind == "identifier":
            self.name(node, is_changed)
            if is_value:
                self.forgotten(node)
        elif kind == "number_literal":
            self.value(node)
        else:
            is_lasting = kind in ("update_expression", "pointer_expression")
            for child in node.named_children:
                self.expression(child, is_changed=is_lasting and child.type == "identifier")
        if is_value and kind in ("subscript_expression", "field_expression"):
            self.value(node)
            self.forgotten(node)

    def _assignment(self, node: Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left.type != "identifier":
            self.expression(left, is_changed=True)
        self.expression(right, is_value=True)
        word = spelled(node.child_by_field_name("operator"))
        if other := _ASSIGNMENTS.get(word):
            new = f"{spelled(left)} {other} {spelled(right)}"
            number = self._made.add(node, new)
            self._made.wrap(node, f"(mutants::is({number}) ? ({new}) : (", "))")

    def _choice(self, node: Node) -> None:
        """`a ? b : c`"""
        test = node.child_by_field_name("condition")
        self.expression(test)
        self.condition(test, rank=1)
        for name in ("consequence", "alternative"):
            self.expression(node.child_by_field_name(name))

    # --- operators ---

    def _binary(self, node: Node, is_loop: bool, is_value: bool) -> None:
        word = spelled(node.child_by_field_name("operator"))
        if word in ("&&", "||"):
            self._logical(node, word, is_loop)
            return
        if word in _RELATIONS:
            self._relation(node, word, is_loop)
        elif word in _ARITHMETIC:
            self._arithmetic(node, word)
        elif word in _SHIFTS:
            left, right = (spelled(node.child_by_field_name(name)) for name in ("left", "right"))
            new = f"{left} {_SHIFTS[word]} {right}"
            number = self._made.add(node, new)
            self._made.wrap(node, f"(mutants::is({number}) ? ({new}) : (", "))")
        for name in ("left", "right"):
            operand = node.child_by_field_name(name)
            self.expression(operand)
            own = self.names().get(spelled(operand)) if operand.type == "identifier" else None
            if own and own.is_integer and word in _ARITHMETIC:
                self.value(operand)
        if is_value and word not in _RELATIONS:
            self.value(node)
            self.forgotten(node)

    def _logical(self, node: Node, word: str, is_loop: bool) -> None:
        """What is joined by && or ||: each part may be left out."""
        sides = [node.child_by_field_name(name) for name in ("left", "right")]
        for part, other in zip(sides, reversed(sides)):
            operator = part.child_by_field_name("operator") if part.type == "binary_expression" else None
            if operator is not None and spelled(operator) == word:
                self._logical(part, word, is_loop)
                continue
            self.expression(part, is_loop)
            if self._made.is_excluded(part):
                continue
            number = self._made.add(node, spelled(other), rank=2)
            kept = f"mutants::is({number}) ||" if word == "&&" else f"!mutants::is({number}) &&"
            self._made.wrap(part, f"({kept} bool(", "))")

    def _relation(self, node: Node, word: str, is_loop: bool) -> None:
        left, right = (spelled(node.child_by_field_name(name)) for name in ("left", "right"))
        turned = [f"{left} {other} {right}" if other else "" for other in _TURNED[word]]
        around = f"({right})" if " " in right else right
        number = self._made.add(
            node,
            f"{left} {_EQUAL[word]} {right}",
            f"{left} {word} {right} - 1",
            f"{left} {word} {right} + 1",
            "" if word in ("==", "!=") else turned[0],
            turned[1],
            f"{left} {word} 2 * {around}",
            f"{left} {word} {around} / 2",
            "" if is_loop else "false",
            "" if is_loop else "true",
        )
        operator = node.child_by_field_name("operator")
        self._made.put_behind(operator, f" mutants::Compared{{{number}, {_RELATIONS[word]}}} {word}")

    def _arithmetic(self, node: Node, word: str) -> None:
        left, right = (spelled(node.child_by_field_name(name)) for name in ("left", "right"))
        other, another = _ARITHMETIC[word]
        around = node.parent.child_by_field_name("operator") if node.parent.type == "binary_expression" else None
        form = "({} {} {})" if around is not None and word in _LOOSE else "{} {} {}"
        number = self._made.add(
            node,
            form.format(left, other, right),
            left,
            right,
            form.format(right, word, left) if word in "-/%" else "",
            form.format(left, another, right),
            rank=3,
        )
        self._made.put_behind(node.child_by_field_name("operator"), f" mutants::Computed{{{number}}} {word}")

    # --- calls ---

    def _call(self, node: Node, is_value: bool) -> None:
        """A call of a function, or a launch."""
        called = node.child_by_field_name("function")
        if called.type == "field_expression":
            self.expression(called)
        if spelled(called) in _UNEVALUATED:
            return
        if called.type in ("identifier", "qualified_identifier", "template_function"):
            self._twin(node, called)
        if launch := next((child for child in node.children if child.type == "kernel_call_syntax"), None):
            self._launch(launch)
        self.arguments(node.child_by_field_name("arguments"), node)
        if is_value:
            self.value(node)
            self.forgotten(node)

    def _twin(self, node: Node, called: Node) -> None:
        """A call of min() that should be one of max(), or the other way round."""
        name = next((one for one in descendants(called) if one.type == "identifier" and is_called(one)), None)
        other = _TWINS.get(spelled(name)) if name is not None else None
        if name is None or not other or self._made.is_excluded(node):
            return
        begin, end = name.start_byte - node.start_byte, name.end_byte - node.start_byte
        new = " ".join((node.text[:begin] + other.encode() + node.text[end:]).decode(errors="replace").split())
        number = self._made.add(node, new)
        self._made.wrap(node, f"(mutants::is({number}) ? {new} : ", ")")

    def _launch(self, node: Node) -> None:
        """What stands between <<< and >>>. Fewer blocks or threads, down to one, would only hide what they do wrong
        together."""
        made, parts = self._made, [child for child in node.named_children if child.type != "comment"][:2]
        for part in parts:
            self.expression(part)
        if len(parts) == 2 and not made.is_excluded(node):
            blocks, threads = map(spelled, parts)
            number = made.add(
                node, node.text.decode(errors="replace").replace(f"{blocks}, {threads}", f"{threads}, {blocks}")
            )
            made.wrap(parts[0], f"(mutants::is({number}) ? unsigned({threads}) : unsigned(", "))")
            made.wrap(parts[1], f"(mutants::is({number}) ? unsigned({blocks}) : unsigned(", "))")

    def arguments(self, node: Node, call: Node | None = None) -> None:
        """The arguments of a call, or what a variable is made from."""
        parts = [child for child in node.named_children if child.type != "comment"]
        for part in parts:
            is_place = part.type in ("identifier", "subscript_expression", "field_expression")
            if part.type == "identifier":
                self.name(part, is_argument=True)
                if (own := self.names().get(spelled(part))) and own.is_integer:
                    self.value(part, rank=3)
            else:
                self.expression(part, is_value=not is_place)
        for one, two in zip(parts, parts[1:]):
            self._exchanged(one, two, call or node)

    def _exchanged(self, one: Node, two: Node, call: Node) -> None:
        """Two arguments in the wrong order, if both are variables or elements of arrays."""
        made, a, b = self._made, spelled(one), spelled(two)
        kinds = {one.type, two.type}
        if a == b or made.is_excluded(one) or made.is_excluded(two) or len(kinds) != 1:
            return
        names = self.names()
        if a in names and b in names:
            by_value = names[a].is_integer and names[b].is_integer
            if not by_value and names[a].type != names[b].type:
                return
        elif kinds == {"subscript_expression"}:
            by_value = False
        else:
            return
        begin, end = one.start_byte - call.start_byte, two.end_byte - call.start_byte
        text = call.text.decode(errors="replace")
        number = made.add(call, text[:begin] + f"{b}, {a}" + text[end:])
        function = "value_of" if by_value else "one_of"
        made.wrap(one, f"mutants::{function}({number}, ", f", {b})")
        made.wrap(two, f"mutants::{function}({number}, ", f", {a})")

    # --- names, and what is in brackets ---

    def _subscript(self, node: Node) -> None:
        array = node.child_by_field_name("argument")
        self.expression(array, is_changed=array.type == "identifier")
        for index in node.child_by_field_name("indices").named_children:
            self.expression(index)
            if index.type != "number_literal":
                self.value(index)
            self.forgotten(index)

    def _field(self, node: Node) -> None:
        made, text = self._made, spelled(node)
        if text not in _BUILTINS:
            inner = node.child_by_field_name("argument")
            self.expression(inner, is_changed=inner.type == "identifier")
            return
        others = _BUILTINS[text]
        around = node.parent
        while around.parent is not None and around.parent.type in ("binary_expression", "parenthesized_expression"):
            around = around.parent
        if "blockIdx.x" in spelled(around) and "threadIdx.x" in spelled(around):
            others = tuple(other for other in others if " + " not in other)  # such a number is there already
        number = made.add(node, *others, rank=0)
        chosen = "".join(f"mutants::is({number + i}) ? unsigned({other}) : " for i, other in enumerate(others))
        made.wrap(node, f"({chosen}", ")")

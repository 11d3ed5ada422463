"""The mutants of single values: numbers, conditions and names."""

from __future__ import annotations

from collections.abc import Sequence

from .schemata import Schemata
from .syntax import Name, Node, descendants, identifiers, names_of, spelled

OPAQUE = ("lambda_expression", "template_argument_list", "type_descriptor", "string_literal", "sizeof_expression")
_OF_NUMBERS = ("binary_expression", "subscript_argument_list")


class Values:
    """Adds the mutants of values."""

    def __init__(self, made: Schemata, constants: Sequence[str]) -> None:
        """`constants`: names of numbers that may be used everywhere."""
        self._made = made
        self._constants = constants
        self.scopes: list[list[Name]] = []

    def names(self) -> dict[str, Name]:
        """The variables that can be used here."""
        return {name.name: name for scope in self.scopes for name in scope}

    def condition(self, node: Node, rank: int = 2) -> None:
        """A condition as a whole."""
        if not self._made.is_excluded(node):
            number = self._made.add(node, f"!({spelled(node)})", "false", "true", rank=rank)
            self._made.wrap(node, f"mutants::condition({number}, bool(", "))")

    def value(self, node: Node, rank: int = 2) -> None:
        """A number, which is more or less."""
        if self._made.is_excluded(node) or node.type in OPAQUE:
            return
        text, beside = spelled(node), node.parent.child_by_field_name("operator")
        if node.type == "number_literal":
            if not text.rstrip("uUlL").isdigit():
                return
            own = int(text.rstrip("uUlL"))
            numbers = {one: "" if one in (own, -1) else str(one) for one in (own + 1, own - 1, own * 2, own // 2, 0)}
            if beside is not None:  # `n / 1` and `n + 0` are better said by leaving out the operand
                numbers[1 if spelled(beside) in "*/%" else 0] = ""
            news = [numbers.get(one, "") for one in (own + 1, own - 1, own * 2, own // 2, 0)]
            news = ["" if new in news[:i] else new for i, new in enumerate(news)]
        else:
            tight = bracketed(node)
            is_operand = node.parent.type == "binary_expression"
            more, less = (f"({text} + 1)", f"({text} - 1)") if is_operand else (f"{text} + 1", f"{text} - 1")
            news = [more, less, f"2 * {tight}", f"{tight} / 2", "0"]
        number = self._made.add(node, *news, rank=rank)
        self._made.wrap(node, f"mutants::value({number}, ", ")")

    def forgotten(self, node: Node) -> None:
        """A number that may have to be added to a variable, or multiplied by a constant."""
        made = self._made
        words = set(identifiers(node))
        terms = [name.name for name in self.names().values() if name.is_integer and name.name not in words]
        factors = [name for name in self._constants if name not in {*words, *self.names()}]
        if not (terms or factors) or made.is_excluded(node) or node.type in OPAQUE:
            return
        text, tight = spelled(node), bracketed(node)
        news = [new for name in terms for new in (f"{text} + {name}", f"{text} - {name}")]
        number = made.add(node, *news, *(f"{tight} * {name}" for name in factors), rank=4)
        made.wrap(node, f"mutants::with_term({number}, ", listed(terms))
        made.wrap(node, f"mutants::with_factor({number + 2 * len(terms)}, ", listed(factors))

    def name(self, node: Node, is_changed: bool = False, is_argument: bool = False) -> None:
        """A variable for which another one may be meant. `is_changed`: only one of the same type. `is_argument`: the
        same, unless both are integers."""
        names, made, text = self.names(), self._made, spelled(node)
        own = names.get(text, Name(text, "int") if text in self._constants and is_argument else None)
        if own is None or made.is_excluded(node):
            return
        by_value = not is_changed and (own.is_integer or (not is_argument and own.type == "auto"))
        others = [
            other.name
            for other in names.values()
            if other.name != text
            and not other.is_constant
            and (other.type == own.type or (by_value and own.is_integer and other.is_integer))
        ]
        if others:
            number = made.add(node, *others, rank=3)
            function = "value_of" if by_value else "one_of"
            made.wrap(node, f"mutants::{function}({number}, ", listed(others))


def constants(root: Node) -> list[str]:
    """Names that stand for numbers in a file, and are known to the compiler or come from a header: operands that no
    function declares."""
    own, used = set(), set()
    for node in descendants(root):
        parent = node.parent
        if node.type.endswith("parameter_declaration"):
            own |= {name.name for name in names_of(node)}
        elif node.type == "declaration":
            is_global = parent is not None and parent.type in ("translation_unit", "declaration_list")
            own |= {name.name for name in names_of(node) if not (is_global and name.is_constant)}
        elif node.type == "identifier" and parent is not None and parent.type in _OF_NUMBERS:
            used.add(spelled(node))
    return sorted(used - own)


def bracketed(node: Node) -> str:
    """An operand of * or /."""
    return f"({spelled(node)})" if node.type in ("binary_expression", "conditional_expression") else spelled(node)


def listed(names: Sequence[str]) -> str:
    """The last arguments of a call, and its end."""
    return "".join(f", {name}" for name in names) + ")"

"""The mutants of expressions."""

from __future__ import annotations

from collections.abc import Sequence

from .reading import (
    ARITHMETIC,
    RELATIONS,
    Name,
    called,
    closing,
    has_lambda,
    is_mark,
    is_operand,
    operands,
    split,
    template_end,
    top_level,
)
from .schemata import Schemata

_ASSIGNMENTS = {"=": "", "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=", "<<=": ">>=", ">>=": "<<="}
_TWINS = {"earlier": "later", "later": "earlier", "min": "max", "max": "min"}
_ORDERS = ("<", "<=", ">", ">=")
_OF_ALL = "blockIdx.x * blockDim.x + threadIdx.x"
# What may stand in place of a built-in variable, and what is wrong then.
_BUILTINS = {
    "threadIdx": (
        (
            "blockIdx.x * blockDim.x + threadIdx.x",
            "threadIdx.x numbers the threads of one block, not of the whole grid",
        ),
        ("blockIdx.x", "threadIdx.x is used where blockIdx.x is needed"),
        ("0u", "threadIdx.x should not be used here"),
    ),
    "blockIdx": (
        (
            "blockIdx.x * blockDim.x + threadIdx.x",
            "blockIdx.x numbers the blocks, not the threads of the whole grid",
        ),
        ("0u", "blockIdx.x should not be used here"),
        ("threadIdx.x", "blockIdx.x is used where threadIdx.x is needed"),
    ),
    "blockDim": (
        ("gridDim.x", "blockDim.x, the threads per block, is used where gridDim.x, the number of blocks, is needed"),
        ("blockDim.x * gridDim.x", "blockDim.x is the number of threads per block, not in the whole grid"),
    ),
    "gridDim": (
        ("gridDim.x * blockDim.x", "gridDim.x is the number of blocks, not of the threads in the whole grid"),
        ("blockDim.x", "gridDim.x, the number of blocks, is used where blockDim.x, the threads per block, is needed"),
        ("1u", "gridDim.x should not be used here"),
    ),
}
_WRONG_VALUES = (
    "is too small by one",
    "is too large by one",
    "is too small",
    "is too large",
    "should be 0",
)
_EQUAL = {
    word: f"`{{}}` should have `{other}` in place of `{word}`"
    for word, other in (("<", "<="), ("<=", "<"), (">", ">="), (">=", ">"))
}
_ORDINALS = ("first", "second", "third", "fourth")
MOST_TOKENS = 100  # on either side, in which others of the same line are looked for
_HOLDS = "the condition `{}` holds where it should not"
_KEEPS_OUT = "the condition `{}` does not hold where it should"


class Expressions:
    """Adds the mutants of expressions, whose places are indices of tokens."""

    def __init__(self, made: Schemata, constants: Sequence[str]) -> None:
        """`constants`: names of numbers that may be used everywhere."""
        self._made = made
        self._tokens = made.tokens
        self._constants = constants
        self.scopes: list[list[Name]] = []

    def _names(self) -> dict[str, Name]:
        return {name.name: name for scope in self.scopes for name in scope}

    # --- whole expressions ---

    def expression(self, begin: int, end: int, is_loop: bool = False, is_value: bool = False) -> None:
        """An expression, the tokens [begin, end). `is_loop`: it ends a loop. `is_value`: it may be a number."""
        tokens = self._tokens
        if begin >= end or self._made.is_excluded(begin, end) or has_lambda(tokens, begin, end):
            return
        marks = [i for i in top_level(tokens, begin, end) if tokens[i].kind == "mark" and i > begin]
        launch = next((i for i in range(begin, end) if is_mark(tokens[i], "<<<")), None)
        assignment = next((i for i in marks if tokens[i].text in _ASSIGNMENTS), None)
        question = next((i for i in marks if tokens[i].text == "?"), None)
        logical = [i for word in ("||", "&&") for i in marks if tokens[i].text == word]
        if launch is not None:
            self._launch(launch, end)
        elif assignment is not None:
            self._assignment(begin, assignment, end)
        elif question is not None:
            self._choice(begin, question, end)
        elif logical:
            same = [i for i in logical if tokens[i].text == tokens[logical[0]].text]
            self._logical(tokens[logical[0]].text, [begin, *(i + 1 for i in same)], [*same, end], is_loop)
        else:
            self._operators(marks, begin, end, is_loop, is_value)

    def condition(self, begin: int, end: int, rank: int = 2) -> None:
        """A condition as a whole."""
        if self._made.is_excluded(begin, end):
            return
        what = self._made.spelled(begin, end)
        texts = (f"the condition `{what}` is the wrong way round", _HOLDS.format(what), _KEEPS_OUT.format(what))
        number = self._made.add(begin, *texts, rank=rank)
        self._made.wrap(begin, end, f"mutants::condition({number}, bool(", "))")

    def value(self, begin: int, end: int, rank: int = 2, operation: str = "") -> None:
        """A number. `operation`: of which it is an operand."""
        if self._made.is_excluded(begin, end):
            return
        what = self._named(begin, end) + (f" in `{operation}`" if operation else "")
        number = self._made.add(begin, *(f"{what} {text}" for text in _WRONG_VALUES), rank=rank)
        self._made.wrap(begin, end, f"mutants::value({number}, ", ")")

    def _forgotten(self, begin: int, end: int) -> None:
        """A number that may have to be added to a variable, or multiplied by a constant."""
        made = self._made
        words = {token.text for token in self._tokens[begin:end]}
        terms = [name.name for name in self._names().values() if name.is_integer and name.name not in words]
        factors = [name for name in self._constants if name not in {*words, *self._names()}]
        if not (terms or factors) or begin >= end or made.is_excluded(begin, end):
            return
        what = made.spelled(begin, end)
        texts = [
            *(f"`{name}` must be {how} `{what}`" for name in terms for how in ("added to", "subtracted from")),
            *(f"`{what}` must be multiplied by `{name}`" for name in factors),
        ]
        number = made.add(begin, *texts, rank=4)
        made.wrap(begin, end, f"mutants::with_term({number}, ", _listed(terms))
        made.wrap(begin, end, f"mutants::with_factor({number + 2 * len(terms)}, ", _listed(factors))

    def _named(self, begin: int, end: int) -> str:
        """The tokens [begin, end), and which of several that are alike in their line: "the second `left`"."""
        made, what = self._made, self._made.spelled(begin, end)
        texts = [token.text for token in self._tokens[begin:end]]
        line = made.line(begin)
        alike = [
            i
            for i in range(max(0, begin - MOST_TOKENS), min(len(self._tokens), begin + MOST_TOKENS))
            if made.line(i) == line and [token.text for token in self._tokens[i : i + end - begin]] == texts
        ]
        if len(alike) < 2 or alike.index(begin) >= len(_ORDINALS):
            return f"`{what}`"
        return f"the {_ORDINALS[alike.index(begin)]} `{what}`"

    def _assignment(self, begin: int, at: int, end: int) -> None:
        self._parts(begin, at, is_target=True)
        self.expression(at + 1, end, is_value=True)
        word = self._tokens[at].text
        if other := _ASSIGNMENTS[word]:
            made = self._made
            left, right = made.spelled(begin, at), made.spelled(at + 1, end)
            number = made.add(at, f"`{word}` is the wrong operator in `{made.spelled(begin, end)}`")
            made.wrap(begin, end, f"(mutants::is({number}) ? ({left} {other} {right}) : (", "))")

    def _choice(self, begin: int, question: int, end: int) -> None:
        """`a ? b : c`"""
        self.expression(begin, question)
        self.condition(begin, question, rank=1)
        tokens = self._tokens
        colon = next((i for i in top_level(tokens, question, end) if is_mark(tokens[i], ":")), None)
        if colon is not None:
            self.expression(question + 1, colon)
            self.expression(colon + 1, end)

    def _logical(self, word: str, begins: Sequence[int], ends: Sequence[int], is_loop: bool) -> None:
        """What is joined by && or ||: each part may be left out."""
        for begin, end in zip(begins, ends):
            self.expression(begin, end, is_loop)
            what = self._made.spelled(begin, end)
            number = self._made.add(begin, (_KEEPS_OUT if word == "&&" else _HOLDS).format(what), rank=2)
            kept = f"mutants::is({number}) ||" if word == "&&" else f"!mutants::is({number}) &&"
            self._made.wrap(begin, end, f"({kept} bool(", "))")

    # --- operators ---

    def _operators(self, marks: Sequence[int], begin: int, end: int, is_loop: bool, is_value: bool) -> None:
        tokens = self._tokens
        relations = [i for i in marks if tokens[i].text in RELATIONS and is_operand(tokens[i - 1])]
        for i in relations:
            self._relation(begin, i, end, is_loop)
        for i in marks:
            if tokens[i].text in ARITHMETIC and is_operand(tokens[i - 1]):
                self._arithmetic(begin, i, end)
        self._parts(begin, end)
        is_single = end - begin == 1  # a name has been seen to, and a number, too
        if is_value and not relations:
            if not is_single:
                self.value(begin, end)
            self._forgotten(begin, end)

    def _relation(self, begin: int, at: int, end: int, is_loop: bool) -> None:
        what, word = self._made.spelled(begin, end), self._tokens[at].text
        turned = f"`{what}` is the wrong way round"
        number = self._made.add(
            at,
            _EQUAL[word].format(what) if word in _ORDERS else turned,
            f"`{what}` is off by one",
            f"`{what}` is off by one",
            turned,
            turned,
            f"the limit in `{what}` is too small",
            f"the limit in `{what}` is too large",
            "" if is_loop else _HOLDS.format(what),
            "" if is_loop else _KEEPS_OUT.format(what),
        )
        self._made.put_behind(at, f" mutants::Compared{{{number}, {RELATIONS[word]}}} {word}")

    def _arithmetic(self, begin: int, at: int, end: int) -> None:
        made, word = self._made, self._tokens[at].text
        wrong = "`{}` is the wrong operator in `{}`"
        first, last = operands(self._tokens, begin, at, end)
        what = made.spelled(first, last)
        number = made.add(
            at,
            wrong.format(word, what),
            f"`{made.spelled(at + 1, last)}` should not be part of `{what}`",
            f"`{made.spelled(first, at)}` should not be part of `{what}`",
            f"the operands of `{what}` are in the wrong order" if word in "-/%" else "",
            wrong.format(word, what),
            rank=3,
        )
        made.put_behind(at, f" mutants::Computed{{{number}}} {word}")

    # --- calls ---

    def _launch(self, at: int, end: int) -> None:
        """A kernel's launch."""
        tokens, made = self._tokens, self._made
        last = next((i for i in range(at, end) if is_mark(tokens[i], ">>>")), None)
        if last is None:
            return
        parts = list(split(tokens, at + 1, last))[:2]
        for first, stop in parts:
            self.expression(first, stop)
            self.value(first, stop, rank=3)
        if len(parts) == 2:
            (blocks, threads) = (made.spelled(*part) for part in parts)
            text = f"the number of blocks, `{blocks}`, and that of threads, `{threads}`, are in the wrong order"
            number = made.add(at, text)
            made.wrap(*parts[0], f"(mutants::is({number}) ? unsigned({threads}) : unsigned(", "))")
            made.wrap(*parts[1], f"(mutants::is({number}) ? unsigned({blocks}) : unsigned(", "))")
        if last + 1 < end and is_mark(tokens[last + 1], "("):
            self.arguments(last + 1)

    def arguments(self, opened: int) -> None:
        """The arguments of a call, in the bracket at `opened`."""
        tokens = self._tokens
        close = closing(tokens, opened)
        parts = [part for part in split(tokens, opened + 1, close or opened + 1) if part[0] < part[1]]
        for first, stop in parts:
            is_place = stop - first == 1 or is_mark(tokens[stop - 1], "]")
            if stop - first == 1 and tokens[first].kind == "word":
                self._name(first, is_only_same=True, is_by_value=True)
                if (own := self._names().get(tokens[first].text)) and own.is_integer:
                    self.value(first, stop, rank=3)
            else:
                self.expression(first, stop, is_value=not is_place)
        for one, two in zip(parts, parts[1:]):
            self._exchanged(one, two, opened, close or opened)

    def _exchanged(self, one: tuple[int, int], two: tuple[int, int], opened: int, close: int) -> None:
        """Two arguments in the wrong order, if both are variables or elements of arrays."""
        made, tokens = self._made, self._tokens
        a, b = made.spelled(*one), made.spelled(*two)
        words = [token.text for token in tokens[one[0] : two[1]]]
        if a == b or made.is_excluded(one[0], two[1]) or {"++", "--", "&", "{"} & set(words):
            return
        names = self._names()
        if a in names and b in names:
            by_value = names[a].is_integer and names[b].is_integer
            if not by_value and names[a].type != names[b].type:
                return
        elif a.endswith("]") and b.endswith("]"):
            by_value = False
        else:
            return
        call = made.spelled(*called(tokens, opened)) + made.spelled(opened, close + 1)
        number = made.add(one[0], f"the arguments `{a}` and `{b}` of `{call}` are in the wrong order")
        function = "value_of" if by_value else "one_of"
        made.wrap(*one, f"mutants::{function}({number}, ", f", {b})")
        made.wrap(*two, f"mutants::{function}({number}, ", f", {a})")

    # --- names, numbers, and what is in brackets ---

    def _parts(self, begin: int, end: int, is_target: bool = False) -> None:
        tokens = self._tokens
        at = begin
        while at < end:
            token = tokens[at]
            is_open = token.text in ("(", "[", "{") and token.kind == "mark"
            close = closing(tokens, at) if is_open else template_end(tokens, at, end)
            if close is not None and close < end:
                self._bracket(begin, at, close, end)
                at = close + 1
            elif token.kind == "word":
                at = self._word(begin, at, end, is_target)
            else:
                if token.kind == "number" and token.text.rstrip("uUlL").isdigit():
                    self.value(at, at + 1, operation=self._operation(begin, at, end))
                at += 1

    def _operation(self, begin: int, at: int, end: int) -> str:
        """The operation in an expression of which the number at `at` is an operand: `n / 2`."""
        tokens = self._tokens
        near = (i for i in (at - 1, at + 1) if begin < i < end - 1)
        mark = next((i for i in near if tokens[i].text in ARITHMETIC and is_operand(tokens[i - 1])), None)
        return "" if mark is None else self._made.spelled(*operands(tokens, begin, mark, end))

    def _bracket(self, begin: int, at: int, close: int, end: int) -> None:
        tokens = self._tokens
        before = tokens[at - 1] if at > begin else None
        if is_mark(tokens[at], "["):
            self.expression(at + 1, close)
            self.value(at + 1, close)
            self._forgotten(at + 1, close)
        elif is_mark(tokens[at], "<"):
            self._twin(begin, at - 1, close, end)
        elif is_mark(tokens[at], "("):
            if before is None or not (before.kind == "word" or before.text in (">", ">>>")):
                self.expression(at + 1, close)
            elif before.text not in ("sizeof", "decltype", "alignof") and (
                not before.text.isupper() or before.text == "CUDA_CHECK"
            ):
                self.arguments(at)

    def _twin(self, begin: int, at: int, angle: int, end: int) -> None:
        """A call of earlier(), later(), min() or max() that should be one of its counterpart."""
        tokens, made = self._tokens, self._made
        other = _TWINS.get(tokens[at].text)
        opened = angle + 1
        if not other or opened >= end or not is_mark(tokens[opened], "("):
            return
        close = closing(tokens, opened)
        if close is None or close >= end:
            return
        first = at
        while first > begin and (is_mark(tokens[first - 1], "::") or tokens[first - 1].text in ("lab", "std")):
            first -= 1
        call = made.spelled(first, close + 1)
        prefix = made.spelled(first, at) if first < at else ""
        changed = prefix + other + made.spelled(at + 1, close + 1)
        number = made.add(at, f"{tokens[at].text} should be {other} in `{call}`")
        made.wrap(first, close + 1, f"(mutants::is({number}) ? {changed} : ", ")")

    def _word(self, begin: int, at: int, end: int, is_target: bool) -> int:
        """A name in an expression; where to go on."""
        tokens = self._tokens
        following = tokens[at + 1].text if at + 1 < end else ""
        preceding = tokens[at - 1].text if at > begin else ""
        if tokens[at].text in _BUILTINS and following == "." and at + 2 < end:
            self._builtin(at)
            return at + 3
        if following == "(":
            self._twin(begin, at, at, end)
        is_member = preceding in (".", "->", "::") or following in ("::", "(")
        is_written = is_target and end - begin == 1
        if not is_member and not is_written:
            is_changed = {following, preceding} & {"++", "--", "&"}
            self._name(at, is_only_same=bool(is_changed) or following in (".", "[", "->"), is_by_value=not is_changed)
            own = self._names().get(tokens[at].text)
            if own and own.is_integer and not is_changed and {following, preceding} & ARITHMETIC:
                self.value(at, at + 1)
        return at + 1

    def _builtin(self, at: int) -> None:
        tokens, made = self._tokens, self._made
        if tokens[at + 2].text != "x" or made.is_excluded(at, at + 3):
            return
        others = _BUILTINS[tokens[at].text]
        if "blockIdx.x * blockDim.x" in made.whole_line(at).replace(")", ""):
            others = others[:1]  # the number of a thread among all threads, as it is mostly written
        number = made.add(at, *(f"{text}: `{made.whole_line(at)}`" for _, text in others), rank=0)
        chosen = "".join(f"mutants::is({number + i}) ? unsigned({other}) : " for i, (other, _) in enumerate(others))
        made.wrap(at, at + 3, f"({chosen}", ")")

    def _name(self, at: int, is_only_same: bool, is_by_value: bool) -> None:
        """A variable for which another one may be meant. `is_only_same`: only one of the same type, unless both are
        integers and the value is enough."""
        names, made = self._names(), self._made
        text = self._tokens[at].text
        is_constant = is_only_same and is_by_value and text not in names and "_" in text.strip("_")
        own = Name(text, "int") if is_constant else names.get(text)  # a constant of a header, such as tile_keys
        if own is None or made.is_excluded(at, at + 1):
            return
        by_value = is_by_value and (own.is_integer or (not is_only_same and own.type in ("Key", "auto")))
        others = [
            other
            for other in names.values()
            if other.name != own.name and (other.type == own.type or (by_value and own.is_integer and other.is_integer))
        ]
        if others:
            text = f"`{own.name}` is the wrong variable in `{made.whole_line(at)}`"
            number = made.add(at, *(text for _ in others), rank=3)
            function = "value_of" if by_value else "one_of"
            rest = "".join(f", {other.name}" for other in others)
            made.wrap(at, at + 1, f"mutants::{function}({number}, ", f"{rest})")


def _listed(names: Sequence[str]) -> str:
    """The last arguments of a call, and its end."""
    return "".join(f", {name}" for name in names) + ")"

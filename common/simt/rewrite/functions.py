"""Which tokens are inside functions, and for whom these are compiled: the host, the device, or both."""

from __future__ import annotations

from .source import Source
from .tokens import Token, closing, is_mark, opening

# What a brace opens. VALUE: an initializer, or anything else that contains neither declarations nor statements.
NAMESPACE, CLASS, VALUE, HOST, DEVICE, BOTH = "namespace", "class", "value", "host", "device", "both"
DECLARATIONS = (NAMESPACE, CLASS)
FUNCTIONS = (HOST, DEVICE, BOTH)
QUALIFIERS = frozenset(("__global__", "__device__", "__host__"))
# Parentheses after these are not those of a function's parameters.
NOT_DECLARATORS = frozenset(("alignas", "__align__", "__attribute__", "__declspec", "__launch_bounds__", "decltype"))
CLASS_KEYS = ("class", "struct", "union", "enum")

Qualifying = dict[str, frozenset[str]]  # for each macro that stands for qualifiers: which


class Places:
    """For each token and each directive of a source, what the innermost brace around it opened."""

    def __init__(self, source: Source, qualifying: Qualifying) -> None:
        self.of_tokens: list[str] = []
        self.of_directives: list[str] = []
        self.bodies: list[tuple[int, str]] = []  # (index of the brace, kind) of each function
        self.heads: dict[int, int] = {}  # for the brace of each body, where the function's declaration begins
        self.ends: dict[int, int] = {}  # and the brace that closes it
        self.body_of_directives: list[int | None] = []  # the brace of the innermost of these bodies
        self._tokens = source.code
        self._qualifying = qualifying
        self._braces: list[str] = []
        self._begins: list[int | None] = []  # for each of these, the body's brace
        self._head = 0  # where the current declaration begins
        saved: list[tuple[list[str], list[int | None], int]] = []
        directives = iter(source.directives)
        directive = next(directives, None)
        for i, token in enumerate([*source.code, None]):
            while directive is not None and directive.place == i:  # each branch begins as the #if found things
                self.of_directives.append(self._innermost())
                self.body_of_directives.append(self._begins[-1] if self._begins else None)
                if directive.role == "if":
                    saved.append((list(self._braces), list(self._begins), self._head))
                elif directive.role == "else" and saved:
                    braces, begins, self._head = saved[-1]
                    self._braces, self._begins = list(braces), list(begins)
                elif directive.role == "endif" and saved:
                    saved.pop()
                directive = next(directives, None)
            if token is not None:
                self._step(i, token)

    def _innermost(self) -> str:
        return self._braces[-1] if self._braces else NAMESPACE

    def _step(self, index: int, token: Token) -> None:
        around = self._innermost()
        self.of_tokens.append(around)
        if is_mark(token, "{"):
            kind = self._opened(index, around)
            begin = self._begins[-1] if self._begins else None
            if kind in FUNCTIONS and around != kind:
                self.bodies.append((index, kind))
                self.heads[index] = self._head
                begin = index
            self._braces.append(kind)
            self._begins.append(begin)
            if kind != VALUE:
                self._head = index + 1
        elif is_mark(token, "}"):
            begin = self._begins.pop() if self._begins else None
            if begin is not None and (not self._begins or self._begins[-1] != begin):
                self.ends[begin] = index
            if self._braces and self._braces.pop() != VALUE:
                self._head = index + 1
        elif is_mark(token, ";"):
            self._head = index + 1

    def _opened(self, index: int, around: str) -> str:
        """What the `{` at `index` opens."""
        function = self._lambda(index)
        if function is not None:
            return around if function == HOST and around in FUNCTIONS else function
        if around in FUNCTIONS or around == VALUE:
            return around
        words, has_parameters, has_initializers = self._declaration(index)
        before = self._tokens[index - 1] if index > 0 else None
        if "namespace" in words or (before is not None and before.kind == "string"):
            return NAMESPACE
        if not has_parameters:
            is_class = any(key in words for key in CLASS_KEYS) and "enum" not in words and "=" not in words
            return CLASS if is_class else VALUE
        if "=" in words and "operator" not in words:
            return VALUE
        if has_initializers and before is not None and (before.kind == "word" or before.text == ">"):
            return VALUE  # of a member, in a constructor's list
        return _kind(self.qualifiers(words))

    def qualifiers(self, words: list[str]) -> frozenset[str]:
        """The qualifiers among the words, and those that macros among them stand for."""
        found = [frozenset((word,)) & QUALIFIERS or self._qualifying.get(word, frozenset()) for word in words]
        return frozenset().union(*found)

    def _declaration(self, end: int) -> tuple[list[str], bool, bool]:
        """The words and marks outside brackets of the declaration before `end`; whether it has a function's
        parameters, and whether members are initialized after these."""
        tokens, i = self._tokens, self._head
        words: list[str] = []
        has_parameters = has_initializers = False
        while i < end:
            token = tokens[i]
            if is_mark(token, "(") or is_mark(token, "["):
                is_parameters = token.text == "(" and i > 0 and tokens[i - 1].text not in NOT_DECLARATORS
                has_parameters = has_parameters or is_parameters
                i = closing(tokens, i) or i
            elif is_mark(token, "<") and i > 0 and tokens[i - 1].text == "template":
                i = closing_angle(tokens, i, end)
            elif is_mark(token, ":"):
                has_initializers = has_parameters
            else:
                words.append(token.text)
            i += 1
        return words, has_parameters, has_initializers

    def is_lambda(self, index: int) -> bool:
        """Whether the `{` at `index` begins a lambda's body."""
        return self._lambda(index) is not None

    def _lambda(self, index: int) -> str | None:
        """For whom the lambda whose body begins at `index` is compiled; None if this is not a lambda's body."""
        tokens, i = self._tokens, index - 1
        words: list[str] = []
        while i >= 0 and (tokens[i].kind == "word" or tokens[i].text in ("::", "->", "*", "&", "<", ">")):
            words.append(tokens[i].text)
            i -= 1
        if i >= 0 and is_mark(tokens[i], ")"):
            i = (opening(tokens, i) or 0) - 1
            while i >= 0 and tokens[i].kind == "word":
                words.append(tokens[i].text)
                i -= 1
        if i < 0 or not is_mark(tokens[i], "]"):
            return None
        begin = opening(tokens, i)
        before = tokens[begin - 1] if begin else None
        is_subscript = before is not None and (before.kind == "word" or before.text in (")", "]"))
        if is_subscript and before is not None and before.text not in ("return", "case"):
            return None
        return _kind(self.qualifiers(words))


def _kind(qualifiers: frozenset[str]) -> str:
    if "__global__" in qualifiers:
        return DEVICE
    if "__device__" in qualifiers:
        return BOTH if "__host__" in qualifiers else DEVICE
    return HOST


def closing_angle(tokens: list[Token], index: int, end: int) -> int:
    """The index of the `>` that closes a template's parameters or arguments; `index` if there is none."""
    depth = 0
    i = index
    while i < end:
        if is_mark(tokens[i], "("):
            i = closing(tokens, i) or i
        depth += is_mark(tokens[i], "<") - is_mark(tokens[i], ">")
        if depth == 0:
            return i
        i += 1
    return index


def qualifying_macros(sources: list[Source]) -> Qualifying:
    """The macros that stand for __host__, __device__ or __global__, possibly through other macros."""
    bodies = [(macro.name, [token.text for token in macro.tokens]) for source in sources for macro in source.macros]
    found: dict[str, frozenset[str]] = {}
    changed = True
    while changed:
        changed = False
        for name, words in bodies:
            if "{" in words or "(" in words and "__attribute__" not in words:
                continue  # more than specifiers
            stands_for = frozenset(words) & QUALIFIERS
            stands_for = stands_for.union(*(found.get(word, frozenset()) for word in words))
            if not stands_for <= found.get(name, frozenset()):
                found[name] = found.get(name, frozenset()) | stands_for
                changed = True
    return found

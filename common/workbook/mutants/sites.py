"""The places of a step's file where a small change may fix a mistake."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .expressions import Expressions
from .reading import (
    CONTROLS,
    Function,
    Name,
    closing,
    comma,
    constants,
    declarator,
    functions,
    is_lambda,
    is_mark,
    parameters,
    type_of,
)
from .schemata import Mutant, Schemata

_NOT_EXPRESSIONS = frozenset({"static_assert", "using", "typedef", "extern", "asm", "throw", "template", "goto", ";"})
_BARRIERS = ("__syncthreads", "__syncwarp")


class Sites:
    """All mutants of a file."""

    def __init__(self, text: str, excluded: Iterable[int] = (), has_constants: bool = True) -> None:
        """`excluded`: lines that stay as they are, because their changes do not compile. `has_constants`: whether names
        that seem to stand for numbers are used as factors. RewriteError."""
        self._made = Schemata(text, excluded)
        self._tokens = self._made.tokens
        self._expressions = Expressions(self._made, constants(self._tokens, text) if has_constants else ())
        self._has_shared = "__shared__" in text
        self._can_wait = False
        self._loops = 0  # around the statement
        for function in functions(self._tokens):
            self._function(function)

    @property
    def mutants(self) -> Sequence[Mutant]:
        """In the order of the file."""
        return self._made.mutants

    def text(self) -> str:
        """The file with all mutants."""
        return self._made.text()

    def _function(self, function: Function) -> None:
        self._made.function = function.name
        self._can_wait = function.is_device and self._has_shared
        self._expressions.scopes = [parameters(self._tokens, function.parameters)]
        self._block(function.begin, function.end)

    # --- statements ---

    def _block(self, begin: int, end: int) -> None:
        """The statements between the braces `begin` and `end`."""
        self._expressions.scopes.append([])
        index, previous = begin + 1, None
        while index < end:
            last = self._end_of(index)
            if last is None or last > end:
                break
            self._put_barrier(index)
            is_expression = self._statement(index, last)
            if previous and is_expression and not self._made.is_excluded(previous[0], last):
                self._exchange(previous, (index, last))
            previous = (index, last) if is_expression else None
            index = last
        self._put_barrier(end)
        self._expressions.scopes.pop()

    def _end_of(self, index: int) -> int | None:
        """The token behind the statement at `index`; None if it has no end."""
        tokens, text = self._tokens, self._tokens[index].text
        if text == "{":
            close = closing(tokens, index)
            return None if close is None else close + 1
        if text in ("if", "for", "while", "switch"):
            close = closing(tokens, self._bracket(index))
            end = None if close is None or close + 1 >= len(tokens) else self._end_of(close + 1)
            while end is not None and text == "if" and end < len(tokens) and tokens[end].text == "else":
                end = self._end_of(end + 1)
            return end
        if text in ("do", "else"):
            end = self._end_of(index + 1)
            return end if end is None or text == "else" else self._end_of(end)
        at: int | None = index
        while at is not None and at < len(tokens) and not is_mark(tokens[at], "}"):
            if is_mark(tokens[at], ";"):
                return at + 1
            if tokens[at].text in ("(", "[", "{") and tokens[at].kind == "mark":
                at = closing(tokens, at)
            at = None if at is None else at + 1
        return None

    def _bracket(self, index: int) -> int:
        """The bracket of an if or a loop."""
        while index + 1 < len(self._tokens) and not is_mark(self._tokens[index], "("):
            index += 1
        return index

    def _statement(self, begin: int, end: int) -> bool:
        """One statement; whether it is an expression."""
        text = self._tokens[begin].text
        if text not in (*CONTROLS, "{") and self._lambda(begin, end):
            return False
        if text == "{":
            self._block(begin, end - 1)
        elif text in ("if", "while", "for", "switch"):
            self._controlled(begin, end)
        elif text == "do" and (body := self._end_of(begin + 1)):
            self._statement(begin + 1, body)
        elif text == "return" and end - begin > 2:
            self._expressions.expression(begin + 1, end - 1)
        elif text in ("return", "break", "continue"):
            self._delete(begin, end)
            self._leave(begin, end)
        elif text in _NOT_EXPRESSIONS or text in CONTROLS or (text.isupper() and text != "CUDA_CHECK"):
            pass
        elif declarator(self._tokens, begin, end) is not None:
            self._declaration(begin, end)
        elif not any(is_mark(token, "{") for token in self._tokens[begin:end]):
            self._expressions.expression(begin, end - 1)
            self._delete(begin, end)
            return True
        return False

    def _lambda(self, begin: int, end: int) -> bool:
        """A statement with a lambda, of which only the body is changed, if it may use all names; whether it has one."""
        tokens = self._tokens
        opened = next((i for i in range(begin, end) if is_lambda(tokens, i)), None)
        if opened is None:
            return False
        brace = next((i for i in range(opened, end) if is_mark(tokens[i], "{")), None)
        close = None if brace is None else closing(tokens, brace)
        if brace is None or close is None or close >= end or tokens[opened + 1].text not in ("&", "="):
            return True
        bracket = next((i for i in range(opened, brace) if is_mark(tokens[i], "(")), None)
        self._expressions.scopes.append(parameters(tokens, bracket) if bracket else [])
        loops, self._loops = self._loops, 0
        self._block(brace, close)
        self._loops = loops
        self._expressions.scopes.pop()
        return True

    def _controlled(self, begin: int, end: int) -> None:
        """An if or a loop."""
        tokens, text = self._tokens, self._tokens[begin].text
        opened = self._bracket(begin)
        close = closing(tokens, opened)
        body_end = None if close is None else self._end_of(close + 1)
        if close is None or body_end is None:
            return
        self._expressions.scopes.append([])
        if text == "for":
            self._for(opened, close)
            self._delete_loop(begin, close, end)
        elif tokens[begin + 1].text != "constexpr":
            self._expressions.expression(opened + 1, close, is_loop=text == "while")
            if text == "if":
                self._expressions.condition(opened + 1, close)
        self._loops += text in ("for", "while")
        self._statement(close + 1, body_end)
        self._loops -= text in ("for", "while")
        if body_end < end and tokens[body_end].text == "else":
            self._statement(body_end + 1, end)
        self._expressions.scopes.pop()

    def _for(self, opened: int, close: int) -> None:
        """A loop's head."""
        first = self._end_of(opened + 1)
        second = None if first is None else self._end_of(first)
        if first is None or second is None or second > close:
            return  # such as one over the elements of an array
        if declarator(self._tokens, opened + 1, first) is not None:
            self._declaration(opened + 1, first)
        else:
            self._expressions.expression(opened + 1, first - 1)
        self._expressions.expression(first, second - 1, is_loop=True)
        self._expressions.expression(second, close)

    def _delete_loop(self, begin: int, close: int, end: int) -> None:
        if not self._made.is_excluded(begin, close):
            text = f"the loop `{self._made.spelled(begin, close + 1)}` should not be here"
            number = self._made.add(begin, text, rank=3)
            self._made.wrap(begin, end, f"if (mutants::is({number})) {{}} else ", "")

    def _delete(self, begin: int, end: int) -> None:
        """A statement that may be left out."""
        if self._made.is_excluded(begin, end):
            return
        what = self._made.spelled(begin, end - 1)
        is_barrier = what.startswith(_BARRIERS)
        text = "this barrier should not be here" if is_barrier else f"`{what}` should not be here"
        is_jump = self._tokens[begin].text in ("return", "break", "continue")
        number = self._made.add(begin, text, rank=1 if is_barrier or is_jump else 2, kind="taken" if is_barrier else "")
        self._made.wrap(begin, end, f"if (mutants::is({number})) {{}} else ", "")
        if what.startswith("__syncwarp"):
            text = "`__syncwarp()` synchronizes the lanes of one warp only, but other warps access the same data"
            number = self._made.add(begin, text, rank=0)
            self._made.wrap(begin, end, f"if (mutants::is({number})) __syncthreads(); else ", "")

    def _leave(self, begin: int, end: int) -> None:
        """A `return` or `break` that should end only one iteration of a loop."""
        if self._loops and self._tokens[begin].text != "continue" and not self._made.is_excluded(begin, end):
            word = self._tokens[begin].text
            ends = "ends the whole function" if word == "return" else "ends the loop"
            number = self._made.add(begin, f"`{word}` {ends}, not only this iteration of the loop", rank=0)
            self._made.wrap(begin, end, f"if (mutants::is({number})) continue; else ", "")

    def _exchange(self, one: tuple[int, int], two: tuple[int, int]) -> None:
        """Two statements in the wrong order."""
        a, b = self._made.spelled(*one), self._made.spelled(*two)
        text = f"`{b.rstrip(';')}` comes too late: it belongs before `{a.rstrip(';')}`"
        number = self._made.add(two[0], text, rank=2)
        self._made.wrap(one[0], two[1], f"if (mutants::is({number})) {{ {b} {a} }} else {{ ", " }")

    def _put_barrier(self, index: int) -> None:
        """A barrier before a statement."""
        if not self._can_wait or self._made.is_excluded(index, index + 1):
            return
        before, here = self._made.line(index - 1), self._made.line(index)
        where = f"between lines {before} and {here}" if before < here else f"in line {here}"
        text = f"a __syncthreads() is missing {where}"
        number = self._made.add(index - 1, text, kind="put")
        self._made.put_before(index, f"if (mutants::is({number})) __syncthreads(); ")

    # --- declarations ---

    def _declaration(self, begin: int, end: int) -> None:
        """Variables, with the expressions that give them their values."""
        tokens = self._tokens
        at = declarator(tokens, begin, end)
        assert at is not None
        words = [token.text for token in tokens[begin:at]]
        is_fixed = bool({"constexpr", "__shared__", "static"} & set(words))
        type_ = type_of(words)
        while at < end:
            stop = comma(tokens, at, end - 1)
            following = tokens[at + 1] if at + 1 < end else tokens[at]
            if is_mark(following, "=") and not is_fixed:
                self._expressions.expression(at + 2, stop, is_value=True)
            elif is_mark(following, "(") and not is_fixed:
                self._expressions.arguments(at + 1)
            own = f"{type_} *" if is_mark(following, "[") else type_
            self._expressions.scopes[-1].append(Name(tokens[at].text, own))
            at = stop + 1
            while at < end and is_mark(tokens[at], "*"):
                at += 1

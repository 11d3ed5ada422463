"""What the text of a step says about a place: where an index comes from, what ends a loop, who reaches a barrier."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ..core import suspects
from ..core.course import ROOT

_NAME = r"[A-Za-z_]\w*"
_INDEX = re.compile(r"\[([^\[\]]*)\]")
_DEREFERENCED = re.compile(r"(?:^|[(,=!<>]|return|&&|\|\|)\s*\*\s*([A-Za-z_]\w*)")
_CALL = re.compile(r"\bcompare_exchange\w*(?:<[^<>()]*>)?\s*\((.*)\)")
_BOUND = re.compile(r"(?:\bfor|\bwhile|\bif)\s*\(.*")
_HELD = re.compile(
    r"\b(?P<type>int|unsigned(?: int| long)?|long(?: long)?|short|float|double|size_t|(?:std::)?u?int(?:8|16|32|64)_t)"
    r"\s+"
    r"(?:const\s+)?(?P<names>\w+\s*=(?:[^;]*\w\s*\[[^;]*|\s*\*\s*\w+\s*));"
)
MOST_DEFINITIONS = 3  # that are quoted for an index
MOST_CONTINUED = 3  # lines of a statement that follow the one that is quoted
MOST_TESTS = 3  # that are quoted for what is not done
_OWN_INDICES = ("threadIdx", "blockIdx", "blockDim", "gridDim")
_DEVICE_FUNCTION = re.compile(r"__device__[^;{}()]*?\b(\w+)\s*\(")
_BARRIER = re.compile(r"\b__syncthreads\s*\(")
SHUFFLE = re.compile(r"\b__shfl_(?:up_|down_|xor_)?sync\s*\(")
_NUMBERED = re.compile(r"\bblockIdx\b|^(?!\s*for\b).*\bthreadIdx\b.*\bblockDim\b")
_LEAVES = re.compile(r"\b(?:return|continue|break)\s*;")
_FROM_ELEMENT = re.compile(rf"\bKey\s*&?\s*({_NAME})\s*=\s*([^;=]*\[[^;]*\])\s*;")
_COMPARES = re.compile(r"\b(?:compare_exchange\w*|before|earlier|later)\s*(?:<[^<>;]*>)?\s*\(")
_CONTROL = re.compile(r"\b(for|while|if)\s*\(")
_WITHOUT_VALUES = re.compile(r"^\s*(?:if\s*\(.*\)\s*)?(?:\w+::)*\w+(?:<[^;]*>)?\(.*(?:\bnullptr\b|NoValue\*[^;]*\)).*;")
_STORED = re.compile(r"\b(keys|tile|own|\w*values)(?:\.data)?\s*\[([^\[\]]*)\]\s*=(?!=)")


@dataclass(frozen=True)
class Held:
    """A variable that holds a key, and is not declared as one."""

    line: int
    type: str
    name: str


class Lambda(NamedTuple):
    """A lambda that a variable holds: the variable, the names of the parameters, and the lines that call it."""

    name: str
    parameters: list[str]
    calls: list[int]


@dataclass(frozen=True)
class Loop:
    """A `for` or `while`: its first and last line, the three parts of its head, and its body."""

    line: int
    last: int
    start: str
    condition: str
    step: str
    body: str


_LITERAL = r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'"


def _names_of_parameters(text: str) -> list[str]:
    return [part.split()[-1].strip("*&") for part in text.split(",") if part.split()]


def _without_comments(text: str) -> str:
    """A text of the same length without comments, nor braces in literals."""

    def blank(match: re.Match[str]) -> str:
        return re.sub(r"[^\n]" if match[0][0] == "/" else r"[{}]", " ", match[0])

    return re.sub(rf"//[^\n]*|/\*.*?\*/|{_LITERAL}", blank, text, flags=re.DOTALL)


def _closing(text: str, at: int) -> int:
    """Where the bracket at a position is closed; the end of the text if it is not."""
    pairs = {"(": ")", "{": "}", "[": "]"}
    depth = 0
    for position in range(at, len(text)):
        depth += (text[position] == text[at]) - (text[position] == pairs[text[at]])
        if depth == 0:
            return position
    return len(text)


def _in_bracket(text: str) -> str:
    """A text up to the end of the bracket that it is in: of "stride / 2) f(x" the beginning."""
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth < 0:
            return text[:at]
    return text


class Source:
    """The text of a step's file. Lines are counted from 1."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.text = _without_comments(suspects.source_of(file))
        self.lines = self.text.splitlines()

    def quoted(self, line: int) -> str:
        """ "line 27: `const int i = 2 * t`"; "" for a line that the file does not have"""
        if not 0 < line <= len(self.lines):
            return ""
        text = " ".join(self.lines[line - 1].split())
        for following in self.lines[line : line + MOST_CONTINUED]:
            if text.count("(") > text.count(")"):
                text += " " + " ".join(following.split())
        return f"line {line}: `{text.rstrip('{; ') or text}`"

    def _line_at(self, position: int) -> int:
        return self.text.count("\n", 0, position) + 1

    @cached_property
    def _ends(self) -> frozenset[int]:
        """The last lines of functions and classes, whether or not they are in a namespace, and of namespaces."""
        ends, position = {n for n, line in enumerate(self.lines, 1) if line.startswith("}")}, 0
        while found := re.search(r"[{}]", self.text[position:]):
            at = position + found.start()
            is_namespace = re.search(r"(?:\bnamespace\b[^;{}()]*|\bextern\s*\"C\"\s*)$", self.text[position:at])
            position = at if is_namespace or self.text[at] == "}" else _closing(self.text, at)
            if not is_namespace:
                ends.add(self._line_at(position))
            position += 1
        return frozenset(ends)

    def _assigned(self, name: str, before: int) -> int:
        """The last line above one that gives a variable its value; 0: there is none in this function."""
        pattern = re.compile(rf"(?<![\w.]){re.escape(name)}\s*=[^=]")
        for number in range(before, 0, -1):
            if number < before and number in self._ends:
                break
            if pattern.search(self.lines[number - 1]):
                return number
        return 0

    def _assigned_before(self, name: str, found: int, line: int) -> int:
        """The line of another branch that gives a variable its value, if line `found` does so in one that ends before
        `line`; 0: there is none."""
        depth = self._indent(found)
        if all(self._indent(n) >= depth for n in range(found + 1, line) if self.lines[n - 1].strip()):
            return 0
        other = self._assigned(name, found - 1)
        return other if other and self._indent(other) == depth else 0

    def _indent(self, line: int) -> int:
        text = self.lines[line - 1]
        return len(text) - len(text.lstrip())

    def changed(self, name: str, before: int) -> int:
        """The last line of the function above one that changes a variable; 0: there is none."""
        own = re.escape(name)
        changes = re.compile(rf"(?:\+\+|--)\s*{own}\b|(?<![\w.]){own}\s*(?:\+\+|--|(?:[-+*/%&|^]|<<|>>)?=(?!=))")
        _, first, _ = self.function_of(before)
        return next((n for n in range(before - 1, first - 1, -1) if changes.search(self.lines[n - 1])), 0)

    def changed_after(self, name: str, line: int) -> int:
        """The last line of the loop around a line that changes a variable below it, for the next round; 0: there is
        none."""
        own = re.compile(rf"(?<![\w.]){re.escape(name)}\s*(?:[-+*/%&|^]|<<|>>)?=(?!=)")
        around = self.loops_around(line)
        last = next((loop.last for loop in self.loops if around and loop.line == around[-1]), line)
        return next((n for n in range(last, line, -1) if own.search(self.lines[n - 1])), 0)

    def assigned(self, name: str, before: int) -> int:
        """The line above one that gives a variable its value; 0 if there is none, or `name` is no variable."""
        return self._assigned(name, before - 1) if name.isidentifier() else 0

    def pointers_in(self, line: int) -> dict[int, str]:
        """The lines that define the pointers whose elements a line accesses, and their names."""
        names = re.findall(rf"(?<![\w.])({_NAME})\s*\[", self.lines[line - 1])
        found = {self._assigned(name, line - 1): name for name in dict.fromkeys(names)}
        is_pointer = r"\*\s*(?:const\s+)?{}\s*="
        return {at: name for at, name in found.items() if at and re.search(is_pointer.format(name), self.lines[at - 1])}

    def divisors(self, line: int) -> list[str]:
        """The variables by which a line divides; those of expressions in brackets are left out."""
        names = re.findall(rf"[/%]=?\s*({_NAME})(?!\s*[\w(:<\[.])", self.lines[line - 1])
        return list(dict.fromkeys(names))

    def stored_in(self, array: str, first: int, last: int) -> int:
        """The first of some lines that stores in an array, or passes it to a function; 0: none does."""
        own = re.escape(array)
        stores = re.compile(rf"\b{own}\s*\[(?:[^\[\]]|\[[^\[\]]*\])*\]\s*=[^=]|\w\s*\([^;]*\b{own}\b(?!\s*\[)")
        tests = re.compile(r"\b(?:if|for|while)\s*\(")
        return next((n for n in range(first, last + 1) if stores.search(tests.sub("", self.lines[n - 1]))), 0)

    def filled(self, name: str, before: int) -> int:
        """The last line above one that gives an element of an array its value; 0: there is none."""
        pattern = re.compile(rf"(?<![\w.]){re.escape(name)}\s*\[[^\]]*\]\s*=[^=]")
        _, first, _ = self.function_of(before)
        return next((n for n in range(before - 1, first - 1, -1) if pattern.search(self.lines[n - 1])), 0)

    def definition(self, name: str, before: int) -> str:
        """The line above one that gives a variable its value; "" if there is none."""
        found = self._assigned(name, before) if name.isidentifier() else 0
        return self.lines[found - 1] if found else ""

    def index_of(self, line: int) -> str:
        """Where the indices of a line come from; "" if that is not known, or the line says it itself."""
        if not 0 < line <= len(self.lines):
            return ""
        text = self.lines[line - 1]
        call = _CALL.search(text)
        parts = _INDEX.findall(text) or (call[1].split(",")[-2:] if call else [])
        if not parts and (pointers := _DEREFERENCED.findall(text)):
            made = {at: name for name in pointers if (at := self._assigned(name, line)) and at != line}
            if made:
                comes = [f"{name} comes from {self.quoted(at)}" for at, name in made.items()]
                indices = {at: _INDEX.findall(self.lines[at - 1].partition("=")[2]) for at in made}
                farther = (self.comes_from(parts, at) for at, parts in indices.items() if parts)
                return "; ".join(dict.fromkeys([*comes, *filter(None, farther)]))
            parts = [self.definition(name, line - 1).partition("=")[2] for name in pointers]
        found = self.comes_from(parts or self._references(line), line)
        caller = 0 if found else self.caller(line)
        if caller:
            passed = self.lines[caller - 1].partition("(")[2]
            # Of a function that takes references to keys, only the indices of the elements matter.
            takes_keys = re.search(r"\bKey\s*&", self.around(f"{self.file}:{line}"))
            found = self.comes_from((takes_keys and _INDEX.findall(passed)) or [passed], caller)
            return f"line {caller} calls {self.function_of(line)[0]}(): {found}" if found else ""
        return found

    def conditional_barrier(self, line: int) -> tuple[int, int] | None:
        """A barrier, in the function around a line or in one that calls it, under a condition that is the same for all
        threads, and the line of the condition; None: there is none."""
        functions = {self.function_of(at)[1:] for at in (line, *self.calls(line))}
        for barrier in self.barriers:
            own = re.match(r"\s*if\b", self.lines[barrier - 1])
            test = barrier if own else self.test_around(barrier)
            condition = self.lines[test - 1].partition("(")[2] if test else ""
            is_near = any(first <= barrier <= last for first, last in functions)
            if (
                test
                and is_near
                and not self._depends(condition, self._of_threads(len("\n".join(self.lines[: test - 1]))))
            ):
                return barrier, test
        return None

    def values_of(self, line: int) -> str:
        """Where the indices of a line, or else all of its values, come from."""
        return self.index_of(line) or self.comes_from([self.lines[line - 1]], line)

    def _references(self, line: int) -> list[str]:
        """The names in a line that refer to elements of arrays."""
        names = dict.fromkeys(re.findall(_NAME, self.lines[line - 1]))
        defined = ((name, self._assigned(name, line)) for name in names)
        return [name for name, at in defined if at and re.search(rf"&\s*{name}\s*=.*\[", self.lines[at - 1])]

    def calls(self, line: int) -> list[int]:
        """The lines that call the function around a line."""
        name, first, last = self.function_of(line)
        return [
            n
            for n, text in enumerate(self.lines, 1)
            if not first <= n <= last and "__device__" not in text and self.call_in(n, n, name)
        ]

    def in_one_function(self, line: int, other: int) -> list[tuple[int, str]]:
        """Where one function reaches two lines: the lines themselves, or the calls that lead to them, each with the
        name of what is called there. If no function reaches both, the two lines as they are."""
        ways = [
            (calls, other_calls)
            for calls in self._way_to(line)
            for other_calls in self._way_to(other)
            if self.function_of(calls[0])[1] == self.function_of(other_calls[0])[1]
        ]
        nearest = min(ways, key=lambda way: way[0][2] + way[1][2], default=((line, "", 0), (other, "", 0)))
        return [(at, called) for at, called, _ in nearest]

    def _way_to(self, line: int) -> list[tuple[int, str, int]]:
        """A line, and those that call the function around it, directly or through others: the name of what each calls,
        and through how many calls it leads to the line."""
        found = [(line, "", 0)]
        for at, _, calls in found:  # which grows
            name = self.function_of(at)[0]
            known = {one[0] for one in found}
            found += [(call, name, calls + 1) for call in self.calls(at) if call not in known]
        return found

    def caller(self, line: int) -> int:
        """The only line that calls the function around a line; 0: there is none."""
        calls = self.calls(line)
        return calls[0] if len(calls) == 1 else 0

    def _parameters(self, line: int) -> list[str]:
        """The names of the parameters of the function around a line."""
        name, first, last = self.function_of(line)
        head = re.search(rf"\b{name}\s*\(([^(){{}};]*)\)", "\n".join(self.lines[first - 1 : last])) if name else None
        return _names_of_parameters(head[1]) if head else []

    def names_parameter(self, line: int, quoted: str) -> bool:
        """Whether a quoted definition, which is not a loop, has a parameter of the function, or the lambda, around a
        line."""
        own = self.lambda_around(line)
        of = " ".join(part.partition("=")[2] for part in re.findall(r"`([^`]*)`", quoted) if not part.startswith("for"))
        names = own.parameters if own else self._parameters(line)
        return any(re.search(rf"\b{re.escape(name)}\b", of) for name in names)

    def statement(self, line: int) -> str:
        """The text from a line on up to the end of its statement."""
        return "\n".join(self.lines[line - 1 :]).partition(";")[0]

    def outermost_call(self, line: int) -> int:
        """The line at which a kernel comes to call the function around a line, directly or through others; 0: it is in
        the kernel itself, or several lines of the kernel do."""
        seen = {0}
        found = 0
        while (calls := self.calls(line)) and len({self.function_of(one)[0] for one in calls}) == 1:
            line, found = calls[0], calls[0] if len(calls) == 1 else 0
            if line in seen:
                return 0
            seen.add(line)
        return found

    def passing(self, line: int, array: str, is_written: bool) -> int:
        """The line of the call that passes `array` to the function around a line, as what that line writes, or as what
        it reads; the line itself if the function has no such parameter, or several calls pass it."""
        assigned = re.match(r"\s*(\w+)\s*\[[^=]*\]\s*=\s*(\w+)\s*\[", self.lines[line - 1])
        parameters = self._parameters(line)
        name = assigned[1 if is_written else 2] if assigned else ""
        if name not in parameters:
            return line
        at = parameters.index(name)
        found = []
        for call in self.calls(line):
            passed = re.search(r"\w\s*\((.*)\)", self.lines[call - 1])
            arguments = passed[1].split(",") if passed else []
            if len(arguments) == len(parameters) and re.search(rf"\b{re.escape(array)}\b", arguments[at]):
                found.append(call)
        return found[0] if len(found) == 1 else line

    def comes_from(self, parts: Sequence[str], line: int) -> str:
        """Where the variables of expressions in a line come from."""
        comes: dict[int, str] = {}
        for name in dict.fromkeys(name for part in parts for name in re.findall(rf"(?<![\w.]){_NAME}\b", part)):
            found = self._assigned(name, line)
            if found and found != line and not self.lines[found - 1].startswith(("constexpr", "inline constexpr")):
                is_reference = re.search(rf"&\s*{name}\s*=", self.lines[found - 1])
                if "threadIdx" in self.lines[found - 1] and "for" not in self.lines[found - 1] and not is_reference:
                    return self._of_thread(name, found, line)
                other = self._assigned_before(name, found, line)
                test = 0 if other else self.test_around(found)
                is_inside = test and line <= self._line_at(self._end_of_else(self._ends_of(test)))
                also = f", or from {self.quoted(other)}" if other else ""
                also = f", under {self.quoted(test)}" if test and not is_inside else also
                comes.setdefault(found, f"{name} comes from {self.quoted(found)}{also}")
        for found, name in self.pointers_in(line).items():
            comes.setdefault(found, f"{name} comes from {self.quoted(found)}")
        for made in [returned for found in comes for returned in self.returned_to(found)]:
            comes.setdefault(made, self.quoted(made))
        farther = sorted({one for found in comes for one in self._chain(found)} - set(comes), reverse=True)
        # Of the lines farther up, the one that numbers the threads of all blocks is most often wrong.
        farther = [one for one in farther if not self.is_of_tiles(one)]
        of_grid = [one for one in farther if _NUMBERED.search(self.lines[one - 1])][:1]
        others = [one for one in farther if "threadIdx" not in self.lines[one - 1] and one not in of_grid]
        others.sort(key=lambda one: bool(_CONTROL.search(self.lines[one - 1])))  # what a loop counts is mostly right
        is_returned = any(self.returned_to(found) for found in comes)  # by a function, which has lines of its own
        room = MOST_DEFINITIONS - len(of_grid) + 2 * is_returned
        kept = [*comes.values(), *map(self.quoted, others)][:room]
        return "; ".join([*kept, *map(self.quoted, of_grid)])

    def returned_to(self, line: int) -> list[int]:
        """The `return` lines of the function, or the lambda of the host, that a definition calls."""
        called = re.search(rf"=\s*({_NAME})\s*(?:<[^<>;]*>)?\s*\(", self.lines[line - 1])
        if not called:
            return []
        parameters = r"\s*\([^;{}]*\)[^;{}()]*\{"
        named = rf"^[^;{{}}()=\n]*[\w>&*]\s+{called[1]}|\b{called[1]}\s*=\s*\[[^\]]*\]"
        head = re.search(rf"(?:{named}){parameters}", self.text, re.MULTILINE)
        return [n for n in self._body(head.end() - 1) if "return " in self.lines[n - 1]] if head else []

    def _body(self, brace: int) -> range:
        """The lines from an opening brace to the one that closes it."""
        return range(self._line_at(brace), self._line_at(_closing(self.text, brace)) + 1)

    def _of_thread(self, name: str, defined: int, line: int) -> str:
        """An index that is the number of a thread, and the variable that another line computes from it."""
        for number in range(defined + 1, line):
            made = re.search(rf"\b({_NAME})\s*=\s*[^;=\[]*\b{re.escape(name)}\b", self.lines[number - 1])
            own, other = (
                {at for at, part in enumerate(_INDEX.findall(self.lines[line - 1])) if re.search(rf"\b{one}\b", part)}
                for one in (name, made[1] if made else name)
            )
            times = rf"=\s*(?:\d+\s*\*\s*{name}|{name}\s*\*\s*\d+)\s*;"
            if made and own and other and not own & other and re.search(times, self.lines[number - 1]):
                return (
                    f"one index uses {name}, the number of the thread (line {defined}), and the other one {made[1]} "
                    f"({self.quoted(number)}): should both use {made[1]}?"
                )
            if made and not re.search(rf"\b{made[1]}\b", self.lines[line - 1]):
                return (
                    f"its index uses {name}, the number of the thread (line {defined}): should it use {made[1]} "
                    f"({self.quoted(number)})?"
                )
        return f"its index uses {name}, the number of the thread ({self.quoted(defined)})"

    def _chain(self, line: int, seen: set[int] | None = None) -> Iterator[int]:
        """The lines from which the variables of a definition come; of a loop's, those that it begins with."""
        seen = set() if seen is None else seen
        text = self.lines[line - 1]
        text = text.partition("return")[2] if re.match(r"\s*return\b", text) else text.partition("=")[2]
        text = text.partition(";")[0] if _CONTROL.search(self.lines[line - 1]) else text
        for name in dict.fromkeys(re.findall(rf"(?<![\w.]){_NAME}\b", text)):
            found = self._assigned(name, line - 1)
            if found and found not in seen:
                seen.add(found)
                yield found
                yield from self._chain(found, seen)

    def bound_of(self, line: int) -> str:
        """What decides how often a line is reached: the loop or test around it, or around the only call of its lambda,
        and where its limit comes from."""
        calls, around = self.lambda_calls(line), self.loops_around(line)
        if len(calls) == 1 and calls[0] != line:
            return self.bound_of(calls[0])
        for number in range(min(line, len(self.lines)), 0, -1):
            if number < line and number in self._ends:
                return ""
            if number < line and number not in around and re.search(r"\b(?:for|while)\b", self.lines[number - 1]):
                continue
            if number == line and not re.search(r"\b(?:for|if)\b", self.lines[number - 1]):
                continue
            if bound := self.limit_of(number):
                return bound
        return ""

    def limit_of(self, number: int) -> str:
        """A line with a loop or test that compares, and where its limit comes from; "" for another line."""
        match = _BOUND.search(self.lines[number - 1])
        if not match or not re.search(r"[<>]=?", match[0].replace("->", "")):
            return ""
        limit = re.search(rf"[<>]=?\s*({_NAME})\s*(?:;|\))", match[0])
        begins = match[0].partition(";")[0].partition("=")[2] if not limit and ";" in match[0] else ""
        for name in [limit[1]] if limit else re.findall(rf"(?<![\w.]){_NAME}", begins):
            if comes := self._assigned(name, number - 1):
                returned = [self.quoted(at) for at in self.returned_to(comes)]
                made = [f"{name} comes from {self.quoted(comes)}", *(returned if len(returned) == 1 else [])]
                return "; ".join([self.quoted(number), *made])
        caller = self.caller(number) if limit and limit[1] in self._parameters(number) else 0
        if caller and limit:
            return f"{self.quoted(number)}; {limit[1]} is passed in {self.quoted(caller)}"
        return self.quoted(number)

    def lambda_around(self, line: int) -> Lambda | None:
        """The lambda around a line that a variable holds; None: there is none."""
        for head in re.finditer(r"\b(\w+)\s*=\s*\[[^\]]*\]\s*\(([^()]*)\)[^;{}()]*\{", self.text):
            body = self._body(head.end() - 1)
            if line in body:
                _, _, last = self.function_of(line)
                called = (self.call_in(n, n, head[1]) for n in range(body[-1] + 1, last + 1))
                return Lambda(head[1], _names_of_parameters(head[2]), [n for n in called if n])
        return None

    def lambda_calls(self, line: int, name: str = "") -> list[int]:
        """The lines that call the lambda around a line. `name`: only if the lambda has a parameter of that name."""
        own = self.lambda_around(line)
        return own.calls if own and (not name or name in own.parameters) else []

    def decision_of(self, line: int, is_ahead: bool = False) -> str:
        """The `if` that decides whether a line is reached, or whether those behind it are (`is_ahead`), and where the
        variables of its condition come from; "" if there is none."""
        _, first, last = self.function_of(line)
        loops = self.loops_around(line)
        first = max(first, loops[-1] if loops else first)
        last = min([last, *(loop.last for loop in self.loops if loop.line in loops[-1:])])
        tests = [
            (self._line_at(at), self._line_at(begins), self._line_at(self._end_of_else(ends)), condition)
            for begins, ends, at, condition in self._blocks()
            if self.text.startswith("if", at) and first <= self._line_at(at) <= last
        ]
        around = [test for test in tests if test[0] <= line <= test[2]]
        leaving = [
            test for test in tests if test[2] < line and _LEAVES.search(" ".join(self.lines[test[1] - 1 : test[2]]))
        ]
        ahead = [test for test in tests if test[0] > line]
        found = ahead[:MOST_TESTS] if is_ahead else around[-1:] or leaving[-1:]
        if not found:
            chosen = re.search(rf"=\s*!?({_NAME})\s*\?", self.lines[line - 1]) if 0 < line <= len(self.lines) else None
            made = self._assigned(chosen[1], line - 1) if chosen else 0
            return self.quoted(made) if made >= first else ""
        number, *_, condition = found[0]
        names = re.findall(rf"(?<![\w.]){_NAME}\b(?!\s*[(:<\[])", condition)
        comes = [at for name in names if (at := self._assigned(name, number - 1)) and at >= first]
        chosen_by = [test for at in comes if (test := self.test_around(at)) >= first and line > self._end_of_test(test)]
        return "; ".join(map(self.quoted, dict.fromkeys((*(test[0] for test in found), *chosen_by, *comes))))

    def test_around(self, line: int) -> int:
        """The line of the innermost `if` around a line; 0: there is none."""
        around = [
            self._line_at(at)
            for begins, ends, at, _ in self._blocks()
            if self.text.startswith("if", at)
            if self._line_at(at) < line and self._line_at(begins) <= line <= self._line_at(self._end_of_else(ends))
        ]
        return max(around, default=0)

    def _end_of_test(self, line: int) -> int:
        """The last line of the `if` in a line, with its `else`."""
        return self._line_at(self._end_of_else(self._ends_of(line)))

    def _ends_of(self, line: int) -> int:
        """Where the statement ends that the `if` in a line controls."""
        return next((ends for _, ends, at, _ in self._blocks() if self._line_at(at) == line), 0)

    def _end_of_else(self, ends: int) -> int:
        """Where the `else` ends that follows the end of an `if`; that end without one."""
        found = re.compile(r"\s*else\b\s*").match(self.text, ends + 1)
        if not found or found.end() >= len(self.text):
            return ends
        begins = found.end()
        return _closing(self.text, begins) if self.text[begins] == "{" else max(self.text.find(";", begins), ends)

    def comparing(self, line: int) -> int:
        """The first line of the function around a line, from that line on, that compares keys, or calls a function of
        the file that does; 0: there is none."""
        _, first, last = self.function_of(line)
        helpers = [
            found[1]
            for found in re.finditer(rf"__device__[^;{{}}()]*?\b({_NAME})\s*\([^;{{}}]*\{{", self.text)
            if any(_COMPARES.search(self.lines[n - 1]) for n in self._body(found.end() - 1))
        ]
        calls = re.compile("|".join((_COMPARES.pattern, *(rf"\b{name}\s*(?:<[^<>;]*>)?\s*\(" for name in helpers))))
        return next((n for n in range(max(line, first), last + 1) if calls.search(self.lines[n - 1])), 0)

    def tested_by(self, line: int) -> str:
        """Where the variables of a line, and of the test around it, come from, in its function or in the one that calls
        it."""
        if not 0 < line <= len(self.lines):
            return ""
        test, call = self.test_around(line), self.caller(line)
        names = re.findall(_NAME, f"{self.lines[line - 1]} {self.lines[test - 1] if test else ''}")
        comes = [self.assigned(name, line) or (self.assigned(name, call) if call else 0) for name in names]
        return "; ".join(
            map(self.quoted, sorted({at for at in (test, *comes) if at and "_sync" not in self.lines[at - 1]}))
        )

    def is_of_tiles(self, line: int) -> bool:
        """Whether a loop is that of a block over its tiles, which is mostly given."""
        return "blockIdx" in self.lines[line - 1] and "threadIdx" not in self.lines[line - 1]

    def guards_of(self, line: int) -> list[str]:
        """The loops and tests around a line, and those tests before it which leave its function or loop; the nearest
        ones, in the order of the file."""
        _, first, _ = self.function_of(line)
        guards = set()
        for begins, ends, at, _ in self._blocks():
            number, last = self._line_at(at), self._line_at(self._end_of_else(ends))
            leaves = _LEAVES.search(" ".join(self.lines[self._line_at(begins) - 1 : self._line_at(ends)]))
            if first <= number < line and (line <= last or leaves) and not self.is_of_tiles(number):
                guards.add(number)
        return [self.quoted(number) for number in sorted(guards)[-MOST_TESTS:]]

    def _called_body(self, line: int) -> Sequence[int]:
        """The lines of the function of the file which a line calls."""
        called = re.search(rf"\b({_NAME})\s*(?:<[^<>;]*>)?\s*\(", self.lines[line - 1])
        head = re.search(rf"__device__[^;{{}}]*\b{called[1]}\s*\([^;{{}}]*\{{", self.text) if called else None
        return self._body(head.end() - 1) if head else ()

    def guards_in_called(self, line: int) -> list[str]:
        """The tests that leave the function of the file which a line calls."""
        body = self._called_body(line)
        return self.guards_of(body[-1]) if body else []

    def loops_in_called(self, line: int) -> list[int]:
        """The lines of the loops in the function of the file which a line calls."""
        body = self._called_body(line)
        return [loop.line for loop in self.loops if loop.line in body]

    def limits_of(self, line: int) -> str:
        """The test that decides whether a line is reached, and the loop of the threads around it."""
        bound = self.bound_of(line)
        loops = [number for number in self.loops_around(line) if "threadIdx" in self.lines[number - 1]]
        if not bound or not loops or f"line {loops[-1]}:" in bound or "for (" in bound:
            return bound
        return f"one of these limits may be wrong: {self.quoted(loops[-1])}; {bound}"

    @cached_property
    def held(self) -> list[Held]:
        """Variables of a fixed type that are given an element of an array of keys."""
        found = []
        for number, line in enumerate(self.lines, 1):
            match = _HELD.search(line)
            if match and not any(own in match["names"] for own in _OWN_INDICES):
                found.append(Held(number, match["type"], match["names"].partition("=")[0].strip()))
        return found

    def declared(self, array: str, near: int = 0) -> int:
        """The line that declares a __shared__ array, in the function around a line, or that calls its function, if
        there is one; 0: none."""
        pattern = re.compile(rf"__shared__[^;]*\b{re.escape(array)}\s*\[")
        found = [n for n, line in enumerate(self.lines, 1) if pattern.search(line)]
        own = {self.function_of(at)[1] for at in (near, *self.calls(near))} if near else set()
        return next((n for n in found if self.function_of(n)[1] in own), found[0] if found else 0)

    @cached_property
    def barriers(self) -> list[int]:
        """The lines of barriers."""
        return [number for number, line in enumerate(self.lines, 1) if _BARRIER.search(line)]

    # --- the order of lines ---

    def loops_around(self, line: int) -> list[int]:
        """The lines of the loops around a line, the outermost first."""
        around = [
            (self._line_at(at), self._line_at(ends))
            for begins, ends, at, _ in self._blocks()
            if self.text.startswith(("for", "while"), at) and self._line_at(begins) <= line <= self._line_at(ends)
        ]
        return sorted(number for number, last in around if number != line or last == line or len(around) == 1)

    @cached_property
    def loops(self) -> list[Loop]:
        """All loops, in the order of the file."""
        found = []
        for begins, ends, at, head in self._blocks():
            parts = [" ".join(part.split()) for part in head.split(";")]
            if self.text.startswith("while", at):
                parts = ["", *parts, ""]
            is_of_do = self.text[begins] == ";" and self.text[:at].rstrip().endswith("}")
            if not self.text.startswith("if", at) and len(parts) == 3 and not is_of_do:
                start, condition, step = parts
                body = self.text[begins : ends + 1]
                found.append(Loop(self._line_at(at), self._line_at(ends), start, condition, step, body))
        return found

    def _changes(self, text: str, before: int) -> list[int]:
        """The last lines above one that change the variables of a text."""
        names = dict.fromkeys(re.findall(rf"(?<![\w.]){_NAME}", text))
        return [at for name in names if (at := self.changed(name, before))]

    def counted_by(self, line: int) -> list[int]:
        """The lines from which the limits of a loop come, one step further back, and what is around these."""
        limits = self._changes(self.quoted(line).partition("(")[2], line)
        comes = limits + self._changes(" ".join(self.lines[at - 1] for at in limits), line)
        around = [one for at in comes for one in (*self.loops_around(at)[-1:], self.test_around(at)) if one]
        return sorted({*comes, *around} - {line, *self.loops_around(line)})[-MOST_DEFINITIONS:]

    def repeated_by(self, line: int) -> str:
        """The loop around a line, or around the line that calls its function, whose rounds the threads do not share,
        and where its limits come from; without one, the test around it."""
        calls = [*filter(None, [self.caller(line)]), *self.lambda_calls(line)]
        for at in (line, *calls):
            shared = [loop.line for loop in self.loops if self.counts_threads(loop)]
            if loops := [n for n in self.loops_around(at) if n not in shared and not self.is_of_tiles(n)]:
                return "; ".join(map(self.quoted, (loops[-1], *self.counted_by(loops[-1]))))
        test = self.test_around((calls or [line])[0])
        return self.quoted(test) if test else ""

    def step_of(self, line: int) -> int:
        """The line in which a loop advances: its head, or for a `while` the last line of its body that changes a
        variable of its condition."""
        loop = next((one for one in self.loops if one.line == line), None)
        names = "|".join(re.findall(_NAME, loop.condition)) if loop and not loop.step else ""
        if loop is None or not names:
            return line
        operator = r"(?:[-+*/%&|^]|<<|>>)?=(?!=)"
        changed = re.compile(rf"\b(?:{names})\s*(?:{operator}|\+\+|--)|(?:\+\+|--)\s*(?:{names})\b")
        return next((n for n in range(loop.last, line, -1) if changed.search(self.lines[n - 1])), line)

    def counts_threads(self, loop: Loop) -> bool:
        """Whether a loop begins with the number of a thread."""
        names = re.findall(_NAME, f"{loop.start} {loop.condition}")
        return "threadIdx" in names or any("threadIdx" in self.definition(name, loop.line - 1) for name in names)

    def function_of(self, line: int) -> tuple[str, int, int]:
        """The name of the function around a line, and its first and last line."""
        line = min(line, len(self.lines))
        first = next((n for n in range(line, 1, -1) if n - 1 in self._ends), 1)
        last = next((n for n in range(line, len(self.lines)) if n in self._ends), len(self.lines))
        head = re.search(rf"\b({_NAME})\s*\([^;]*?\)\s*\{{", "\n".join(self.lines[first - 1 : last]))
        return (head[1] if head else ""), first, last

    def around(self, place: str) -> str:
        """The text of the function around a place."""
        _, first, last = self.function_of(line_of(place)[1])
        return "\n".join(self.lines[first - 1 : last])

    def call_in(self, first: int, last: int, name: str) -> int:
        """The first line from the first to the last that calls a function; 0: none does."""
        pattern = re.compile(rf"\b{re.escape(name)}\s*(?:<[^<>;]*>)?\s*\(")
        return next((n for n in range(first, last + 1) if name and pattern.search(self.lines[n - 1])), 0)

    def end_of_pairs(self, line: int) -> int:
        """The last line of the loop in which the threads of a block share the work of a line; that line without one."""
        ends = [line]
        for begins, end, at, condition in self._blocks():
            first, last = self._line_at(at), self._line_at(end)
            if first <= line <= last and self._depends(condition, self._of_threads(begins)):
                ends.append(last)
        return max(ends)

    # --- barriers that only some threads reach ---

    def _blocks(self) -> Iterator[tuple[int, int, int, str]]:
        """Statements that a loop or an if controls: where they begin and end, where the control is, its brackets."""
        for match in _CONTROL.finditer(self.text):
            opens = match.end() - 1
            closes = _closing(self.text, opens)
            rest = self.text[closes + 1 :]
            begins = closes + 1 + len(rest) - len(rest.lstrip())
            if begins >= len(self.text):
                continue
            ends = _closing(self.text, begins) if self.text[begins] == "{" else self.text.find(";", begins)
            yield begins, ends, match.start(), self.text[opens + 1 : closes]

    def _of_threads(self, position: int, *others: str) -> set[str]:
        """Variables of the function around a position whose values follow from threadIdx, or from `others`."""
        names: set[str] = {"threadIdx", *others}
        begins, ends = self.text.rfind("\n}", 0, position), self.text.find("\n}", position)
        assigned = re.findall(rf"\b({_NAME})\s*=\s*([^;=][^;]*)", self.text[max(begins, 0) : ends])
        values = [(name, set(re.findall(_NAME, _in_bracket(value)))) for name, value in assigned]
        for _ in range(4):
            names |= {name for name, used in values if names & used}
        return names

    def uneven(
        self, calls: re.Pattern[str] = _BARRIER, controls: Sequence[str] = ("for", "while", "if")
    ) -> tuple[int, int] | None:
        """The first barrier in a loop or an if that depends on the thread, and the line of that; None: there is none.
        `calls`: of other functions. `controls`: the statements that count."""
        for match in calls.finditer(self.text):
            names = self._of_threads(match.start(), "lane")
            around = [
                at
                for begins, ends, at, condition in self._blocks()
                if begins <= match.start() <= ends and self._depends(condition, names)
                if self.text.startswith(tuple(controls), at)
            ]
            if around:
                return self._line_at(match.start()), self._line_at(around[0])  # the outermost
        return None

    def leaving(self) -> tuple[int, int] | None:
        """The first `return` in a loop whose function has a barrier further on, or in a loop around it, and the line of
        that barrier; None: there is none."""
        for match in re.finditer(r"\breturn\s*;", self.text):
            around = [
                (begins, ends)
                for begins, ends, at, _ in self._blocks()
                if begins <= match.start() <= ends and self.text.startswith(("for", "while"), at)
            ]
            line = self._line_at(match.start())
            _, first, last = self.function_of(line)
            later = [barrier for barrier in self.barriers if line < barrier <= last]
            again = [n for n in self.barriers if any(self._line_at(b) <= n <= self._line_at(e) for b, e in around)]
            if around and (later or again):
                return line, (later or again)[0]
        return None

    def leaving_shuffles(self) -> tuple[int, int] | None:
        """The first `return` or `continue` of a kernel under a condition that depends on the thread, and the line of
        the first shuffle; None: the file does not have both."""
        shuffle = SHUFFLE.search(self.text)
        for match in re.finditer(r"\b(?:return|continue)\s*;", self.text) if shuffle else ():
            names = self._of_threads(match.start(), "lane", "warp")
            controls = [condition for begins, ends, _, condition in self._blocks() if begins <= match.start() <= ends]
            head = "\n".join(self.lines[slice(*self.function_of(self._line_at(match.start()))[1:])])
            if any(self._depends(condition, names) for condition in controls) and "__global__" in head and shuffle:
                return self._line_at(match.start()), self._line_at(shuffle.start())
        return None

    # --- what is forgotten ---

    def kernel(self, name: str) -> int:
        """The line in which a kernel is defined, or the first that a variable is given; 0: in none."""
        given = re.search(rf"\b{re.escape(name)}\s*=(?!=)([^;]*);", self.text)
        for one in (name, *(re.findall(_NAME, given[1]) if given else ())):
            if match := re.search(rf"__global__[^;{{}}]*\b{re.escape(one)}\s*\(", self.text):
                return self._line_at(match.end())
        return 0

    def launched_at(self, line: int) -> int:
        """The line in which the kernel is defined that a line launches, by its name or as the first one that its
        function names above; 0: it is not known."""
        launch = re.search(rf"\b({_NAME})\s*(?:<[^;]*?>)?\s*<<<", self.lines[line - 1])
        if not launch:
            return 0
        _, first, _ = self.function_of(line)
        names = re.findall(_NAME, " ".join(self.lines[first - 1 : line]))
        return self.kernel(launch[1]) or next((at for name in names if (at := self.kernel(name)) and at < first), 0)

    def argument(self, line: int, position: int) -> str:
        """What the launch in a line passes to its kernel at a position, from 0; "" if that is not known."""
        statement = "\n".join(self.lines[line - 1 :]).partition(";")[0]
        opens = re.search(r">>>\s*\(", statement)
        if not opens:
            return ""
        passed = statement[opens.end() : _closing(statement, opens.end() - 1)]
        if re.search(r"<[^<>]*,[^<>]*>", passed):  # a comma that separates no arguments
            return ""
        arguments = [""]
        depth = 0
        for letter in passed:
            depth += (letter in "([{") - (letter in ")]}")
            if letter == "," and not depth:
                arguments.append("")
            else:
                arguments[-1] += letter
        return " ".join(arguments[position].split()) if position < len(arguments) else ""

    def chooses_shuffle(self, line: int) -> bool:
        """Whether a line has a shuffle in one of the last two expressions of `a ? b : c`."""
        return 0 < line <= len(self.lines) and bool(re.search(rf"\?[^;]*{SHUFFLE.pattern}", self.lines[line - 1]))

    def changed_copy(self, line: int) -> tuple[int, str, int] | None:
        """The first line of the function around a line that gives another value to a variable that holds an element of
        an array; the variable; and the line that reads the element. None: there is none."""
        _, first, last = self.function_of(line)
        copies: dict[str, int] = {}
        for number in range(first, last + 1):
            text = self.lines[number - 1]
            if made := re.search(rf"\b(?:Key|auto)\s+({_NAME})\s*=\s*{_NAME}(?:\.data)?\s*\[", text):
                copies.setdefault(made[1], number)
                continue
            for name, read in copies.items():
                if re.search(rf"(?<![\w.\]]){re.escape(name)}\s*=[^=]|\bswap\s*\([^)]*\b{re.escape(name)}\b", text):
                    return number, name, read
        return None

    def is_stored(self, name: str, line: int) -> bool:
        """Whether a later line of the function around a line stores a variable in an array or behind a pointer."""
        rest = "\n".join(self.lines[line : self.function_of(line)[2]])
        return bool(re.search(rf"(?:\]|\*\s*{_NAME})\s*=\s*{re.escape(name)}\b", rest))

    def compared_copies(self, first: int, second: int) -> tuple[int, str] | None:
        """The line of a call that is given copies of two elements of an array, of which nothing is stored back, and
        what to say about it; None: there is none."""
        copies: dict[str, tuple[int, str]] = {}  # by a variable's name: the position, and the element
        for number, text in enumerate(self.lines, 1):
            declared = re.search(r"\b(?:Key|auto)\s+(\w[^;&*]*);", text)
            for part in declared[1].split(",") if declared else ():
                if made := re.fullmatch(rf"\s*({_NAME})\s*=\s*({_NAME}\s*\[\s*(\d+)\s*\])\s*", part):
                    copies[made[1]] = int(made[3]), made[2]
            called = re.search(rf"\w(?:<[^;()]*>)?\(\s*({_NAME})\s*,\s*({_NAME})\s*\)\s*;", text)
            given = [copies[name] for name in called.groups() if name in copies] if called else []
            if not called or [position for position, _ in given] != [first, second]:
                continue
            if not any(self.is_stored(name, number) for name in called.groups()):
                names, of = " and ".join(called.groups()), " and ".join(element for _, element in given)
                return number, f"{names} are copies of {of}, which stay as they are"
        return None

    def changed_parameter(self) -> tuple[int, str, str] | None:
        """The first line of a __device__ function, or of a lambda, that gives another value to a parameter which is a
        copy of a key, or to a pointer through which nothing is stored; what to say about it, and a remedy; None: there
        is none."""
        for match in re.finditer(r"(?:__device__[^;{}]*?|=\s*\[[^\[\]]*\]\s*)\(([^(){};]*)\)\s*\{", self.text):
            begins = match.end()
            body = self.text[begins : _closing(self.text, begins - 1)]
            pointers = [made[1] for made in re.finditer(rf"(?<!const )\bKey\s*\*\s*({_NAME})\s*(?:,|$)", match[1])]
            local = [made[1] for made in re.finditer(rf"\bKey\s*\*\s*({_NAME})\s*=", body)]
            stored = r"\*\s*{0}\s*\)?\s*=[^=]|\b{0}\s*\[[^;]*\]\s*=[^=]|\b\w+\s*\([^()]*\b{0}\b"
            stores = any(re.search(stored.format(name), body) for name in pointers)
            copies = [made[1] for made in re.finditer(rf"\bKey\s+({_NAME})\s*(?:,|$)", match[1])]
            for name in copies + pointers * (not stores):
                of_pointer = rf"\s*(?:{'|'.join(pointers + local)})\s*;" if name in pointers else "[^=]"
                changed = re.search(rf"(?<![\w.\]>*]){name}\s*={of_pointer}", body)
                if not changed or re.search(rf"\breturn\b[^;]*\b{name}\b", body):
                    continue
                line = self._line_at(begins + changed.start())
                if name in pointers:
                    return (
                        line,
                        f"this line changes the pointer {name}, not the key that it points to",
                        f"write *{name}, and on the right a key, not a pointer",
                    )
                remedy = "give the function pointers or references to the keys"
                return line, f"this line changes {name}, which is only a copy of a key", remedy
        return None

    def read_too_late(self, line: int) -> tuple[int, int, str] | None:
        """A line of the function around a line that only reads an element which the line before it has overwritten: the
        two lines, and the element; None: there is none."""
        _, first, last = self.function_of(line)
        before, stored = 0, ""  # the store in the line before, and its element
        for number in range(first, last + 1):
            store = re.fullmatch(r"([^=]*\])=([^=].*);", re.sub(r"\s", "", self.lines[number - 1]))
            if store and store[2] == stored != store[1] and store[1].split("[")[0] == stored.split("[")[0]:
                return number, before, self.lines[before - 1].partition("=")[0].strip()
            before, stored = (number, store[1]) if store else (0, "")
        return None

    def read_through(self, line: int) -> tuple[int, str, str] | None:
        """The line of the function around a line that keeps a pointer or a reference to an element in place of a copy,
        if the element is read through it after another line has overwritten it; what is wrong, and what to do. None:
        there is none."""
        _, first, last = self.function_of(line)
        for number in range(first, last + 1):
            kept = re.search(
                r"\b(?:Key|auto)\s*(?:const\s*)?([*&])\s*(?:const\s+)?(\w+)\s*=\s*(&?)([^;&]+);", self.lines[number - 1]
            )
            if not kept:
                continue
            sign, name, address, what = kept.groups()
            element, read = (what if sign == "&" or address else f"*{what}"), ("" if sign == "&" else r"\*\s*") + name
            store = re.compile(rf"^\s*{re.escape(element.strip())}\s*=(?!=)")
            stored = next((n for n in range(number + 1, last + 1) if store.search(self.lines[n - 1])), last)
            reads = re.compile(rf"=\s*{read}\s*;")
            reading = next((n for n in range(stored + 1, last + 1) if reads.search(self.lines[n - 1])), 0)
            if reading:
                is_pointer = "a pointer" if sign == "*" else "a reference"
                why = (
                    f"{name} is {is_pointer} to {element}, not a copy of it: line {stored} overwrites {element} before "
                )
                return (
                    number,
                    f"{why}line {reading} reads it",
                    f"declare a variable of the type Key, with the value {element}",
                )
        return None

    def fixed_order(self, line: int) -> int:
        """The line of the function around a line that compares keys in ascending order, whatever the order of the step
        is; 0: there is none."""
        _, first, last = self.function_of(line)
        fixed = re.compile(r"\b(?:before|earlier|later|compare_exchange\w*)\b[^;]*\bOrder::ascending\b")
        lines = self.lines if 0 < line <= len(self.lines) else []
        return next((n for n in range(first, last + 1) if lines and fixed.search(lines[n - 1])), 0)

    def origins_of(self, line: int) -> list[int]:
        """The lines that give their values to the variables from which a line computes one."""
        value = self.lines[line - 1].partition("=")[2]
        names = dict.fromkeys(re.findall(rf"(?<![\w.]){_NAME}\b", value))
        return [at for name in names if (at := self._assigned(name, line)) and at != line and not self._is_head(at)]

    def _is_head(self, line: int) -> bool:
        """Whether a line begins a loop or an `if`, or declares the parameters of a function."""
        return bool(re.match(r"\s*(?:for|while|if)\b|.*\)\s*\{\s*$", self.lines[line - 1]))

    def filled_beside(self, line: int) -> int:
        """The line near one that loads a key into an array, which stores something else there; 0: there is none."""
        if not 0 < line <= len(self.lines):
            return 0
        array = re.search(r"(\w+)\s*\[[^\[\]]*\]\s*=[^=]", self.lines[line - 1])
        _, first, last = self.function_of(line)
        store = rf"\b{array[1]}\s*\[[^\[\]]*\]\s*=[^=]" if array else "(?!)"
        near = range(max(first, line - 3), min(last, line + 4) + 1)
        return next((n for n in near if n != line and re.search(store, self.lines[n - 1])), 0)

    def stored_twice(self) -> tuple[int, int, str] | None:
        """The first two statements in a row that store in the same element, their lines, and the element."""
        element = r"(?:\w[\w.]*\s*\[(?:[^\[\]]|\[[^\[\]]*\])*\]|\*\s*\w+)"
        for found in re.finditer(
            rf"(?<=[\s;{{}})])({element})\s*=(?!=)[^;{{}}]*;\s*\1\s*=(?!=)([^;{{}}]*);", self.text
        ):
            if found[1] not in found[2]:
                lines = (self._line_at(found.start()), self._line_at(found.start(2)))
                return (*lines, found[1])
        return None

    def returns_between(self, line: int, name: str) -> tuple[int, int]:
        """The first `return` after a line, and the line behind it that calls `name`, in one function; (0, 0): there
        are no such lines."""
        _, _, last = self.function_of(line)
        left = next((n for n in range(line + 1, last) if re.search(r"\breturn\s*;", self.lines[n - 1])), 0)
        call = self.call_in(left, last, name) if left else 0
        return (left, call) if call and not self.call_in(line, left, name) else (0, 0)

    def swapped_before(self, launch: int, first: int) -> int:
        """The line from the first up to that of a launch that always exchanges two of its arguments; 0: none does."""
        for number in range(first, launch):
            swap = re.search(r"\bswap\s*\(\s*(\w+)\s*,\s*(\w+)\s*\)", self.lines[number - 1])
            is_tested = re.match(r"\s*if\b", self.lines[number - 1]) or self.test_around(number) >= first
            if (
                swap
                and not is_tested
                and all(re.search(rf"\b{name}\b", self.statement(launch)) for name in swap.groups())
            ):
                return number
        return 0

    def branch_of(self, line: int) -> tuple[str, bool] | None:
        """The template argument of the `if` around a line, and whether the line is reached if it is true."""
        _, first, _ = self.function_of(line)
        depth, is_then = self._indent(line) + 1, True
        for number in range(line, first - 1, -1):
            text = self.lines[number - 1]
            if not text.strip() or self._indent(number) >= depth:
                continue
            depth = self._indent(number)
            found = re.search(r"\bif\s*(?:constexpr\s*)?\(\s*(!?)\s*(\w+)\s*\)", text)
            if re.match(r"\s*\}?\s*else\b", text):
                is_then, depth = False, depth + 1  # its `if` is as far to the left
            elif found:
                is_argument = re.search(rf"\bbool\s+{found[2]}\s*[,>]", self.around(f"{self.file}:{line}"))
                return (found[2], is_then != bool(found[1])) if is_argument else None
        return None

    def lost_exchange(self) -> tuple[int, str, str, str] | None:
        """The first line of `a = b; b = a;`, what to say about it, and the two; None: there is none."""
        item = r"\*?\w[\w.]*(?:\[(?:[^\[\]]|\[[^\[\]]*\])*\])*"
        plain = re.sub(r"(?<=[\s=;{}])\*(\w+)(?=\s*[=;])", r"\1[0]", self.text)  # *p is p[0]
        found = re.search(rf"(?<![\w.*])({item})\s*=\s*({item})\s*;\s*\2\s*=\s*\1\s*;", plain)
        if found is None:
            return None
        a, b = found.groups()
        text = f"after this line, {a} and {b} are the same: keep the old {a} in a third variable, and give that to {b}"
        return plain.count("\n", 0, found.start()) + 1, text, a, b

    def without_values(self) -> tuple[int, str] | None:
        """The first line that stores an element of an array of keys, and near which no value is stored, or that passes
        other values than those of its keys; and which of the two it does. None: there is no such line."""
        if half := self._half_of_values():
            return half
        declared = re.search(r"__shared__\s+Value\s+(\w+)\s*\[", self.text)
        for number, line in enumerate(self.lines, 1):
            passed = re.search(r"\(\s*tile\s*,\s*(values\b|[^,;]*?(?:\(\s*nullptr\s*\)|\bnullptr\b))", line)
            if declared and passed:
                return (
                    number,
                    f"this line passes {passed[1]} with tile, but the values of these keys are in {declared[1]}",
                )
            if _WITHOUT_VALUES.search(line):
                return number, "this call passes no values, so that the keys move without them"
            if not re.search(r"\b(?:keys|tile|own)(?:\.data)?\s*\[[^\]]*\]\s*=[^=]", line):
                continue
            near = "\n".join(self.lines[max(0, number - 5) : number + 7])
            if not re.search(r"values\w*(?:\.data)?\s*\[[^\]]*\]\s*=[^=]", near):
                return number, "this line moves keys, but not their values"
        return None

    def _half_of_values(self) -> tuple[int, str] | None:
        """The line that stores a value in a function that stores two keys, but not the other value."""
        for head in re.finditer(r"__(?:device|global)__[^;{}]*\{", self.text):
            stored: dict[bool, dict[str, int]] = {True: {}, False: {}}  # by whether it is a value, the index and line
            name = ""
            for number in self._body(head.end() - 1):
                for one in _STORED.finditer(self.lines[number - 1]):
                    is_value = "values" in one[1]
                    stored[is_value].setdefault(one[2].strip(), number)
                    name = one[1] if is_value else name
            missing = stored[False].keys() - stored[True].keys()
            if len(stored[False]) == 2 and len(stored[True]) == 1 and len(missing) == 1:
                ((own, line),), (other,) = stored[True].items(), missing
                text = (
                    f"this line stores {name}[{own}], but no line stores {name}[{other}], whose key is stored in line "
                )
                return line, f"{text}{stored[False][other]}: one of the two values is lost"
        return None

    def compared_with_itself(self, line: int) -> tuple[str, list[int]]:
        """Why a line compares a key with itself, because two variables that it passes to before() have the same value,
        and the lines in which they get it; "" if that is not so."""
        call = re.search(rf"\bbefore\s*\(\s*({_NAME})\s*,\s*({_NAME})\s*[,)]", self.lines[line - 1])
        given: dict[str, tuple[str, int]] = {}
        for number in range(self.function_of(line)[1], line):
            for name, value in _FROM_ELEMENT.findall(self.lines[number - 1]):
                given[name] = "".join(value.split()), number
        if not call or call[1] == call[2] or not {call[1], call[2]} <= given.keys():
            return "", []
        (value, first), (other, second) = given[call[1]], given[call[2]]
        first, second = sorted((first, second))
        is_changed = any(self.changed(name, second) > first for name in re.findall(_NAME, value))
        if value != other or is_changed or any(self.changed(name, line) > second for name in (call[1], call[2])):
            return "", []
        text = f"{call[1]} and {call[2]} are both {value}: a key is compared with itself, so no key is stored"
        return text, [first, second]

    def ignores_order(self, line: int) -> int:
        """The line in which the function around a line, or the one that calls it, compares keys itself, without the
        order that it is given; 0: neither does."""
        if not 0 < line <= len(self.lines):
            return 0
        call = self.caller(line)
        is_given = "order" in self._parameters(call) if call else False
        return self._ignores_order(line) or (self._ignores_order(call) if is_given else 0)

    def _ignores_order(self, line: int) -> int:
        name, first, last = self.function_of(line)
        head = rf"\b{re.escape(name)}\s*\([^;]*?\)\s*\{{"
        body = re.split(head, "\n".join(self.lines[first - 1 : last]), maxsplit=1)[-1]
        declared = ",".join(re.findall(r"\bKey\b\s*(?:const\b\s*)?&?\s*(\w[^;{}]*)", body))
        declared = re.sub(r"\([^()]*\)|\[[^\[\]]*\]", "", declared)
        keys = "|".join(re.findall(r"(?:^|,)\s*(\w+)\s*(?=[=,{]|$)", declared)) or "(?!)"
        of_pointers = r"\*\s*\w+\s*[<>]=?\s*\*\s*\w+"
        compares = re.search(rf"\]\s*[<>]=?\s*\w[\w.]*\s*\[|\b(?:{keys})\s*[<>]=?\s*(?:{keys})\b|{of_pointers}", body)
        if not compares or re.search(r"\border\b(?!\s*;)", body.replace("(void)order", "")):
            return 0
        return last - body[compares.start() :].count("\n")

    @staticmethod
    def _depends(condition: str, names: set[str]) -> bool:
        """Whether the condition differs between threads. A loop whose counter starts at a thread's own number does."""
        parts = condition.split(";")
        tested = " ".join(parts[:2]) if len(parts) == 3 else condition
        return bool(names & set(re.findall(_NAME, tested)))

    # --- host code ---

    def host_calls(self, functions: Sequence[str]) -> tuple[int, str] | None:
        """The first call of a device function by host code, and its name."""
        for number, line in enumerate(self.lines, 1):
            name = next((one for one in functions if re.search(rf"\b{one}\s*(?:<[^<>;]*>)?\s*\(", line)), "")
            if not name:
                continue
            function, first, last = self.function_of(number)
            text = "\n".join(self.lines[first - 1 : last])
            head = text[: text.index(function + "(")] if function + "(" in text else "__device__"
            if number > first and not re.search("__global__|__device__", head):
                return number, name
        return None


def device_functions(lab: str) -> list[str]:
    """The device functions that a lab's headers give to the steps."""
    found: list[str] = []
    for path in sorted((ROOT / "labs" / lab).glob("*.cuh")):
        text = _without_comments(path.read_text(encoding="utf-8", errors="replace"))
        found += [name for name in _DEVICE_FUNCTION.findall(text.replace("__host__ __device__", "")) if name[0] != "_"]
    return found


def line_of(place: str) -> tuple[str, int]:
    """The file and line of "FILE:LINE"; line 0: it has none."""
    file, _, line = place.rpartition(":")
    return (file, int(line)) if line.isdigit() else (place, 0)

"""What a compiler says about beginners' mistakes, in words: what is wrong, and what to do."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from . import files

_Q = r"['‘]([^'’]*)['’]"
_NOTES = 12  # lines after an error that may belong to it

# Errors whose own words are right, and what to do about them.
_REMEDIES = (
    (
        re.compile(r"no match for .operator.+operand types are .*['‘](?:const )?(?:dim3|uint3)['’]"),
        "write .x after the name of the dimensions, as in blockDim.x",
    ),
    (
        re.compile(r"no match for .operator!.*lab::Order"),
        "for the opposite order, exchange the two keys that are compared",
    ),
    (
        re.compile(r"storage size of .* isn.t constant"),
        "an array in a kernel needs a size that is known when the program is compiled, such as a constexpr number",
    ),
    (
        re.compile(r"array subscript is not an integer"),
        "an array index must be an integer: declare the variable in the brackets as std::int64_t",
    ),
    (
        re.compile(r"cannot bind non-const lvalue reference of type .*\*&['’] to an rvalue"),
        "the parameter is a reference to the element itself: pass it without &",
    ),
)
_WARP = re.compile(r"['‘](__(?:shfl(?:_up|_down|_xor)?|any|all|ballot))['’] was not declared")
_EMPTY = re.compile(r"suggest braces around empty body in an ['‘](\w+)['’] statement")
_PRECEDENCE = re.compile(r"suggest parentheses around (.+?) (?:in operand of|within|inside) ['‘]([^'’]*)['’]")
_VOID = re.compile(rf"variable or field {_Q} declared void")
_UNDECLARED = re.compile(rf"{_Q} was not declared")
_NO_MATCH = re.compile(r"no matching function for call to ['‘]((?:\w+::)*(\w+)(?:<[^()]*>)?\(.*\))['’]")
_AMBIGUOUS = re.compile(r"call of overloaded ['‘](\w+)(?:<[^()]*>)?\((.*)\)['’] is ambiguous")
_CANDIDATE = re.compile(
    r"note: candidate: ['‘](?:template<.*?> )?[^()]*?(?:\{anonymous\}::[^()]*?)?\b(\w+)(\(.*\))['’]"
)
_UNDEDUCED = re.compile(rf"couldn['’]t deduce template parameter {_Q}")
_AT_RUN_TIME = re.compile(rf"{_Q} is not a constant expression")
_INSTANCE = re.compile(r"In instantiation of ['‘].*?\b(\w+)\((.*?)\) \[with (.*)\]['’]:?")
_POINTER = re.compile(r"(?:^|; )(\w+) = ([^;]*\*)")
_TO_POINTER = re.compile(r"(?:invalid conversion from|cannot convert) .*\*['’]")


def _without_template(first: str, rest: Sequence[str]) -> str:
    """A kernel whose first lines lack `template <class Key>`."""
    if not _VOID.search(first):
        return ""
    name = next((match[1] for line in rest if (match := _UNDECLARED.search(line))), "")
    return f"{name} was not declared: write template <class {name}> in the line above" if name[:1].isupper() else ""


def _without_mask(first: str, _: Sequence[str]) -> str:
    """A function of the warp that had no mask, which CUDA no longer has."""
    name = _WARP.search(first)
    return f"{name[1]} is no longer part of CUDA: use {name[1]}_sync, with the mask of the lanes first" if name else ""


def _not_called(first: str, rest: Sequence[str]) -> str:
    """A template that cannot be called with these arguments."""
    call = _NO_MATCH.search(first)
    if not call:
        return ""
    name = call[2]
    for line in rest:
        if value := _AT_RUN_TIME.search(line):
            return (
                f"{value[1]} is known only when the program runs, but a template argument must be known when it is "
                f"compiled: call {name} once for each value, each time in an if"
            )
        if parameter := _UNDEDUCED.search(line):
            return f"the template argument {parameter[1]} of {name} is missing: write {name}<{parameter[1]}>"
    found = [match for match in map(_CANDIDATE.search, rest) if match and match[1] == name]
    if not found:
        return ""
    return _of_same_type(name, found[0][2], call[1]) or (
        f"{name}{found[0][2]} cannot take the arguments of this call: {call[1]}"
    )


def _types(arguments: str) -> list[str]:
    """The types in brackets, without const and &."""
    listed = arguments.rpartition("(")[2].rstrip(")").split(",")
    return [re.sub(r"\bconst\b|&", "", type_).strip() for type_ in listed]


def _of_same_type(name: str, takes: str, call: str) -> str:
    """Two arguments for which a template has one type, and that have different ones; "" if that is not the error."""
    wanted, given = _types(takes), _types(call)
    for i, type_ in enumerate(wanted if len(wanted) == len(given) else []):
        j = next((j for j in range(i + 1, len(wanted)) if wanted[j] == type_ and given[j] != given[i]), 0)
        if j and type_.isidentifier() and "*" not in given[i] + given[j]:
            return (
                f"arguments {i + 1} and {j + 1} of {name} must have the same type, but have the types {given[i]} and "
                f"{given[j]}: give both arguments the same type"
            )
    return ""


def _ambiguous(first: str, _: Sequence[str]) -> str:
    """A call whose arguments have different types, of a function that takes two of the same."""
    call = _AMBIGUOUS.search(first)
    types = _types(call[2]) if call else []
    if not call or len(set(types)) < 2 or any("*" in type_ for type_ in types):
        return ""
    return (
        f"the call of {call[1]} is ambiguous, because its arguments have the types {' and '.join(types)}: "
        "give them the same type"
    )


def _with_pointer(before: Sequence[str], first: str) -> str:
    """A parameter `Key keys` that should be `Key* keys`: the template argument is then a pointer."""
    instance = next((match for match in map(_INSTANCE.search, reversed(before)) if match), None)
    pointer = _POINTER.search(instance[3]) if instance else None
    if not instance or not pointer or not _TO_POINTER.search(first):
        return ""
    name, type_ = pointer[1], pointer[2]
    # The same list has other names of types, such as cudaStream_t, which the error is not about.
    if type_ not in first or name not in (parameter.strip() for parameter in instance[2].split(",")):
        return ""
    return (
        f"{name} is {type_} here, because {instance[1]} has a parameter of the type {name} for which a pointer is "
        f"passed: write {name}* there"
    )


def _launch_as_value(first: str, rest: Sequence[str]) -> str:
    """A launch as the argument of CUDA_CHECK()."""
    if "invalid use of void expression" not in first or not any("<<<" in line for line in rest[:2]):
        return ""
    return (
        "a launch has no value, so it cannot be an argument of CUDA_CHECK(): write the launch as a statement, and "
        "CUDA_CHECK(cudaGetLastError()); after it"
    )


_EXPLANATIONS: Sequence[Callable[[str, Sequence[str]], str]] = (
    _without_template,
    _without_mask,
    _not_called,
    _ambiguous,
    _launch_as_value,
)


def warning(line: str) -> str:
    """A compiler's warning, in words where its own do not say what is wrong."""
    line = _PRECEDENCE.sub(_precedence, line)
    return _EMPTY.sub(r"the ; directly after this \1 ends it, so nothing depends on it: delete the ;", line)


def _precedence(suggested: re.Match[str]) -> str:
    """Two operators without brackets, of which a beginner expects the second to be done first."""
    first = re.sub(rf"^{_Q}$", r"`\1`", suggested[1])
    first = first if first.startswith("`") else f"the {first}"
    return f"{first} is done before `{suggested[2]}` here: put brackets around what must be done first"


def explanation(error: str, before: Sequence[str], after: Sequence[str]) -> str:
    """The text of an error in other words; "" if its own are the best there are. `before`, `after`: the lines of the
    output around it."""
    if remedy := next((remedy for pattern, remedy in _REMEDIES if pattern.search(error)), ""):
        return f"{error}: {remedy}"
    words = next(filter(None, (explain(error, after[:_NOTES]) for explain in _EXPLANATIONS)), "")
    return words or _with_pointer(before, error)


def unclosed(text: str) -> int:
    """The line with the first brace that is not closed, as the indentation has it; 0 if there is none."""
    open_: list[tuple[int, int]] = []  # lines, and how far they are indented
    for number, line in enumerate(text.splitlines(), 1):
        code = re.sub(r"\"(?:\\.|[^\"\\])*\"|'.'", "", line.partition("//")[0])
        indent = len(code) - len(code.lstrip())
        for at, letter in enumerate(code):
            if letter == "{":
                open_.append((number, indent))
            elif letter == "}" and open_:
                begun, begun_indent = open_.pop()
                if at == indent and begun_indent > indent:
                    return begun
    return open_[-1][0] if open_ else 0


def brace(error: re.Match[str], root: Path) -> str:
    """The same for the message about the end of a file (diagnostics._ERROR); "" if it is about something else."""
    if "expected" not in error[5] or not error[5].endswith("at end of input") or "}" not in error[5]:
        return ""
    line = unclosed(files.text_of(root / error[1]))
    return f"{error[1]}:{line}: error: no }} closes the {{ in this line" if line else ""

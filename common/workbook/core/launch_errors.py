"""What a compiler says about a kernel's arguments, in words: which one, its type, and the type that is expected."""

import re
from collections.abc import Sequence

_Q = "['‘]([^'’]*)['’](?: [{(]aka ['‘][^'’]*['’][)}])?"
_CALL = re.compile(r"no matching function for call to ['‘][^()]*?(\w+)(?:<[^()]*>)?\((.*)\)['’]")
_KERNEL = re.compile(r"[^()]*?(\w+)\((.*?)\)(?: \[with .*\])?$")
_CANDIDATE = re.compile(r"note: candidate: ['‘](.*)['’]$")
_CONVERT = re.compile(rf"cannot convert ['‘]simt_args#(\d+)['’] \(type {_Q}\) to type {_Q}")
_MISMATCH = re.compile(rf"mismatched types {_Q} and {_Q}")
_COUNT = re.compile(r"candidate expects (\d+) arguments?, (\d+) provided")
_CONVERSION = re.compile(rf"(?:cannot convert|invalid conversion from) {_Q} to {_Q}")
_COPY = re.compile(rf"could not convert ['‘]simt_args#(\d+)['’] from {_Q} to {_Q}")
_VIEW = re.compile(r"(?:lab::)?Span<const (.*)>$")
_ARGUMENT = re.compile(r"initializing argument (\d+) of ['‘](.*)['’]$")
_NOTES = 8  # lines after an error that may belong to it
_CONFIGURATION = (
    "the grid, in blocks",
    "the number of threads per block",
    "the bytes of dynamic shared memory",
    "the stream",
)


def _parts(types: str) -> list[str]:
    """A list of types, without references: the rewriter's."""
    parts, depth = [""], 0
    for letter in types:
        depth += (letter in "<({[") - (letter in ">)}]")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip().removesuffix("&").strip() for part in parts]


def _wrong_type(name: str, number: int, given: str, wanted: str, takes: str) -> str:
    of = f"argument {number} of kernel {name}" if name else f"argument {number}"
    return f"{of} has the type {given}, but the kernel takes {wanted}" + (f": {name}({takes})" if takes else "")


def _no_copy(number: int, given: str, wanted: str) -> str:
    """The same for an object that would have to be made from another one, in front of which g++ names no kernel."""
    words = _wrong_type("", number, given, wanted, "")
    view = _VIEW.match(wanted)
    is_view = view and given.removeprefix("lab::") == f"Span<{view[1]}>"
    return f"{words}. For a Span s, write lab::Span<const {view[1]}>{{s.data, s.n}}" if view and is_view else words


def _is_in_launch(before: Sequence[str]) -> bool:
    """Whether an error is in the rewriter's lambda, which calls the kernel, and not in the kernel itself."""
    instances = [line for line in before if "In instantiation of" in line or "In lambda function" in line]
    return not instances or "lambda" in instances[-1]


def _no_match(name: str, given: list[str], notes: Sequence[str], is_launch: bool) -> str:
    """Why a kernel, or a function that it calls, cannot be called with these types."""
    takes = ""
    for line in notes:
        if candidate := _CANDIDATE.search(line):
            kernel = _KERNEL.match(candidate[1])
            takes = kernel[2] if kernel else ""
        if count := _COUNT.search(line):
            what, where = (f"kernel {name}", "the launch") if is_launch else (name, "this call")
            return f"{what} takes {count[1]} arguments, and {where} has {count[2]}: {name}({takes})"
        if not is_launch:
            continue
        if convert := _CONVERT.search(line):
            return _wrong_type(name, int(convert[1]) + 1, convert[2], convert[3], takes)
        if mismatch := _MISMATCH.search(line):
            parameters = _parts(takes)
            for number, (wanted, type_) in enumerate(zip(parameters, given), 1):
                if wanted == mismatch[1] and type_ == mismatch[2]:
                    return _wrong_type(name, number, type_, wanted, takes)
    return ""


def _no_conversion(given: str, wanted: str, notes: Sequence[str]) -> str:
    """The same where the kernel's types are known, or where a launch's shape is wrong."""
    for line in notes:
        argument = _ARGUMENT.search(line)
        kernel = _KERNEL.match(argument[2]) if argument else None
        if not argument or not kernel:
            continue
        number = int(argument[1])
        if kernel[1] == "LaunchConfig":
            return (
                f"between <<< and >>>, number {number} is {_CONFIGURATION[number - 1]}, but this one has the type "
                f"{given}: <<<grid, block, shared bytes, stream>>>"
            )
        return _wrong_type(kernel[1], number, given, wanted, kernel[2])
    return ""


def explanation(error: str, before: Sequence[str], after: Sequence[str]) -> str:
    """The text of an error in other words, if it is about a launch; "" if it is not. `before`, `after`: the lines of
    the output around it."""
    notes = after[:_NOTES]
    if "call to" in error and "LaunchConfig(" in error:
        return "between <<< and >>>, a launch has two to four arguments: <<<grid, block, shared bytes, stream>>>"
    if (call := _CALL.search(error)) and any("simt::launch" in line for line in before):
        return _no_match(call[1], _parts(call[2]), notes, _is_in_launch(before))
    if copy := _COPY.search(error):
        return _no_copy(int(copy[1]) + 1, copy[2], copy[3])
    if (conversion := _CONVERSION.search(error)) and any("simt::" in line for line in (*before, *notes)):
        return _no_conversion(conversion[1], conversion[2], notes)
    return ""

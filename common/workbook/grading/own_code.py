"""Finds code in a step's file that only a CPU can run, or that hides from the check build. Runs in the sandbox, without
our packages, where macros have been expanded:

    python3 own_code.py FILE SOURCE PREPROCESSED

FILE: the name to show; SOURCE: the file as it was handed in; PREPROCESSED: what the compiler makes of it. Prints a line
"refused: SENTENCE" for each kind of what it finds, and then exits with 1.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

_CPU = "which no GPU can run: remove it"
_HIDDEN = "it hides code from the check build: remove it"
# The rewriter has turned the PTX of kernels into C++.
_NAMES = {
    r"asm|__asm|__asm__": f"this is assembly code for the CPU, {_CPU}",
    r"_mm\d*_\w+|v(?:ld|st)\dq?_(?:\w+_)?[usfp]\d+|__builtin_(?:ia32|neon|aarch64)_\w+": (
        f"this is a CPU intrinsic, {_CPU}"
    ),
    r"_*(?:no_sanitize\w*|disable_sanitizer_instrumentation)_*": _HIDDEN,
}
# Of C++: what has no names in it, and a name, which is the only group.
_TOKEN = re.compile(
    r'(?s:(?:u8|[uUL])?R"([^()\\\s]{0,16})\(.*?\)\1")'  # a raw string
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'(?:\\.|[^'\\\n])+'"
    r"|(?<![\w])\.?\d(?:'?[\w.])*"
    r"|(?s:/\*.*?\*/)|//[^\n]*"
    r"|(?P<name>[A-Za-z_]\w*)|(?P<line>^[ \t]*(?:#|%:)(?:[ \t]|/\*.*?\*/)*(?:line\b|\d+[ \t]*\"))",
    re.MULTILINE,
)
_MARK = re.compile(r'# \d+ "(.*)"((?: \d)*)')


def own_lines(preprocessed: str) -> Iterator[str]:
    """The lines that come from files of steps."""
    is_own = False
    for line in preprocessed.split("\n"):
        if mark := _MARK.fullmatch(line):
            is_own = mark[1].endswith((".cu", ".cu.cpp")) and "3" not in mark[2].split()
        elif is_own:
            yield line


def refusals(file: str, source: str, preprocessed: str) -> list[str]:
    """A sentence for each kind of what no step may contain."""
    found: dict[str, str] = {}
    # As "#line 1" does, it would make the file's own lines appear as another's.
    if any(token["line"] for token in _TOKEN.finditer(source.replace("\\\n", ""))):
        found["#line"] = "it changes the file's line numbers: remove it"
    for token in _TOKEN.finditer("\n".join(own_lines(preprocessed))):
        for pattern, why in _NAMES.items():
            if token["name"] and re.fullmatch(pattern, token["name"]) and why not in found.values():
                found[token["name"]] = why
    return [f"{file} uses {name}: {why}" for name, why in found.items()]


if __name__ == "__main__":
    sentences = refusals(sys.argv[1], *(Path(path).read_text("utf-8", "replace") for path in sys.argv[2:]))
    for sentence in sentences:
        print(f"refused: {sentence}")
    sys.exit(1 if sentences else 0)

"""Implicit conversions of floating-point numbers to integers in device code, which saturate on a GPU.

No option of g++ makes them do so. The sanitizer's data name the line of each conversion that it watches. If some are in
device code, g++ is asked which expressions these are, the expressions are enclosed in simt::saturating(), and the file
is compiled again. If that fails, the program stays as it is, and the sanitizer's notes say what differs.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence

from .call_graph import Function

_SITE = re.compile(r"^\.Lubsan_data\d+:\n\s*\.quad\s+(\.LC\d+)\n\s*\.long\s+(\d+)$", re.MULTILINE)
_STRING = re.compile(r'^(\.LC\d+):\n\s*\.string\s+"([^"]*)"$', re.MULTILINE)
_LINE = re.compile(r'#line (\d+) "((?:[^"\\]|\\.)*)"')
_ASSIGNMENT = re.compile(r"[-+*/%]=")
OPTION = "-Wfloat-conversion"
_NOT_READ = (
    "warning: this g++ does not write its diagnostics as JSON. Implicit conversions from floating point to integer in "
    "device code do not saturate here, although they do on a GPU. Use GCC 10 to 15, or write the casts."
)

Lines = set[tuple[str, int]]
Range = tuple[int, int, int]  # line, and the first and last column, from 1


def saturate(command: list[str], functions: Iterable[Function]) -> None:
    """Compiles again with `command`, which has just been run, if that makes a difference."""
    path = next((word for word in command if word.endswith(".cpp") and os.path.isabs(word)), None)
    output = command[command.index("-o") + 1] if "-o" in command else os.devnull
    if path is None or not os.path.isfile(output):
        return
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
        text = file.read()
    with open(output, encoding="utf-8", errors="surrogateescape") as file:
        assembly = file.read()
    lines = _of_device(functions) & _watched(assembly)
    if not lines or not text.startswith("#line 1 "):  # only what the rewriter wrote can be changed
        return
    changed = _enclosed(text, _conversions(command), lines)
    if changed == text:
        return
    other = f"{path}.saturating.cpp"
    try:
        with open(other, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.write(changed)
        again = [other if word == path else word for word in command]
        if subprocess.run(again, stderr=subprocess.DEVNULL, check=False).returncode:
            with open(output, "w", encoding="utf-8", errors="surrogateescape") as file:
                file.write(assembly)
    finally:
        os.remove(other)


def _of_device(functions: Iterable[Function]) -> Lines:
    return {(place.file, place.line) for f in functions if f.is_for_device for place in f.places}


def _watched(assembly: str) -> Lines:
    """The lines of conversions that the sanitizer watches."""
    names = dict(_STRING.findall(assembly))
    return {(names.get(label, ""), int(line)) for label, line in _SITE.findall(assembly)}


def _conversions(command: Sequence[str]) -> list[tuple[str, Range]]:
    """The expressions that g++ converts implicitly, with their files."""
    options = ["-fsyntax-only", "-fdiagnostics-format=json", OPTION]
    at = command.index("-o") + 1
    silent = [*command[:at], os.devnull, *command[at + 1 :]]
    done = subprocess.run([*silent, *options], capture_output=True, text=True, errors="replace", check=False)
    try:
        # GCC 14 and later write the list over several lines. What follows it is the wrapper's.
        diagnostics, _ = json.JSONDecoder().raw_decode(done.stderr, max(done.stderr.find("["), 0))
    except ValueError:
        print(_NOT_READ, file=sys.stderr)
        return []
    found = []
    for diagnostic in diagnostics:
        if diagnostic.get("option") != OPTION or not diagnostic.get("locations"):
            continue
        location = diagnostic["locations"][0]
        caret = location["caret"]
        ends = [location.get(name, caret) for name in ("start", "finish")]
        if all(end["line"] == caret["line"] and end["file"] == caret["file"] for end in ends):
            first, last = (end["byte-column"] for end in ends)
            found.append((caret["file"], (caret["line"], first, last)))
    return found


def _enclosed(text: str, conversions: Iterable[tuple[str, Range]], lines: Lines) -> str:
    """The text with calls around the expressions that are in these lines."""
    physical = text.split("\n")
    where: dict[tuple[str, int], list[int]] = {}
    file, line = "", 0
    for number, content in enumerate(physical):
        if match := _LINE.match(content):
            file, line = match[2], int(match[1])
        else:
            where.setdefault((file, line), []).append(number)
            line += 1
    ranges = {(name, *span) for name, span in conversions if (name, span[0]) in lines}
    for name, line, first, last in sorted(ranges, key=lambda one: -one[2]):  # from right to left
        numbers = where.get((name, line), [])
        content = physical[numbers[0]] if len(numbers) == 1 else ""
        inside = content[first - 1 : last]
        if content.isascii() and inside and not _ASSIGNMENT.search(inside):
            physical[numbers[0]] = f"{content[: first - 1]}simt::saturating({inside}){content[last:]}"
    return "\n".join(physical)

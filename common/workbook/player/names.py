"""Names of arrays that the trace does not name: those that the source gives them."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..pictures.trace import Array

# cudaMalloc(&keys, ...), also with a cast; Type name = ..., Type name(...), Type name{...}; name = ...
_POINTER = re.compile(r"\bcuda(?:Malloc|HostAlloc)\w*\s*\(\s*(?:\([^()]*\)\s*|\w+<[^<>]*>\s*\(\s*)?&\s*(\w+)\s*[,)]")
_TYPE = r"(?:(?:static|const)\s+)*(?!return\b|else\b|throw\b)[\w:]+(?:<.*>)?[\s*&]+"
_VARIABLE = re.compile(rf"^\s*(?:{_TYPE}(\w+)\s*[=({{]|(\w+)\s*=(?!=))")
_DYNAMIC = re.compile(r"extern\s+__shared__\s[^;]*?(\w+)\s*\[\s*\]")


def variable_of(line: str) -> str:
    """The variable to which a line of host code assigns an allocation; "" if the line does not show it."""
    code = line.partition("//")[0]
    if pointers := _POINTER.findall(code):
        return str(pointers[0]) if len(pointers) == 1 else ""
    match = _VARIABLE.match(code)
    return match[1] or match[2] if match else ""


def dynamic_of(kernel: str, sources: Iterable[str]) -> str:
    """The name that a kernel gives its dynamic shared memory; "" if the sources do not show one."""
    begin = re.compile(rf"__global__\b[^;{{]*?\b{re.escape(kernel)}\s*\(")
    for source in sources:
        if match := begin.search(source):
            body = source[match.end() :].partition("__global__")[0]
            names = set(_DYNAMIC.findall(body))
            return names.pop() if len(names) == 1 else ""
    return ""


class Sources:
    """The files of a program, which are looked for in folders."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = folders
        self.text = functools.cache(self._text)

    def _text(self, file: str) -> str:
        path = next((path for folder in self._folders if (path := folder / file).is_file()), None)
        return path.read_text(encoding="utf-8", errors="replace") if path else ""

    def line(self, file: str, number: int) -> str:
        """A line of a file; "" if it is not there."""
        lines = self.text(file).splitlines()
        return lines[number - 1] if 0 < number <= len(lines) else ""


def _name(array: Array, shown: Mapping[str, Any], kernels: Sequence[str], files: Sequence[str], own: Sources) -> str:
    if array.name == "dynamic":
        names = {dynamic_of(kernels[launch], map(own.text, files)) for launch in shown["launches"]}
        return names.pop() if len(names) == 1 else ""
    file, _, line = array.allocated.rpartition(":")
    return variable_of(own.line(file, int(line))) if line.isdigit() else ""


def named(arrays: Sequence[Array], about: Mapping[str, Any], folders: Sequence[Path]) -> list[dict[str, Any]]:
    """What a page knows of its arrays, with the names of the source where it shows them. `arrays`: as the trace
    describes them. Several allocations of one name have their numbers behind it."""
    sources = Sources(folders)
    files = list(dict.fromkeys(place.rpartition(":")[0] for pair in about["places"] for place in pair if place))
    kernels = [launch["kernel"] for launch in about["launches"]]
    found = [_name(array, shown, kernels, files, sources) for array, shown in zip(arrays, about["arrays"])]
    names = [name or shown["name"] for name, shown in zip(found, about["arrays"])]
    counts = Counter(names)
    result = []
    for array, shown, name, own in zip(arrays, about["arrays"], names, found):
        number = f" (allocation {array.allocation})" if own and array.allocation and counts[name] > 1 else ""
        result.append({**shown, "name": name + number})
    return result

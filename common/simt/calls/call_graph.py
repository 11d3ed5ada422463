"""Which function calls which, as g++ writes it before it optimizes (-fdump-tree-lower-lineno-asmname-uid)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

_FUNCTION = re.compile(
    r"^;; Function (?P<shown>.*) \((?P<name>[^ ,()]+)(?: \(\*?[^ ,()]+\))?, funcdef_no=\d+, decl_uid=(?P<id>\d+)"
)
_PLACE = re.compile(r"\[([^\[\]\s][^\[\]]*):(\d+):(\d+)(?: discrim \d+)?\] ?")
_CALL = re.compile(r"^(?:.* = )?(\S+)D\.(\d+) \((.*)\)(?: \[[^\]]*\])*;")
# What keywords.h defines CUDA's qualifiers as. They change nothing in how a function is compiled.
_QUALIFIERS = {"no_icf": "__global__", "no_profile_instrument_function": "__device__", "noplt": "__host__"}
_STANDARD = re.compile(r"_Z(?:Z?N[KVrRO]*)?(?:St|S[absiod]|9__gnu_cxx)")
# From this call on, statements belong to the host's version of a function for both, which the device does not run.
HOST_VERSION = "_ZN4simt12host_versionEv"
# A constructor or destructor of complete objects (1) is one of base objects (2) under another name.
_STRUCTOR = re.compile(r"([CD](?:I)?)[14](?=E)")


@dataclass(frozen=True, order=True)
class Place:
    """A line of a source file."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass
class Call:
    """A call, and what it passes."""

    name: str  # as the linker knows it, where the compiler has made such a name by then
    id: str  # of what is called
    place: Place
    arguments: str


@dataclass
class Function:
    """A function that has a body, with its calls."""

    name: str  # as the linker knows it
    id: str
    shown: str
    qualifiers: frozenset[str] = frozenset()
    calls: list[Call] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)  # of its statements

    @property
    def is_for_device(self) -> bool:
        """Whether nvcc compiles it for the device."""
        return bool(self.qualifiers & {"__global__", "__device__"})

    @property
    def is_for_device_only(self) -> bool:
        """Whether nvcc compiles it for the device only."""
        return self.is_for_device and "__host__" not in self.qualifiers


def is_standard(name: str) -> bool:
    """Whether a function is one of the standard library's."""
    return bool(_STANDARD.match(name))


def key_of(name: str) -> str:
    """The same for all names of a constructor or destructor."""
    return _STRUCTOR.sub(r"\g<1>2", name)


def _qualifiers(head: str) -> frozenset[str]:
    return frozenset(word for attribute, word in _QUALIFIERS.items() if re.search(rf"\b{attribute}\b", head))


def _statement(line: str) -> tuple[Place | None, str]:
    """The first place that a statement names, and its text without places. What g++ adds itself has none."""
    first = _PLACE.search(line)
    if first is None or first[1].startswith("<"):
        return None, line.strip()
    return Place(first[1], int(first[2]), int(first[3])), _PLACE.sub("", line).strip()


def read(lines: Iterable[str]) -> Iterator[Function]:
    """The functions of a dump. Of the standard library's, which are most, only the first place is read."""
    function: Function | None = None
    is_host_version = False
    head: list[str] | None = None  # the lines between a function's name and its body
    for line in lines:
        if line.startswith(";; Function "):
            match = _FUNCTION.match(line)
            function = Function(match["name"].lstrip("*"), match["id"], match["shown"]) if match else None
            head, is_host_version = [], False
        elif function is None:
            continue
        elif head is not None:
            head.append(line)
            if line.startswith("{") or line.endswith(" {\n"):
                function.qualifiers = _qualifiers("".join(head))
                head = None
        elif line.startswith("}"):
            yield function
            function = None
        else:
            place, text = _statement(line)
            if place is None:
                continue
            function.places.append(place)
            if is_standard(function.name):
                yield function
                function = None
                continue
            call = _CALL.match(text)
            if call and call[1] == HOST_VERSION:
                is_host_version = True
            elif call and not is_host_version:
                function.calls.append(Call(call[1], call[2], place, call[3]))

"""Which function calls which, as g++ writes it before it optimizes (-fdump-tree-lower-lineno-asmname-uid)."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

_FUNCTION = re.compile(r"(?P<shown>.*) \((?P<name>[^ ,()]+)(?: \(\*?[^ ,()]+\))?, funcdef_no=\d+, decl_uid=(?P<id>\d+)")
_CALLED = re.compile(r"D\.(\d+) \(")
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


@dataclass(eq=False)
class Function:
    """A function that has a body, with its calls."""

    name: str  # as the linker knows it
    id: str
    shown: str
    qualifiers: frozenset[str] = frozenset()
    body: str = field(default="", repr=False)  # which is read when it is needed: of most functions, it never is

    @property
    def is_for_device(self) -> bool:
        """Whether nvcc compiles it for the device."""
        return bool(self.qualifiers & {"__global__", "__device__"})

    @property
    def is_for_device_only(self) -> bool:
        """Whether nvcc compiles it for the device only."""
        return self.is_for_device and "__host__" not in self.qualifiers

    @functools.cached_property
    def places(self) -> list[Place]:
        """Of its statements; of the standard library's functions, only the first."""
        places = filter(None, (_statement(line)[0] for line in self.body.splitlines()))
        return list(itertools.islice(places, 1) if is_standard(self.name) else places)

    @functools.cached_property
    def calls(self) -> list[Call]:
        """What it calls on the device; nothing if it is one of the standard library's."""
        found: list[Call] = []
        for line in () if is_standard(self.name) else self.body.splitlines():
            place, text = _statement(line) if "(" in line else (None, "")
            call = _CALL.match(text) if place else None
            if not (place and call):
                continue
            if call[1] == HOST_VERSION:
                break
            found.append(Call(call[1], call[2], place, call[3]))
        return found

    def may_call(self, ids: Collection[str]) -> bool:
        """Whether the body mentions one of these ids as calls do; quick."""
        return not is_standard(self.name) and any(id_ in ids for id_ in _CALLED.findall(self.body))


def is_standard(name: str) -> bool:
    """Whether a function is one of the standard library's."""
    return bool(_STANDARD.match(name))


def key_of(name: str) -> str:
    """The same for all names of a constructor or destructor."""
    return _STRUCTOR.sub(r"\g<1>2", name)


def _qualifiers(head: str) -> frozenset[str]:
    return frozenset(
        word for attribute, word in _QUALIFIERS.items() if attribute in head and re.search(rf"\b{attribute}\b", head)
    )


def _statement(line: str) -> tuple[Place | None, str]:
    """The first place that a statement names, and its text without places. What g++ adds itself has none."""
    first = _PLACE.search(line)
    if first is None or first[1].startswith("<"):
        return None, line.strip()
    return Place(first[1], int(first[2]), int(first[3])), _PLACE.sub("", line).strip()


def read(dump: str) -> Iterator[Function]:
    """The functions of a dump."""
    for part in ("\n" + dump).split("\n;; Function ")[1:]:
        match = _FUNCTION.match(part)
        # The line with which the body begins.
        ends = [at + len(mark) for mark in ("\n{", " {\n") if (at := part.find(mark)) >= 0]
        if match and ends:
            head, rest = part[: min(ends)], part[min(ends) :]
            body, _, _ = rest.partition("\n}")
            yield Function(match["name"].lstrip("*"), match["id"], match["shown"], _qualifiers(head), body)

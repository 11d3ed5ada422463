"""An object file as the compiler made it: its sections, symbols and system calls.

readelf and objdump read it, because they come with every compiler. A student chooses the names in it, so a line that
does not have the expected form, or is missing, makes the whole object unreadable: nothing is overlooked.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

_SECTION = re.compile(  # without a name or without flags, a section has an empty column
    r"\s*\[\s*(\d+)\] (.*?)\s+(\S+)\s+[0-9a-f]{16} ([0-9a-f]{6,}) ([0-9a-f]{6,}) [0-9a-f]{2,}\s+(\w*)\s+\d+\s+\d+\s+\d+"
)
# What readelf calls an IFUNC in an object of clang++, which does not say that it is GNU's.
_CLANG_IFUNC = "<OS specific>: 10"
_SYMBOL = re.compile(
    rf"\s*(\d+): ([0-9a-f]{{16}})\s+(0x[0-9a-f]+|\d+) (\w+|{_CLANG_IFUNC})\s+(\w+)\s+(\w+)\s+(?:\[[^]]*\]\s+)?"
    r"(UND|ABS|COM|\d+)(?: (.*))?"
)
# Their codes are single bytes, or on AArch64 a word: both are followed by the text.
_INSTRUCTION = re.compile(r"\s*([0-9a-f]+):\t(?:(?:[0-9a-f]{2} )+|[0-9a-f]{8} )\s*\t(.*)")

# The instructions that call the system, as bytes and as the disassembler names them.
_SYSTEM_CALLS = (b"\x0f\x05", b"\x0f\x34", b"\xcd\x80")
_SYSTEM_CALL = re.compile(r"(?:\w+ )?(?:syscall|sysenter|int\s+\$?0x80)")
# On AArch64: svc, with any number, which Linux ignores. Every instruction is one of the words, also what is marked as
# data.
_AARCH64 = 183  # as ELF numbers processors
_SVC = re.compile(rb"(?=[\x01\x21\x41\x61\x81\xa1\xc1\xe1][\x00-\xff][\x00-\x1f]\xd4)")


class Unreadable(Exception):
    """The file is not an object that a compiler makes; the text says what is wrong with it."""


@dataclass(frozen=True)
class Section:
    """`flags` are readelf's letters: W can be written, A is in memory, X can be executed."""

    number: int
    name: str
    kind: str
    offset: int  # in the file
    size: int
    flags: str


@dataclass(frozen=True)
class Symbol:
    """A symbol of an object. `section`: the number of the section that defines it, or UND, ABS or COM."""

    name: str
    value: int
    size: int
    kind: str
    binding: str
    section: str

    @property
    def is_local(self) -> bool:
        """Whether other objects cannot see it."""
        return self.binding == "LOCAL"

    @property
    def is_undefined(self) -> bool:
        """Whether another object or a library must define it."""
        return self.section == "UND"


def run(*command: str | Path) -> str:
    """The output of a program that reads objects. Raises Unreadable if it fails."""
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        errors="backslashreplace",
        env={**os.environ, "LC_ALL": "C"},
        check=False,
    )
    if done.returncode:
        raise Unreadable((done.stderr or "no output").strip().splitlines()[-1])
    return done.stdout


def demangled(names: Iterable[str]) -> dict[str, str]:
    """C++ names as they are written in a program, by the compiler's names for them."""
    listed = sorted({name for name in names if name and not any(c.isspace() for c in name)})
    done = subprocess.run(["c++filt"], input="\n".join(listed), capture_output=True, text=True, check=False)
    shown = done.stdout.splitlines()
    return dict(zip(listed, shown)) if len(shown) == len(listed) else {name: name for name in listed}


def _rows(pattern: re.Pattern[str], lines: Sequence[str], what: str) -> list[re.Match[str]]:
    """The lines of a table as matches. Raises Unreadable if one has another form."""
    rows = []
    for line in lines:
        row = pattern.fullmatch(line)
        if row is None:
            raise Unreadable(f"its {what} are not those of a compiler: {line.strip()[:80]!r}")
        rows.append(row)
    return rows


class Object:
    """An object file. Every member may raise Unreadable."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.is_aarch64 = int.from_bytes(path.read_bytes()[18:20], "little") == _AARCH64
        text = run("readelf", "-W", "-S", "-s", path)
        self.sections = self._read_sections(text)
        self.symbols = self._read_symbols(text)

    @staticmethod
    def _read_sections(text: str) -> list[Section]:
        stated = re.search(r"^There are (\d+) section headers", text, re.M)
        table = re.search(r"^Section Headers:\n  \[Nr\].*\n((?:  \[.*\n)*)", text, re.M)
        if not stated or not table:
            raise Unreadable("it has no sections")
        rows = _rows(_SECTION, table[1].splitlines(), "sections")
        if len(rows) != int(stated[1]):
            raise Unreadable("its sections are not those of a compiler")
        return [Section(int(r[1]), r[2].strip(), r[3], int(r[4], 16), int(r[5], 16), r[6]) for r in rows]

    @staticmethod
    def _read_symbols(text: str) -> list[Symbol]:
        table = re.search(r"^Symbol table '\.symtab' contains (\d+) entr\w+:\n.*\n((?:.*\n?)*)", text, re.M)
        if not table:
            raise Unreadable("it has no symbols")
        rows = _rows(_SYMBOL, [line for line in table[2].splitlines() if line], "symbols")
        if [int(row[1]) for row in rows] != list(range(int(table[1]))):
            raise Unreadable("its symbols are not those of a compiler")
        kinds = [row[4].replace(_CLANG_IFUNC, "IFUNC") for row in rows]
        return [
            Symbol((r[8] or "").split("@")[0], int(r[2], 16), int(r[3], 0), kind, r[5], r[7])
            for r, kind in zip(rows, kinds)
        ]

    def system_calls(self) -> tuple[list[str], list[str]]:
        """The functions whose instructions call the system, and those where its bytes are part of another one."""
        calls: list[str] = []
        hidden: list[str] = []
        content = self.path.read_bytes()
        for section in self.sections:
            code = content[section.offset : section.offset + section.size]
            if "X" in section.flags and self.is_aarch64:
                places = (place.start() for place in _SVC.finditer(code))
                calls += [self.function_at(section, place) for place in places if place % 4 == 0]
                continue
            if "X" not in section.flags or not any(call in code for call in _SYSTEM_CALLS):
                continue  # the disassembler takes longer than all the rest
            instructions = self._instructions(section)
            for call in _SYSTEM_CALLS:
                for place in re.finditer(re.escape(call), code):
                    text = instructions.get(place.start())
                    if text is None:
                        hidden.append(self.function_at(section, place.start()))
                    elif _SYSTEM_CALL.match(text):
                        calls.append(self.function_at(section, place.start()))
        return calls, hidden

    def _instructions(self, section: Section, *options: str) -> dict[int, str]:
        """The instructions of a section, by address."""
        listed = run("objdump", "-d", "-w", *options, "-j", section.name, self.path).splitlines()
        matches = filter(None, map(_INSTRUCTION.fullmatch, listed))
        return {int(match[1], 16): match[2] for match in matches}

    def function_at(self, section: Section, offset: int) -> str:
        """The function that covers this place; the section's name if none does."""
        for symbol in self.symbols:
            is_function = symbol.section == str(section.number) and symbol.kind in ("FUNC", "IFUNC")
            if is_function and symbol.value <= offset < symbol.value + symbol.size:
                return symbol.name
        return section.name

"""An object file as the compiler made it: its sections, symbols and system calls.

pyelftools reads it. A student chooses the names in it, so a file that pyelftools cannot read in whole is refused, and
nothing is overlooked.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.console import Problem

# A line of objdump: an address, single bytes, the instruction.
_INSTRUCTION = re.compile(r"\s*([0-9a-f]+):\t(?:[0-9a-f]{2} )+\s*\t(.*)")

# The instructions that call the system, as bytes and as the disassembler names them.
_SYSTEM_CALLS = re.compile(rb"\x0f\x05|\x0f\x34|\xcd\x80")
_SYSTEM_CALL = re.compile(r"(?:\w+ )?(?:syscall|sysenter|int\s+\$?0x80)")
_LONGEST = 15  # bytes of an instruction
# On AArch64: svc, with any number, which Linux ignores. Every instruction is one of the words, also what is marked as
# data.
_SVC = re.compile(rb"(?=[\x01\x21\x41\x61\x81\xa1\xc1\xe1][\x00-\xff][\x00-\x1f]\xd4)")

# The flags of a section (sh_flags in ELF's specification).
_WRITE, _EXECUTE = 1, 4
# Number 10 is GNU's own: an IFUNC among the kinds of symbols, and UNIQUE among the bindings. pyelftools calls it LOOS.
_GNU = {"STT_LOOS": "IFUNC", "STB_LOOS": "UNIQUE"}


class Unreadable(Exception):
    """The file is not an object that a compiler makes; the text says what is wrong with it."""


@dataclass(frozen=True)
class Section:
    """A section. `kind`: its type in ELF, such as INIT_ARRAY."""

    number: int
    name: str
    kind: str
    code: bytes  # its content; empty unless it can be executed
    is_writable: bool
    is_executable: bool


@dataclass(frozen=True)
class Symbol:
    """A symbol of an object. `kind` and `binding`: as ELF names them, such as FUNC and GLOBAL. `section`: the number of
    the section that defines it, or UNDEF, ABS or COMMON."""

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
        return self.section == "UNDEF"


def demangled(names: Iterable[str]) -> dict[str, str]:
    """C++ names as they are written in a program, by the compiler's names for them."""
    listed = sorted({name for name in names if name and not any(c.isspace() for c in name)})
    done = subprocess.run(["c++filt"], input="\n".join(listed), capture_output=True, text=True, check=False)
    shown = done.stdout.splitlines()
    return dict(zip(listed, shown)) if len(shown) == len(listed) else {name: name for name in listed}


def _short(name: str | int) -> str:
    """The name of a value in ELF without its prefix; a number as it is."""
    return _GNU.get(str(name)) or re.sub(r"^(?:SHT|SHN|STT|STB)_", "", str(name))


class Object:
    """An object file. Raises Unreadable, and Problem if this machine lacks what reads it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            from elftools.elf.elffile import ELFFile
        except ImportError as error:
            raise Problem("pyelftools is not installed, which reads object files: see ./workbook doctor") from error
        try:
            with open(path, "rb") as file:
                elf = ELFFile(file)
                self.is_aarch64 = elf.header["e_machine"] == "EM_AARCH64"
                self.sections = self._read_sections(elf)
                self.symbols = self._read_symbols(elf)
        except Exception as error:  # whatever its fault, it is not the object of a compiler
            raise Unreadable(str(error) or type(error).__name__) from error

    @property
    def defined(self) -> set[str]:
        """The names that it defines for other objects."""
        return {one.name for one in self.symbols if one.name and not one.is_undefined and not one.is_local}

    @property
    def undefined(self) -> set[str]:
        """The names that another object or a library must define."""
        return {one.name for one in self.symbols if one.name and one.is_undefined}

    @staticmethod
    def _read_sections(elf: Any) -> list[Section]:
        sections = []
        for number, section in enumerate(elf.iter_sections()):
            flags = section["sh_flags"]
            code = section.data() if flags & _EXECUTE else b""
            kind = _short(section["sh_type"])
            sections.append(Section(number, section.name, kind, code, bool(flags & _WRITE), bool(flags & _EXECUTE)))
        return sections

    @staticmethod
    def _read_symbols(elf: Any) -> list[Symbol]:
        tables = list(elf.iter_sections("SHT_SYMTAB"))
        if len(tables) != 1:
            raise Unreadable(f"it has {len(tables)} tables of symbols")
        return [
            Symbol(
                each.name,
                each["st_value"],
                each["st_size"],
                _short(each["st_info"]["type"]),
                _short(each["st_info"]["bind"]),
                _short(each["st_shndx"]),
            )
            for each in tables[0].iter_symbols()
        ]

    def system_calls(self) -> tuple[list[str], list[str]]:
        """The functions whose instructions call the system, and those where its bytes are part of another one."""
        calls: list[str] = []
        hidden: list[str] = []
        for section in self.sections:
            if self.is_aarch64:
                found_at = (match.start() for match in _SVC.finditer(section.code))
                calls += [self._function_at(section, place)[0] for place in found_at if place % 4 == 0]
                continue
            found: dict[tuple[str, int], list[int]] = {}  # by the function, and where it begins
            for place in _SYSTEM_CALLS.finditer(section.code):
                found.setdefault(self._function_at(section, place.start()), []).append(place.start())
            for (name, start), places in found.items():
                instructions = _instructions(section.code[start : places[-1] + _LONGEST])
                texts = [instructions.get(place - start) for place in places]
                hidden += [name for text in texts if text is None]
                calls += [name for text in texts if text and _SYSTEM_CALL.match(text)]
        return calls, hidden

    def _function_at(self, section: Section, offset: int) -> tuple[str, int]:
        """The function that covers this place, and where it begins; the section's name and beginning if none does."""
        for symbol in self.symbols:
            is_function = symbol.section == str(section.number) and symbol.kind in ("FUNC", "IFUNC")
            if is_function and symbol.value <= offset < symbol.value + symbol.size:
                return symbol.name, symbol.value
        return section.name, 0


def _instructions(code: bytes) -> dict[int, str]:
    """x86-64 instructions, by their offsets. Raises Problem if they cannot be disassembled."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(code)
        file.flush()
        command = ["objdump", "-D", "-b", "binary", "-m", "i386:x86-64", "-w", file.name]
        environment = {**os.environ, "LC_ALL": "C"}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise Problem(f"objdump cannot disassemble a step: {done.stderr.strip()}")
    return {
        int(match[1], 16): match[2] for match in filter(None, map(_INSTRUCTION.fullmatch, done.stdout.splitlines()))
    }

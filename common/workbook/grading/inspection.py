"""What a submission may use, judged on its compiled objects: macros and templates cannot hide anything there.

Refused is what no step needs and what could deceive or harm: processes, files, sockets, loaded code, signals, threads,
clocks, system calls, code that runs before main, and definitions that take the place of ours or of the C library's.
What the reference solutions and ordinary C++ need is listed in allowed/, one file per compiler, which
tests/grading/allowed.py writes. All else is graded, and named for the instructor.
"""

from __future__ import annotations

import functools
import re
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..core import build, machine
from ..core.console import Problem
from .objects import Object, Symbol, Unreadable, demangled
from .refusals import refusal_of

COMPILERS = ("gcc", "clang", "nvcc")
ALLOWED = Path(__file__).parent / "allowed"

_LIBRARIES = ("libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "libpthread.so.0", "libdl.so.2")

# nvcc's own code that runs before main, and the only code that may call atexit(): it registers kernels.
_REGISTRATION = "_ZL24__sti____cudaRegisterAllv"
# What the initialisers refer to that g++ makes of #include <iostream> and compilers add in the check build.
_OF_LIBRARIES = {
    *("_ZNSt8ios_base4InitC1Ev", "_ZNSt8ios_base4InitD1Ev", "_ZStL8__ioinit", "__cxa_atexit", "__dso_handle"),
    "__tsan_init",
}
_MACHINERY = "it is part of the workbook's own machinery; call only what CUDA and the headers in common/step offer"
# What compilers for AArch64 make of atomics, and of long double, which that processor cannot compute with itself.
_OF_AARCH64 = re.compile(
    r"__aarch64_(?:cas|swp|ldadd|ldclr|ldeor|ldset)(?:1|2|4|8|16)_(?:relax|acq|rel|acq_rel|sync)"
    r"|__(?:add|sub|mul|div)tf3|__(?:eq|ne|lt|le|gt|ge|unord)tf2|__(?:extend[sd]ftf2|trunctf[sd]f2)"
    r"|__(?:fix(?:uns)?tf[sd]i|float(?:un)?[sd]itf)"
)
_BEFORE_MAIN = re.compile(r"\.(?:preinit_array|init_array|fini_array|ctors|dtors|init|fini)(?:[._].*)?")


@dataclass(frozen=True)
class Inspection:
    """Sentences that name the file and the symbol. `refused`: why the submission must not run. `unknown`: what else an
    instructor may want to look at."""

    refused: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


@dataclass
class _Findings:
    """What is found in one object after another, without repetitions."""

    refused: dict[str, None] = field(default_factory=dict)
    unknown: dict[str, None] = field(default_factory=dict)

    def refuse(self, sentence: str) -> None:
        self.refused[sentence] = None

    def refuse_uses(self, file: str, uses: dict[str, list[str]]) -> None:
        """Refuses names by the reasons; the first three of each stand for all."""
        for reason, names in uses.items():
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            self.refuse(f"{file} uses {', '.join(names[:3])}{more}: {reason}")

    def note(self, sentence: str) -> None:
        self.unknown[sentence] = None


def compiler_name(command: str) -> str:
    """The name of the list for a compiler's command: gcc, clang or nvcc."""
    name = Path(command).name
    if "nvcc" in name:
        return "nvcc"
    return "clang" if "clang" in name or machine.is_clang([command]) else "gcc"


def is_of_aarch64(name: str) -> bool:
    """Whether it is a function that the compiler calls for an operation; the lists lack those of AArch64."""
    return _OF_AARCH64.fullmatch(name) is not None


@functools.cache
def allowed(compiler: str) -> frozenset[str]:
    """The symbols that the corpus needs from libraries, by their names in objects."""
    try:
        lines = (ALLOWED / f"{compiler}.txt").read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise Problem(f"there is no list of allowed symbols for {compiler}: {error}") from error
    return frozenset(line.split()[0] for line in lines if line and not line.startswith("#"))


def _defined(*command: str | Path) -> dict[str, set[str]]:
    """What `nm -P` lists: the names by the letters of their kinds."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    found: dict[str, set[str]] = {}
    for words in map(str.split, done.stdout.splitlines()):
        if len(words) >= 2 and len(words[1]) == 1:
            found.setdefault(words[1], set()).add(words[0].split("@")[0])
    return found


@functools.cache
def exported() -> frozenset[str]:
    """What the libraries that every runner uses define: a definition in a program takes their place."""
    cxx = machine.compiler() or ["c++"]
    paths = [machine.answer(*cxx, f"-print-file-name={library}") or "" for library in _LIBRARIES]
    found = [path for path in paths if Path(path).is_absolute()]  # otherwise this system has no such library
    if not found:
        raise Problem("the C++ compiler does not name its libraries: install g++, or set CXX")
    return frozenset().union(*_defined("nm", "-D", "-P", "--defined-only", *found).values())


@dataclass(frozen=True)
class _Ours:
    """What the runners and CUDA on the CPU define: once in all (strong), or as copies of inline functions (weak)."""

    strong: frozenset[str]
    weak: frozenset[str]


@functools.cache
def _ours(folder: Path) -> _Ours:
    archives = [*folder.glob("common/simt/libsimt.a"), *folder.glob("common/simt/libsimt-check.a")]
    archives += folder.glob("common/librunner-*.a")
    if not archives:
        raise Problem(f"{folder} has no compiled runner to compare submissions with: build it first")
    kinds = _defined("nm", "-g", "-P", "--defined-only", *archives)
    weak = frozenset().union(*(names for kind, names in kinds.items() if kind in "WVu"))
    strong = frozenset().union(*(names for kind, names in kinds.items() if kind not in "WVu"))
    return _Ours(strong | {"main"}, weak)


def ours() -> _Ours:
    """The definitions of this build folder."""
    return _ours(build.folder())


def _shown_file(path: Path) -> str:
    """The source that an object was made from, as far as its name shows it."""
    found = re.search(r"(\d\d_\w+\.cu)", path.name)
    return found[1] if found else path.name


class _Inspector:
    """Inspects the objects of one submission and one compiler."""

    def __init__(self, objects: Sequence[Path], compiler: str) -> None:
        self.compiler = compiler
        self.found = _Findings()
        self.objects: list[Object] = []
        for path in objects:
            try:
                self.objects.append(Object(path))
            except Unreadable as error:
                self.found.refuse(
                    f"{_shown_file(path)}: its object cannot be read ({error}): use no assembly code in it"
                )
        names = {symbol.name for each in self.objects for symbol in each.symbols}
        self.shown = demangled(names)
        self.defined = {s.name for each in self.objects for s in each.symbols if not s.is_undefined and not s.is_local}

    def inspect(self) -> Inspection:
        """Looks at all objects."""
        for each in self.objects:
            try:
                self._used(each)
                self._definitions(each)
                self._before_main(each)
                self._code(each)
            except Unreadable as error:
                self.found.refuse(f"{_shown_file(each.path)}: its object cannot be read ({error})")
        return Inspection(tuple(self.found.refused), tuple(self.found.unknown))

    def _name(self, symbol: str) -> str:
        return self.shown.get(symbol, symbol)

    def _used(self, each: Object) -> None:
        """Symbols that a library, the runner or CUDA on the CPU must define."""
        known, file = allowed(self.compiler), _shown_file(each.path)
        refused: dict[str, list[str]] = {}
        for symbol in each.symbols:
            name, shown = symbol.name, self._name(symbol.name)
            if not symbol.is_undefined or not name or name in self.defined or name in known:
                continue
            if is_of_aarch64(name):
                continue
            if name.startswith("__tsan_"):  # what compilers call before each access, for the check build
                continue
            if name == "atexit" and self.compiler == "nvcc" and not self._calls_beside_registration(each, name):
                continue
            if name == "exit" and self.compiler == "nvcc" and each.is_called_alone(name):
                continue  # in the host's code, nvcc makes this of each device function
            if refusal := refusal_of(name, shown):
                refused.setdefault(f"it {refusal.what}; {refusal.remedy}", []).append(shown)
            elif name in ours().strong and not shown.startswith("cuda"):
                refused.setdefault(_MACHINERY, []).append(shown)
            else:
                self.found.note(f"{file} uses {shown}, which is not on the list of what steps need")
        self.found.refuse_uses(file, refused)

    @staticmethod
    def _calls_beside_registration(each: Object, name: str) -> bool:
        """Whether anything but nvcc's registration refers to the symbol."""
        numbers = {number for number, symbol in enumerate(each.symbols) if symbol.name == name}
        own = [symbol for symbol in each.symbols if symbol.name == _REGISTRATION and symbol.is_local]
        if len(own) != 1:
            return True
        section = each.sections[int(own[0].section)].name
        inside = range(own[0].value, own[0].value + own[0].size)
        return any(r.symbol in numbers and (r.section != section or r.offset not in inside) for r in each.relocations)

    def _definitions(self, each: Object) -> None:
        """Symbols that the object defines for others: they must not take the place of anything."""
        file = _shown_file(each.path)
        for symbol in each.symbols:
            if symbol.kind == "IFUNC":
                self.found.refuse(
                    f"{file} defines {self._name(symbol.name)} by a function that runs before main (ifunc): "
                    "define it directly"
                )
            if symbol.is_local or symbol.is_undefined or not symbol.name:
                continue
            if self._takes_a_place(symbol):
                self.found.refuse(
                    f"{file} defines {self._name(symbol.name)}, which the workbook or a library of the system defines: "
                    "give it another name, or put it into an unnamed namespace"
                )

    @staticmethod
    def _takes_a_place(symbol: Symbol) -> bool:
        """Whether the definition replaces one of ours, or one of a library's.

        Every object has copies of the inline functions and templates that it uses; they are weak, and names of C++.
        """
        is_copy = symbol.binding in ("WEAK", "UNIQUE") and symbol.name.startswith(("_Z", "DW.ref."))
        if is_copy and re.match(r"_Z(?:T[VIST]|GV|GR|Z)?N?K?(?:S[tabsiod]|9__gnu_cxx)", symbol.name):
            return False
        if re.match(r"__(?:wrap|real)_|__tsan_|__sanitizer_|__cuda|cuda[A-Z]|simt_", symbol.name):
            return True
        if symbol.name in exported():
            return not is_copy
        return symbol.name in ours().strong or (symbol.name in ours().weak and not is_copy)

    def _before_main(self, each: Object) -> None:
        """Code that runs before main or after it."""
        file = _shown_file(each.path)
        for section in each.sections:
            if not _BEFORE_MAIN.fullmatch(section.name) and section.kind not in (
                "INIT_ARRAY",
                "FINI_ARRAY",
                "PREINIT_ARRAY",
            ):
                continue
            entries = [each.target(r) for r in each.relocations if r.section == section.name]
            is_array = section.name.startswith(".init_array") and section.size == 8 * len(entries)
            if is_array and all(self._may_run_before_main(each, entry) for entry in entries):
                continue
            names = ", ".join(self._initialised(each, entries)) or section.name
            self.found.refuse(
                f"{file} runs code before or after main ({names}): make global variables constexpr or constinit, or "
                "move them into the function that uses them"
            )

    def _initialised(self, each: Object, entries: Iterable[Symbol]) -> list[str]:
        """What initialisers are about: the variables that they refer to, or else their own names."""
        names: list[str] = []
        for entry in entries:
            targets = [symbol for symbol in self._references(each, entry) if symbol.kind == "OBJECT"]
            own = [s.name for s in targets if s.name not in _OF_LIBRARIES and not s.name.startswith("_ZSt")]
            names += [self._name(name) for name in own] or [self._name(entry.name or "unnamed code")]
        return list(dict.fromkeys(names))

    @staticmethod
    def _references(each: Object, function: Symbol) -> list[Symbol]:
        """What a function refers to."""
        if not function.section.isdigit():
            return []
        section = each.sections[int(function.section)].name
        inside = range(function.value, function.value + function.size)
        return [each.target(r) for r in each.relocations if r.section == section and r.offset in inside]

    def _may_run_before_main(self, each: Object, function: Symbol) -> bool:
        """Whether an initialiser is nvcc's registration of kernels, or that of the standard streams."""
        if self.compiler == "nvcc" and function.name == _REGISTRATION:
            return True
        if not function.section.isdigit() or function.kind != "FUNC":
            return False
        references = {symbol.name for symbol in self._references(each, function)}
        return bool(references) and references <= _OF_LIBRARIES and not each.leaves_unseen(function)

    def _code(self, each: Object) -> None:
        """Instructions that call the system, and memory that can be written and executed."""
        file = _shown_file(each.path)
        for section in each.sections:
            if "W" in section.flags and "X" in section.flags:
                self.found.refuse(
                    f"{file}: its section {section.name} can be written and executed: use no assembly code in it"
                )
        notes = [section for section in each.sections if section.name == ".note.GNU-stack"]
        if not notes or any("X" in section.flags for section in notes):
            self.found.refuse(f"{file} makes the stack executable: use no assembly code in it")
        calls, hidden = each.system_calls()
        for name in calls:
            self.found.refuse(
                f"{file} makes a system call by an instruction in {self._name(name)}: use no assembly code in it"
            )
        for name in hidden:
            self.found.note(
                f"{file} contains the bytes of a system call in {self._name(name)}, within another instruction"
            )


def inspect(objects: Sequence[Path], compiler: str) -> Inspection:
    """Judges the objects that one compiler made of a submission's files. `compiler`: its name, or its command.

    Raises Problem if this machine lacks what it needs for that.
    """
    return _Inspector(objects, compiler if compiler in COMPILERS else compiler_name(compiler)).inspect()

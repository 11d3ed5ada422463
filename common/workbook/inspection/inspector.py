"""What a step's file may use, judged on its compiled object: macros and templates cannot hide anything there.

Refused is what no step needs and what could deceive or harm: processes, files, sockets, loaded code, signals, threads,
system calls, and definitions that take the place of ours or of the C library's. What can do no harm is not: a step that
ends the process fails its case, and nothing depends on a clock that it reads. Whatever else the standard library of C++
defines is ordinary. So are the functions of C, CUDA and the workbook in allowed.txt, which the reference solutions and
tests/grading/corpus need. All else is graded, and named for the instructor.
"""

from __future__ import annotations

import functools
import re
import subprocess
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..core import build, machine
from ..core.console import Problem
from .objects import Object, Symbol, Unreadable, demangled
from .refusals import plain, refusal_of

ALLOWED = Path(__file__).parent / "allowed.txt"

_LIBRARIES = ("libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "libpthread.so.0", "libdl.so.2")

_MACHINERY = "it is part of the workbook's own machinery; call only what CUDA and the headers in common/step offer"
# Mangled names of the standard library of C++ and of its operators new and delete, which differ between versions.
_STANDARD = re.compile(
    r"_Z(?:T[VISTC]|GV|GR|Z)?N?[KRO]*(?:S[tabsiod]|9__gnu_cxx|10__cxxabiv1)|_Z(?:n[wa]|d[la])|_ZTI\w$"
)
# What compilers call for exceptions, the sanitizer and operations that the processor lacks, by other names from version
# to version: divisions of 128-bit integers, counts of bits; on AArch64 also atomics, and long double.
_OF_COMPILER = re.compile(
    r"__cxa_\w+|_Unwind_Resume|__gxx_personality_v0|__dso_handle|_GLOBAL_OFFSET_TABLE_"
    r"|__tsan_\w+|__ubsan_handle_\w+"
    r"|__u?(?:div|mod|divmod)ti[34]|__(?:popcount|parity|clz|ctz|ffs)[dt]i2"
    r"|__aarch64_(?:cas|swp|ldadd|ldclr|ldeor|ldset)(?:1|2|4|8|16)_(?:relax|acq|rel|acq_rel|sync)"
    r"|__(?:add|sub|mul|div)tf3|__(?:eq|ne|lt|le|gt|ge|unord)tf2|__(?:extend[sd]ftf2|trunctf[sd]f2)"
    r"|__(?:fix(?:uns)?[sdt]f[sdt]i|float(?:un)?[sdt]i[sdt]f)"
)
_COPIED = ("_Z", "DW.ref.", "__clang_call_terminate")
_BEFORE_MAIN = re.compile(r"\.(?:preinit_array|init_array|fini_array|ctors|dtors|init|fini)(?:[._].*)?")
# The lists of functions that initialise a file's global variables, and what g++ and clang++ add in the check build.
# Grading gives them the other name, which no loader knows, and the runner calls these functions with the step (see
# common/runner/call.cpp): they can do no more than the step can.
INITIALISERS = (".init_array", ".init_array.00099", ".init_array.0")
RENAMED = "lab_initialisers"


@dataclass(frozen=True)
class Inspection:
    """Sentences that name the file and the symbol. `refused`: by file, why it must not run. `unknown`: what else an
    instructor may want to look at."""

    refused: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()

    @property
    def sentences(self) -> tuple[str, ...]:
        """Those of all files that are refused."""
        return tuple(sentence for sentences in self.refused.values() for sentence in sentences)


@dataclass
class _Findings:
    """What is found in one object after another, without repetitions."""

    refused: dict[str, dict[str, None]] = field(default_factory=dict)  # by file
    unknown: dict[str, None] = field(default_factory=dict)

    def refuse(self, file: str, sentence: str) -> None:
        self.refused.setdefault(file, {})[sentence] = None

    def refuse_uses(self, file: str, uses: dict[str, list[str]]) -> None:
        """Refuses names by the reasons; the first three of each stand for all."""
        for reason, shown in uses.items():
            self.refuse(file, f"{file} uses {_first(list(dict.fromkeys(map(_brief, shown))))}: {reason}")

    def note(self, sentence: str) -> None:
        self.unknown[sentence] = None


def _without_arguments(name: str) -> str:
    """A name without its template arguments."""
    found = 1
    while found:  # the innermost lists first
        name, found = re.subn(r"(?<!operator)<[^<>]*>", "", name)
    return name


def _brief(shown: str) -> str:
    """A name as a reader knows it: "std::basic_ofstream::open", without "vtable for" and the like."""
    name = _without_arguments(re.sub(r"^(?:[\w-]+ )+for ", "", shown))
    name = name.partition("(")[0].split(" ")[-1] or shown
    return re.sub(r"^(\w*(?:open|seeko?|tello?|stat|pos))64$", r"\1", name)  # the source says fopen, not fopen64


@functools.cache
def allowed() -> frozenset[str]:
    """The names in allowed.txt."""
    lines = ALLOWED.read_text(encoding="utf-8").splitlines()
    return frozenset(line.split()[0] for line in lines if line and not line.startswith("#"))


def is_allowed(name: str) -> bool:
    """Whether steps may use this symbol, if refusal_of knows nothing against it."""
    if _STANDARD.match(name) or _OF_COMPILER.fullmatch(name):
        return True
    return not {name, plain(name)}.isdisjoint(allowed()) or name in _exported("libm.so.6")


def _defined(*command: str | Path) -> dict[str, set[str]]:
    """What `nm -P` lists: the names by the letters of their kinds."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode:
        raise Problem(f"the names in a library cannot be listed: {done.stderr.strip()}")
    found: dict[str, set[str]] = {}
    for words in map(str.split, done.stdout.splitlines()):
        if len(words) >= 2 and len(words[1]) == 1:
            found.setdefault(words[1], set()).add(words[0].split("@")[0])
    return found


@functools.cache
def _exported(library: str) -> frozenset[str]:
    """What one of the system's libraries defines for programs; nothing if this system has no such library."""
    path = machine.answer(*(machine.compiler() or ["c++"]), f"-print-file-name={library}") or ""
    found = _defined("nm", "-D", "-P", "--defined-only", path) if Path(path).is_absolute() else {}
    return frozenset().union(*found.values())


def exported() -> frozenset[str]:
    """What the libraries that every runner uses define: a definition in a program takes their place."""
    found = frozenset().union(*map(_exported, _LIBRARIES))
    if not found:
        raise Problem("the C++ compiler does not name its libraries: install g++, or set CXX")
    return found


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
    """Inspects the objects of one submission and one build."""

    def __init__(self, objects: Sequence[Path], initialisers: Collection[str], given: Collection[str]) -> None:
        self.initialisers = initialisers
        self.found = _Findings()
        self.objects: list[Object] = []
        for path in objects:
            try:
                self.objects.append(Object(path))
            except Unreadable as error:
                file = _shown_file(path)
                self.found.refuse(file, f"{file}: its object cannot be read ({error}): use no assembly code in it")
        names = {symbol.name for each in self.objects for symbol in each.symbols}
        self.shown = demangled(names)
        self.defined = {*given}.union(*(each.defined for each in self.objects))

    def inspect(self) -> Inspection:
        """Looks at all objects."""
        for each in self.objects:
            file = _shown_file(each.path)
            try:
                self._used(each, file)
                self._definitions(each, file)
                self._sections(each, file)
                self._system_calls(each, file)
            except Unreadable as error:
                self.found.refuse(file, f"{file}: its object cannot be read ({error})")
        return Inspection({file: tuple(why) for file, why in self.found.refused.items()}, tuple(self.found.unknown))

    def _name(self, symbol: str) -> str:
        return self.shown.get(symbol, symbol)

    def _used(self, each: Object, file: str) -> None:
        """Symbols that a library, the runner or CUDA on the CPU must define."""
        refused: dict[str, list[str]] = {}
        for symbol in each.symbols:
            name, shown = symbol.name, self._name(symbol.name)
            if not symbol.is_undefined or not name or name in self.defined:
                continue
            if refusal := refusal_of(name, shown):
                refused.setdefault(f"it {refusal.what}; {refusal.remedy}", []).append(shown)
            elif is_allowed(name):
                continue
            elif name in ours().strong and not shown.startswith("cuda"):
                refused.setdefault(_MACHINERY, []).append(shown)
            else:
                self.found.note(f"{file} uses {shown}, which is not on the list of what steps need")
        self.found.refuse_uses(file, refused)

    def _definitions(self, each: Object, file: str) -> None:
        """Symbols that the object defines for others: they must not take the place of anything."""
        for symbol in each.symbols:
            if symbol.kind == "IFUNC":
                self.found.refuse(
                    file,
                    f"{file} defines {self._name(symbol.name)} by a function that runs before main (ifunc): "
                    "define it directly",
                )
            if symbol.is_local or symbol.is_undefined or not symbol.name:
                continue
            if self._takes_a_place(symbol):
                self.found.refuse(
                    file,
                    f"{file} defines {self._name(symbol.name)}, which the workbook or a library of the system defines: "
                    "give it another name, or put it into an unnamed namespace",
                )

    @staticmethod
    def _takes_a_place(symbol: Symbol) -> bool:
        """Whether the definition replaces one of ours, or one of a library's.

        Every object has copies of the inline functions and templates that it uses; they are weak, and names of C++ or
        of what a compiler makes for exceptions.
        """
        is_copy = symbol.binding in ("WEAK", "UNIQUE") and symbol.name.startswith(_COPIED)
        if is_copy and _STANDARD.match(symbol.name):
            return False
        if re.match(r"__(?:wrap|real)_|__tsan_|__sanitizer_|__cuda|cuda[A-Z]|simt_", symbol.name):
            return True
        if symbol.name in exported():
            return not is_copy
        return symbol.name in ours().strong or (symbol.name in ours().weak and not is_copy)

    def _sections(self, each: Object, file: str) -> None:
        """Code that runs before main or after it, and memory that can be written and executed."""
        for section in each.sections:
            is_list = section.kind in ("INIT_ARRAY", "FINI_ARRAY", "PREINIT_ARRAY")
            if (is_list or _BEFORE_MAIN.fullmatch(section.name)) and section.name not in self.initialisers:
                self.found.refuse(
                    file,
                    f"{file} runs code before or after main, in its section {section.name}: give functions no "
                    "attribute that does this, and initialise variables where they are defined",
                )
            if section.is_writable and section.is_executable:
                self.found.refuse(
                    file,
                    f"{file}: its section {section.name} can be written and executed: use no assembly code in it",
                )
        notes = [section for section in each.sections if section.name == ".note.GNU-stack"]
        if not notes or any(section.is_executable for section in notes):
            self.found.refuse(file, f"{file} makes the stack executable: use no assembly code in it")

    def _system_calls(self, each: Object, file: str) -> None:
        """Instructions that call the system."""
        calls, hidden = each.system_calls()
        for name in calls:
            self.found.refuse(
                file, f"{file} makes a system call by an instruction in {self._name(name)}: use no assembly code in it"
            )
        for name in hidden:
            self.found.note(
                f"{file} contains the bytes of a system call in {self._name(name)}, within another instruction"
            )


def calls_of_others(file: str, steps: Mapping[str, Object], may_use: Collection[int]) -> list[str]:
    """Sentences on functions of other steps that a step's file needs. `steps`: the objects of a lab by the names of
    their files, which begin with the step's number. `may_use`: the numbers of those that it may call."""
    defined_by: dict[str, list[str]] = {}
    for name, each in steps.items():
        for symbol in each.defined:
            defined_by.setdefault(symbol, []).append(name)
    needed = steps[file].undefined & set(defined_by)
    refused = {name for name in needed if not any(int(other[:2]) in may_use for other in defined_by[name])}
    shown = demangled(refused)
    of_files: dict[str, list[str]] = {}
    for name in sorted(refused):
        of_files.setdefault(defined_by[name][0], []).append(shown[name])
    return [
        f"{file} uses {_first(list(dict.fromkeys(map(_brief, names))))} of {other}: this step must do its own work"
        for other, names in of_files.items()
    ]


def _first(names: Sequence[str]) -> str:
    """The first three names, which stand for all."""
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def lacking(own: Object, wanted: Collection[str]) -> dict[str, list[str]]:
    """The functions among these symbols that an object does not define. For a template of which it has some instances,
    the template arguments of the others: {"counting::sort_range": ["unsigned char"], "counting::reduce": []}."""
    shown = demangled(wanted)
    there = {_brief(shown[symbol]) for symbol in own.defined & {*wanted}}
    found: dict[str, list[str]] = {}
    for symbol in sorted({*wanted} - own.defined):
        name, arguments = _brief(shown[symbol]), re.search(r"<([^<>]*)>\(", shown[symbol])
        found.setdefault(name, []).extend([arguments[1]] if arguments and name in there else [])
    return found


def place_of(sentence: str, file: str, text: str) -> str:
    """The file and, if the source has what the sentence names, the first line that does: "02_shared.cu:17"."""
    found = re.search(r" (?:uses|defines?|reference to|definition of) [`'‘]?([^'’\n]+)", sentence)
    shown = _without_arguments(found[1]).replace("(anonymous namespace)::", "") if found else ""
    scope, _, name = re.split(r"[,(]|: | (?:of|by|for keys) ", shown)[0].rpartition(" ")[2].rpartition("::")
    lines = [line.partition("//")[0] for line in text.splitlines()]
    for each in (name, *scope.split("::")[:0:-1]):  # a class, but no namespace, which many lines name
        written = re.compile(rf"\b{re.escape(each.removeprefix('basic_'))}\b")
        number = next((number for number, line in enumerate(lines, 1) if written.search(line)), 0)
        if each and number:
            return f"{file}:{number}"
    return file


def inspect(
    objects: Sequence[Path], initialisers: Collection[str] = (RENAMED,), given: Collection[str] = ()
) -> Inspection:
    """Judges the objects that one build makes of a submission's files. `initialisers`: what their lists of initialisers
    may be called. `given`: names that the starters define. These, and what one of the objects defines, the others may
    use: if a file is refused, the others must be inspected again without it.

    Raises Problem if this machine lacks what it needs for that.
    """
    return _Inspector(objects, initialisers, given).inspect()

"""Calls of host functions in device code, and of kernels as functions, which nvcc refuses."""

from __future__ import annotations

import functools
import os
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from .call_graph import Call, Function, Place, is_standard, key_of
from .remedies import remedy_for

# The labs' files are named from the workbook's folder on.
ROOT = Path(__file__).resolve().parents[3]
SIMT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
# What nvcc's headers declare for the device, too. The mathematics of <cmath> and <cstdlib>, as functions and templates.
_MATHEMATICS = frozenset(
    """abs fabs labs llabs div ldiv lldiv fmod remainder remquo fma fmax fmin fdim nan nanf nanl exp exp2
    expm1 log log10 log2 log1p pow sqrt cbrt hypot sin cos tan asin acos atan atan2 sinh cosh tanh asinh
    acosh atanh erf erfc tgamma lgamma ceil floor trunc round lround llround nearbyint rint lrint llrint
    frexp ldexp modf scalbn scalbln ilogb logb nextafter nexttoward copysign fpclassify isfinite isinf
    isnan isnormal signbit isgreater isgreaterequal isless islessequal islessgreater isunordered __isinf
    __isnan __signbit __isfinite __finite""".split()  # noqa: SIM905
)
# What the rewriter makes of a launch is a lambda with any parameters, which alone calls a kernel.
_OF_LAUNCH = re.compile(r"<lambda\(auto:\d+& ?\.\.\.\)>")
# nvcc takes these for host and device.
_IMPLICIT = frozenset(("move", "forward", "initializer_list", "is_constant_evaluated", "__is_constant_evaluated"))
# Functions of the C library that no kernel can call. The compiler itself calls some that are not here, such as puts.
_C_LIBRARY = frozenset(
    """rand srand rand_r random srandom drand48 exit _exit atexit quick_exit system getenv fopen fclose
    fprintf vfprintf fread fwrite fflush fgets fputs scanf fscanf sscanf getchar gets sprintf snprintf
    vsnprintf perror remove strcpy strncpy strcat strncat strdup strtok strtol strtod atoi atof atol
    strstr strchr strrchr qsort bsearch calloc realloc posix_memalign aligned_alloc time gettimeofday
    clock_gettime nanosleep sleep usleep pthread_create pthread_mutex_lock pthread_mutex_unlock strlen
    strcmp strncmp memcmp memmove abort""".split()  # noqa: SIM905
)
# Functions of the C library that kernels can call. Headers define them, too, if _FORTIFY_SOURCE is defined, as it is by
# default on Ubuntu.
_C_LIBRARY_FOR_DEVICE = frozenset(("printf", "malloc", "free", "memcpy", "memset"))
_EXCEPTIONS = {"__cxa_throw": "throw", "__cxa_rethrow": "throw", "__cxa_begin_catch": "catch"}
_STANDARD_NAME = re.compile(r"_Z(?:Z?N[KVrRO]*)?(?:St|9__gnu_cxx)(\d+)")
_OF_THRUST = re.compile(r"_ZN[KVrRO]*(?:6thrust|4cuda3(?:std|__\d))")  # for both; see simt/thrust_begin.h
_CONSTEXPR = re.compile(r"\bconstexpr\b(?!\s*\()()|_GLIBCXX(\d\d)?_CONSTEXPR")
_MEMORY = re.compile(r"_Zn[aw]|_Zd[al]")  # operator new and operator delete
_OF_STATIC = re.compile(r"^&_ZZ")
_STREAM = re.compile(r"^&(cout|cerr|clog)D\.")
# Before a class's name, where g++ places the functions that it makes for the class; before the only name of one, which
# follows it (typedef struct { int x; } S;), and from that name on; from a function's name on; and in the name of a
# constructor that `using` inherits.
_OF_CLASS = re.compile(r"\b(?:struct|class|union)\b(?:\s*\w+\s*\([^()]*\))*[^;{}()]*$")  # with alignas(16), say
_PAST_CLASS, _ONLY_NAME = re.compile(r"}\s*$"), re.compile(r"\w+\s*[;,]")
_DEFAULTED = re.compile(r"^[^;{}]*\)[^;{}()]*=\s*default\b")
_INHERITED = re.compile(r"CI[12]")


class Message(NamedTuple):
    """What nvcc would report."""

    place: Place
    severity: str  # "error", or "warning" in a function for both, which nvcc compiles for the device, too
    text: str

    def __str__(self) -> str:
        return f"{self.place}: {self.severity}: {self.text}"


class HostCalls:
    """The calls of host functions that the device code of a translation unit makes."""

    def __init__(self, functions: Iterable[Function], constexpr: int | None = None) -> None:
        """`constexpr`: the year of the standard, if its constexpr functions may be called in device code, as with
        nvcc's option --expt-relaxed-constexpr."""
        self._constexpr = constexpr
        self._functions = {function.id: function for function in functions}
        self._by_name = {key_of(function.name): function for function in self._functions.values()}
        self._messages: dict[tuple[str, int, str], Message] = {}  # by file, line and what is called
        self._seen: set[str] = set()
        self._texts: dict[str, list[str]] = {}
        kernels = {id_ for id_, function in self._functions.items() if "__global__" in function.qualifiers}
        for function in list(self._functions.values()):
            if function.is_for_device_only:
                self._look_into(function, function, None)
            if function.may_call(kernels):
                self._look_for_kernels(function)

    def messages(self) -> list[Message]:
        """What to report, in the order of the source."""
        return sorted(self._messages.values())

    def _look_for_kernels(self, function: Function) -> None:
        """Reports kernels that the function calls in expressions that only a compiler understands."""
        if _OF_LAUNCH.search(function.shown):
            return
        for call in function.calls:
            callee = self._functions.get(call.id)
            if callee is not None and "__global__" in callee.qualifiers and not _is_of_emulation(call.place.file):
                name = short_name(callee.shown)
                text = f"the kernel {name} is called like a function: launch it with {name}<<<grid, block>>>(...)"
                message = Message(call.place, "error", text)
                self._messages.setdefault((call.place.file, call.place.line, name), message)

    def _look_into(self, function: Function, user: Function, at: Place | None) -> None:
        """Looks at the calls of a function that is compiled for the device: `user`, or what nvcc makes for it `at` a
        place in it."""
        if function.id in self._seen:
            return
        self._seen.add(function.id)
        for call in function.calls:
            # nvcc does not call the constructor of a __shared__ variable, which must be empty.
            is_of_shared = _OF_STATIC.match(call.arguments) or "__shared__" in self._line(call.place).partition("//")[0]
            if not is_of_shared and not _is_of_emulation(call.place.file):
                self._look_at(call, user, at or call.place)

    def _look_at(self, call: Call, user: Function, at: Place) -> None:
        callee = self._functions.get(call.id) or self._by_name.get(key_of(call.name))
        if _OF_THRUST.match(call.name):
            return
        if callee is not None and callee.is_for_device:
            self._look_into(callee, callee, None)
        elif callee is not None and not _is_library(callee.name) and self._is_made_by_compiler(callee):
            self._look_into(callee, user, None if "<lambda(" in callee.shown else at)
        elif callee is not None and self._constexpr is not None and self._is_constexpr(callee, self._constexpr):
            pass
        elif call.name in _EXCEPTIONS:
            self._add(
                at,
                user,
                call.name,
                f"uses {_EXCEPTIONS[call.name]}: device code has no exceptions; report the error through memory",
            )
        elif name := _host_function(call, callee):
            # The first call of a class's function stands for the others in the line.
            subject = "::".join(name.split("::")[:2]) if name.startswith("std::") else name
            is_own = callee is not None and not _is_library(callee.name)
            where = f" ({callee.places[0].file}:{callee.places[0].line})" if callee is not None and is_own else ""
            which = "" if "lambda" in name else ", which is a host function"
            text = f"calls {name}{which}{where}: {remedy_for(name, is_own)}"
            self._add(at, user, subject, text)

    def _add(self, at: Place, user: Function, subject: str, text: str) -> None:
        sort = "kernel" if "__global__" in user.qualifiers else "device function"
        severity = "error" if user.is_for_device_only else "warning"
        message = Message(at, severity, f"{sort} {short_name(user.shown)} {text}")
        self._messages.setdefault((at.file, at.line, subject), message)

    def _line(self, place: Place) -> str:
        """The line of a source; "" if it cannot be read."""
        if place.file not in self._texts:
            files = (Path(folder, place.file) for folder in (".", ROOT))
            file = next((file for file in files if file.is_file()), None)
            self._texts[place.file] = file.read_text(errors="replace").splitlines() if file else []
        lines = self._texts[place.file]
        return lines[place.line - 1] if place.line <= len(lines) else ""

    def _is_made_by_compiler(self, callee: Function) -> bool:
        """Whether the compiler made the function, or it is a lambda of device code: nvcc compiles it for callers."""
        if "<lambda(" in callee.shown:
            return self._is_in_device_code(callee.name)
        if _INHERITED.search(callee.name):
            return True
        if len(set(callee.places)) != 1:
            return False
        place = callee.places[0]
        line = self._line(place)
        before, after = line[: place.column - 1], line[place.column - 1 :]
        if _OF_CLASS.search(before) or _DEFAULTED.search(after):
            return True
        return bool(_PAST_CLASS.search(before) and _ONLY_NAME.match(after))

    def _is_constexpr(self, callee: Function, standard: int) -> bool:
        """Whether the lines up to the function's body have the word, or libstdc++'s name for it since a standard."""
        if not callee.places:
            return False
        first = callee.places[0]
        for number in range(first.line, max(first.line - 12, 0), -1):
            line = self._line(Place(first.file, number, 1)).partition("//")[0]
            if number != first.line and re.search(r"[;}]\s*$", line):
                break
            if any(int(match[2] or 11) <= standard for match in _CONSTEXPR.finditer(line)):
                return True
        return False

    @functools.cached_property
    def _prefixes(self) -> dict[str, Function]:
        """The functions, by how the names of their local functions begin."""
        return {_prefix_of_locals(function.name): function for function in self._functions.values()}

    def _is_in_device_code(self, name: str) -> bool:
        """Whether a local function, such as that of a lambda, belongs to a function for the device."""
        around = [function for prefix, function in self._prefixes.items() if name.startswith(prefix)]
        if not around:
            return False
        nearest = max(around, key=lambda function: len(function.name))
        return nearest.is_for_device or self._is_in_device_code(nearest.name)


def _prefix_of_locals(name: str) -> str:
    """How the names of a function's local functions begin."""
    return f"_Z{name[1:]}E" if name.startswith("_Z") else f"_ZZ{len(name)}{name}E"


@functools.cache
def _is_of_emulation(file: str) -> bool:
    return os.path.realpath(file).startswith(SIMT + os.sep)


def _is_library(name: str) -> bool:
    return bool(is_standard(name) or _MEMORY.match(name))


def _host_function(call: Call, callee: Function | None) -> str:
    """The name of what is called if that is a function of the host, as far as can be known; otherwise ""."""
    if stream := _STREAM.match(call.arguments):
        return f"std::{stream[1]}"
    name = callee.name if callee else call.name
    if is_standard(name):
        shown = "" if _is_allowed(name) else short_name(callee.shown if callee else demangled(name))
        return "" if "~" in shown else shown  # the call of the constructor is reported
    if callee is None or name in _C_LIBRARY or name in _C_LIBRARY_FOR_DEVICE:
        return name if name in _C_LIBRARY else ""
    if _MEMORY.match(name) or not callee.places or _is_of_emulation(callee.places[0].file):
        return ""
    return "a lambda of host code" if "<lambda(" in callee.shown else short_name(callee.shown)


def _is_allowed(name: str) -> bool:
    """Whether nvcc compiles this function of the standard library for the device."""
    match = _STANDARD_NAME.match(name)
    if match is None:
        return False
    word = name[match.end() : match.end() + int(match[1])]
    if word in _MATHEMATICS:
        # Of the templates for integers, nvcc's headers declare those that classify and pow for all mixed types.
        return "__is_integer" not in name or word.startswith("is") or word == "pow"
    return word in _IMPLICIT


def short_name(shown: str) -> str:
    """A function's name without its parameters, and without template arguments, which may be long."""
    shown = re.sub(r"[{(]anonymous(?: namespace)?[})]::", "", shown).split(" [with ")[0]
    name, operator, symbol = shown.partition("operator")
    if operator:
        called = re.match(r"\(\)|[^\w\s(]+|[\w ]+", symbol)
        return _without_brackets(name) + operator + (called[0] if called else "")
    return _without_brackets(name)


def _without_brackets(name: str) -> str:
    """The last word of the text outside of all brackets."""
    depth, text = 0, ""
    for mark in name:
        depth += mark in "<("
        if depth == 0:
            text += mark
        depth -= mark in ">)"
    return text.split(" ")[-1]


def demangled(name: str) -> str:
    """A name as the source has it, if c++filt is there: it comes with the linker."""
    try:
        done = subprocess.run(["c++filt", name], capture_output=True, text=True, check=False)
    except OSError:
        return name
    return done.stdout.strip() or name

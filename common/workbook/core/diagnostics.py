"""A compiler's messages, shortened to what a reader must see first."""

import os
import re
from pathlib import Path

from . import compiler_words, launch_errors, missing_includes
from .course import BUILD, ROOT

# g++, clang++ and the rewriter: PATH:LINE[:COLUMN]: error: TEXT; nvcc: PATH(LINE): error: TEXT
_ERROR = re.compile(r"^([^\s:()]+?)(?::(\d+)(?::(\d+))?:|\((\d+)\)\s?:) (?:fatal )?error\b:? ?(.*)")
_WARNING = re.compile(r"^((labs/[^\s:()]+?)(?::\d+|\(\d+\))).*\bwarning\b")
_GAP = re.compile(r"^\s*NOT_WRITTEN\(", re.MULTILINE)
_STUDENT = re.compile(r"labs/[^\s:,()]+?\.cu(?::(\d+)|\((\d+)\))")
# clang++ says why a call fits no function in a note, which may be far below the error.
_NOT_VIABLE = re.compile(r"^(\S+?:\d+):(?:\d+:)? note: (candidate .*not viable: .*)")
_NINJA = re.compile(r"^\[\d+/\d+\]|^ninja: |^FAILED: ")
_LINKER = re.compile(r"undefined reference|multiple definition|cannot find -l|unresolved external")
# What the linker says: FILE.o:PLACE: TEXT, where the place may be in a library's header or a file that we have made.
_LINKED = re.compile(r"(?:undefined reference to|multiple definition of) [`'‘](?:.+?)['’](?=;|$)")
_OBJECT = re.compile(r"(\d\d_\w+\.cu)[\w.-]*\.o\b")
_OWN_PLACE = re.compile(r"(labs/[^\s:]+\.cu:\d+): $")

# What nvcc knows and the cpu build does not: the C++ compiler only reports an unknown file or instruction.
_GPU_HEADER = re.compile(r"fatal error: '?((?:cuda|thrust|nv|cooperative_groups)/[\w./]+|(?:cuda_|curand|mma)\w*\.h)\b")
_ASSEMBLER = re.compile(
    r"Assembler messages:\n\S+: Error: |error: (?:invalid instruction mnemonic|unknown token in expression)"
)

MOST_ERRORS = 8  # lines of the rest


def relative(text: str, root: Path = ROOT, build: Path = BUILD) -> str:
    """The text with paths relative to the workbook, wherever the compiler was started."""
    text = text.replace(f"{os.path.abspath(build)}/../", "").replace(f"{os.path.abspath(root)}/", "")
    return re.sub(r"(?<![\w./])(?:\.\./)+(?=(?:labs|solutions|common|tests)/)", "", text)


def compiler_lines(output: str) -> list[str]:
    """The compilers' lines of Ninja's output, without its progress and the commands that failed."""
    lines: list[str] = []
    skip_command = False
    for line in output.splitlines():
        if skip_command:
            skip_command = False  # the line after FAILED: is the command
        elif _NINJA.match(line):
            skip_command = line.startswith("FAILED: ")
        else:
            lines.append(line)
    return lines


def _has_gap(path: Path) -> bool:
    try:
        return bool(_GAP.search(path.read_text(encoding="utf-8", errors="replace")))
    except OSError:
        return False


def warnings(output: str, root: Path = ROOT, build: Path = BUILD) -> list[str]:
    """The warnings about a student's files, one for each line of a file. A gap that is not filled in leaves variables
    unused: nothing is said about a file that has one."""
    found: dict[str, str] = {}
    for line in compiler_lines(output):
        line = relative(line, root, build)
        warning = _WARNING.match(line)
        if warning and not _has_gap(root / warning[2]):
            found.setdefault(warning[1], compiler_words.warning(line))
    return list(found.values())


def _quoted(error: re.Match[str], root: Path) -> list[str]:
    """The source line that an error names and a mark below its column, for a compiler that quotes neither."""
    if not error[1].startswith("labs/") or ".." in error[1]:  # #line can name any file
        return []
    try:
        text = (root / error[1]).read_text(errors="replace").splitlines()[int(error[2] or error[4]) - 1]
    except (OSError, IndexError):
        return []
    column = int(error[3] or 0)
    if not 0 < column <= len(text):  # unknown, or a column of the rewritten line
        return ["  " + text]
    return ["  " + text, "  " + re.sub(r"[^\t]", " ", text[: column - 1]) + "^"]


def _on_gpus_only(output: str) -> str:
    """A line about what the source uses but CUDA on the CPU lacks; "" if that is not the cause."""
    if header := _GPU_HEADER.search(output):
        return f"\nCUDA on the CPU has no <{header[1]}>: code that needs it runs on GPUs only, compiled by nvcc"
    if _ASSEMBLER.search(output):
        return "\nPTX in asm() runs on GPUs only; CUDA's own functions, such as __shfl_sync or __clz, also run here"
    return ""


def summary(output: str, root: Path = ROOT, build: Path = BUILD) -> str:
    """The first error, with the student's file and line on top, then the rest in few lines."""
    return _shortened(output, root, build) + _on_gpus_only(output)


def _way_here(lines: list[str], errors: list[tuple[int, re.Match[str]]]) -> list[str]:
    """The student's line that led to a first error in a header: the lines around the error name it."""
    first = errors[0][0]
    if _STUDENT.match(lines[first]):
        return []
    start = first
    while start > 0 and not _ERROR.match(lines[start - 1]) and first - start < 30:
        start -= 1
    stop = errors[1][0] if len(errors) > 1 else len(lines)
    places = map(_STUDENT.search, [*lines[start:first][::-1], *lines[first + 1 : stop]])
    return [f"{place[0]}: leads to the error below" for place in places if place][:1]


def _first_error(lines: list[str], first: int, error: re.Match[str], root: Path) -> list[str]:
    """The first error with the source line and the mark that are indented below it, unless that is a rewritten line."""
    shown = [lines[first]]
    for line in lines[first + 1 : first + 7]:
        if _ERROR.match(line) or not line.startswith((" ", "\t")):
            break
        shown.append(line)
    is_own = len(shown) > 1 and "simt::" not in shown[1]
    return shown if is_own else [lines[first], *_quoted(error, root)[: 1 if len(shown) > 1 else 2]]


def _not_viable(lines: list[str], errors: list[tuple[int, re.Match[str]]]) -> list[str]:
    """Why the functions that the first error is about cannot be called as they are."""
    end = errors[1][0] if len(errors) > 1 else len(lines)
    found = [match for match in map(_NOT_VIABLE.match, lines[errors[0][0] + 1 : end]) if match]
    return [f"  {match[1]}: {match[2]}" for match in found[:2]]


def _further_errors(lines: list[str], errors: list[tuple[int, re.Match[str]]]) -> list[str]:
    """The other errors. A template's error comes once for each of its types: one per line of the source is enough. For
    the first line, a second one in different words is shown too: it may be the reason."""
    by_place: dict[tuple[str, str, str], str] = {}
    top_place = errors[0][1][1], errors[0][1][2] or errors[0][1][4]
    for i, error in errors:
        place = error[1], error[2] or error[4]
        words = re.sub("[‘'\"].*[’'\"]", "", error[5]) if place == top_place else ""
        by_place.setdefault((*place, words), lines[i])
    return [line for line in by_place.values() if line != lines[errors[0][0]]]


def linked(lines: list[str]) -> list[str]:
    """What the linker misses or has twice, with the student's file, and its line where that is known."""
    found: dict[str, str] = {}
    file = ""
    for line in lines:
        fault = _LINKED.search(line)
        before = line[: fault.start()] if fault else line
        file = next(iter(_OBJECT.findall(before)), file)
        if not fault:
            continue
        place = _OWN_PLACE.search(before)
        others = _OBJECT.findall(line[fault.end() :])
        also = f", which {others[-1]} defines, too" if others else ""
        found.setdefault(fault[0] + also, f"{place[1] if place else file or 'the program'}: {fault[0]}{also}")
    return list(found.values())


def _shortened(output: str, root: Path, build: Path) -> str:
    lines = [relative(line, root, build) for line in compiler_lines(output)]
    errors = [(i, error) for i, line in enumerate(lines) if (error := _ERROR.match(line))]
    if not errors:
        useful = linked(lines) or [line for line in lines if _LINKER.search(line)]
        useful = useful or [line for line in lines if line.strip()]
        return "\n".join(useful[:MOST_ERRORS]) or "the build failed and printed nothing"
    first, error = errors[0]
    around = error[5], lines[:first], lines[first + 1 :]
    of_launch = launch_errors.explanation(*around) if error[2] else ""
    in_words = of_launch or (compiler_words.explanation(*around) if error[2] else "")
    if unclosed := compiler_words.brace(error, root):
        shown = [unclosed]
    elif in_words:
        way = [] if of_launch else _way_here(lines, errors)
        shown = [*way, f"{error[1]}:{error[2]}: error: {in_words}", *_quoted(error, root)[:1]]
    else:
        shown = [*_way_here(lines, errors), *_first_error(lines, first, error, root)]
        shown += _not_viable(lines, errors)
        shown += filter(None, [missing_includes.hint(lines, first, error[1], root)])
    rest = _further_errors(lines, errors)
    if rest:
        shown += ["", "and then:", *(f"  {line[:160]}" for line in rest[:MOST_ERRORS])]
    if len(rest) > MOST_ERRORS:
        shown.append(f"  ... and {len(rest) - MOST_ERRORS} more")
    return "\n".join(shown)

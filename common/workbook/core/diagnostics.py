"""A compiler's messages, shortened to what a reader must see first."""

import os
import re

from .course import BUILD, ROOT

# g++, clang++ and the rewriter: PATH:LINE[:COLUMN]: error: TEXT; nvcc: PATH(LINE): error: TEXT
_ERROR = re.compile(r"^([^\s:()]+?)(?::(\d+)(?::(\d+))?:|\((\d+)\)\s?:) (?:fatal )?error\b:? ?(.*)")
_WARNING = re.compile(r"^(labs/[^\s:()]+?(?::\d+|\(\d+\))).*\bwarning\b")
_STUDENT = re.compile(r"labs/[^\s:,()]+?(?::(\d+)|\((\d+)\))")
_NINJA = re.compile(r"^\[\d+/\d+\]|^ninja: |^FAILED: ")
_LINKER = re.compile(r"undefined reference|multiple definition|cannot find -l|unresolved external")

# What nvcc has and the CPU build has not: the C++ compiler only says that it found no file, or no instruction.
_GPU_HEADER = re.compile(r"fatal error: '?((?:cuda|thrust|nv|cooperative_groups)/[\w./]+|(?:cuda_|curand|mma)\w*\.h)\b")
_ASSEMBLER = re.compile(r"Assembler messages:|error: (?:invalid instruction mnemonic|unknown token in expression)")

MOST_ERRORS = 8  # lines of the rest


def relative(text, root=ROOT, build=BUILD):
    """The text with paths relative to the workbook, wherever the compiler was started."""
    text = text.replace(f"{os.path.abspath(build)}/../", "").replace(f"{os.path.abspath(root)}/", "")
    return re.sub(r"(?<![\w./])(?:\.\./)+(?=(?:labs|solutions|common|tests)/)", "", text)


def compiler_lines(output):
    """What the compilers said, of what ninja printed: neither its progress nor the commands that failed."""
    lines, skip_command = [], False
    for line in output.splitlines():
        if skip_command:
            skip_command = False  # the line after FAILED: is the command
        elif _NINJA.match(line):
            skip_command = line.startswith("FAILED: ")
        else:
            lines.append(line)
    return lines


def warnings(output, root=ROOT, build=BUILD):
    """The warnings about a student's files, each line of them once."""
    found = {}
    for line in compiler_lines(output):
        line = relative(line, root, build)
        warning = _WARNING.match(line)
        if warning:
            found.setdefault(warning[1], line)
    return list(found.values())


def _quoted(error, root):
    """The source line that an error names and a mark below its column, where the compiler did not find the file."""
    try:
        text = (root / error[1]).read_text(errors="replace").splitlines()[int(error[2] or error[4]) - 1]
    except (OSError, IndexError):
        return []
    column = int(error[3] or 0)
    if not 0 < column <= len(text):  # unknown, or counted in what the line was rewritten to
        return ["  " + text]
    return ["  " + text, "  " + re.sub(r"[^\t]", " ", text[: column - 1]) + "^"]


def _on_gpus_only(output):
    """What CUDA on the CPU lacks of what was asked for, in a line; else nothing."""
    if header := _GPU_HEADER.search(output):
        return f"\nCUDA on the CPU has no <{header[1]}>: what needs it runs on GPUs only, compiled by nvcc"
    if _ASSEMBLER.search(output):
        return "\nPTX in asm() runs on GPUs only; CUDA's own functions, such as __shfl_sync or __clz, run here, too"
    return ""


def summary(output, root=ROOT, build=BUILD):
    """The first error, with the student's file and line on top, then the rest in few lines."""
    return _shortened(output, root, build) + _on_gpus_only(output)


def _shortened(output, root, build):
    lines = [relative(line, root, build) for line in compiler_lines(output)]
    errors = [i for i, line in enumerate(lines) if _ERROR.match(line)]
    if not errors:
        told = [line for line in lines if _LINKER.search(line)] or [line for line in lines if line.strip()]
        return "\n".join(told[:MOST_ERRORS]) or "the build failed and said nothing"
    first = errors[0]
    # An error in a header was met on the way from a student's line, which the lines around it name.
    top = []
    if not lines[first].startswith("labs/"):
        start = first
        while start > 0 and not _ERROR.match(lines[start - 1]) and first - start < 30:
            start -= 1
        stop = errors[1] if len(errors) > 1 else len(lines)
        for line in [*lines[start:first][::-1], *lines[first + 1 : stop]]:
            place = _STUDENT.search(line)
            if place:
                top.append(f"{place[0]}: leads to the error below")
                break
    shown = [lines[first]]
    for line in lines[first + 1 : first + 7]:
        if _ERROR.match(line) or not line.startswith((" ", "\t")):
            break  # the quoted source and the mark below it are indented
        shown.append(line)
    if len(shown) == 1:
        shown += _quoted(_ERROR.match(lines[first]), root)
    # A template's error comes once for each type it is made for: one a line of the source is enough. Only of the
    # first line another one is told, in other words than the names that are quoted: it may be the reason.
    rest, top_place = {}, None
    for i in errors:
        error = _ERROR.match(lines[i])
        place = error[1], error[2] or error[4]
        top_place = top_place or place
        words = re.sub("[‘'\"].*[’'\"]", "", error[5]) if place == top_place else ""
        rest.setdefault((place, words), lines[i])
    rest = [line for line in rest.values() if line != lines[first]]
    more = [] if not rest else ["", "and then:"] + [f"  {line[:160]}" for line in rest[:MOST_ERRORS]]
    if len(rest) > MOST_ERRORS:
        more.append(f"  .. and {len(rest) - MOST_ERRORS} more")
    return "\n".join(top + shown + more)

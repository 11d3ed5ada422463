#!/usr/bin/env python3
"""Plants mistakes by rules in right steps, and counts how often `check` names their place: measured in a clone.

    planted.py CLONE RIGHT SAMPLES [SEED]      CLONE is a clone of the repository whose labs/ may be overwritten

RIGHT is a folder of right steps, LAB/FILE.cu, or LAB/FILE.STYLE.cu for several versions of one file. SAMPLES mistakes
are drawn from all that the rules below can plant in lines that the starter does not give, of each kind of rule as many
as of the others. Each is checked as a student would check it. Prints a line of CSV for each: its number, the version,
the line, the kind of rule, what the line became, whether the first lines of the verdict name the line, and the seconds
until they did. "passed": the mistake has no effect, or is not found. "refused": it does not compile. "no verdict": none
came in time. The first lines are kept in CLONE/planted. That they name the line does not mean that they name the cause.
"""

from __future__ import annotations

import csv
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SECONDS = 240  # for one check
ENVIRONMENT = {**os.environ, "NO_COLOR": "1", "COLUMNS": "100"}
# Kind of mistake, what it looks for in a line, and what it becomes.
RULES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("relation", r" < ", (" <= ", " > ")),
    ("relation", r" <= ", (" < ",)),
    ("relation", r" > ", (" >= ", " < ")),
    ("relation", r" >= ", (" > ",)),
    ("relation", r" == ", (" != ",)),
    ("relation", r" != ", (" == ",)),
    ("by one", r" [+-] 1\b(?![.\d])", ("", " + 2")),
    ("by one", r"(?<=[<>] )(\w+)(?=[;)])", (r"\1 - 1", r"\1 + 1")),
    ("by one", r"(?<== )0(?=;)", ("1",)),
    ("by one", r"(?<== )1(?=;)", ("0", "2")),
    ("operator", r"(?<=\w|\)|\]) \+ (?=\w|\()", (" - ", " * ")),
    ("operator", r"(?<=\w|\)|\]) - (?=\w|\()", (" + ",)),
    ("operator", r" \* ", (" + ",)),
    ("operator", r" / ", (" * ", " % ")),
    ("operator", r" % ", (" / ",)),
    ("operator", r" & ", (" | ", " % ", " ^ ")),
    ("operator", r" \^ ", (" + ", " | ")),
    ("operator", r" << ", (" >> ",)),
    ("operator", r" >> ", (" << ",)),
    ("operator", r" && ", (" || ",)),
    ("operator", r" \|\| ", (" && ",)),
    ("operator", r"!(?=[\w(])", ("",)),
    ("term", r"\b2 \* ", ("",)),
    ("term", r" \* 2\b", ("",)),
    ("term", r" / 2\b", ("", " / 4")),
    ("term", r" % 2\b", ("",)),
    ("term", r" [+-] \w+(?=[;)\]])", ("",)),
    ("built-in", r"\bblockIdx\b", ("threadIdx",)),
    ("built-in", r"\bthreadIdx\b", ("blockIdx",)),
    ("built-in", r"\bblockDim\b", ("gridDim",)),
    ("built-in", r"\bgridDim\b", ("blockDim",)),
    ("built-in", r"blockIdx\.x \* blockDim\.x \+ ", ("",)),
    ("built-in", r"gridDim\.x \* blockDim\.x", ("blockDim.x", "gridDim.x")),
    ("statement", r"^\s*[\w\[\]\.\->+ *]+ (?:[+\-*/|&^]|<<|>>)?= [^;]+;$", ("",)),
    ("statement", r"^\s*\w[\w:]*\([^;]*\);$", ("",)),
    ("statement", r"^\s*return;$", ("",)),
    ("barrier", r"__syncthreads\(\);", ("", "__syncwarp();")),
    ("jump", r"\bcontinue;", ("return;", "break;")),
    ("jump", r"\breturn;", ("continue;",)),
    ("jump", r"\bbreak;", ("return;",)),
    ("condition", r"\bif \((.*)\)(?= [\w{]|$)", ("if (true)",)),
    ("condition", r"\belse if \(", ("if (",)),
    ("loop", r"\+= [\w.]+(?=\))", ("+= 1",)),
    ("loop", r"\*= 2(?=\))", ("+= 2",)),
    ("loop", r"/= 2(?=\))", ("-= 1",)),
    ("loop", r"\bwhile \(", ("if (",)),
    ("arguments", r"(?<=\()(\w[\w.\[\] +]*), (\w[\w.\[\] +]*)(?=[,)])", (r"\2, \1",)),
    ("arguments", r"<<<(\w+), (\w+)", (r"<<<\2, \1",)),
    ("parameter", r"\bKey& (\w+)(?=[,)])", (r"Key \1",)),
    ("values", r"\btrue\b", ("false",)),
    ("values", r"\bfalse\b", ("true",)),
    ("values", r" \? ([^:?]+) : ([^:?;]+)(?=[;)])", (r" ? \2 : \1",)),
)
NAME = r"\b[a-z]\w*\b(?![(<:.])"
NOT_NAMES = frozenset(
    ("auto", "bool", "break", "const", "constexpr", "continue", "do", "else", "false", "float", "for", "if", "int")
    + ("long", "return", "sizeof", "static", "template", "true", "typename", "unsigned", "void", "while", "x", "y", "z")
)


@dataclass(frozen=True)
class Planted:
    """A mistake in one line, counted from 1."""

    kind: str
    line: int
    becomes: str


def is_code(line: str) -> bool:
    """Whether a line has a statement, or a part of one."""
    text = line.strip()
    return bool(text) and not text.startswith(("//", "#", "template", "namespace", "}")) and "NOT_WRITTEN" not in text


def in_line(line: str, names: list[str]) -> Iterator[tuple[str, str]]:
    """The kinds of mistakes that fit a line, with what it becomes. `names`: those of its function."""
    code, slashes, comment = line.partition("//")
    for kind, pattern, becoming in RULES:
        for match in re.finditer(pattern, code.rstrip()):
            for text in becoming:
                changed = code[: match.start()] + match.expand(text) + code[match.end() :]
                yield kind, (changed.rstrip() + " " * bool(comment) + slashes + comment).rstrip()
    for match in re.finditer(NAME, code):
        if match[0] not in NOT_NAMES and match[0] in names:
            for other in names:
                if other != match[0]:
                    yield "name", code[: match.start()] + other + code[match.end() :] + slashes + comment


def function_at(lines: list[str], number: int) -> tuple[int, int]:
    """The lines of a function, as two indices: from a line without indentation that opens it to its brace."""
    begin = end = number
    while begin > 0 and not re.match(r"(template|__global__|void|inline|__device__|static|namespace|\})", lines[begin]):
        begin -= 1
    while end + 1 < len(lines) and not lines[end].startswith("}"):
        end += 1
    return begin, end


def mistakes(text: str, given: set[str]) -> list[Planted]:
    """All that the rules can plant in lines that are not `given`."""
    lines = text.splitlines()
    found: list[Planted] = []
    for index, line in enumerate(lines):
        if not is_code(line) or line.strip() in given:
            continue
        begin, end = function_at(lines, index)
        names = [name for name in re.findall(NAME, " ".join(map(code_of, lines[begin:end]))) if name not in NOT_NAMES]
        for kind, becomes in in_line(line, sorted(set(names))):
            found.append(Planted(kind, index + 1, becomes))
        if index + 1 < len(lines) and all(one.strip().endswith(";") for one in lines[index : index + 2]):
            found.append(Planted("order", index + 1, f"{lines[index + 1]}\n{line}"))
    return list(dict.fromkeys(found))


def code_of(line: str) -> str:
    """A line without its comment."""
    return line.partition("//")[0]


def with_mistake(text: str, planted: Planted) -> str:
    """The file with the mistake."""
    lines = text.splitlines()
    taken = 1 + planted.becomes.count("\n")
    lines[planted.line - 1 : planted.line - 1 + taken] = planted.becomes.split("\n")
    return "\n".join(lines) + "\n"


def named(lines: list[str], file: str, planted: Planted) -> bool:
    """Whether lines of the output name the place of a mistake, by its number or by its text."""
    said = " ".join(line.strip() for line in lines)
    name = Path(file).name
    places = {int(line) for line in re.findall(rf"{re.escape(name)}:(\d+)", said)}
    places |= {int(line) for line in re.findall(r"\blines? (\d+)", said)}
    near = {planted.line}
    if not code_of(planted.becomes).strip():  # what is missing belongs between two lines
        near |= {planted.line - 1, planted.line + 1}
    if "\n" in planted.becomes:
        near.add(planted.line + 1)
    code = re.sub(r"\s+", " ", code_of(planted.becomes.split("\n")[0])).strip(" ;{")
    return bool(places & near) or (len(code) > 6 and code in re.sub(r"\s+", " ", said))


def verdict(clone: Path, lab: str, step: int) -> tuple[list[str], int]:
    """The first lines of what `check` says about a step that fails, after which it is not awaited, and its exit
    status."""
    first: list[str] = []
    with subprocess.Popen(
        ["./workbook", "check", lab, str(step)],
        cwd=clone,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout
        watchdog = threading.Timer(SECONDS, os.killpg, (process.pid, signal.SIGINT))
        watchdog.start()
        is_open = False
        for line in map(str.rstrip, process.stdout):
            if not is_open:
                is_open = line.startswith("OVER") or line.endswith(
                    ("The first thing to fix:", "nvcc does not compile it:")
                )
            elif line and first and not line.startswith(" "):
                os.killpg(process.pid, signal.SIGINT)
                break
            else:
                first += [line] * bool(line)
        status = process.wait()
        watchdog.cancel()
    return first, status


def main(clone_folder: str, right_folder: str, samples: str, seed: str = "1") -> int:
    """Measures; the exit status."""
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # a background shell ignores SIGINT, and child processes inherit that
    clone, right = Path(clone_folder).resolve(), Path(right_folder).resolve()
    drawn = random.Random(int(seed))
    kept = clone / "planted"
    kept.mkdir(exist_ok=True)
    by_kind: dict[str, list[tuple[Path, Planted]]] = {}
    for path in sorted(right.glob("0*/0*.cu")):
        file = f"labs/{path.parent.name}/{path.name.split('.')[0]}.cu"
        shown = subprocess.run(["git", "show", f"HEAD:{file}"], cwd=clone, capture_output=True, text=True, check=True)
        given = {line.strip() for line in shown.stdout.splitlines()}
        for planted in mistakes(path.read_text(encoding="utf-8"), given):
            by_kind.setdefault(planted.kind, []).append((path, planted))
    for group in by_kind.values():
        drawn.shuffle(group)
    chosen = [group[i] for i in range(int(samples)) for group in by_kind.values() if i < len(group)][: int(samples)]
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(("number", "version", "line", "rule", "becomes", "named", "seconds"))
    before: Path | None = None
    for number, (path, planted) in enumerate(sorted(chosen, key=lambda one: (str(one[0]), one[1].line))):
        lab, file = path.parent.name, f"{path.name.split('.')[0]}.cu"
        saved = clone / "labs" / lab / file
        text = path.read_text(encoding="utf-8")
        if before != path:  # earlier steps may be used by this one
            for other in right.glob(f"{lab}/0*.cu"):
                if other.name.split(".")[1:] == path.name.split(".")[1:]:
                    (saved.parent / f"{other.name.split('.')[0]}.cu").write_text(other.read_text(encoding="utf-8"))
            before = path
        saved.write_text(with_mistake(text, planted), encoding="utf-8")
        begin = time.monotonic()
        try:
            first, status = verdict(clone, lab, int(file[:2]))
        finally:
            saved.write_text(text, encoding="utf-8")
        seconds = time.monotonic() - begin
        where = "passed" if status == 0 else "refused" if seconds < SECONDS else "no verdict"
        if first:
            where = "named" if named(first, file, planted) else "not named"
        becomes = planted.becomes.strip() or "(deleted)"
        said = [f"{path}:{planted.line} {planted.kind}: {where}", f"- {text.splitlines()[planted.line - 1]}"]
        (kept / f"{number:03}.txt").write_text("\n".join([*said, f"+ {becomes}", "", *first, ""]), encoding="utf-8")
        out.writerow((number, f"{lab}/{path.name}", planted.line, planted.kind, becomes, where, f"{seconds:.1f}"))
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))

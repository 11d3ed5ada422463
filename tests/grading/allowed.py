#!/usr/bin/env python3
"""Lists what steps may use: the symbols that the solutions and the corpus need from libraries and from CUDA.

    allowed.py BUILD            fails if the list of BUILD's compilers differs (77: BUILD lacks a list's version, or the
                                solutions are not compiled for it)
    allowed.py BUILD --write    writes common/workbook/inspection/allowed/COMPILER.txt

BUILD is a build folder in which the solutions are compiled. Its C++ compiler makes gcc.txt or clang.txt, and nvcc, if
it is set up, nvcc.txt. The corpus (corpus/*.cu) is ordinary C++ and CUDA, compiled like a step for each build.
"""

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from compiling import ROOT, command_of, compile_file, compiler

from workbook.core import build, files
from workbook.core.console import Problem
from workbook.inspection import inspector
from workbook.inspection.objects import Object, demangled
from workbook.inspection.refusals import refusal_of

CORPUS = sorted((ROOT / "tests/grading/corpus").glob("*.cu"))


def version(kind: str) -> str:
    """The compiler's version, for the list's first line."""
    command = command_of("03-bitonic", kind)
    program = next(word for word in command if not word.endswith("ccache"))
    printed = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"release (\S+),|(\d+\.\d+)[.\d]*\b(?!.*\)$)", printed, re.M)
    return (found[1] or found[2]) if found else "?"


def needed(objects: Iterable[Object]) -> set[str]:
    """What the objects leave for others to define."""
    objects = list(objects)
    defined = {s.name for each in objects for s in each.symbols if not s.is_undefined and not s.is_local}
    used = {s.name for each in objects for s in each.symbols if s.is_undefined and s.name}
    return {name for name in used - defined if not inspector.is_of_compiler(name)}


def solutions(kind: str) -> list[Path]:
    """The objects of all solutions in a build."""
    return sorted(build.folder().glob(f"labs/*-{kind}-solution.p/*.cu*.o"))


def symbols(kinds: Iterable[str]) -> set[str]:
    """What all solutions and the corpus need in these builds."""
    sources = list((ROOT / "solutions").glob("[0-9]*/*.cu"))
    if missing := [kind for kind in kinds if len(solutions(kind)) < len(sources)]:
        raise Problem(f"{build.folder()} lacks compiled solutions for {', '.join(missing)}: build it first")
    found: set[str] = set()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        jobs = [(kind, pool.submit(compile_file, source, kind, Path(folder))) for kind in kinds for source in CORPUS]
        for kind in kinds:
            objects = solutions(kind)
            for lab in {path.parent for path in objects}:
                found |= needed(Object(path) for path in objects if path.parent == lab)
        for _, job in jobs:
            found |= needed([Object(job.result())])
    return found


def text_of(names: set[str], name: str, release: str) -> str:
    """The file's text."""
    shown = demangled(names)
    lines = [f"{name}  {shown[name]}" if shown[name] != name else name for name in sorted(names)]
    head = (
        f"# {name} {release}: what the solutions and tests/grading/corpus need; tests/grading/allowed.py writes it.\n"
    )
    return head + "".join(f"{line}\n" for line in lines)


def main() -> int:
    """Compares or writes the lists of the build folder's compilers."""
    build.use_folder(Path(sys.argv[1]).resolve())
    lists: dict[str, list[str]] = {}
    for kind in ("cpu", "check", "cuda"):
        if command_of("03-bitonic", kind):
            lists.setdefault(compiler(kind), []).append(kind)
    status = 0
    for name, kinds in lists.items():
        try:
            names = symbols(kinds)
        except Problem as problem:
            print(f"{name}.txt is left out: {problem}")
            status = status or 77
            continue
        shown = demangled(names)
        refused = sorted(n for n in names if refusal_of(n, shown.get(n, n)))
        if refused:
            print(f"the corpus needs what is refused: {', '.join(refused)}")
            status = 1
        path = inspector.ALLOWED / f"{name}.txt"
        text = text_of(names, name, version(kinds[0]))
        if "--write" in sys.argv:
            files.write_whole(path, text)
            continue
        recorded = path.read_text(encoding="utf-8") if path.exists() else ""
        if recorded.split(":")[0] != text.split(":")[0]:
            print(f"{path.name} is of another version than this compiler ({version(kinds[0])}): not compared")
            status = status or 77
        elif recorded != text:
            more, fewer = names - inspector.allowed(name), inspector.allowed(name) - names
            print(f"{path.name} differs; tests/grading/allowed.py {sys.argv[1]} --write writes it")
            print("".join(f"  + {n}\n" for n in sorted(more)) + "".join(f"  - {n}\n" for n in sorted(fewer)))
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())

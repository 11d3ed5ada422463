#!/usr/bin/env python3
"""What steps may use: the symbols that the solutions and the corpus need from libraries and from CUDA.

    allowed.py BUILD            fails if they need one that is not allowed (77: no solutions are compiled in BUILD)
    allowed.py BUILD --write    adds it to common/workbook/inspection/allowed.txt

BUILD is a build folder in which the solutions are compiled. The corpus (corpus/*.cu) is ordinary C++ and CUDA, compiled
like a step for each of its builds.
"""

import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from compiling import ROOT, command_of, compile_file

from workbook.core import build, files
from workbook.inspection import inspector
from workbook.inspection.objects import Object, demangled
from workbook.inspection.refusals import refusal_of

CORPUS = sorted((ROOT / "tests/grading/corpus").glob("*.cu"))


def needed(paths: list[Path]) -> set[str]:
    """What the objects leave for others to define."""
    symbols = [symbol for path in paths for symbol in Object(path).symbols if symbol.name and not symbol.is_local]
    return {s.name for s in symbols if s.is_undefined} - {s.name for s in symbols if not s.is_undefined}


def main() -> int:
    """Compares or writes the list."""
    build.use_folder(Path(sys.argv[1]).resolve())
    kinds = [kind for kind in ("cpu", "check", "cuda") if command_of("03-bitonic", kind)]
    folders = [folder for kind in kinds for folder in build.folder().glob(f"labs/*-{kind}-solution.p")]
    labs = [objects for folder in folders if (objects := sorted(folder.glob("*.cu*.o")))]
    if not labs:
        print("not run: no solutions are compiled in this folder")
        return 77
    names = set().union(*map(needed, labs))
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(compile_file, source, kind, Path(folder)) for kind in kinds for source in CORPUS]
        names.update(*(needed([job.result()]) for job in jobs))
    shown = demangled(names)
    refused = sorted(name for name in names if refusal_of(name, shown.get(name, name)))
    missing = sorted(name for name in names - set(refused) if not inspector.is_allowed(name))
    if refused:
        print(f"the solutions or the corpus need what is refused: {', '.join(refused)}")
    if missing and "--write" in sys.argv:
        head, *lines = inspector.ALLOWED.read_text(encoding="utf-8").splitlines()
        lines += [name if shown[name] == name else f"{name}  {shown[name]}" for name in missing]
        files.write_whole(inspector.ALLOWED, "".join(f"{line}\n" for line in (head, *sorted(lines))))
        missing = []
    for name in missing:
        print(f"not allowed: {shown[name]} ({name}); {sys.argv[0]} BUILD --write adds it")
    return 1 if refused or missing else 0


if __name__ == "__main__":
    sys.exit(main())

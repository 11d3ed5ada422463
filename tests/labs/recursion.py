#!/usr/bin/env python3
"""No device function of the solutions calls itself, directly or through others: a GPU's threads have small stacks.

recursion.py BUILD [--all]      BUILD is Meson's build folder; without --all, only lab 06

g++ writes which function calls which; exits with 77, which Meson counts as "not run", where the project is built by
clang++. First, a solution in which a function does call itself must be found.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "common/simt"), str(ROOT / "common")]

from calls.call_graph import Function, read  # noqa: E402

from workbook.core import build  # noqa: E402
from workbook.core.recipe import Recipe  # noqa: E402

SKIPPED = 77
LAB = "06-beyond-memory"
OPTIONS = ["-O0", "-w", "-Wno-error"]


def recursive(functions: Iterable[Function]) -> set[str]:
    """The device functions that can be reached from themselves."""
    known = {function.id: function for function in functions if function.is_for_device}
    calls = {id_: {call.id for call in function.calls if call.id in known} for id_, function in known.items()}
    found = set()
    for begin in known:
        reached: set[str] = set()
        left = list(calls[begin])
        while left:
            id_ = left.pop()
            if id_ not in reached:
                reached.add(id_)
                left += calls[id_]
        if begin in reached:
            found.add(known[begin].shown)
    return found


def functions_of(folder: Path, lab: str, name: str, text: str) -> list[Function]:
    """The functions of a file of a lab, with this text."""
    recipe = Recipe.of(folder, lab, name, "cpu")
    while "-wrapper" in recipe.compile:  # it writes a list of its own
        at = recipe.compile.index("-wrapper")
        del recipe.compile[at : at + 2]
    with tempfile.TemporaryDirectory() as into:
        dump = Path(into) / "calls"
        recipe.compiled(text, Path(into), [*OPTIONS, f"-fdump-tree-lower-lineno-asmname-uid={dump}"])
        return list(read(dump.read_text(encoding="utf-8", errors="replace")))


def main(folder: Path, *options: str) -> int:
    """Searches; the exit status."""
    build.use_folder(folder)
    if build.compiler() != "gcc":
        print("not run: only g++ writes which function calls which")
        return SKIPPED
    runs = ROOT / "solutions" / LAB / "01_runs.cu"
    text, old = runs.read_text(encoding="utf-8"), "return i * threads_per_block + threadIdx.x;"
    changed = text.replace(old, "return i > 0 ? place(i - 1) + threads_per_block : int(threadIdx.x);")
    found = recursive(functions_of(folder, LAB, runs.name, changed))
    if text.count(old) != 1 or not any("place" in name for name in found):
        print(f"a function that calls itself was not found, only: {found}")
        return 1
    wrong, seen = 0, 0
    for path in sorted((ROOT / "solutions").glob("[0-9]*/*.cu" if "--all" in options else f"{LAB}/*.cu")):
        functions = functions_of(folder, path.parent.name, path.name, path.read_text(encoding="utf-8"))
        on_device = sum(function.is_for_device for function in functions)
        found = recursive(functions)
        wrong += bool(found)
        seen += on_device
        print(f"{path.parent.name}/{path.name}: {on_device} device functions, recursive: {sorted(found) or 'none'}")
    return 1 if wrong or not seen else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), *sys.argv[2:]))

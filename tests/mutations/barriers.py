#!/usr/bin/env python3
"""Mutates the solutions, one line at a time: the check build must report what is wrong.

    barriers.py BUILD [LAB ...]      BUILD is Meson's build folder, with the solutions' check runners; without labs, one
                                     is drawn (drawn.py)

Each barrier is removed in turn, and each of a student's usual mistakes is made. Without a barrier any finding is
enough: of several that follow, the order of threads decides which comes first. If a shuffle lies between the two
accesses that a barrier orders, the note on that is enough. A barrier whose comment begins with "not needed" must not be
missed: there must be no finding. For a mistake the kind and the line must be right. Prints the
share that is found.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "common"), str(ROOT / "tests")]

from drawn import drawn  # noqa: E402

from workbook.core import build, check_build  # noqa: E402
from workbook.core.course import labs  # noqa: E402
from workbook.core.recipe import Recipe  # noqa: E402

BARRIER = re.compile(r"((?:__sync(?:threads|warp)|synchronize<\w+>)\(\);)( *// (.*))?")
# A function in place of a changed source, so that a file is compiled once for all its barriers.
SWITCH = "keeps_barrier"

# Lab, file, what is replaced by what in one line, and the kind that must be reported there. LOOP: a loop that goes one
# too far. It is reported where the loop accesses memory, in one of the lines that follow.
LOOP = "loop"
COUNTER = "tile_counts[keys.data[first + i]]"
MISTAKES = [
    ("01-odd-even", "01_global.cu", "t < pairs;", "t <= pairs;", LOOP),
    ("01-odd-even", "02_halo.cu", "window[i] = from[left + i];", "window[i] = from[left + i + 1];", "out-of-bounds"),
    ("02-merge", "02_block.cu", "tile, 0, from, first, count);", "tile, 0, from, first + 1, count);", "out-of-bounds"),
    ("03-bitonic", "01_global.cu", "t < comparators;", "t <= comparators;", LOOP),
    ("03-bitonic", "02_shared.cu", "keys, values, first, count);", "keys, values, first + 1, count);", "out-of-bounds"),
    ("04-counting", "01_global.cu", "i < keys.n;", "i <= keys.n;", LOOP),
    ("04-counting", "02_shared.cu", f"atomicAdd(&{COUNTER}, 1u);", f"++{COUNTER};", "race"),
    ("05-radix", "02_split.cu", "count(i < keys.n &&", "count(i <= keys.n &&", "out-of-bounds"),
    ("05-radix", "03_digits.cu", "if (i < keys.n) atomicAdd(", "if (i <= keys.n) atomicAdd(", "out-of-bounds"),
]


@dataclass(frozen=True)
class Mutation:
    """One changed line of a solution."""

    lab: str
    path: Path
    number: int  # from 0
    line: str
    kind: str | None = None  # of a mistake
    redundant: bool = False  # a barrier that must not be missed

    @property
    def where(self) -> str:
        """The file and the line, from 1."""
        return f"solutions/{self.lab}/{self.path.name}:{self.number + 1}"


def make_runner(folder: Path, mutation: Mutation, into: Path, kind: str = "check") -> Path:
    """Makes the lab's runner of a build with the changed line, by the commands that made the solution's."""
    recipe = Recipe.of(folder, mutation.lab, mutation.path.name, kind)
    lines = mutation.path.read_text().splitlines()
    lines[mutation.number] = mutation.line
    into.mkdir(exist_ok=True)
    return recipe.make_runner(recipe.make_object("\n".join(lines) + "\n", into), [], into / "runner")


class SwitchedFile:
    """A file whose barriers are compiled once, each with a switch; linking decides which of them is missing."""

    def __init__(self, folder: Path, mutations: Sequence[Mutation], into: Path) -> None:
        self._recipe = Recipe.of(folder, mutations[0].lab, mutations[0].path.name, "check")
        self._into = into
        lines = mutations[0].path.read_text().splitlines()
        for mutation in mutations:
            lines[mutation.number] = mutation.line
        # The declaration takes the place of an empty line: the other lines keep their numbers.
        last = max(i for i, line in enumerate(lines) if line.startswith("#include"))
        lines[lines.index("", last)] = f"__device__ bool {SWITCH}(int line);"
        self._object = self._recipe.make_object("\n".join(lines) + "\n", into)

    def make_runner(self, number: int) -> Path:
        """The runner without the barrier in this line."""
        into = self._into / str(number)
        into.mkdir()
        switch = into / "switch.cpp"
        switch.write_text(f"bool {SWITCH}(int line) {{ return line != {number}; }}\n")
        compiler = self._recipe.compile[: next(i for i, w in enumerate(self._recipe.compile) if w.startswith("-"))]
        self._recipe.run([*compiler, "-c", str(switch), "-o", str(into / "switch.o")], {})
        return self._recipe.make_runner(self._object, [into / "switch.o"], into / "runner")


def without_barriers(lab: str) -> Iterator[Mutation]:
    """The solutions of a lab, each without one of its barriers."""
    for path in sorted((ROOT / "solutions" / lab).glob("[0-9]*.cu")):
        for number, line in enumerate(path.read_text().splitlines()):
            barrier = BARRIER.search(line)
            if barrier and not line.lstrip().startswith("//"):
                redundant = (barrier[3] or "").startswith("not needed")
                changed = BARRIER.sub(rf"{{ if ({SWITCH}({number})) \1 }}", line, count=1)
                yield Mutation(lab, path, number, changed, redundant=redundant)


def mistake(lab: str, name: str, old: str, new: str, kind: str) -> Mutation:
    """A line of MISTAKES as a mutation."""
    path = ROOT / "solutions" / lab / name
    lines = path.read_text().splitlines()
    numbers = [i for i, line in enumerate(lines) if old in line]
    if len(numbers) != 1:
        raise SystemExit(f"{path}: '{old}' occurs in {len(numbers)} lines, not in one")
    return Mutation(lab, path, numbers[0], lines[numbers[0]].replace(old, new), kind)


def what_is_wrong(mutation: Mutation, verdict: check_build.Observation) -> str | None:
    """What the check build should have reported, or should not have; None if it is right."""
    findings = [str(finding) for finding in verdict.findings]
    if mutation.kind is None:
        noted = any(kind == "shuffle-order" for _, _, kind in verdict.remarks)
        if bool(findings) != mutation.redundant or (noted and not findings):
            return None
        text = f"{mutation.where}: {findings[0] if mutation.redundant else 'no finding without this barrier'}"
        return text + (f"\n  {verdict.failed.message}" if verdict.failed else "")
    loop = mutation.kind == LOOP
    wanted = f": error: {'out-of-bounds' if loop else mutation.kind}: "
    # The line of the mutation is where the fault is, or where the lab's header was called from.
    near = [f"/{mutation.path.name}:{mutation.number + 1 + i}" for i in range(8 if loop else 1)]
    places = re.compile("|".join(re.escape(place) + r"\b" for place in near))
    if any(wanted in finding and places.search(finding) for finding in findings):
        return None
    return f"{mutation.where}: {mutation.line.strip()}: no{wanted}in {', '.join(near)}: {findings}"


def report(mutation: Mutation, runner: Path) -> str | None:
    """Prints what the check build finds with this runner; what is wrong with that, or None."""
    verdict = check_build.check_step(mutation.lab, int(mutation.path.name[:2]), runner)
    runner.unlink()  # 23 MB
    print(f"{mutation.where}: {str(verdict.findings[0])[:150] if verdict.findings else 'no finding'}", flush=True)
    return what_is_wrong(mutation, verdict)


def check_file(folder: Path, mutations: Sequence[Mutation]) -> dict[Mutation, str | None]:
    """What is wrong with the verdicts on mutations of one file; None where it is right."""
    with tempfile.TemporaryDirectory() as temporary:
        if mutations[0].kind:
            return {m: report(m, make_runner(folder, m, Path(temporary) / str(i))) for i, m in enumerate(mutations)}
        switched = SwitchedFile(folder, mutations, Path(temporary))
        return {mutation: report(mutation, switched.make_runner(mutation.number)) for mutation in mutations}


def check_all(folder: Path, mutations: Iterable[Mutation]) -> dict[Mutation, str | None]:
    """What is wrong with the verdict on each mutation; None where it is right."""
    files: dict[tuple[Path, str | None], list[Mutation]] = {}
    for mutation in mutations:
        files.setdefault((mutation.path, mutation.kind), []).append(mutation)
    longest_first = sorted(files.values(), key=len, reverse=True)
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        parts = pool.map(check_file, [folder] * len(files), longest_first)
        return {mutation: wrong for part in parts for mutation, wrong in part.items()}


def main(folder: str, *chosen: str) -> int:
    """Tries all mutations; the exit status."""
    build.use_folder(Path(folder).resolve())
    names: Sequence[str] = chosen or drawn(labs(), 1)
    barriers = [mutation for lab in names for mutation in without_barriers(lab)]
    mistakes = [mistake(*words) for words in MISTAKES if words[0] in names]
    wrong = check_all(Path(folder).resolve(), [*barriers, *mistakes])
    needed = [mutation for mutation in barriers if not mutation.redundant]
    print(f"caught: {sum(wrong[mutation] is None for mutation in needed)} of {len(needed)} missing barriers")
    print(f"caught: {sum(wrong[mutation] is None for mutation in mistakes)} of {len(mistakes)} wrong kernels")
    print("\n".join(text for text in wrong.values() if text))
    return 1 if any(wrong.values()) else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

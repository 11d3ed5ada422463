#!/usr/bin/env python3
"""Mutates the solutions, one line at a time: the check build must report what is wrong.

    barriers.py BUILD [LAB ...]      BUILD is Meson's build folder, with the solutions' check runners

Each barrier is removed in turn, and each of a student's usual mistakes is made. Without a barrier any finding is
enough: of several that follow, the order of threads decides which comes first. A barrier whose comment begins with
"redundant" must not be missed: there must be no finding. For a mistake the kind and the line must be right. Prints the
share that is found.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "common"))

from workbook.core import build, check_build  # noqa: E402
from workbook.core.course import labs  # noqa: E402

BARRIER = re.compile(r"__sync(threads|warp)\(\);( *// (.*))?")


# Lab, file, what is replaced by what in one line, and the kind that must be reported there. LOOP: a loop that goes one
# too far. It is reported where the loop accesses memory, in one of the lines that follow.
LOOP = "loop"
MISTAKES = [
    ("01-odd-even", "01_global.cu", "t < pairs;", "t <= pairs;", LOOP),
    ("01-odd-even", "02_halo.cu", "window[i] = from[left + i];", "window[i] = from[left + i + 1];", "out-of-bounds"),
    (
        "02-merge",
        "02_block.cu",
        "load_items(tile, 0, from, first, count);",
        "load_items(tile, 0, from, first + 1, count);",
        "out-of-bounds",
    ),
    ("03-bitonic", "01_global.cu", "t < comparators;", "t <= comparators;", LOOP),
    (
        "03-bitonic",
        "02_shared.cu",
        "load_tile(tile, tile_values, keys, values, first, count);",
        "load_tile(tile, tile_values, keys, values, first + 1, count);",
        "out-of-bounds",
    ),
    ("04-counting", "01_global.cu", "i < keys.n;", "i <= keys.n;", LOOP),
    (
        "04-counting",
        "02_shared.cu",
        "atomicAdd(&wanted[keys.data[first + i]], 1u);",
        "++wanted[keys.data[first + i]];",
        "race",
    ),
    (
        "05-radix",
        "02_split.cu",
        "__syncthreads_count(i < keys.n &&",
        "__syncthreads_count(i <= keys.n &&",
        "out-of-bounds",
    ),
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


def commands(folder: Path, target: str) -> list[list[str]]:
    """The command lines that make a program, each as words, the link last."""
    listed = subprocess.run(
        ["ninja", "-C", str(folder), "-t", "commands", target], capture_output=True, text=True, check=True
    )
    return [shlex.split(line) for line in listed.stdout.splitlines() if line]


def make_runner(folder: Path, mutation: Mutation, into: Path, kind: str = "check") -> Path:
    """Makes the lab's runner of a build with the changed line, by the commands that made the solution's."""
    name = mutation.path.name
    lines = mutation.path.read_text().splitlines(keepends=True)
    lines[mutation.number] = mutation.line + "\n"
    source = into / name
    source.write_text("".join(lines))
    target = f"labs/{mutation.lab}-{kind}-solution"
    generated = f"{target}.p/{name}.cpp"
    made = commands(folder, target)
    rewrite = next(words for words in made if generated in words and "rewrite.py" in " ".join(words))
    compiled = next(words for words in made if "-c" in words and words[words.index("-c") + 1] == generated)
    link, item = made[-1], compiled[compiled.index("-o") + 1]
    runner = into / "runner"
    replaced = {generated: str(into / f"{name}.cpp"), item: str(into / "changed.o"), target: str(runner)}
    for words in (rewrite, compiled, link):
        words = [replaced.get(word, word) for word in words]
        words = [str(source) if word.endswith(f"solutions/{mutation.lab}/{name}") else word for word in words]
        words = [str(into / "depends.d") if word.endswith(".d") else word for word in words]
        subprocess.run(words, cwd=folder, check=True, capture_output=True)
    return runner


def without_barriers(lab: str) -> Iterator[Mutation]:
    """The solutions of a lab, each without one of its barriers."""
    for path in sorted((ROOT / "solutions" / lab).glob("[0-9]*.cu")):
        for number, line in enumerate(path.read_text().splitlines()):
            barrier = BARRIER.search(line)
            if barrier and not line.lstrip().startswith("//"):
                redundant = (barrier[3] or "").lower().startswith(("not needed", "redundant"))
                yield Mutation(lab, path, number, BARRIER.sub(";", line, count=1), redundant=redundant)


def mistake(lab: str, name: str, old: str, new: str, kind: str) -> Mutation:
    """A line of MISTAKES as a mutation."""
    path = ROOT / "solutions" / lab / name
    lines = path.read_text().splitlines()
    numbers = [i for i, line in enumerate(lines) if old in line]
    if len(numbers) != 1:
        raise SystemExit(f"{path}: '{old}' occurs in {len(numbers)} lines, not in one")
    return Mutation(lab, path, numbers[0], lines[numbers[0]].replace(old, new), kind)


def what_is_wrong(mutation: Mutation, verdict: check_build.Verdict) -> str | None:
    """What the check build should have reported, or should not have; None if it is right."""
    findings = [str(finding) for finding in verdict.findings]
    if mutation.kind is None:
        if bool(findings) != mutation.redundant:
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


def verdicts_on(folder: Path, mutations: Sequence[Mutation], pool: ThreadPoolExecutor) -> Iterator[check_build.Verdict]:
    """Compiles the runners of a few mutations side by side, and checks each as soon as it is made."""
    with tempfile.TemporaryDirectory() as temporary:
        folders = [Path(temporary) / str(i) for i in range(len(mutations))]
        for into in folders:
            into.mkdir()
        runners = pool.map(make_runner, [folder] * len(mutations), mutations, folders)
        for mutation, runner in zip(mutations, runners):
            yield check_build.check_step(mutation.lab, int(mutation.path.name[:2]), runner)


def check_all(folder: Path, mutations: Sequence[Mutation]) -> dict[Mutation, str | None]:
    """What is wrong with the verdict on each mutation; None where it is right."""
    wrong = {}
    cores = os.cpu_count() or 1
    with ThreadPoolExecutor(cores) as pool:
        # In batches: a runner has 23 MB.
        for first in range(0, len(mutations), cores):
            batch = mutations[first : first + cores]
            for mutation, verdict in zip(batch, verdicts_on(folder, batch, pool)):
                finding = str(verdict.findings[0]) if verdict.findings else "no finding"
                print(f"{mutation.where}: {finding[:150]}", flush=True)
                wrong[mutation] = what_is_wrong(mutation, verdict)
    return wrong


def main(folder: str, *chosen: str) -> int:
    """Tries all mutations; the exit status."""
    build.use_folder(Path(folder).resolve())
    names = chosen or labs()
    barriers = [mutation for lab in names for mutation in without_barriers(lab)]
    mistakes = [mistake(*words) for words in MISTAKES if words[0] in names]
    wrong = check_all(Path(folder).resolve(), [*barriers, *mistakes])
    needed = [mutation for mutation in barriers if not mutation.redundant]
    print(f"barriers found: {sum(wrong[mutation] is None for mutation in needed)} of {len(needed)}")
    print(f"mistakes found: {sum(wrong[mutation] is None for mutation in mistakes)} of {len(mistakes)}")
    print("\n".join(text for text in wrong.values() if text))
    return 1 if any(wrong.values()) else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

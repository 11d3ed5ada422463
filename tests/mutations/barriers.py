#!/usr/bin/env python3
"""Takes out each barrier of the solutions in turn, and makes a student's mistakes in them, one at a time: the check build
must name what is wrong.

    barriers.py BUILD [LAB ..]      BUILD is the folder that Meson made, with the solutions' check runners

A barrier whose comment begins with "redundant" must not be missed: no finding then. Prints the share that is named. A
finding is enough: of several that a missing barrier causes, which comes first depends on the order of threads. Of a
mistake the kind must fit, and the line must be its own.
"""

import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "common"))

from workbook.core import build, check_build  # noqa: E402
from workbook.core.course import labs  # noqa: E402

BARRIER = re.compile(r"__sync(threads|warp)\(\);( *// (.*))?")


# The mistakes: lab, file, what is replaced by what in one line, and the kind that must be named there; None: a loop that
# goes one too far, which is out of bounds.
MISTAKES = [
    ("01-odd-even", "01_global.cu", "t < pairs;", "t <= pairs;", None),
    ("01-odd-even", "02_halo.cu", "window[i] = from[left + i];", "window[i] = from[left + i + 1];", "out-of-bounds"),
    (
        "02-merge",
        "02_block.cu",
        "load_items(tile, 0, from, first, count);",
        "load_items(tile, 0, from, first + 1, count);",
        "out-of-bounds",
    ),
    ("03-bitonic", "01_global.cu", "t < comparators;", "t <= comparators;", None),
    (
        "03-bitonic",
        "02_shared.cu",
        "load_tile(tile, tile_values, keys, values, first, count);",
        "load_tile(tile, tile_values, keys, values, first + 1, count);",
        "out-of-bounds",
    ),
    ("04-counting", "01_global.cu", "i < keys.n;", "i <= keys.n;", None),
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


def commands(folder, target):
    """The command lines that make a program, each as words, the link last."""
    told = subprocess.run(
        ["ninja", "-C", str(folder), "-t", "commands", target], capture_output=True, text=True, check=True
    )
    return [shlex.split(line) for line in told.stdout.splitlines() if line]


def changed(folder, lab, path, number, line, into):
    """Makes the lab's check runner with another line `number` (from 0) in one file."""
    lines = path.read_text().splitlines(keepends=True)
    lines[number] = line + "\n"
    source = into / path.name
    source.write_text("".join(lines))
    made = commands(folder, f"labs/{lab}-check-solution")
    generated = f"labs/{lab}-check-solution.p/{path.name}.cpp"
    rewrite = next(
        words for words in made if words[-1] == generated or generated in words and "rewrite.py" in " ".join(words)
    )
    compiled = next(words for words in made if "-c" in words and words[words.index("-c") + 1] == generated)
    link, item = made[-1], compiled[compiled.index("-o") + 1]
    cpp, new_item, runner = into / f"{path.name}.cpp", into / "changed.o", into / f"{lab}-check"
    replaced = {generated: str(cpp), item: str(new_item), f"labs/{lab}-check-solution": str(runner)}
    for words in (rewrite, compiled, link):
        words = [replaced.get(word, word) for word in words]
        words = [str(source) if word.endswith(f"solutions/{lab}/{path.name}") else word for word in words]
        words = [str(into / "depends.d") if word.endswith(".d") else word for word in words]
        subprocess.run(words, cwd=folder, check=True, capture_output=True)
    return runner


def verdict_on(folder, lab, path, number, line):
    """The check build's verdict on the step with that line."""
    with tempfile.TemporaryDirectory() as into:
        return check_build.check_step(lab, int(path.name[:2]), changed(folder, lab, path, number, line, Path(into)))


def try_mistake(folder, lab, name, old, new, kind):
    """What is wrong, or None: the mistake is named where it is."""
    path = ROOT / "solutions" / lab / name
    lines = path.read_text().splitlines()
    number = [i for i, line in enumerate(lines) if old in line]
    if len(number) != 1:
        return f"{path.name}: {old} stands in {len(number)} lines"
    where = f"{path.name}:{number[0] + 1}"
    verdict = verdict_on(folder, lab, path, number[0], lines[number[0]].replace(old, new))
    findings = [str(finding) for finding in verdict.findings]
    print(f"{where}: {new}: {findings[0][:150] if findings else 'no finding'}", flush=True)
    # Of a loop that goes too far, what it does there is at fault, in one of the lines that follow; of a call, the
    # function's line may come first, and then this one.
    near = [f"/{path.name}:{number[0] + 1 + i}:" for i in range(8 if kind is None else 1)]
    wanted = f": error: {kind or 'out-of-bounds'}: "
    found = any(wanted in finding and any(place in finding for place in near) for finding in findings)
    return None if found else f"{where}: {new}: no{wanted}there: {findings}"


def main(folder, *asked):
    folder = Path(folder).resolve()
    build.use_folder(folder)
    named = wanted = 0
    wrong = []
    for lab in asked or labs():
        for path in sorted((ROOT / "solutions" / lab).glob("[0-9]*.cu")):
            for number, line in enumerate(path.read_text().splitlines()):
                barrier = BARRIER.search(line)
                if not barrier or line.lstrip().startswith("//"):
                    continue
                needed = not (barrier[3] or "").lower().startswith(("not needed", "redundant"))
                verdict = verdict_on(folder, lab, path, number, BARRIER.sub(";", line, count=1))
                where = f"solutions/{lab}/{path.name}:{number + 1}"
                wanted += needed
                named += needed and bool(verdict.findings)
                if needed != bool(verdict.findings):
                    wrong.append(f"{where}: {'no finding without it' if needed else str(verdict.findings[0])}")
                    if verdict.failed:
                        wrong += ["  " + line for line in verdict.lines()]
                print(f"{where}: {str(verdict.findings[0])[:150] if verdict.findings else 'no finding'}", flush=True)
    print(f"named: {named} of {wanted}")
    tried = [try_mistake(folder, *mistake) for mistake in MISTAKES if mistake[0] in (asked or labs())]
    wrong += [text for text in tried if text]
    print(f"mistakes named: {tried.count(None)} of {len(tried)}")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

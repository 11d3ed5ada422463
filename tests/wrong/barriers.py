#!/usr/bin/env python3
"""Takes out each barrier of the solutions in turn: the check build must name what is wrong without it.

    barriers.py BUILD [LAB ..]      BUILD is the folder that Meson made, with the solutions' check runners

A barrier whose comment begins with "not needed" must not be missed: no finding then. Prints the share that is named. A finding is
enough: of several that a missing barrier causes, which comes first depends on the order of threads.
"""

import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "common"))

from workbook import build, checked  # noqa: E402
from workbook.paths import labs  # noqa: E402

BARRIER = re.compile(r"__sync(threads|warp)\(\);( *// (.*))?")


def commands(folder, target):
    """The command lines that make a program, each as words, the link last."""
    told = subprocess.run(["ninja", "-C", str(folder), "-t", "commands", target], capture_output=True, text=True, check=True)
    return [shlex.split(line) for line in told.stdout.splitlines() if line]


def without(folder, lab, path, number, into):
    """Makes the lab's check runner with line `number` of one file emptied of its barrier."""
    lines = path.read_text().splitlines(keepends=True)
    lines[number] = BARRIER.sub(";", lines[number], count=1)
    source = into / path.name
    source.write_text("".join(lines))
    made = commands(folder, f"solutions/{lab}-check")
    generated = f"solutions/{lab}-check.p/{path.name}.cpp"
    rewrite = next(words for words in made if words[-1] == generated or generated in words and "rewrite.py" in " ".join(words))
    compiled = next(words for words in made if "-c" in words and words[words.index("-c") + 1] == generated)
    link, item = made[-1], compiled[compiled.index("-o") + 1]
    cpp, new_item, runner = into / f"{path.name}.cpp", into / "changed.o", into / f"{lab}-check"
    replaced = {generated: str(cpp), item: str(new_item), f"solutions/{lab}-check": str(runner)}
    for words in (rewrite, compiled, link):
        words = [replaced.get(word, word) for word in words]
        words = [str(source) if word.endswith(f"solutions/{lab}/{path.name}") else word for word in words]
        words = [str(into / "depends.d") if word.endswith(".d") else word for word in words]
        subprocess.run(words, cwd=folder, check=True, capture_output=True)
    return runner


def main(folder, *asked):
    folder = Path(folder).resolve()
    build.BUILD = folder
    named = wanted = 0
    wrong = []
    for lab in asked or labs():
        for path in sorted((ROOT / "solutions" / lab).glob("[0-9]*.cu")):
            for number, line in enumerate(path.read_text().splitlines()):
                barrier = BARRIER.search(line)
                if not barrier or line.lstrip().startswith("//"):
                    continue
                needed = not (barrier[3] or "").startswith("not needed")
                with tempfile.TemporaryDirectory() as into:
                    verdict = checked.check_step(lab, int(path.name[:2]), without(folder, lab, path, number, Path(into)))
                where = f"solutions/{lab}/{path.name}:{number + 1}"
                wanted += needed
                named += needed and bool(verdict.findings)
                if needed != bool(verdict.findings):
                    wrong.append(f"{where}: {'no finding without it' if needed else verdict.findings[0]}")
                    if verdict.failed:
                        wrong.append("  " + verdict.failed)
                print(f"{where}: {verdict.findings[0][:150] if verdict.findings else 'no finding'}", flush=True)
    print(f"named: {named} of {wanted}")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

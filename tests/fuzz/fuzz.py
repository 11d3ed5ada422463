#!/usr/bin/env python3
"""Fuzzes the judge's protocol, the archive reader, the rewriter and the trace reader.

    fuzz.py BUILD [TARGET ...] [--seconds 30] [--keep FOLDER]

BUILD is Meson's build folder, below which another one is made with clang. Prints how many inputs were tried. What fails
is printed, and kept in FOLDER with all inputs, from which the next run goes on. Exits with 1 if something fails, and
with 77, which Meson counts as "not run", if clang or the package atheris is missing: .venv/bin/pip install atheris.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import corpus

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "common"))

from workbook.core.build import environment, meson  # noqa: E402

SKIPPED = 77
INPUTS = {
    "judge": corpus.exchanges,
    "archive": corpus.archives,
    "rewriter": corpus.sources,
    "trace": corpus.traces,
}
MOST_BYTES = {"judge": 4096, "archive": 12000, "rewriter": 8000, "trace": 4096}


def judge(build: Path) -> Path:
    """Compiles the judge with clang's fuzzer and sanitizers."""
    folder = build / "fuzz"
    if not (folder / "build.ninja").exists():
        options = ["-Dcuda=disabled", "-Db_sanitize=address,undefined", "-Db_lundef=false", "-Doptimization=1"]
        command = [*meson(), "setup", str(folder), str(ROOT), *options]
        subprocess.run(command, env={**environment(), "CXX": "clang++"}, check=True)
    subprocess.run([*meson(), "compile", "-C", str(folder), "fuzz-judge"], env=environment(), check=True)
    return folder / "tests/fuzz-judge"


def missing(target: str) -> str:
    """What a target needs and this machine lacks."""
    if target == "judge":
        return "" if shutil.which("clang++") else "clang++"
    return "" if importlib.util.find_spec("atheris") else "atheris"


def fuzz(target: str, build: Path, folder: Path, seconds: int) -> bool:
    """Fuzzes one target; whether nothing failed."""
    corpus.write(folder / "corpus", INPUTS[target]())
    reader = [sys.executable, str(Path(__file__).with_name("readers.py")), target]
    command = [str(judge(build))] if target == "judge" else reader
    options = [f"-max_total_time={seconds}", f"-max_len={MOST_BYTES[target]}", "-timeout=60", "-print_final_stats=1"]
    started = time.monotonic()
    done = subprocess.run(
        [*command, str(folder / "corpus"), *options],
        cwd=folder,
        env={**os.environ, "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    text = done.stdout.decode(errors="replace")
    (folder / "log").write_text(text)
    tried = re.findall(r"stat::number_of_executed_units: (\d+)", text)
    print(
        f"{target}: {int(tried[-1]) if tried else 0:,} inputs in {time.monotonic() - started:.0f} s, "
        f"{len(list((folder / 'corpus').iterdir()))} kept in the corpus, exit status {done.returncode}",
        flush=True,
    )
    if done.returncode:
        print("\n".join(text.splitlines()[-60:]), flush=True)
    return done.returncode == 0


def main(words: Sequence[str]) -> int:
    """Fuzzes; the exit status."""
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=Path)
    parser.add_argument("targets", metavar="TARGET", nargs="*", default=list(INPUTS))
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--keep", type=Path)
    arguments = parser.parse_intermixed_args(words)
    well, left_out = True, False
    with tempfile.TemporaryDirectory() as temporary:
        for target in arguments.targets:
            if lack := missing(target):
                print(f"not run: {target}, because {lack} is missing")
                left_out = True
                continue
            folder = (arguments.keep or Path(temporary)).resolve() / target
            well = fuzz(target, arguments.build.resolve(), folder, arguments.seconds) and well
    return 1 if not well else SKIPPED if left_out else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

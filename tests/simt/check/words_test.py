#!/usr/bin/env python3
"""No program reads the sentences about findings: with `x` in place of each, all other facts are the same.

words_test.py [--compiler g++]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/wrong/kernels"))

from check_test import compile_check, faults_of  # noqa: E402

# Of all kinds, and without wild pointers and kernels that end by time, so that every run has the same findings.
PROGRAMS = (
    "bounds_shared",
    "graphs",
    "heap",
    "host_calls",
    "launch",
    "race_fence",
    "race_shared",
    "uninitialized",
    "warp",
)


def reported(program: Path, case: int, words: str) -> dict[str, Any]:
    """The findings, remarks and notes of one case of a program that says `words` in place of every sentence."""
    path = program.with_suffix(".json")
    path.unlink(missing_ok=True)
    environment = {**os.environ, "CHECK_JSON": str(path), "SIMT_SEED": "77", "SIMT_WORDS": words}
    subprocess.run([str(program), str(case)], capture_output=True, timeout=600, check=False, cwd=ROOT, env=environment)
    document = json.loads(path.read_text())
    return {name: document[name] for name in ("findings", "remarks", "notes")}


def without_texts(document: dict[str, Any]) -> dict[str, Any]:
    """The same without the sentences."""
    return {
        name: [{key: value for key, value in one.items() if key != "text"} for one in all_]
        for name, all_ in document.items()
    }


def wrong_in(usual: dict[str, Any], silent: dict[str, Any]) -> list[str]:
    """What depends on the words, or lacks facts."""
    wrong = [] if without_texts(usual) == without_texts(silent) else ["the facts change with the words"]
    texts = {one["text"] for all_ in silent.values() for one in all_}
    if not texts <= {"x", ""}:
        wrong.append(f"these words are left: {sorted(texts - {'x', ''})}")
    for one in usual["findings"] + usual["remarks"]:
        if not one["facts"]:
            wrong.append(f"no facts: {one}")
        if one["kind"] == "race" and [bool(fact["access"]) for fact in one["facts"]] != [True, True]:
            wrong.append(f"a race without two accesses: {one}")
    return wrong


def main() -> int:
    """Exit status 1 if a fact depends on the words."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", default="g++")
    compiler = parser.parse_args().compiler
    wrong, compared = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for name in PROGRAMS:
            source = ROOT / f"tests/wrong/kernels/{name}.cu"
            program = Path(folder) / name
            made = compile_check(source, program, compiler)
            wrong += [f"{name} does not compile: {made.stderr}"] if made.returncode else []
            for case in range(1, 0 if made.returncode else faults_of(source)[1] + 1):
                usual, silent = reported(program, case, ""), reported(program, case, "x")
                compared += len(usual["findings"])
                wrong += [f"{name}, case {case}: {line}" for line in wrong_in(usual, silent)]
    print(*wrong, f"{compared} findings were compared with those of programs without words", sep="\n")
    return 1 if wrong or not compared else 0


if __name__ == "__main__":
    sys.exit(main())

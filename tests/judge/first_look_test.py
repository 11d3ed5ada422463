#!/usr/bin/env python3
"""Tests of what makes `check` answer soon: programs for few types of keys, and a header that is compiled once.

first_look_test.py BUILD    exits with 77, which Meson counts as "not run", if BUILD has no such programs
"""

from __future__ import annotations

import shlex
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from workbook.core import build
from workbook.core.judge_client import JudgeClient

LAB = "02-merge"
KINDS = ("cpu", "check")
SKIPPED = 77


class FirstLook(unittest.TestCase):
    """The programs that are linked without most of a step's functions."""

    def test_they_sort_keys_of_the_first_types_alone(self) -> None:
        with JudgeClient() as judge:
            for kind in KINDS:
                steps = judge.runner(build.runner(LAB, f"{kind}-first")).steps
                self.assertEqual({step.types for step in steps}, {("u32", "pairs")})

    def test_the_other_types_are_in_the_second_part(self) -> None:
        with JudgeClient() as judge:
            steps = judge.runner(build.runner(LAB, "cpu")).steps
            self.assertEqual({step.types for step in steps}, {tuple(judge.lab(LAB).steps[0].types)})


class Precompiled(unittest.TestCase):
    """cuda_runtime.h, which every file includes."""

    def test_the_compiler_takes_it_and_still_lists_what_is_in_it(self) -> None:
        for kind in (f"{kind}{suffix}" for kind in KINDS for suffix in ("", "-first")):
            (command,) = (
                shlex.split(entry["command"])
                for entry in build.compile_commands()
                if entry["output"].startswith(f"labs/{LAB}-{kind}.p/") and entry["output"].endswith("main.cpp.o")
            )
            with tempfile.NamedTemporaryFile("r") as listed:
                command[command.index("-MF") + 1] = listed.name
                tried = [*command, "-fsyntax-only", "-H"]
                done = subprocess.run(tried, cwd=build.folder(), capture_output=True, text=True, check=True)
                self.assertIn(f"! labs/precompiled-{kind.partition('-')[0]}/cuda_runtime.h.gch\n", done.stderr)
                self.assertIn("common/simt/include/cuda_runtime.h", Path(listed.name).read_text())


if __name__ == "__main__":
    build.use_folder(Path(sys.argv.pop()).resolve())
    if f"{LAB}-cpu-first" not in build.targets():
        print("not run: first-look programs need g++, and paths of the workbook and of Python without a comma")
        sys.exit(SKIPPED)
    unittest.main()

"""README.md begins with step 00 of lab 01: its kernel, the command, and what the command prints."""

from __future__ import annotations

import os
import re
import unittest
from pathlib import Path
from unittest import mock

from in_folder import run_cli

from workbook.core import build, check_build, nvcc_compile
from workbook.core.course import BUILD, ROOT
from workbook.core.starters import all_starters

HERE = Path(os.environ.get("WORKBOOK_TEST_BUILD", BUILD))
OF_STUDENTS = ROOT / "solutions/release/README.md"
LAB = "01-odd-even"
COMMAND = "$ ./workbook check 01-odd-even 0\n"


def section(document: Path) -> str:
    """The first section, which must be about step 00."""
    return document.read_text(encoding="utf-8").partition("## ")[2].partition("\n## ")[0]


def block(text: str, language: str) -> str:
    """What is between the only fences of this language."""
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    (found,) = (content for name, content in fenced if name == language)
    return str(found)


def without_chance(printed: str) -> str:
    """The verdict without what depends on the machine and on the seed: seconds, and how many cases there are."""
    return re.sub(r"\d+\.\d s$|\b\d+(?= cases)", "N", printed, flags=re.MULTILINE)


class FirstKernel(unittest.TestCase):
    """What a newcomer reads and does first."""

    def test_the_kernel_is_the_starters(self) -> None:
        kernel = block(section(ROOT / "README.md"), "cuda")
        self.assertIn("// Your code", kernel)
        self.assertIn(f"\n{kernel}", all_starters()[Path(LAB, "00_exchange.cu")])

    def test_the_verdict_is_what_the_command_prints(self) -> None:
        with (
            mock.patch.object(build, "BUILD", HERE),
            mock.patch.object(build, "ensure"),
            # As without nvcc: with it and without a GPU, a line says that the cuda build was not run.
            mock.patch.object(build, "kinds", lambda: ["cpu"]),
            mock.patch.object(build, "runnable", lambda: ["cpu"]),
            mock.patch.object(build, "compile_targets"),
            mock.patch.object(build, "object_of", lambda *_: None),
            mock.patch.object(nvcc_compile, "_target", lambda *_: None),
        ):
            programs = [build.judge(), *(build.runner(LAB, kind, solution=True) for kind in ("cpu", "check"))]
            if not all(program.is_file() for program in programs):
                raise unittest.SkipTest("the solution of lab 01 is not built here")
            if not check_build.counts_exactly():
                raise unittest.SkipTest("this compiler's counts are others than g++'s")
            status, printed = run_cli("check", LAB, "0", "--solution")
        shown = block(section(ROOT / "README.md"), "")
        self.assertEqual(status, 0, printed)
        self.assertTrue(shown.startswith(COMMAND))
        printed = printed.replace(" --solution", "")
        self.assertEqual(without_chance(shown[len(COMMAND) :]), without_chance(printed))

    def test_students_read_the_same(self) -> None:
        self.assertEqual(section(OF_STUDENTS), section(ROOT / "README.md"))

    def test_it_is_short(self) -> None:
        self.assertLessEqual(len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()), 90)


if __name__ == "__main__":
    unittest.main()

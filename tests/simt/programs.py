"""What the tests of `./workbook cc` share: a folder for programs, and the compiler that --compiler names."""

import argparse
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

_parser = argparse.ArgumentParser(add_help=False)
_parser.add_argument("--compiler", default="g++")
_own, _rest = _parser.parse_known_args()
COMPILER: str = _own.compiler
# What clang++ says where there is no g++.
_WITHOUT_GCC = (
    "note: clang++ does not report host functions that kernels call, which nvcc refuses; "
    "install g++, and they will be reported\n"
)


class Programs(unittest.TestCase):
    """A test with a folder of programs."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def file(self, name: str, text: str) -> None:
        """Writes a file."""
        (self.folder / name).write_text(text)

    def cc(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Runs `./workbook cc`. What it writes is that of a machine with g++."""
        command = [str(ROOT / "workbook"), "cc", *words, "--cxx", COMPILER]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=self.folder)
        done.stderr = done.stderr.replace(_WITHOUT_GCC, "")
        return done

    def compiled(self, *words: str) -> str:
        """Compiles without an error; returns what the compiler wrote."""
        done = self.cc(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def run_program(self, name: str, *words: str) -> subprocess.CompletedProcess[str]:
        # The C library overwrites memory that is freed, so that its use shows.
        return subprocess.run(
            [str(self.folder / name), *words],
            capture_output=True,
            text=True,
            check=False,
            cwd=self.folder,
            timeout=600,
            env={**os.environ, "MALLOC_PERTURB_": "85"},
        )


def main() -> None:
    """Runs the tests of the program, with the words after its own options."""
    unittest.main(argv=[sys.argv[0], *_rest])

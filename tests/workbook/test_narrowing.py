"""Places that are kept in 32 bits: what the compiler's warnings and the text of a step show."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from workbook.core import build, narrowing
from workbook.core.course import ROOT, StepFile, labs, steps

FILE = "labs/04-counting/02_shared.cu"
GCC = f"""\
{FILE}:61:20: warning: conversion from ‘std::int64_t’ {{aka ‘long int’}} to ‘int’ may change value [-Wconversion]
{FILE}:61:20: warning: conversion from ‘long int’ to ‘int’ may change value [-Wconversion]
../labs/04-counting/02_shared.cu:64:9: warning: conversion from 'const uint64_t' {{aka 'const long unsigned int'}} to \
'unsigned int' may change value [-Wconversion]
{FILE}:70:9: warning: conversion from ‘int’ to ‘uint8_t’ {{aka ‘unsigned char’}} may change value [-Wconversion]
{FILE}:71:9: warning: conversion from ‘long int’ to ‘unsigned char’ may change value [-Wconversion]
labs/04-counting/counting.cuh:9:9: warning: conversion from ‘long int’ to ‘int’ may change value [-Wconversion]
"""
CLANG = (
    f"{FILE}:61:20: warning: implicit conversion loses integer precision: 'const std::int64_t' (aka 'const long') to "
    "'int' [-Wshorten-64-to-32]\n"
)


class Conversions(unittest.TestCase):
    def test_one_note_per_line_of_the_file_with_a_remedy(self) -> None:
        notes = narrowing.conversions(GCC, FILE)
        self.assertEqual([note.line for note in notes], [61, 64])
        self.assertEqual(
            str(notes[0]),
            f"{FILE}:61: note: narrow: int holds positions below 2^31 only, but this step accepts any n; use "
            "std::int64_t, or write int(...) if the value always fits",
        )
        self.assertIn("unsigned int holds positions below 2^32 only", notes[1].text)

    def test_clang(self) -> None:
        self.assertEqual([note.line for note in narrowing.conversions(CLANG, FILE)], [61])


class Products(unittest.TestCase):
    def lines(self, source: str) -> list[int]:
        """The lines that a note is on."""
        return [note.line for note in narrowing.products(source, FILE)]

    def test_indices_that_are_computed_in_32_bits(self) -> None:
        for expression in ("blockIdx.x * blockDim.x + threadIdx.x", "blockDim.x*blockIdx.x", "gridDim.x * blockDim.x"):
            for before in ("int i = ", "std::int64_t i = ", "f(", "threadIdx.x + "):
                with self.subTest(expression=expression, before=before):
                    self.assertEqual(self.lines(f"\n  {before}{expression};"), [2])

    def test_indices_that_are_computed_in_64_bits(self) -> None:
        for line in (
            "std::int64_t(blockIdx.x) * blockDim.x",
            "(std::int64_t)blockIdx.x * blockDim.x",
            "blockIdx.x * std::int64_t(blockDim.x)",
            "std::int64_t{1} * gridDim.x * blockDim.x",
            "blockIdx.x * scatter_tile",
            "// int i = blockIdx.x * blockDim.x",
        ):
            with self.subTest(line=line):
                self.assertEqual(self.lines(line), [])

    @unittest.skipUnless((ROOT / "solutions").is_dir(), "this copy has no solutions")
    def test_no_solution_has_any(self) -> None:
        for lab in labs():
            for step in steps(lab):
                source = (ROOT / "solutions" / step.file).read_text()
                self.assertEqual(narrowing.products(source, step.file), [], step.file)


@unittest.skipUnless(shutil.which("g++"), "there is no g++")
class Scan(unittest.TestCase):
    """A scan compiles the generated source once, and remembers what it found for as long as that stays the same."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        patch = mock.patch.object(build, "BUILD", self.folder)
        patch.start()
        self.addCleanup(patch.stop)
        self.step = StepFile("04-counting", 2, "shared")
        self.generated = self.folder / "labs/04-counting-cpu.p/02_shared.cu.cpp"
        self.generated.parent.mkdir(parents=True)
        self.save("long n; int f() { return n; }")

    def save(self, source: str) -> None:
        """Writes the generated source, whose lines are those of the step's file, and how it is compiled."""
        self.generated.write_text(f'#line 5 "{FILE}"\n{source}\n')
        name = str(self.generated.relative_to(self.folder))
        entry = {"directory": str(self.folder), "file": name, "command": f"g++ -c {name} -o x.o"}
        (self.folder / "compile_commands.json").write_text(json.dumps([entry]))

    def lines(self) -> list[int]:
        """The lines that a scan's notes of conversions are on."""
        return [note.line for note in narrowing.Scan(self.step).notes() if "holds positions" in note.text]

    def test_found_and_remembered(self) -> None:
        self.assertEqual(self.lines(), [5])
        with mock.patch.object(subprocess, "Popen", side_effect=AssertionError("compiled again")):
            self.assertEqual(self.lines(), [5])
        self.save("long n;\nint f() { return int(n); }")
        self.assertEqual(self.lines(), [])
        self.save("long n;\nint f() { return n; }")
        self.assertEqual(self.lines(), [6])

    def test_nothing_to_compile(self) -> None:
        (self.folder / "compile_commands.json").unlink()
        self.assertEqual(self.lines(), [])


if __name__ == "__main__":
    unittest.main()

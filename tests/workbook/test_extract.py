"""A step with all that it includes in one file."""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from workbook import cli
from workbook.core.course import ROOT, find_step, has_solutions, labs, steps
from workbook.verbs.extract import extracted

ON_HOST = "06-beyond-memory"


class Extract(unittest.TestCase):
    """The text, and a program made of it."""

    def test_each_header_is_there_once_and_none_of_ours_is_included(self) -> None:
        for lab in labs():
            for step in steps(lab) if lab != ON_HOST else ():
                text = extracted(step, False, "x.cu")
                self.assertEqual([], re.findall(r'#\s*include\s+".*|#\s*pragma\s+once', text), step)
                self.assertEqual(1, text.count("class DeviceArray {"), step)

    def test_a_step_that_cannot_be_extracted(self) -> None:
        for words in ((ON_HOST, "1"), ("04-counting", "histogram")):
            with contextlib.redirect_stderr(io.StringIO()) as said:
                self.assertEqual(1, cli.main(["extract", *words]))
            self.assertIn("only such steps can be extracted", said.getvalue())

    @unittest.skipUnless(has_solutions(), "this copy has no solutions")
    def test_steps_that_call_others_sort(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "hybrid.cu"
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                self.assertEqual(0, cli.main(["extract", "3", "hybrid", "--solution", "-o", str(file)]))
            self.assertIn("nvcc -std=c++20", printed.getvalue())
            compile_it = [str(ROOT / "workbook"), "cc", "-std=c++20", str(file), "-o", str(file.with_suffix(""))]
            subprocess.run(compile_it, check=True, capture_output=True)
            done = subprocess.run([str(file.with_suffix("")), "3000"], check=True, capture_output=True, text=True)
        self.assertRegex(done.stdout, r"^3000 keys, .* right\n$")

    @unittest.skipUnless(has_solutions(), "this copy has no solutions")
    def test_names_that_two_steps_define_differ(self) -> None:
        text = extracted(find_step("03-bitonic", 3), True, "x.cu")
        self.assertIn("constexpr int default_threads_per_block_of_step_02 = ", text)
        self.assertIn("constexpr int default_threads_per_block = ", text)


if __name__ == "__main__":
    unittest.main()

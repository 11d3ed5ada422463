"""The demo's plot."""

from __future__ import annotations

import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

from report_data import step

from workbook.core.judge_client import Lab
from workbook.core.rows import Row
from workbook.core.samples import Sample
from workbook.reporting import dots, plot
from workbook.verbs import demo

ROWS = [
    ("01 1 global", "uniform", 12.0, 400.0),
    ("01 1 global", "text", 10.0, None),
    ("02 4 path", "uniform", 210.0, 400.0),
    ("02 4 path", "text", 190.0, None),
]


class DemoPlot(unittest.TestCase):
    def test_names_every_step_input_and_the_gold_standard(self) -> None:
        if not plot.available():
            self.skipTest("matplotlib is not installed")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "demo.svg"
            self.assertTrue(dots.demo(ROWS, path, "cpu"))
            drawn = path.read_text()
        texts = [text.strip() for text in xml.etree.ElementTree.fromstring(drawn).itertext()]
        for word in ("01 1 global", "02 4 path", "uniform", "text", "gold standard, uniform"):
            self.assertIn(word, texts)


class DemoTable(unittest.TestCase):
    def test_marks_steps_that_sort_tiles(self) -> None:
        lab = Lab("03-bitonic", "u32", None, (step(2, "shared", tile=1024),))
        row = Row("03-bitonic", 2, "shared", tile=1024, n=64, keys_per_s=2e6, median_ms=1.0, status="verified")
        sample = Sample("uniform", "uniform", 64, None)
        lines, points = demo.table_of(demo.Measured([lab], [("uniform", row)], [sample], ""))
        self.assertTrue(any(line.startswith("2 shared, tiles ") for line in lines), lines)
        self.assertEqual(points[0][0], "03-bitonic 2 shared, tiles")


if __name__ == "__main__":
    unittest.main()

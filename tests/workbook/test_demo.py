"""The demo's plot."""

from __future__ import annotations

import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

from workbook.reporting import dots, plot

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


if __name__ == "__main__":
    unittest.main()

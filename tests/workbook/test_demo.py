"""The demo's plot."""

import contextlib
import io
import unittest
import xml.etree.ElementTree

from in_folder import InFolder
from report_data import step

from workbook.core.judge_types import Lab
from workbook.core.rows import Row
from workbook.core.samples import Sample
from workbook.reporting import bars, plot
from workbook.verbs import demo

ROWS = [
    ("01 1 global", "uniform", 12.0, 400.0),
    ("01 1 global", "text", 10.0, None),
    ("02 4 path", "uniform", 210.0, 400.0),
    ("02 4 path", "text", 190.0, None),
]


class DemoPlot(InFolder):
    def test_names_every_step_input_and_the_gold_standard(self) -> None:
        if not plot.available():
            self.skipTest("matplotlib is not installed")
        path = self.folder / "demo.svg"
        self.assertTrue(bars.demo(ROWS, path, "cpu"))
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

    def test_without_solutions(self) -> None:
        """Steps that are not written are listed beside the gold standard's speed; a wrong one fails the demo."""
        lab = Lab("03-bitonic", "u32", None, (step(1, "global"), step(2, "shared", tile=1024), step(3, "hybrid")))
        rows = [
            Row("03-bitonic", 1, "global", status="not-written", n=64),
            Row("03-bitonic", 2, "shared", tile=1024, status="not-written", n=64),
            Row("03-bitonic", 3, "hybrid", status="verified", keys_per_s=2e6, n=64, median_ms=1.0),
            Row("gold", 0, "std::sort", status="verified", keys_per_s=5e6, n=64, median_ms=1.0),
            Row("gold", 1, "slower", status="verified", keys_per_s=1e6, n=64, median_ms=1.0),
            Row("gold", 2, "tiles", tile=1024, status="verified", keys_per_s=9e6, n=64, median_ms=1.0),
        ]
        samples = [Sample("uniform", "uniform", 64, None)]
        measured = demo.Measured([lab], [("uniform", row) for row in rows], samples, "", solution=False)
        lines, points = demo.table_of(measured)
        self.assertEqual([line.split()[-1] for line in lines if line.startswith("gold standard")], ["5.00"])
        self.assertEqual(sum("not written yet" in line for line in lines), 2)
        self.assertEqual(len(points), 1)
        self.assertTrue(all(len(line) <= 80 for line in lines), lines)
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            self.assertEqual(demo._verdict(measured), 0)
            measured.rows[2][1].status = "wrong"
            self.assertEqual(demo._verdict(measured), 1)
            measured.solution = True
            self.assertEqual(demo._verdict(measured), 1)
        self.assertIn("not-written", printed.getvalue())

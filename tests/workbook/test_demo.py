"""The demo's plot."""

import contextlib
import io
import unittest
import xml.etree.ElementTree
from dataclasses import replace

from in_folder import InFolder
from report_data import step

from workbook.core.judge_types import Lab
from workbook.core.rows import Row
from workbook.core.samples import Sample
from workbook.reporting import plot
from workbook.verbs import demo


class DemoPlot(InFolder):
    def test_shows_each_step_beside_the_gold_standard(self) -> None:
        if not plot.available():
            self.skipTest("matplotlib is not installed")
        self.replace(demo, "FOLDER", self.folder)
        rows = [
            Row("03-bitonic", 1, "global", n=64, keys_per_s=2e6, median_ms=1.0, status="verified"),
            Row("03-bitonic", 2, "shared", tile=1024, n=64, keys_per_s=3e6, median_ms=1.0, status="verified"),
            Row("gold", 0, "sort", n=64, keys_per_s=8e6, median_ms=1.0, status="verified"),
            Row("gold", 1, "sort-tiles", tile=1024, n=64, keys_per_s=4e6, median_ms=1.0, status="verified"),
        ]
        lab = Lab("03-bitonic", "u32", None, (step(1, "global"), step(2, "shared", tile=1024)))
        text = [("text", replace(row, keys_per_s=1e6)) for row in rows]
        samples = [Sample(name, name, 64, None) for name in ("uniform", "text")]
        measured = demo.Measured([lab], [*(("uniform", row) for row in rows), *text], samples, "")
        self.assertIn("demo.svg", demo.draw(measured))
        drawn = (self.folder / "demo.svg").read_text()
        texts = [text.strip() for text in xml.etree.ElementTree.fromstring(drawn).itertext()]
        for word in ("03-bitonic", "01 global", "25.0 %", "02 shared, tiles", "75.0 %"):
            self.assertIn(word, texts)
        self.assertIn("nothing to compare", demo.draw(demo.Measured([lab], [("uniform", rows[0])], samples, "")))


class DemoTable(unittest.TestCase):
    def test_marks_steps_that_sort_tiles(self) -> None:
        lab = Lab("03-bitonic", "u32", None, (step(2, "shared", tile=1024),))
        row = Row("03-bitonic", 2, "shared", tile=1024, n=64, keys_per_s=2e6, median_ms=1.0, status="verified")
        sample = Sample("uniform", "uniform", 64, None)
        lines = demo.table_of(demo.Measured([lab], [("uniform", row)], [sample], ""))
        self.assertTrue(any(line.startswith("2 shared, tiles ") for line in lines), lines)

    def test_a_busy_machine(self) -> None:
        """What was sorted right is verified, also where no time could be measured."""
        lab = Lab("03-bitonic", "u32", None, (step(1, "global"),))
        samples = [Sample(name, name, 64, None) for name in ("uniform", "text")]
        statuses = ("verified", "busy")
        rows = [
            Row("03-bitonic", 1, "global", status=status, keys_per_s=2e6, n=64, median_ms=1.0) for status in statuses
        ]
        measured = demo.Measured([lab], list(zip((each.name for each in samples), rows)), samples, "")
        (line,) = (line for line in demo.table_of(measured) if line.startswith("1 global"))
        self.assertEqual(["2.00", "busy", "-", "2/2"], line.split()[-4:])
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(0, demo._verdict(measured))
            rows[1].status = "hung"
            self.assertEqual(1, demo._verdict(measured))

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
        lines = demo.table_of(measured)
        self.assertEqual([line.split()[-1] for line in lines if line.startswith("gold standard")], ["5.00"])
        self.assertEqual(sum("not written yet" in line for line in lines), 2)
        self.assertTrue(all(len(line) <= 80 for line in lines), lines)
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            self.assertEqual(demo._verdict(measured), 0)
            measured.rows[2][1].status = "wrong"
            self.assertEqual(demo._verdict(measured), 1)
            measured.solution = True
            self.assertEqual(demo._verdict(measured), 1)
        self.assertIn("not-written", printed.getvalue())

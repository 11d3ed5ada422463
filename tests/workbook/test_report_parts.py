"""The parts of a report: tables and plots of a few rows, and what is said about failures."""

import re
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

from report_data import LAB, MANY, PARTS, PLOTS, lab_of, report_of, row, step
from svg_faults import faults_of

from workbook.core.rows import Row
from workbook.reporting import compose, parts, plot, selection, shapes_and_ranges
from workbook.reporting.article import to_article
from workbook.reporting.context import failures
from workbook.reporting.labels import crossed, end_labels
from workbook.reporting.page import to_page


class Parts(unittest.TestCase):
    """A report of a few rows, with and without plots."""

    def rows(self) -> list[Row]:
        """A sweep over n and launch shapes, with kernels and copies; inputs; types."""
        found = []
        for n in (1024, 4096, 1000, 10000):
            for step_, name in ((1, "global"), (2, "shared")):
                for blocks, threads in ((0, 0), (1, 32), (64, 64)):
                    whole = row(
                        step=step_,
                        name=name,
                        n=n,
                        blocks=blocks,
                        threads=threads,
                        ratio=0.5,
                        gold="vqsort",
                        keys_per_s=float(n * 100 * step_),
                        median_ms=10 / step_,
                    )
                    found += [
                        whole,
                        replace(whole, kernel="stage", launches=3, grid=4, block=64, dynamic_shared=0),
                        replace(whole, kernel="last stage", launches=1, grid=4, block=64, dynamic_shared=0),
                        replace(whole, kernel="to device"),
                        replace(whole, kernel="to host"),
                    ]
            found.append(row(lab="gold", step=6, name="vqsort", n=n, keys_per_s=float(n * 1000), median_ms=1.0))
        found += [row(input=name) for name in ("sorted", "reversed", "range:0:15", "range:0:255")]
        return [*found, row(type="u64")]

    def make(self, plots: bool) -> tuple[dict[str, str], str, str, dict[str, bytes]]:
        """The parts, the page, the article and the plots by name."""
        machine = "NVIDIA H200, compute capability 9.0; Intel, 2 cores"
        other = [
            row(build="cuda", machine_id="h200", machine=machine, n=n, keys_per_s=float(n * 9)) for n in (1024, 4096)
        ]
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "plots").mkdir()
            report = report_of(
                self.rows(),
                folder,
                steps=[step(1, "global")],
                device=[("compute capability", "9.0")],
                others=[("h200", other)],
                plots=plots,
            )
            made = parts.make(report)
            text = compose.compose(LAB, "Lab", made, None)
            page = to_page(text, "Lab", folder, [])
            article, _ = to_article(text, "Lab", folder)
            plotted = {path.name: path.read_bytes() for path in (folder / "plots").iterdir()}
        return made, page, article, plotted

    def test_tables_come_without_plots(self) -> None:
        made, page, article, plotted = self.make(False)
        self.assertEqual(plotted, {})
        for name in (*PARTS, "machine", "processors"):
            self.assertIn("|---", made[name], name)
        self.assertIn("The appendix has each kernel's time", made["kernels"])
        self.assertIn("| n = 1,000 | n = 10,000 |", made["processors"])
        self.assertRegex(made["transfers"], r"(?m)^\| 1,000 \|")
        self.assertEqual(made["parts"], "")
        self.assertIn("| 01 global | 10.0 &lt;&lt;&lt;1, 32&gt;&gt;&gt; |", made["shapes"])
        self.assertIn("NVIDIA H200", made["processors"])
        self.assertIn("<table>", page)
        self.assertNotIn("{{", page.split("<body>")[0])
        self.assertIn(r"\begin{tabular}", article)

    def test_plots(self) -> None:
        if not plot.available():
            self.skipTest("matplotlib is not here")
        made, page, article, plotted = self.make(True)
        for name in (*PLOTS, "gold", "types"):
            for form in ("svg", "png", "pdf"):
                self.assertIn(f"{name}.{form}", plotted)
        for name in plotted:
            if name.endswith(".svg"):
                self.assertEqual(faults_of(plotted[name].decode()), [], name)
        self.assertEqual(page.count("<svg"), 12)
        self.assertNotIn('src="plots', page)
        self.assertNotIn(
            "http",
            re.sub(r'xmlns(:\w+)?="[^"]*"|href="https?:[^"]*"|https?://www.w3.org\S*', "", page.split("<body>")[1]),
        )
        ids = re.findall(r'\bid="([^"]+)"', page)
        self.assertEqual(len(ids), len(set(ids)))
        self.assertIn("@media screen and (prefers-color-scheme: dark) {[fill=", page)
        self.assertIn(r"{plots/speed.pdf}", article)

    def test_titles_fit_and_labels_hide_no_line(self) -> None:
        if not plot.available():
            self.skipTest("matplotlib is not here")
        rows = [
            row(blocks=blocks, threads=threads, n=4096, keys_per_s=float(blocks * threads))
            for blocks in (1, 4)
            for threads in (32, 64)
        ]
        ends: list[tuple[float, float]] = []

        def measure_title(figure: Any, *_: object) -> None:
            figure.canvas.draw()
            ends.append((figure._suptitle.get_window_extent().x1, figure.bbox.x1))

        with mock.patch.object(plot, "save", measure_title):
            self.assertTrue(shapes_and_ranges.shape_maps(rows, LAB, Path()))
        self.assertLess(*ends[0])
        with plot.drawing(5, 3) as (_, axes):
            axes.plot([1, 10], [1, 1])
            axes.plot([1, 4], [1.1, 1.002])
            end_labels(axes, [(10, 1, "long", "k"), (4, 1.002, "short", "k")])
            scale = axes.figure.dpi / 72
            ours = axes.transData.transform((4, 1.002)) / scale
            offset = next(text for text in axes.texts if text.get_text() == "short").xyann
            self.assertFalse(crossed(axes, scale, ours[0] + 8, ours[0] + 30, ours[1] + offset[1], 4))
            self.assertTrue(crossed(axes, scale, ours[0] + 8, ours[0] + 30, ours[1], 4))

    def test_the_map_of_launch_shapes_has_the_usual_keys(self) -> None:
        usual = [row(blocks=blocks, threads=threads) for blocks in (1, 4) for threads in (32, 64)]
        ranged = [row(blocks=16, threads=16, input="range:0:15"), row(blocks=1, threads=32, input="range:0:255")]
        self.assertEqual(selection.shaped(usual + ranged, LAB), usual)

    def test_nothing_measured(self) -> None:
        rows = [row(status="not-written", keys_per_s=None, message="step 1 is not written yet")]
        report = report_of(rows, Path())
        self.assertIn("Nothing has been measured", parts.PARTS["results"](report))
        for name in (*PARTS, "parts", "kernels"):
            self.assertEqual(parts.PARTS[name](report), "", name)

    def test_keys_in_host_memory(self) -> None:
        rows = [
            row(memory="256K"),
            row(memory="256K", kernel="pinning", median_ms=0.5),
            row(memory="256K", kernel="copies alone", launches=2, median_ms=1.8, gb_per_s=20.0),
            row(memory="256K pageable", median_ms=9.0),
            row(memory="256K", n=1000),
            row(memory="256K", n=1000, kernel="copies alone", launches=2, median_ms=1.8, gb_per_s=20.0),
        ]
        made = parts.make(report_of(rows, Path()))
        self.assertIn("with the copies to the device and back", made["results"])
        self.assertIn("at least 256K (256K for 2<sup>10</sup> keys)", made["results"])
        lines = [line for line in made["transfers"].splitlines() if line.startswith("| 01")]
        cells = "| 01 global | 2<sup>10</sup> | 256K | 2.00 | 0.512 | 0.500 | 2 | 1.80 | 20.0 | 90 |"
        slow = "| 01 global | 2<sup>10</sup> | 256K pageable | 9.00 | 0.512 |  |  |  |  |  |"
        self.assertEqual(lines, [cells, slow])
        self.assertNotIn("pinning", made["kernels"])

    def test_one_shape_that_takes_too_long_does_not_condemn_its_step(self) -> None:
        slow = row(
            status="hung",
            keys_per_s=None,
            blocks=1024,
            threads=1024,
            n=10000,
            message="no answer within 10 s: step 1 does not end",
        )
        noisy = row(status="refused", keys_per_s=None, blocks=4, threads=256, n=1000, message="by the judge's clock")
        report = report_of([row(), row(blocks=1, threads=32), slow, noisy], Path(), steps=lab_of(MANY).steps)
        results, shapes = parts.PARTS["results"](report), parts.PARTS["shapes"](report)
        self.assertNotIn("does not end", results)
        self.assertNotIn("was not measured", results)
        self.assertIn("refused at n = 1,000, launch &lt;&lt;&lt;4, 256&gt;&gt;&gt;", results)
        self.assertIn("took longer than 10 s for &lt;&lt;&lt;1024, 1024&gt;&gt;&gt; with n = 10,000", shapes)
        other = report_of([slow, row(step=2, name="other")], Path())
        self.assertIn("Step 01 global was not measured: hung", parts.PARTS["results"](other))
        self.assertEqual(failures([row(), slow], LAB)[0], [])

    def test_a_line_without_uniform_keys_has_its_commonest_input(self) -> None:
        few = [row(step=2, name="few", type="pairs", n=n, input="range:0:255") for n in (1024, 4096)]
        others = [row(), row(input="sorted"), row(step=2, name="few", type="pairs", input="sorted")]
        inputs = [(line.step, line.input) for line in selection.usual(others + few)]
        self.assertEqual(inputs, [(1, "uniform"), (2, "range:0:255"), (2, "range:0:255")])

    def test_steps_swept_at_different_sizes_have_tables_of_their_own(self) -> None:
        fast = [row(name="fast", step=3, n=16384, input=name) for name in ("uniform", "sorted", "reversed")]
        slow = [row(n=4096, input=name) for name in ("uniform", "sorted")] + [row(n=16384)]
        fast += [row(name="part", task="scan", type="u64", input=name) for name in ("uniform", "sorted")]
        report = report_of(slow + fast, Path(), left_out={"inputs": ["Left out: something."]})
        text = parts.PARTS["inputs"](report)
        self.assertRegex(
            text,
            r"(?s)2<sup>14</sup> u32 keys.*03 fast, Mkeys/s \|\n"
            r".*2<sup>12</sup> u32 keys.*\| 01 global, Mkeys/s \|\n",
        )
        self.assertNotIn("u64", text)
        self.assertTrue(text.endswith("Left out: something."))

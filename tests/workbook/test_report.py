"""Reports: what is kept of the student's words, Markdown as HTML and LaTeX, and what goes into the parts."""

import argparse
import contextlib
import io
import json
import re
import tempfile
import unittest
from html.parser import HTMLParser
from pathlib import Path
from unittest import mock

from test_measurements import row

from workbook.core import measurements
from workbook.reporting import charts, markdown, plot
from workbook.verbs import report
from workbook.reporting.parts import Report, pipe
from workbook.core.terminal import Problem, Usage

LAB = "03-bitonic"
PARTS = {
    "statement": "the task",
    "machine": pipe(["what", "value"], [["GPU", "none"]], 2),
    "program": "p",
    "results": "r",
    "n": "| a | b |\n|---|---:|\n| 1 | 2 |",
}


class Kept(unittest.TestCase):
    """report.md, written again and again."""

    def setUp(self):
        self.first = report.compose(LAB, "Lab", PARTS, None)

    def test_all_parts_and_no_others(self):
        for heading in (
            "# Report: Lab",
            "## Statement",
            "## Hardware and software",
            "## Method",
            "### Questions of the handout",
            "## Results",
            "### Time and speed against n",
            "## Conclusions",
        ):
            self.assertIn(f"\n{heading}\n", "\n" + self.first)
        self.assertNotIn("### Speed against the value range", self.first)
        self.assertGreater(self.first.count("*Your answer:*"), 5)

    def test_words_stay_and_results_are_new(self):
        mine = self.first.replace("Your name, your group, the date", "Ada L.").replace(
            "## Conclusions", "## Conclusions\n\nIt *is* fast.\n\n## Thanks\n\nTo all."
        )
        again = report.compose(LAB, "Lab", {**PARTS, "n": "new numbers"}, mine)
        for words in ("Ada L.", "It *is* fast.", "## Thanks", "new numbers"):
            self.assertIn(words, again)
        self.assertNotIn("| 1 | 2 |", again)
        self.assertEqual(report.compose(LAB, "Lab", {**PARTS, "n": "new numbers"}, again), again)

    def test_a_section_that_was_deleted_stays_away_and_a_new_one_comes(self):
        at, end = self.first.index("### Time and speed"), self.first.index("## Conclusions")
        mine = self.first[:at] + self.first[end:]
        again = report.compose(LAB, "Lab", {**PARTS, "machines": "two"}, mine)
        self.assertNotIn("### Time and speed", again)
        self.assertLess(again.index("### Several machines"), again.index("## Conclusions"))
        self.assertEqual(again.count("### Several machines"), 1)

    def test_it_says_which_lab_it_is_about(self):
        self.assertEqual(report.whose(self.first), LAB)
        self.assertIsNone(report.whose("# Mine"))

    def test_a_missing_comment_is_named_and_nothing_changes(self):
        with self.assertRaisesRegex(Problem, "end of made --> is missing"):
            report.compose(LAB, "Lab", PARTS, self.first.replace("<!-- end of made -->", "", 1))

    def test_what_was_changed_by_hand_is_not_overwritten(self):
        with tempfile.TemporaryDirectory() as folder:
            path, remarks = Path(folder) / "report.tex", []

            def write(content):
                return report.write_derived(path, content, "% made of report.md: {}", remarks).name

            self.assertEqual([write("one\n"), write("two\n")], ["report.tex"] * 2)
            path.write_text(path.read_text().replace("two", "mine"))
            self.assertEqual(remarks, [])
            self.assertEqual([write("three\n"), write("four\n")], ["report-new.tex"] * 2)
            new = Path(folder) / "report-new.tex"
            new.write_text(new.read_text().replace("four", "mine too"))
            self.assertEqual([write("five\n"), write("six\n")], ["report-new-2.tex"] * 2)
            self.assertTrue(path.read_text().startswith("mine"))
            self.assertTrue(new.read_text().startswith("mine too"))
            self.assertIn("since you have changed report.tex and report-new.tex by hand", remarks[-1])

    def test_words_that_cannot_be_kept_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "report.md"
            self.assertIsNone(report.words_of(path, LAB))
            path.write_text(" \n")
            self.assertIsNone(report.words_of(path, LAB))
            path.write_bytes("# \u00fcber".encode("latin1"))
            with self.assertRaisesRegex(Problem, "is not UTF-8"):
                report.words_of(path, LAB)
            path.write_text(self.first.replace("<!-- end of made -->", "", 1))
            with self.assertRaisesRegex(Problem, "is missing"):
                report.words_of(path, LAB)
            path.write_text(self.first)
            self.assertEqual(report.words_of(path, LAB), self.first)
            with self.assertRaisesRegex(Usage, f"holds the report on {LAB}"):
                report.words_of(path, "05-radix")

    def run_report(self, folder, meanwhile):
        """A report in whose measuring `meanwhile` happens. Gives what was printed."""
        parser = argparse.ArgumentParser()
        report.add_arguments(parser)

        def measured(*_):
            meanwhile()
            return [row()]

        said = io.StringIO()
        with (
            mock.patch.multiple(
                report,
                prepare=lambda *_: ("cpu", None),
                measure=measured,
                cpu_golds=lambda *_: [],
                profiles=lambda *_: None,
                note=lambda _: None,
            ),
            mock.patch.object(plot, "available", lambda: False),
            mock.patch.multiple(
                report.judge, table=lambda _: facts_of(1 << 62), device=lambda _: [], inputs=lambda: [("uniform", "")]
            ),
            contextlib.redirect_stdout(said),
            contextlib.redirect_stderr(said),
        ):
            report.main(parser.parse_args([LAB, "--out", folder]))
        return said.getvalue()

    def test_what_is_written_while_it_measures_stays(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "report.md"
            self.run_report(folder, lambda: None)
            self.run_report(folder, lambda: path.write_text(path.read_text().replace("Your name", "Ada \u0416.")))
            self.assertIn("Ada \u0416.", path.read_text())
            broken = path.read_text().replace("<!-- end of made -->", "", 1)
            with self.assertRaisesRegex(Problem, "is missing"):
                self.run_report(folder, lambda: path.write_text(broken))
            self.assertEqual(path.read_text(), broken)

    def test_letters_and_pictures_that_are_missing_are_told(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "report.md"
            self.assertIn("pdflatex report.tex", self.run_report(folder, lambda: None))
            path.write_text(path.read_text().replace("Your name", "\u0416\n\n![mine](plots/mine.png)\n\n"))
            said = self.run_report(folder, lambda: None)
            for words in ("lualatex report.tex", "no letters for \u0416", "the picture plots/mine.png is not in"):
                self.assertIn(words, said)

    def test_an_unwritable_folder(self):
        with tempfile.NamedTemporaryFile() as file, self.assertRaisesRegex(Usage, "cannot be written: choose another"):
            report._prepare_folder(Path(file.name) / "out")


TEXT = """# Title

A *word*, **two**, `a_b < c`, 2<sup>10</sup>, [a link](https://x.org/a_b#c), 100 % & <b>no</b>. snake_case_name $a < b$

1. one
   and more
2. two

   a second paragraph
- x

| step | n = 2<sup>4</sup> |
|---|---:|
| 01 \\| a | 1.5 |

```
<!-- kept --> {x} & y
```
> said

<!-- not
shown -->
![A plot](plots/a.svg)
"""


class Balanced(HTMLParser):
    """Notes whether every tag is closed in turn."""

    def __init__(self):
        super().__init__()
        self.open, self.wrong = [], []

    def handle_starttag(self, tag, attrs):
        if tag not in ("br", "img", "meta", "path", "rect", "use", "image"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


class Markdown(unittest.TestCase):
    """One text, two other forms."""

    def test_html(self):
        text = markdown.to_html(markdown.parse(TEXT), lambda path, caption: f"<figure>{caption}</figure>")
        for part in (
            '<h1 id="title">Title</h1>',
            "<em>word</em>",
            "<strong>two</strong>",
            "<code>a_b &lt; c</code>",
            "2<sup>10</sup>",
            '<a href="https://x.org/a_b#c">a link</a>',
            "&lt;b&gt;no&lt;/b&gt;",
            "snake_case_name",
            "<ol><li>one and more</li><li><p>two</p>",
            "<ul><li>x</li></ul>",
            '<td class="left short">01 | a</td>',
            '<td class="right">1.5</td>',
            "&lt;!-- kept --&gt; {x} &amp; y",
            "<blockquote>",
            "<figure>A plot</figure>",
        ):
            self.assertIn(part, text)
        self.assertNotIn("shown", text)
        parser = Balanced()
        parser.feed(text)
        self.assertEqual((parser.open, parser.wrong), ([], []))

    def test_lists_in_lists_rules_and_underlined_headings(self):
        blocks = markdown.parse(
            "- a\n  - b\n    more\n  - c\n- d\n\n---\n\nWords\n- e\n* * *\nTitle\n=====\nit is 5\n2. of all"
        )
        text = markdown.to_html(blocks, None).replace("\n", "")
        self.assertEqual(
            text,
            "<ul><li>a<ul><li>b more</li><li>c</li></ul></li><li>d</li></ul><hr><p>Words</p>"
            "<ul><li>e</li></ul>"
            '<hr><h1 id="title">Title</h1><p>it is 5 2. of all</p>',
        )
        text = markdown.to_tex(blocks, None)
        self.assertEqual((text.count(r"\begin{itemize}"), text.count(r"\hrulefill")), (3, 2))

    def test_a_link_does_not_run_code(self):
        self.assertNotIn("href", markdown.inline_html("[x](javascript:alert(1))"))

    def test_latex(self):
        text = markdown.to_tex(markdown.parse(TEXT), lambda path, caption: f"PLOT {path}")
        for part in (
            r"\emph{word}",
            r"\texttt{a\_",
            r"2\textsuperscript{10}",
            r"\href{https://x.org/a\_b\#c}{a link}",
            r"100 \% \&",
            r"snake\_case\_name",
            "$a < b$",
            r"\begin{enumerate}",
            r"01 \textbar{} a & 1.5 \\",
            "{x} & y",
            "PLOT plots/a.svg",
        ):
            self.assertIn(part, text)
        self.assertEqual(sorted(re.findall(r"\\begin\{(\w+)\}", text)), sorted(re.findall(r"\\end\{(\w+)\}", text)))

    def test_letters_that_pdflatex_lacks_do_not_stop_it(self):
        with tempfile.TemporaryDirectory() as folder:
            text, letters = report.to_article("# T\n\n\u0416\u2083 \u00e9 \u00d7 2\u00b9\u2070", "T", Path(folder))
        self.assertEqual(letters, ["\u0416"])
        self.assertIn(r"\DeclareUnicodeCharacter{0416}{?}", text)
        self.assertIn("\u00e9", text)
        self.assertNotIn("00E9", text)


class Parts(unittest.TestCase):
    """A report of a few rows, with and without plots."""

    def rows(self):
        found = []
        for n in (1024, 4096, 1000, 10000):
            for step, name in ((1, "global"), (2, "shared")):
                for blocks, threads in (("0", "0"), ("1", "32"), ("64", "64")):
                    one = row(
                        step=str(step),
                        name=name,
                        n=str(n),
                        blocks=blocks,
                        threads=threads,
                        ratio="0.5",
                        gold="vqsort",
                        keys_per_s=str(n * 100 * step),
                        median_ms=str(10 / step),
                    )
                    found += [
                        one,
                        {**one, "kernel": "stage", "launches": "3", "grid": "4", "block": "64", "dynamic_shared": "0"},
                        {**one, "kernel": "to device"},
                        {**one, "kernel": "to host"},
                    ]
            found.append(row(lab="gold", step="6", name="vqsort", n=str(n), keys_per_s=str(n * 1000), median_ms="1"))
        found += [row(input=name) for name in ("sorted", "reversed", "range:0:15", "range:0:255")] + [row(type="u64")]
        return found

    def make(self, plots):
        facts = {
            (1, "sort"): {
                "name": "global",
                "idea": "i",
                "stable": False,
                "tile": 0,
                "largest_n": 1 << 62,
                "types": ["u32"],
            }
        }
        other = [
            (
                "h200",
                [
                    row(
                        build="cuda",
                        machine_id="h200",
                        machine="NVIDIA H200, compute capability 9.0; Intel, 2 cores",
                        n=str(n),
                        keys_per_s=str(n * 9),
                    )
                    for n in (1024, 4096)
                ],
            )
        ]
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            (folder / "plots").mkdir()
            made = Report(LAB, folder, self.rows(), "cpu", facts, [("compute capability", "9.0")], other)
            made.plots = made.plots and plots
            parts = {
                name: getattr(made, name)() for name, text in report.template() if f"<!-- made: {name} -->" in text
            }
            text = report.compose(LAB, "Lab", parts, None)
            page = report.to_page(text, "Lab", folder, [])
            article, _ = report.to_article(text, "Lab", folder)
            files = sorted(path.name for path in (folder / "plots").iterdir())
        return parts, page, article, files

    def test_tables_come_without_plots(self):
        parts, page, article, files = self.make(False)
        self.assertEqual(files, [])
        for name in (
            "machine",
            "n",
            "kernels",
            "profile",
            "shapes",
            "inputs",
            "ranges",
            "types",
            "transfers",
            "processors",
            "machines",
        ):
            self.assertIn("|---", parts[name], name)
        self.assertIn("| n = 1,000 | n = 10,000 |", parts["processors"])
        self.assertRegex(parts["transfers"], r"(?m)^\| 1,000 \|")
        self.assertEqual(parts["parts"], "")
        self.assertIn("| &lt;&lt;&lt;1, 32&gt;&gt;&gt; |", parts["shapes"])
        self.assertIn("NVIDIA H200", parts["processors"])
        self.assertIn("<table>", page)
        self.assertNotIn("@", re.sub(r"@(media|page)", "", page.split("<body>")[0]))
        self.assertIn(r"\begin{tabular}", article)

    def test_plots(self):
        if not plot.available():
            self.skipTest("matplotlib is not here")
        parts, page, article, files = self.make(True)
        for name in (
            "speed",
            "time",
            "kernels",
            "shapes",
            "shape-lines",
            "inputs",
            "ranges",
            "types",
            "processors",
            "machines",
        ):
            for form in ("svg", "png", "pdf"):
                self.assertIn(f"{name}.{form}", files)
        self.assertEqual(page.count("<svg"), 10)
        self.assertNotIn('src="plots', page)
        self.assertNotIn(
            "http",
            re.sub(r'xmlns(:\w+)?="[^"]*"|href="https?:[^"]*"|https?://www.w3.org\S*', "", page.split("<body>")[1]),
        )
        ids = re.findall(r'\bid="([^"]+)"', page)
        self.assertEqual(len(ids), len(set(ids)))
        self.assertIn("var(--step-1)", page)
        self.assertIn(r"{plots/speed.pdf}", article)

    def test_titles_fit_and_labels_hide_no_line(self):
        if not plot.available():
            self.skipTest("matplotlib is not here")
        rows = [
            row(blocks=str(blocks), threads=str(threads), n="4096", keys_per_s=str(blocks * threads))
            for blocks in (1, 4)
            for threads in (32, 64)
        ]
        ends = []

        def measure_title(figure, _):
            figure.canvas.draw()
            ends.append((figure._suptitle.get_window_extent().x1, figure.bbox.x1))

        with mock.patch.object(plot, "save", measure_title):
            self.assertTrue(charts.shapes(rows, LAB, None))
        self.assertLess(*ends[0])
        with plot.drawing(5, 3) as (_, axes):
            axes.plot([1, 10], [1, 1])
            axes.plot([1, 4], [1.1, 1.002])
            plot.end_labels(axes, [(10, 1, "long", "k"), (4, 1.002, "short", "k")])
            scale = axes.figure.dpi / 72
            ours = axes.transData.transform((4, 1.002)) / scale
            offset = next(text for text in axes.texts if text.get_text() == "short").xyann
            self.assertFalse(plot._crossed(axes, scale, ours[0] + 8, ours[0] + 30, ours[1] + offset[1], 4))
            self.assertTrue(plot._crossed(axes, scale, ours[0] + 8, ours[0] + 30, ours[1], 4))

    def test_nothing_measured(self):
        with tempfile.TemporaryDirectory() as folder:
            made = Report(
                LAB,
                Path(folder),
                [row(status="not-written", keys_per_s="", message="step 1 is not written yet")],
                "cpu",
                {},
                [],
            )
            self.assertIn("Nothing has been measured", made.results())
            for name in (
                "n",
                "parts",
                "kernels",
                "profile",
                "shapes",
                "inputs",
                "ranges",
                "types",
                "transfers",
                "machines",
            ):
                self.assertEqual(getattr(made, name)(), "", name)


class Coursework(unittest.TestCase):
    """A report on counting sort has every table and plot that such a report is expected to have."""

    SHAPES = ("0x0", "1x32", "1x256", "4x256", "16x16", "64x64", "256x256", "1024x1024")
    SIZES = (1000, 10000, 100000)

    def recorded(self, build, machine_id, machine):
        """Rows as the sweeps of `report` write them."""

        def one(name="shared", step="2", **values):
            n = int(values.get("n", 1024))
            return row(
                **{
                    **dict(
                        lab="04-counting",
                        step=step,
                        name=name,
                        type="u8",
                        build=build,
                        machine_id=machine_id,
                        machine=machine,
                        keys_per_s=str(n * 2000),
                        median_ms="0.5",
                    ),
                    **values,
                }
            )

        found = []
        for n in (1024, 4096, 16384):
            found += [
                one(n=str(n)),
                one("parallel", "3", n=str(n), keys_per_s=str(n * 5000)),
                one(n=str(n), kernel="to device"),
                one(n=str(n), kernel="to host"),
                one("histogram", "2", n=str(n), task="histogram"),
                one("vqsort" if build == "cpu" else "radix", "6", lab="gold", n=str(n), keys_per_s=str(n * 4000)),
            ]
        for n in self.SIZES:
            for shape in self.SHAPES:
                blocks, threads = shape.split("x")
                for name, step, kernels in (
                    ("shared", "2", ("histogram", "scan", "move")),
                    ("parallel", "3", ("count", "place")),
                ):
                    launch = dict(n=str(n), blocks=blocks, threads=threads)
                    found += [
                        one(name, step, **launch),
                        *(
                            one(
                                name,
                                step,
                                **launch,
                                kernel=kernel,
                                launches="1",
                                grid=blocks,
                                block=threads,
                                dynamic_shared="1024",
                                static_shared="2048",
                                registers="24",
                            )
                            for kernel in kernels
                        ),
                    ]
        for blocks in (1, 16, 256):
            found += [one(n="4096", blocks=str(blocks), threads=str(threads)) for threads in (32, 256, 1024)]
        found += [
            one("range", "4", type="u32", input=f"range:0:{2**bits - 1}", keys_per_s=str(1e9 / bits))
            for bits in (4, 8, 16, 24)
        ]
        found += [
            one("range", "4", type="u32", n=str(n), input=f"range:0:{2**bits - 1}")
            for n in self.SIZES
            for bits in (4, 16, 24)
        ]
        found += [
            one("range", "4", type="u32", n="4096", input=f"range:0:{2**bits - 1}", blocks=blocks, threads=threads)
            for bits in (4, 16)
            for blocks, threads in (("1", "32"), ("64", "64"))
        ]
        found += [
            one(name, step, input=kind)
            for name, step in (("shared", "2"), ("parallel", "3"))
            for kind in ("sorted", "all-equal", "and-5", "and-2")
        ]
        return measurements.distinct(found)

    def test_each_table_and_plot_is_there(self):
        lab = "04-counting"
        facts = {
            (number, "sort"): {
                "name": name,
                "idea": name,
                "stable": False,
                "tile": 0,
                "largest_n": 1 << 62,
                "types": ["u8", "u32"],
            }
            for number, name in ((2, "shared"), (3, "parallel"), (4, "range"))
        }
        device = [
            ("device", "NVIDIA A"),
            ("compute capability", "9.0"),
            ("global memory, bytes", "150000000000"),
            ("shared memory a block, bytes", "49152"),
            ("constant memory, bytes", "65536"),
            ("registers a block", "65536"),
            ("threads a block, at most", "1024 (1024 x 1024 x 64)"),
            ("multiprocessors", "132"),
        ]
        own = self.recorded("cuda", "a", "NVIDIA A, compute capability 9.0; AMD EPYC, 2 cores, 24 GiB") + [
            one for one in self.recorded("cpu", "a", "AMD EPYC, 2 cores, 24 GiB") if one["lab"] == "gold"
        ]
        other = [("b", self.recorded("cuda", "b", "NVIDIA B, compute capability 8.0; Intel, 8 cores, 16 GiB"))]
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            (folder / "plots").mkdir()
            made = Report(lab, folder, own, "cuda", facts, device, other)
            parts = {
                name: getattr(made, name)() for name, text in report.template() if f"<!-- made: {name} -->" in text
            }
            text = report.compose(lab, "Lab", parts, None)
            plots = {path.stem for path in (folder / "plots").iterdir()}
            page, article = report.to_page(text, "Lab", folder, []), report.to_article(text, "Lab", folder)[0]

        for heading in (
            "Statement",
            "Hardware and software",
            "Program",
            "Time and speed against n",
            "Where the time goes",
            "Profile",
            "Speed against the launch shape",
            "Speed against the input",
            "Speed against the value range",
            "Copies to the device and back",
            "GPU against CPU",
            "Several machines",
            "Conclusions",
        ):
            self.assertRegex(text, f"(?m)^##+ {heading}$")
        # Hardware: the card, its memories and limits, the processor, the system.
        for what in (
            "GPU | NVIDIA A",
            "compute capability | 9.0",
            "global memory",
            "shared memory a block",
            "constant memory",
            "registers a block",
            "threads a block",
            "multiprocessors | 132",
            "processor |",
            "cores |",
            "memory |",
            "system |",
        ):
            self.assertIn(f"| {what}", parts["machine"])
        # Each kernel's time, a line a launch shape, a column a size.
        for kernel in ("histogram", "scan", "move", "count", "place"):
            self.assertIn(f"Kernel `{kernel}` of step 0", parts["kernels"])
        self.assertEqual(parts["kernels"].count("| launch | n = 1,000 | n = 10,000 | n = 100,000 |"), 5)
        for part in ("kernels", "shapes"):
            for shape in self.SHAPES[1:]:
                self.assertIn(
                    f"| &lt;&lt;&lt;{shape.replace('x', ', ')}&gt;&gt;&gt; | 0.500 | 0.500 | 0.500 |", parts[part]
                )
        # Shared memory and registers of each kernel.
        self.assertRegex(parts["profile"], r"\| `move` \|.*\| 2048 \| 1024 \| 24 \|")
        # The best of both, and two cards.
        for name in ("NVIDIA A", "VQSort"):
            self.assertIn(name, parts["processors"])
        for name in ("NVIDIA A", "NVIDIA B"):
            self.assertIn(f"| {name} |", parts["machines"])
            self.assertRegex(parts["machines"], rf"\| launch shape \|.*{name}")
        self.assertIn("| &lt;&lt;&lt;64, 64&gt;&gt;&gt; | 0.500 | 0.500 |", parts["machines"])
        # Largest values, and inputs by entropy.
        self.assertEqual(re.findall(r"(?m)^\| ([\d,]+) \|", parts["ranges"]), ["15", "255", "65,535", "16,777,215"])
        self.assertIn("| launch shape | 0 to 15 | 0 to 65,535 |", parts["ranges"])
        self.assertIn("| &lt;&lt;&lt;64, 64&gt;&gt;&gt; | 0.500 | 0.500 |", parts["ranges"])
        self.assertIn("| &lt;&lt;&lt;64, 64&gt;&gt;&gt;, 65,535 | 0.500 | 0.500 |", parts["machines"])
        self.assertEqual(
            re.findall(r"(?m)^\| ([a-z]+[\w-]*) \|", parts["inputs"])[1:],
            ["uniform", "and-2", "and-5", "all-equal", "sorted"],
        )
        self.assertIn("| and-2 | 6.49 |", parts["inputs"])
        self.assertEqual(
            len(re.findall("<table[ >]", page)), len(re.findall(r"\\begin\{(?:tabular|longtable)\}", article))
        )
        if plot.available():
            self.assertLessEqual(
                {
                    "speed",
                    "time",
                    "kernels",
                    "shapes",
                    "shape-lines",
                    "ranges",
                    "range-lines",
                    "inputs",
                    "processors",
                    "machines",
                },
                plots,
            )


def facts_of(*limits, types=("u32",)):
    """A lab's table: a step a limit."""
    return {
        (number, "sort"): {
            "name": f"step{number}",
            "idea": "",
            "stable": False,
            "tile": 0,
            "largest_n": limit,
            "types": list(types),
        }
        for number, limit in enumerate(limits, 1)
    }


class Sweeps(unittest.TestCase):
    """What is measured, and what is told of the rest."""

    def plan(self, kind, facts):
        with mock.patch.object(report.judge, "inputs", lambda: [("uniform", ""), ("sorted", "")]):
            return {sweep.name: sweep for sweep in report.sweeps(LAB, kind, facts, None)}

    def test_a_slow_step_does_not_hold_the_others_back(self):
        found = self.plan("cuda", facts_of(65536, 65536, 1 << 62))
        self.assertEqual((found["n-1-2"].sizes[-1], found["n-3"].sizes[-1]), ("65536", str(1 << 26)))
        self.assertEqual((found["inputs-1-2"].sizes, found["inputs-3"].sizes), (["8192"], [str(1 << 22)]))
        self.assertEqual((found["shapes-1-2"].sizes, found["shapes-3"].sizes), (["8192"], [str(1 << 20)]))
        self.assertEqual(found["sizes"].shapes, list(report.SEED_SHAPES))
        self.assertIn("--step", found["n-3"].options(facts_of(65536, 65536, 1 << 62)))
        self.assertEqual(set(self.plan("cuda", facts_of(1 << 62, 1 << 62))), {"n", "sizes", "shapes", "inputs"})

    def test_launches_that_are_expensive_to_emulate_are_told_and_not_asked_for(self):
        facts = facts_of(65536, 1 << 62)
        self.assertEqual(set(self.plan("cpu", facts_of(1 << 24, 1 << 62))), {"n", "sizes", "shapes", "inputs"})
        found = self.plan("cpu", facts)
        self.assertNotIn("1024x1024", found["sizes-1"].shapes)
        self.assertIn("1024x1024", found["sizes-2"].shapes)
        told = report.left_out(LAB, "cpu", facts, found.values(), [])
        self.assertIn("more than 8,192 threads in step 01", " ".join(told["sizes"]))

    def test_what_there_was_no_time_for_is_told(self):
        facts = facts_of(1 << 62, 4096, types=("u32", "u64"))
        sweep = report.Sweep("types", "types", [1, 2], ["1024", "8192"], [], [], ["u32", "u64", "pairs"], 5, [])
        rows = [
            row(name="step1", n="1024"),
            row(name="step1", n="1024", type="u64"),
            row(name="step1", n="8192"),
            row(step="2", name="step2", n="1024", status="refused"),
        ]
        self.assertEqual(
            sweep.left_out(LAB, facts, rows),
            "Left out for lack of time (5 s): 2 of 6 measurements over types, at n = 1,024, 8,192, of steps 01, 02.",
        )
        rows += [row(name="step1", n="8192", type="u64"), row(step="2", name="step2", n="1024", type="u64")]
        self.assertEqual(sweep.left_out(LAB, facts, rows), "")

    def test_one_shape_that_takes_too_long_does_not_condemn_its_step(self):
        slow = row(
            status="hung",
            keys_per_s="",
            blocks="1024",
            threads="1024",
            n="10000",
            message="no answer within 10 s: step 1 does not end",
        )
        noisy = row(
            status="refused", keys_per_s="", blocks="4", threads="256", n="1000", message="by the judge's clock"
        )
        with tempfile.TemporaryDirectory() as folder:

            def made(*rows):
                return Report(LAB, Path(folder), list(rows), "cpu", facts_of(1 << 62), [])

            found = made(row(), row(blocks="1", threads="32"), slow, noisy)
            found.plots = False
            self.assertNotIn("does not end", found.results())
            self.assertNotIn("is not among them", found.results())
            self.assertIn("refused at n = 1,000, launch &lt;&lt;&lt;4, 256&gt;&gt;&gt;", found.results())
            self.assertIn(
                "took longer than 10 s for &lt;&lt;&lt;1024, 1024&gt;&gt;&gt; with n = 10,000", found.shapes()
            )
            other = row(step="2", name="other")
            self.assertIn("Step 01 global is not among them: hung", made(slow, other).results())
            self.assertEqual(report.failures([row(), slow], LAB)[0], [])

    def test_steps_swept_at_different_sizes_have_tables_of_their_own(self):
        fast = [row(name="fast", step="3", n="16384", input=name) for name in ("uniform", "sorted", "reversed")]
        slow = [row(n="4096", input=name) for name in ("uniform", "sorted")] + [row(n="16384")]
        fast += [row(name="part", task="scan", type="u64", input=name) for name in ("uniform", "sorted")]
        with tempfile.TemporaryDirectory() as folder:
            made = Report(LAB, Path(folder), slow + fast, "cpu", {}, [], left_out={"inputs": ["Left out: something."]})
            made.plots = False
            text = made.inputs()
        self.assertRegex(
            text,
            r"(?s)2<sup>14</sup> u32 keys.*03 fast, Mkeys/s \|\n"
            r".*2<sup>12</sup> u32 keys.*\| 01 global, Mkeys/s \|\n",
        )
        self.assertNotIn("u64", text)
        self.assertTrue(text.endswith("Left out: something."))

    def test_what_failed_by_chance_is_measured_again(self):
        bad = row(status="refused", keys_per_s="", n="1000", message="by the judge's clock")
        with (
            tempfile.TemporaryDirectory() as folder,
            mock.patch.multiple(report.build, gold=lambda kind: Path(__file__), judge=lambda: Path(__file__)),
            mock.patch.object(report.bench, "sweep") as sweep,
            mock.patch.object(report.judge, "bench") as again,
        ):
            folder = Path(folder)
            (folder / "csv").mkdir()
            (folder / "csv/sweeps.json").write_text("[1]")  # of whom ever
            sweep.side_effect = lambda *_: ([row(), bad], 1, folder / "measured.csv")
            again.side_effect = lambda what, lab, runner, kind, path, options: (
                measurements.read(path) + [row(n="1000")] if "yes" in options else [row(), bad],
                0,
            )

            def run(option):
                return report.measure(LAB, "cpu", __file__, [("n", "n", [option])], folder, False)

            self.assertEqual([one["status"] for one in run("no")], ["verified", "refused"])
            self.assertEqual(again.call_count, 1)
            self.assertEqual(run("no")[1]["status"], "refused")
            self.assertEqual((sweep.call_count, again.call_count), (1, 2))
            self.assertEqual([one["status"] for one in run("yes")], ["verified"] * 2)
            again.reset_mock()
            self.assertEqual([one["status"] for one in run("yes")], ["verified"] * 2)
            again.assert_not_called()
            self.assertEqual(list(json.loads((folder / "csv/sweeps.json").read_text())), ["n"])
            self.assertEqual([path.name for path in (folder / "csv").glob("*.part")], [])
            (folder / "csv/mine.csv").write_text("of the student")
            report.forget(folder, ["n"])
            self.assertTrue((folder / "csv/n.csv").exists())
            report.forget(folder, ["n-1", "n-2"])
            self.assertEqual(sorted(path.name for path in (folder / "csv").iterdir()), ["mine.csv", "sweeps.json"])


class Pictures(unittest.TestCase):
    """report.html is one file whatever pictures the student adds."""

    def test_they_are_inside(self):
        svg = '<svg xmlns="http://www.w3.org/2000/svg" width="10"/>'
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            for name in ("a.png", "b b.jpg", "c.gif"):
                (folder / name).write_bytes(b"\x89")
            (folder / "d.svg").write_text(svg)
            remarks = []
            page = report.to_page(
                "![a](a.png)\n![b](b%20b.jpg)\n![c](c.gif)\n![d](d.svg)\n![e](e.png)\n![f](https://x.org/f.png)",
                "T",
                folder,
                remarks,
            )
        for kind in ("png", "jpeg", "gif", "svg+xml"):
            self.assertEqual(page.count(f'src="data:image/{kind};base64,'), 1)
        self.assertNotRegex(page, r'src="(?!data:)')
        self.assertEqual(len(remarks), 2)
        self.assertRegex(remarks[0], "the picture e.png is not in")
        self.assertRegex(remarks[1], "f.png is on the net")

    def test_a_picture_within_text_is_told(self):
        remarks = []
        report.to_page("see ![a](a.png) there\n\n```\n![b](b.png)\n```\n", "T", Path("."), remarks)
        self.assertEqual(remarks, ["the picture a.png stands within text: give it a line of its own"])


class Others(unittest.TestCase):
    """The machines to compare with."""

    def test_files_that_cannot_be_read_are_told_before_anything_is_measured(self):
        parser = argparse.ArgumentParser()
        report.add_arguments(parser)
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(report, "prepare", side_effect=AssertionError):
            path = Path(folder) / "mine.csv"
            measurements.write(path, [row()])
            whole = path.read_text()
            for content, words in (
                (whole[:-9], "cut short"),
                (whole.replace("kernel", "x", 1), "another version"),
                ("", "empty"),
            ):
                path.write_text(content)
                with self.assertRaisesRegex(Problem, words):
                    report.main(parser.parse_args([LAB, "--out", f"{folder}/out", "--with", str(path)]))

    def test_what_was_recorded_is_told_to_be_the_solutions(self):
        own = [
            row(**whose, n=str(n))
            for n in (1024, 4096)
            for whose in ({}, {"lab": "gold", "name": "vqsort", "step": "6"})
        ]
        with tempfile.TemporaryDirectory() as folder:
            made = Report(LAB, Path(folder), own, "cpu", {}, [], report.other_machines(LAB, [], own))
            made.plots = False
            machines, processors = made.machines(), made.processors()
        self.assertIn("| NVIDIA H200, the solution, recorded |", machines)
        self.assertIn("NVIDIA H200, the solution, recorded |", processors)
        self.assertIn("| the same with the copies |", processors)

    def test_named_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "mine.csv"
            measurements.write(path, [row(machine_id="other", machine="Other, 4 cores, 8 GiB")])
            found = report.other_machines(LAB, [str(path)], [row()])
            self.assertEqual(found[0][0], "mine")
            measurements.write(path, [row(machine="Other, 4 cores, 8 GiB")])
            with self.assertRaisesRegex(Problem, "two machines are called epyc"):
                report.other_machines(LAB, [str(path)], [row()])
            with self.assertRaisesRegex(Problem, "has no measurements of 05-radix"):
                report.other_machines("05-radix", [str(path)], [])
            with self.assertRaisesRegex(Problem, "there is no /nonexistent"):
                report.other_machines(LAB, ["/nonexistent"], [])


if __name__ == "__main__":
    unittest.main()

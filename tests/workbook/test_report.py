"""Reports: what is kept of the student's words, Markdown as HTML and LaTeX, and what goes into the parts."""

import argparse
import re
import tempfile
import unittest
from html.parser import HTMLParser
from pathlib import Path
from unittest import mock

from test_measurements import row

from workbook import markdown, measurements, plot, report
from workbook.report_parts import Report, pipe
from workbook.terminal import Problem, Usage

LAB = "03-bitonic"
PARTS = {"statement": "the task", "machine": pipe(["what", "value"], [["GPU", "none"]], 2), "program": "p", "results": "r",
         "n": "| a | b |\n|---|---:|\n| 1 | 2 |"}


class Kept(unittest.TestCase):
    """report.md, written again and again."""

    def setUp(self):
        self.first = report.compose(LAB, "Lab", PARTS, None)

    def test_all_parts_and_no_others(self):
        for heading in ("# Report: Lab", "## Statement", "## Hardware and software", "## Method", "### Questions of the handout",
                        "## Results", "### Time and speed against n", "## Conclusions"):
            self.assertIn(f"\n{heading}\n", "\n" + self.first)
        self.assertNotIn("### Speed against the value range", self.first)
        self.assertGreater(self.first.count("*Your answer:*"), 5)

    def test_words_stay_and_results_are_new(self):
        mine = self.first.replace("Your name, your group, the date", "Ada L.").replace(
            "## Conclusions", "## Conclusions\n\nIt *is* fast.\n\n## Thanks\n\nTo all.")
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
            path = Path(folder) / "report.tex"
            self.assertEqual(report.write_derived(path, "one\n", "% made of report.md: {}"), path)
            self.assertEqual(report.write_derived(path, "two\n", "% made of report.md: {}"), path)
            path.write_text(path.read_text().replace("two", "mine"))
            other = report.write_derived(path, "three\n", "% made of report.md: {}")
            self.assertEqual(other.name, "report-new.tex")
            self.assertTrue(path.read_text().startswith("mine"))

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
        for part in ("<h1 id=\"title\">Title</h1>", "<em>word</em>", "<strong>two</strong>", "<code>a_b &lt; c</code>",
                     "2<sup>10</sup>", '<a href="https://x.org/a_b#c">a link</a>', "&lt;b&gt;no&lt;/b&gt;", "snake_case_name",
                     "<ol><li>one and more</li><li><p>two</p>", "<ul><li>x</li></ul>", '<td class="left short">01 | a</td>',
                     '<td class="right">1.5</td>', "&lt;!-- kept --&gt; {x} &amp; y", "<blockquote>", "<figure>A plot</figure>"):
            self.assertIn(part, text)
        self.assertNotIn("shown", text)
        parser = Balanced()
        parser.feed(text)
        self.assertEqual((parser.open, parser.wrong), ([], []))

    def test_a_link_does_not_run_code(self):
        self.assertNotIn("href", markdown.inline_html("[x](javascript:alert(1))"))

    def test_latex(self):
        text = markdown.to_tex(markdown.parse(TEXT), lambda path, caption: f"PLOT {path}")
        for part in (r"\emph{word}", r"\texttt{a\_", r"2\textsuperscript{10}", r"\href{https://x.org/a\_b\#c}{a link}", r"100 \% \&",
                     r"snake\_case\_name", "$a < b$", r"\begin{enumerate}", r"01 \textbar{} a & 1.5 \\", "{x} & y", "PLOT plots/a.svg"):
            self.assertIn(part, text)
        self.assertEqual(sorted(re.findall(r"\\begin\{(\w+)\}", text)), sorted(re.findall(r"\\end\{(\w+)\}", text)))

    def test_letters_that_pdflatex_lacks_do_not_stop_it(self):
        with tempfile.TemporaryDirectory() as folder:
            text = report.to_article("# T\n\n\u0416\u2083 \u00e9 \u00d7 2\u00b9\u2070", "T", Path(folder))
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
                    one = row(step=str(step), name=name, n=str(n), blocks=blocks, threads=threads, ratio="0.5", gold="vqsort",
                              keys_per_s=str(n * 100 * step), median_ms=str(10 / step))
                    found += [one, {**one, "kernel": "stage", "launches": "3", "grid": "4", "block": "64", "dynamic_shared": "0"},
                              {**one, "kernel": "to device"}, {**one, "kernel": "to host"}]
            found.append(row(lab="gold", step="6", name="vqsort", n=str(n), keys_per_s=str(n * 1000), median_ms="1"))
        found += [row(input=name) for name in ("sorted", "reversed", "range:0:15", "range:0:255")] + [row(type="u64")]
        return found

    def make(self, plots):
        facts = {(1, "sort"): {"name": "global", "idea": "i", "stable": False, "tile": 0, "largest_n": 1 << 62, "types": ["u32"]}}
        other = [("h200", [row(build="cuda", machine_id="h200", machine="NVIDIA H200, compute capability 9.0; Intel, 2 cores",
                               n=str(n), keys_per_s=str(n * 9)) for n in (1024, 4096)])]
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            (folder / "plots").mkdir()
            made = Report(LAB, folder, self.rows(), "cpu", facts, [("compute capability", "9.0")], other)
            made.plots = made.plots and plots
            parts = {name: getattr(made, name)() for name, text in report.template() if f"<!-- made: {name} -->" in text}
            text = report.compose(LAB, "Lab", parts, None)
            page = report.to_page(text, "Lab", folder)
            article = report.to_article(text, "Lab", folder)
            files = sorted(path.name for path in (folder / "plots").iterdir())
        return parts, page, article, files

    def test_tables_come_without_plots(self):
        parts, page, article, files = self.make(False)
        self.assertEqual(files, [])
        for name in ("machine", "n", "kernels", "profile", "shapes", "inputs", "ranges", "types", "transfers", "processors",
                     "machines"):
            self.assertIn("|---", parts[name], name)
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
        for name in ("speed", "time", "kernels", "shapes", "shape-lines", "inputs", "ranges", "types", "processors", "machines"):
            for form in ("svg", "png", "pdf"):
                self.assertIn(f"{name}.{form}", files)
        self.assertEqual(page.count("<svg"), 10)
        self.assertNotIn('src="plots', page)
        self.assertNotIn("http", re.sub(r'xmlns(:\w+)?="[^"]*"|href="https?:[^"]*"|https?://www.w3.org\S*', "", page.split("<body>")[1]))
        ids = re.findall(r'\bid="([^"]+)"', page)
        self.assertEqual(len(ids), len(set(ids)))
        self.assertIn("var(--step-1)", page)
        self.assertIn(r"{plots/speed.pdf}", article)

    def test_nothing_measured(self):
        with tempfile.TemporaryDirectory() as folder:
            made = Report(LAB, Path(folder), [row(status="not-written", keys_per_s="", message="step 1 is not written yet")],
                          "cpu", {}, [])
            self.assertIn("Nothing has been measured", made.results())
            for name in ("n", "parts", "kernels", "profile", "shapes", "inputs", "ranges", "types", "transfers", "machines"):
                self.assertEqual(getattr(made, name)(), "", name)


class Coursework(unittest.TestCase):
    """A report on counting sort has every table and plot that such a report is expected to have."""

    SHAPES = ("0x0", "1x32", "1x256", "4x256", "16x16", "64x64", "256x256", "1024x1024")
    SIZES = (1000, 10000, 100000)

    def recorded(self, build, machine_id, machine):
        """Rows as the sweeps of `report` write them."""
        def one(name="shared", step="2", **values):
            n = int(values.get("n", 1024))
            return row(**{**dict(lab="04-counting", step=step, name=name, type="u8", build=build, machine_id=machine_id,
                                 machine=machine, keys_per_s=str(n * 2000), median_ms="0.5"), **values})

        found = []
        for n in (1024, 4096, 16384):
            found += [one(n=str(n)), one("parallel", "3", n=str(n), keys_per_s=str(n * 5000)),
                      one(n=str(n), kernel="to device"), one(n=str(n), kernel="to host"),
                      one("histogram", "2", n=str(n), task="histogram"),
                      one("vqsort" if build == "cpu" else "radix", "6", lab="gold", n=str(n), keys_per_s=str(n * 4000))]
        for n in self.SIZES:
            for shape in self.SHAPES:
                blocks, threads = shape.split("x")
                for name, step, kernels in (("shared", "2", ("histogram", "scan", "move")), ("parallel", "3", ("count", "place"))):
                    launch = dict(n=str(n), blocks=blocks, threads=threads)
                    found += [one(name, step, **launch), *(one(name, step, **launch, kernel=kernel, launches="1", grid=blocks,
                                                               block=threads, dynamic_shared="1024", static_shared="2048",
                                                               registers="24") for kernel in kernels)]
        for blocks in (1, 16, 256):
            found += [one(n="4096", blocks=str(blocks), threads=str(threads)) for threads in (32, 256, 1024)]
        found += [one("range", "4", type="u32", input=f"range:0:{2**bits - 1}", keys_per_s=str(1e9 / bits))
                  for bits in (4, 8, 16, 24)]
        found += [one("range", "4", type="u32", n=str(n), input=f"range:0:{2**bits - 1}") for n in self.SIZES
                  for bits in (4, 16, 24)]
        found += [one(name, step, input=kind) for name, step in (("shared", "2"), ("parallel", "3"))
                  for kind in ("sorted", "all-equal", "and-5", "and-2")]
        return measurements.distinct(found)

    def test_each_table_and_plot_is_there(self):
        lab = "04-counting"
        facts = {(number, "sort"): {"name": name, "idea": name, "stable": False, "tile": 0, "largest_n": 1 << 62,
                                    "types": ["u8", "u32"]} for number, name in ((2, "shared"), (3, "parallel"), (4, "range"))}
        device = [("device", "NVIDIA A"), ("compute capability", "9.0"), ("global memory, bytes", "150000000000"),
                  ("shared memory a block, bytes", "49152"), ("constant memory, bytes", "65536"), ("registers a block", "65536"),
                  ("threads a block, at most", "1024 (1024 x 1024 x 64)"), ("multiprocessors", "132")]
        own = (self.recorded("cuda", "a", "NVIDIA A, compute capability 9.0; AMD EPYC, 2 cores, 24 GiB")
               + [one for one in self.recorded("cpu", "a", "AMD EPYC, 2 cores, 24 GiB") if one["lab"] == "gold"])
        other = [("b", self.recorded("cuda", "b", "NVIDIA B, compute capability 8.0; Intel, 8 cores, 16 GiB"))]
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            (folder / "plots").mkdir()
            made = Report(lab, folder, own, "cuda", facts, device, other)
            parts = {name: getattr(made, name)() for name, text in report.template() if f"<!-- made: {name} -->" in text}
            text = report.compose(lab, "Lab", parts, None)
            plots = {path.stem for path in (folder / "plots").iterdir()}
            page, article = report.to_page(text, "Lab", folder), report.to_article(text, "Lab", folder)

        for heading in ("Statement", "Hardware and software", "Program", "Time and speed against n", "Where the time goes", "Profile",
                        "Speed against the launch shape", "Speed against the input", "Speed against the value range",
                        "Copies to the device and back", "GPU against CPU", "Several machines", "Conclusions"):
            self.assertRegex(text, f"(?m)^##+ {heading}$")
        # Hardware: the card, its memories and limits, the processor, the system.
        for what in ("GPU | NVIDIA A", "compute capability | 9.0", "global memory", "shared memory a block", "constant memory",
                     "registers a block", "threads a block", "multiprocessors | 132", "processor |", "cores |", "memory |",
                     "system |"):
            self.assertIn(f"| {what}", parts["machine"])
        # Each kernel's time, a line a launch shape, a column a size.
        for kernel in ("histogram", "scan", "move", "count", "place"):
            self.assertIn(f"Kernel `{kernel}` of step 0", parts["kernels"])
        self.assertEqual(parts["kernels"].count("| launch | n = 1,000 | n = 10,000 | n = 100,000 |"), 5)
        for part in ("kernels", "shapes"):
            for shape in self.SHAPES[1:]:
                self.assertIn(f"| &lt;&lt;&lt;{shape.replace('x', ', ')}&gt;&gt;&gt; | 0.500 | 0.500 | 0.500 |", parts[part])
        # Shared memory and registers of each kernel.
        self.assertRegex(parts["profile"], r"\| `move` \|.*\| 2048 \| 1024 \| 24 \|")
        # The best of both, and two cards.
        for name in ("NVIDIA A", "VQSort"):
            self.assertIn(name, parts["processors"])
        for name in ("NVIDIA A", "NVIDIA B"):
            self.assertIn(f"| {name} |", parts["machines"])
        # Largest values, and inputs by entropy.
        self.assertEqual(re.findall(r"(?m)^\| ([\d,]+) \|", parts["ranges"]), ["15", "255", "65,535", "16,777,215"])
        self.assertEqual(re.findall(r"(?m)^\| ([a-z]+[\w-]*) \|", parts["inputs"])[1:],
                         ["uniform", "and-2", "and-5", "all-equal", "sorted"])
        self.assertIn("| and-2 | 6.49 |", parts["inputs"])
        self.assertEqual(page.count("<table>"), article.count(r"\begin{tabular}") + article.count(r"\begin{longtable}"))
        if plot.available():
            self.assertLessEqual({"speed", "time", "kernels", "shapes", "shape-lines", "ranges", "range-lines", "inputs",
                                  "processors", "machines"},
                                 plots)


class Others(unittest.TestCase):
    """The machines to compare with."""

    def test_files_that_cannot_be_read_are_told_before_anything_is_measured(self):
        parser = argparse.ArgumentParser()
        report.add_arguments(parser)
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(report, "prepare", side_effect=AssertionError):
            path = Path(folder) / "mine.csv"
            measurements.write(path, [row()])
            whole = path.read_text()
            for content, words in ((whole[:-9], "cut short"), (whole.replace("kernel", "x", 1), "another version"), ("", "empty")):
                path.write_text(content)
                with self.assertRaisesRegex(Problem, words):
                    report.main(parser.parse_args([LAB, "--out", f"{folder}/out", "--with", str(path)]))

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

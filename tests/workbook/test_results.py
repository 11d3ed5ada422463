"""The charts and tables of recorded results show what the rows in reports/results say, read here by other means."""

import csv
import importlib.util
import json
import re
import tempfile
import unittest
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock
from xml.etree import ElementTree

from report_data import row
from svg_faults import faults_of

from workbook.core import course
from workbook.core import rows as row_files
from workbook.core.console import grouped
from workbook.core.course import ROOT
from workbook.pictures import theme
from workbook.reporting import parts_labs, peer_maps, phases, plot, step_charts

RESULTS = ROOT / "reports/results"
MACHINE = RESULTS / "h200"
LARGEST = 1 << 28
Line = dict[str, str]


def load_tables() -> Any:
    """reports/tables.py."""
    spec = importlib.util.spec_from_file_location("recorded_tables", ROOT / "reports/tables.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TABLES = load_tables()


@cache
def lines_of(name: str) -> list[Line]:
    """The verified rows of whole sorts in a CSV file."""
    with open(MACHINE / f"{name}.csv", encoding="utf-8", newline="") as file:
        return [line for line in csv.DictReader(file) if line["status"] == "verified" and not line["kernel"]]


def steps_of(lab: str) -> list[Line]:
    """Those of a lab's steps, ascending, whose launch shape the step chose."""
    usual = {"lab": lab, "order": "ascending", "blocks": "0", "threads": "0"}
    return [line for line in lines_of(lab) if usual.items() <= line.items()]


def speed(line: Line) -> float:
    return float(line["keys_per_s"])


def fastest_gold(line: Line) -> float:
    """Keys per second of the fastest gold standard or peer for the same keys."""
    same = ("build", "task", "tile", "type", "order", "input", "n")
    return max(speed(gold) for gold in golds_beside(line) if all(gold[name] == line[name] for name in same))


def golds_beside(line: Line) -> list[Line]:
    """The rows of gold standards and peers that sort the same memory, the host's or the device's."""
    golds = [gold for name in (line["lab"], "peers") for gold in lines_of(name) if gold["lab"] == "gold"]
    return [gold for gold in golds if bool(gold.get("memory")) == bool(line.get("memory"))]


def sizes_of_the_fastest_gold(line: Line) -> set[int]:
    """The numbers of keys with which the gold standard was timed that is the fastest for this work at any n."""
    same = ("build", "task", "tile", "type", "order", "input")
    alike = [gold for gold in golds_beside(line) if all(gold[name] == line[name] for name in same)]
    name = max(alike, key=speed)["name"]
    return {int(gold["n"]) for gold in alike if gold["name"] == name}


def size(text: str) -> int:
    """n as charts and tables write it: 2 with an exponent above it, or digits."""
    power = re.search(r"2(?:<sup>(\d+)</sup>|([⁰¹²³⁴⁵⁶⁷⁸⁹]+))", text)
    if not power:
        return int(text.replace(",", ""))
    digits = power[1] or power[2].translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789"))
    return 1 << int(digits)


def described(path: Path) -> list[str]:
    """What a chart's <desc> says of each of its rows."""
    root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    (text,) = (element.text or "" for element in root if element.tag.endswith("desc"))
    return text.split("; ")[1:]


def words_in(path: Path) -> set[str]:
    """The words that are drawn."""
    root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    return {(element.text or "").strip() for element in root.iter() if element.tag.endswith("text")}


def cells(table: str) -> Iterator[list[str]]:
    """The cells of each line of a Markdown table, below its heading and rule."""
    for text in [line for line in table.splitlines() if line.startswith("|")][2:]:
        yield [cell.strip() for cell in text.strip("|").split("|")]


class Steps(unittest.TestCase):
    """The charts of all steps."""

    def line(self, name: str, n: int = LARGEST) -> Line:
        """The row that a chart must show of "LAB NUMBER NAME": with n keys, or the most up to 2^28."""
        found = re.match(r"(\S+) (\d\d) ([\w-]+)(, tiles)?(, pairs)?$", name)
        assert found, name
        own = [line for line in steps_of(found[1]) if (int(line["step"]), line["name"]) == (int(found[2]), found[3])]
        types = defaultdict(list)
        for line in own:
            types[line["type"]].append(line)
        kind = "pairs" if found[5] else "u8" if found[1] == "04-counting" else "u32"
        inputs = [line["input"] for line in types[kind]]
        usual = "uniform" if "uniform" in inputs else max(dict.fromkeys(inputs), key=inputs.count)
        fitting = [line for line in types[kind] if line["input"] == usual and int(line["n"]) <= n]
        most = max(int(line["n"]) for line in fitting)
        return next(line for line in fitting if int(line["n"]) == most)  # the first amount of device memory

    def sizes(self, line: Line) -> set[int]:
        """The numbers of keys, up to 2^28, that a step was timed with."""
        same = ("name", "task", "type", "input")
        own = (row for row in steps_of(line["lab"]) if all(row[name] == line[name] for name in same))
        return {int(row["n"]) for row in own if int(row["n"]) <= LARGEST}

    def check_bars(self, name: str, value: Any, expected: set[str]) -> None:
        """Each number of a bar chart is that of its row, at the n that the chart names; no step is left out."""
        path = MACHINE / f"{name}.svg"
        drawn = words_in(path)
        found = set()
        for text in described(path):
            label, number, _, remark = re.fullmatch(r"(.*): ([\d.,]+) %( \((.*)\))?", text).groups()  # type: ignore
            at = re.search(r"at (\S+?)(,|$)", remark or "")
            line = self.line(label, size(at[1]) if at else LARGEST)
            self.assertEqual(size(at[1]) if at else LARGEST, int(line["n"]), text)
            larger = {n for n in self.sizes(line) if n > int(line["n"])}
            self.assertFalse(larger & sizes_of_the_fastest_gold(line), text)
            self.assertEqual(number, grouped(value(line)), text)
            self.assertIn(f"{number} %", drawn)
            self.assertIn(remark or "", {*drawn, ""})
            found.add(f"{line['lab']} {line['name']}")
        self.assertEqual(found, expected)

    def all_steps(self) -> Iterator[Line]:
        for lab in course.labs():
            for line in steps_of(lab):
                if line["task"] == "sort" or line["task"].startswith("segments"):
                    yield line

    def test_percent_of_the_gold_standard(self) -> None:
        every = {f"{line['lab']} {line['name']}" for line in self.all_steps()}
        self.assertGreater(len(every), 25)
        self.check_bars("gold", lambda line: 100 * speed(line) / fastest_gold(line), every)
        remarks = [text for text in described(MACHINE / "gold.svg") if "given code" in text or "plays many" in text]
        self.assertEqual(
            [text.split(":")[0] for text in remarks], ["05-radix 06 record", "06-beyond-memory 04 many_gpus"]
        )

    def test_percent_of_a_copy(self) -> None:
        every = {f"{line['lab']} {line['name']}" for line in self.all_steps() if line["percent_of_roof"]}
        self.check_bars("bandwidth", lambda line: float(line["percent_of_roof"]), every)

    def test_factors(self) -> None:
        path = MACHINE / "staircases.svg"
        drawn = words_in(path)
        before: dict[tuple[str, ...], str] = {}  # lab and kind of work -> the step before
        factors = 0
        for text in described(path):
            name, factor, idea = re.fullmatch(r"(.*?): (?:× (\S+(?: at \S+)?), )?(.*)", text).groups()  # type: ignore
            line = self.line(name)
            self.assertEqual(idea, course.ideas(line["lab"])[line["name"]])
            self.assertIn(idea, drawn)
            work = (line["lab"], line["task"], line["tile"], line["type"], line["input"])
            last = before.get(work)
            self.assertEqual(bool(factor), last is not None, text)
            if last and factor:
                number, _, at = factor.partition(" at ")
                n = size(at) if at else LARGEST
                own, other = self.line(name, n), self.line(last, n)
                self.assertEqual({int(own["n"]), int(other["n"])}, {n}, text)
                self.assertEqual(number, grouped(speed(own) / speed(other)), text)
                self.assertIn(f"× {factor}", drawn)
                self.assertEqual(n, max(self.sizes(own) & self.sizes(other)), text)
                factors += 1
            before[work] = name
        self.assertGreater(factors, 12)

    def test_bars_are_as_long_as_their_numbers(self) -> None:
        if not plot.available():
            self.skipTest("matplotlib is not installed")
        kept: list[Any] = []
        steps = TABLES.steps_of("h200")
        with mock.patch.object(
            plot,
            "save",
            lambda figure, *_: kept.append(
                [[(patch.get_x(), patch.get_width()) for patch in axes.patches] for axes in figure.axes]
            ),
        ):
            step_charts.gold_chart(steps, Path())
            step_charts.bandwidth_chart(steps, Path())
            step_charts.staircases(steps, Path())
        gold, bandwidth, (stairs,) = kept
        shares = [[(0, step.share) for step in steps if step.whole == whole] for whole in (True, False)]
        self.assertEqual(gold, shares)
        self.assertEqual(bandwidth, [[(0, step.row.percent_of_roof) for step in steps if step.row.percent_of_roof]])
        factors = [step.factor for step in steps if step.factor]
        self.assertEqual(len(stairs), len(factors))
        for (begin, width), factor in zip(stairs, factors):
            self.assertAlmostEqual((begin + width) / begin, factor)


class Labs(unittest.TestCase):
    """The fastest step of each lab at each n, in labs/README.md and in its plot."""

    def sorts(self, lab: str, kind: str, input_: str) -> list[Line]:
        same = {"task": "sort", "tile": "0", "type": kind, "input": input_}
        return [line for line in steps_of(lab) if same.items() <= line.items() and line["step"] != "0"]

    def test_no_faster_row_is_left_out(self) -> None:
        text = (ROOT / "labs/README.md").read_text(encoding="utf-8")
        table = text.split("<!-- results: h200 algorithms -->")[1].split("<!-- end")[0]
        sizes = [size(heading) for heading in re.findall(r"n = (\S+)", table.split("\n\n")[1].splitlines()[0])]
        labs = {lab.partition("-")[2]: lab for lab in course.labs()}
        plotted = {series.name: dict(series.points) for series in parts_labs.series_of(TABLES.fastest_of_labs("h200"))}
        for title, *speeds in cells(table):
            name, kind, keys = re.fullmatch(r"(.*): (\w+), (.*)", title).groups()  # type: ignore
            lab = labs.pop(name)
            input_ = {"0 to 65,535": "range:0:65535"}.get(keys, keys)
            own = self.sorts(lab, kind, input_)
            self.assertTrue(input_ == "uniform" or not self.sorts(lab, "u32", "uniform"), f"{lab} sorts uniform keys")
            for record in course.records(lab):
                known = {
                    line["input"]
                    for line in steps_of(lab)
                    if (line["name"], line["type"]) == (record.name, kind)
                    and (line["task"], line["tile"]) == ("sort", "0")
                }
                self.assertTrue(not known or input_ in known, f"the record of {lab} was not measured with these keys")
            for n, cell in zip(sizes, speeds):
                best = max((line for line in own if int(line["n"]) == n), key=speed, default=None)
                shown = f"{grouped(speed(best) / 1e6)} ({int(best['step']):02})" if best else ""
                self.assertEqual(cell, shown, f"{lab}, n = {n}")
            for n, drawn in plotted.pop(title).items():
                self.assertEqual(drawn, max(speed(line) for line in own if int(line["n"]) == n), f"{lab}, n = {n}")
        self.assertEqual((labs, plotted), ({}, {}))


def exchanges_much(input_: str) -> bool:
    """Whether two GPUs exchange enough keys of an input for the speed to be worth a figure."""
    return input_ not in ("sorted", "all-equal")


class TwoGpus(unittest.TestCase):
    """The table and the chart of sorts on two GPUs."""

    def setUp(self) -> None:
        text = (RESULTS / "h200-x2/many-gpus.jsonl").read_text(encoding="utf-8")
        self.runs = [json.loads(line) for line in text.splitlines()]

    def fastest(self, input_: str, n: int, gpus: int, order: str = "ascending") -> dict[str, Any]:
        wanted = (input_, n, gpus, order)
        own = [run for run in self.runs if (run["input"], run["n"], run["gpus"], run["order"]) == wanted]
        return dict(min(own, key=lambda run: float(run["total_ms"])))

    def test_the_table_has_every_run(self) -> None:
        text = (ROOT / "reports/RESULTS.md").read_text(encoding="utf-8")
        shown = 0
        for cell in cells(text.split("<!-- results: h200-x2 phases -->")[1].split("<!-- end")[0]):
            input_, _, order = cell[0].partition(", ")
            n, gpus = size(cell[1]), int(cell[2])
            run = self.fastest(input_, n, gpus, order or "ascending")
            for phase, time in zip(("sort", "splitters", "exchange", "join", "total"), cell[3:8]):
                self.assertEqual(time, grouped(run[f"{phase}_ms"]) if time else "", cell)
                self.assertTrue(time or gpus == 1)
            same = (input_, n, 1, order or "ascending")
            singles = [run for run in self.runs if (run["input"], run["n"], run["gpus"], run["order"]) == same]
            self.assertEqual(bool(cell[9]), bool(singles))
            if singles:
                self.assertEqual(cell[9], f"{self.fastest(input_, n, 1)['total_ms'] / run['total_ms']:.2f}")
            self.assertEqual(cell[12], grouped(run["all_to_all_gb_per_s"]) if gpus > 1 else "")
            self.assertEqual(cell[11], grouped(run["exchange_gb_per_s"]) if gpus > 1 and exchanges_much(input_) else "")
            shown += 1
        self.assertEqual(shown, len({(r["input"], r["order"], r["n"], r["gpus"]) for r in self.runs}))

    def test_the_chart(self) -> None:
        texts = described(RESULTS / "h200-x2/phases.svg")
        uniform = {(r["n"], r["gpus"]) for r in self.runs if (r["input"], r["order"]) == ("uniform", "ascending")}
        self.assertEqual(len(texts), len(uniform))
        for text in texts:
            n, gpus, sort, exchange, merge = re.match(  # type: ignore
                r"(\S+) keys, (\d) GPUs?: sort (\S+) ms, .*exchange (\S+) ms, merge (\S+) ms", text
            ).groups()
            run = self.fastest("uniform", size(n), int(gpus))
            self.assertEqual(
                [sort, exchange, merge], [grouped(run[f"{name}_ms"]) for name in ("sort", "exchange", "join")]
            )

    def test_bars_are_times_per_key(self) -> None:
        if not plot.available():
            self.skipTest("matplotlib is not installed")
        widths: list[float] = []
        with mock.patch.object(
            plot, "save", lambda figure, *_: widths.extend(patch.get_width() for patch in figure.axes[0].patches)
        ):
            phases.chart(RESULTS / "h200-x2", Path())
        uniform = sorted(
            {(r["n"], r["gpus"]) for r in self.runs if (r["input"], r["order"]) == ("uniform", "ascending")}
        )
        names = ("sort", "splitters", "exchange", "join")
        times = [self.fastest("uniform", n, gpus)[f"{name}_ms"] / n * 2**30 for n, gpus in uniform for name in names]
        for width, time in zip(widths, times):
            self.assertAlmostEqual(width, time)
        self.assertEqual(len(widths), len(times))


PROGRAM = """machine,commit,sort,type,order,input,n,runs,min_ms,median_ms,gkeys_per_s,ratio
G,abc,CUB radix,u32,ascending,skewed,67108864,3,1,1,1,1.250
G,abc,libcusort radix,u32,ascending,skewed,67108864,3,1,1,1,0.750
G,abc,05-radix record,u32,ascending,skewed,67108864,3,1,1,1,1.000
G,abc,CUB radix,u32,ascending,skewed,1024,3,1,1,1,0.900
G,abc,05-radix record,u32,ascending,skewed,1024,3,1,1,1,1.000
G,abc,CUB radix,u32,ascending,uniform,1024,3,1,1,1,0.200
G,abc,CUB merge,u32,ascending,uniform,1024,3,1,1,1,1.100
G,abc,02-merge record,u32,ascending,uniform,1024,3,1,1,1,1.000
"""


class Grid(unittest.TestCase):
    """Maps of the records beside other libraries, from made-up rows."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name) / "h200/grid"
        self.folder.mkdir(parents=True)
        record = row(lab="05-radix", name="record", build="cuda", commit="abcdefgh")
        golds = {"radix": 100e6, "cub-3.5.0 radix": 200e6, "libcusort-1.0.1 radix": 150e6}
        rows = []
        for input_, n, rate in (("uniform", 1024, 300e6), ("uniform", 1 << 20, 198e6), ("skewed", 1024, 300e6)):
            own = replace(record, input=input_, n=n, keys_per_s=rate)
            rows += [replace(own, lab="gold", name=name, keys_per_s=gold) for name, gold in golds.items()]
            rows.append(own)
        rows += [replace(record, n=7, status="wrong"), replace(record, n=8, kernel="count")]
        row_files.write(self.folder / "05-radix.csv", rows)
        (self.folder / "program.csv").write_text(PROGRAM, encoding="utf-8")
        facts = "commit: abcdefg\ncommand: measure\ndate: 2026-11-24T03:52Z\n"
        (self.folder / "machine.txt").write_text(facts, encoding="utf-8")
        self.every = peer_maps.maps(self.folder)

    def test_each_cell_is_the_step_beside_its_fastest_rival(self) -> None:
        radix, merge = self.every  # in the order in which they are read
        self.assertEqual((radix.stem, merge.stem), ("05-radix-record-u32", "02-merge-record-u32"))
        self.assertEqual(
            {place: (round(ratio, 3), rival) for place, (ratio, rival) in self.every[radix].items()},
            {
                ("uniform", 1024): (1.5, "cub-3.5.0 radix"),
                ("uniform", 1 << 20): (0.99, "cub-3.5.0 radix"),
                ("skewed", 1024): (0.9, "CUB radix"),  # of two measurements, the worse one
                ("skewed", 1 << 26): (0.75, "libcusort radix"),
            },
        )
        self.assertEqual(self.every[merge], {("uniform", 1024): (1.1, "CUB merge")})  # a merge sort beside merge sorts

    def test_the_sentence_names_the_worst(self) -> None:
        words = peer_maps.sentence(self.every)
        compared = (
            "The records of labs 02 (with merge sorts) and 05 were compared with other libraries for 5 combinations"
        )
        self.assertIn(f"{compared} of input, type and number of keys. In 3 of them", words)
        self.assertIn(
            "0.750: record of 05-radix, u32, skewed, n = 2<sup>26</sup>, compared with libcusort radix.", words
        )
        (merge,) = (which for which in self.every if which.lab == "02-merge")
        self.assertIn("In none of them", peer_maps.sentence({merge: self.every[merge]}))

    def test_a_map_shows_every_factor_and_marks_those_below_one(self) -> None:
        drawn = peer_maps.drawings(self.every)["05-radix-record-u32.svg"]
        self.assertEqual(faults_of(drawn), [])
        texts = re.findall(r'font-weight="(\w+)">([\d.]+)</text>', drawn)
        self.assertEqual(sorted(texts), [("bold", "0.75"), ("bold", "0.90"), ("bold", "0.99"), ("normal", "1.50")])
        self.assertEqual(drawn.count(f'stroke="{theme.ORANGE}"'), 3 + 1)  # a frame each, and the rule for dark pages
        self.assertIn("Below 1: uniform, 2\u00b2\u2070 keys: 0.99; skewed", drawn)

    def test_the_part_of_the_page(self) -> None:
        with mock.patch.object(TABLES, "RESULTS", self.folder.parents[1]):
            part, worst = TABLES.grid("h200"), TABLES.worst("h200")
            self.assertEqual((TABLES.grid("h100"), TABLES.worst("h100")), ("", ""))
            maps = TABLES.maps()
        self.assertIn("on 2026-11-24 at commit abcdefg by `measure`", part.replace("\n", " "))
        self.assertTrue(part.replace("\n", " ").count(worst.replace("\n", " ").split(".")[0]))
        self.assertEqual([path.parent for path in maps], [self.folder] * 2)
        for path in maps:
            self.assertIn(f"(results/h200/grid/{path.name})", part)


class Page(unittest.TestCase):
    """RESULTS.md."""

    def test_nothing_is_said_twice(self) -> None:
        text = (ROOT / "reports/RESULTS.md").read_text(encoding="utf-8")
        self.assertEqual(len(re.findall(r"^\| \*libcusort\S* radix, u32\*", text, re.MULTILINE)), 1)
        self.assertEqual(text.count("Machine: "), text.count("tables -->") + text.count("phases -->"))
        self.assertLess(text.index("staircases.svg"), text.index("<details>"))
        self.assertEqual(text.count("<details>"), text.count("</details>"))

    def test_a_chart_that_was_changed_is_drawn_again(self) -> None:
        path = MACHINE / "gold.svg"
        self.assertTrue(TABLES.plot_is_current(path))
        with mock.patch.object(course, "ideas", lambda _: {"record": "another idea"}):
            self.assertFalse(TABLES.plot_is_current(path))


if __name__ == "__main__":
    unittest.main()

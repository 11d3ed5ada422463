"""Figures quoted in documents are those of the recorded rows that a comment before them names.

    <!-- from: h200/05-radix.csv step=6 type=u32 n=2^28,2^30 -->
    Step 6 sorts 2<sup>28</sup> keys at 99.3 G and 2<sup>30</sup> keys at 89.8 G.

    It takes <!-- from: h200/05-radix.csv step=6 type=u32 n=2^28 -->2.70 ms<!-- end --> for 2<sup>28</sup> keys.

The comment names a file of reports/results and values of columns. Unless it says otherwise, it means whole steps (no
single kernels), uniform keys in ascending order, and the default launch shape. Up to the next comment or blank line,
each number with a unit, and in a table each with a decimal point, must be a value of these rows, rounded as it is
written: a time, a speed, a bandwidth, a share of a copy's bandwidth, or a ratio to a gold standard for the same keys.
If there are at most four rows, their ratios to each other count, too.
"""

from __future__ import annotations

import csv
import json
import re
import unittest
from collections.abc import Iterator
from pathlib import Path

from workbook.core.course import ROOT
from workbook.core.rows import SAME_KEYS

Values = dict[str, str]
Quantity = tuple[str, float]  # its kind, and its value in the unit whose factor is 1

RESULTS = ROOT / "reports/results"
FROM = re.compile(r"<!--\s+from:\s+(\S+)((?:\s+\w+=\S*)*)\s+-->(.*?)(?=\n[ \t]*\n|<!--|\Z)", re.DOTALL)
USUAL = {"order": "ascending", "input": "uniform", "blocks": "0", "threads": "0", "kernel": "", "memory": ""}
FEW = 4  # rows that are compared with each other
COLUMNS = {  # the columns of a kind, and their factor
    "time": (r"(?!q1|q3)\w+_ms", 1),
    "speed": (r"keys_per_s", 1),
    "bandwidth": (r"\w*gb_per_s", 1),
    "ratio": (r"percent_of_roof", 0.01),
}
UNITS = {
    "time": {"ms": 1, "us": 1e-3, "s": 1e3, "milliseconds": 1, "microseconds": 1e-3, "seconds": 1e3},
    "speed": {"": 1, "T": 1e12, "G": 1e9, "M": 1e6, "k": 1e3, "billion": 1e9, "million": 1e6},
    "bandwidth": {"GB/s": 1, "TB/s": 1e3},
    "ratio": {"times": 1, "%": 0.01},
}
UNIT = "|".join(sorted((name for names in UNITS.values() for name in names if name), key=len, reverse=True))
NUMBER = re.compile(rf"(?<![\w.,^])(\d[\d,]*(?:\.\d+)?)(?:\s+({UNIT})(?![\w/]))?")
NO_QUANTITY = re.compile(r"`[^`]*`|\]\([^)]*\)|[\d,]+<sup>\d+</sup>|\d{4}-\d\d-\d\d")


def read(path: Path) -> list[Values]:
    """The rows of a file of measurements, as texts."""
    lines = path.read_text(encoding="utf-8").splitlines()
    if path.suffix == ".jsonl":
        return [{name: str(value) for name, value in json.loads(line).items()} for line in lines]
    return list(csv.DictReader(lines))


def selected(rows: list[Values], conditions: str) -> list[Values]:
    """The rows whose columns have these values, several of which are separated by commas."""
    powers = re.sub(r"2\^(\d+)", lambda power: str(1 << int(power[1])), conditions)
    named = dict(pair.split("=") for pair in powers.split())
    wanted = {name: values.split(",") for name, values in {**USUAL, **named}.items()}
    return [row for row in rows if all(row.get(name, USUAL.get(name)) in values for name, values in wanted.items())]


def measured_by(row: Values) -> Iterator[Quantity]:
    """What a row measures."""
    for kind, (pattern, factor) in COLUMNS.items():
        yield from ((kind, factor * float(text)) for name, text in row.items() if text and re.fullmatch(pattern, name))


def quantities(rows: list[Values], all_rows: list[Values]) -> set[Quantity]:
    """What rows measure, what the gold standards for the same keys do, and ratios of speeds."""
    found = {quantity for row in rows for quantity in measured_by(row)}
    pairs = [(row, other) for row in rows for other in rows if len(rows) <= FEW]
    for row in rows:
        golds = [gold for gold in all_rows if gold.get("lab") == "gold" and gold["status"] == "verified"]
        golds = [gold for gold in golds if all(gold[name] == row[name] for name in SAME_KEYS)]
        found |= {quantity for gold in golds for quantity in measured_by(gold)}
        pairs += [pair for gold in golds for pair in ((row, gold), (gold, row))]
    return found | {("ratio", float(one["keys_per_s"]) / float(other["keys_per_s"])) for one, other in pairs}


def quoted(text: str) -> list[tuple[str, str]]:
    """(number, unit) of each number in a text that must be a row's; "" is the unit of one in a table without any."""
    in_table = text.lstrip().startswith("|")
    found = NUMBER.findall(NO_QUANTITY.sub(" ", text))
    return [(number, unit) for number, unit in found if unit or (in_table and "." in number)]


def agrees(number: str, unit: str, measured: set[Quantity]) -> bool:
    """Whether the number is one of the measured values, rounded to as many digits."""
    plain = number.replace(",", "")
    place = -len(plain.partition(".")[2]) if "." in plain else len(plain) - len(plain.rstrip("0"))
    return any(
        kind == other and abs(float(plain) * factor - value) <= 0.5001 * factor * 10**place
        for kind, units in UNITS.items()
        for name, factor in units.items()
        if unit in ("", name)
        for other, value in measured
    )


def faults(text: str) -> list[str]:
    """What is wrong with the figures of a document that name their rows."""
    found = []
    for comment in FROM.finditer(text):
        file, conditions, words = comment.groups()
        peers = (RESULTS / file).with_name("peers.csv")
        here = read(RESULTS / file)
        rows = selected(here, conditions)
        measured = quantities(rows, here + (read(peers) if peers.is_file() else []))
        numbers = quoted(words)
        wrong = [f"{number} {unit}".strip() for number, unit in numbers if not agrees(number, unit, measured)]
        if wrong or not rows or not numbers:
            found.append(f"{file}{conditions}: {len(rows)} rows, none of which has {wrong or 'a number that follows'}")
    # Markdown takes a line that begins with a comment out of its paragraph.
    lines = text.splitlines()
    for before, line in zip(["", *lines], lines):
        alone = not before and line.endswith("-->")
        if re.match(r"[ \d.*-]*<!-- (from:|end -->)", line) and not alone:
            found.append(f"move this comment away from the beginning of its line: {line}")
    other = len(re.findall(r"<!--\s*from:", text)) - len(FROM.findall(text))
    return found + [f"{other} comments have another form"] * bool(other)


class Documents(unittest.TestCase):
    """Comments that name rows, and the figures behind them."""

    def test_all_documents(self) -> None:
        """Each figure behind such a comment is in the rows."""
        marked = 0
        for top in ("", "labs/", "labs/*/", "reports/**/", "solutions/**/"):
            for path in sorted(ROOT.glob(f"{top}*.md")):
                text = path.read_text(encoding="utf-8")
                marked += len(FROM.findall(text))
                self.assertEqual(faults(text), [], path)
        self.assertTrue(marked)

    @unittest.skipUnless((ROOT / "solutions").is_dir(), "the README of the release has no such figures")
    def test_agreement(self) -> None:
        """The README has the same counts as the page that a script writes."""
        page = (ROOT / "reports/agreement/README.md").read_text(encoding="utf-8")
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        counts = re.search(r"Of (\d+) counts, \d+ are equal and (\d+) agree within 10 %", page)
        shown = re.search(r"counts, (\d+) of (\d+)\s+are within 10 %", readme)
        assert counts and shown
        self.assertEqual((shown[2], shown[1]), counts.groups())

    def test_what_is_found(self) -> None:
        """A number of another row, a comment without rows or numbers, and a comment that breaks a paragraph."""
        where = "h200/05-radix.csv step=6 type=u32 n=2^28"
        (row,) = selected(read(RESULTS / "h200/05-radix.csv"), "step=6 type=u32 n=2^28")
        ms, speed = float(row["median_ms"]), float(row["keys_per_s"])
        for right in (
            f"{ms:.2f} ms",
            f"{ms:.0f} ms",
            f"{1000 * ms:.0f} us",
            f"{speed / 1e9:.1f}\nG",
            f"in 2026, {ms:.3f} ms",
        ):
            self.assertEqual(faults(f"It takes <!-- from: {where} -->{right}<!-- end --> or 5 s."), [], right)
        for wrong in (f"{1.1 * ms:.2f} ms", f"{ms:.2f} s", f"{speed / 1e9:.1f} %", "nothing"):
            self.assertEqual(len(faults(f"It takes <!-- from: {where} -->{wrong}<!-- end --> or 5 s.")), 1, wrong)
        self.assertEqual(faults(f"<!-- from: {where} -->\n| n | ms |\n|---|---|\n| 3 | {ms:.3f} |\n"), [])
        self.assertEqual(len(faults(f"<!-- from: {where} -->\n| n | ms |\n|---|---|\n| 3 | {1.1 * ms:.3f} |\n")), 1)
        self.assertEqual(len(faults(f"<!-- from: {where}9 -->\n{ms:.2f} ms")), 1)
        self.assertEqual(len(faults(f"It takes\n<!-- from: {where} -->{ms:.2f} ms<!-- end -->")), 1)
        self.assertEqual(len(faults(f"1. <!-- from: {where} -->{ms:.2f} ms<!-- end -->.")), 1)
        self.assertEqual(len(faults(f"It takes <!-- from: {where}-->{ms:.2f} ms<!-- end -->")), 1)
        self.assertEqual(len(faults(f"It takes <!--\nfrom: {where} -->{1.1 * ms:.2f} ms<!-- end -->")), 1)


if __name__ == "__main__":
    unittest.main()

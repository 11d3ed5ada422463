#!/usr/bin/env python3
"""Tables of what the check build reports, missed and should not have reported, on kernels whose faults are known.

    python3 reports/truth/truth.py --own own.csv         runs the kernels of tests/wrong/kernels
    python3 reports/truth/truth.py --page README.md      writes the tables of the page, from own.csv and suites.csv
    python3 reports/truth/truth.py --page README.md --check    fails if they are out of date

suites.csv has one row per program of a public suite. `label` is what the suite says: `race` or `fault`, `right`, or
`excluded` for what is about the suite's own tool. `compiles` says whether `cc --check` compiled it. `reported` are the
kinds of its errors, in any of three orders of threads, and `same-value (note)`. `judged` is for disagreements: the
reason that was found by reading the program.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(ROOT / "tests/wrong/kernels"), str(ROOT / "common")]

import check_test  # noqa: E402

from workbook.core import files  # noqa: E402

SEEDS = ("0", "1", "77")  # orders of threads
FAULTY = ("race", "fault")
NOTE = "same-value (note)"
Row = dict[str, str]


def read(path: Path) -> list[Row]:
    """The rows of a table."""
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


# --- own kernels ---


def own_row(path: Path, folder: Path, compiler: str) -> Row:
    """What the check build reports of a file of faulty or right kernels, in all orders of threads."""
    program = folder / f"{path.parent.name}-{path.stem}"
    made = check_test.compile_check(path, program, compiler)
    if made.returncode:
        raise SystemExit(f"{path.name} does not compile:\n{made.stdout}{made.stderr}")
    faults, cases = check_test.faults_of(path)
    errors = [check_test.run(program, seed).stderr for seed in SEEDS]
    found = [check_test.findings_of(text, path) for text in errors]
    expected = {finding for f in faults for one in found for finding in check_test.hits(f, one)}
    unexpected = [line for text in errors for line in text.splitlines() if ": error: " in line]
    unexpected = [line for line in unexpected if not check_test.findings_of(line, path) & expected]
    return {
        "file": str(path.relative_to(check_test.HERE)),
        "kernels": str(cases),
        "faults": str(len(faults)),
        "found": str(sum(all(check_test.hits(fault, one) for one in found) for fault in faults)),
        "false": str(len(unexpected)),
    }


def own_rows(compiler: str) -> list[Row]:
    """The rows of all files."""
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        paths = sorted(check_test.HERE.glob("**/*.cu"))
        return list(pool.map(lambda path: own_row(path, Path(name), compiler), paths))


def write(path: Path, rows: Sequence[Row]) -> None:
    """Writes a table as CSV."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


# --- the page ---


def total(rows: Sequence[Row], column: str) -> int:
    """The sum of a column."""
    return sum(int(row[column]) for row in rows)


def own_table(rows: Sequence[Row], sanitizer: Sequence[Row]) -> str:
    """Faulty and right kernels, and what compute-sanitizer named of the same faults."""
    wrong = [row for row in rows if not row["file"].startswith("right/")]
    right = [row for row in rows if row["file"].startswith("right/")]
    tools = ("memcheck", "racecheck", "initcheck", "synccheck")
    named = sum(any(row[tool] == "line" for tool in tools) for row in sanitizer)
    return "\n".join(
        [
            "| kernels | number | faults | kind and line in all three orders | missed in some order | false findings |",
            "|---|---:|---:|---:|---:|---:|",
            *(
                f"| {name} | {total(of, 'kernels')} | {total(of, 'faults')} | {total(of, 'found')} | "
                f"{total(of, 'faults') - total(of, 'found')} | {total(of, 'false')} |"
                for name, of in (("faulty", wrong), ("right", right))
            ),
            "",
            f"Of {len(sanitizer)} of these faults, the four tools of compute-sanitizer together named kind and line of "
            f"{named} on an H200",
            "([table](../sanitizer/README.md)).",
        ]
    )


def verdict(row: Row) -> str:
    """How a program counts."""
    kinds = set(re.findall(r"[\w-]+(?: \(note\))?", row["reported"]))
    errors = kinds - {NOTE}
    if row["compiles"] != "yes":
        return "does not compile"
    if "race" in errors if row["label"] == "race" else errors and row["label"] in FAULTY:
        return "found"
    return "other" if errors else "note" if kinds else "silent"


def suite_table(rows: Sequence[Row]) -> str:
    """A line per suite and label."""
    lines = [
        "| suite | label | programs | compile | found | another error | note only | silent |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for suite in dict.fromkeys(row["suite"] for row in rows):
        for label in (*FAULTY, "right"):
            of = [verdict(row) for row in rows if row["suite"] == suite and row["label"] == label]
            if not of:
                continue
            compiled = len(of) - of.count("does not compile")
            counts = [
                of.count("found") if label != "right" else "",
                of.count("other"),
                of.count("note"),
                of.count("silent"),
            ]
            lines.append(f"| {suite} | {label} | {len(of)} | {compiled} | {' | '.join(map(str, counts))} |")
    return "\n".join(lines)


def is_disagreement(row: Row) -> bool:
    """Whether the suite and the check build differ, on a program that compiles."""
    agreed = ("found", "does not compile") if row["label"] in FAULTY else ("silent", "note", "does not compile")
    return row["label"] != "excluded" and verdict(row) not in agreed


def disagreements(rows: Sequence[Row]) -> str:
    """A line per reason, with its programs."""
    lines = ["| suite | label | programs | what reading them showed | names |", "|---|---|---:|---|---|"]
    reasons: dict[tuple[str, str, str], list[str]] = {}
    for row in rows:
        if is_disagreement(row):
            key = (row["suite"], "right" if row["label"] == "right" else "faulty", row["judged"] or "not judged")
            reasons.setdefault(key, []).append(row["program"].removesuffix(".cu"))
    for (suite, label, reason), names in reasons.items():
        lines.append(f"| {suite} | {label} | {len(names)} | {reason} | {', '.join(names)} |")
    return "\n".join(lines)


def page_text(text: str) -> str:
    """The page, with its tables written again."""
    suites = read(HERE / "suites.csv")
    parts = {
        "own": own_table(read(HERE / "own.csv"), read(ROOT / "reports/sanitizer/sanitizer.csv")),
        "suites": suite_table(suites),
        "disagreements": disagreements(suites),
    }
    for name, part in parts.items():
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        if text.count(begin) != 1 or text.count(end) != 1:
            raise SystemExit(f"the page lacks {begin} or {end}")
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}\n{part}\n{end}{rest.partition(end)[2]}"
    return text


def main() -> int:
    """Writes the table, the page, or both."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--own", type=Path, metavar="TABLE", help="run the project's kernels, and write their table")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--page", type=Path, help="the page whose tables to write")
    parser.add_argument("--check", action="store_true", help="do not write the page; fail if it is out of date")
    arguments = parser.parse_args()
    if arguments.own:
        write(arguments.own, own_rows(arguments.compiler))
    if arguments.page:
        old = arguments.page.read_text(encoding="utf-8")
        new = page_text(old)
        if arguments.check and new != old:
            print(f"{arguments.page} is out of date: run truth.py --page {arguments.page}", file=sys.stderr)
            return 1
        if not arguments.check:
            files.write_whole(arguments.page, new)
    return 0


if __name__ == "__main__":
    sys.exit(main())

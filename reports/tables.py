#!/usr/bin/env python3
"""Writes the tables of recorded results into the documents, from reports/results/MACHINE/LAB.csv.

    python3 reports/tables.py [--check]

A document asks for a table by a pair of comments, between which the table is written anew:

    <!-- results: MACHINE LAB -->
    <!-- end of results -->

Each cell is the speed and, in brackets, its share of the gold standard's fastest for the same task and keys in the same
run: whole arrays, or tiles where the step sorts tiles. --check writes nothing and fails if a table is out of date.
"""

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "common"))

from workbook import measurements  # noqa: E402  the package behind ./workbook
from workbook.terminal import Problem  # noqa: E402

DOCUMENTS = ["README.md", *sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("labs/*/README.md"))]
MARK = re.compile(r"(<!-- results: (\S+) (\S+) -->\n).*?(<!-- end of results -->)", re.DOTALL)


def read(path):
    try:
        rows = measurements.read(path)
        measurements.check_machines(rows)
    except Problem as problem:
        sys.exit(f"tables.py: {problem}")
    return measurements.whole(measurements.verified(rows))


def sizes(rows):
    """The columns: powers of sixteen where many sizes were measured, else all."""
    all_sizes = sorted({int(row["n"]) for row in rows})
    few = [n for n in all_sizes if n.bit_length() % 4 == 1]
    return few if len(all_sizes) > 6 and len(few) > 2 else all_sizes


def size_text(n):
    exponent = n.bit_length() - 1
    return f"2<sup>{exponent}</sup>" if n == 1 << exponent else f"{n:,}"


def speed(keys_per_s):
    for unit, name in ((1e9, "G"), (1e6, "M"), (1, "")):
        if keys_per_s >= unit:
            return f"{keys_per_s / unit:.3g} {name}".rstrip()
    return f"{keys_per_s:.3g}"


def table(machine, lab):
    folder = ROOT / "reports" / "results" / machine
    rows = read(folder / f"{lab}.csv")
    # The type of the most rows is the one that was swept over n; a part of a step has a type of its own.
    lines = list(dict.fromkeys((int(row["step"]), row["task"], row["name"]) for row in rows if row["lab"] == lab))
    main = {}
    for line in lines:
        types = [row["type"] for row in rows if row["lab"] == lab and (int(row["step"]), row["task"], row["name"]) == line]
        main[line] = max(dict.fromkeys(types), key=types.count)
    own = [row for row in rows if row["lab"] == lab and row["input"] == "uniform" and
           row["blocks"] == row["threads"] == "0" and row["type"] == main[int(row["step"]), row["task"], row["name"]]]
    gold = [row for row in rows if row["lab"] == "gold" and row["input"] == "uniform"]
    columns = sizes(own)
    same = ("task", "tile", "type", "order", "n")

    def rivals(row):
        return [other for other in gold if all(other[key] == row[key] for key in same)]

    text = ["| keys a second, uniform | " + " | ".join(f"n = {size_text(n)}" for n in columns) + " |",
            "|---|" + "---:|" * len(columns)]
    for line in lines:
        cells = []
        for n in columns:
            row = next((row for row in own if (int(row["step"]), row["task"], row["name"]) == line and int(row["n"]) == n),
                       None)
            best = max((float(rival["keys_per_s"]) for rival in rivals(row)), default=None) if row else None
            share = f" ({100 * float(row['keys_per_s']) / best:.3g} %)" if best else ""
            cells.append(speed(float(row["keys_per_s"])) + share if row else "")
        text.append(f"| {line[0]:02d} {line[2]}, {main[line]} | " + " | ".join(cells) + " |")
    for name, kind in dict.fromkeys((row["name"], row["type"]) for step in own for row in rivals(step)):
        cells = []
        for n in columns:
            row = next((row for row in gold if (row["name"], row["type"], int(row["n"])) == (name, kind, n)), None)
            cells.append(speed(float(row["keys_per_s"])) if row else "")
        text.append(f"| *{name}, {kind}* | " + " | ".join(cells) + " |")
    facts = dict(re.findall(r"^(\w+): (.*)$", (folder / "machine.txt").read_text(encoding="utf-8"), re.MULTILINE))
    last = own[-1]
    return "\n".join(text) + (f"\n\n{last['machine']}; {last['date'][:10]}, commit {last['commit']}, "
                               f"`{facts['command']}`. In brackets: share of the fastest gold standard for the same task.\n")


def main():
    parser = argparse.ArgumentParser(description="Writes the tables of recorded results into the documents.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a table is out of date")
    check = parser.parse_args().check
    stale = []
    for name in DOCUMENTS:
        path = ROOT / name
        text = path.read_text(encoding="utf-8")
        new = MARK.sub(lambda match: match[1] + "\n" + table(match[2], match[3]) + "\n" + match[4], text)
        if new != text:
            stale.append(name)
            if not check:
                temporary = path.with_suffix(".md.new")
                temporary.write_text(new, encoding="utf-8")
                temporary.replace(path)
    if check and stale:
        sys.exit(f"tables.py: out of date: {', '.join(stale)}; run python3 reports/tables.py")


if __name__ == "__main__":
    main()

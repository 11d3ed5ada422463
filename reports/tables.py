#!/usr/bin/env python3
"""Writes the tables of recorded results into the documents, from reports/results/MACHINE/LAB.csv.

    python3 reports/tables.py [--check]

A document asks for a table by a pair of comments, between which the table is written anew:

    <!-- results: MACHINE LAB -->
    <!-- end of results -->

Each cell is the speed and, in brackets, its share of the gold standard's fastest sort of the same keys in the same
run: of whole arrays, or of tiles where the step sorts tiles. --check writes nothing and fails if a table is out of date.
"""

import argparse
import csv
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = ["README.md", *sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("labs/*/README.md"))]
MARK = re.compile(r"(<!-- results: (\S+) (\S+) -->\n).*?(<!-- end of results -->)", re.DOTALL)
TILE_GOLD = ("segmented", "tiles")  # how the gold standard's sorts of tiles are called


def read(path):
    try:
        with open(path, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    except OSError as error:
        sys.exit(f"tables.py: cannot read {path}: {error.strerror}")
    needed = {"lab", "step", "name", "type", "order", "input", "n", "keys_per_s", "status", "machine", "date"}
    if not rows or needed - rows[0].keys():
        sys.exit(f"tables.py: {path} is empty or of another version; it lacks {', '.join(sorted(needed - set(rows[0] if rows else [])))}")
    return [row for row in rows if row["status"] == "verified"]


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
    own = [row for row in rows if row["lab"] == lab and row["type"] == "u32"]
    gold = [row for row in rows if row["lab"] == "gold" and row["type"] == "u32"]
    columns = sizes(own)
    steps = sorted({(int(row["step"]), row["name"]) for row in own})
    is_tiles = {name: any(mark in name for mark in TILE_GOLD) for name in {row["name"] for row in gold}}

    def value(rows, name, n):
        return next((float(row["keys_per_s"]) for row in rows if row["name"] == name and int(row["n"]) == n), None)

    # A step is held against the gold standard that follows the same row in the file: the judge measures them together.
    tiles_of = {}
    for before, row in zip(rows, rows[1:]):
        if row["lab"] == lab and before["lab"] == "gold":
            tiles_of[row["name"]] = is_tiles.get(before["name"], False)
    lines = ["| u32 keys a second, uniform | " + " | ".join(f"n = {size_text(n)}" for n in columns) + " |",
             "|---|" + "---:|" * len(columns)]
    for number, name in steps:
        cells = []
        for n in columns:
            mine = value(own, name, n)
            rivals = [value(gold, g, n) for g in is_tiles if is_tiles[g] == tiles_of.get(name, False)]
            best = max((rival for rival in rivals if rival), default=None)
            share = f" ({100 * mine / best:.3g} %)" if mine and best else ""
            cells.append(speed(mine) + share if mine else "")
        lines.append(f"| {number:02d} {name} | " + " | ".join(cells) + " |")
    for name in sorted(is_tiles, key=lambda name: (is_tiles[name], name)):
        cells = [speed(value(gold, name, n)) if value(gold, name, n) else "" for n in columns]
        lines.append(f"| *{name}* | " + " | ".join(cells) + " |")
    facts = dict(re.findall(r"^(\w+): (.*)$", (folder / "machine.txt").read_text(encoding="utf-8"), re.MULTILINE))
    last = own[-1]
    return "\n".join(lines) + (f"\n\n{last['machine']}; {last['date'][:10]}, commit {facts['commit']}, "
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

#!/usr/bin/env python3
"""Writes the tables and the plot of recorded results, from reports/results/MACHINE/LAB.csv.

    python3 reports/tables.py [--check]

A document asks for a table by a pair of comments, between which the table is written anew:

    <!-- results: MACHINE LAB -->
    <!-- end of results -->

Each cell is the speed and, in brackets, its share of the gold standard's fastest for the same task and keys in the same
run: whole arrays, or tiles where the step sorts tiles. The plot that README.md shows, reports/results/MACHINE/speed.svg, has
a panel a lab. --check writes nothing and fails if a table or the plot is out of date; it needs no matplotlib, since the
plot carries a sum of what it was made of.
"""

import argparse
import hashlib
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "common"))

from workbook.core import measurements  # noqa: E402
from workbook.reporting import charts, plot  # noqa: E402
from workbook.core.terminal import Problem  # noqa: E402

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
    all_sizes = sorted({int(row["n"]) for row in charts.powers(rows)})
    few = [n for n in all_sizes if n.bit_length() % 4 == 1]
    return few if len(all_sizes) > 6 and len(few) > 2 else all_sizes


def size_text(n):
    exponent = n.bit_length() - 1
    return f"2<sup>{exponent}</sup>" if n == 1 << exponent else f"{n:,}"


def speed(keys_per_s):
    unit, name = next(
        (pair for pair in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")) if keys_per_s >= pair[0]), (1, "")
    )
    return f"{keys_per_s / unit:.3g} {name}".rstrip()


def percent(share):
    """Three digits, but never as a power of ten."""
    return f"{share:,.0f}" if share >= 1000 else f"{share:.3g}"


def table(machine, lab):
    folder = ROOT / "reports" / "results" / machine
    if not (folder / f"{lab}.csv").is_file():
        return "Not measured yet.\n"
    rows = read(folder / f"{lab}.csv")
    # The type of the most rows is the one that was swept over n; a part of a step has a type of its own.
    lines = sorted(
        {(int(row["step"]), row["task"], row["name"]) for row in rows if row["lab"] == lab},
        key=lambda line: (line[0], line[1] != "sort", line[2]),
    )
    main = {}
    for line in lines:
        types = [
            row["type"] for row in rows if row["lab"] == lab and (int(row["step"]), row["task"], row["name"]) == line
        ]
        main[line] = max(dict.fromkeys(types), key=types.count)
    own = [
        row
        for row in rows
        if row["lab"] == lab
        and row["input"] == "uniform"
        and row["blocks"] == row["threads"] == "0"
        and row["type"] == main[int(row["step"]), row["task"], row["name"]]
    ]
    gold = [row for row in rows if row["lab"] == "gold" and row["input"] == "uniform"]
    columns = sizes(own)
    same = ("task", "tile", "type", "order", "n")

    def rivals(row):
        return [other for other in gold if all(other[key] == row[key] for key in same)]

    text = [
        "| keys a second, uniform | " + " | ".join(f"n = {size_text(n)}" for n in columns) + " |",
        "|---|" + "---:|" * len(columns),
    ]
    for line in lines:
        cells = []
        for n in columns:
            row = next(
                (row for row in own if (int(row["step"]), row["task"], row["name"]) == line and int(row["n"]) == n),
                None,
            )
            best = max((float(rival["keys_per_s"]) for rival in rivals(row)), default=None) if row else None
            share = f" ({percent(100 * float(row['keys_per_s']) / best)} %)" if best else ""
            cells.append(speed(float(row["keys_per_s"])) + share if row else "")
        tiles = ", tiles" * any(
            row["tile"] != "0" for row in own if (int(row["step"]), row["task"], row["name"]) == line
        )
        text.append(f"| {line[0]:02d} {line[2]}{tiles}, {main[line]} | " + " | ".join(cells) + " |")
    for name, kind in dict.fromkeys((row["name"], row["type"]) for step in own for row in rivals(step)):
        cells = []
        for n in columns:
            row = next((row for row in gold if (row["name"], row["type"], int(row["n"])) == (name, kind, n)), None)
            cells.append(speed(float(row["keys_per_s"])) if row else "")
        text.append(f"| *{name}, {kind}* | " + " | ".join(cells) + " |")
    facts = dict(re.findall(r"^(\w+): (.*)$", (folder / "machine.txt").read_text(encoding="utf-8"), re.MULTILINE))
    last = own[-1]
    return "\n".join(text) + (
        f"\n\n{last['machine']}; {last['date'][:10]}, commit {last['commit']}, "
        f"`{facts['command']}`. In brackets: share of the fastest gold standard for the same task.\n"
    )


PLOTTED = re.compile(r"\]\((reports/results/(\S+)/speed\.svg)\)")
SUMS = re.compile(r"\n<!-- made of (\w+), is (\w+) -->\n$")


def digest(*contents):
    return hashlib.sha256(b"\0".join(contents)).hexdigest()[:16]


def plot_sources(machine):
    """What a plot depends on: the measurements, and how it is drawn."""
    modules = [ROOT / "common/workbook/reporting" / name for name in ("charts.py", "plot.py")]
    return digest(
        *(path.read_bytes() for path in [*sorted((ROOT / "reports/results" / machine).glob("*.csv")), *modules])
    )


def plot_is_current(path, machine):
    """Whether the plot was made of what is there now, and is as it was made."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError:
        return False
    sums = SUMS.search(text)
    return bool(sums) and sums[1] == plot_sources(machine) and sums[2] == digest(text[: sums.start()].encode())


def write_plot(path, machine):
    """The plot of all labs on one machine."""
    if not plot.available():
        sys.exit("tables.py: the plot needs matplotlib (./workbook doctor)")
    folder = ROOT / "reports/results" / machine
    charts.all_labs({csv.stem: read(csv) for csv in sorted(folder.glob("*.csv"))}, path.with_suffix(""))
    text = path.read_text(encoding="utf-8").rstrip("\n")
    path.write_text(f"{text}\n<!-- made of {plot_sources(machine)}, is {digest(text.encode())} -->\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description="Writes the tables and the plot of recorded results.")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail if a table or the plot is out of date"
    )
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
    for name, machine in sorted(set(PLOTTED.findall((ROOT / "README.md").read_text(encoding="utf-8")))):
        if not plot_is_current(ROOT / name, machine):
            stale.append(name)
            if not check:
                write_plot(ROOT / name, machine)
    if check and stale:
        sys.exit(f"tables.py: out of date: {', '.join(stale)}; run python3 reports/tables.py")


if __name__ == "__main__":
    main()

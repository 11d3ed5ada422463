"""Plain tables, and numbers as people read them."""

import os
import shutil
import sys
import textwrap


def render(headings, rows, left=()):
    """Lines of a table. Columns whose heading is in `left` are set flush left, the others flush right."""
    cells = [[str(cell) for cell in row] for row in [headings, *rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(headings))]

    def line(row):
        placed = (
            cell.ljust(width) if heading in left else cell.rjust(width)
            for cell, width, heading in zip(row, widths, headings)
        )
        return "  ".join(placed).rstrip()

    return [line(cells[0]), "  ".join("-" * width for width in widths), *map(line, cells[1:])]


def width():
    """How wide lines may be: the terminal's width, or what COLUMNS says; None where neither is known."""
    if sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit():
        return shutil.get_terminal_size().columns
    return None


def wrapped(text, indent=""):
    """A paragraph in lines that fit the terminal, and are no longer than people like to read."""
    return textwrap.fill(
        text,
        min(width() or 120, 120),
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def fit(headings, rows, left=(), less=()):
    """(lines of a table that is no wider than `width()` where that can be, the columns that it lacks for that).

    `less`: columns that can be done without, the first one first.
    """

    def lines_without(dropped):
        kept = [i for i, heading in enumerate(headings) if heading not in dropped]
        return render([headings[i] for i in kept], [[row[i] for i in kept] for row in rows], left)

    def fits(dropped):
        return limit is None or max(map(len, lines_without(dropped))) <= limit

    limit, dropped = width(), []
    for heading in less:
        if not fits(dropped):
            dropped.append(heading)
    for heading in reversed(dropped[:]):  # a wide one may have made room for one that was dropped before it
        rest = [other for other in dropped if other != heading]
        if fits(rest):
            dropped = rest
    return lines_without(dropped), dropped


def significant(value, digits=3):
    """A number in plain notation: at least `digits` digits that mean something, no more than needed."""
    if value == 0:
        return "0"
    decimals = 0
    while decimals < 6 and abs(value) * 10**decimals < 10 ** (digits - 1):
        decimals += 1
    return f"{value:.{decimals}f}"


def grouped(value):
    """The same with its thousands apart: 12,345."""
    text = significant(value)
    return f"{int(text):,}" if text.isdigit() else text


def count(n):
    """A number of keys: 2^18 where it is such a power and large, else its digits."""
    n = int(n)
    return f"2^{n.bit_length() - 1}" if n >= 1024 and n & (n - 1) == 0 else str(n)

"""Markdown tables of rows, and numbers as they appear in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from ..core.console import grouped
from ..core.rows import SAME_WORK, Row, work
from .selection import Line, gold_name, groups, is_power, measured, shape_of, speed, step_of

SIZES = (1000, 10000, 100000)  # n of the tables over launch shapes


def number(value: float | None) -> str:
    """A number with its thousands separated; nothing for None."""
    return "" if value is None else grouped(value)


def count(n: int) -> str:
    """A number of keys; a power of two as such."""
    return f"2<sup>{n.bit_length() - 1}</sup>" if is_power(n) else f"{n:,}"


def launch(row: Row) -> str:
    """A launch shape as CUDA writes it."""
    return shape_text(shape_of(row))


def shape_text(shape: tuple[object, object]) -> str:
    """Blocks and threads per block as CUDA writes them."""
    return f"&lt;&lt;&lt;{shape[0]}, {shape[1]}&gt;&gt;&gt;"


def paragraphs(*parts: str) -> str:
    """The parts that are not empty, as paragraphs."""
    return "\n\n".join(filter(None, parts))


def pipe(headings: Sequence[object], rows: Iterable[Sequence[object]], left: int = 1) -> str:
    """A Markdown table whose first `left` columns are flush left."""

    def line(cells: Iterable[object]) -> str:
        return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"

    rule = "|" + "".join("---|" if column < left else "---:|" for column in range(len(headings)))
    return "\n".join([line(headings), rule, *map(line, rows)])


def fold(summary: str, *blocks: str) -> str:
    """Markdown that can be folded; "" if it holds nothing."""
    text = paragraphs(*blocks)
    return f"<details>\n<summary>{summary}</summary>\n\n{text}\n\n</details>" if text else ""


def few_and_others(sizes: Iterable[int]) -> list[list[int]]:
    """Powers of two, at most eight or so, and the other sizes: the columns of two tables."""
    ordered = sorted(set(sizes))
    powers = [n for n in ordered if is_power(n)]
    others = [n for n in ordered if not is_power(n)]
    return [some for some in (powers[::2] if len(powers) > 8 else powers, others) if some]


def over_n(
    heading: str,
    lines: Mapping[Line, Sequence[Row]],
    golds: Mapping[str, Sequence[Row]],
    cell: Callable[[Row], str],
    name_of: Callable[[Row], str] = lambda row: row.label,
) -> str:
    """One line per step and gold standard, one column per n of a step; "" without rows."""
    sizes = sorted({row.n for own in (lines or golds).values() for row in own})
    if not sizes:
        return ""
    rows = []
    for name, own in [*((name_of(own[0]), own) for own in lines.values()), *golds.items()]:
        by_n = {row.n: cell(row) for row in own}
        if by_n.keys() & set(sizes):
            rows.append([name, *(by_n.get(n, "") for n in sizes)])
    return pipe([heading, *(f"n = {count(n)}" for n in sizes)], rows)


def golds_for(
    lines: Mapping[Line, Sequence[Row]],
    rows: Iterable[Row],
    name_of: Callable[[Row], str] = lambda row: gold_name(row.name, row.build),
) -> dict[str, list[Row]]:
    """Name -> the rows of a gold standard that does the same work as a line, the fastest for each n."""
    tasks = {work(row, SAME_WORK) for own in lines.values() for row in own}
    found: dict[str, dict[int, Row]] = {}
    for row in (row for row in measured(rows) if row.is_gold and work(row, SAME_WORK) in tasks):
        by_n = found.setdefault(f"*{name_of(row)}*", {})
        by_n[row.n] = max(by_n.get(row.n, row), row, key=speed)
    return {name: [by_n[n] for n in sorted(by_n)] for name, by_n in found.items()}


def over_shapes(heading: str, rows: Sequence[Row], name: Callable[[Row], str]) -> str:
    """Median times: one line per name, one column per launch shape; "" without rows."""
    some = sorted({shape_of(row) for row in rows})
    lines = []
    for words, own in groups(rows, name).items():
        cells = {shape_of(row): number(row.median_ms) for row in own}
        lines.append([words, *(cells.get(shape, "") for shape in some)])
    headings = ["the step's choice" if shape == (0, 0) else shape_text(shape) for shape in some]
    return pipe([heading, *headings], lines) if lines else ""


def over_values(
    rows: Sequence[Row],
    heading: str,
    value_of: Callable[[Row], str],
    more: tuple[str, Callable[[Row], str]] | None = None,
) -> str:
    """Speeds: one line per value, one column per step. `more`: the heading and cells of a second column."""
    sorts = [row for row in rows if row.task == "sort"]
    steps = sorted({step_of(row) for row in sorts})
    lines = []
    for value, own in groups(sorts, value_of).items():
        by_step = {step_of(row): row for row in own}
        cells = (grouped(speed(by_step[step]) / 1e6) if step in by_step else "" for step in steps)
        lines.append([value, *([more[1](own[0])] if more else []), *cells])
    headings = [heading, *([more[0]] if more else []), *(f"{step:02} {name}, Mkeys/s" for step, name in steps)]
    return pipe(headings, lines)

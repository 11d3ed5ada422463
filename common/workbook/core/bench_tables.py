"""The tables that bench prints."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from . import rows as row_files
from .console import count, paint, significant, table, wrapped
from .measuring import WIDE
from .rows import Row, best_gold, share_of_gold


def percent_of_gold(row: Row, gold: Row | None) -> str:
    """The step's speed in percent of the gold standard's; "-" if either has no speed."""
    share = share_of_gold(row, gold)
    return "-" if share is None else significant(100 * share) + "%"


def _value(row: Row, name: str) -> str:
    return f"{row.blocks}x{row.threads}" if name == "shape" else str(getattr(row, name))  # a shape as --shapes takes it


def _varying(rows: Iterable[Row]) -> list[str]:
    rows = list(rows)
    return [
        name for name in ("input", "type", "order", "shape", "memory") if len({_value(row, name) for row in rows}) > 1
    ]


def _cells(row: Row, varying: Iterable[str]) -> list[str]:
    return [os.path.basename(row.input) if name == "input" else _value(row, name) for name in varying]


def _fitted(
    headings: Sequence[str], lines: Sequence[Sequence[object]], left: Sequence[str], less: Sequence[str]
) -> list[str]:
    """The lines of a table, and a line that names the columns left out to fit the terminal."""
    fitted, dropped = table(headings, lines, left, less)
    return fitted + [f"(columns left out because this terminal is too narrow: {', '.join(dropped)})"] * bool(dropped)


def _times(row: Row, gold: Row | None) -> list[str]:
    if row.status != "verified":
        return [row.status, "-", "-", "-", "-"]
    speed = significant(row.keys_per_s / 1e6) if row.keys_per_s else "-"
    roof = significant(row.percent_of_roof) + "%" if row.percent_of_roof is not None else "-"
    return [
        significant(row.median_ms or 0),
        f"{row.spread:.0f}%" + "!" * (row.spread > WIDE),
        speed,
        f"{percent_of_gold(row, gold):>6} {gold.name if gold else ''}".rstrip(),
        roof,
    ]


def measurement_lines(rows: Sequence[Row]) -> list[str]:
    """A line for each measurement of a step; of the input, type, order and shape, only the columns that differ."""
    measured = [row for row in row_files.whole(rows) if not row.is_gold and row.status != "unsupported"]
    varying = _varying(measured)
    headings = ["step", "n", *varying, "ms", "spread", "Mkeys/s", "of gold", "of roof"]
    lines = [
        [row.label, count(row.n), *_cells(row, varying), *_times(row, best_gold(rows, row))]
        for row in sorted(measured, key=lambda row: row.step)
    ]
    return _fitted(headings, lines, ("step", "of gold", *varying), ("of roof", "spread", "Mkeys/s"))


def kernel_lines(rows: Iterable[Row]) -> list[str]:
    """A line for each kernel of each measurement, with its share of the time of all kernels; none without such rows."""
    parts = [row for row in rows if row.kernel and row.kernel not in row_files.COPIES]
    if not parts:
        return []
    varying = _varying(parts)
    total: defaultdict[tuple[Any, ...], float] = defaultdict(float)
    for row in parts:
        total[row_files.whole_key(row)] += row.median_ms or 0
    headings = ["step", "n", *varying, "kernel", "launches", "total ms", "share", "grid", "block"]
    lines = []
    for row in sorted(parts, key=lambda row: row.step):
        median = row.median_ms or 0
        share = f"{100 * median / (total[row_files.whole_key(row)] or 1):.0f}%"
        shown = [row.kernel, row.launches, significant(median), share, row.grid, row.block]
        lines.append([row.label, count(row.n), *_cells(row, varying), *shown])
    return _fitted(headings, lines, ("step", "kernel", *varying), ("block", "grid", "launches"))


def transfer_lines(rows: Iterable[Row]) -> list[str]:
    """A line for each copy of each measurement; none without such rows."""
    rows = list(rows)
    parts = [row for row in rows if row.kernel in row_files.COPIES]
    if not parts:
        return []
    varying = _varying(parts)
    whole = row_files.by_measurement(rows)
    has_shares = any(row.kernel == row_files.COPIES_ALONE for row in parts)
    lines = [
        [
            row.label,
            count(row.n),
            *_cells(row, varying),
            f"{row.kernel}, {row.launches} trip{'s' * (row.launches > 1)}" if row.launches else row.kernel,
            significant(row.median_ms or 0),
            significant(row.gb_per_s or 0),
            *[_share_of_step(row, whole)] * has_shares,
        ]
        for row in sorted(parts, key=lambda row: row.step)
    ]
    headings = ["step", "n", *varying, "copy", "ms", "GB/s", *["of step"] * has_shares]
    return _fitted(headings, lines, ("step", "copy", *varying), ("GB/s",))


def _share_of_step(row: Row, whole: Mapping[tuple[Any, ...], Row]) -> str:
    """The time of the copies alone in percent of the step's; "" for other copies."""
    share = row_files.share_of_copies(row, whole)
    return "" if share is None else f"{100 * share:.0f}%"


def skipped(rows: Iterable[Row]) -> list[str]:
    """A sentence for each reason why measurements were impossible."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        if row.status == "unsupported":
            groups.setdefault(row.message, []).append(row)
    found = []
    for message, group in groups.items():
        steps = sorted({str(row.step) for row in group})
        found.append(
            f"skipped: {len(group)} measurement{'s' * (len(group) > 1)} "
            f"(step{'s' * (len(steps) > 1)} {', '.join(steps)}): {message}"
        )
    return found


def failed_lines(rows: Iterable[Row]) -> list[str]:
    """A line for each way in which a step failed, with the numbers of keys."""
    groups: dict[tuple[int, str, str], set[int]] = {}
    for row in rows:
        groups.setdefault((row.step, row.status, row.message), set()).add(row.n)
    lines = []
    for (step, status, message), sizes in groups.items():
        where = ", ".join(map(count, sorted(sizes)[:4])) + ", ..." * (len(sizes) > 4)
        lines.append(f"{paint(f'step {step}', 'red')}, n = {where}: {status}: {message}")
    return lines


def _legend(measured: Sequence[Row]) -> list[str]:
    """What all measurements share, and a line on each column that needs an explanation."""
    first = measured[0]
    shared = [
        str(getattr(first, name))
        for name in ("type", "order", "input")
        if len({getattr(row, name) for row in measured}) == 1
    ]
    facts = [", ".join(shared)] * bool(shared)
    if all(row.status in ("verified", "unsupported") for row in measured):
        facts.append("all outputs verified")
    lines = ["; ".join(facts)] * bool(facts)
    lines += [
        "spread: width of the middle half of the runs, in percent of the median",
        "of gold: speed in percent of the fastest gold standard or peer, whose name follows",
    ]
    roof = next((row.roof_gb_per_s for row in measured if row.roof_gb_per_s), 0)
    if roof:
        lines.append(f"of roof: speed in percent of a copy of the same bytes, at {significant(roof)} GB/s")
    return lines


def show(lab: str, rows: Sequence[Row], kind: str, solution: bool) -> None:
    """Prints what was measured of a lab."""
    measured = [row for row in row_files.whole(rows) if not row.is_gold] or row_files.whole(rows)
    print(wrapped(f"{lab}{' (solution)' if solution else ''}, {kind} build, {measured[0].machine}"))
    for line in _legend(measured):
        print(wrapped(line))
    for lines in (measurement_lines(rows), kernel_lines(rows), transfer_lines(rows)):
        if lines:
            print("\n" + "\n".join(lines))
    print()
    failed = [row for row in measured if row.status not in ("verified", "unsupported")]
    for line in (*skipped(measured), *failed_lines(failed)):
        print(line if "\n" in line else wrapped(line, hanging=2))

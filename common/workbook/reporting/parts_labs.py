"""The part of a report that compares the algorithms of all labs on the same keys."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.console import grouped
from ..core.rows import Row
from ..core.sweeps import COUNTED_INPUT
from .context import Context
from .lines_over_n import Series
from .parts_machines import machine_figure, short
from .selection import groups, is_power, measured, shape_of, speed
from .tables import count, paragraphs, pipe

TITLE = "Keys per second by algorithm"


def labs(report: Context) -> str:
    """A plot and a table for each machine that has timed several labs: this one first, then the recorded ones."""
    own = [row for row in report.rows if row.lab == report.lab]
    texts: list[str] = []
    for remark, rows in report.labs or [("", [])]:
        for build, found in groups(measured([*rows, *([] if remark else own)]), lambda row: row.build).items():
            best = fastest_of_labs(found)
            if len(best) > 1:
                machine = (
                    short(found[0].machine) + (f", {remark}" if remark else "") + " (cpu build)" * (build == "cpu")
                )
                caption = f"Keys per second of the fastest step of each lab on {machine}."
                figure = machine_figure(report, f"labs-{len(texts) + 1}", series_of(best), TITLE, caption)
                texts.append(paragraphs(figure, table_of(best)))
    return paragraphs(*texts)


def fastest_of_labs(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Lab -> its fastest step at each n."""
    labs = groups((row for row in rows if not row.is_gold), lambda row: row.lab)
    return {lab: best for lab in sorted(labs) if (best := _best(labs[lab]))}


def _best(rows: Sequence[Row]) -> list[Row]:
    """The fastest step at each n: on uniform keys or, in a lab that sorts only keys with few values, on those.

    Step 00 is not among them: it runs on the host.
    """
    sorts = [
        row
        for row in rows
        if row.task == "sort"
        and row.step > 0
        and row.tile == 0
        and shape_of(row) == (0, 0)
        and row.order == "ascending"
    ]
    for type_name, input_name in (("u32", "uniform"), ("u32", COUNTED_INPUT), ("u8", "uniform")):
        by_n = groups(
            (row for row in sorts if (row.type, row.input) == (type_name, input_name) and is_power(row.n)),
            lambda row: row.n,
        )
        if len(by_n) > 1:
            return [max(by_n[n], key=speed) for n in sorted(by_n)]
    return []


def series_of(best: dict[str, list[Row]]) -> list[Series]:
    """One line of a plot per lab."""
    return [
        Series(_title(lab, own), int(lab[:2]), 0, [(row.n, speed(row)) for row in own]) for lab, own in best.items()
    ]


def table_of(best: dict[str, list[Row]]) -> str:
    """One line per lab, one column per n."""
    lines = []
    sizes = sorted({row.n for own in best.values() for row in own})
    sizes = sizes[::2] if len(sizes) > 8 else sizes
    for lab, own in best.items():
        by_n = {row.n: f"{grouped(speed(row) / 1e6)} ({row.step:02})" for row in own}
        lines.append([_title(lab, own), *(by_n.get(n, "") for n in sizes)])
    return pipe(["Mkeys/s (step)", *(f"n = {count(n)}" for n in sizes)], lines)


def _title(lab: str, own: Sequence[Row]) -> str:
    return f"{lab.partition('-')[2]}: {_keys(own[0])}"


def _keys(row: Row) -> str:
    """ "u32, 0 to 65,535" """
    return f"{row.type}, 0 to 65,535" if row.input == COUNTED_INPUT else f"{row.type}, {row.input}"

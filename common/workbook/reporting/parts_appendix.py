"""The appendix of a report: the large tables, in a file of their own, each of which can be folded."""

from __future__ import annotations

from ..core.rows import COPIES, Row, whole
from .context import Context
from .parts_machines import by_machine
from .parts_profile import memory
from .parts_time import kernel_rows, speeds
from .selection import groups
from .tables import SIZES, fold, over_shapes, paragraphs

_HEAD = (
    "## Appendix: large tables\n\n<!-- ./workbook report writes this file. report.html and report.tex end with it. -->"
)


def appendix(report: Context) -> str:
    """Markdown of the appendix; "" if there is nothing to show."""
    folds = [
        *(
            fold(f"Milliseconds by launch shape for n = {n:,}: each step, and all launches of each kernel", table)
            for n in SIZES
            if (table := _by_shape(report, n))
        ),
        fold("Memory accesses of each kernel", memory(report)),
        fold("Speed and percent of memory bandwidth", *speeds(report)),
        fold("Launch shapes and value ranges on several machines", *by_machine(report)),
    ]
    return paragraphs([_HEAD, *folds]) + "\n" if any(folds) else ""


def _by_shape(report: Context, n: int) -> str:
    """Steps and parts, each followed by its kernels; a column per launch shape."""
    rows = [row for row in report.own() if row.n == n and row.input == "uniform" and row.kernel not in COPIES]
    if not any(row.blocks for row in whole(rows)):
        return ""
    kernels = {row.kernel for row in kernel_rows(report)}
    ordered: list[Row] = []
    lines = groups(rows, lambda row: (row.step, row.task != "sort", row.name))
    for _, own in sorted(lines.items()):
        ordered += sorted(own, key=lambda row: row.kernel in kernels)
    return over_shapes("step, kernel", ordered, _name)


def _name(row: Row) -> str:
    return f"**{row.step:02} {row.name}**" if not row.kernel else f"{row.step:02} {row.name}, `{row.kernel}`"

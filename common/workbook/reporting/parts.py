"""The parts of a report by name: each function returns Markdown, or "" if there is nothing to say.

The appendix holds the large tables, in a separate file. Each of them can be folded.
"""

from collections.abc import Callable

from ..core.rows import COPIES, Row, whole
from . import parts_labs, parts_machines, parts_setup, parts_sweeps, parts_time
from .context import Context
from .parts_machines import by_machine
from .parts_time import kernel_rows, memory, speeds
from .selection import groups
from .tables import SIZES, fold, over_shapes, paragraphs

PARTS: dict[str, Callable[[Context], str]] = {
    "statement": parts_setup.statement,
    "machine": parts_setup.machine,
    "predictions": parts_setup.predictions,
    "program": parts_setup.program,
    "run": parts_setup.run,
    "verdicts": parts_setup.verdicts,
    "results": parts_setup.results,
    "n": parts_time.n,
    "parts": parts_time.parts,
    "kernels": parts_time.kernels,
    "profile": parts_time.profile,
    "timeline": parts_time.timeline_of_steps,
    "shapes": parts_sweeps.shapes,
    "inputs": parts_sweeps.inputs,
    "ranges": parts_sweeps.ranges,
    "types": parts_sweeps.types,
    "transfers": parts_time.transfers,
    "processors": parts_machines.processors,
    "machines": parts_machines.machines,
    "labs": parts_labs.labs,
}


def make(report: Context) -> dict[str, str]:
    """All parts; draws their plots."""
    return {name: part(report) for name, part in PARTS.items()}


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
    return paragraphs(_HEAD, *folds) + "\n" if any(folds) else ""


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

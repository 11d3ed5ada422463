"""Parts of a report about time: over n, of the parts of a sort, of kernels, of copies."""

from __future__ import annotations

from ..core.console import grouped, significant
from ..core.rows import COPIES, TRANSFERS, Row
from . import bars, host_copies, lines_over_n
from .context import Context
from .selection import by_line, groups, is_power, label, milliseconds, powers, speed, usual
from .tables import count, golds_for, number, over_n, paragraphs, pipe


def n(report: Context) -> str:
    """Time and speed over n."""
    rows = [row for row in usual(report.rows) if row.build == report.kind]
    lines = {line: own for line, own in by_line(powers(rows), report.lab).items() if line[1] == "sort"}
    if not lines:
        return ""
    golds = golds_for(lines, report.rows)
    kinds = sorted({own[0].type for own in lines.values()})
    shares = any(row.ratio for own in lines.values() for row in own)
    return paragraphs(
        [
            f"Uniform {' and '.join(kinds)} keys, ascending; each step chooses its launch shape.",
            report.figure(
                "speed",
                lines_over_n.speed_over_n,
                "Keys per second against the number of keys: all steps, the gold standard (dashed; dotted for "
                "sorts of tiles), and the limit of memory bandwidth: each key read and written once at the speed "
                "of a copy. (Data that fits into a cache can exceed it.)",
                rows,
            ),
            report.figure("time", lines_over_n.time_over_n, "Time of one sort against the number of keys.", rows),
            "In brackets: the speed in percent of the fastest gold standard's." * shares,
            over_n("median, ms", lines, golds, _time_and_share),
            *report.not_measured("n"),
        ]
    )


def _time_and_share(row: Row) -> str:
    """0.114 (8.42 %)"""
    return number(row.median_ms) + (f" ({significant(100 * row.ratio)} %)" if row.ratio else "")


def speeds(report: Context) -> list[str]:
    """Tables over n of all steps and their parts: keys per second, and percent of memory bandwidth."""
    lines = by_line(powers([row for row in usual(report.rows) if row.build == report.kind]), report.lab)
    golds = golds_for(lines, report.rows)
    return [
        over_n("Mkeys/s", lines, golds, lambda row: grouped(speed(row) / 1e6)),
        over_n("% of memory bandwidth", lines, golds, lambda row: number(row.percent_of_roof)),
    ]


def parts(report: Context) -> str:
    """The parts that are not sorts, such as reduction and scan, each next to its gold standard if it has one."""
    rows = [row for row in usual(report.rows) if row.build == report.kind]
    lines = {line: own for line, own in by_line(powers(rows), report.lab).items() if line[1] != "sort"}
    if not lines:
        return ""
    golds = golds_for(lines, report.rows)
    return paragraphs(
        [
            report.figure(
                "parts",
                lines_over_n.parts_over_n,
                "Values per second against their number: each part and its gold standard, if it has one.",
                rows,
            ),
            over_n("median, ms", lines, golds, lambda row: number(row.median_ms)),
        ]
    )


def kernel_rows(report: Context) -> list[Row]:
    """The rows of kernels, for uniform keys."""
    return [row for row in report.own() if row.kernel not in ("", *COPIES) and row.input == "uniform"]


def kernels(report: Context) -> str:
    """Each kernel's share of the time. (The appendix has its times over launch shapes and n.)"""
    rows = kernel_rows(report)
    if not rows:
        return ""
    return paragraphs(
        [
            report.figure(
                "kernels",
                bars.kernels,
                "The share of each kernel in the time of all kernels of a step, at the largest n of the sweep. "
                "(Kernels are timed in separate runs, which do not count in the times above.)",
            ),
            "The appendix has each kernel's time for all launch shapes.",
        ]
    )


def transfers(report: Context) -> str:
    """The copies, next to the sort itself."""
    rows = [row for row in report.own() if row.blocks == 0 and row.input == "uniform"]
    if any(row.memory for row in rows):
        return host_copies.paragraph(report.kind, [row for row in rows if is_power(row.n)])
    copies = [row for row in rows if row.kernel in TRANSFERS]
    if not copies:
        return ""
    last = max(copies, key=lambda row: (row.task == "sort", row.tile == 0, row.step))
    own = [row for row in rows if (row.step, row.name, row.type) == (last.step, last.name, last.type)]
    lines = []
    for size, some in sorted(groups(own, lambda row: row.n).items()):
        by_kernel = {row.kernel: row for row in some}
        if not {"", *TRANSFERS} <= by_kernel.keys():
            continue
        there, back, sort = by_kernel["to device"], by_kernel["to host"], by_kernel[""]
        total = sum(map(milliseconds, (there, back, sort)))
        lines.append(
            [
                count(size),
                number(there.median_ms),
                number(there.gb_per_s),
                number(back.median_ms),
                number(back.gb_per_s),
                number(sort.median_ms),
                f"{100 * (1 - milliseconds(sort) / total):.0f}" if total else "",
            ]
        )
    where = "pageable memory" if report.kind == "cuda" else "one part of the processor's memory to another"
    headings = ["n", "to the device, ms", "GB/s", "to the host, ms", "GB/s", "sort, ms", "copies, % of total"]
    return f"Step {label(last)}, {last.type} keys; the copies go from {where}.\n\n" + pipe(headings, lines)

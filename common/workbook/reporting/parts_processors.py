"""The part of a report that compares the GPU with the processor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..core.console import grouped
from ..core.rows import TRANSFERS, Row, hardware, key, verified
from .context import RECORDED, Context
from .lines_over_n import Series
from .parts_machines import fastest, machine_figure, points, short
from .selection import gold_name, groups, label, measured, milliseconds, shape_of, speed, usual
from .tables import count, few_and_others, launch, paragraphs, pipe

CPU_SORTS = ("counting", "sort", "vqsort", "spreadsort", "stable-sort")


def processors(report: Context) -> str:
    """The best on a GPU, over steps and launch shapes, and the best programs on a processor."""
    gpu = _gpu_rows(report)
    cpu = [
        row for row in usual(report.rows) if row.build == "cpu" and row.is_gold and row.task == "sort" and row.tile == 0
    ]
    best = _best(gpu.rows, report.lab) if gpu else []
    if not gpu or not cpu or not best:
        return ""
    kind = best[0].type
    cpu = [row for row in cpu if row.type == kind] or cpu
    where = f"{gpu.name}, {RECORDED}" if gpu.recorded else gpu.name
    series = [
        Series(f"best of {where}", max(row.step for row in best), 0, points(best)),
        Series("the same with the copies", max(row.step for row in best), 1, _with_copies(gpu.rows, best)),
        *_cpu_series(cpu),
    ]
    caption = (
        f"Keys per second: at each n, the fastest step and launch shape on a GPU ({where}), and the best programs on "
        "this processor."
    )
    vector = "VQSort uses its vector units; " * any(row.name == "vqsort" for row in cpu)
    recorded = " (the solution's results, recorded there and not on this machine)" * gpu.recorded
    return paragraphs(
        [
            f"GPU: {gpu.name}{recorded}. CPU: {hardware(cpu[0].machine)}; {vector}all run on one core.",
            machine_figure(report, "processors", series, f"Keys per second, {kind}", caption),
            *_time_tables(series, best),
        ]
    )


@dataclass
class _Gpu:
    rows: Sequence[Row]
    name: str
    recorded: bool


def _gpu_rows(report: Context) -> _Gpu | None:
    """The rows of the first machine that has timed this lab on a GPU."""
    for name, rows in [("", report.rows), *report.others]:
        own = [row for row in verified(rows) if row.build == "cuda" and row.lab == report.lab]
        if own:
            return _Gpu(rows, short(own[0].machine), bool(name))
    return None


def _best(rows: Sequence[Row], lab: str) -> list[Row]:
    """At each n the fastest of all steps and launch shapes, in the type of the step that is fastest by itself.

    Steps that sort tiles only do not compete with programs that sort everything. Step 00 runs on the host.
    """
    line = fastest(rows, lab, "cuda")
    if not line or line[0].tile:
        return []
    same = ("lab", "build", "type", "input", "order", "task", "tile")
    alike = [row for row in measured(rows) if row.step > 0 and key(row, same) == key(line[0], same)]
    by_n = groups(alike, lambda row: row.n)
    return [max(by_n[n], key=speed) for n in sorted(by_n)]


def _with_copies(rows: Sequence[Row], best: Sequence[Row]) -> list[tuple[int, float]]:
    """Keys per second including the copies to the device and back, which do not depend on the step."""
    same = ("lab", "build", "type", "input")
    found: dict[int, dict[str, float]] = {}
    for row in verified(rows):
        if row.kernel in TRANSFERS and key(row, same) == key(best[0], same):
            times = found.setdefault(row.n, {})
            times[row.kernel] = min(milliseconds(row), times.get(row.kernel, milliseconds(row)))
    return [
        (row.n, row.n / ((milliseconds(row) + sum(found[row.n].values())) * 1e-3))
        for row in best
        if len(found.get(row.n, {})) == len(TRANSFERS)
    ]


def _cpu_series(rows: Sequence[Row]) -> list[Series]:
    by_name = groups((row for row in rows if row.name in CPU_SORTS), lambda row: row.name)
    return [
        Series(
            gold_name(name, "cpu"),
            None,
            0 if name in ("counting", "vqsort") else 1 + place % 2,
            points(sorted(own, key=lambda row: row.n)),
        )
        for place, (name, own) in enumerate(by_name.items())
    ]


def _time_tables(series: Sequence[Series], best: Sequence[Row]) -> list[str]:
    """Median times: one line per program, one column per n; and which step and shape is the best."""
    names = {row.n: label(row) + (f" {launch(row)}" if shape_of(row) != (0, 0) else "") for row in best}
    tables = []
    for sizes in few_and_others(n for line in series for n, _ in line.points):
        lines = []
        for line in series:
            speeds = dict(line.points)
            if speeds.keys() & set(sizes):
                lines.append([line.name, *(grouped(n / speeds[n] * 1e3) if speeds.get(n) else "" for n in sizes)])
        lines.insert(1, ["(the fastest step and shape)", *(names.get(n, "") for n in sizes)])
        tables.append(pipe(["median, ms", *(f"n = {count(n)}" for n in sizes)], lines))
    return tables

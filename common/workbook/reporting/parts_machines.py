"""The parts of a report that compare several machines, and the GPU with the processor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..core.console import grouped
from ..core.rows import TRANSFERS, Row, hardware, key, verified
from . import lines_over_n, shapes_and_ranges
from .context import RECORDED, Context
from .lines_over_n import Series
from .selection import (
    by_line,
    gold_name,
    groups,
    is_power,
    largest_value,
    measured,
    milliseconds,
    shape_of,
    speed,
    usual,
)
from .tables import count, few_and_others, launch, number, over_shapes, paragraphs, pipe


def points(rows: Sequence[Row]) -> list[tuple[int, float]]:
    """(n, keys per second) of each row."""
    return [(row.n, speed(row)) for row in rows]


def fastest(rows: Sequence[Row], lab: str, build: str) -> list[Row]:
    """The line over n of a lab's fastest step; steps that sort tiles only count where there are no others."""
    lines = by_line([row for row in usual(rows) if row.build == build], lab)
    sorts = [own for (_, task, _), own in lines.items() if task == "sort"]
    candidates = [own for own in sorts if own[0].tile == 0] or sorts
    return max(candidates, key=lambda own: max(map(speed, own)), default=[])


def short(machine: str) -> str:
    """A machine's name without its properties."""
    return machine.split(",")[0]


def machine_figure(report: Context, name: str, series: Sequence[Series], title: str, caption: str) -> str:
    """The plot of these lines over powers of two; a line that was measured at other sizes only, over those."""
    drawn = []
    for line in series:
        powers = [point for point in line.points if is_power(point[0])]
        drawn.append(Series(line.name, line.step, line.style, powers if len(powers) > 1 else line.points))
    return report.plot(name, caption, (drawn, title), lambda stem: lines_over_n.machines(drawn, stem, title))


@dataclass
class _Machine:
    source: str  # "this report", or the name of other measurements
    build: str
    rows: Sequence[Row]
    best: list[Row]  # its fastest step
    title: str = ""

    @property
    def recorded(self) -> bool:
        return self.source.endswith(RECORDED)


def machines(report: Context) -> str:
    """The fastest step on each machine, over n, and the tables that several machines share."""
    found = _found(report)
    if len(found) < 2:
        return ""
    sizes = sorted({row.n for machine in found for row in machine.best if is_power(row.n)})
    sizes = sizes[::2] if len(sizes) > 8 else sizes
    series, lines = [], []
    for place, machine in enumerate(found):
        speeds = dict(points([row for row in machine.best if is_power(row.n)]))
        if not speeds:
            continue
        name = machine.best[0].label
        series.append(Series(f"{name}, {machine.title}", machine.best[0].step, place, list(speeds.items())))
        cells = (grouped(speeds[n] / 1e6) if n in speeds else "" for n in sizes)
        lines.append([machine.title, name, *cells])
    caption = "Keys per second of the fastest step on each machine."
    shaped = _by_shape(report.lab, found)
    return paragraphs(
        machine_figure(report, "machines", series, "Keys per second", caption),
        pipe(["machine", "fastest step, Mkeys/s", *(f"n = {count(n)}" for n in sizes)], lines, left=2),
        report.plot(
            "machine-shapes",
            "Time of each step against the launch shape, on each machine, at the largest n that they share.",
            shaped,
            lambda stem: shapes_and_ranges.machine_shapes(shaped, stem),
        ),
        "The appendix has these times as tables." * bool(shaped),
    )


def _found(report: Context) -> list[_Machine]:
    """The machines that have timed this lab, with their titles."""
    found = [
        _Machine(source, build, rows, best)
        for source, rows in [("this report", report.rows), *report.others]
        for build in ("cuda", "cpu")
        if (best := fastest(rows, report.lab, build))
    ]
    _entitle(found)
    return found


def _entitle(found: Sequence[_Machine]) -> None:
    """Gives each machine a title that differs from the others."""
    names = [short(machine.best[0].machine) + f", {RECORDED}" * machine.recorded for machine in found]
    for machine, name in zip(found, names):
        source = machine.source[: -len(f", {RECORDED}")] if machine.recorded else machine.source
        machine.title = name if names.count(name) == 1 else f"{name} ({source})"
        machine.title += " (cpu build)" if machine.build == "cpu" else ""


# A table: the step's number, what its times are compared by (launch shape, largest value, or both), its name and type.
_Comparison = tuple[int, str, str, str]


def by_machine(report: Context) -> list[str]:
    """Tables of steps that several machines have timed for the same launch shapes or value ranges."""
    found = _found(report)
    if len(found) < 2:
        return []
    rows: list[Row] = []
    names: list[str] = []
    for machines_ in _by_shape(report.lab, found):
        for title, own in machines_.items():
            rows += own
            names += [f"{own[0].label}, {count(own[0].n)} {own[0].type} keys, {title}"] * len(own)
    name_of = dict(zip(map(id, rows), names))
    shapes = [
        "Milliseconds by launch shape, at the largest n that the machines share:" * bool(rows),
        over_shapes("step, machine", rows, lambda row: name_of[id(row)]),
    ]
    return [*shapes, *_by_range(report.lab, found)]


def _by_shape(lab: str, found: Sequence[_Machine]) -> list[dict[str, list[Row]]]:
    """For each step that several machines have timed for several launch shapes: machine -> rows at the largest n that
    they share."""
    steps: dict[tuple[int, str, str], dict[int, dict[str, list[Row]]]] = {}
    for machine in found:
        for row in measured(machine.rows):
            same = (lab, machine.build, "sort", "ascending", "uniform")
            if key(row, ("lab", "build", "task", "order", "input")) == same and row.blocks and row.threads:
                by_n = steps.setdefault((row.step, row.name, row.type), {})
                by_n.setdefault(row.n, {}).setdefault(machine.title, []).append(row)
    chosen = []
    for _, by_n in sorted(steps.items()):
        shared = [n for n, timed in by_n.items() if len([rows for rows in timed.values() if len(rows) > 1]) > 1]
        if shared:
            chosen.append({title: rows for title, rows in by_n[max(shared)].items() if len(rows) > 1})
    return chosen


def _by_range(lab: str, found: Sequence[_Machine]) -> list[str]:
    """Tables of steps that several machines have timed for the same value ranges, at the largest common n."""
    tables: dict[_Comparison, dict[int, dict[str, dict[tuple[object, ...], str]]]] = {}
    for machine in found:
        for row in measured(machine.rows):
            if row.lab != lab or row.build != machine.build or row.order != "ascending":
                continue
            largest = largest_value(row)
            if largest is None:
                continue
            parts = [*[("launch shape", launch(row))] * bool(row.blocks), ("largest value", f"{largest:,}")]
            table = (row.step, " and ".join(name for name, _ in parts), row.name, row.type)
            cell = (largest, *shape_of(row), ", ".join(words for _, words in parts))
            tables.setdefault(table, {}).setdefault(row.n, {}).setdefault(machine.title, {})[cell] = number(
                row.median_ms
            )
    texts = []
    for (step, what, name, type_name), by_n in sorted(tables.items()):
        common = max((n for n, timed in by_n.items() if len(timed) > 1), default=None)
        if common is None:
            continue
        cells = sorted({cell for timed in by_n[common].values() for cell in timed}, key=lambda cell: cell[:3])
        if len(cells) < 2:
            continue
        lines = [[cell[-1], *(timed.get(cell, "") for timed in by_n[common].values())] for cell in cells]
        texts += [
            f"Step {step:02} {name}, milliseconds for {common:,} {type_name} keys, by {what}:",
            pipe([what, *by_n[common]], lines),
        ]
    return texts


CPU_SORTS = ("counting", "sort", "vqsort", "spreadsort", "stable-sort")


def processors(report: Context) -> str:
    """The best on a GPU, over steps and launch shapes, and the best programs on a processor."""
    rows, gpu, is_recorded = _gpu_rows(report)
    cpu = [
        row for row in usual(report.rows) if row.build == "cpu" and row.is_gold and row.task == "sort" and row.tile == 0
    ]
    best = _best(rows, report.lab)
    if not cpu or not best:
        return ""
    kind = best[0].type
    cpu = [row for row in cpu if row.type == kind] or cpu
    where = f"{gpu}, {RECORDED}" if is_recorded else gpu
    series = [
        Series(f"best of {where}", max(row.step for row in best), 0, points(best)),
        Series("the same with the copies", max(row.step for row in best), 1, _with_copies(rows, best)),
        *_cpu_series(cpu),
    ]
    caption = (
        f"Keys per second: at each n, the fastest step and launch shape on a GPU ({where}), and the best programs on "
        "this processor."
    )
    vector = "VQSort uses its vector units; " * any(row.name == "vqsort" for row in cpu)
    recorded = " (the solution's results, recorded there and not on this machine)" * is_recorded
    return paragraphs(
        f"GPU: {gpu}{recorded}. CPU: {hardware(cpu[0].machine)}; {vector}all run on one core.",
        machine_figure(report, "processors", series, f"Keys per second, {kind}", caption),
        *_time_tables(series, best),
    )


def _gpu_rows(report: Context) -> tuple[Sequence[Row], str, bool]:
    """The rows of the first machine that has timed this lab on a GPU, the GPU's name, and whether they are recorded."""
    for name, rows in [("", report.rows), *report.others]:
        own = [row for row in verified(rows) if row.build == "cuda" and row.lab == report.lab]
        if own:
            return rows, short(own[0].machine), bool(name)
    return [], "", False


def _best(rows: Sequence[Row], lab: str) -> list[Row]:
    """At each n the fastest of all steps and launch shapes, in the type of the step that is fastest by itself.

    Steps that sort tiles only do not compete with programs that sort everything. Step 00 of lab 05 runs on the host.
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
    names = {row.n: row.label + (f" {launch(row)}" if shape_of(row) != (0, 0) else "") for row in best}
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

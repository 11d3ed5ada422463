"""The part of a report that compares several machines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..core.console import grouped
from ..core.rows import Row
from . import lines_over_n, machine_shapes
from .context import RECORDED, Context
from .lines_over_n import Series
from .selection import (
    by_line,
    is_power,
    label,
    largest_value,
    measured,
    shape_of,
    speed,
    usual,
)
from .tables import count, launch, number, over_shapes, paragraphs, pipe


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
    title: str = field(default="")

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
        name = label(machine.best[0])
        series.append(Series(f"{name}, {machine.title}", machine.best[0].step, place, list(speeds.items())))
        cells = (grouped(speeds[n] / 1e6) if n in speeds else "" for n in sizes)
        lines.append([machine.title, name, *cells])
    caption = "Keys per second of the fastest step on each machine."
    shaped = _by_shape(report.lab, found)
    return paragraphs(
        [
            machine_figure(report, "machines", series, "Keys per second", caption),
            pipe(["machine", "fastest step, Mkeys/s", *(f"n = {count(n)}" for n in sizes)], lines, left=2),
            report.plot(
                "machine-shapes",
                "Time of each step against the launch shape, on each machine, at the largest n that they share.",
                shaped,
                lambda stem: machine_shapes.draw(shaped, stem),
            ),
            "The appendix has these times as tables." * bool(shaped),
        ]
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


@dataclass(frozen=True, order=True)
class _Comparison:
    """A table: one step's times by launch shape, by largest value, or by both."""

    step: int
    what: str
    name: str
    type: str


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
            names += [f"{label(own[0])}, {count(own[0].n)} {own[0].type} keys, {title}"] * len(own)
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
            same = (row.lab, row.build, row.order, row.input, row.task) == (
                lab,
                machine.build,
                "ascending",
                "uniform",
                "sort",
            )
            if same and row.blocks and row.threads:
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
            names = [*[("launch shape", launch(row))] * bool(row.blocks), ("largest value", f"{largest:,}")]
            table = _Comparison(row.step, " and ".join(name for name, _ in names), row.name, row.type)
            cell = (largest, *shape_of(row), ", ".join(words for _, words in names))
            tables.setdefault(table, {}).setdefault(row.n, {}).setdefault(machine.title, {})[cell] = number(
                row.median_ms
            )
    texts = []
    for table, by_n in sorted(tables.items()):
        common = max((n for n, timed in by_n.items() if len(timed) > 1), default=None)
        if common is None:
            continue
        cells = sorted({cell for timed in by_n[common].values() for cell in timed}, key=lambda cell: cell[:3])
        if len(cells) < 2:
            continue
        lines = [[cell[-1], *(timed.get(cell, "") for timed in by_n[common].values())] for cell in cells]
        texts += [
            f"Step {table.step:02} {table.name}, milliseconds for {common:,} {table.type} keys, by {table.what}:",
            pipe([table.what, *by_n[common]], lines),
        ]
    return texts

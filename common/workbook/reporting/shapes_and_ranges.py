"""Lines of sweeps: time against n for launch shapes and for value ranges, and speed against the value range."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..core.rows import Row
from . import plot
from .heat import TITLE
from .labels import Label, end_labels
from .selection import (
    commonest,
    groups,
    is_power,
    largest_value,
    milliseconds,
    ranged,
    shape_of,
    shaped,
    speed,
    step_of,
)

MAX_SHAPES = 16  # more shapes at one n are a grid, which heat.shapes() draws


def _shape_rows(rows: Sequence[Row], lab: str) -> list[Row]:
    """Rows of launch shapes and steps that were measured at several n."""
    own = shaped(rows, lab)
    crowded = {
        n for n, some in groups(own, lambda row: row.n).items() if len({shape_of(row) for row in some}) > MAX_SHAPES
    }
    own = [row for row in own if row.n not in crowded]
    kept = {shape for shape, some in groups(own, shape_of).items() if len({row.n for row in some}) > 1}
    if len(kept) < 2:
        return []
    own = [row for row in own if shape_of(row) in kept]
    several = {name for name, some in groups(own, lambda row: row.name).items() if len({row.n for row in some}) > 1}
    return [row for row in own if row.name in several]


def shapes(rows: Sequence[Row], lab: str, stem: Path) -> bool:
    """Draws time against n, one panel per step, one line per launch shape. False if there is nothing to draw."""
    own = _shape_rows(rows, lab)
    if not own:
        return False
    steps = sorted(groups(own, step_of).items(), key=lambda item: item[0][0])
    with plot.panels(len(steps), 3.5, 3.2, least_width=TITLE) as (figure, all_axes):
        labels = [_draw_shapes(axes, some) for axes, (_, some) in zip(all_axes, steps)]
        figure.suptitle(
            "Time of one sort by launch shape (blocks \u00d7 threads per block)", x=0.01, ha="left", size=10.5
        )
        for axes, own_labels in zip(all_axes, labels):
            end_labels(axes, own_labels, gap=9.5, size=7.5)
        plot.save(figure, stem)
    return True


def _draw_shapes(axes: Any, rows: Sequence[Row]) -> list[Label]:
    """One step's lines; the shape that is fastest at the largest n has the step's colour."""
    number, name = step_of(rows[0])
    fastest = shape_of(min(rows, key=lambda row: (-row.n, milliseconds(row))))
    labels: list[Label] = []
    lines = groups(sorted(rows, key=lambda row: row.n), shape_of)
    for shape in sorted(lines, key=lambda shape: (shape[0] * shape[1], shape)):
        xs, ys = [row.n for row in lines[shape]], [milliseconds(row) for row in lines[shape]]
        is_fastest = shape == fastest
        axes.plot(
            xs,
            ys,
            color=plot.step_colour(number) if is_fastest else plot.GREY,
            marker="o",
            linewidth=1.8 if is_fastest else 1.2,
            zorder=3 if is_fastest else 2,
        )
        colour = plot.step_words(number) if is_fastest else plot.MUTED
        labels.append((xs[-1], ys[-1], f"{shape[0]} \u00d7 {shape[1]}", colour))
    plot.counts_axis(axes, {row.n for row in rows})
    plot.value_axis(axes, plot.time_text)
    axes.set_title(f"{number:02} {name}", color=plot.step_words(number))
    return labels


def value_range(rows: Sequence[Row], lab: str, stem: Path) -> bool:
    """Draws the speed of each step against the number of different values. False if there is nothing to draw."""
    own = ranged(rows, lab)
    if len({largest_value(row) for row in own}) < 2:
        return False
    n, kind = commonest([(row.n, row.type) for row in own])
    points = {
        step: sorted(((largest_value(row) or 0) + 1, speed(row)) for row in some)
        for step, some in groups((row for row in own if (row.n, row.type) == (n, kind)), step_of).items()
    }
    with plot.drawing(7.2, 3.8) as (figure, axes):
        labels: list[Label] = []
        for (number, name), line in points.items():
            axes.plot(*zip(*line), color=plot.step_colour(number), marker="o")
            labels.append((*line[-1], f"{number:02} {name}", plot.step_words(number)))
        plot.counts_axis(axes, {x for line in points.values() for x, _ in line}, "number of different values")
        plot.value_axis(axes, plot.rate_text)
        axes.set_title(f"Keys per second, {plot.count_text(n)} {kind} keys")
        end_labels(axes, labels)
        plot.save(figure, stem)
    return True


def _range_lines(rows: Sequence[Row]) -> dict[tuple[int, str], list[Row]]:
    """(largest value, type) -> a step's rows by n, where there are several n."""
    # Several ranges were swept over sizes that are not powers of two; one size was measured for all ranges.
    plain = {row.n for row in rows if not is_power(row.n)}
    lines = groups(
        sorted((row for row in rows if len(plain) < 2 or row.n in plain), key=lambda row: row.n),
        lambda row: (largest_value(row) or 0, row.type),
    )
    return {line: own for line, own in sorted(lines.items()) if len({row.n for row in own}) > 1}


def value_range_lines(rows: Sequence[Row], lab: str, stem: Path) -> bool:
    """Draws time against n, one panel per step, one line per value range. False if there is nothing to draw."""
    steps = {step: _range_lines(own) for step, own in groups(ranged(rows, lab), step_of).items()}
    steps = {step: lines for step, lines in sorted(steps.items()) if len(lines) > 1}
    if not steps:
        return False
    with plot.panels(len(steps), 4.2, 3.4, least_width=5.4) as (figure, all_axes):
        labels = [_draw_ranges(axes, step, lines) for axes, (step, lines) in zip(all_axes, steps.items())]
        for axes, own_labels in zip(all_axes, labels):
            end_labels(axes, own_labels, size=8.5)
        plot.save(figure, stem)
    return True


def _draw_ranges(axes: Any, step: tuple[int, str], lines: dict[tuple[int, str], list[Row]]) -> list[Label]:
    """One step's lines; the larger the range, the stronger the colour."""
    number, name = step
    labels: list[Label] = []
    for place, ((largest, _), own) in enumerate(lines.items(), 1):
        xs, ys = [row.n for row in own], [milliseconds(row) for row in own]
        axes.plot(xs, ys, color=plot.step_colour(number), marker="o", alpha=0.4 + 0.6 * place / len(lines))
        labels.append((xs[-1], ys[-1], f"0 to {largest:,}", plot.step_words(number)))
    plot.counts_axis(axes, {row.n for own in lines.values() for row in own})
    plot.value_axis(axes, plot.time_text)
    axes.set_title(f"{number:02} {name}: time of one sort, {next(iter(lines))[1]} keys")
    return labels

"""Launch shapes and value ranges: maps of the speed, and lines of time or speed, also of several machines."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..core.rows import Row
from . import plot
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

TITLE = 5.2  # inches that the title above several panels needs


def _maps(rows: Sequence[Row], lab: str) -> dict[tuple[int, str], list[Row]]:
    """Step -> its rows at the n with most shapes. A few shapes are not a map."""
    own = shaped(rows, lab)
    kept = {}
    for step, some in groups(own, step_of).items():
        shapes = max(groups(some, lambda row: row.n).values(), key=lambda group: (len(group), group[0].n))
        height, width = len({row.blocks for row in shapes}), len({row.threads for row in shapes})
        if height > 1 and len(shapes) >= height * width / 2:
            kept[step] = shapes
    return dict(sorted(kept.items()))


def shape_maps(rows: Sequence[Row], lab: str, stem: Path) -> bool:
    """Draws one map per step; the best shape is bold. False if there is nothing to draw."""
    maps = _maps(rows, lab)
    if not maps:
        return False
    everything = [row for own in maps.values() for row in own]
    blocks = sorted({row.blocks for row in everything})
    low, high = min(map(speed, everything)), max(map(speed, everything))
    with plot.panels(len(maps), 3.5, 3.3, stem, least_width=TITLE, extra_height=0.2) as (figure, all_axes):
        for axes, own in zip(all_axes, maps.values()):
            _draw_map(axes, own, blocks, low, high)
        figure.suptitle("Keys per second by launch shape; the best is bold", x=0.01, ha="left", size=10.5)
        best = (max(own, key=speed) for own in maps.values())
        figure.set_label(
            "A table of speeds per step, with a row per number of blocks and a column per number of threads per block. "
            "The best shapes: "
            + "; ".join(f"{row.label}, {row.blocks} \u00d7 {row.threads}, {plot.rate_text(speed(row))}" for row in best)
        )
    return True


def _draw_map(axes: Any, rows: Sequence[Row], blocks: Sequence[int], low: float, high: float) -> None:
    """One step's map; `low` and `high` are the limits of the colours, which all maps share."""
    from matplotlib.colors import LogNorm

    speeds = {shape_of(row): speed(row) for row in rows}
    threads = sorted({row.threads for row in rows})
    grid = [[speeds.get((b, t), float("nan")) for t in threads] for b in blocks]
    edges = ([i - 0.5 for i in range(len(own) + 1)] for own in (threads, blocks))
    axes.pcolormesh(*edges, grid, norm=LogNorm(low, high * 1.0001), cmap="cividis")
    best = max(speeds, key=lambda shape: speeds[shape])
    for y, b in enumerate(blocks):
        for x, t in enumerate(threads):
            value = speeds.get((b, t))
            if value is None:
                axes.text(x, y, "\u2013", ha="center", va="center", color=plot.MUTED, size=8)
                continue
            bright = high > low and LogNorm(low, high)(value) > 0.55
            axes.text(
                x,
                y,
                plot.rate_text(value).replace(" ", ""),
                ha="center",
                va="center",
                size=7.5,
                color="#010101" if bright else "#fefefe",  # as the cell, on every page
                weight="bold" if (b, t) == best else "normal",
            )
    axes.set_xticks(range(len(threads)), threads)
    axes.set_yticks(range(len(blocks)), blocks)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    first = rows[0]
    axes.set_title(f"{first.label}: {plot.count_text(first.n)} {first.type} keys", color=plot.step_words(first.step))
    axes.set_xlabel("threads per block")
    axes.set_ylabel("blocks")


COLOURS = tuple(plot.WORDS[number] for number in (1, 2, 3, 4))


def machine_shapes(steps: Sequence[Mapping[str, Sequence[Row]]], stem: Path) -> bool:
    """steps: for each, machine -> its rows for one n, one per launch shape. False: there is nothing to draw."""
    if not steps:
        return False
    names = list(dict.fromkeys(name for machines in steps for name in machines))
    with plot.panels(len(steps), 3.6, 3.0, stem, least_width=TITLE, extra_height=0.2) as (figure, all_axes):
        for axes, machines in zip(all_axes, steps):
            _draw_step(axes, machines, names)
        all_axes[0].legend(loc="upper left", frameon=False, fontsize=8, labelcolor="linecolor", handlelength=1)
        figure.suptitle(
            "Time of one sort by launch shape (blocks \u00d7 threads per block)", x=0.01, ha="left", size=10.5
        )
    return True


def _draw_step(axes: Any, machines: Mapping[str, Sequence[Row]], names: Sequence[str]) -> None:
    shapes = sorted(
        {shape_of(row) for rows in machines.values() for row in rows}, key=lambda shape: (shape[0] * shape[1], shape)
    )
    for name in names:  # in one order, so that the first panel's legend holds for all
        line = sorted((shapes.index(shape_of(row)), milliseconds(row)) for row in machines.get(name, ()))
        axes.plot(
            *zip(*line) if line else ([], []), color=COLOURS[names.index(name) % len(COLOURS)], marker="o", label=name
        )
    first = next(iter(machines.values()))[0]
    axes.set_xticks(range(len(shapes)), [f"{blocks} \u00d7 {threads}" for blocks, threads in shapes])
    axes.tick_params(axis="x", labelrotation=60, labelsize=7.5)
    plot.value_axis(axes, plot.time_text)
    low, high = axes.get_ylim()
    axes.set_ylim(low, high * (high / low) ** 0.2)  # room for the legend
    number, name = step_of(first)
    axes.set_title(f"{number:02} {name}: {plot.count_text(first.n)} {first.type} keys", color=plot.step_words(number))


MAX_SHAPES = 16  # more shapes at one n are a grid, which shapes_and_ranges.shape_maps() draws


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


def shape_lines(rows: Sequence[Row], lab: str, stem: Path) -> bool:
    """Draws time against n, one panel per step, one line per launch shape. False if there is nothing to draw."""
    own = _shape_rows(rows, lab)
    if not own:
        return False
    steps = sorted(groups(own, step_of).items(), key=lambda item: item[0][0])
    with plot.panels(len(steps), 3.5, 3.2, stem, least_width=TITLE) as (figure, all_axes):
        labels = [_draw_shapes(axes, some) for axes, (_, some) in zip(all_axes, steps)]
        figure.suptitle(
            "Time of one sort by launch shape (blocks \u00d7 threads per block)", x=0.01, ha="left", size=10.5
        )
        for axes, own_labels in zip(all_axes, labels):
            end_labels(axes, own_labels, gap=9.5, size=7.5)
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
            label=f"{shape[0]} \u00d7 {shape[1]}",
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
    with plot.drawing(7.2, 3.8, stem) as (_, axes):
        labels: list[Label] = []
        for (number, name), line in points.items():
            axes.plot(*zip(*line), color=plot.step_colour(number), marker="o", label=f"{number:02} {name}")
            labels.append((*line[-1], f"{number:02} {name}", plot.step_words(number)))
        plot.counts_axis(axes, {x for line in points.values() for x, _ in line}, "number of different values")
        plot.value_axis(axes, plot.rate_text)
        axes.set_title(f"Keys per second, {plot.count_text(n)} {kind} keys")
        end_labels(axes, labels)
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
    with plot.panels(len(steps), 4.2, 3.4, stem, least_width=5.4) as (_, all_axes):
        labels = [_draw_ranges(axes, step, lines) for axes, (step, lines) in zip(all_axes, steps.items())]
        for axes, own_labels in zip(all_axes, labels):
            end_labels(axes, own_labels, size=8.5)
    return True


def _draw_ranges(axes: Any, step: tuple[int, str], lines: dict[tuple[int, str], list[Row]]) -> list[Label]:
    """One step's lines; the larger the range, the wider the line."""
    number, name = step
    labels: list[Label] = []
    for place, ((largest, _), own) in enumerate(lines.items(), 1):
        xs, ys = [row.n for row in own], [milliseconds(row) for row in own]
        words, width = f"0 to {largest:,}", 0.8 + 1.6 * place / len(lines)
        axes.plot(xs, ys, color=plot.step_colour(number), marker="o", linewidth=width, label=words)
        labels.append((xs[-1], ys[-1], words, plot.step_words(number)))
    plot.counts_axis(axes, {row.n for own in lines.values() for row in own})
    plot.value_axis(axes, plot.time_text)
    axes.set_title(f"{number:02} {name}: time of one sort, {next(iter(lines))[1]} keys")
    return labels

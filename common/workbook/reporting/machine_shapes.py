"""Times by launch shape on several machines: a panel per step, a line per machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..core.rows import Row
from . import plot
from .labels import Label, end_labels
from .selection import milliseconds, shape_of, step_of

COLOURS = tuple(zip((plot.STEPS[number] for number in (1, 2, 3, 4)), (plot.WORDS[number] for number in (1, 2, 3, 4))))


def draw(steps: Sequence[Mapping[str, Sequence[Row]]], stem: Path) -> bool:
    """steps: for each, machine -> its rows for one n, one per launch shape. False: there is nothing to draw."""
    if not steps:
        return False
    names = list(dict.fromkeys(name for machines in steps for name in machines))
    with plot.panels(len(steps), 3.6, 3.0, least_width=5.2, extra_height=0.45) as (figure, all_axes):
        labels = [_draw_step(axes, machines, names) for axes, machines in zip(all_axes, steps)]
        figure.suptitle(
            "Time of one sort by launch shape (blocks \u00d7 threads per block)", x=0.01, ha="left", size=10.5
        )
        for axes, own in zip(all_axes, labels):
            end_labels(axes, own, gap=9.5, size=8)
        plot.save(figure, stem)
    return True


def _draw_step(axes: Any, machines: Mapping[str, Sequence[Row]], names: Sequence[str]) -> list[Label]:
    shapes = sorted(
        {shape_of(row) for rows in machines.values() for row in rows}, key=lambda shape: (shape[0] * shape[1], shape)
    )
    labels: list[Label] = []
    for name, rows in machines.items():
        colour, words = COLOURS[names.index(name) % len(COLOURS)]
        line = sorted((shapes.index(shape_of(row)), milliseconds(row)) for row in rows)
        axes.plot(*zip(*line), color=colour, marker="o")
        labels.append((*line[-1], name, words))
    first = next(iter(machines.values()))[0]
    axes.set_xticks(range(len(shapes)), [f"{blocks} \u00d7 {threads}" for blocks, threads in shapes])
    axes.tick_params(axis="x", labelrotation=60, labelsize=7.5)
    plot.value_axis(axes, plot.time_text)
    number, name = step_of(first)
    axes.set_title(f"{number:02} {name}: {plot.count_text(first.n)} {first.type} keys", color=plot.step_words(number))
    return labels

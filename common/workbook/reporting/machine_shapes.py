"""Times by launch shape on several machines: a panel per step, a line per machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..core.rows import Row
from . import plot
from .selection import milliseconds, shape_of, step_of

COLOURS = tuple(plot.WORDS[number] for number in (1, 2, 3, 4))


def draw(steps: Sequence[Mapping[str, Sequence[Row]]], stem: Path) -> bool:
    """steps: for each, machine -> its rows for one n, one per launch shape. False: there is nothing to draw."""
    if not steps:
        return False
    names = list(dict.fromkeys(name for machines in steps for name in machines))
    with plot.panels(len(steps), 3.6, 3.0, least_width=5.2, extra_height=0.2) as (figure, all_axes):
        for axes, machines in zip(all_axes, steps):
            _draw_step(axes, machines, names)
        all_axes[0].legend(loc="upper left", frameon=False, fontsize=8, labelcolor="linecolor", handlelength=1)
        figure.suptitle(
            "Time of one sort by launch shape (blocks \u00d7 threads per block)", x=0.01, ha="left", size=10.5
        )
        plot.save(figure, stem)
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

"""Bars: how the time of each step divides among its kernels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..core.rows import COPIES, Row, verified
from . import plot
from .selection import groups, milliseconds, shape_of, step_of


def kernels(rows: Sequence[Row], lab: str, stem: Path) -> bool:
    """Draws one bar per step, divided into its kernels, at the largest n. False if there is nothing to draw."""
    parts = [
        row
        for row in verified(rows)
        if row.lab == lab
        and row.task == "sort"
        and row.kernel not in ("", *COPIES)
        and shape_of(row) == (0, 0)
        and row.input == "uniform"
    ]
    if not parts:
        return False
    steps = dict(sorted(groups(parts, step_of).items()))
    with plot.drawing(7.2, 1.1 + 0.68 * len(steps)) as (figure, axes):
        axes.set_title("Share of each kernel in the time of a step")
        for line, own in enumerate(steps.values()):
            largest = max(row.n for row in own)
            _draw_bar(axes, line, [row for row in own if row.n == largest])
        axes.set_yticks(range(len(steps)), [f"{number:02} {name}" for number, name in steps])
        for text, (number, _) in zip(axes.get_yticklabels(), steps):
            text.set_color(plot.step_words(number))
        axes.set_ylim(len(steps) - 0.4, -0.4)
        axes.set_xlim(0, 100)
        axes.set_xlabel("percent of the time of all kernels of the step")
        axes.spines[:].set_visible(False)
        plot.save(figure, stem)
    return True


def _draw_bar(axes: Any, line: int, rows: Sequence[Row]) -> None:
    """One step's bar. Kernels whose part is too narrow for their name are named below it."""
    number = rows[0].step
    total = sum(map(milliseconds, rows)) or 1
    left, narrow = 0.0, []
    for place, row in enumerate(rows):
        share = 100 * milliseconds(row) / total
        axes.barh(
            line,
            share,
            left=left,
            height=0.58,
            color=plot.step_colour(number),
            alpha=1 if place % 2 == 0 else 0.72,
            edgecolor=plot.PAPER,
            linewidth=1,
        )
        words = f"{row.kernel} {share:.0f} %"
        if share <= len(words) * 1.5:
            narrow.append(words)
        else:
            axes.text(
                left + share / 2,
                line,
                words,
                ha="center",
                va="center",
                size=8,
                color="#000000" if number % 6 in (0, 4, 5) else plot.PAPER,
            )
        left += share
    if narrow:
        axes.text(0, line + 0.34, "narrow: " + ", ".join(narrow), va="top", size=7.5, color=plot.MUTED)
    axes.annotate(
        f"{plot.time_text(total)}, {plot.count_text(rows[0].n)} keys",
        (100, line),
        xytext=(8, 0),
        textcoords="offset points",
        va="center",
        size=8.5,
        color=plot.MUTED,
        annotation_clip=False,
    )

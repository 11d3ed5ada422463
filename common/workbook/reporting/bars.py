"""Bars and dots: how the time of each step divides among its kernels; its speed by input or by type of key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..core.rows import COPIES, Row, verified
from . import plot
from .selection import BYTES, by_entropy, entropy, groups, measured, milliseconds, shape_of, speed, step_of


def of_several_kernels(rows: Sequence[Row], lab: str) -> dict[tuple[int, str], list[Row]]:
    """The kernels of each step that has more than one: a share of the time says nothing about a single one."""
    parts = [
        row
        for row in verified(rows)
        if row.lab == lab
        and row.task == "sort"
        and row.kernel not in ("", *COPIES)
        and shape_of(row) == (0, 0)
        and row.input == "uniform"
    ]
    steps = sorted(groups(parts, step_of).items())
    return {step: own for step, own in steps if len({row.kernel for row in own}) > 1}


def kernels(rows: Sequence[Row], lab: str, stem: Path) -> bool:
    """Draws one bar per step of several kernels, divided into them, at the largest n. False if there is nothing to
    draw."""
    steps = of_several_kernels(rows, lab)
    if not steps:
        return False
    with plot.drawing(7.2, 1.1 + 0.68 * len(steps), stem) as (figure, axes):
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
        figure.set_label(
            "A bar for each step, divided into its kernels. "
            + " ".join(f"{number:02} {name}: {_shares(own)}." for (number, name), own in steps.items())
        )
    return True


def _shares(rows: Sequence[Row]) -> str:
    """The kernels of a step at the largest n, each with its share of their time."""
    largest = [row for row in rows if row.n == max(row.n for row in rows)]
    total = sum(map(milliseconds, largest)) or 1
    return ", ".join(f"{row.kernel} {100 * milliseconds(row) / total:.0f} %" for row in largest)


def _draw_bar(axes: Any, line: int, rows: Sequence[Row]) -> None:
    """One step's bar. Kernels whose part is too narrow for their name are named below it."""
    number = rows[0].step
    total = sum(map(milliseconds, rows)) or 1
    left, narrow = 0.0, []
    for row in rows:
        share = 100 * milliseconds(row) / total
        axes.barh(
            line,
            share,
            left=left,
            height=0.58,
            color=plot.step_fill(number),
            edgecolor=plot.step_colour(number),
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
                color=plot.INK,
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


def inputs(rows: Sequence[Row], lab: str, stem: Path) -> bool:
    """Draws the speed of each step on each distribution. False if there is nothing to draw."""
    own = [
        row for row in measured(rows) if shape_of(row) == (0, 0) and row.order == "ascending" and ":" not in row.input
    ]
    sweeps = groups((row for row in own if row.lab == lab), lambda row: (row.n, row.type))
    if not sweeps:
        return False
    n, kind = max(sweeps, key=lambda key: (len({row.input for row in sweeps[key]}), key[0]))

    def words(name: str) -> str:
        bits = entropy(name, kind)
        return name if bits is None else f"{name}, {bits:.3g} bit{'' if bits == 1 else 's'}"

    return _dots(
        by_entropy(row for row in sweeps[n, kind] if row.task == "sort"),
        stem,
        lambda row: row.input,
        f"Speed by input, {plot.count_text(n)} {kind} keys (bits: entropy per key)",
        words,
    )


def types(rows: Sequence[Row], lab: str, stem: Path) -> bool:
    """Draws the speed of each step on each type of key, of rows with one n. False if there is nothing to draw."""
    own = [row for row in rows if row.lab == lab and row.task == "sort"]
    if not own:
        return False
    own.sort(key=lambda row: list(BYTES).index(row.type))
    return _dots(own, stem, lambda row: row.type, f"Speed by type of key, {plot.count_text(own[0].n)} keys")


def _dots(
    rows: Sequence[Row], stem: Path, value_of: Callable[[Row], str], title: str, words: Callable[[str], str] = str
) -> bool:
    """A row per value, a dot per step."""
    values = groups(rows, value_of)
    if len(values) < 2:
        return False
    everything = [speed(row) for row in rows]
    near = max(2, max(everything) / min(everything)) ** 0.025  # the ratio of speeds below which dots overlap
    with plot.drawing(7.2, 1.35 + 0.3 * len(values), stem) as (figure, axes):
        for line, own in enumerate(values.values()):
            _draw_row(axes, line, sorted(own, key=speed), near)
        axes.set_yticks(range(len(values)), map(words, values))
        axes.tick_params(axis="y", labelcolor=plot.INK)
        axes.set_ylim(len(values) - 0.5, -0.6)
        axes.set_xscale("log")
        low, high = axes.get_xlim()
        if high / low < 2:  # differences of a few percent must not look large
            axes.set_xlim((low * high / 2) ** 0.5, (low * high * 2) ** 0.5)
        plot.value_axis(axes, plot.rate_text, "x")
        axes.set_xlabel("keys per second")
        axes.spines["left"].set_visible(False)
        axes.set_title(title, pad=20)
        _names_above(figure, axes, sorted({step_of(row) for row in rows}))
        figure.set_label(
            "A row per value, a dot per step, on a logarithmic scale. "
            + " ".join(
                f"{words(value)}: {', '.join(f'{row.label} {plot.rate_text(speed(row))}' for row in own)}."
                for value, own in values.items()
            )
        )
    return True


def _draw_row(axes: Any, line: int, rows: Sequence[Row], near: float) -> None:
    """The dots of one row; `rows` from the slowest to the fastest. Dots that would overlap are moved up and down."""
    axes.plot([speed(rows[0]), speed(rows[-1])], [line, line], color=plot.FAINT, linewidth=2, zorder=1)
    crowds: list[list[Row]] = []
    for row in rows:
        if crowds and speed(row) < near * speed(crowds[-1][-1]):
            crowds[-1].append(row)
        else:
            crowds.append([row])
    for crowd in crowds:
        for place, row in enumerate(sorted(crowd, key=lambda row: row.step)):
            axes.plot(
                speed(row),
                line + 0.17 * (place - (len(crowd) - 1) / 2),
                "o",
                color=plot.step_colour(row.step),
                markersize=7,
                zorder=3,
                markeredgecolor=plot.PAPER,
                markeredgewidth=0.7,
            )


def _names_above(figure: Any, axes: Any, steps: Sequence[tuple[int, str]]) -> None:
    """The steps' names in their colours, in one line above the axes."""
    figure.canvas.draw()
    width = axes.get_window_extent().width
    x = 0.0
    for number, name in steps:
        axes.plot(
            x + 0.008, 1.0, "o", color=plot.step_colour(number), markersize=6, transform=axes.transAxes, clip_on=False
        )
        text = axes.annotate(
            f"{number:02} {name}",
            (x, 1.0),
            xycoords="axes fraction",
            xytext=(10, 0),
            textcoords="offset points",
            color=plot.step_words(number),
            size=9,
            va="center",
        )
        x += (text.get_window_extent().width + 26) / width

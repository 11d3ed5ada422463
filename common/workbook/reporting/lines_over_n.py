"""Lines over n: every step next to the gold standard and the memory's bandwidth, and machine next to machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.rows import Row, best_gold
from . import plot
from .labels import Label, end_labels
from .selection import (
    by_line,
    commonest,
    gold_name,
    golds_of,
    is_power,
    milliseconds,
    powers,
    roof_keys,
    speed,
    usual,
)

DASHED, DOTTED = (0, (4, 2)), (0, (1, 1.4))


def _draw_over_n(
    axes: Any, rows: Sequence[Row], lab: str, value: Callable[[Row], float], text: Callable[[float], str]
) -> list[Label]:
    """Draws lines over n; returns the labels for their ends."""
    rows = powers(usual(rows))
    lines = {line: own for line, own in by_line(rows, lab).items() if line[1] == "sort"}
    # A step that sorts keys of another type than the rest has a line, but no gold standard and no memory bandwidth.
    main = commonest([row.type for own in lines.values() for row in own]) if lines else ""
    alike = {line: own for line, own in lines.items() if own[0].type == main}
    labels: list[Label] = []
    counts: set[int] = set()

    def draw(own: Sequence[Row], name: str, colour: str, words: str, **style: Any) -> None:
        xs, ys = [row.n for row in own], [value(row) for row in own]
        axes.plot(xs, ys, color=colour, label=name, **style)
        labels.append((xs[-1], ys[-1], name, words))
        counts.update(xs if own[0].type == main else [])

    for tile, own in golds_of(rows, alike).items():
        style = DOTTED if tile else DASHED
        draw(
            own, "gold standard" + ", tiles" * bool(tile), plot.INK, plot.INK, linestyle=style, linewidth=1.3, zorder=2
        )
    for (number, _, _), own in lines.items():
        name = own[0].label + ("" if own[0].type == main else f", {own[0].type}")
        draw(own, name, plot.step_colour(number), plot.step_words(number), marker="o", zorder=3)
    longest = max(alike.values(), key=len, default=[])
    roofs = [roof for roof in map(roof_keys, longest) if roof]
    if roofs:
        xs = sorted(counts)
        ys = [roofs[-1] if value is speed else n / roofs[-1] * 1e3 for n in xs]
        drawn = [y for line in axes.lines for y in line.get_ydata()]
        axes.plot(xs, ys, color=plot.MUTED, linewidth=0.9, zorder=1, label="memory bandwidth")
        labels.append((xs[-1], ys[-1], "memory bandwidth", plot.MUTED))
        if value is milliseconds:  # for few keys, bandwidth would allow far less than any measured time
            axes.set_ylim(min(*drawn, ys[-1]) / 2, max(*drawn, ys[-1]) * 2)
    if counts:
        plot.counts_axis(axes, counts)
        plot.value_axis(axes, text)
    return labels


def speed_over_n(rows: Sequence[Row], lab: str, stem: Path) -> bool:
    """Draws keys per second against n: all steps, the gold standard, the memory bandwidth. False: nothing to draw."""
    return _over_n(rows, lab, stem, speed, plot.rate_text, "Keys per second")


def time_over_n(rows: Sequence[Row], lab: str, stem: Path) -> bool:
    """Draws the time against n in the same way."""
    return _over_n(rows, lab, stem, milliseconds, plot.time_text, "Time of one sort")


def _over_n(
    rows: Sequence[Row],
    lab: str,
    stem: Path,
    value: Callable[[Row], float],
    text: Callable[[float], str],
    title: str,
) -> bool:
    with plot.drawing(7.2, 4.3) as (figure, axes):
        labels = _draw_over_n(axes, rows, lab, value, text)
        if not labels:
            return False
        axes.set_title(title)
        end_labels(axes, labels)
        plot.save(figure, stem)
    return True


def parts_over_n(rows: Sequence[Row], lab: str, stem: Path) -> bool:
    """Draws the parts of steps that do not sort (reduce, histogram, scan), each next to its gold standard."""
    rows = powers(usual(rows))
    lines = {line: own for line, own in by_line(rows, lab).items() if line[1] != "sort"}
    tasks = list(dict.fromkeys(task for _, task, _ in lines))
    if not tasks:
        return False
    with plot.panels(len(tasks), 3.6, 3.4, stem) as (_, all_axes):
        labels = [
            _draw_part(axes, rows, task, [own for line, own in lines.items() if line[1] == task])
            for axes, task in zip(all_axes, tasks)
        ]
        for axes, own_labels in zip(all_axes, labels):
            end_labels(axes, own_labels, size=8)
    return True


def _draw_part(axes: Any, rows: Sequence[Row], task: str, lines: Sequence[Sequence[Row]]) -> list[Label]:
    """The lines of one task, and the gold standard of the first of them that has one."""
    labels: list[Label] = []
    counts: set[int] = set()
    gold_drawn = False
    for own in lines:
        number, xs = own[0].step, [row.n for row in own]
        axes.plot(xs, [speed(row) for row in own], color=plot.step_colour(number), marker="o", zorder=3)
        labels.append((xs[-1], speed(own[-1]), f"{number:02} {own[0].name}", plot.step_words(number)))
        counts.update(xs)
        golds = [gold for gold in (best_gold(rows, row) for row in own) if gold]
        if golds and not gold_drawn:
            gold_drawn = True
            places = [gold.n for gold in golds], [speed(gold) for gold in golds]
            axes.plot(*places, color=plot.INK, linestyle=DASHED, linewidth=1.3, zorder=2)
            labels.append((golds[-1].n, speed(golds[-1]), gold_name(golds[-1].name, golds[-1].build), plot.INK))
    plot.counts_axis(axes, counts, f"{lines[0][0].type} values")
    plot.value_axis(axes, plot.rate_text)
    axes.set_title(f"{task.capitalize()}: values per second")
    return labels


def all_labs(rows_of: Mapping[str, Sequence[Row]], stem: Path, formats: Iterable[str] = ("svg",)) -> bool:
    """Draws one panel per lab: the speed of every step over n, the gold standard, the memory bandwidth."""
    with plot.panels(len(rows_of), 3.5, 3.0, stem, formats, columns=2) as (_, all_axes):
        labels = []
        for axes, (lab, rows) in zip(all_axes, rows_of.items()):
            labels.append(_draw_over_n(axes, rows, lab, speed, plot.rate_text))
            axes.set_title(f"{lab.split('-', 1)[1].capitalize()}: keys per second")
        for axes, own_labels in zip(all_axes, labels):
            end_labels(axes, own_labels, gap=10, size=8)
    return True


@dataclass
class Series:
    """A line over n of one machine or program."""

    name: str
    step: int | None  # None: a gold standard
    style: int  # 0 solid, 1 dashed, 2 dotted, and again from 0
    points: list[tuple[int, float]]  # n, keys per second


def machines(series: Iterable[Series], stem: Path, title: str, formats: Iterable[str] = plot.FORMATS) -> bool:
    """Draws lines over n from several machines or programs. False: there are fewer than two."""
    drawn = [line for line in series if line.points]
    if len(drawn) < 2:
        return False
    with plot.drawing(7.2, 4.2, stem, formats) as (_, axes):
        labels: list[Label] = []
        counts: set[int] = set()
        for line in drawn:
            axes.plot(
                *zip(*line.points),
                color=plot.INK if line.step is None else plot.step_colour(line.step),
                label=line.name,
                marker="o",
                markersize=3,
                linewidth=1.5,
                linestyle=("-", DASHED, DOTTED)[line.style % 3],
            )
            words = plot.INK if line.step is None else plot.step_words(line.step)
            labels.append((*line.points[-1], line.name, words))
            counts.update(n for n, _ in line.points)
        plot.counts_axis(axes, {n for n in counts if is_power(n)} or counts)
        plot.value_axis(axes, plot.rate_text)
        axes.set_title(title)
        end_labels(axes, labels, size=8.5)
    return True

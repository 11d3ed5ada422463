"""What each step of a lab gains: its share of the gold standard's speed and of the memory's bandwidth, and its factor
over the step before. As charts, and as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core import course
from ..core.console import grouped
from ..core.rows import SAME_WORK, Row, best_gold, share_of_gold, work
from ..pictures import theme
from . import plot
from .selection import by_line, commonest, gold_name, speed, usual
from .tables import count, number, pipe

LARGEST = 1 << 28  # steps are compared at that many keys, or at the most below it that a step was timed with
# What a number is, where it is not simply the speed of a step that students write.
REMARKS = {("05-radix", "record"): "mostly given code", ("06-beyond-memory", "many_gpus"): "one GPU plays many"}
KEYS = {"u8": "8-bit keys", "u16": "16-bit keys", "u64": "64-bit keys"}  # others have 32 bits


@dataclass(frozen=True)
class Compared:
    """What charts and tables show of a step that sorts."""

    row: Row
    gold: Row | None  # the fastest gold standard or peer for the same keys
    share: float | None  # percent of its speed
    factor: float | None  # the speed as a multiple of that of the step before that does the same work
    common_n: int  # the largest n that both were timed with
    idea: str
    is_record: bool
    remark: str  # what the speed is, if it is not simply that of a step

    @property
    def name(self) -> str:
        """The number and name, and what the step sorts if that is not what its lab sorts."""
        return self.row.label + ", pairs" * (self.row.type == "pairs")

    @property
    def whole(self) -> bool:
        """Whether the step sorts whole arrays, not tiles or segments."""
        return not self.row.tile and self.row.task == "sort"


def compared(rows: Sequence[Row], lab: str) -> list[Compared]:
    """The steps of a lab that sort whole arrays, tiles or segments, on the usual keys of each."""
    found = []
    ideas, records = course.ideas(lab), [step.name for step in course.records(lab)]
    before: dict[tuple[object, ...], dict[int, Row]] = {}
    for (_, task, name), own in by_line(usual(rows), lab).items():
        by_n = {row.n: row for row in own if row.n <= LARGEST}
        if by_n and task.startswith(("sort", "segments")):
            row = by_n[max((n for n in by_n if best_gold(rows, by_n[n])), default=max(by_n))]
            gold = best_gold(rows, row)
            last = before.get(work(row, SAME_WORK), {})
            n = max(last.keys() & by_n.keys(), default=0)
            factor = speed(by_n[n]) / speed(last[n]) if n else None
            share = None if (ratio := share_of_gold(row, gold)) is None else 100 * ratio
            words = ideas.get(name, ""), name in records, REMARKS.get((lab, name), "")
            found.append(Compared(row, gold, share, factor, n, *words))
            before[work(row, SAME_WORK)] = by_n
    return found


def table(steps: Iterable[Compared]) -> str:
    """All that the charts show, one line per step."""
    headings = ["lab", "step", "idea", "type", "n", "keys per second", "% of the gold standard", "gold standard"]
    headings += ["times the step before", "% of a copy's bandwidth", "remark"]
    lines = [
        [
            step.row.lab,
            f"**{step.row.label}**" if step.is_record else step.row.label,
            step.idea,
            step.row.type,
            count(step.row.n),
            plot.rate_text(speed(step.row)),
            number(step.share),
            gold_name(step.gold.name, step.gold.build) if step.gold else "",
            f"{number(step.factor)} at {count(step.common_n)}" if step.factor else "",
            number(step.row.percent_of_roof),
            step.remark,
        ]
        for step in steps
    ]
    return pipe(headings, lines, left=4)


# --- charts: a row per step, below the name of its lab ---


def gold_chart(steps: Sequence[Compared], stem: Path, formats: Iterable[str] = plot.FORMATS) -> bool:
    """Draws percent of the fastest gold standard; tiles and segments apart, on a scale of their own."""
    parts = [[step for step in steps if step.whole == whole and step.share] for whole in (True, False)]
    title = "Speed in percent of the fastest gold standard: {} keys"
    return _bars(parts, lambda step: step.share or 0, title, "as fast", stem, formats)


def bandwidth_chart(steps: Sequence[Compared], stem: Path, formats: Iterable[str] = plot.FORMATS) -> bool:
    """Draws percent of the bandwidth of a copy."""
    parts = [[step for step in steps if step.row.percent_of_roof]]
    title = "Each key read and written once, in percent of the bandwidth of a copy: {} keys"
    return _bars(parts, lambda step: step.row.percent_of_roof or 0, title, "a copy", stem, formats)


def _bars(
    parts: Sequence[Sequence[Compared]],
    value: Callable[[Compared], float],
    title: str,
    hundred: str,
    stem: Path,
    formats: Iterable[str],
) -> bool:
    """A bar for each step, and a line at 100 percent. False: there are no steps."""
    parts = [part for part in parts if part]
    if not parts:
        return False
    words = ["A bar for each step, and a line at 100 percent"]
    with _axes(parts, title, stem, formats) as (figure, grid, usual_n):
        for axes, own in zip(grid.flat, parts):
            if len(parts) > 1:
                axes.set_title("Whole arrays" if own[0].whole else "Tiles and segments")
            longest = max(map(value, own))
            for y, step in _rows(axes, own, 152):
                length = value(step)
                at = f"at {plot.count_text(step.row.n)}" if step.row.n != usual_n else ""
                beside = ", ".join(filter(None, (at, step.remark)))
                axes.barh(y, length, height=0.66, color=theme.BLUE if step.is_record else theme.BLUE_PALE)
                plot.write(axes, 0, y, f"{grouped(length)} %", -6, ha="right")
                plot.write(axes, max(length, 100) if longest > 100 else length, y, beside, 5)
                words.append(f"{step.row.lab} {step.name}: {grouped(length)} %" + f" ({beside})" * bool(beside))
            axes.axvline(100, color=plot.INK, linewidth=1, linestyle=(0, (4, 2)))
            plot.write(axes, 100, 0, hundred, 5)
            axes.set_xlim(0, max(1.08 * longest, 115))
        figure.set_label("; ".join(words))
    return True


def staircases(steps: Sequence[Compared], stem: Path, formats: Iterable[str] = plot.FORMATS) -> bool:
    """Draws each step's factor as a bar that begins where that of the step before ends. False: there is no factor."""
    if not any(step.factor for step in steps):
        return False
    words = ["A bar for each step, which begins where that of the step before ends"]
    title = "Speed as a multiple of the step before: {} keys (from line to line: 10 times as fast)"
    with _axes([steps], title, stem, formats) as (figure, grid, usual_n):
        axes = grid[0, 0]
        axes.set_xscale("log")
        top: dict[str, float] = {}  # lab -> the product of the factors so far
        for y, step in _rows(axes, steps, 300):
            is_first, begin = step.row.lab not in top, top.get(step.row.lab, 1.0)
            end = top[step.row.lab] = begin * (step.factor or 1)
            factor = f"\u00d7 {grouped(step.factor)}" if step.factor else ""
            if step.factor and step.common_n != usual_n:
                factor += f" at {plot.count_text(step.common_n)}"
            riser = y - (0.33 if is_first else 0.67), y + (-0.33 if step.factor else 0.33)
            axes.plot([begin, begin], riser, color=plot.INK, linewidth=1)
            if step.factor:
                axes.barh(y, end - begin, left=begin, height=0.66, color=theme.BLUE if end > begin else theme.ORANGE)
            plot.write(axes, 0, y, step.idea, -200)
            plot.write(axes, max(begin, end), y, factor, 5)
            words.append(f"{step.row.lab} {step.name}: {', '.join(filter(None, (factor, step.idea)))}")
        axes.set_xlim(min(1, *top.values()) / 2, 8 * max(top.values()))
        axes.tick_params(labelbottom=False)
        figure.set_label("; ".join(words))
    return True


@contextmanager
def _axes(
    parts: Sequence[Sequence[Compared]], title: str, stem: Path, formats: Iterable[str]
) -> Iterator[tuple[Any, Any, int]]:
    """A figure with axes for each part, one below the other, as high as their rows; and the n of most steps."""
    rows = [len(own) + len({step.row.lab for step in own}) for own in parts]
    usual_n = commonest([step.row.n for own in parts for step in own])
    options = {"nrows": len(parts), "squeeze": False, "gridspec_kw": {"height_ratios": rows}}
    with plot.drawing(7.2, 0.25 + 0.185 * sum(rows) + 0.45 * len(parts), stem, formats, **options) as (figure, grid):
        plot.entitle(figure, title.format(plot.count_text(usual_n)))
        yield figure, grid, usual_n


def _rows(axes: Any, steps: Sequence[Compared], left: float) -> Iterator[tuple[float, Compared]]:
    """The height of each step's row. Writes the names of labs and steps, `left` points left of the axes."""
    axes.set_ylim(len(steps) + len({step.row.lab for step in steps}) - 0.5, -0.5)
    plot.bare(axes)
    y, lab = -1, ""
    for step in steps:
        if step.row.lab != lab:
            y, lab = y + 1, step.row.lab
            facts = KEYS.get(step.row.type), "keys in host memory, with the copies" * bool(step.row.memory)
            plot.write(axes, 0, y, ", ".join(filter(None, (lab, *facts))), -left, weight="bold")
        y += 1
        plot.write(axes, 0, y, step.name, 8 - left, weight="bold" if step.is_record else "normal")
        yield y, step

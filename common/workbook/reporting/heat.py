"""Heat maps: the speed of each step over blocks and threads of its launches."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..core.rows import Row
from . import plot
from .selection import groups, label, shape_of, shaped, speed, step_of

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


def shapes(rows: Sequence[Row], lab: str, stem: Path) -> bool:
    """Draws one map per step; the best shape is bold. False if there is nothing to draw."""
    maps = _maps(rows, lab)
    if not maps:
        return False
    everything = [row for own in maps.values() for row in own]
    blocks = sorted({row.blocks for row in everything})
    low, high = min(map(speed, everything)), max(map(speed, everything))
    with plot.panels(len(maps), 3.5, 3.3, least_width=TITLE, extra_height=0.2) as (figure, all_axes):
        for axes, own in zip(all_axes, maps.values()):
            _draw_map(axes, own, blocks, low, high)
        figure.suptitle("Keys per second by launch shape; the best is bold", x=0.01, ha="left", size=10.5)
        plot.save(figure, stem)
    return True


def _draw_map(axes: Any, rows: Sequence[Row], blocks: Sequence[int], low: float, high: float) -> None:
    """One step's map; `low` and `high` are the limits of the colours, which all maps share."""
    from matplotlib.colors import LogNorm

    speeds = {shape_of(row): speed(row) for row in rows}
    threads = sorted({row.threads for row in rows})
    grid = [[speeds.get((b, t), float("nan")) for t in threads] for b in blocks]
    axes.imshow(grid, norm=LogNorm(low, high * 1.0001), cmap="cividis", aspect="auto", origin="lower")
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
                color="#000000" if bright else "#FFFFFF",
                weight="bold" if (b, t) == best else "normal",
            )
    axes.set_xticks(range(len(threads)), threads)
    axes.set_yticks(range(len(blocks)), blocks)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    first = rows[0]
    axes.set_title(f"{label(first)}: {plot.count_text(first.n)} {first.type} keys", color=plot.step_words(first.step))
    axes.set_xlabel("threads per block")
    axes.set_ylabel("blocks")

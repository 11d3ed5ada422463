"""A timeline: a row per stream, a bar for each copy and for each group of kernels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ..core.judge_types import TimelineSpan
from ..core.timelines import COPY_IN, COPY_OUT, KERNEL, Recorded, kind_of, shares, waits
from ..pictures import theme
from . import plot

LOOKS = {  # colours, hatch (for those who cannot tell the colours apart), and the words of the legend
    COPY_IN: (theme.BLUE, theme.BLUE_FILL, "", "copy in"),
    KERNEL: (theme.ORANGE, theme.ORANGE_FILL, "//", "kernels"),
    COPY_OUT: (theme.TEAL, theme.TEAL_FILL, r"\\", "copy out"),
}
LEGEND = 0.3  # inches at the bottom
GAP = 0.004  # of the whole time: kernels of a stream are drawn as one bar if less is between them
Bar = tuple[float, float]  # begin and width, in milliseconds


def bars_of(spans: Sequence[TimelineSpan], whole_ms: float) -> dict[tuple[int, str], list[Bar]]:
    """(stream, kind) -> bars, in order; kernels that follow each other closely are one."""
    found: dict[tuple[int, str], list[Bar]] = {}
    last: dict[int, str] = {}
    for span, until in sorted(waits(spans), key=lambda item: item[0].begin_ms):
        kind = kind_of(span)
        begin = span.begin_ms if until is None else until
        own = found.setdefault((span.stream, kind), [])
        if kind == KERNEL == last.get(span.stream) and begin - sum(own[-1]) < GAP * whole_ms:
            own[-1] = (own[-1][0], span.end_ms - own[-1][0])
        else:
            own.append((begin, span.end_ms - begin))
        last[span.stream] = kind
    return found


def draw(recorded: Recorded, stem: Path, formats: Iterable[str] = plot.FORMATS) -> bool:
    """Draws the timeline. Always True: there is something to draw."""
    spans = recorded.timeline.spans
    found = shares(spans)
    streams = max(span.stream for span in spans) + 1
    height = 1.3 + 0.4 * streams
    with plot.drawing(7.2, height, stem, formats) as (figure, axes):
        axes.set_title(recorded.title(plot.count_text(recorded.n)))
        for span, until in waits(spans):
            if until is not None:
                axes.plot([span.begin_ms, until], [span.stream] * 2, color=plot.GREY, linewidth=1, zorder=1)
        for (stream, kind), bars in bars_of(spans, found.whole_ms).items():
            colour, fill, hatch, _ = LOOKS[kind]
            place = (stream - 0.32, 0.64)
            axes.broken_barh(bars, place, facecolor=fill, edgecolor=colour, lw=0.8, hatch=hatch)
        axes.set_yticks(range(streams), [f"stream {stream}" for stream in range(streams)])
        axes.set_ylim(streams - 0.5, -0.5)
        axes.set_xlim(left=0)
        axes.set_xlabel(f"ms since the step was called; the whole step took {plot.time_text(recorded.step_ms)}")
        axes.grid(axis="x")
        figure.get_layout_engine().set(rect=(0, LEGEND / height, 1, 1 - LEGEND / height))
        _legend(figure, found.of, found.overlap)
        of_time = ", ".join(f"{words} {found.of[kind]:.0f} %" for kind, (*_, words) in LOOKS.items())
        figure.set_label(
            f"A row for each of {streams} streams, with a bar for each copy and each group of kernels. Share of the "
            f"time from the first to the last, {plot.time_text(found.whole_ms)}: {of_time}; two or more at once "
            f"{found.overlap:.0f} %. Lines show where a copy waits for the bus."
        )
    return True


def _legend(figure: Any, share_of: dict[str, float], overlap: float) -> None:
    """What the bars mean, and the share of the time of each."""
    from matplotlib import lines, patches

    looks = [
        patches.Patch(facecolor=fill, hatch=hatch, edgecolor=colour, lw=0.8, label=f"{words} {share_of[kind]:.0f} %")
        for kind, (colour, fill, hatch, words) in LOOKS.items()
    ]
    waiting = lines.Line2D([], [], color=plot.GREY, lw=1, label="waits for the bus")
    nothing = lines.Line2D([], [], linestyle="none", label=f"two or more at once {overlap:.0f} %")
    figure.legend(
        handles=[*looks, waiting, nothing], loc="lower center", ncol=5, frameon=False, fontsize=8, columnspacing=1.2
    )

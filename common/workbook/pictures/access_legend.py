"""The legend of an access picture."""

from __future__ import annotations

from .access_layout import LEFT, counts
from .access_painter import warps_of
from .accesses import Panel
from .svg import BLUE, BLUE_PALE, INK, MUTED, ORANGE, ORANGE_PALE, OTHER_WARP, PAPER, RED, WARPS, Drawing


def draw_legend(svg: Drawing, panels: list[Panel], y: float) -> float:
    """Explains the marks that occur; returns the x where the legend ends."""
    marks = [m for p in panels for own in p.marks.values() for m in own]
    accesses = [a for m in marks for a in m.accesses]
    x: float = LEFT
    arrows = [m for m in marks if m.kind == "exchange" and not m.tied and not m.wrong]

    def words(text: str, colour: str = MUTED) -> None:
        nonlocal x
        svg.text(x, y + 4, text, 11.5, colour, "start")
        x += 22 + 6.1 * len(text)

    for colour, down, swapped, text in (
        (BLUE, True, True, "swapped"),
        (BLUE_PALE, True, False, "already in order"),
        (ORANGE, False, True, "swapped"),
        (ORANGE_PALE, False, False, "already in order"),
    ):
        if any(m.down == down and m.swapped == swapped for m in arrows):
            svg.small_arrow(x + 4, y - 7 if down else y + 7, y + 7 if down else y - 7, colour, 2 if swapped else 1.5)
            x += 14
            words(text)
    for occurs, fill, text in (
        (any(m.kind == "exchange" and m.tied for m in marks), MUTED, "equal"),
        (any(m.kind == "compare" for m in marks), PAPER, "two places read together"),
    ):
        if occurs:
            svg.line(x + 4, y - 7, x + 4, y + 7, MUTED, 1.2)
            svg.circle(x + 4, y - 7, 2.6, fill, MUTED, 1.2)
            svg.circle(x + 4, y + 7, 2.6, fill, MUTED, 1.2)
            x += 14
            words(text)
    if any(m.kind == "flow" for m in marks):
        svg.line(x, y - 6, x + 16, y + 6, INK, 1.3)
        svg.circle(x, y - 6, 2.6, PAPER, INK, 1.2)
        svg.circle(x + 16, y + 6, 3, INK, INK, 1)
        x += 26
        words("from what was read to what was written")
    if any(m.carry for m in marks):
        svg.line(x + 4, y - 6, x + 4, y + 6, INK, 1.3)
        svg.circle(x + 4, y - 6, 3, INK, INK, 1)
        svg.circle(x + 4, y + 6, 3, INK, INK, 1)
        x += 14
        words("a sum, passed on")
    atomic = "atomic"
    if any(counts(own, panel) for panel in panels for own in panel.marks.values()):
        atomic += ", and its result"
    alone = [a for m in marks if m.kind == "dots" for a in m.accesses]
    for way, text in (("load", "read"), ("store", "written"), ("atomic", atomic)):
        if any(a.way == way for a in alone):
            if way == "atomic":
                svg.diamond(x + 4, y, 4.2, INK)
            else:
                svg.circle(x + 4, y, 3, INK if way == "store" else PAPER, INK, 1.2)
            x += 13
            words(text)
    warps = {warp for panel in panels for warp in warps_of(panel).values()}
    coloured = sorted(warp for warp in warps if warp is not None)
    named = [(WARPS[warp], f"warp {warp}") for warp in coloured]
    named += [(OTHER_WARP, "another warp, or several")] * (None in warps)
    for colour, text in named if len(named) > 1 else []:
        svg.circle(x + 4, y, 3, colour, colour, 1)
        x += 13
        words(text)
    for occurs, text in (
        (any(a.conflict for a in accesses), "bank conflict"),
        (any(a.races for a in accesses), "race"),
        (any(a.faulty and not a.races for a in accesses), "fault"),
    ):
        if occurs:
            svg.circle(x + 4, y, 5.5, "none", RED, 1)
            svg.circle(x + 4, y, 2.8, RED, RED, 1)
            x += 15
            words(text, RED)
    return x

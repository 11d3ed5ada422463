"""The access picture as SVG: a panel an array, a wire a place, a column what happens between two barriers.

What one thread does to two places is a comparator where it puts their values in order, as in a sorting network; other
values that are made of values read are lines from the places read to the place written.
"""

from __future__ import annotations

import re

from . import trace
from .access_layout import LANE, LEFT, hover, in_words, lanes, lay_columns
from .accesses import choose_launches, fill, lay_wires, panels_of, short_kernel
from .svg import (
    BLUE,
    BLUE_PALE,
    INK,
    MUTED,
    ORANGE,
    ORANGE_PALE,
    PALE_WIRE,
    PAPER,
    RED,
    RED_PALE,
    RULE,
    WARPS,
    Drawing,
)
from ..core.terminal import Usage

PITCH, HEAD = 20, 92
LETTER = 8.2  # width of a bold one, at most, in the heads
MOST_FINDINGS = 6


def _warp(mark: Mark) -> int | None:
    """The warp whose mark this is; None: several share it, or it has no colour."""
    warps = {access.thread // trace.LANES_PER_WARP for access in mark.accesses}
    return min(warps) if len(warps) == 1 and min(warps) < len(WARPS) else None


def _warp_colour(mark: Mark) -> str:
    return INK if _warp(mark) is None else WARPS[_warp(mark)]


class _Painter:
    """Draws the marks of one panel, whose first wire lies at `top`."""

    def __init__(self, svg: Drawing, panel: Panel, run: Trace, columns: list[Column], top: float) -> None:
        self.svg, self.panel, self.run, self.top = svg, panel, run, top
        self.columns = {(column.launch, column.interval): column for column in columns}
        self.bottom = self.y_of_wire(len(panel.labels) - 1) + 12

    def y_of_wire(self, wire: int) -> float:
        return self.top + wire * PITCH + sum(8 for gap in self.panel.gaps if gap <= wire)

    def y(self, place: Place) -> float:
        """Of a place; those without a wire lie beyond the bottom."""
        wire = self.panel.wires.get(place)
        return self.bottom if wire is None else self.y_of_wire(wire)

    def wires(self, right: float) -> None:
        """Shared memory is there only while its kernel runs."""
        own = {launch for launch, _ in self.panel.marks}
        parts, columns = [], list(self.columns.values())
        for column, after in zip(columns, [*columns[1:], None]):
            if self.panel.shared and column.launch not in own:
                continue
            start = column.x - 22
            end = right if after is None else column.x + column.width + 22 if after.launch not in own else after.x
            if parts and start <= parts[-1][1]:
                parts[-1][1] = end
            else:
                parts.append([start, end])
        if not self.panel.shared:
            parts = [[LEFT, right]]
        for wire, label in enumerate(self.panel.labels):
            y = self.y_of_wire(wire)
            for start, end in parts:
                self.svg.line(start, y, end, y, PALE_WIRE, 1)
            self.svg.text(LEFT - 9, y + 4, label, 11.5, MUTED, "end")
        for gap in self.panel.gaps:
            self.svg.text(LEFT - 9, self.y_of_wire(gap) - PITCH + 8, "⋮", 11, MUTED, "end")

    def comparator(self, x: float, mark: Mark) -> None:
        low, high = sorted(self.y(place) for place in mark.reads)
        small, large = (low, high) if mark.down else (high, low)
        if mark.wrong:
            colour = RED if mark.swapped or any(a.races for a in mark.accesses) else RED_PALE
        elif mark.kind == "compare" or mark.tied:
            colour = MUTED
        elif mark.swapped:
            colour = BLUE if mark.down else ORANGE
        else:
            colour = BLUE_PALE if mark.down else ORANGE_PALE
        width = 2 if mark.swapped else 1.5
        if mark.kind == "compare" or mark.tied:
            self.svg.line(x, low, x, high, colour, 1.2)
            for y in (low, high):
                self.svg.circle(x, y, 2.6, PAPER if mark.kind == "compare" else colour, colour, 1.2)
        else:
            self.svg.small_arrow(x, small, large, colour, width)
        if high == self.bottom:
            self.svg.line(x - 4, high, x + 4, high, colour, 1.2)

    def flow(self, column: Column, mark: Mark) -> None:
        colour, end = INK, column.writes_at
        wrong = {(place, a.writes) for a in mark.accesses if a.races or a.conflict for place in self.panel.places(a)}
        sources = {(place, column.reads_at) for place in mark.reads}
        for source, read_in, target in mark.edges:
            start = self.columns[read_in].reads_at
            sources.add((source, start))
            if source in self.panel.wires and target in self.panel.wires:
                self.svg.line(start, self.y(source), end, self.y(target), colour, 1.3)
            elif source in self.panel.wires:  # a short piece of what leads out of the picture, or comes from there
                self.svg.line(
                    start, self.y(source), start + 9, self.y(source) + self.away(target, source), colour, 1.3, "2 2"
                )
            elif target in self.panel.wires:
                self.svg.line(
                    end - 9, self.y(target) + self.away(source, target), end, self.y(target), colour, 1.3, "2 2"
                )
        for source, start in sorted(sources, key=lambda one: (one[1], one[0][1])):
            if source in self.panel.wires:
                self.end(start, source, 2.6, PAPER, mark, (source, False) in wrong)
        for target in mark.writes:
            if target in self.panel.wires:
                self.end(end, target, 3, None, mark, (target, True) in wrong)

    def end(self, x: float, place: Place, radius: float, fill: str | None, mark: Mark, wrong: bool) -> None:
        """A dot at the end of a line; `fill`: None for its colour."""
        colour = RED if wrong else _warp_colour(mark)
        self.svg.circle(x, self.y(place), radius, fill or colour, colour, 1.2)
        if wrong:
            self.svg.circle(x, self.y(place), 6, "none", RED, 1)

    @staticmethod
    def away(outside: Place, inside: Place) -> int:
        """Up or down to a place that has no wire."""
        return 8 if outside[1] > inside[1] else -8

    def dots(self, column: Column, mark: Mark) -> None:
        """Reads on the left, writes on the right; what one instruction touches is joined."""
        for access in mark.accesses:
            places = [p for p in self.panel.places(access) if p in self.panel.wires]
            if not places:
                continue
            wrong = access.races or access.conflict
            colour = RED if wrong else _warp_colour(mark)
            at = column.writes_at if access.writes else column.reads_at
            first, last = self.y(places[0]), self.y(places[-1])
            if last > first:
                self.svg.line(at, first, at, last, colour, 3)
            for y in (first, last)[: 1 + (last > first)]:
                if access.way == "atomic":
                    self.svg.diamond(at, y, 4.2, colour)
                else:
                    self.svg.circle(at, y, 3, colour if access.writes else PAPER, colour, 1.2)
            if wrong:
                self.svg.circle(at, (first + last) / 2, 6, "none", RED, 1)

    def column(self, column: Column) -> None:
        """All marks of a column."""
        marks = self.panel.marks.get((column.launch, column.interval), [])
        pairs, _ = lanes([m for m in marks if m.kind in ("exchange", "compare")], self.panel.wires)
        for mark, lane in pairs:
            self.svg.open_group(hover(mark, self.panel, self.run), mark.kind)
            self.comparator(column.x + lane * LANE, mark)
            self.svg.close_group()
        for mark in marks:
            if mark.kind in ("flow", "dots"):
                self.svg.open_group(hover(mark, self.panel, self.run), mark.kind)
                (self.flow if mark.kind == "flow" else self.dots)(column, mark)
                self.svg.close_group()


def _boundaries(svg: Drawing, columns: list[Column], top: float, bottom: float) -> None:
    """A thin line a barrier, a stronger one a launch."""
    for before, after in zip(columns, columns[1:]):
        x = (before.x + before.width + after.x) / 2
        if before.launch == after.launch:
            svg.line(x, top, x, bottom, RULE, 1, "2 3")
        else:
            svg.line(x, top, x, bottom, RULE, 1.5)


def _heads(svg: Drawing, run: Trace, columns: list[Column], y: float, right: float) -> None:
    """Above the columns: the kernel's name over its launches, and the number of each column."""
    spans = []
    for column in columns:
        name = short_kernel(run.launches[column.launch].kernel)
        if spans and spans[-1][0] == name:
            spans[-1][1].append(column)
        else:
            spans.append((name, [column]))
    units = set()
    ends = [own[0].x - 16 for _, own in spans[1:]] + [right]
    for (name, own), end in zip(spans, ends):
        left, last = own[0].x - 8, own[-1].x + own[-1].width + 8
        launches = list(dict.fromkeys(c.launch for c in own))
        shape = run.launches[launches[0]]
        words = f"{name}<<<{_plain(shape.grid)}, {_plain(shape.block)}>>>"
        room = int((end - left) / LETTER)
        words = words if len(words) <= room else name if len(name) <= room else name[: max(2, room - 1)] + "…"
        svg.line(left, y + 6, last, y + 6, MUTED, 1)
        if len(words) * LETTER > last - left:
            svg.text(left, y, words, 12, INK, "start", "bold")
        else:
            svg.text((left + last) / 2, y, words, 12, INK, weight="bold")
        by_launch = len(own) == len(launches) and len(own) > 1
        units.add("launch" if by_launch else "interval")
        for i, column in enumerate(own):
            number = column.launch if by_launch else column.interval
            svg.text(column.x + column.width / 2, y + 21, str(number), 10.5, MUTED)
            if i and own[i - 1].launch == column.launch and own[i - 1].interval + 1 < column.interval:
                svg.text((own[i - 1].x + own[i - 1].width + column.x) / 2, y + 20, "…", 10.5, MUTED)
    svg.text(LEFT - 9, y + 21, units.pop() if len(units) == 1 else "", 10.5, MUTED, "end")


def _plain(shape: str) -> str:
    """A shape as it is written at a launch: 4,1,1 is 4."""
    return re.sub(r"(,1)+$", "", shape)


def _legend(svg: Drawing, panels: list[Panel], y: float) -> float:
    """Only what is there; gives how wide it is."""
    marks = [m for p in panels for own in p.marks.values() for m in own]
    accesses = [a for m in marks for a in m.accesses]
    x, arrows = LEFT, [m for m in marks if m.kind == "exchange" and not m.tied and not m.wrong]

    def words(text: str, colour: str=MUTED) -> None:
        nonlocal x
        svg.text(x, y + 4, text, 11.5, colour, "start")
        x += 22 + 6.1 * len(text)

    for colour, down, swapped, text in (
        (BLUE, True, True, "swapped"),
        (BLUE_PALE, True, False, "in order already"),
        (ORANGE, False, True, "swapped"),
        (ORANGE_PALE, False, False, "in order already"),
    ):
        if any(m.down == down and m.swapped == swapped for m in arrows):
            svg.small_arrow(x + 4, y - 7 if down else y + 7, y + 7 if down else y - 7, colour, 2 if swapped else 1.5)
            x += 14
            words(text)
    for there, fill, text in (
        (any(m.kind == "exchange" and m.tied for m in marks), MUTED, "equal"),
        (any(m.kind == "compare" for m in marks), PAPER, "two places read together"),
    ):
        if there:
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
        words("written from what was read")
    alone = [a for m in marks if m.kind == "dots" for a in m.accesses]
    for way, text in (("load", "read"), ("store", "written"), ("atomic", "atomic")):
        if any(a.way == way for a in alone):
            if way == "atomic":
                svg.diamond(x + 4, y, 4.2, INK)
            else:
                svg.circle(x + 4, y, 3, INK if way == "store" else PAPER, INK, 1.2)
            x += 13
            words(text)
    warps = {_warp(m) for m in marks if m.kind == "dots"}
    coloured = sorted(warp for warp in warps if warp is not None)
    named = [(WARPS[warp], f"warp {warp}") for warp in coloured] + [(INK, "another warp, or several")] * (None in warps)
    for colour, text in named if len(named) > 1 else []:
        svg.circle(x + 4, y, 3, colour, colour, 1)
        x += 13
        words(text)
    for found, text in ((any(a.conflict for a in accesses), "bank conflict"), (any(a.races for a in accesses), "race")):
        if found:
            svg.circle(x + 4, y, 5.5, "none", RED, 1)
            svg.circle(x + 4, y, 2.8, RED, RED, 1)
            x += 15
            words(text, RED)
    return x


def _wrapped(text: str, width: int) -> list[str]:
    """Text in lines of at most `width` letters."""
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return lines


def draw(run: Trace, findings: Sequence[Finding], title: str, n: int, which: str | None=None, window: range | None=None, launches: range | None=None) -> str:
    """The picture of a run as SVG text.

    `which`: "shared", "global", "all" or None; `window` and `launches`: the places and launches to draw, or None.
    Usage: nothing that is asked for was touched.
    """
    found = re.search(r": \d+ (?:(\w+) keys|(pairs))", title)
    key_type = (found[1] or found[2]) if found else ""
    drawn = choose_launches(run, launches)
    accesses = [access for access in run.accesses if access.launch in drawn]
    panels, left_out = panels_of(run, accesses, which)
    for panel in panels:
        lay_wires(panel, n, window)
    panels = [panel for panel in panels if panel.wires]
    if not panels:
        raise Usage(
            "nothing of what is asked for was touched: leave out --places, --launches or --arrays to see what was"
        )
    columns, right = lay_columns(fill(accesses, panels, key_type), panels)
    right += 22
    svg = Drawing(0, 0, title)
    remarks = [len(remark) for panel in panels for remark in panel.remarks]
    width = max(right + 40, 420, LEFT + 6.4 * max(remarks, default=0) + 20)
    heading = _wrapped(title, int((width - 40) / 8.6))
    top = HEAD + 18 * (len(heading) - 1)
    y, painters = top, []
    for panel in panels:
        y += 26
        painters.append(_Painter(svg, panel, run, columns, y))
        y = painters[-1].bottom + (14 if panel.remarks else 0) + 10
    for i, line in enumerate(heading):
        svg.text(20, 28 + 18 * i, line, 14, INK, "start", "bold")
    if columns:
        _heads(svg, run, columns, top - 28, width - 14)
    for painter in painters:
        _boundaries(svg, columns, painter.top - 10, painter.bottom - 2)
        place = "" if painter.panel.shared else ", in global memory"
        svg.text(20, painter.top - 15, painter.panel.name + place, 12.5, INK, "start")
        painter.wires(right)
        for column in columns:
            painter.column(column)
        for remark in painter.panel.remarks:
            svg.text(LEFT, painter.bottom + 8, remark, 11, MUTED, "start")
    y += 14
    width = max(width, _legend(svg, panels, y) + 20)
    small = [f"not drawn: {', '.join(left_out)}"] if left_out else []
    if len(drawn) < len(run.launches):
        part = f"launches {drawn[0]} to {drawn[-1]}" if len(drawn) > 1 else f"launch {drawn[0]}"
        small.append(f"{part} of {len(run.launches)}{' or more' if run.cut else ''}; --launches shows others")
    elif run.cut:
        small.append("cut off: the run makes more accesses than are kept")
    for text, colour in [(t, MUTED) for t in small] + [(in_words(f), RED) for f in findings[:MOST_FINDINGS]]:
        for line in _wrapped(text, int((width - LEFT - 20) / 5.9)):
            y += 16
            svg.text(LEFT, y + 8, line, 11, colour, "start")
    svg.width, svg.height = width, y + 24
    return svg.svg()

"""Draws the marks of one panel of an access picture, and the legend below all panels."""

from __future__ import annotations

from . import trace
from .access_layout import LANE, LEFT, Column, counts, hover, lanes
from .accesses import Cell, Mark, Panel, Place
from .svg import Drawing
from .theme import BLUE, BLUE_PALE, INK, MUTED, ORANGE, ORANGE_PALE, OTHER_WARP, PAPER, RED, RED_PALE, WARPS, WIRE
from .trace import Trace

PITCH = 20


Spot = tuple[Cell, Place, bool]  # where a dot is drawn: column, place, and whether it is a write


def warps_of(panel: Panel) -> dict[Spot, int | None]:
    """The warp whose dot this is; None if several share it, or if it has no colour."""
    warps: dict[Spot, set[int]] = {}
    for cell, marks in panel.marks.items():
        for access in (a for mark in marks if mark.kind in ("dots", "flow") for a in mark.accesses):
            for place in panel.places(access):
                if place in panel.wires:
                    warps.setdefault((cell, place, access.writes), set()).add(access.thread // trace.LANES_PER_WARP)
    return {spot: min(own) if len(own) == 1 and min(own) < len(WARPS) else None for spot, own in warps.items()}


class Painter:
    """Draws the marks of one panel, whose first wire lies at `top`."""

    def __init__(self, svg: Drawing, panel: Panel, run: Trace, columns: list[Column], top: float) -> None:
        self.svg, self.panel, self.run, self.top = svg, panel, run, top
        self.warps = warps_of(panel)
        self.columns = {(column.launch, column.interval): column for column in columns}
        self.bottom = self.y_of_wire(len(panel.labels) - 1) + 12

    def colour(self, cell: Cell, place: Place, writes: bool) -> str:
        """The colour of a dot."""
        warp = self.warps.get((cell, place, writes))
        return OTHER_WARP if warp is None else WARPS[warp]

    def y_of_wire(self, wire: int) -> float:
        return self.top + wire * PITCH + sum(8 for gap in self.panel.gaps if gap <= wire)

    def y(self, place: Place) -> float:
        """The y of a place. Places without a wire lie below the panel."""
        wire = self.panel.wires.get(place)
        return self.bottom if wire is None else self.y_of_wire(wire)

    def wires(self, right: float) -> None:
        """Draws the wires. Those of shared memory exist only while their kernel runs."""
        own = {launch for launch, _ in self.panel.marks}
        parts: list[list[float]] = []
        columns = list(self.columns.values())
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
            parts = [[float(LEFT), right]]
        for wire, label in enumerate(self.panel.labels):
            y = self.y_of_wire(wire)
            for start, end in parts:
                self.svg.line(start, y, end, y, WIRE, 1)
            self.svg.text(LEFT - 9, y + 4, label, 11.5, MUTED, "end")
        for gap in self.panel.gaps:
            self.svg.text(LEFT - 9, self.y_of_wire(gap) - PITCH + 8, "⋮", 11, MUTED, "end")

    def comparator(self, x: float, mark: Mark) -> None:
        """An arrow, or a line where no direction can be seen."""
        low, high = sorted(self.y(place) for place in mark.reads)
        small, large = (low, high) if mark.down else (high, low)
        if mark.wrong:
            colour = RED if mark.swapped or any(a.wrong for a in mark.accesses) else RED_PALE
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
        """Lines from the places read to the places written."""
        colour, end = INK, column.writes_at
        wrong = {(place, a.writes) for a in mark.accesses if a.wrong or a.conflict for place in self.panel.places(a)}
        sources = {(place, mark.cell) for place in mark.reads}
        if mark.carry in self.panel.wires:
            self.carry(end, mark)
        for source, read_in, target in mark.edges:
            start = self.columns[read_in].reads_at
            sources.add((source, read_in))
            if source in self.panel.wires and target in self.panel.wires:
                self.svg.line(start, self.y(source), end, self.y(target), colour, 1.3)
            elif source in self.panel.wires:  # a short dashed piece leads out of the picture or into it
                self.svg.line(
                    start, self.y(source), start + 9, self.y(source) + self.away(target, source), colour, 1.3, "2 2"
                )
            elif target in self.panel.wires:
                self.svg.line(
                    end - 9, self.y(target) + self.away(source, target), end, self.y(target), colour, 1.3, "2 2"
                )
        for source, read_in in sorted(sources, key=lambda source: (source[1], source[0][1])):
            if source in self.panel.wires:
                self.end(self.columns[read_in].reads_at, (read_in, source, False), (source, False) in wrong)
        for target in mark.writes:
            if target in self.panel.wires:
                self.end(end, (mark.cell, target, True), (target, True) in wrong)

    def carry(self, x: float, mark: Mark) -> None:
        """A line from the sum before to this one."""
        if mark.carry is not None and mark.writes[0] in self.panel.wires:
            self.svg.line(x, self.y(mark.carry), x, self.y(mark.writes[0]), INK, 1.3)

    def end(self, x: float, spot: Spot, wrong: bool) -> None:
        """A dot at the end of a line: hollow where a value was read."""
        _, place, writes = spot
        colour = RED if wrong else self.colour(*spot)
        self.svg.circle(x, self.y(place), 3 if writes else 2.6, colour if writes else PAPER, colour, 1.2)
        if wrong:
            self.svg.circle(x, self.y(place), 6, "none", RED, 1)

    @staticmethod
    def away(outside: Place, inside: Place) -> int:
        """The direction of a place without a wire: up or down."""
        return 8 if outside[1] > inside[1] else -8

    def dots(self, column: Column, mark: Mark) -> None:
        """Reads on the left, writes on the right; the places of one instruction are joined."""
        for access in mark.accesses:
            places = [p for p in self.panel.places(access) if p in self.panel.wires]
            if not places:
                continue
            wrong = access.wrong or access.conflict
            colour = RED if wrong else self.colour(mark.cell, places[0], access.writes)
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
        """Draws all marks of a column."""
        marks = self.panel.marks.get((column.launch, column.interval), [])
        pairs, _ = lanes([m for m in marks if m.kind in ("exchange", "compare")], self.panel.wires)
        for mark, lane in pairs:
            self.svg.open_group(hover(mark, self.panel, self.run), mark.kind)
            self.comparator(column.x + lane * LANE, mark)
            self.svg.close_group()
        for mark in sorted(marks, key=lambda mark: mark.wrong):  # what is wrong lies on top
            if mark.kind in ("flow", "dots"):
                self.svg.open_group(hover(mark, self.panel, self.run), mark.kind)
                (self.flow if mark.kind == "flow" else self.dots)(column, mark)
                self.svg.close_group()
        for place, value in counts(marks, self.panel).items():
            if place in self.panel.wires:
                self.svg.text(column.writes_at + 8, self.y(place) + 4, value, 10.5, INK, "start")


def draw_legend(svg: Drawing, panels: list[Panel], y: float) -> float:
    """Explains the marks that occur; returns the x where the legend ends."""
    marks = [m for p in panels for own in p.marks.values() for m in own]
    accesses = [a for m in marks for a in m.accesses]
    x: float = LEFT
    arrows = [m for m in marks if m.kind == "exchange" and not m.tied and not m.wrong]

    def words(room: float, text: str, colour: str = MUTED) -> None:
        """Explains the symbol that was drawn at x and takes this much room."""
        nonlocal x
        svg.text(x + room, y + 4, text, 11.5, colour, "start")
        x += room + 22 + 6.1 * len(text)

    for colour, down, swapped, text in (
        (BLUE, True, True, "swapped"),
        (BLUE_PALE, True, False, "already in order"),
        (ORANGE, False, True, "swapped"),
        (ORANGE_PALE, False, False, "already in order"),
    ):
        if any(m.down == down and m.swapped == swapped for m in arrows):
            svg.small_arrow(x + 4, y - 7 if down else y + 7, y + 7 if down else y - 7, colour, 2 if swapped else 1.5)
            words(14, text)
    for occurs, fill, text in (
        (any(m.kind == "exchange" and m.tied for m in marks), MUTED, "equal"),
        (any(m.kind == "compare" for m in marks), PAPER, "two places read together"),
    ):
        if occurs:
            svg.line(x + 4, y - 7, x + 4, y + 7, MUTED, 1.2)
            svg.circle(x + 4, y - 7, 2.6, fill, MUTED, 1.2)
            svg.circle(x + 4, y + 7, 2.6, fill, MUTED, 1.2)
            words(14, text)
    if any(m.kind == "flow" for m in marks):
        svg.line(x, y - 6, x + 16, y + 6, INK, 1.3)
        svg.circle(x, y - 6, 2.6, PAPER, INK, 1.2)
        svg.circle(x + 16, y + 6, 3, INK, INK, 1)
        words(26, "from what was read to what was written")
    if any(m.carry for m in marks):
        svg.line(x + 4, y - 6, x + 4, y + 6, INK, 1.3)
        svg.circle(x + 4, y - 6, 3, INK, INK, 1)
        svg.circle(x + 4, y + 6, 3, INK, INK, 1)
        words(14, "a sum, passed on")
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
            words(13, text)
    warps = {warp for panel in panels for warp in warps_of(panel).values()}
    coloured = sorted(warp for warp in warps if warp is not None)
    named = [(WARPS[warp], f"warp {warp}") for warp in coloured]
    named += [(OTHER_WARP, "another warp, or several")] * (None in warps)
    for colour, text in named if len(named) > 1 else []:
        svg.circle(x + 4, y, 3, colour, colour, 1)
        words(13, text)
    for occurs, text in (
        (any(a.conflict for a in accesses), "bank conflict"),
        (any(a.races for a in accesses), "race"),
        (any(a.faulty and not a.races for a in accesses), "fault"),
    ):
        if occurs:
            svg.circle(x + 4, y, 5.5, "none", RED, 1)
            svg.circle(x + 4, y, 2.8, RED, RED, 1)
            words(15, text, RED)
    return x

"""The access picture as SVG: a panel an array, a wire a place, a column what happens between two barriers.

What one thread does to two places is a comparator where it puts their values in order, as in a sorting network; other
values that are made of values read are lines from the places read to the place written.
"""

import re
from dataclasses import dataclass, field

from . import trace
from .svg import (ABSENT, BLUE, BLUE_PALE, INK, MUTED, ORANGE, ORANGE_PALE, PAPER, RED, RULE, WARPS, WIRE, Svg)

LARGEST = 64  # wires of one panel
MOST_PANELS = 8
MOST_FINDINGS = 6

PITCH, LANE, COLUMN_GAP, LAUNCH_GAP, FLOW = 20, 14, 15, 20, 26
LEFT, HEAD, PANEL_GAP = 64, 92, 50
_PLACED = re.compile(r"([^/\s]*/)*([^/\s]+)")


# --- what is drawn -----------------------------------------------------------------------------------------------------


@dataclass
class Mark:
    """What a group of accesses does to one array in one column."""

    kind: str  # "exchange", "compare", "flow", "dots"
    accesses: list
    reads: list = field(default_factory=list)  # wires
    writes: list = field(default_factory=list)
    down: bool = True  # of a comparator: the larger value goes to the higher place
    tied: bool = False  # equal values: no direction can be seen
    swapped: bool = False

    @property
    def wrong(self):
        return any(a.races or a.conflict for a in self.accesses)


@dataclass
class Panel:
    """One array; of shared memory, as one block sees it."""

    array: trace.Array
    block: int
    name: str
    accesses: list
    size: int = 1  # bytes of a place
    base: int = 0  # bytes before place 0
    wires: dict = field(default_factory=dict)  # place -> wire
    labels: list = field(default_factory=list)  # wire -> text, "" for none
    gaps: list = field(default_factory=list)  # wires before which places are left out
    remarks: list = field(default_factory=list)
    marks: dict = field(default_factory=dict)  # column -> [Mark]

    def places(self, access):
        """The places that an access touches."""
        first = (access.offset - self.base) // self.size
        return range(first, max(first + 1, (access.offset - self.base + access.bytes) // self.size))


def in_words(finding):
    """A finding on one line, the file's name without its folders."""
    place = _PLACED.sub(r"\2", finding["file"])
    return f"{place}:{finding['line']}: {finding['kind']}: {finding['text']}"


def short_kernel(name):
    """A kernel's name without its template arguments and namespaces."""
    return name.partition("<")[0].rpartition("::")[2] or name


def _name(array, pairs):
    if array.space == "shared":
        return "dynamic shared memory" if array.name == "dynamic" else f"__shared__ {array.name}"
    if array.allocation == 1:
        return "keys, in global memory"
    if array.allocation == 2 and pairs:
        return "values, in global memory"
    return f"allocation {array.allocation}, in global memory" if array.allocation else f"__device__ {array.name}"


def panels_of(run, which, pairs):
    """The arrays of interest, in the order in which they are first touched, and the names of those left out."""
    found = {}
    for access in run.accesses:
        shared = access.array.space == "shared"
        key = (access.array.number, access.block if shared else 0)
        if key not in found:
            found[key] = Panel(access.array, key[1], _name(access.array, pairs), [])
        found[key].accesses.append(access)
    panels = list(found.values())
    for panel in panels:
        if panel.array.allocation in (1, 2):  # the judge's own array begins at a random multiple of 256 bytes
            panel.base = min(a.offset for a in panel.accesses) // 256 * 256
        panel.size = min(a.bytes for a in panel.accesses)
        if panel.array.space == "shared" and sum(p.array is panel.array for p in panels) > 1:
            panel.name += f", block {panel.block}"
    wanted = which or ("shared" if any(p.array.space == "shared" for p in panels) else "global")
    chosen = [p for p in panels if wanted in ("all", p.array.space)]
    if not which:  # what has gone wrong is shown, wherever it is
        chosen = [p for p in panels if p in chosen or any(a.races for a in p.accesses)]
    left_out = [p.name for p in panels if p not in chosen[:MOST_PANELS]]
    return chosen[:MOST_PANELS], left_out


def _runs(places):
    """The contiguous parts of a sorted list of places: (first, last)."""
    parts = []
    for place in places:
        if parts and place == parts[-1][1] + 1:
            parts[-1][1] = place
        else:
            parts.append([place, place])
    return parts


def _takes_turns(panel, parts):
    """Whether two parts of the same length are two buffers: none is read and written in the same interval."""
    if len(parts) != 2 or parts[0][1] - parts[0][0] != parts[1][1] - parts[1][0] or parts[0] == parts[1]:
        return False
    if parts[0][1] - parts[0][0] < 3:
        return False
    ways = {}
    for access in panel.accesses:
        part = panel.places(access)[0] >= parts[1][0]
        ways.setdefault((access.launch, access.block, access.interval, part), set()).add(access.writes)
    return all(len(both) == 1 for both in ways.values())


def lay_wires(panel, n, window):
    """Which places have a wire, from top to bottom."""
    touched = sorted({place for access in panel.accesses for place in panel.places(access)})
    parts = _runs(touched)
    if window is None and _takes_turns(panel, parts) and parts[0][1] - parts[0][0] < LARGEST:
        (first, last), (second, end) = parts
        panel.wires = {place: place - first for place in range(first, last + 1)}
        panel.wires.update({place: place - second for place in range(second, end + 1)})
        panel.labels = [str(i) for i in range(last - first + 1)]
        panel.remarks.append(f"places {first} to {last} and {second} to {end} take turns: one wire for both")
        return
    if window is not None:
        shown = [place for place in touched if place in window]
    elif len(touched) > LARGEST:
        shown = [place for place in touched if place < max(n, 16)] or touched[:max(n, 16)]
    else:
        shown = touched
    if len(shown) < len(touched):
        panel.remarks.append(f"{len(shown)} of {len(touched)} places that are touched; --places shows others")
    for place in shown:
        if panel.wires and place - 1 not in panel.wires:
            panel.gaps.append(len(panel.labels))
        panel.wires[place] = len(panel.labels)
        panel.labels.append(str(place))


def _mark(group, panel, key_type):
    """What a group does to a panel's array; None: nothing that can be seen."""
    own = [a for a in group if a.array is panel.array]
    reads, writes = [], []
    for access in own:
        for place in panel.places(access):
            if access.way != "store" and place not in reads:
                reads.append(place)
            if access.writes and place not in writes:
                writes.append(place)
    if not any(place in panel.wires for place in reads + writes):
        return None
    mark = Mark("dots", own, reads, writes)
    if any(a.way == "atomic" for a in own) or any(len(panel.places(a)) > 1 for a in own):
        return mark
    stores_elsewhere = any(a.writes and a.array is not panel.array for a in group)
    if len(reads) == 2 and not any(place not in reads for place in writes) and not stores_elsewhere:
        low, high = sorted(reads)
        before = {panel.places(a)[0]: a.value for a in own if not a.writes}
        after = {**before, **{panel.places(a)[0]: a.value for a in own if a.writes}}
        if sorted(before.values()) == sorted(after.values()) and len(writes) != 1:
            at_low, at_high = (trace.key_of(after[place], panel.size, key_type) for place in (low, high))
            mark.kind = "exchange" if writes else "compare"
            mark.down, mark.tied, mark.swapped = at_low <= at_high, at_low == at_high, before != after
            return mark
    if writes and len(writes) <= 2 and 1 <= len(reads) <= 4:
        mark.kind = "flow"
    return mark


def fill(run, panels, key_type):
    """The marks of all panels, and the columns: (launch, interval), in order, those in which something is seen."""
    columns, directions = set(), {}
    for group in trace.groups(run.accesses):
        first = group[0]
        for panel in panels:
            if panel.array.space == "shared" and first.block != panel.block:
                continue
            if not any(a.array is panel.array for a in group):
                continue
            mark = _mark(group, panel, key_type)
            if mark is None:
                continue
            if mark.kind == "exchange" and key_type == "pairs":  # values go where their keys go
                same = (first.launch, first.block, first.interval, first.thread, tuple(sorted(mark.reads)))
                mark.down, mark.tied = directions.setdefault(same, (mark.down, mark.tied))
            column = (first.launch, first.interval)
            columns.add(column)
            panel.marks.setdefault(column, []).append(mark)
    for panel in panels:
        marks = [mark for own in panel.marks.values() for mark in own]
        # Two places read at once and not written are comparators that found nothing to do, if there are others.
        exchanging = {frozenset(a.code for a in m.accesses if not a.writes) for m in marks if m.kind == "exchange"}
        for mark in marks:
            if mark.kind == "compare" and frozenset(a.code for a in mark.accesses) in exchanging:
                mark.kind = "exchange"
    return sorted(columns)


# --- where it is drawn -------------------------------------------------------------------------------------------------


def _lanes(marks, wires):
    """Comparators that would lie on each other, side by side: (mark, lane), and how many lanes there are."""
    taken, placed = [], []
    for mark in sorted(marks, key=lambda m: sorted(m.reads)):
        low, high = sorted(wires.get(place, len(wires)) for place in mark.reads)
        lane = next((i for i, end in enumerate(taken) if end < low), len(taken))
        if lane == len(taken):
            taken.append(high)
        taken[lane] = high
        placed.append((mark, lane))
    return placed, len(taken)


@dataclass
class Column:
    """Where a column of all panels lies."""

    launch: int
    interval: int
    lanes: int = 0
    flows: bool = False
    dots: bool = False
    x: float = 0.0

    @property
    def width(self):
        parts = [(self.lanes - 1) * LANE] if self.lanes else []
        parts += [FLOW] if self.flows else [10] if self.dots else []
        return sum(parts) + (LANE if len(parts) > 1 else 0)


def lay_columns(keys, panels):
    """The columns from left to right, and the x where they end."""
    columns, x, before = [], LEFT + 22, None
    for launch, interval in keys:
        column = Column(launch, interval)
        for panel in panels:
            marks = panel.marks.get((launch, interval), [])
            pairs = [m for m in marks if m.kind in ("exchange", "compare")]
            column.lanes = max(column.lanes, _lanes(pairs, panel.wires)[1])
            column.flows |= any(m.kind == "flow" for m in marks)
            column.dots |= any(m.kind == "dots" for m in marks)
        if before is not None:
            x += 2 * COLUMN_GAP + (LAUNCH_GAP if before != launch else 0)
        column.x, before = x, launch
        x += column.width
        columns.append(column)
    return columns, x


def _said_of(access, panel, run):
    place = panel.places(access)
    words = {"load": "reads", "store": "writes", "atomic": "atomically changes"}[access.way]
    where = f"{place[0]}" if len(place) == 1 else f"{place[0]} to {place[-1]}"
    line = run.lines.get(access.code, "")
    text = f"{words} {where}: {access.value}" + (f" ({_PLACED.sub(chr(92) + '2', line)})" if line else "")
    if access.conflict:
        text += f"; bank conflict: its warp takes {access.conflict[0]} wavefronts, not {access.conflict[1]}"
    return text + ("; a race" if access.races else "")


def _hover(mark, panel, run):
    first = mark.accesses[0]
    head = f"block {first.block}, thread {first.thread}"
    if mark.kind == "exchange":
        head += ": swapped" if mark.swapped else ": in order already"
    return "\n".join([head, *(_said_of(a, panel, run) for a in mark.accesses)])


# --- the drawing -------------------------------------------------------------------------------------------------------


def _colour(mark):
    return RED if mark.wrong else WARPS[mark.accesses[0].thread // trace.LANES_PER_WARP % len(WARPS)]


class _Painter:
    """Draws the marks of one panel, whose first wire lies at `top`."""

    def __init__(self, svg, panel, run, top):
        self.svg, self.panel, self.run, self.top = svg, panel, run, top
        self.bottom = self.y_of_wire(len(panel.labels) - 1) + 12

    def y_of_wire(self, wire):
        return self.top + wire * PITCH + sum(8 for gap in self.panel.gaps if gap <= wire)

    def y(self, place):
        """Of a place; those without a wire lie beyond the bottom."""
        wire = self.panel.wires.get(place)
        return self.bottom if wire is None else self.y_of_wire(wire)

    def wires(self, right):
        for wire, label in enumerate(self.panel.labels):
            y = self.y_of_wire(wire)
            self.svg.line(LEFT, y, right, y, WIRE, 1)
            self.svg.text(LEFT - 9, y + 4, label, 11.5, MUTED, "end")
        for gap in self.panel.gaps:
            self.svg.text(LEFT - 9, self.y_of_wire(gap) - PITCH + 8, "⋮", 11, MUTED, "end")

    def comparator(self, x, mark):
        low, high = sorted(self.y(place) for place in mark.reads)
        small, large = (low, high) if mark.down else (high, low)
        if mark.wrong:
            colour = RED
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
            self.svg.arrow(x, small, large, colour, width)
        if high == self.bottom:
            self.svg.line(x - 4, high, x + 4, high, colour, 1.2)

    def flow(self, x, mark):
        colour = RED if mark.wrong else INK
        for target in mark.writes:
            for source in mark.reads:
                if source not in self.panel.wires and target not in self.panel.wires:
                    continue
                outside = source not in self.panel.wires or target not in self.panel.wires
                self.svg.line(x, self.y(source), x + FLOW, self.y(target), ABSENT if outside else colour, 1.3)
        for source in mark.reads:
            if source in self.panel.wires:
                self.svg.circle(x, self.y(source), 2.6, PAPER, _colour(mark), 1.2)
        for target in mark.writes:
            if target in self.panel.wires:
                self.svg.circle(x + FLOW, self.y(target), 3, _colour(mark), _colour(mark), 1)

    def dots(self, x, mark):
        """Reads on the left, writes on the right; what one instruction touches is joined."""
        for access in mark.accesses:
            places = [p for p in self.panel.places(access) if p in self.panel.wires]
            if not places:
                continue
            wrong = access.races or access.conflict
            colour = RED if wrong else _colour(mark)
            at = x + (10 if access.writes else 0)
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

    def column(self, column):
        """All marks of a column."""
        marks = self.panel.marks.get((column.launch, column.interval), [])
        pairs, _ = _lanes([m for m in marks if m.kind in ("exchange", "compare")], self.panel.wires)
        x = column.x
        for mark, lane in pairs:
            self.svg.open_group(_hover(mark, self.panel, self.run), mark.kind)
            self.comparator(x + lane * LANE, mark)
            self.svg.close_group()
        if column.lanes and (column.flows or column.dots):
            x += column.lanes * LANE
        for mark in marks:
            if mark.kind in ("flow", "dots"):
                self.svg.open_group(_hover(mark, self.panel, self.run), mark.kind)
                (self.flow if mark.kind == "flow" else self.dots)(x, mark)
                self.svg.close_group()


def _boundaries(svg, columns, top, bottom):
    """A thin line a barrier, a stronger one a launch."""
    for before, after in zip(columns, columns[1:]):
        x = (before.x + before.width + after.x) / 2
        if before.launch == after.launch:
            svg.line(x, top, x, bottom, RULE, 1, "2 3")
        else:
            svg.line(x, top, x, bottom, ABSENT, 1.2)


def _heads(svg, run, columns, y):
    """Above the columns: the kernel's name over its launches, and the number of each column."""
    spans = []
    for column in columns:
        name = short_kernel(run.launches[column.launch].kernel)
        if spans and spans[-1][0] == name:
            spans[-1][1].append(column)
        else:
            spans.append((name, [column]))
    unit = None
    for name, own in spans:
        left, right = own[0].x - 8, own[-1].x + own[-1].width + 8
        launches = list(dict.fromkeys(c.launch for c in own))
        shape = run.launches[launches[0]]
        words = f"{name}<<<{_plain(shape.grid)}, {_plain(shape.block)}>>>"
        words = words if len(words) * 6.6 < right - left + 24 else name
        if len(words) * 6.6 > right - left + 24:
            words = words[: max(3, int((right - left + 24) / 6.6) - 1)] + "…"
        svg.line(left, y + 6, right, y + 6, MUTED, 1)
        svg.text((left + right) / 2, y, words, 12, INK, weight="bold")
        by_launch = len(own) == len(launches)
        unit = unit or ("launch" if by_launch and len(own) > 1 else "interval")
        for i, column in enumerate(own):
            number = i if by_launch and len(own) > 1 else column.interval
            svg.text(column.x + column.width / 2, y + 21, str(number), 10.5, MUTED)
    svg.text(LEFT - 9, y + 21, unit or "", 10.5, MUTED, "end")


def _plain(shape):
    """A shape as it is written at a launch: 4,1,1 is 4."""
    return re.sub(r"(,1)+$", "", shape)


def _legend(svg, panels, y):
    """Only what is there; gives how wide it is."""
    marks = [m for p in panels for own in p.marks.values() for m in own]
    accesses = [a for m in marks for a in m.accesses]
    x, arrows = LEFT, [m for m in marks if m.kind == "exchange" and not m.tied and not m.wrong]

    def words(text, colour=MUTED):
        nonlocal x
        svg.text(x, y + 4, text, 11.5, colour, "start")
        x += 22 + 6.1 * len(text)

    for colour, down, swapped, text in ((BLUE, True, True, "swapped"), (BLUE_PALE, True, False, "in order already"),
                                        (ORANGE, False, True, "swapped"),
                                        (ORANGE_PALE, False, False, "in order already")):
        if any(m.down == down and m.swapped == swapped for m in arrows):
            svg.arrow(x + 4, y - 7 if down else y + 7, y + 7 if down else y - 7, colour, 2 if swapped else 1.5)
            x += 14
            words(text)
    if any(m.kind == "compare" or (m.kind == "exchange" and m.tied) for m in marks):
        svg.line(x + 4, y - 7, x + 4, y + 7, MUTED, 1.2)
        svg.circle(x + 4, y - 7, 2.6, PAPER, MUTED, 1.2)
        svg.circle(x + 4, y + 7, 2.6, PAPER, MUTED, 1.2)
        x += 14
        words("two places read together")
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
    warps = sorted({a.thread // trace.LANES_PER_WARP for a in alone})
    for warp in warps[: len(WARPS)] if len(warps) > 1 else []:
        svg.circle(x + 4, y, 3, WARPS[warp % len(WARPS)], WARPS[warp % len(WARPS)], 1)
        x += 13
        words(f"warp {warp}")
    for found, text in ((any(a.conflict for a in accesses), "bank conflict"), (any(a.races for a in accesses), "race")):
        if found:
            svg.circle(x + 4, y, 5.5, "none", RED, 1)
            svg.circle(x + 4, y, 2.8, RED, RED, 1)
            x += 15
            words(text, RED)
    return x


def _wrapped(text, width):
    """Text in lines of at most `width` letters."""
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return lines


def draw(run, findings, title, n, which=None, window=None):
    """The picture of a run as SVG text. `which`: "shared", "global", "all" or None; `window`: the places, or None."""
    found = re.search(r": \d+ (\w+) keys", title)
    key_type = found[1] if found else ""
    panels, left_out = panels_of(run, which, key_type == "pairs")
    for panel in panels:
        lay_wires(panel, n, window)
    panels = [panel for panel in panels if panel.wires]
    columns, right = lay_columns(fill(run, panels, key_type), panels)
    right += 22
    svg = Svg(title)
    width = max(right + 40, 420)
    heading = _wrapped(title, int((width - 40) / 7))
    top = HEAD + 18 * (len(heading) - 1)
    y, painters = top, []
    for panel in panels:
        y += 26
        painters.append(_Painter(svg, panel, run, y))
        y = painters[-1].bottom + (14 if panel.remarks else 0) + 10
    for i, line in enumerate(heading):
        svg.text(20, 28 + 18 * i, line, 14, INK, "start", "bold")
    if columns:
        _heads(svg, run, columns, top - 28)
    for painter in painters:
        _boundaries(svg, columns, painter.top - 10, painter.bottom - 2)
        svg.text(20, painter.top - 15, painter.panel.name, 12.5, INK, "start")
        painter.wires(right)
        for column in columns:
            painter.column(column)
        for remark in painter.panel.remarks:
            svg.text(LEFT, painter.bottom + 8, remark, 11, MUTED, "start")
    y += 14
    width = max(width, _legend(svg, panels, y) + 20)
    small = [f"not drawn: {', '.join(left_out)}"] if left_out else []
    if run.cut:
        small.append("cut off: the run makes more accesses than are kept")
    for text, colour in [(t, MUTED) for t in small] + [(in_words(f), RED) for f in findings[:MOST_FINDINGS]]:
        for line in _wrapped(text, int((width - LEFT - 20) / 5.9)):
            y += 16
            svg.text(LEFT, y + 8, line, 11, colour, "start")
    return svg.text_of(width, y + 24)

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
MOST_COLUMNS = 40  # unless --launches asks for more

PITCH, LANE, COLUMN_GAP, LAUNCH_GAP, FLOW = 20, 14, 15, 20, 26
LEFT, HEAD = 64, 92
LETTER = 8.2  # width of a bold one, at most, in the heads
_PLACED = re.compile(r"([^/\s]*/)*([^/\s]+)")


# --- what is drawn -----------------------------------------------------------------------------------------------------


@dataclass
class Mark:
    """What a group of accesses does to one array in one column."""

    kind: str  # "exchange", "compare", "flow", "dots"
    accesses: list
    reads: list = field(default_factory=list)  # (array, place)
    writes: list = field(default_factory=list)
    edges: list = field(default_factory=list)  # (place read, in which column, place written) of values that went so
    down: bool = True  # of a comparator: the larger value goes to the higher place
    tied: bool = False  # equal values: no direction can be seen
    swapped: bool = False

    @property
    def wrong(self):
        return any(a.races or a.conflict for a in self.accesses)


@dataclass
class Panel:
    """One array, of shared memory as one block of one kernel sees it; or two arrays that take turns."""

    arrays: dict  # array -> bytes before its place 0
    block: int
    name: str
    accesses: list
    size: int = 1  # bytes of a place
    wires: dict = field(default_factory=dict)  # (array, place) -> wire
    labels: list = field(default_factory=list)  # wire -> text, "" for none
    gaps: list = field(default_factory=list)  # wires before which places are left out
    remarks: list = field(default_factory=list)
    members: set = field(default_factory=set)  # the accesses
    marks: dict = field(default_factory=dict)  # column -> [Mark]

    @property
    def shared(self):
        return next(iter(self.arrays)).space == "shared"

    def indexes(self, access):
        """The places that an access touches, as numbers."""
        offset = access.offset - self.arrays[access.array]
        first = offset // self.size
        return range(first, max(first + 1, (offset + access.bytes) // self.size))

    def places(self, access):
        """The same with their array."""
        return [(access.array, index) for index in self.indexes(access)]

    def touched(self):
        """All places that are touched, in order, as numbers."""
        return sorted({index for access in self.accesses for index in self.indexes(access)})


def in_words(finding):
    """A finding on one line, the file's name without its folders."""
    place = _PLACED.sub(r"\2", finding["file"])
    return f"{place}:{finding['line']}: {finding['kind']}: {finding['text']}"


def short_kernel(name):
    """A kernel's name without its template arguments and namespaces."""
    return name.partition("<")[0].rpartition("::")[2] or name


def _name(array, second, kernel):
    if array.space == "shared":
        return f"dynamic shared memory of {kernel}" if array.name == "dynamic" else f"__shared__ {array.name}"
    if array.allocation == 1:
        return "keys"
    if array.allocation == 2 and second:
        return second
    return f"allocation {array.allocation}" if array.allocation else f"__device__ {array.name}"


def panels_of(run, accesses, which, second):
    """The arrays of interest, in the order in which they are first touched, and the names of those left out.

    `second`: the name of the runner's second array, where it has one.
    """
    found = {}
    for access in accesses:
        shared = access.array.space == "shared"
        kernel = short_kernel(run.launches[access.launch].kernel)
        key = (access.array.number, access.block if shared else 0, kernel if access.array.name == "dynamic" else "")
        if key not in found:
            name = _name(access.array, second, kernel)
            found[key] = Panel({access.array: 0}, key[1], name, [])
        found[key].accesses.append(access)
    panels = list(found.values())
    for panel in panels:
        array = next(iter(panel.arrays))
        if array.allocation == 1 or (array.allocation == 2 and second):  # begins at a random multiple of 256 bytes
            panel.arrays[array] = min(a.offset for a in panel.accesses) // 256 * 256
        panel.size = min(a.bytes for a in panel.accesses)
        if panel.shared and sum(p.arrays == panel.arrays and p.name.startswith(panel.name) for p in panels) > 1:
            panel.name += f", block {panel.block}"
    wanted = which or ("shared" if any(p.shared for p in panels) else "global")
    # What has gone wrong is shown, wherever it is.
    chosen = [p for p in panels if wanted == "all" or p.shared == (wanted == "shared")
              or (not which and any(a.races for a in p.accesses))]
    drawn = chosen[:MOST_PANELS]
    return _join_buffers(drawn), [p.name for p in panels if p not in drawn]


def _ways(panel, buffer_of):
    """(launch, block, interval, buffer) -> whether it is written, read, or both, as a set."""
    ways = {}
    for access in panel.accesses:
        key = (access.launch, access.block, access.interval, buffer_of(access))
        ways.setdefault(key, set()).add(access.writes)
    return ways


def _join_buffers(panels):
    """Two arrays of global memory of which each launch reads one and writes the other become one panel."""
    for i, one in enumerate(panels):
        for other in panels[i + 1:]:
            if one.shared or other.shared or one.size != other.size or one.touched() != other.touched():
                continue
            both = Panel({**one.arrays, **other.arrays}, 0, f"{one.name} and {other.name}",
                         sorted(one.accesses + other.accesses, key=lambda a: a.number), one.size)
            ways = _ways(both, lambda a: a.array)
            launches = {key[0] for key in ways}
            if len(launches) < 2 or len(one.touched()) > LARGEST or any(len(way) > 1 for way in ways.values()):
                continue
            if any(sorted(map(list, (ways[k] for k in ways if k[0] == launch))) != [[False], [True]]
                   for launch in launches):
                continue
            both.remarks.append(f"{one.name} and {other.name} take turns: one wire for both")
            return _join_buffers([both if p is one else p for p in panels if p is not other])
    return panels


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
    if len(parts) != 2 or parts[0][1] - parts[0][0] != parts[1][1] - parts[1][0] or parts[0][1] - parts[0][0] < 3:
        return False
    return all(len(way) == 1 for way in _ways(panel, lambda a: panel.indexes(a)[0] >= parts[1][0]).values())


def lay_wires(panel, n, window):
    """Which places have a wire, from top to bottom."""
    touched = panel.touched()
    parts = _runs(touched)
    if window is None and _takes_turns(panel, parts) and parts[0][1] - parts[0][0] < LARGEST:
        (first, last), (second, end) = parts
        for array in panel.arrays:
            panel.wires.update({(array, place): place - first for place in range(first, last + 1)})
            panel.wires.update({(array, place): place - second for place in range(second, end + 1)})
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
    for before, place in zip([None, *shown], shown):
        if before is not None and place - 1 != before:
            panel.gaps.append(len(panel.labels))
        panel.wires.update({(array, place): len(panel.labels) for array in panel.arrays})
        panel.labels.append(str(place))


def _mark(group, panel, key_type):
    """What a group does to a panel's array."""
    own = [a for a in group if a in panel.members]
    reads = list(dict.fromkeys(place for a in own if a.way != "store" for place in panel.places(a)))
    writes = list(dict.fromkeys(place for a in own if a.writes for place in panel.places(a)))
    mark = Mark("dots", own, reads, writes)
    if any(a.way == "atomic" for a in own) or any(len(panel.places(a)) > 1 for a in own):
        return mark
    stores_elsewhere = any(a.writes and a not in panel.members for a in group)
    if len(reads) == 2 and not any(place not in reads for place in writes) and not stores_elsewhere:
        low, high = sorted(reads, key=lambda place: place[1])
        before = {panel.places(a)[0]: a.value for a in own if not a.writes}
        after = {**before, **{panel.places(a)[0]: a.value for a in own if a.writes}}
        if sorted(before.values()) == sorted(after.values()) and len(writes) != 1:
            at_low, at_high = (trace.key_of(after[place], panel.size, key_type) for place in (low, high))
            mark.kind = "exchange" if writes else "compare"
            mark.down, mark.tied, mark.swapped = at_low <= at_high, at_low == at_high, before != after
            return mark
    if writes:
        mark.kind = "flow"
    return mark


def _column(access):
    return access.launch, access.interval


def _follow_values(marks, panel):
    """The edges of flows.

    A value that its thread has read, in this interval or the one before, or its warp in this one (lanes hand values
    over by shuffles), comes from there. Others are made of what the thread has read since its last store; and so are
    all of an instruction that follows two reads or more and has ever made a value.
    """
    mark_of = {access: mark for mark in marks for access in mark.accesses}
    by_thread, by_warp, found, makes = {}, {}, {}, set()
    for access in panel.accesses:
        mark, warp = mark_of[access], access.thread // trace.LANES_PER_WARP
        at = (access.launch, access.block, access.interval)
        own = by_thread.setdefault((*at, access.thread), {})
        of_warp = by_warp.setdefault((*at, warp), {})
        if not access.writes:
            own[access.value] = of_warp[access.value] = (panel.places(access)[0], _column(access))
        elif mark.kind == "flow":
            before = by_thread.get((*at[:2], access.interval - 1, access.thread), {})
            since = {a.value: (panel.places(a)[0], _column(a)) for a in mark.accesses if not a.writes}
            found[access] = next((seen[access.value] for seen in (since, own, of_warp, before) if access.value in seen),
                                 None)
            if found[access] is None:
                makes.add(access.code)
    for mark in marks:
        for access in mark.accesses if mark.kind == "flow" else []:
            if access.writes:
                sources = [found[access]]
                if found[access] is None or (len(mark.reads) > 1 and access.code in makes):
                    sources = [(place, _column(access)) for place in mark.reads]
                mark.edges += [(*source, panel.places(access)[0]) for source in sources]
        if mark.kind == "flow" and not mark.edges:
            mark.kind = "dots"


def _code(mark):
    """The instructions that have read."""
    return frozenset(a.code for a in mark.accesses if not a.writes)


def _merged(marks):
    """The marks, with those made one that say of the same interval that the same two places are read together."""
    known, kept = {}, []
    for mark in marks:
        key = (*_column(mark.accesses[0]), *mark.reads)
        if mark.kind == "compare" and key in known:
            known[key].accesses += mark.accesses
            continue
        if mark.kind == "compare":
            known[key] = mark
        kept.append(mark)
    return kept


def fill(accesses, panels, key_type):
    """The marks of all panels, and the columns: (launch, interval), in order, those in which something is seen."""
    columns, directions = set(), {}
    made = [[] for _ in panels]
    for panel in panels:
        panel.members = set(panel.accesses)
    for group in trace.groups(accesses):
        first = group[0]
        for panel, marks in zip(panels, made):
            if not any(a in panel.members for a in group):
                continue
            mark = _mark(group, panel, key_type)
            if mark.kind == "exchange" and key_type == "pairs":  # values go where their keys go
                same = (first.launch, first.block, first.interval, first.thread, tuple(sorted(p[1] for p in mark.reads)))
                mark.down, mark.tied = directions.setdefault(same, (mark.down, mark.tied))
            marks.append(mark)
    for panel, marks in zip(panels, made):
        # What makes sums in one place exchanges nothing in another, though it may look so where values are equal.
        flowing = {_code(m) for m in marks if m.kind == "flow"}
        # Two places read at once and not written are comparators that found nothing to do, if there are others.
        exchanging = {_code(m) for m in marks if m.kind == "exchange"} - flowing
        for mark in marks:
            if mark.kind == "exchange" and _code(mark) in flowing:
                mark.kind = "flow"
            elif mark.kind == "compare" and _code(mark) in exchanging:
                mark.kind = "exchange"
        _follow_values(marks, panel)
        for mark in _merged(marks):
            if any(place in panel.wires for place in mark.reads + mark.writes):
                column = (mark.accesses[0].launch, mark.accesses[0].interval)
                columns.add(column)
                panel.marks.setdefault(column, []).append(mark)
    return sorted(columns)


# --- where it is drawn -------------------------------------------------------------------------------------------------


def _lanes(marks, wires):
    """Comparators that would lie on each other, side by side: (mark, lane), and how many lanes there are."""
    taken, placed = [], []
    for mark in sorted(marks, key=lambda m: sorted(place[1] for place in m.reads)):
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

    @property
    def reads_at(self):
        """The x of what is read, but for comparators."""
        return self.x + (self.lanes * LANE if self.lanes and (self.flows or self.dots) else 0)

    @property
    def writes_at(self):
        """The x of what is written."""
        return self.reads_at + (FLOW if self.flows else 10)


def lay_columns(keys, panels):
    """The columns from left to right, and the x where they end."""
    columns, x, before = [], LEFT + 22, None
    for launch, interval in keys:
        column = Column(launch, interval)
        for panel in panels:
            marks = panel.marks.get((launch, interval), [])
            pairs = [m for m in marks if m.kind in ("exchange", "compare")]
            column.lanes = max(column.lanes, _lanes(pairs, panel.wires)[1])
            column.flows |= any(edge[1] == (launch, interval) for m in marks for edge in m.edges)
            column.dots |= any(m.kind in ("dots", "flow") for m in marks)
        if before is not None:
            x += 2 * COLUMN_GAP + (LAUNCH_GAP if before != launch else 0)
        column.x, before = x, launch
        x += column.width
        columns.append(column)
    return columns, x


def _said_of(access, panel, run):
    place = panel.indexes(access)
    words = {"load": "reads", "store": "writes", "atomic": "atomically changes"}[access.way]
    where = f"{place[0]}" if len(place) == 1 else f"{place[0]} to {place[-1]}"
    line = run.lines.get(access.code, "")
    text = f"{words} {where}: {access.value}" + (f" ({_PLACED.sub(chr(92) + '2', line)})" if line else "")
    if access.conflict:
        text += f"; bank conflict: its warp takes {access.conflict[0]} wavefronts, not {access.conflict[1]}"
    return text + ("; a race" if access.races else "")


def _hover(mark, panel, run):
    first = mark.accesses[0]
    threads = list(dict.fromkeys(a.thread for a in mark.accesses))
    if len(threads) > 1:  # which do the same
        return f"block {first.block}, {len(threads)} threads: " + \
            " and ".join(dict.fromkeys(_said_of(a, panel, run) for a in mark.accesses))
    head = f"block {first.block}, thread {first.thread}"
    if mark.kind == "exchange":
        head += ": swapped" if mark.swapped else ": in order already"
    return "\n".join([head, *(_said_of(a, panel, run) for a in mark.accesses)])


# --- the drawing -------------------------------------------------------------------------------------------------------


def _warp_colour(mark):
    return WARPS[mark.accesses[0].thread // trace.LANES_PER_WARP % len(WARPS)]


class _Painter:
    """Draws the marks of one panel, whose first wire lies at `top`."""

    def __init__(self, svg, panel, run, columns, top):
        self.svg, self.panel, self.run, self.top = svg, panel, run, top
        self.columns = {(column.launch, column.interval): column for column in columns}
        self.bottom = self.y_of_wire(len(panel.labels) - 1) + 12

    def y_of_wire(self, wire):
        return self.top + wire * PITCH + sum(8 for gap in self.panel.gaps if gap <= wire)

    def y(self, place):
        """Of a place; those without a wire lie beyond the bottom."""
        wire = self.panel.wires.get(place)
        return self.bottom if wire is None else self.y_of_wire(wire)

    def wires(self, right):
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
                self.svg.line(start, y, end, y, WIRE, 1)
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

    def flow(self, column, mark):
        colour, end = INK, column.writes_at
        wrong = {(place, a.writes) for a in mark.accesses if a.races or a.conflict for place in self.panel.places(a)}
        sources = {(place, column.reads_at) for place in mark.reads}
        for source, read_in, target in mark.edges:
            start = self.columns[read_in].reads_at
            sources.add((source, start))
            if source in self.panel.wires and target in self.panel.wires:
                self.svg.line(start, self.y(source), end, self.y(target), colour, 1.3)
            elif source in self.panel.wires:  # a short piece of what leads out of the picture, or comes from there
                self.svg.line(start, self.y(source), start + 9, self.y(source) + self.away(target, source), colour, 1.3,
                              "2 2")
            elif target in self.panel.wires:
                self.svg.line(end - 9, self.y(target) + self.away(source, target), end, self.y(target), colour, 1.3, "2 2")
        for source, start in sorted(sources, key=lambda one: (one[1], one[0][1])):
            if source in self.panel.wires:
                self.end(start, source, 2.6, PAPER, mark, (source, False) in wrong)
        for target in mark.writes:
            if target in self.panel.wires:
                self.end(end, target, 3, None, mark, (target, True) in wrong)

    def end(self, x, place, radius, fill, mark, wrong):
        """A dot at the end of a line; `fill`: None for its colour."""
        colour = RED if wrong else _warp_colour(mark)
        self.svg.circle(x, self.y(place), radius, fill or colour, colour, 1.2)
        if wrong:
            self.svg.circle(x, self.y(place), 6, "none", RED, 1)

    @staticmethod
    def away(outside, inside):
        """Up or down to a place that has no wire."""
        return 8 if outside[1] > inside[1] else -8

    def dots(self, column, mark):
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

    def column(self, column):
        """All marks of a column."""
        marks = self.panel.marks.get((column.launch, column.interval), [])
        pairs, _ = _lanes([m for m in marks if m.kind in ("exchange", "compare")], self.panel.wires)
        for mark, lane in pairs:
            self.svg.open_group(_hover(mark, self.panel, self.run), mark.kind)
            self.comparator(column.x + lane * LANE, mark)
            self.svg.close_group()
        for mark in marks:
            if mark.kind in ("flow", "dots"):
                self.svg.open_group(_hover(mark, self.panel, self.run), mark.kind)
                (self.flow if mark.kind == "flow" else self.dots)(column, mark)
                self.svg.close_group()


def _boundaries(svg, columns, top, bottom):
    """A thin line a barrier, a stronger one a launch."""
    for before, after in zip(columns, columns[1:]):
        x = (before.x + before.width + after.x) / 2
        if before.launch == after.launch:
            svg.line(x, top, x, bottom, RULE, 1, "2 3")
        else:
            svg.line(x, top, x, bottom, RULE, 1.5)


def _heads(svg, run, columns, y, right):
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
            svg.text(column.x + column.width / 2, y + 21, str(column.launch if by_launch else column.interval), 10.5, MUTED)
            if i and own[i - 1].launch == column.launch and own[i - 1].interval + 1 < column.interval:
                svg.text((own[i - 1].x + own[i - 1].width + column.x) / 2, y + 20, "…", 10.5, MUTED)
    svg.text(LEFT - 9, y + 21, units.pop() if len(units) == 1 else "", 10.5, MUTED, "end")


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


def choose_launches(run, asked):
    """The launches to draw, a range: those asked for, or as many from the first on as a picture can hold."""
    if asked is not None:
        return asked
    columns, seen = 0, {}
    for access in run.accesses:
        seen.setdefault(access.launch, set()).add(access.interval)
    for launch in sorted(seen):
        columns += len(seen[launch])
        if columns > MOST_COLUMNS and launch > min(seen):
            return range(launch)
    return range(len(run.launches))


def draw(run, findings, title, n, which=None, window=None, launches=None, second=None):
    """The picture of a run as SVG text.

    `which`: "shared", "global", "all" or None; `window` and `launches`: the places and launches to draw, or None;
    `second`: the name of the runner's second array, or None.
    """
    found = re.search(r": \d+ (\w+) keys", title)
    key_type = found[1] if found else ""
    drawn = choose_launches(run, launches)
    accesses = [access for access in run.accesses if access.launch in drawn]
    panels, left_out = panels_of(run, accesses, which, second)
    for panel in panels:
        lay_wires(panel, n, window)
    panels = [panel for panel in panels if panel.wires]
    columns, right = lay_columns(fill(accesses, panels, key_type), panels)
    right += 22
    svg = Svg(title)
    width = max(right + 40, 420)
    heading = _wrapped(title, int((width - 40) / 7))
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
        small.append(f"launches {drawn[0]} to {drawn[-1]} of {len(run.launches)}; --launches shows others")
    if run.cut:
        small.append("cut off: the run makes more accesses than are kept")
    for text, colour in [(t, MUTED) for t in small] + [(in_words(f), RED) for f in findings[:MOST_FINDINGS]]:
        for line in _wrapped(text, int((width - LEFT - 20) / 5.9)):
            y += 16
            svg.text(LEFT, y + 8, line, 11, colour, "start")
    return svg.text_of(width, y + 24)

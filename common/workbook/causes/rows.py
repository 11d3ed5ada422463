"""The step that sorts rows in registers: what its lanes load, send by shuffles, and store."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ..core.judge_types import Case
from ..pictures.trace import Access, Begin, Meeting, Trace
from .source import line_of
from .stage_check import Cause, Run
from .tiles import of_other_order

LANES, KEYS_PER_LANE = 32, 4
ROW = LANES * KEYS_PER_LANE
Traced = Callable[[Case, "tuple[int, int] | None"], Trace]
_LAST = {("u32", True): 0xFFFFFFFF, ("u32", False): 0, ("i32", True): 0x7FFFFFFF, ("i32", False): 0x80000000}
_NEAR = 6  # lines after a shuffle
# Which function the line with the fault calls to keep one of two keys.
_KEPT_BY = {
    **dict.fromkeys(("up turned", "down", "last"), "earlier"),
    **dict.fromkeys(("down turned", "up", "first"), "later"),
}
_PAIR_OF_LANE = re.compile(r"\w\[\d\]\s*,\s*\w+\[\d\]")
_SENT = {"up": 3, "down": 0}  # the key that a lane sends to the next lane, and to the previous one

# What each double phase may do wrong: a name in _Registers, and what is then true of the step.
_VARIANTS = {
    "01": "the keys 0 and 1 of each lane are never compared: even phases compare the pairs (0, 1) and (2, 3)",
    "23": "the keys 2 and 3 of each lane are never compared: even phases compare the pairs (0, 1) and (2, 3)",
    "12": "the keys 1 and 2 of each lane are never compared: odd phases compare them, too",
    **{
        f"{pair} turned": f"the keys {pair[0]} and {pair[1]} of each lane are put in the wrong order: "
        f"pass key {pair[0]} first, then key {pair[1]}"
        for pair in ("01", "23", "12")
    },
    "up": "the first key of a lane is never compared with the last one of the previous lane",
    "down": "the last key of a lane is never compared with the first one of the next lane",
    "first": "lane 0 has no previous lane, so its first key must stay as it is in odd phases",
    "last": "lane 31 has no next lane, so its last key must stay as it is in odd phases",
    "up turned": "in odd phases the right lane of a pair keeps the earlier key: it must keep the later one",
    "down turned": "in odd phases the left lane of a pair keeps the later key: it must keep the earlier one",
    "both turned": "in odd phases, the left lane of a pair keeps the later key, and the right one the earlier key: "
    "it must be the other way round",
    "down late": "the first key of a lane is sent after it has changed: send it before it is compared with the last "
    "key of the previous lane",
    "up late": "the last key of a lane is sent after it has changed: send it before it is compared with the first key "
    "of the next lane",
    "tests exchanged": "in odd phases, lane 0 keeps its last key and lane 31 its first one: it must be the other way "
    "round, because lane 31 has no next lane and lane 0 has no previous one",
}
# Lanes that keep a key in odd phases although they have a neighbour: by the first or last of them.
_KEEPING_LAST = {
    f"last from {lane}": f"in odd phases, lanes from {lane} on keep their last key: only lane 31 has no next lane"
    for lane in range(1, LANES - 1)
}
_KEEPING_FIRST = {
    f"first to {lane}": f"in odd phases, lanes up to {lane} keep their first key: only lane 0 has no previous lane"
    for lane in range(1, LANES - 1)
}
_ALL_VARIANTS = {**_VARIANTS, **_KEEPING_LAST, **_KEEPING_FIRST}


@dataclass
class _Registers:
    """The keys of a row, four per lane, as numbers of which smaller ones come first. `fault`: see _VARIANTS."""

    keys: list[int]
    fault: str = ""

    def _exchange(self, i: int, k: int) -> None:
        if self.fault == f"{i}{k}":
            return
        first, second = (max, min) if self.fault == f"{i}{k} turned" else (min, max)
        for lane in range(0, ROW, KEYS_PER_LANE):
            a, b = self.keys[lane + i], self.keys[lane + k]
            self.keys[lane + i], self.keys[lane + k] = first(a, b), second(a, b)

    def sent(self) -> Iterator[dict[str, list[int]]]:
        """What the lanes send in each odd phase."""
        for _ in range(ROW // 2):
            self._exchange(0, 1)
            self._exchange(2, 3)
            self._exchange(1, 2)
            yield self._odd()

    def _odd(self) -> dict[str, list[int]]:
        firsts, lasts = self.keys[0::4], self.keys[3::4]
        fault = self.fault
        is_exchanged = fault == "tests exchanged"
        # Which lanes take part: those from one on, and those below one.
        begins = LANES if fault == "up" else 0 if is_exchanged or fault == "first" else 1
        begins = int(fault.split()[-1]) + 1 if fault in _KEEPING_FIRST else begins
        ends = 0 if fault == "down" else LANES if is_exchanged or fault == "last" else LANES - 1
        ends = int(fault.split()[-1]) if fault in _KEEPING_LAST else ends
        up = [min, max][fault not in ("up turned", "both turned")]
        down = [max, min][fault not in ("down turned", "both turned")]
        sent = {"up": lasts[:], "down": firsts[:]}
        before = [lasts[max(lane - 1, 0)] for lane in range(LANES)]
        new_firsts = [
            first if lane < begins or (is_exchanged and lane == LANES - 1) else up(before[lane], first)
            for lane, first in enumerate(firsts)
        ]
        if fault == "down late":
            sent["down"] = new_firsts[:]
        behind = [sent["down"][min(lane + 1, LANES - 1)] for lane in range(LANES)]
        new_lasts = [
            last if lane >= ends or (is_exchanged and lane == 0) else down(last, behind[lane])
            for lane, last in enumerate(lasts)
        ]
        if fault == "up late":
            sent["up"] = new_lasts[:]
            before = [new_lasts[max(lane - 1, 0)] for lane in range(LANES)]
            new_firsts = [first if lane == 0 else max(before[lane], first) for lane, first in enumerate(firsts)]
        self.keys[0::4], self.keys[3::4] = new_firsts, new_lasts
        return sent


@dataclass
class _Row:
    """What a warp does with its first row."""

    run: Run
    case: Case
    number: int
    launch_place: str
    loads: list[Access]
    stores: list[Access]
    shuffles: list[Meeting]

    @property
    def first(self) -> int:
        return self.number * ROW

    def of_moves(self) -> Cause | None:
        """Keys that are loaded or stored by another lane than theirs."""
        for access in (*self.loads, *self.stores):
            lane = access.thread % LANES
            if (position := access.offset // access.bytes) >= self.case.n:
                way, remedy = ("loads", "take a sentinel there, lab::last_key<Key>(order)")
                if access.writes:
                    way, remedy = ("stores", "store a key only where there is one")
                text = f"lane {lane} {way} keys[{position}], but the last one is keys[{self.case.n - 1}]"
                place = self.run.place(access.code)
                return Cause(place, f"row {self.number}: {text}", (remedy, self.run.decision_of(place)))
            position = access.offset // access.bytes
            begin = self.first + KEYS_PER_LANE * lane
            if not begin <= position < begin + KEYS_PER_LANE:
                way = "loads" if access.way == "load" else "stores"
                text = f"row {self.number}: lane {lane} {way} keys[{position}]; its four keys are keys[{begin}] to "
                place = self.run.place(access.code)
                text += f"keys[{begin + KEYS_PER_LANE - 1}]"
                return Cause(place, text, (self.run.index_of(place) or self.run.calls_of(place),))
        loaded = {access.offset // access.bytes: access for access in self.loads}
        end = min(self.first + ROW, self.case.n)
        missing = [position for position in range(self.first, end) if position not in loaded]
        if missing and self.loads:
            text = f"row {self.number}: no lane loads keys[{missing[0]}]"
            place = self.run.place(self.loads[0].code)
            return Cause(place, text, (self.run.calls_of(place) or self.run.guards_of(place),))
        stored = {access.offset // access.bytes for access in self.stores}
        missing = [position for position in range(self.first, end) if position not in stored]
        if missing and self.stores:
            place = self.run.place(self.stores[0].code)
            text = f"row {self.number}: nothing is stored to keys[{missing[0]}]"
            return Cause(place, text, (self.run.calls_of(place) or self.run.guards_of(place),))
        return None

    def initial(self) -> list[int] | None:
        """The keys before the first phase; None if a sentinel of the type is not known."""
        last = _LAST.get((self.case.type or "u32", self.case.order == "ascending"))
        keys = [last] * ROW
        for access in self.loads:
            keys[access.offset // access.bytes - self.first] = access.value
        return None if None in keys else [self._rank(key or 0) for key in keys]

    def _rank(self, bits: int) -> int:
        number = bits - (1 << 32) * (self.case.type == "i32" and bits >> 31)
        return number if self.case.order == "ascending" else -number

    def sent(self, way: str) -> list[Meeting]:
        """The shuffles in one direction."""
        return [one for one in self.shuffles if way in one.name]

    def of_sources(self) -> Cause | None:
        """A shuffle that does not fetch the key of a neighbouring lane."""
        for one in self.shuffles:
            distance = -1 if "up" in one.name else 1
            for lane, source in enumerate(one.sources):
                if source not in (lane, lane + distance) and 0 <= lane + distance < LANES:
                    text = (
                        f"lane {lane} fetches the key of lane {source}: its neighbour there is lane {lane + distance}"
                    )
                    return Cause(one.place, f"row {self.number}: {text}")
        return None

    def of_phases(self) -> Cause | None:
        """The first odd phase in which the lanes do not send what they must, and why."""
        keys = self.initial()
        ups, downs = self.sent("up"), self.sent("down")
        if len(ups) + len(downs) != len(self.shuffles):  # others fetch a key, too
            return None
        if ups and not downs or downs and not ups:
            side, there = ("previous", "up") if downs else ("next", "down")
            text = f"row {self.number}: no lane fetches a key from the {side} lane, with __shfl_{there}_sync()"
            return Cause((ups or downs)[0].place, text, ("is a shuffle in the wrong direction, or missing?",))
        if keys is None or not ups:
            return None
        right = list(_Registers(keys[:]).sent())
        actual = [
            {"up": list(map(self._rank, up.values)), "down": list(map(self._rank, down.values))}
            for up, down in zip(ups, downs)
        ]
        if len(ups[0].lanes) < LANES or len(downs[0].lanes) < LANES:
            return None
        wrong = next((m for m, (a, b) in enumerate(zip(actual, right)) if a != b), None)
        if wrong is None:
            return self._too_few(len(actual), downs[-1].place)
        place = {"up": ups[wrong].place, "down": downs[wrong].place}
        way = next(way for way in _SENT if actual[wrong][way] != right[wrong][way])
        return (
            (self._of_sentinels(actual[0], place[way]) if wrong == 0 else None)
            or self._of_variants(keys, actual, place)
            or self._of_sent(keys, wrong, way, actual[wrong], place[way])
        )

    def _too_few(self, done: int, place: str) -> Cause | None:
        if done >= ROW // 2:
            return None
        text = f"row {self.number}: only {2 * done} phases are executed, but {ROW} keys need {ROW}"
        return Cause(place, text, ("half of the phases are even, and half are odd", self.run.repeated_by(place)))

    def _of_sentinels(self, sent: dict[str, list[int]], place: str) -> Cause | None:
        """Lanes after the last key that do not hold sentinels."""
        loads = [access for access in self.loads if access.offset // access.bytes < self.case.n]
        place = self.run.place(loads[0].code) if loads else place
        source = self.run.source(place)
        if beside := source.filled_beside(line_of(place)[1]):
            place = f"{source.file}:{beside}"
        last = self._rank(_LAST[self.case.type or "u32", self.case.order == "ascending"])
        behind = -(-(self.case.n - self.first) // KEYS_PER_LANE)
        for lane in range(max(behind, 0), LANES):
            if sent["up"][lane] != last and sent["down"][lane] != last:
                held = sent["up"][lane] if self.case.order == "ascending" else -sent["up"][lane]
                text = f"row {self.number}: lane {lane} has {held} at the positions from n on"
                opposite = self._rank(_LAST[self.case.type or "u32", self.case.order != "ascending"])
                detail = "fill the positions from n on with lab::last_key<Key>(order)"
                if sent["up"][lane] == opposite and self.case.order == "descending":  # in ascending order, 0
                    detail = f"that is the last key in ascending order, but the order here is descending; {detail}"
                source = self.run.source(place)
                filled = next((n for n, line in enumerate(source.lines, 1) if "last_key" in line), 0)
                return Cause(place, text, (detail, source.quoted(filled) if filled else ""))
        return None

    def _of_variants(
        self, keys: list[int], actual: Sequence[dict[str, list[int]]], place: dict[str, str]
    ) -> Cause | None:
        for fault, words in _ALL_VARIANTS.items():
            if all(a == b for a, b in zip(actual, _Registers(keys[:], fault).sent())):
                way = "down" if fault == "last" or fault.startswith("down") else "up"
                text, _, must = words.partition(": ")
                kept = self._keeps(place[way], fault) or place[way]
                source = self.run.source(kept)
                if fault.isdigit() and (copies := source.compared_copies(int(fault[0]), int(fault[1]))):
                    line, why = copies
                    return Cause(f"{source.file}:{line}", f"row {self.number}: {text}", (why, source.quoted(line)))
                pairs = [n for n, line in enumerate(source.lines, 1) if _PAIR_OF_LANE.search(line)]
                pairs = pairs if fault[:2].isdigit() else []
                compared = "; ".join(map(source.quoted, pairs[:KEYS_PER_LANE]))
                is_left_out = fault in ("up", "down") or "must stay" in text or "keep" in text
                tested = source.tested_by(line_of(kept)[1]) if is_left_out else ""
                return Cause(kept, f"row {self.number}: {text}", (must, compared, tested))
        turned = [{way: [-key for key in own] for way, own in one.items()} for one in actual]
        if all(a == b for a, b in zip(turned, _Registers([-key for key in keys]).sent())):
            return Cause(
                place["up"], f"row {self.number}: the keys are sorted in the opposite of {self.case.order} order"
            )
        return None

    def _keeps(self, place: str, fault: str) -> str:
        """The line below a shuffle that keeps the wrong one of two keys; "" if it is not known."""
        name = _KEPT_BY.get(fault, "")
        source, line = self.run.source(place), line_of(place)[1]
        near = range(line, min(line + _NEAR, len(source.lines)) + 1)
        lines = [n for n in near if name and re.search(rf"=[^=;]*\b{name}\b", source.lines[n - 1])]
        # Of two lines with this function, the right one keeps the other key of its lane.
        index = 0 if fault in ("up turned", "up", "first") else KEYS_PER_LANE - 1
        of_index = re.compile(rf"\w\[{index}\]\s*=[^=]")
        own = [n for n in lines if of_index.search(source.lines[n - 1])] or lines
        if len(own) != 1 and name and 0 < line <= len(source.lines):
            _, _, last = source.function_of(line)
            own = [n for n in range(line, last + 1) if of_index.search(source.lines[n - 1])]
        return f"{source.file}:{own[0]}" if len(own) == 1 else ""

    def _of_sent(self, keys: list[int], wrong: int, way: str, actual: dict[str, list[int]], place: str) -> Cause:
        state = _Registers(keys[:])
        phases = state.sent()
        for _ in range(wrong):
            next(phases)
        for i, k in ((0, 1), (2, 3), (1, 2)):
            state._exchange(i, k)
        expected = state.keys[_SENT[way] :: 4]
        side = "previous" if way == "down" else "next"
        if all(actual[one] == state.keys[_SENT[other] :: 4] for one, other in (("up", "down"), ("down", "up"))):
            text = f"row {self.number}: each lane sends its last key down and its first key up, instead of the reverse"
            return Cause(
                place,
                text,
                ("the last key goes up, to the next lane, and the first key goes down, to the previous one",),
            )
        for other in range(KEYS_PER_LANE):
            if other != _SENT[way] and actual[way] == state.keys[other::4]:
                text = f"each lane sends own[{other}]; the {side} lane needs own[{_SENT[way]}]"
                return Cause(place, f"row {self.number}: {text}")
        lane = next(lane for lane in range(LANES) if actual[way][lane] != expected[lane])
        text = (
            f"in phase {2 * wrong + 1}, lane {lane} sends {abs(actual[way][lane])}, where its key {_SENT[way]} must be "
            f"{abs(expected[lane])}"
        )
        detail = f"check what the phases up to {2 * wrong} do with the keys of a lane"
        return Cause(place, f"row {self.number}: {text}", (detail,))


def _rows(run: Run, case: Case) -> Iterator[_Row]:
    """The first row of each warp."""
    warps: dict[tuple[int, int], _Row] = {}
    block = 0
    if not run.trace.launches:
        return
    launch = run.trace.launches[0]
    per_block = int(launch.block.partition(",")[0]) // LANES
    for event in run.trace.events:
        if isinstance(event, Begin):
            block = max(event.block, 0)
        elif isinstance(event, (Access, Meeting)):
            warp = event.warp if isinstance(event, Meeting) else event.thread // LANES
            number = block * per_block + warp
            row = warps.setdefault((block, warp), _Row(run, case, number, launch.place, [], [], []))
            if isinstance(event, Meeting):
                if event.name.startswith("__shfl") and not row.stores:
                    row.shuffles.append(event)
            elif event.way == "load" and not row.stores:
                row.loads.append(event)
            elif event.writes and len(row.stores) < ROW:
                row.stores.append(event)
    yield from (warps[key] for key in sorted(warps))


def beside_races(case: Case, traced: Traced) -> Cause | None:
    """Keys that are loaded or stored by another lane than theirs, which is how rows come to race."""
    run = Run(traced(case, None), case.type or "u32", case.order)
    return next((wrong for row in _rows(run, case) if row.first < case.n and (wrong := row.of_moves())), None)


def search(case: Case, traced: Traced) -> Cause | None:
    """The first row that is not sorted as it must be."""
    trace = traced(case, None)
    if wrong := of_other_order(trace, case):
        return wrong
    run = Run(trace, case.type or "u32", case.order)
    rows = [row for row in _rows(run, case) if row.first < case.n]
    for row in rows:
        if wrong := row.of_moves() or row.of_sources() or row.of_phases():
            return wrong
    taken = {access.offset // access.bytes // ROW for access in trace.accesses}
    missing = [number for number in range(-(-case.n // ROW)) if number not in taken]
    if missing and rows:
        text = f"no warp takes row {missing[0]}, which begins at keys[{missing[0] * ROW}]"
        detail = "use a loop, so that each warp takes more than one row if there are fewer warps than rows"
        place = run.place(trace.accesses[0].code)
        return Cause(place, text, (detail,))
    return None

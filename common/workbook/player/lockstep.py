"""Combines the accesses of a warp's lanes into the requests that a GPU would make.

The check build runs the lanes of a warp one after the other, each as far as it can. A GPU runs them together: an
instruction of the warp is one request of all its lanes. Lanes belong to one request if each executes the same
instruction for the first time since the last barrier, or the second, ..., as in the check build's counts.

The order of the run is changed only where nothing depends on it. What one lane does stays in its order, and so do two
accesses of one element, at least one of which writes. Where the lanes' orders contradict each other, a request is
divided.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Union

from ..pictures.trace import LANES_PER_WARP, Access, Event, Meeting

Own = Union[Access, Meeting]  # what lanes of one warp do
Key = tuple[object, ...]
WORD = 4  # bytes: accesses of one word count as accesses of one element


def _lanes(event: Own) -> tuple[int, ...]:
    return event.lanes if isinstance(event, Meeting) else (event.thread % LANES_PER_WARP,)


def _warp(event: Own) -> int:
    return event.warp if isinstance(event, Meeting) else event.thread // LANES_PER_WARP


def requests(events: Iterable[Event]) -> Iterator[list[Event]]:
    """The events of a run, those of one request together. All others are alone."""
    counts: dict[Key, int] = {}  # how often a thread has executed an instruction since the last barrier
    stretch: list[Own] = []  # what one warp has done without another one in between
    for event in events:
        is_own = isinstance(event, (Access, Meeting))
        if stretch and not (is_own and _warp(event) == _warp(stretch[0])):  # type: ignore[arg-type]
            yield from _Stretch(stretch, counts).requests()
            stretch = []
        if isinstance(event, (Access, Meeting)):
            stretch.append(event)
        else:
            counts.clear()
            yield [event]
    if stretch:
        yield from _Stretch(stretch, counts).requests()


class _Stretch:
    """What the lanes of one warp do, in the order of the run, until another warp continues."""

    def __init__(self, events: Sequence[Own], counts: dict[Key, int]) -> None:
        self.events = events
        self.keys = [self._key(event, number, counts) for number, event in enumerate(events)]
        self.after = self._order()  # for each event: those before it whose order matters
        self.is_done = [False] * len(events)
        self.left: dict[Key, int] = {}  # how many events of a request are left
        self.of_lane: list[list[int]] = [[] for _ in range(LANES_PER_WARP)]
        for number, event in enumerate(events):
            self.left[self.keys[number]] = self.left.get(self.keys[number], 0) + 1
            for lane in _lanes(event):
                self.of_lane[lane].append(number)
        self.at = [0] * LANES_PER_WARP

    @staticmethod
    def _key(event: Own, number: int, counts: dict[Key, int]) -> Key:
        if isinstance(event, Meeting):
            return (number,)
        instruction = (event.code, event.bytes, event.way, event.array.space)
        own = (event.thread, *instruction)
        time = counts.get(own, 0)
        counts[own] = time + 1
        return (*instruction, time)

    def _order(self) -> list[list[int]]:
        """For each event, earlier ones of other lanes that must come before it."""
        after: list[list[int]] = []
        writes: dict[tuple[int, int], int] = {}  # the last one of each word
        reads: dict[tuple[int, int], list[int]] = {}  # since then
        for number, event in enumerate(self.events):
            before: list[int] = []
            if isinstance(event, Access):
                for word in range(event.offset // WORD, (event.offset + event.bytes - 1) // WORD + 1):
                    place = (event.array.number, word)
                    before += [writes[place]] if place in writes else []
                    if event.writes:
                        before += reads.pop(place, [])
                        writes[place] = number
                    else:
                        reads.setdefault(place, []).append(number)
            after.append(before)
        return after

    def _fronts(self) -> dict[Key, list[int]]:
        """The next event of each lane, by request, the earliest first. A meeting is there when all its lanes are."""
        fronts = {self.of_lane[lane][at]: None for lane, at in enumerate(self.at) if at < len(self.of_lane[lane])}
        by_request: dict[Key, list[int]] = {}
        for number in sorted(fronts):
            event = self.events[number]
            if all(self.of_lane[lane][self.at[lane]] == number for lane in _lanes(event)):
                by_request.setdefault(self.keys[number], []).append(number)
        return by_request

    def _possible(self, numbers: Sequence[int]) -> list[int]:
        """Those that do not come before something that they depend on."""
        chosen: set[int] = set()
        for number in numbers:
            if all(self.is_done[other] or other in chosen for other in self.after[number]):
                chosen.add(number)
        return sorted(chosen)

    def _next(self) -> list[int]:
        fronts = self._fronts()
        for key, numbers in fronts.items():
            if len(numbers) == self.left[key] and len(self._possible(numbers)) == len(numbers):
                return numbers
        # The earliest of all that are left depends on nothing.
        return self._possible(next(iter(fronts.values())))

    def _first_lane(self, number: int) -> int:
        return _lanes(self.events[number])[0]

    def requests(self) -> Iterator[list[Event]]:
        """The events, by request."""
        done = 0
        while done < len(self.events):
            numbers = self._next()
            for number in numbers:
                self.is_done[number] = True
                self.left[self.keys[number]] -= 1
                for lane in _lanes(self.events[number]):
                    self.at[lane] += 1
            done += len(numbers)
            depends = any(other in numbers for number in numbers for other in self.after[number])
            yield [self.events[n] for n in (numbers if depends else sorted(numbers, key=self._first_lane))]

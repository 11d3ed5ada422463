"""Where the state of a run departs from what a step must do, launch by launch. A lab's expect.json says for a step what
its launches do to the array that they read most: {"1": {"effect": "runs", "first": 2}}, a step's number and one of

    phases      launch t puts the pairs in order that begin at even positions (t is even) or at odd ones
    runs        launch t puts each run of first * 2^t elements in order
    stages      launch t is stage t of the bitonic network, whose pairs are (i, i ^ j), ascending where i & k is 0

Launches that write global memory without reading it, such as those that fill an array, do not count."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..core.course import ROOT
from ..pictures.trace import Access, Trace, key_of

Keys = list[Any]  # what the elements are, as they are compared
Effect = Callable[[Keys], Keys]


@dataclass(frozen=True)
class Departure:
    """The first launch that does not do what it must. `index`: of the first element; -1: a launch is missing."""

    effect: str
    numbers: tuple[int, ...]  # of the effect: the parity, the length of runs, or k and j
    launch: int  # from 0
    index: int = -1
    found: str = ""  # what is there; "": nothing has been written there
    wanted: str = ""
    access: Access | None = None  # the last store to it in this launch; if there is none, the last load
    stores: tuple[Access, ...] = ()  # of this launch to other elements, if there is no access
    kernel: str = ""
    launches: int = 0  # in all
    place: str = ""  # of the launch, FILE:LINE


def rule_of(lab: str, step: int) -> dict[str, Any] | None:
    """What a lab expects of a step's launches; None: nothing."""
    path = ROOT / "labs" / lab / "expect.json"
    rules = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    rule: dict[str, Any] | None = rules.get(str(step))
    return rule


def _exchanged(keys: Keys, pairs: Sequence[tuple[int, int, bool]], is_descending: bool) -> Keys:
    """The keys with these pairs in order; a pair's last member says whether it is in the order of the whole sort."""
    done = list(keys)
    for low, high, is_forward in pairs:
        if high < len(done) and (done[low] > done[high]) == (is_forward != is_descending) and done[low] != done[high]:
            done[low], done[high] = done[high], done[low]
    return done


def _runs(keys: Keys, length: int, is_descending: bool) -> Keys:
    parts = (keys[first : first + length] for first in range(0, len(keys), length))
    return [key for part in parts for key in sorted(part, reverse=is_descending)]


def _effects(rule: Mapping[str, Any], n: int, is_descending: bool) -> Iterator[tuple[tuple[int, ...], Effect]]:
    """Yields for each launch in turn the numbers that identify it, and what it must do."""
    if rule["effect"] == "phases":
        for phase in range(n):
            pairs = [(i, i + 1, True) for i in range(phase % 2, n - 1, 2)]
            yield (phase % 2,), lambda keys, own=pairs: _exchanged(keys, own, is_descending)  # type: ignore[misc]
    elif rule["effect"] == "runs":
        length = int(rule["first"])
        while length < 2 * n or length == rule["first"]:
            yield (length,), lambda keys, own=length: _runs(keys, own, is_descending)  # type: ignore[misc]
            length *= 2
    elif rule["effect"] == "stages":
        k = 2
        while k < 2 * n:
            j = k // 2
            while j:
                pairs = [(i, i ^ j, not i & k) for i in range(n) if not i & j]
                yield (k, j), lambda keys, own=pairs: _exchanged(keys, own, is_descending)  # type: ignore[misc]
                j //= 2
            k *= 2


class _Memory:
    """The contents of the global arrays while a trace is read."""

    def __init__(self, key_type: str) -> None:
        self._key_type = key_type
        self._contents: dict[int, dict[int, Any]] = {}  # by the array's number, then by index

    def run(self, accesses: Sequence[Access], number: int, count: int) -> list[Any]:
        """What an array holds before accesses, which then happen. None stands for what is not known."""
        seen: set[tuple[int, int]] = set()
        for access in accesses:
            at = (access.array.number, access.offset // access.bytes)
            if at not in seen and not access.writes and not access.outside:
                own = self._contents.setdefault(at[0], {})
                own.setdefault(at[1], key_of(access.value, access.bytes, self._key_type))
            seen.add(at)
        before = self.held(number, count)
        for access in accesses:
            if access.writes and not access.outside:
                value = key_of(access.value, access.bytes, self._key_type)
                self._contents.setdefault(access.array.number, {})[access.offset // access.bytes] = value
        return before

    def held(self, number: int, count: int) -> list[Any]:
        own = self._contents.get(number, {})
        return [own.get(index) for index in range(count)]


def departure(trace: Trace, rule: Mapping[str, Any], n: int, key_type: str, is_descending: bool) -> Departure | None:
    """The first launch that departs from a rule; None if none does, as far as that is known. Of floating-point keys
    nothing is known, because some are equal to none."""
    if key_type.startswith("f"):
        return None
    memory, effects, launch, reads = _Memory(key_type), None, -1, -1  # the array that was read last; -1: none
    for number in range(len(trace.launches)):
        own = [one for one in trace.accesses if one.launch == number and one.array.space == "global"]
        writes = _busiest(own, is_writing=True)
        read = _busiest(own, is_writing=False)
        if read is None and (writes is not None or reads < 0):
            memory.run(own, -1, 0)
            continue
        reads = reads if read is None else read
        written = reads if writes is None else writes
        array = next(one for one in trace.accesses if one.array.number == reads)
        elements = array.array.bytes // array.bytes
        effects = effects or _effects(rule, elements, is_descending)
        before = memory.run(own, reads, elements)
        numbers, effect = next(effects, ((), None))
        if effect is None or None in before:
            return None
        launch, wanted, after = number, effect(before), memory.held(written, elements)
        index = next((i for i in range(min(n, elements)) if wanted[i] != after[i]), None)
        if index is not None:
            there = [one for one in own if one.array.number == written and one.offset // one.bytes == index]
            store = next((one for one in reversed(there) if one.writes), there[-1] if there else None)
            found = "" if after[index] is None else str(after[index])
            others = () if store else tuple(one for one in own if one.writes and one.array.number == written)
            found_there = Departure(rule["effect"], numbers, number, index, found, str(wanted[index]), store, others)
            return _at(trace, found_there)
    missing = next(effects, None) if effects else None
    return _at(trace, Departure(rule["effect"], missing[0], launch)) if missing else None


def _at(trace: Trace, found: Departure) -> Departure:
    launch = trace.launches[found.launch]
    return replace(found, kernel=launch.kernel, launches=len(trace.launches), place=launch.place)


def _busiest(accesses: Sequence[Access], is_writing: bool) -> int | None:
    counts = Counter(one.array.number for one in accesses if one.writes == is_writing)
    return max(counts, key=lambda number: (counts[number], -number), default=None)

"""Where the state of a run departs from what a step must do, launch by launch. A lab's expect.json says for a step
which states the keys, or another array, must pass through: {"1": {"state": "runs", "first": 2}}, a step's number and
one of

    phases      after phase t of odd-even sort, which orders the pairs that begin at even positions (t is even) or at
                odd ones
    runs        each run of first * 2^t elements is sorted; `first` can differ by the bytes of a key
    stages      after a stage of the bitonic network, whose pairs are (i, i ^ j), ascending where i & k is 0; with
                "mirrored", of the network that begins each merge with the pairs (i, i ^ (k - 1)), all ascending
    digits      the keys are in the order of their lowest `bits`, 2 * `bits`, ... bits, and stable
    counts      the array of `counters` with `bytes` bytes each holds the number of keys of each value; then, how many
                are below it

A launch that stores to an array of keys, or reads one and stores nothing, must lead to the next of these states or to a
later one: it may do the work of several. No other launch counts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..core.course import ROOT
from ..pictures.trace import MOST_BYTES, Access, Array, Trace, key_of

Keys = list[Any]  # what the elements are, as they are compared; None: it is not known
State = tuple[tuple[int, ...], Keys]  # the numbers that identify it, and what the array then holds
MOST_AHEAD = 1 << 20  # elements of the states to which a launch may lead


@dataclass(frozen=True)
class Departure:
    """The first launch that does not do what it must. `index`: of the first element; -1: a launch is missing."""

    state: str
    numbers: tuple[int, ...]  # of the state: the parity, the length of runs, k and j, or the number of bits
    launch: int  # from 0
    index: int = -1
    found: str = ""  # what is there; "": nothing has been written there
    wanted: str = ""
    access: Access | None = None  # the last store to it in this launch; if there is none, the last load
    stores: tuple[Access, ...] = ()  # of this launch to other elements, if there is no access
    kernel: str = ""
    launches: int = 0  # in all; 0: not known
    place: str = ""  # of the launch, FILE:LINE


def key_bytes(key_type: str) -> int:
    """ "u32": 4; "pairs" are of keys and values with 4 bytes each."""
    return int(key_type[1:]) // 8 if key_type[1:].isdigit() else 4


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


def _phases(keys: Keys, is_descending: bool) -> Iterator[State]:
    for phase in range(len(keys)):
        keys = _exchanged(keys, [(i, i + 1, True) for i in range(phase % 2, len(keys) - 1, 2)], is_descending)
        yield (phase % 2,), keys


def _runs(keys: Keys, length: int, is_descending: bool) -> Iterator[State]:
    first = length
    while length < 2 * len(keys) or length == first:
        parts = (keys[at : at + length] for at in range(0, len(keys), length))
        yield (length,), [key for part in parts for key in sorted(part, reverse=is_descending)]
        length *= 2


def _stages(keys: Keys, is_mirrored: bool, is_descending: bool) -> Iterator[State]:
    k = 2
    while k < 2 * len(keys):
        j = k // 2
        while j:
            bits = k - 1 if is_mirrored and j == k // 2 else j
            pairs = [(i, i ^ bits, is_mirrored or not i & k) for i in range(len(keys)) if not i & j]
            keys = _exchanged(keys, pairs, is_descending)
            yield (k, j), keys
            j //= 2
        k *= 2


def _digits(keys: Keys, step: int, key_type: str, is_descending: bool) -> Iterator[State]:
    width = 8 * key_bytes(key_type)
    lowest = -(1 << (width - 1)) if key_type.startswith("i") else 0  # its bits, as unsigned numbers are ordered, are 0
    for bits in range(step, width + 1, step):
        yield (bits,), sorted(keys, key=lambda key, size=1 << bits: (key - lowest) % size, reverse=is_descending)  # type: ignore[misc]


def _counts(keys: Keys, counters: int) -> Iterator[State]:
    held = Counter(keys)
    counts = [held[value] for value in range(counters)]
    yield (0,), counts
    yield (1,), [sum(counts[:value]) for value in range(counters)]


def _states(rule: Mapping[str, Any], keys: Keys, size: int, key_type: str, is_descending: bool) -> Iterator[State]:
    """The states that the keys, of `size` bytes each, pass through."""
    if rule["state"] == "phases":
        return _phases(keys, is_descending)
    if rule["state"] == "runs":
        first = rule["first"]
        return _runs(keys, first[str(size)] if isinstance(first, dict) else first, is_descending)
    if rule["state"] == "stages":
        return _stages(keys, bool(rule.get("mirrored")), is_descending)
    if rule["state"] == "digits":
        return _digits(keys, int(rule["bits"]), key_type, is_descending)
    return _counts(keys, int(rule["counters"]))


class _Memory:
    """The contents of the global arrays while a trace is read, as far as they are known."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._transfers = list(trace.transfers)
        self._bytes: dict[int, dict[int, int]] = {}  # by the allocation, then by the offset

    def begin(self, accesses: Sequence[Access]) -> None:
        """What happens before the accesses of a launch, and what these show of it."""
        while self._transfers and accesses and self._transfers[0].after <= accesses[0].number:
            one = self._transfers.pop(0)
            held, to = self._bytes.get(one.source, {}), self._bytes.setdefault(one.to, {})
            copied = {at: held.get(one.source_offset + at) for at in range(one.bytes)}
            for at, value in copied.items():
                to.pop(one.offset + at, None)
                if value is not None:
                    to[one.offset + at] = value
        written: set[tuple[int, int]] = set()
        for access in accesses:
            own = self._bytes.setdefault(access.array.allocation, {})
            value = access.value if access.before is None else access.before
            for at, byte in enumerate(() if access.way == "store" else value.to_bytes(access.bytes, "little")):
                if (access.array.allocation, access.offset + at) not in written:
                    own.setdefault(access.offset + at, byte)
            if access.writes:
                written.update((access.array.allocation, access.offset + at) for at in range(access.bytes))

    def run(self, accesses: Sequence[Access]) -> None:
        """The stores of a launch."""
        for access in accesses:
            if access.writes:
                own = self._bytes.setdefault(access.array.allocation, {})
                own.update(enumerate(access.value.to_bytes(access.bytes, "little"), access.offset))

    def held(self, allocation: int, count: int, size: int, key_type: str) -> Keys:
        """The elements of an array."""
        own = self._bytes.get(allocation, {})
        elements: Keys = []
        for first in range(0, count * size, size):
            known = [own[at] for at in range(first, first + size) if at in own]
            is_known = len(known) == size
            elements.append(key_of(int.from_bytes(bytes(known), "little"), size, key_type) if is_known else None)
        return elements


class _Run:
    """A run's launches, and the states that it must pass through."""

    def __init__(self, trace: Trace, rule: Mapping[str, Any], n: int, key_type: str, is_descending: bool) -> None:
        self._trace, self._rule, self._n, self._type, self._is_descending = trace, rule, n, key_type, is_descending
        self._size = key_bytes(key_type)
        self._memory = _Memory(trace)
        self._states: Iterator[State] = iter(())
        self._ahead: list[State] = []
        self._reached = 0  # states by the last launch

    def departure(self) -> Departure | None:
        """The first launch that does not lead to a later state."""
        last, contents = -1, Keys()
        of_launches: list[list[Access]] = [[] for _ in self._trace.launches]
        for access in self._trace.accesses:
            if access.array.space == "global" and not access.outside:
                of_launches[access.launch].append(access)
        for number, own in enumerate(of_launches[:-1] if self._trace.truncated else of_launches):
            self._memory.begin(own)
            if last < 0 and not self._begin(own):
                self._memory.run(own)
                continue
            self._memory.run(own)
            after = {one.allocation: self._contents(one) for one in self._changed(own)}
            if not after:
                continue
            if not self._ahead:
                return None
            last, held = number, list(after.values())
            reached = next((at for at, (_, keys) in enumerate(self._ahead) if keys in held), None)
            if reached is None:
                return self._departed(number, own, after)
            contents = self._ahead[reached][1]
            self._advance(reached + 1)
        missing = next((numbers for numbers, keys in self._ahead if keys != contents), None)
        if self._trace.truncated:
            return None
        return self._at(Departure(self._rule["state"], missing, last)) if missing else None

    def _begin(self, accesses: Sequence[Access]) -> bool:
        """The states, from what the array holds before the first launch that counts; whether there are any."""
        source = self._busiest(one for one in accesses if not one.writes)
        if source is None:
            return False
        keys = self._memory.held(source.allocation, source.bytes // self._size, self._size, self._type)
        if None in keys or not self._changed(accesses):
            return False
        self._states = _states(self._rule, keys, self._size, self._type, self._is_descending)
        self._advance(0)
        return True

    def _advance(self, reached: int) -> None:
        """Goes on to the state behind some."""
        self._reached, self._ahead = reached, self._ahead[reached:]
        most = max(1, MOST_AHEAD // max(1, self._n))
        while len(self._ahead) < most and (state := next(self._states, None)):
            self._ahead.append(state)

    def _with_keys(self, accesses: Iterable[Access]) -> Counter[Array]:
        """The arrays in which keys are accessed, one by one or as vectors, and how often. They are as long as the array
        of the keys, or as one with keys for a whole network."""
        own = [one for one in accesses if self._n <= one.array.bytes // self._size <= 1 << (self._n - 1).bit_length()]
        return Counter(one.array for one in own if one.bytes in (self._size, MOST_BYTES))

    def _busiest(self, accesses: Iterable[Access]) -> Array | None:
        counts = self._with_keys(accesses)
        return max(counts, key=lambda array: (counts[array], -array.number), default=None)

    def _changed(self, accesses: Sequence[Access]) -> list[Array]:
        """The arrays of which a launch has made a new state. A launch that writes nothing has left one as it was."""
        stores = [one for one in accesses if one.writes]
        if self._rule["state"] == "counts":
            written = dict.fromkeys(one.array for one in stores)
            return [array for array in written if array.bytes == self._rule["counters"] * self._rule["bytes"]]
        if stores:
            return list(self._with_keys(stores))
        read = self._busiest(accesses)
        return [read] if read else []

    def _contents(self, array: Array) -> Keys:
        if self._rule["state"] != "counts":
            return self._memory.held(array.allocation, array.bytes // self._size, self._size, self._type)
        size = int(self._rule["bytes"])
        return [count or 0 for count in self._memory.held(array.allocation, array.bytes // size, size, "u")]

    def _departed(self, number: int, accesses: Sequence[Access], after: Mapping[int, Keys]) -> Departure | None:
        """What a launch has done in place of what it must: as many states as the launch before or, if it is the first,
        what comes nearest to what it has done."""
        after_as_many = self._ahead[self._reached - 1 : self._reached] if self._reached else []
        alike = [
            (sum(a == b for a, b in zip(held, state[1])), -at, allocation)
            for allocation, held in after.items()
            for at, state in enumerate(after_as_many or self._ahead)
        ]
        _, at, allocation = max(alike)
        numbers, wanted = (after_as_many or self._ahead)[-at]
        held = after[allocation]
        index = next((i for i, (a, b) in enumerate(zip(held, wanted)) if a != b), None)
        if index is None:  # an array of another length
            return None
        own = [one for one in accesses if one.array.allocation == allocation]
        size = int(self._rule.get("bytes", self._size))
        there = [one for one in own if one.offset < (index + 1) * size and index * size < one.offset + one.bytes]
        store = next((one for one in reversed(there) if one.writes), there[-1] if there else None)
        others = () if store else tuple(one for one in own if one.writes)
        found = "" if held[index] is None else str(held[index])
        state = self._rule["state"]
        return self._at(Departure(state, numbers, number, index, found, str(wanted[index]), store, others))

    def _at(self, found: Departure) -> Departure:
        launch = self._trace.launches[found.launch]
        launches = 0 if self._trace.truncated else len(self._trace.launches)
        return replace(found, kernel=launch.kernel, launches=launches, place=launch.place)


def departure(trace: Trace, rule: Mapping[str, Any], n: int, key_type: str, is_descending: bool) -> Departure | None:
    """The first launch that departs from a rule; None if none does, as far as that is known. Of floating-point keys
    nothing is known, because some are equal to none."""
    return None if key_type.startswith("f") else _Run(trace, rule, n, key_type, is_descending).departure()

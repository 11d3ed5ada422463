"""What the threads of a traced run have compared, moved from one memory to another, and stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ..pictures.trace import Access, Array, Trace, key_of


@dataclass
class Comparison:
    """Accesses of one thread that belong together: keys that it reads, and what it then writes."""

    block: int
    thread: int
    loads: dict[int, Access] = field(default_factory=dict)  # position -> the first load
    stores: dict[int, Access] = field(default_factory=dict)  # position -> the last store
    codes: set[tuple[int, str]] = field(default_factory=set)

    @property
    def pair(self) -> tuple[int, ...]:
        """The positions that are read, in order."""
        return tuple(sorted(self.loads))

    def repeats(self, access: Access, position: int) -> bool:
        """Whether an access belongs to the next round of a loop."""
        is_other = position not in self.loads or len(self.loads) > 1
        return (access.code, access.way) in self.codes and is_other

    @property
    def code(self) -> int:
        """The instruction that reads first."""
        return next(iter(self.loads.values())).code

    def after(self, position: int) -> int:
        """The bits that the comparison leaves at a position."""
        return (self.stores.get(position) or self.loads[position]).value


@dataclass(frozen=True)
class Move:
    """A key that a thread reads in one memory and writes to another."""

    load: Access
    store: Access

    @property
    def source(self) -> int:
        return self.load.offset // self.load.bytes

    @property
    def target(self) -> int:
        return self.store.offset // self.store.bytes


def busiest(accesses: Iterable[Access], space: str) -> Array | None:
    """The array of a memory that is accessed most; of several, the first."""
    counts = Counter(access.array for access in accesses if access.array.space == space)
    return max(counts, key=lambda array: (counts[array], -array.number), default=None)


def comparisons(accesses: Iterable[Access], array: Array) -> list[Comparison]:
    """What each thread compares in an array: two positions that it reads, up to a load of others or a new round."""
    done: list[Comparison] = []
    running: dict[tuple[int, int], Comparison] = {}
    again: dict[tuple[int, int], Access] = {}  # a key that has been loaded once more, perhaps for the next comparison
    for access in accesses:
        if access.array != array or access.way == "atomic":
            continue
        position = access.offset // access.bytes
        thread = (access.block, access.thread)
        own = running.get(thread)
        is_new = own is None or own.repeats(access, position)
        if own is not None and not is_new and access.way == "load":
            is_known = position in own.loads
            is_new = len(own.stores) >= 2 if is_known else len(own.loads) >= 2 or bool(own.stores)
        earlier = again.pop(thread, None)
        if own is None or is_new:
            own = running[thread] = Comparison(*thread)
            done.append(own)
            if earlier and access.way == "load" and earlier.offset != access.offset:
                own.loads[earlier.offset // earlier.bytes] = earlier
                own.codes.add((earlier.code, earlier.way))
        elif access.way == "load" and position in own.loads:
            again[thread] = access
        own.codes.add((access.code, access.way))
        if access.way == "load":
            own.loads.setdefault(position, access)
        else:
            own.stores[position] = access
    return [one for one in done if one.loads]


def moves(accesses: Iterable[Access], from_space: str) -> list[Move]:
    """Keys that go from one memory to the other."""
    found = []
    held: dict[tuple[int, int], list[Access]] = {}
    for access in accesses:
        own = held.setdefault((access.block, access.thread), [])
        if access.way == "load":
            own.append(access)
        elif own and own[-1].array.space == from_space != access.array.space:
            is_unknown = own[-1].outside or access.outside
            found += [Move(own[-1], access)] if is_unknown or own[-1].value == access.value else []
    return found


def by_launch(run: Trace) -> dict[int, list[Access]]:
    """The accesses of each launch that has some."""
    found: dict[int, list[Access]] = {}
    for access in run.accesses:
        found.setdefault(access.launch, []).append(access)
    return found


def by_interval(accesses: Sequence[Access]) -> list[list[Access]]:
    """The accesses of one block, divided by its barriers."""
    found: dict[int, list[Access]] = {}
    for access in accesses:
        found.setdefault(access.interval, []).append(access)
    return list(found.values())


def key_text(access: Access, key_type: str) -> str:
    """The key that was read or written."""
    number = key_of(access.value, access.bytes, key_type)
    return f"{number:g}" if key_type == "f32" else str(number)

"""Who wrote what, from the trace of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ..pictures.trace import Access, Array, Trace, Transfer, without_folders

MOST_WRITERS = 3  # lines that are shown


@dataclass(frozen=True)
class Written:
    """A store, a copy or a fill, or all of them by one line to one array."""

    file: str
    line: int
    kernel: str  # "": a copy or a fill that the host has asked for
    launch: int  # from 0
    launches: int  # of the whole run; 0: not known
    block: int
    thread: int
    first: int  # index of the element, or the lowest and the highest of all
    last: int
    element: str
    launched: int = 0  # the line of the launch
    source: str = ""  # the element that the same thread read the same value from; "": it is computed


class History:
    """The stores of a run."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._places = {code: line_of(text) for code, text in trace.in_source.items()}

    def result(self, allocation: int, size: int) -> tuple[Array, int]:
        """An allocation as an array, and the bytes of its elements: `size`, unless kernels access smaller ones."""
        own = [one for one in self._trace.accesses if one.array.allocation == allocation]
        unknown = Array(-1, "global", "", allocation, 0)
        return (own[0].array, min(one.bytes for one in own)) if own else (unknown, size)

    def last_writer(self, array: Array, offset: int, before: Access | None = None) -> Access | None:
        """The last store to a byte of an array, of the whole run or before an access, or to what was then copied
        there."""
        number, end = array.allocation, len(self._trace.accesses) if before is None else before.number
        copies = [one for one in self._trace.transfers if one.after <= end] if number else []
        for access in reversed(self._trace.accesses[:end]):
            while copies and copies[-1].after > access.number:
                copy = copies.pop()
                if copy.to == number and _covers(copy, offset):
                    if not copy.source:
                        return None
                    number, offset = copy.source, copy.source_offset + offset - copy.offset
            if before is not None and array.space == "shared" and _block(access) != _block(before):
                return None
            is_same = access.array.allocation == number if number else access.array.number == array.number
            if is_same and access.changes and _covers(access, offset):
                return access
        return None

    def _until(self, before: Access | None) -> Iterator[Access]:
        """The accesses before one, the last first."""
        end = len(self._trace.accesses) if before is None else before.number
        return reversed(self._trace.accesses[:end])

    def source(self, store: Access) -> Access | None:
        """The last load of the same value by the same thread."""
        for access in self._until(store):
            if _block(access) != _block(store):
                return None
            is_load = access.thread == store.thread and access.way == "load"
            if is_load and (access.bytes, access.value) == (store.bytes, store.value):
                return access
        return None

    def _read_before(self, store: Access) -> Access | None:
        """What the same thread has read last: a value that it has computed mostly depends on it."""
        for access in self._until(store):
            if _block(access) != _block(store):
                return None
            if access.thread == store.thread and not access.writes:
                return access
        return None

    def transfers(self, array: Array, before: Access | None = None) -> list[Transfer]:
        """The copies to an array and the fills for which the program itself has asked, the last first."""
        end = len(self._trace.accesses) if before is None else before.number
        own = [one for one in self._trace.transfers if one.to == array.allocation and one.after <= end]
        return [one for one in reversed(own) if self.place(one)[0].endswith(".cu")]

    def transfer_to(self, array: Array, offset: int, before: Access | None = None) -> Transfer | None:
        """The last of them that has written a byte."""
        return next((one for one in self.transfers(array, before) if _covers(one, offset)), None)

    def is_last(self, transfer: Transfer) -> bool:
        """Whether no kernel has accessed anything after it."""
        return transfer.after == len(self._trace.accesses)

    def left(self, array: Array, offset: int) -> tuple[Written, ...]:
        """The lines of atomics that have left a byte as it was."""
        own = [one for one in reversed(self._trace.accesses) if one.array.allocation == array.allocation]
        return self.by_line([one for one in own if one.writes and not one.changes and _covers(one, offset)])

    def of_transfer(self, transfer: Transfer, array: Array, size: int) -> Written:
        """A copy or a fill as data. `size`: of an element, in bytes."""
        file, line = self.place(transfer)
        first, last = transfer.offset // size, (transfer.offset + transfer.bytes - 1) // size
        return Written(file, line, "", 0, 0, 0, 0, first, last, without_folders(array.name) or "the array")

    def chain(
        self, access: Access, most: int, origins: Callable[[tuple[str, int]], Sequence[int]], is_index: bool = False
    ) -> list[Access]:
        """An access, the store that wrote what its thread had read, and so on. `origins`: the lines from which what a
        line uses comes. `is_index`: the access's index matters, and not its value."""
        found = [access]
        while len(found) < most:
            loads = [] if is_index or not found[-1].writes else [self.source(found[-1])]
            loads += self._read_in(found[-1], origins(self.place(found[-1])))
            loads.append(self._read_before(found[-1]))
            earlier = (self.last_writer(load.array, load.offset, load) for load in loads if load)
            if (next_one := next((one for one in earlier if one and one not in found), None)) is None:
                break
            found.append(next_one)
            is_index = False
        return found

    def place(self, one: Access | Transfer) -> tuple[str, int]:
        """Its file and line."""
        return self._places.get(one.code, ("", 0))

    def _read_in(self, access: Access, lines: Sequence[int]) -> list[Access]:
        """What the same thread has last read in each of these lines before an access, in their order."""
        last: dict[int, Access] = {}
        for one in self._until(access):
            if _block(one) != _block(access):
                break
            if one.thread == access.thread and one.way != "store":
                last.setdefault(self.place(one)[1], one)
        return [last[line] for line in lines if line in last]

    def first_faulty(self, line: int) -> Access | None:
        """The first access of a line that a finding is about."""
        faulty = (access for access in self._trace.accesses if access.wrong)
        return next((access for access in faulty if self.place(access)[1] == line), None)

    def element(self, access: Access) -> str:
        """ "keys[3]" """
        index, array = access.offset // access.bytes, access.array
        return f"element {index} of {without_folders(array.name)}" if array.allocated else f"{array.name}[{index}]"

    def described(self, store: Access) -> Written:
        """A store as data."""
        load = self.source(store)
        index = store.offset // store.bytes
        return self._written(store, index, index, self.element(load) if load else "")

    def _written(self, store: Access, first: int, last: int, source: str = "") -> Written:
        file, line = self.place(store)
        launch = self._trace.launches[store.launch]
        return Written(
            file,
            line,
            launch.kernel,
            store.launch,
            0 if self._trace.truncated else len(self._trace.launches),
            store.block,
            store.thread,
            first,
            last,
            self.element(store),
            line_of(launch.place)[1],
            source,
        )

    def writers(self, array: Array, size: int, before: Access | None = None) -> tuple[Written, ...]:
        """The lines that write an array, with the elements of `size` bytes that each has written, before an access or
        in the whole run."""

        def is_one(access: Access) -> bool:
            is_same = before is None or array.space != "shared" or _block(access) == _block(before)
            return access.array == array and access.changes and is_same

        stores = [access for access in self._until(before) if is_one(access)]
        return (*self._copied(self.transfers(array, before), array, size), *self.by_line(stores))[:MOST_WRITERS]

    def idle(self) -> int | None:
        """The last launch that has written nothing to global memory."""
        busy = {one.launch for one in self._trace.accesses if one.writes and one.array.space == "global"}
        return max((i for i in range(len(self._trace.launches)) if i not in busy), default=None)

    def launched(self, number: int) -> Written:
        """A launch that has written nothing, as data."""
        launch = self._trace.launches[number]
        file, line = line_of(launch.place)
        return Written(file, line, launch.kernel, number, len(self._trace.launches), 0, 0, 0, -1, "", line)

    def last_stores(self, like: Array) -> tuple[Written, ...]:
        """Who wrote the global array that a kernel has written last, if it is as long as another one: the copies to it
        after the last store, then the lines of kernels."""
        stores = [one for one in reversed(self._trace.accesses) if one.changes and one.array.space == "global"]
        if not stores or like.bytes not in (0, stores[0].array.bytes):
            return ()
        array, size = stores[0].array, stores[0].bytes
        copies = [one for one in self.transfers(array) if one.after > stores[0].number]
        own = self.by_line([one for one in stores if one.array == array])
        return (*self._copied(copies, array, size), *own)[:MOST_WRITERS]

    def _copied(self, transfers: Iterable[Transfer], array: Array, size: int) -> list[Written]:
        """Copies and fills as data, those of a line together."""
        lines: dict[int, list[Written]] = {}
        for one in transfers:
            lines.setdefault(one.code, []).append(self.of_transfer(one, array, size))
        ranges = ((own, min(one.first for one in own), max(one.last for one in own)) for own in lines.values())
        return [replace(own[0], first=first, last=last) for own, first, last in ranges]

    def by_line(self, stores: Iterable[Access]) -> tuple[Written, ...]:
        """The lines of stores to one array, with the elements that each has written."""
        lines: dict[tuple[str, int], list[Access]] = {}
        for access in stores:
            if not access.outside:
                lines.setdefault(self.place(access), []).append(access)
        indices = [[one.offset // one.bytes for one in own] for own in lines.values()]
        found = (self._written(own[0], min(own_), max(own_)) for own, own_ in zip(lines.values(), indices))
        return tuple(found)[:MOST_WRITERS]


def _covers(one: Access | Transfer, offset: int) -> bool:
    return one.offset <= offset < one.offset + one.bytes


def _block(access: Access) -> tuple[int, int]:
    return access.launch, access.block


def line_of(place: str) -> tuple[str, int]:
    """The file and the line of "FILE:LINE"; line 0 if there is none."""
    file, _, line = place.rpartition(":")
    return file, int(line) if line.isdigit() else 0

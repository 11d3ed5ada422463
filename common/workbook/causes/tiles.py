"""Steps that sort a tile in shared memory: load, the stages between two barriers, store."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ..core.judge_types import Case, Fact, Finding, SourceLine
from ..pictures.trace import Access, Array, Barrier, Launch, Trace
from . import networks
from .comparisons import Comparison, Move, busiest, by_interval, by_launch, comparisons, moves
from .networks import HALO, TILE_OF_PHASES, TILE_OF_STAGES, Stage
from .source import Source, line_of
from .stage_check import (
    Cause,
    Run,
    check_stage,
    compared_twice,
    missing_pairs,
    one_key,
    pairs_text,
    wrong_pairs,
    wrong_results,
)

Traced = Callable[[Case, "tuple[int, int] | None"], Trace]
_OF_TILE = re.compile(r"\b(?:load|store)_tile\s*\(")
MOST_ACCESSES = 400_000  # that are read: the trace of more takes longer to read than a student waits
_EVEN = "with an even number of launches, the last one writes the caller's array"
MOST_SURPLUS = 3  # launches in a row that are recognized as too many
FEW_KEYS = 128  # of which a whole run is traced


@dataclass(frozen=True)
class Tile:
    """What a block does with one tile."""

    run: Run
    number: int
    block: int
    accesses: Sequence[Access]
    where: str  # "launch 1 (run_phases), block 0"
    first: int  # position of its first key
    count: int  # keys of the tile
    left: int  # position of the first key that is loaded
    keys: int = 0  # that must be loaded

    @property
    def place(self) -> str:
        """Where the block begins to access memory."""
        return self.run.place(self.accesses[0].code)

    @cached_property
    def loads(self) -> list[Move]:
        return moves(self.accesses, "global")

    @cached_property
    def stores(self) -> list[Move]:
        return moves(self.accesses, "shared")

    @cached_property
    def stages(self) -> list[list[Comparison]]:
        """The comparisons between two barriers, wherever there are some."""
        array = busiest(self.accesses, "shared")
        stored = {move.load.number for move in self.stores}
        found = []
        for interval in by_interval(self.accesses):
            own = [one for one in interval if one.number not in stored]
            compared = [one for one in comparisons(own, array) if len(one.loads) > 1] if array else []
            found += [compared] if compared else []
        return found

    def of_itself(self) -> Cause | None:
        """Threads that compare a key of the tile with itself, before any that compare two."""
        array = busiest(self.accesses, "shared")
        stored = {move.load.number for move in self.stores}
        for interval in by_interval(self.accesses) if array else []:
            own = [one for one in interval if one.number not in stored]
            compared = comparisons(own, array) if array else []
            loads = Counter((one.thread, one.offset // one.bytes) for one in own if one.way == "load")
            if any(len(one.loads) > 1 for one in compared):
                return None
            if compared and all(loads[one.thread, min(one.loads)] > 1 for one in compared):
                first = compared[-1]
                place = self.run.place(first.code)
                text = f"{self.run.thread(first)} reads {self.run.named(*first.loads)} twice, and no other key of "
                text += f"{self.run.array}: are the two positions that it compares the same?"
                return Cause(place, text, (self.run.index_of(place), f"in {self.where}"))
        return None

    @cached_property
    def of_threads(self) -> list[tuple[Comparison, int]]:
        """The comparisons, each with its number among those of its thread."""
        array = busiest(self.accesses, "shared")
        stored = {move.load.number for move in self.stores}
        own = [access for access in self.accesses if access.number not in stored]
        count: Counter[int] = Counter()
        found = []
        for one in comparisons(own, array) if array else []:
            if len(one.loads) > 1:
                found.append((one, count[one.thread]))
                count[one.thread] += 1
        return found

    def of_moves(self) -> Cause | None:
        """A key that is loaded into the wrong place, or stored from one."""
        for move in self.loads:
            if move.source - move.target != self.left:
                text = (
                    f"thread {move.load.thread} loads position {move.source} of the array into "
                    f"{self.run.named(move.target)}, but position {move.target + self.left} of the array belongs there"
                )
                place = self._passing(move.load.code, True)
                wrong = self._wrong_index(place, [(m.source, m.target) for m in self.loads], self.left, self.keys)
                wrong = (*(wrong or (self.run.index_of(place),)), self._helper(move.load.code, place))
                return Cause(place, text, (*wrong, self._begins, f"in {self.where}"))
        for move in self.stores:
            if move.target - move.source != self.left:
                right = move.target - self.left
                belongs = f"{self.run.named(right)} belongs there" if right >= 0 else "that is before this tile"
                text = (
                    f"thread {move.load.thread} stores {self.run.named(move.source)} to position {move.target} of the "
                    f"array, but {belongs}"
                )
                place = self._passing(move.store.code, False)
                wrong = self._wrong_index(place, [(m.target, m.source) for m in self.stores], self.first, self.count)
                wrong = (*(wrong or (self.run.index_of(place),)), self._helper(move.store.code, place))
                return Cause(place, text, (*wrong, self._begins, f"in {self.where}"))
        return None

    def _passing(self, code: int, is_written: bool) -> str:
        """The line of an instruction, or the one that passes the tile to the function around it."""
        place = self.run.place(code)
        source, line = self.run.source(place), line_of(place)[1]
        if not 0 < line <= len(source.lines):
            return place
        return f"{source.file}:{source.passing(line, self.run.array, is_written)}"

    def _helper(self, code: int, place: str) -> str:
        """The line of an instruction, if another one is named for it."""
        own = self.run.place(code)
        return "" if own == place else f"or is the index wrong in {self.run.source(own).quoted(line_of(own)[1])}?"

    def _wrong_index(self, place: str, pairs: Sequence[tuple[int, int]], first: int, count: int) -> tuple[str, ...]:
        """Which index of a line must change. `pairs`: positions in the array and in the tile. Of those in the array,
        `count` from `first` on are right."""
        source, line = self.run.source(place), line_of(place)[1]
        if not 0 < line <= len(source.lines) or not re.search(r"\[|\w\s*\(.*\)\s*;", source.lines[line - 1]):
            return ()
        sides = ("the position in the array", f"the index of {self.run.array}")
        right = [
            sorted(pair[side] for pair in pairs) == list(range(begin, begin + count))
            for side, begin in enumerate((first, first - self.left))
        ]
        if right.count(True) != 1:
            return ()
        side = right.index(True)
        wrong = f"{sides[side]} is right here, and {sides[1 - side]} is wrong: {source.quoted(line)}"
        indices = re.findall(rf"\b{re.escape(self.run.array)}\s*\[([^\[\]]*)\]", source.lines[line - 1])
        comes = source.comes_from(indices, line) if side == 0 else ""
        return wrong, comes or "; ".join(map(source.quoted, source.pointers_in(line)))

    @property
    def _begins(self) -> str:
        first = f"{self.left} + " if self.left else ""
        return f"in this block, {self.run.array}[i] holds position {first}i of the array"

    def of_another_array(self) -> Cause | None:
        """Keys that are compared in global memory in place of the tile."""
        moved = {move.load.number for move in self.loads} | {move.store.number for move in self.stores}
        own = [one for one in self.accesses if one.number not in moved]
        array = busiest((one for one in own if one.way == "load"), "global")
        found = [one for one in comparisons(own, array) if len(one.loads) > 1] if array else []
        if not found or array is None:
            return None
        place = self.run.place(found[0].code)
        source, line = self.run.source(place), line_of(place)[1]
        call = source.outermost_call(line)
        asked = f"is another array passed in {source.quoted(call)}"
        if not call:
            asked = "which array is passed to the function that compares them"
        details = (f"the keys are in {self.run.array}: {asked}?", f"in {self.where}")
        text = f"{self.run.thread(found[0])} compares keys in global memory, not in {self.run.array}"
        return Cause(f"{source.file}:{call or line}", text, details)

    def of_one_key(self) -> Cause | None:
        """Threads that read one key of the tile where they should compare two."""
        array = busiest(self.accesses, "shared")
        stored = {move.load.number for move in self.stores}
        own = [access for access in self.accesses if access.number not in stored]
        first = next(iter(comparisons(own, array)), None) if array else None
        return one_key(self.run, first, self.where) if first and not self.stages else None

    def of_window(self) -> Cause | None:
        """Positions that are not loaded, or that are loaded beyond the array or the window."""
        array = busiest(self.accesses, "shared")
        for access in self.accesses:
            if access.array.space == "global" and access.outside:
                return self._beyond_keys(access)
        for move in self.loads:
            if move.store.outside and array:
                return self._beyond_array(array, move)
        if not self.loads or not self.keys:
            return None
        loaded = {move.target for move in self.loads}
        missing = [i for i in range(self.keys) if i not in loaded]
        if not missing or not array:
            return None
        place = self.run.place(self.loads[0].load.code)
        text = f"the load leaves out {len(missing):,} of the {self.keys:,} keys of {self.run.array}, first "
        text += self.run.named(missing[0])
        by_thread = Counter(move.load.thread for move in self.loads)
        detail = ""
        has_one_each = set(by_thread.values()) == {1} and len(by_thread) == len(loaded)
        if has_one_each and missing == [*range(len(loaded), self.keys)]:
            detail = (
                f"each of the {len(by_thread)} threads loads one key: a loop must load the others, too, "
                "i += blockDim.x, as long as i < count"
            )
        details = (detail,) if detail else (self.run.bound_of(place), self.run.index_of(place))
        return Cause(place, text, (*details, f"in {self.where}"))

    def _beyond_keys(self, access: Access) -> Cause:
        place = self.run.place(access.code)
        way = "stores" if access.writes else "loads"
        text = f"thread {access.thread} {way} position {access.offset // access.bytes} of an array of "
        text += f"{access.array.bytes // access.bytes:,} keys"
        last = self.first + self.count if access.writes else self.left + self.keys
        whose = "the tile" if access.writes else self.run.array
        begin = self.first if access.writes else self.left
        called_at = self._passing(access.code, is_written=not access.writes)
        source, call = self.run.source(called_at), line_of(called_at)[1]
        comes = source.quoted(call) if called_at != place else self.run.bound_of(place)
        if called_at == place and 0 < call <= len(source.lines) and _OF_TILE.search(source.lines[call - 1]):
            comes = f"this tile has {self.count:,} keys: does this line pass that number?"
        has = f"only one key, at position {begin}" if last == begin + 1 else f"the positions {begin} to {last - 1}"
        if begin <= access.offset // access.bytes < last:
            return Cause(place, text, ("the array is too small: is sizeof missing in its size?", f"in {self.where}"))
        return Cause(called_at, text, (f"{whose} has {has}", comes, f"in {self.where}"))

    def _beyond_array(self, array: Array, move: Move) -> Cause:
        size = array.bytes // move.store.bytes
        place = self.run.place(move.store.code)
        text = f"thread {move.load.thread} loads a key into {self.run.named(move.target)}, "
        text += f"but {array.name} has {size:,} elements"
        details = (f"{self.where} loads {self.keys:,} keys" if self.keys else "",)
        if self.keys > size:
            source = self.run.source(place)
            if declared := source.declared(array.name):
                return Cause(
                    f"{source.file}:{declared}",
                    f"{array.name} has {size:,} elements, but up to {self.keys:,} keys are loaded into it",
                    (source.quoted(declared), f"the load is in {place}"),
                )
        return Cause(place, text, (self.run.index_of(place), *details))

    def of_halo(self) -> Cause | None:
        """Keys that are stored beside the tile."""
        end = self.first + self.count
        for move in self.stores:
            if self.count > 0 and not self.first <= move.target < end:
                place = self.run.place(move.store.code)
                text = (
                    f"block {self.block} stores position {move.target} of the array, which is not in its tile: "
                    f"that has the positions {self.first} to {end - 1}"
                )
                details = (
                    "store the tile only: the keys beside it, its halo, belong to other blocks' tiles",
                    self.run.bound_of(place),
                    f"in {self.where}",
                )
                return Cause(place, text, details)
        return None

    def of_order(self) -> Cause | None:
        """A tile that is stored before the last stage."""
        if not self.stores or not self.stages or not self._is_stored_early():
            return None
        text = "the tile is stored here before it is sorted"
        details = ("store it after the last stage, and put a barrier between them", f"in {self.where}")
        return Cause(self.run.place(self.stores[0].store.code), text, details)

    def _is_stored_early(self) -> bool:
        """Whether the last stage follows the store. Without a barrier between them, a thread shows the order."""
        first = next(iter(self.stages[-1][0].loads.values()))
        if (last := max(move.store.interval for move in self.stores)) != first.interval:
            return last < first.interval
        stored = {move.store.thread: move.store.number for move in self.stores}
        compared = {one.thread: min(load.number for load in one.loads.values()) for one in self.stages[-1]}
        return any(stored.get(thread, number) < number for thread, number in compared.items())

    def of_stores(self) -> Cause | None:
        """A tile that is stored before the last stage, or not whole."""
        stores = self.stores
        if not stores or (wrong := self.of_halo() or self.of_order()):
            return wrong if stores else None
        stored = {move.target for move in stores}
        missing = [p for p in range(self.first, self.first + self.count) if p not in stored]
        if missing:
            text = f"nothing is stored to {len(missing)} of the {self.count} positions of the tile, first {missing[0]}"
            by_thread = Counter(move.store.thread for move in stores)
            more = f"each of the {len(by_thread)} threads stores one key: a loop must store the others, too"
            detail = more if set(by_thread.values()) == {1} else ""
            return Cause(self.run.place(stores[0].store.code), text, (detail, f"in {self.where}"))
        return None


def tiles_of(run: Run, launch: int, accesses: Sequence[Access], size: int, n: int, halo: int = 0) -> Iterator[Tile]:
    """The tiles that the blocks of a launch take: block b the tiles b, b + blocks, and so on."""
    blocks: dict[int, _Rounds] = {}
    for access in accesses:
        blocks.setdefault(access.block, _Rounds()).add(access)
    grid = int(run.trace.launches[launch].grid.partition(",")[0])
    name = run.trace.launches[launch].kernel.partition("<")[0]
    for block, rounds in sorted(blocks.items()):
        for k, part in enumerate(rounds.parts):
            number = block + k * grid
            first = number * size
            array = busiest(part, "shared")
            count, left = min(size, n - first), max(first - halo, 0)
            keys = max(min(first + size + halo, n) - left, 0)
            own_run = replace(
                run,
                array=array.name if array else run.array,
                n=keys,
                launch=run.trace.launches[launch],
                number=launch + 1,
                is_in_block=True,
            )
            where = f"launch {launch + 1} ({name}), block {block}" + f", tile {number} of its loop" * (k > 0)
            yield Tile(own_run, number, block, part, where, first, count, left, keys)


class _Rounds:
    """The accesses of a block, divided into the tiles that it takes one after another. Without a barrier between two
    rounds, some threads begin the next one before others have ended theirs."""

    def __init__(self) -> None:
        self.parts: list[list[Access]] = [[]]
        self._began = [0]  # the interval of each
        self._loads: dict[int, int] = {}  # that of its first load
        self._compared: set[int] = set()  # the rounds that have read shared memory
        self._round: dict[int, int] = {}  # of each thread
        self._has_stored: set[int] = set()  # threads, in their round

    def add(self, access: Access) -> None:
        own = self._round.get(access.thread, 0)
        while own + 1 < len(self.parts) and access.interval > self._began[own + 1]:
            own += 1
            self._has_stored.discard(access.thread)
        is_global = access.array.space == "global"
        is_load = is_global and access.way == "load"
        if access.way == "load" and not is_global:
            self._compared.add(own)
        if is_load and (self._is_of_next(own, access) or access.thread in self._has_stored):
            own += 1
            self._has_stored.discard(access.thread)
            self._loads.setdefault(own, access.interval)
        if own == len(self.parts):
            self.parts.append([])
            self._began.append(access.interval)
        if is_global and access.writes:
            self._has_stored.add(access.thread)
        self._round[access.thread] = own
        self.parts[own].append(access)

    def _is_of_next(self, own: int, load: Access) -> bool:
        """Whether a round has ended: its keys are loaded before its first barrier, and before it compares any."""
        return self._loads.setdefault(own, load.interval) < load.interval and own in self._compared


def _no_tile(run: Run, launch: int, found: Sequence[Tile], size: int, n: int) -> Cause | None:
    taken = {tile.number for tile in found}
    missing = [number for number in range((n + size - 1) // size) if number not in taken]
    if not missing or not found or run.trace.truncated:
        return None
    first = missing[0] * size
    text = f"no block takes tile {missing[0]}, positions {first} to {min(first + size, n) - 1} of the array"
    grid = run.trace.launches[launch].grid.partition(",")[0]
    blocks = "there is one block" if grid == "1" else f"there are {grid} blocks"
    where = f"launch {launch + 1} ({run.trace.launches[launch].kernel.partition('<')[0]})"
    advice = f"{blocks}: use a loop, so that each block takes more than one tile"
    if grid.isdigit() and int(grid) > missing[0]:  # it has a block of its own
        last = min(first + size, n) - 1
        text = f"no thread loads or stores any element of tile {missing[0]}, positions {first} to {last}"
        advice = f"{blocks}: each block has a tile of its own: compute positions in it from threadIdx.x alone"
    return Cause(found[0].place, text, (advice, f"in {where}"))


# --- bitonic stages ---


def _stages(tile: Tile, plan: Sequence[Stage]) -> Cause | None:
    """The first stage in a tile that departs from the plan."""
    found = tile.stages
    if plan and not found and (elsewhere := tile.of_another_array() or tile.of_one_key()):
        return elsewhere
    if (wrong := tile.of_moves() or tile.of_window()) or not tile.loads:
        return wrong
    if wrong := tile.of_stores() or tile.of_itself():
        return wrong
    place = tile.run.place(tile.loads[0].load.code)
    for done, stage in enumerate(plan):
        where = f"{tile.where}, stage {done + 1} of {len(plan)}"
        if 0 < done == len(found):
            last = tile.run.place(found[-1][0].code)
            text = f"a tile of {tile.count} keys needs {len(plan)} stages, but only {done} are executed"
            return Cause(last, text, (f"after the last of these, {stage.name} is missing", f"in {tile.where}"))
        own = found[done] if found else []
        is_next = done + 1 < len(plan) and {one.pair for one in own} <= set(plan[done + 1].pairs) - set(stage.pairs)
        if own and is_next:  # in this stage, nothing is compared
            if any(stage.number_of(pair) < tile.run.threads[0] for pair in stage.pairs):
                return _left_out(tile, stage, own, plan[done + 1], where)
            own = []  # its pairs are those of threads that come after the last one
        if wrong := check_stage(tile.run, stage, own, plan, where, place):
            return wrong
        place = tile.run.place(own[0].code) if own else place
    return None


def _left_out(tile: Tile, stage: Stage, own: Sequence[Comparison], following: Stage, where: str) -> Cause:
    text = f"{stage.name} is missing: the first pairs in its place are those of {following.name}"
    details = ("where do the loops over runs and strides begin and end?", f"in {where}, n = {tile.count:,}")
    return Cause(tile.run.place(own[0].code), text, details)


def tiles(case: Case, traced: Traced) -> Cause | None:
    """The sort of each tile."""
    if case.type == "pairs":
        return without_values(case, traced)
    trace = traced(case, None)
    if wrong := of_other_order(trace, case):
        return wrong
    run = Run(trace, case.type or "u32", case.order, "tile")
    for launch, accesses in by_launch(trace).items():
        own = list(tiles_of(run, launch, accesses, TILE_OF_STAGES, case.n))
        for tile in own:
            if tile.count > 0 and (wrong := _stages(tile, list(networks.mirrored(tile.count)))):
                return wrong
        return _no_tile(run, launch, own, TILE_OF_STAGES, case.n)
    return None


def of_other_order(trace: Trace, case: Case) -> Cause | None:
    """A kernel that is launched for the other order than the one that the case asks for."""
    other = "descending" if case.order == "ascending" else "ascending"
    for launch in trace.launches:
        source = Run(trace, "", case.order).source(launch.place)
        chosen = source.assigned(launch.kernel, line_of(launch.place)[1])
        is_only = chosen and not source.test_around(chosen) and not source.assigned(launch.kernel, chosen)
        statement = source.statement(chosen) if is_only else ""
        statement = "" if re.match(r"\s*(?:if|else|case)\b", statement) else statement
        if f"Order::{other}" in statement and f"Order::{case.order}" not in statement:
            text = f"{launch.kernel} is always {other} here, but the order that the step was given is {case.order}"
            chosen_so = f"line {chosen}: `{' '.join(statement.split())}`"
            return Cause(f"{source.file}:{chosen}", text, ("choose the kernel by the parameter order", chosen_so))
        if f"Order::{other}" in launch.kernel and f"Order::{case.order}" not in launch.kernel:
            text = f"{launch.kernel} is launched here, but the order that the step was given is {case.order}"
            line = line_of(launch.place)[1]
            near = range(line, max(line - 3, 0), -1)
            if label := next((n for n in near if re.match(r"\s*case\b", source.lines[n - 1])), 0):
                return Cause(
                    launch.place, text, ("launch the kernel for the order that this label names", source.quoted(label))
                )
            decided = Run(trace, "", case.order).decision_of(launch.place)
            return Cause(
                launch.place, text, ("in this case, launch the kernel of the order that the step was given", decided)
            )
    return None


def repeated_stage(case: Case, traced: Traced) -> Cause | None:
    """A stage with the pairs of the one before it, which changes nothing and costs a barrier."""
    trace = traced(case, None)
    run = Run(trace, case.type or "u32", case.order)
    for launch, accesses in by_launch(trace).items():
        for tile in tiles_of(run, launch, accesses, TILE_OF_STAGES, case.n):
            for number, (before, stage) in enumerate(zip(tile.stages, tile.stages[1:]), 2):
                pairs = {one.pair for one in stage}
                if pairs == {one.pair for one in before}:
                    place = tile.run.place(stage[0].code)
                    own = pairs_text(sorted(pairs))
                    text = f"this stage compares the pairs that the stage before it has compared: {own}"
                    details = (
                        f"it is stage {number} in {tile.where}, n = {case.n}: one too many, with a barrier of its own",
                        tile.run.bound_of(place),
                    )
                    return Cause(place, text, details)
    return None


def read_again(case: Case, traced: Traced) -> Cause | None:
    """A line that reads a key from global memory again, although its thread has not written it since."""
    trace = traced(case, None)
    run = Run(trace, case.type or "u32", case.order)
    for accesses in by_launch(trace).values():
        # By block and thread: what it has read, and where.
        known: dict[tuple[int, int], dict[tuple[Array, int], str]] = {}
        for access in accesses:
            own = known.setdefault((access.block, access.thread), {})
            place, position = run.place(access.code), access.offset // access.bytes
            if access.writes:
                own.pop((access.array, position), None)
            elif access.array.space == "global":
                file, line = line_of(own.setdefault((access.array, position), place))
                if line != line_of(place)[1] and file == line_of(place)[0]:
                    text = f"this line reads {run.named(position)}, which line {line} has already read"
                    return Cause(place, text, ("every read moves the key once more: keep it in a variable",))
    return None


def other_place(race: Finding) -> SourceLine | None:
    """Where the earlier access of a race in shared memory is."""
    is_shared = race.element is not None and race.element.memory == "shared"
    return race.facts[1].place if is_shared and len(race.facts) > 1 else None


def _acting(fact: Fact) -> str:
    """ "thread (3,0,0) reads"."""
    thread = ",".join(map(str, fact.thread or ()))
    return f"thread ({thread}) {'reads' if fact.access == 'load' else 'writes'}"


def missing_barrier(race: Finding, source: Source) -> Cause | None:
    """The lines between which a barrier is missing, if each thread compares the right pairs."""
    element, other = race.element, other_place(race)
    if not element or element.memory != "shared" or not other or other.file != race.file:
        return None
    line, other_line = race.line, other.line
    now, before = map(_acting, race.facts[:2])
    what = f"{now} {element.array}[{element.index}] in line {line}, and {before} it in line {other_line}"
    if left_out := source.conditional_barrier(line):
        barrier, test = left_out
        text = (
            f"the __syncthreads() of line {barrier} is left out where this condition is false, but it is always needed"
        )
        return Cause(f"{race.file}:{test}", text, (source.quoted(test), what))
    text, remedy, place = _between(source, line, other_line)
    return Cause(f"{race.file}:{place}", text, (remedy, what))


def _between(source: Source, line: int, other_line: int) -> tuple[str, str, int]:
    """Where a barrier is missing between two lines: what is wrong, what to do, and where that is."""
    seen: set[int] = set()
    while (around := _calls_instead(source, line, other_line)) and len(around) == 1 and around[0] not in seen:
        line = other_line = around[0]
        seen.add(line)
    if len(around) > 1 and (between := _between_calls(source, source.function_of(line)[0], around)):
        return between
    (low, _), (high, called) = sorted(source.in_one_function(line, other_line))
    calls = f", which calls {called}()" if called else ""
    end = source.end_of_pairs(low)
    own = [loop for loop in source.loops if loop.line <= low <= loop.last < high]
    with_barrier = [loop.last for loop in own if any(loop.line <= barrier <= loop.last for barrier in source.barriers)]
    end = max((end, *with_barrier))
    if low == high:
        of_threads = [one.line for one in source.loops if source.counts_threads(one)]
        loops = [one for one in source.loops_around(low) if one not in of_threads]
        text = "no barrier comes between what this line does in one thread and in another"
        if (own_lambda := source.lambda_around(low)) and not loops:
            text = f"no barrier comes between one call of {own_lambda.name}() and the next"
        if loops:
            text = f"no barrier comes between one iteration of the loop in line {loops[-1]} and the next"
            text += _in_inner_loop(source, loops[-1])
        return text, f"put __syncthreads() after line {end}, where all pairs have been compared", low
    if any(end <= barrier < high for barrier in source.barriers):
        end = source.end_of_pairs(high)
        text = f"no barrier follows this line before line {low} is reached in the next iteration of the loop"
        return text, f"put __syncthreads() after line {end}, at the end of the iteration", high
    text = f"no barrier comes between this line and line {high}{calls}"
    return text, f"put __syncthreads() directly after line {end}", low


def _in_inner_loop(source: Source, line: int) -> str:
    """A barrier of the loop that begins in a line, if an inner loop may leave it out."""
    last = next(loop.last for loop in source.loops if loop.line == line)
    for barrier in source.barriers:
        inner = [own for own in source.loops_around(barrier) if line < own] if line < barrier <= last else []
        if inner:
            return f": the loop in line {inner[0]}, with the barrier of line {barrier}, may have no iteration"
    return ""


def _calls_instead(source: Source, line: int, other_line: int) -> list[int]:
    """The lines that call the function around both lines, if a barrier belongs between calls of it, and not into it: it
    has no barrier, and both lines are part of the work on one pair."""
    _, first, last = source.function_of(line)
    low, high = sorted((line, other_line))
    shares_work = any("threadIdx" in text for text in source.lines[first - 1 : last])
    if shares_work and not (source.end_of_pairs(low) >= high and source.end_of_pairs(low) > low):
        return []
    is_kernel = any("__global__" in text for text in source.lines[first - 1 : line])
    has_barrier = any(first <= barrier <= last for barrier in source.barriers)
    stages = [loop for loop in source.loops if first <= loop.line <= last and not source.counts_threads(loop)]
    return [] if is_kernel or has_barrier or stages or not first <= other_line <= last else source.calls(line)


def _between_calls(source: Source, name: str, calls: Sequence[int]) -> tuple[str, str, int] | None:
    """Between which two calls of a function a barrier is missing."""
    _, first, last = source.function_of(calls[0])
    has_barrier = any(first <= barrier <= last for barrier in source.barriers)
    at_end = "" if has_barrier else f" and after every other call of {name}(), or once at the end of {name}()"
    for call, following in zip(calls, calls[1:]):
        end = source.end_of_pairs(call)
        is_either = any(re.search(r"\b(?:if|else)\b|\?", source.lines[n - 1]) for n in range(call - 1, following + 1))
        if source.function_of(call)[1] != source.function_of(following)[1] or is_either or end >= following:
            continue
        if not any(end < barrier < following for barrier in source.barriers):
            text = f"no barrier comes between this call of {name}() and the one in line {following}"
            return text, f"put __syncthreads() after line {end}{at_end}", call
    loops = [loop for loop in source.loops if not source.counts_threads(loop)]
    alone = [call for call in calls for loop in loops if [n for n in calls if loop.line <= n <= loop.last] == [call]]
    for first, last in (*((call, call) for call in alone), (calls[0], calls[-1])):
        end = source.end_of_pairs(last)
        around = [loop for loop in loops if loop.line <= first and last <= loop.last]
        if around and not any(
            around[-1].line < barrier < first or end < barrier <= around[-1].last for barrier in source.barriers
        ):
            loop = around[-1]
            text = f"no barrier follows this call of {name}() before the next iteration of the loop in line {loop.line}"
            braces = "" if loop.body.startswith("{") else ", in the loop, with braces around both"
            return text, f"put __syncthreads() after line {end}{braces}", last
    return None


def beside_races(case: Case, traced: Traced) -> Cause | None:
    """What is wrong in a tile besides a race, which may be no more than its consequence: where keys are loaded and
    stored, and pairs that no later stage has. Without a barrier, a stage would contain pairs of later ones."""
    trace = traced(case, None)
    run = Run(trace, case.type or "u32", case.order, "tile")
    for launch, accesses in by_launch(trace).items():
        for tile in tiles_of(run, launch, accesses, TILE_OF_STAGES, case.n):
            plan = list(networks.mirrored(max(tile.count, 0)))
            wrong = tile.of_moves() or tile.of_itself() or (tile.of_order() if tile.stages else None)
            if wrong := wrong or _strange_pair(tile, plan) or _by_thread(tile, plan)[1]:
                return wrong
    return None


def wrong_loads(trace: Trace, case: Case) -> Cause | None:
    """A key that a block loads into the wrong place of its tile, or from beyond the array."""
    size, halo = _size_and_halo(case)
    run = Run(trace, case.type or "u32", case.order, "tile")
    for launch, accesses in by_launch(trace).items():
        for tile in tiles_of(run, launch, accesses, size, case.n, halo):
            if tile.count > 0 and tile.loads and (wrong := tile.of_moves() or tile.of_window()):
                return wrong
    return None


def _size_and_halo(case: Case) -> tuple[int, int]:
    return (TILE_OF_PHASES, HALO) if case.lab == "01-odd-even" else (TILE_OF_STAGES, 0)


def are_pairs_right(case: Case, traced: Traced) -> bool:
    """Whether the threads of blocks compare the right pairs in shared memory, each in its own order."""
    is_odd_even = case.lab == "01-odd-even"
    size, halo = _size_and_halo(case)
    trace = traced(case, (0, 0) if is_odd_even else None)
    run = Run(trace, case.type or "u32", case.order, "window" if is_odd_even else "tile")
    for launch, accesses in by_launch(trace).items():
        for tile in tiles_of(run, launch, accesses, size, case.n, halo):
            is_merge = "merge_in_tiles" in trace.launches[launch].kernel
            plan = _phases_of(tile) if is_odd_even else [*networks.mirrored(max(tile.count, 0))]
            plan = _in_tile(tile, 2 * TILE_OF_STAGES) if is_merge else plan
            if (
                tile.count > 0
                and tile.loads
                and not (_by_thread(tile, plan)[0] or _compares_all(tile, plan, is_odd_even))
            ):
                return False
    return True


def _compares_all(tile: Tile, plan: Sequence[Stage], is_odd_even: bool) -> bool:
    """Whether the threads of a block compare each pair as often as all stages together do, in any division of the
    work."""
    compared = Counter(one.pair for one, _ in tile.of_threads)
    if not is_odd_even:
        return compared == Counter(pair for stage in plan for pair in stage.pairs)
    pairs = {pair for phase in range(2) for pair in networks.phase(phase, tile.keys, tile.left).pairs}
    times = {parity: {times for pair, times in compared.items() if pair[0] % 2 == parity} for parity in range(2)}
    return set(compared) == pairs and all(len(each) <= 1 for each in times.values())


def _phases_of(tile: Tile) -> list[Stage]:
    return [networks.phase(phase, tile.keys, tile.left) for phase in range(min(len(tile.stages), HALO) or 1)]


def _by_thread(tile: Tile, plan: Sequence[Stage]) -> tuple[bool, Cause | None]:
    """Whether each thread compares its pairs in their order, which no missing barrier changes; and if not, the first
    pair that no thread should compare then."""
    threads = tile.run.threads[0]
    due: dict[int, list[tuple[Stage, tuple[int, int]]]] = {}
    for stage in plan:
        for pair in sorted(stage.pairs, key=stage.number_of):
            due.setdefault(stage.number_of(pair) % threads, []).append((stage, pair))
    for one, number in sorted(tile.of_threads, key=lambda found: (found[1], found[0].thread)):
        own = due.get(one.thread, [])
        if not own:
            return False, None
        if number >= len(own):  # the plan may be that of the first phases only
            continue
        stage, pair = own[number]
        if one.pair == pair:
            continue
        if one.pair in stage.pairs:  # another division of the work may be right, too
            return False, None
        place = tile.run.place(one.code)
        text = f"{tile.run.thread(one)} compares {tile.run.named(*one.pair)}, but its pair in this stage is "
        text += tile.run.named(*pair)
        comes = tile.run.index_of(place)
        return False, Cause(place, text, (comes, tile.run.passed_to(place, comes), f"in {tile.where}: {stage.name}"))
    return True, None


def halo_beside_races(case: Case, traced: Traced) -> Cause | None:
    """The same for a window with a halo: what is stored beside the tile, and pairs that two threads compare."""
    trace = traced(case, (0, 0))
    run = Run(trace, case.type or "u32", case.order, "window")
    for launch, accesses in by_launch(trace).items():
        for tile in tiles_of(run, launch, accesses, TILE_OF_PHASES, case.n, HALO):
            if tile.count <= 0:
                continue
            if wrong := tile.of_moves() or tile.of_halo() or (tile.of_order() if tile.stages else None):
                return wrong
            first = networks.phase(0, tile.keys, tile.left)
            both = {**first.pairs, **networks.phase(1, tile.keys, tile.left).pairs}
            neighbours = replace(first, name="a phase", pairs=both, kind="", numbers={})
            for own in tile.stages:
                wrong = wrong_pairs(tile.run, neighbours, own, (), tile.where) or compared_twice(tile.run, own, first)
                if wrong:
                    return wrong
            if wrong := _by_thread(tile, _phases_of(tile))[1]:
                return wrong
    return None


def _strange_pair(tile: Tile, plan: Sequence[Stage]) -> Cause | None:
    for done, (stage, found) in enumerate(zip(plan, tile.stages)):
        own = [one for one in found if not any(one.pair in later.pairs for later in plan[done + 1 :])]
        where = f"{tile.where}, stage {done + 1} of {len(plan)}"
        if wrong := wrong_pairs(tile.run, stage, own, (), where):
            return wrong
        own = [one for one in found if one.pair in stage.pairs]
        if twice := compared_twice(tile.run, own, stage):
            return missing_pairs(tile.run, stage, own, where, "") or twice.also(f"in {where}: {stage.name}")
        if any(one.pair not in stage.pairs for one in found):
            return None
        if len(own) == len(stage.pairs) and (wrong := wrong_results(tile.run, stage, own, where)):
            return wrong.also(tile.run.index_of(wrong.place)) if wrong.is_of_order else wrong
    return None


def _hybrid_plan(n: int) -> Iterator[Stage | int]:
    """The launches that merge sorted tiles: a stage, or the run whose last stages are made in tiles."""
    run = 2 * TILE_OF_STAGES
    while run // 2 < n:
        yield networks.mirror(n, run)
        stride = run // 4
        while stride >= TILE_OF_STAGES:
            yield networks.strided(n, stride, run)
            stride //= 2
        yield run
        run *= 2


def _in_tile(tile: Tile, length: int) -> list[Stage]:
    """The last stages of a merge into runs of `length` keys, all of which are made in tiles."""
    strides = [TILE_OF_STAGES >> i for i in range(1, TILE_OF_STAGES.bit_length())]
    stages = (networks.strided(max(tile.count, 0), stride, length) for stride in strides)
    return [stage for stage in stages if stage.pairs]


def _in_tiles(
    case: Case, run: Run, launch: int, accesses: Sequence[Access], length: int, is_exact: bool
) -> Cause | None:
    """The stages of a merge in tiles; beside a race (not `is_exact`), what no missing barrier changes."""
    own = list(tiles_of(run, launch, accesses, TILE_OF_STAGES, case.n))
    for tile in own:
        plan = _in_tile(tile, length)
        if tile.count > 0 and tile.loads and not plan and tile.stages:
            nothing = Stage(f"{tile.run.array} holds one key, which has no partner", {})
            if wrong := wrong_pairs(tile.run, nothing, tile.stages[0], (), tile.where):
                return wrong
        if wrong := _stages(tile, plan) if is_exact else tile.of_moves() or _by_thread(tile, plan)[1]:
            return wrong
    return _no_tile(run, launch, own, TILE_OF_STAGES, case.n) if is_exact else None


def _without_a_value(accesses: Sequence[Access]) -> Access | None:
    """The first store of an instruction that stores keys in shared memory, if no thread stores a value in any of the
    places in which it stores keys there; None if there is no array of values, which has as many elements."""
    stores = [one for one in accesses if one.writes and one.array.space == "shared"]
    sizes = Counter(one.array for one in stores)
    if len(sizes) != 2 or len({one.array.bytes // one.bytes for one in stores}) != 1:
        return None
    (keys, _), (values, _) = sizes.most_common()
    moved = {(one.block, one.thread, one.offset // one.bytes) for one in stores if one.array == values}
    by_code: dict[int, list[Access]] = {}
    for one in stores:
        if one.array == keys:
            by_code.setdefault(one.code, []).append(one)
    for own in by_code.values():
        if not moved & {(one.block, one.thread, one.offset // one.bytes) for one in own}:
            return own[0]
    return None


def without_values(case: Case, traced: Traced) -> Cause | None:
    """A kernel that moves keys and leaves their values where they are."""
    trace = traced(case, None)
    run = Run(trace, "u32", case.order)
    for number, accesses in by_launch(trace).items():
        if alone := _without_a_value(accesses):
            return Cause(run.place(alone.code), "this line moves keys, but not the values that belong to them")
        stored = {one.array for one in accesses if one.writes and one.array.space == "global"}
        arrays = {one.array for one in accesses if one.array.space == "global"}
        store = next((one for one in accesses if one.writes and one.array.space == "global"), None)
        if store and len(stored) == 1:
            launch = trace.launches[number]
            text = f"{launch.kernel} stores keys, but not the values that belong to them"
            reads = "it reads the values, too" if len(arrays) > 1 else "it does not access the values at all"
            return Cause(run.place(store.code), text, (reads, f"in launch {number + 1}, which is in {launch.place}"))
    return None


def hybrid_beside_races(case: Case, traced: Traced) -> Cause | None:
    """What is wrong in the merge of sorted tiles besides a race: pairs of global stages, which threads share."""
    return hybrid(case, traced, is_exact=False)


def hybrid(case: Case, traced: Traced, is_exact: bool = True) -> Cause | None:
    """The merge of sorted tiles, whose first launch, the one that sorts them, belongs to another step."""
    if case.n <= TILE_OF_STAGES or case.n > 8 * TILE_OF_STAGES:
        return None
    if case.type == "pairs":
        return without_values(case, traced)
    trace = traced(case, (1, 20))
    if wrong := of_other_order(trace, case):
        return wrong
    run = Run(trace, case.type or "u32", case.order)
    own = by_launch(trace)
    plan, stages = list(_hybrid_plan(case.n)), [one for one in _hybrid_plan(case.n) if isinstance(one, Stage)]
    for done, wanted in enumerate(plan):
        number = done + 1
        what = (
            f"the launch of run_global_stage() for {wanted.name}"
            if isinstance(wanted, Stage)
            else f"the launch of merge_in_tiles() for runs of {wanted} keys"
        )
        if number >= len(trace.launches):
            place = trace.launches[-1].place if done else ""  # the launch that sorts the tiles is in another file
            return Cause(place, "a launch is missing after the last one", (f"it must be {what}",))
        launch, accesses = trace.launches[number], own.get(number, [])
        is_in_tiles = any(access.array.space == "shared" for access in accesses)
        if is_in_tiles == isinstance(wanted, Stage) and accesses:
            text = f"{what} is missing before launch {number + 1} ({launch.kernel})"
            stride = (*launch.arguments, None, None, None, None)[3]
            is_short = not is_in_tiles and stride is not None and stride < TILE_OF_STAGES
            short = f"it passes stride = {stride}: strides below {TILE_OF_STAGES} are the work of merge_in_tiles()"
            if is_short:
                text = f"launch {number + 1} launches {launch.kernel}, but it must be {what}"
            return Cause(launch.place, text, (short if is_short else "",))
        if isinstance(wanted, Stage):
            own_run = replace(run, n=case.n, launch=launch, number=number + 1)
            array = busiest(accesses, "global")
            where = f"launch {number + 1} ({launch.kernel})"
            found = comparisons(accesses, array) if array else []
            wanted, others = _of_either_kind(wanted, launch.kernel, case.n)
            wrong = check_stage(own_run, wanted, found, (*others, *stages), where, launch.place)
        else:
            wrong = _in_tiles(case, run, number, accesses, wanted, is_exact)
        if wrong:
            return wrong
    return None


def _of_either_kind(wanted: Stage, kernel: str, n: int) -> tuple[Stage, list[Stage]]:
    """A stage and the one of the other kind with its stride, if the launch's template argument selects that."""
    flag = re.search(r"\b(true|false)\b", kernel)
    is_mirror = wanted.mask > wanted.stride
    if not flag or (flag[1] == "true") == is_mirror:
        return wanted, []
    kinds = ("the mirror stage", "a stage with a stride")
    run = 2 * wanted.stride
    other = networks.strided(n, wanted.stride, run) if is_mirror else networks.mirror(n, run)
    return replace(wanted, kind=kinds[not is_mirror]), [replace(other, kind=kinds[is_mirror])]


def surplus_phases(case: Case, traced: Traced) -> Cause | None:
    """More launches than the phases need, if each runs as many as the halo allows."""
    trace = traced(case, None)
    needed = 2 * -(-case.n // (2 * HALO))  # an even number, so that the last one writes the caller's array
    if len(trace.launches) <= needed or trace.truncated:
        return None
    run, launch = Run(trace, case.type or "u32", case.order), trace.launches[-1]
    text = f"{len(trace.launches)} launches for {case.n:,} keys, but {needed} are enough: each can run {HALO} phases"
    return Cause(launch.place, text, (run.loop_of(launch.place), run.passed_of(launch, 3, 4)))


def surplus_launch(case: Case, traced: Traced) -> Cause | None:
    """A launch of a merge without which the others are those that it needs."""
    trace = traced(case, (1, 20))
    run = Run(trace, case.type or "u32", case.order)
    own = by_launch(trace)
    launches = list(enumerate(trace.launches))[1:]  # the first sorts the tiles

    def is_wanted(number: int, wanted: Stage | int) -> bool:
        accesses = own.get(number, [])
        is_in_tiles = any(access.array.space == "shared" for access in accesses)
        array = busiest(accesses, "global")
        if isinstance(wanted, int) or is_in_tiles or array is None:
            return is_in_tiles == isinstance(wanted, int)
        return {one.pair for one in comparisons(accesses, array)} == set(wanted.pairs)

    for (number, launch), wanted in zip(launches, _hybrid_plan(case.n)):
        if is_wanted(number, wanted):
            continue
        following = range(number + 1, min(number + 1 + MOST_SURPLUS, len(trace.launches)))
        right = next((later for later in following if is_wanted(later, wanted)), 0)
        if not right:
            return None
        text = f"launch {number + 1} ({launch.kernel}) is one too many"
        if right > number + 1:
            text = f"launches {number + 1} to {right}, of which this is the first ({launch.kernel}), are too many"
        what = wanted.name if isinstance(wanted, Stage) else f"the last stages of runs of {wanted} keys, in tiles"
        loop = run.loop_of(launch.place)
        asked = f"does this loop begin too early? {loop}" if loop else ""
        belongs = f"launch {right + 1} is the one that belongs here: {what}"
        return Cause(launch.place, text, (belongs, asked, run.passed_of(launch, 3)))
    return None


# --- odd-even phases ---


def _phases(tile: Tile, done: int, n: int) -> Cause | None:
    """The first phase in a window that departs from the sort; `done` phases have been made before."""
    if tile.count <= 0 or not tile.loads:
        return None
    if wrong := tile.of_moves() or tile.of_window() or tile.of_stores():
        return wrong
    found = tile.stages
    end = tile.first + tile.count
    keys = min(end + HALO, n) - tile.left
    plan = [networks.phase(done + p, keys, tile.left) for p in range(2)]
    for p, own in enumerate(found):
        stage, left = networks.phase(done + p, keys, tile.left), len(found) - 1 - p
        needed = {
            pair: True
            for pair in stage.pairs
            if tile.first - left <= pair[1] + tile.left and pair[0] + tile.left < end + left
        }
        where = f"{tile.where}"
        wrong = (
            _of_first_phase(tile, done, p, stage, own, plan)
            or wrong_pairs(tile.run, stage, own, plan, where)
            or missing_pairs(tile.run, Stage(stage.name, needed), own, where, "")
            or wrong_results(tile.run, stage, own, where)
        )
        if wrong:
            return wrong
    return None


def _of_first_phase(
    tile: Tile, done: int, p: int, stage: Stage, own: Sequence[Comparison], plan: Sequence[Stage]
) -> Cause | None:
    """A launch that begins with the parity of another phase: its arguments, or the kernel, may be at fault."""
    launch = tile.run.launch
    pairs = {one.pair for one in own}
    other = next((other for other in plan if other.kind != stage.kind), None)
    if (
        launch is None
        or len(launch.arguments) < 5
        or not other
        or not pairs <= set(other.pairs)
        or pairs <= set(stage.pairs)
    ):
        return None
    first = launch.arguments[3]
    place = tile.run.place(own[0].code)
    if first != done:
        text = f"launch {tile.run.number} passes first_phase = {first}, but {done} phases have been run before it"
        return Cause(launch.place, text, (f"so its first phase is phase {done}", tile.run.passed_of(launch, 3)))
    text = f"{tile.where} compares the pairs of {other.kind} in phase {done + p}: {pairs_text(sorted(pairs))}"
    details = (
        f"the launch begins with phase {done}: take the parity of the phase itself, not of its number in the launch"
        if done
        else "",
        tile.run.index_of(place),
    )
    return Cause(place, text, details, is_certain=bool(done))


def _buffers(run: Run, launch: int, before: Sequence[Access], accesses: Sequence[Access]) -> Cause | None:
    """A launch that reads another array than the one before has written."""
    written = busiest((one for one in before if one.writes), "global")
    read = busiest((one for one in accesses if one.way == "load"), "global")
    if written is None or read is None or written == read:
        return None
    text = f"launch {launch + 1} does not read the array that launch {launch} has written"
    details = (f"it reads {read.name}; launch {launch} wrote {written.name}", "swap the buffers after each launch")
    return Cause(run.trace.launches[launch].place, text, details)


def halo(case: Case, traced: Traced) -> Cause | None:
    """The phases of all launches, divided into windows."""
    n, done, number = case.n, 0, 0
    before: list[Access] = []
    origin = None
    is_small = n <= FEW_KEYS
    trace = traced(case, None) if is_small else traced(case, (0, 0))
    count = len(trace.launches)
    if wrong := _too_many_phases(trace, n):
        return wrong
    if is_small and (wrong := _too_few_phases(Run(trace, case.type or "u32", case.order), n)):
        return wrong
    seen = 0
    while number < count and seen < MOST_ACCESSES:
        if number and not is_small:
            trace = traced(case, (number, number))
        run = Run(trace, case.type or "u32", case.order, "window")
        accesses = by_launch(trace).get(number, [])
        if trace.truncated and accesses:  # between two barriers
            last = accesses[-1]
            accesses = [one for one in accesses if (one.block, one.interval) != (last.block, last.interval)]
        seen += len(accesses)
        origin = origin or busiest((one for one in accesses if one.way == "load"), "global")
        own = list(tiles_of(run, number, accesses, TILE_OF_PHASES, n, HALO))
        wrong = _buffers(run, number, before, accesses) if is_small else None
        for tile in own:
            wrong = wrong or _phases(tile, done, n)
        if wrong := wrong or _no_tile(run, number, own, TILE_OF_PHASES, n):
            return wrong
        phases = max((len(tile.stages) for tile in own), default=0)
        if phases > HALO and n > TILE_OF_PHASES:
            text = f"launch {number + 1} runs {phases} phases, but the halo of a tile has keys for {HALO} phases"
            return Cause(trace.launches[number].place, text)
        if trace.truncated:  # how many phases it runs is not known
            after_all = n + 1  # of the launches, and no accesses of any
            wrong = _of_passed_phases(traced(case, (after_all, after_all)), n)
            return wrong or _of_last_source(traced(case, (count - 1, count - 1)), case, origin)
        done, before, number = done + phases, accesses, number + 1
    target = busiest((one for one in before if one.writes), "global")
    if is_small and origin and target and target != origin:
        text = f"the last launch, number {count}, writes {target.name}, not {origin.name}"
        place = trace.launches[-1].place
        return Cause(place, text, (_EVEN, Run(trace, "", "").repeated_by(place)))
    return None


def _of_last_source(trace: Trace, case: Case, origin: Array | None) -> Cause | None:
    """A last launch that reads the caller's array, `origin`, and so writes the other one. `trace`: of that launch."""
    number = len(trace.launches)
    loads = [one for one in by_launch(trace).get(number - 1, []) if one.way == "load"]
    read = busiest(loads, "global")
    if number < 2 or not origin or not read or read.allocation != origin.allocation:
        return None
    place = trace.launches[-1].place
    text = f"the last launch, number {number}, reads {read.name}, so the result is in the other array"
    return Cause(place, text, (_EVEN, Run(trace, case.type or "u32", case.order).repeated_by(place)))


def _passed_phases(launch: Launch) -> tuple[int | None, int | None]:
    """The first phase of a launch and the one after its last, as its arguments say; None: not known."""
    first, end = launch.arguments[3:5] if len(launch.arguments) == 5 else (None, None)
    return first, end


def _too_many_phases(trace: Trace, n: int) -> Cause | None:
    """A launch whose arguments ask for more phases than the halo has keys for."""
    done: int | None = 0
    for number, launch in enumerate(trace.launches, 1):
        first, end = _passed_phases(launch)
        if first is not None and done and first != done:
            return _of_first_phase_passed(trace, number, first, done)
        done = end
        if first is not None and end is not None and end - first > HALO and n > TILE_OF_PHASES:
            text = f"launch {number} runs {end - first} phases, but the halo of a tile has keys for {HALO} phases"
            run = Run(trace, "u32", "ascending")
            passed = f"it passes first_phase = {first} and end_phase = {end}, n = {n:,}"
            return Cause(launch.place, text, (passed, run.given(launch, 3, 4), run.passed_of(launch, 3, 4)))
    return None


def _of_first_phase_passed(trace: Trace, number: int, first: int, done: int) -> Cause:
    """A launch, counted from 1, that does not begin where those before it have ended."""
    launch, run = trace.launches[number - 1], Run(trace, "u32", "ascending")
    must = f"launch {number - 1} has passed end_phase = {done}" if number > 1 else "it must be 0"
    text = f"launch {number} passes first_phase = {first}, but {must}"
    source, line = run.source(launch.place), line_of(launch.place)[1]
    passed = source.argument(line, 3)
    loop, given = (0, *source.loops_around(line))[-1], source.assigned(passed, line)
    is_kept = number > 1 and 0 < given < loop and not source.changed_after(passed, line)
    given_as = run.given(launch, 3) if passed != "first_phase" else ""
    why = f"nothing in the loop of line {loop} changes {passed}" if is_kept else given_as
    return Cause(launch.place, text, (why, run.passed_of(launch, 3)))


def _of_passed_phases(trace: Trace, n: int) -> Cause | None:
    """Launches whose arguments ask for other phases than 0 to n - 1, each once."""
    run, done = Run(trace, "u32", "ascending"), 0
    for number, launch in enumerate(trace.launches, 1):
        first, end = _passed_phases(launch)
        if first is None or end is None:
            return None
        if first != done:
            return _of_first_phase_passed(trace, number, first, done)
        done = end
    if not trace.launches or done >= n:
        return None
    last = trace.launches[-1]
    text = f"the launches pass only the phases 0 to {done - 1}, but {n} keys need {n} phases"
    return Cause(last.place, text, (run.passed_of(last, 3, 4),))


def _too_few_phases(run: Run, n: int) -> Cause | None:
    counts, places = [], [event.place for event in run.trace.events if isinstance(event, Barrier)][:1]
    for launch, accesses in by_launch(run.trace).items():
        of_tiles = [tile.stages for tile in tiles_of(run, launch, accesses, TILE_OF_PHASES, n, HALO)]
        counts.append(max(map(len, of_tiles), default=0))
        places += [run.place(stages[0][0].code) for stages in of_tiles if stages]
    needed = n if n > 2 else 1  # the odd phase of two keys has no pair
    if not counts or sum(counts) >= needed:
        return None
    place = (places or [run.trace.launches[-1].place])[-1]
    earliest = run.trace.launches[0]
    begin, end = _passed_phases(earliest)
    if not sum(counts) and begin is not None and end is not None and end <= begin:
        text = f"launch 1 ({earliest.kernel}) runs no phase: it passes first_phase = {begin} and end_phase = {end}"
        return Cause(earliest.place, text, (run.given(earliest, 3, 4), run.passed_of(earliest, 3, 4)))
    if not sum(counts):
        array = busiest(run.trace.accesses, "shared")
        name = array.name if array else run.array
        text = f"no thread compares {name}[0] and {name}[1] in any launch"
        source, line = run.source(place), line_of(place)[1]
        at = source.comparing(line) if 0 < line <= len(source.lines) else 0
        tests = [source.bound_of(at), *map(source.quoted, source.loops_around(source.caller(at)))] if at else []
        check = "check which phases a launch runs, and which pair of a phase is the last"
        return Cause(place, text, (check, "; ".join(filter(None, tests)), source.quoted(at) if at else ""))
    phases = "one phase is" if sum(counts) == 1 else f"{sum(counts)} phases are"
    text = f"in all launches together, only {phases} executed, but {n} keys need {n}"
    last = run.trace.launches[-1]
    of_launch = f"phases of each launch: {', '.join(map(str, counts))}"
    comes = run.passed_of(last, 3, 4) if len(last.arguments) == 5 else ""
    return Cause(last.place if comes else place, text, (of_launch, comes))

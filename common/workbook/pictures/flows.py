"""Where stored values come from: the lines of an access picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

from . import trace
from .accesses import Cell, Mark, Panel, Place
from .trace import Access

Source = tuple[Place, Cell]
Values = dict[Optional[int], Source]  # where a value was read; None: equal values were read in several places


def _cell(access: Access) -> Cell:
    return access.launch, access.interval


def _add_running_sums(marks: Sequence[Mark], panel: Panel) -> set[Mark]:
    """Finds the sums of serial scans, and their edges: what is read is passed on from place to place.

    A thread reads one value after another and stores a sum after each: that of the values before it, or with it.
    """
    found: set[Mark] = set()
    chains: dict[tuple[int, int, int, int], list[tuple[Access, Access, Mark]]] = {}
    for mark in marks:
        first = mark.accesses[0]
        chain = chains.setdefault((first.launch, first.block, first.interval, first.thread), [])
        if [a.way for a in mark.accesses] == ["load", "store"]:
            load, store = mark.accesses
            chain.append((load, store, mark))
    for chain in chains.values():
        stores = [store for _, store, _ in chain]
        steps = [(after.value - before.value) % 256**after.bytes for before, after in zip(stores, stores[1:])]
        exclusive = [load.value for load, _, _ in chain[:-1]]
        inclusive = [load.value for load, _, _ in chain[1:]]
        if len(steps) < 2 or steps not in (exclusive, inclusive) or not any(steps):
            continue
        if all(load.value == store.value for load, store, _ in chain):
            continue
        for i, (load, store, mark) in enumerate(chain):
            added = load if steps == inclusive and steps != exclusive else chain[i - 1][0] if i else None
            place = panel.places(store)[0]
            if added:
                mark.edges.append((panel.places(added)[0], _cell(added), place))
            if i:
                mark.carry = panel.places(chain[i - 1][1])[0]
            mark.kind = "flow" if added else "dots"
            found.add(mark)
    return found


def _sources(marks: Sequence[Mark], panel: Panel) -> tuple[dict[Access, Source | None], set[str]]:
    """Where each stored value was read, or None; and the instructions that store values which were not read.

    A stored value comes from where its thread read it, in this interval or the one before, or its warp in this one
    (lanes exchange values by shuffles). Equal values in several places are ambiguous.
    """
    mark_of = {access: mark for mark in marks for access in mark.accesses}
    by_thread: dict[tuple[int, int, int, int], Values] = {}
    by_warp: dict[tuple[int, int, int, int], Values] = {}
    sources_of: dict[Access, Source | None] = {}
    computing: set[str] = set()
    for access in panel.accesses:
        mark = mark_of.get(access)
        if mark is None:
            continue
        at = (access.launch, access.block, access.interval)
        own = by_thread.setdefault((*at, access.thread), {})
        of_warp = by_warp.setdefault((*at, access.thread // trace.LANES_PER_WARP), {})
        if not access.writes:
            source = (panel.places(access)[0], _cell(access))
            for seen in (own, of_warp):
                if seen.setdefault(access.value, source)[0] != source[0]:
                    seen[None] = source
        elif mark.kind == "flow":
            before = by_thread.get((*at[:2], access.interval - 1, access.thread), {})
            since = {a.value: (panel.places(a)[0], _cell(a)) for a in mark.accesses if not a.writes}
            candidates = [seen for seen in (since, own, of_warp, before) if access.value in seen and None not in seen]
            sources_of[access] = candidates[0][access.value] if candidates else None
            if not candidates:
                computing.add(access.code)
    return sources_of, computing


def follow_values(marks: Sequence[Mark], panel: Panel) -> None:
    """Finds the edges of flows.

    A value that was read and stored has one source. Any other value was computed from what the thread has read since
    its last store. So were all values of an instruction that follows two or more reads and has computed at least one
    value, and every value that replaces one of several that were read, as the smaller of two does in a reduction.
    """
    sums = _add_running_sums([mark for mark in marks if mark.kind == "flow"], panel)
    sources_of, computing = _sources([mark for mark in marks if mark not in sums], panel)
    for mark in marks:
        if mark.kind != "flow" or mark in sums:
            continue
        replaces = len(mark.reads) > 1 and len(mark.writes) == 1 and mark.writes[0] in mark.reads
        for access in mark.accesses:
            if not access.writes:
                continue
            source = sources_of[access]
            if source is None or replaces or (len(mark.reads) > 1 and access.code in computing):
                sources = [(place, _cell(access)) for place in mark.reads]
            else:
                sources = [source]
            mark.edges += [(place, column, panel.places(access)[0]) for place, column in sources]
        if not mark.edges:
            mark.kind = "dots"

"""Bitonic networks as data, and their layout: a network is a list of stages, a stage a list of comparators."""

from __future__ import annotations

from typing import NamedTuple


class Comparator(NamedTuple):
    """After it, wire `small` holds the smaller of the two keys and wire `large` the larger."""

    small: int
    large: int

    @property
    def low(self) -> int:
        return min(self)

    @property
    def high(self) -> int:
        return max(self)


class Stage(NamedTuple):
    merge: int  # k: the length of the sorted runs after this merge
    stride: int  # j: the distance of the two wires; 0 in the mirror stage, where it varies
    comparators: list


def half_cleaner(n: int, first: int = 0) -> list[Comparator]:
    """B_n: wire i meets wire i + n/2."""
    return [Comparator(first + i, first + i + n // 2) for i in range(n // 2)]


def classic(n: int) -> list[Stage]:
    """Batcher's bitonic network for n wires, n a power of two: partner i ^ j, ascending where (i & k) == 0."""
    stages = []
    k = 2
    while k <= n:
        j = k // 2
        while j > 0:
            pairs = [(i, i ^ j) for i in range(n) if i < (i ^ j)]
            stages.append(Stage(k, j, [Comparator(a, b) if (a & k) == 0 else Comparator(b, a) for a, b in pairs]))
            j //= 2
        k *= 2
    return stages


def mirrored(n: int) -> list[Stage]:
    """The network whose comparators all point one way, for any n: the first stage of a merge pairs i with i ^ (k-1)."""
    stages = []
    k = 2
    while k < 2 * n:
        mirror = [Comparator(i, i ^ (k - 1)) for i in range(n) if i < (i ^ (k - 1)) < n]
        stages.append(Stage(k, 0, mirror))
        j = k // 4
        while j > 0:
            stages.append(Stage(k, j, [Comparator(i, i ^ j) for i in range(n) if i < (i ^ j) < n]))
            j //= 2
        k *= 2
    return stages


def sorts_everything(stages: list[Stage], n: int) -> bool:
    """The 0-1 principle, all 2^n inputs at once: bit x of wire i is bit i of x, so min is AND and max is OR."""
    every = (1 << (1 << n)) - 1
    wires = []
    for i in range(n):
        period = 1 << (i + 1)
        ones = ((1 << (1 << i)) - 1) << (1 << i)
        wires.append(ones * (every // ((1 << period) - 1)))
    for stage in stages:
        for small, large in stage.comparators:
            wires[small], wires[large] = wires[small] & wires[large], wires[small] | wires[large]
    return all(wires[i] & ~wires[i + 1] == 0 for i in range(n - 1))


def run(stages: list[Stage], keys: list[int]) -> tuple[list[list[int]], list[set[int]]]:
    """The keys before the first stage and after every stage, and for each stage the wires that a swap touched."""
    states, swaps = [list(keys)], []
    for stage in stages:
        keys, touched = list(states[-1]), set()
        for small, large in stage.comparators:
            if keys[small] > keys[large]:
                keys[small], keys[large] = keys[large], keys[small]
                touched |= {small, large}
        states.append(keys)
        swaps.append(touched)
    return states, swaps


def launches(tile_log: int, n_log: int) -> list[tuple[str, list[tuple[int, int]]]]:
    """The launches of step 03 for 2^n_log keys: (kind, [(merge exponent, stage within the merge)])."""
    plan = [("tile", [(m, s) for m in range(1, tile_log + 1) for s in range(m)])]
    for m in range(tile_log + 1, n_log + 1):
        above = m - tile_log
        plan += [("mirror" if s == 0 else "global", [(m, s)]) for s in range(above)]
        plan.append(("merge", [(m, s) for s in range(above, m)]))
    return plan


# --- their layout ---

LANE = 15  # distance of two comparators of one stage that would overlap
STAGE_GAP = 34


def lanes(comparators: list[Comparator]) -> tuple[list[tuple[Comparator, int]], int]:
    """Puts overlapping comparators side by side: the lane of each, and the number of lanes."""
    taken: list[int] = []
    places: list[tuple[Comparator, int]] = []
    for c in sorted(comparators, key=lambda c: (c.low, c.high)):
        lane = next((i for i, end in enumerate(taken) if end < c.low), len(taken))
        if lane == len(taken):
            taken.append(c.high)
        taken[lane] = c.high
        places.append((c, lane))
    return places, max(1, len(taken))


class Place(NamedTuple):
    stage: Stage
    x: float  # of the first lane
    width: float
    comparators: list  # (comparator, lane)


def place_stages(stages: list[Stage], x: float, merge_gap: float) -> tuple[list[Place], float]:
    """Stages from left to right, `merge_gap` more between two merges: the places, and the x where they end."""
    places: list[Place] = []
    for stage in stages:
        if places:
            x += STAGE_GAP + (merge_gap if places[-1].stage.merge != stage.merge else 0)
        comparators, count = lanes(stage.comparators)
        places.append(Place(stage, x, (count - 1) * LANE, comparators))
        x += (count - 1) * LANE
    return places, x

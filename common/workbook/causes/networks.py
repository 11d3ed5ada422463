"""Sorting networks as the handouts define them: which pairs each stage compares, and in which direction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

# Labs 01 and 03: keys in a tile of a step that uses shared memory, and on either side of it.
TILE_OF_PHASES, HALO, TILE_OF_STAGES = 512, 256, 1024


@dataclass(frozen=True)
class Stage:
    """Comparators that can work at the same time. `pairs`: lower and upper position -> whether the key that comes
    first belongs at the lower one."""

    name: str
    pairs: dict[tuple[int, int], bool]
    turned: str = ""  # why some pairs are in the opposite order
    kind: str = ""  # what stages with the same pairs are called, if there are several
    # The kernel's arguments, by their position: the name, and the number. Of `counted`, too few leave out pairs.
    numbers: Mapping[int, tuple[str, int]] = field(default_factory=dict)
    counted: tuple[int, str] | None = None
    stride: int = 1  # the length of a row of neighbouring lower positions
    mask: int = 0  # the bits in which the positions of every pair differ, also of those that n cuts off; 0: unknown
    keys_at: int | None = None  # which of the kernel's arguments is the number of keys

    def number_of(self, pair: tuple[int, ...]) -> int:
        """Which comparator of the stage a pair is: that of thread t, if all threads have one."""
        return pair[0] // (2 * self.stride) * self.stride + pair[0] % self.stride


def phase(number: int, n: int, left: int = 0) -> Stage:
    """A phase of the odd-even sort. `left`: the position in the array of the first of `n` keys."""
    parity = "odd" if number % 2 else "even"
    pairs = {(i, i + 1): True for i in range((number + left) % 2, n - 1, 2)}
    name = f"phase {number} ({parity}: the pairs that begin at {parity} positions)"
    kind = "an odd phase" if number % 2 else "an even phase"
    return Stage(name, pairs, kind=kind, numbers={2: ("parity", number % 2)}, keys_at=1)


def phases(n: int) -> Iterator[Stage]:
    """The odd-even sort of n keys."""
    return (phase(number, n) for number in range(n))


def classic(n: int) -> Iterator[Stage]:
    """The bitonic sort of n keys, a power of two, whose runs alternate in direction."""
    k = 2
    while k <= n:
        j = k // 2
        while j:
            pairs = {(i, i ^ j): not i & k for i in range(n) if not i & j}
            numbers = {2: ("k", k), 3: ("j", j)}
            yield Stage(
                f"the stage k = {k}, j = {j}", pairs, f"i & {k} is not 0", "", numbers, (1, "comparators"), j, j
            )
            j //= 2
        k *= 2


def mirror(n: int, run: int) -> Stage:
    """The first stage of a merge into runs of `run` keys, of which n cuts off the last one."""
    pairs = {(i, i ^ (run - 1)): True for i in range(n) if i < i ^ (run - 1) < n}
    numbers = {3: ("stride", run // 2)}
    name = f"the mirror stage of runs of {run} keys"
    return Stage(name, pairs, numbers=numbers, counted=(2, "pairs"), stride=run // 2, mask=run - 1)


def strided(n: int, stride: int, run: int) -> Stage:
    """A further stage of a merge."""
    pairs = {(i, i + stride): True for i in range(n - stride) if not i & stride}
    numbers = {3: ("stride", stride)}
    name = f"the stage with stride {stride} of runs of {run} keys"
    return Stage(name, pairs, numbers=numbers, counted=(2, "pairs"), stride=stride, mask=stride)


def mirrored(n: int) -> Iterator[Stage]:
    """The bitonic sort of n keys, any number, whose comparators all point the same way."""
    run = 2
    while run // 2 < n:
        yield mirror(n, run)
        stride = run // 4
        while stride:
            yield strided(n, stride, run)
            stride //= 2
        run *= 2

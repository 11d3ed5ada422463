"""Which rows of measurements a table or plot shows, and how they are named."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

from ..core.rows import Row, best_gold, verified, whole

Key = TypeVar("Key", bound=Hashable)
Line = tuple[int, str, str]  # what is drawn as one line: (step, task, name)

GOLD_NAMES = {
    "stable-sort": "std::stable_sort",
    "sort": "std::sort",
    "spreadsort": "Boost spreadsort",
    "vqsort": "VQSort",
    "block-indirect-sort": "Boost block_indirect_sort",
    "radix-with-copies": "CUB radix with copies",
    "counting": "counting sort",
}
CPU_PARTS = {"reduce": "reduce by a loop", "histogram": "histogram by a loop", "exclusive-scan": "std::exclusive_scan"}
BYTES = {"u8": 1, "u16": 2, "u32": 4, "i32": 4, "f32": 4, "u64": 8, "i64": 8, "f64": 8, "pairs": 8}
READ_ONLY = ("reduce", "histogram")
# Bits of entropy per bit of a random input whose bits are all alike, and per key of an input with few values.
ENTROPY_OF_BIT = {"uniform": 1, "and-2": 0.8113, "and-3": 0.5436, "and-4": 0.3373, "and-5": 0.2006}
ENTROPY_OF_KEY = {"few-values": 4, "two-values": 1, "all-equal": 0}


def groups(rows: Iterable[Row], key: Callable[[Row], Key]) -> dict[Key, list[Row]]:
    """The rows of each key, in the order in which the keys appear."""
    found: dict[Key, list[Row]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return found


# --- names ---


def gold_name(name: str, build: str) -> str:
    """A gold standard's common name: "CUB radix", "VQSort"."""
    if " " in name:  # a peer's: "library-1.0 radix"
        return name
    match = re.fullmatch(r"(.*?)(-(\d+|tiles))?", name)
    assert match
    base, _, tile = match.groups()
    known = GOLD_NAMES.get(base) or (CPU_PARTS.get(base, base) if build == "cpu" else base)
    if build == "cuda" and known == base:
        known = f"CUB {base}"
    return f"{known}, tiles of {tile}" if tile and tile.isdigit() else known


def step_of(row: Row) -> tuple[int, str]:
    """The step's number and name."""
    return row.step, row.name


def line_of(row: Row) -> Line:
    """The line that a row belongs to."""
    return row.step, row.task, row.name


def shape_of(row: Row) -> tuple[int, int]:
    """Blocks and threads per block of the launch; (0, 0): the step's own choice."""
    return row.blocks, row.threads


# --- values ---


def speed(row: Row) -> float:
    """Keys per second."""
    return row.keys_per_s or 0.0


def milliseconds(row: Row) -> float:
    """The median time."""
    return row.median_ms or 0.0


def roof_keys(row: Row) -> float | None:
    """Keys per second if each key only had to be read once and, if the task writes it, written once."""
    if not row.roof_gb_per_s:
        return None
    return row.roof_gb_per_s * 1e9 / (BYTES[row.type] * (1 if row.task in READ_ONLY else 2))


def is_power(n: int) -> bool:
    """Whether a number of keys is a power of two from 1024 on."""
    return n >= 1024 and n & (n - 1) == 0


def largest_value(row: Row) -> int | None:
    """The largest value of keys that are uniform from 0; None for other inputs."""
    match = re.fullmatch(r"range:0:(\d+)", row.input)
    return int(match[1]) if match else None


def entropy(name: str, kind: str) -> float | None:
    """Bits of entropy per key of that input and type; None for inputs that differ by their order."""
    if name in ENTROPY_OF_BIT:
        return ENTROPY_OF_BIT[name] * (32 if kind == "pairs" else 8 * BYTES[kind])
    return ENTROPY_OF_KEY.get(name)


# --- selections ---


def measured(rows: Iterable[Row]) -> list[Row]:
    """The verified rows of whole steps."""
    return whole(verified(rows))


def usual(rows: Iterable[Row]) -> list[Row]:
    """Rows of ascending sorts whose launch shape the step chose, of uniform keys.

    A line and type that was never measured with uniform keys has its commonest input instead. Of several amounts of
    device memory for the same n, the first counts.
    """
    found = []
    candidates = [row for row in measured(rows) if row.order == "ascending" and shape_of(row) == (0, 0)]
    for own in groups(candidates, lambda row: (row.lab, line_of(row), row.type)).values():
        inputs = [row.input for row in own]
        usual_input = "uniform" if "uniform" in inputs else commonest(inputs)
        memory: dict[int, str] = {}
        found += [row for row in own if row.input == usual_input and memory.setdefault(row.n, row.memory) == row.memory]
    return found


def powers(rows: list[Row]) -> list[Row]:
    """The rows of a sweep over powers of two; all rows if there are none."""
    return [row for row in rows if is_power(row.n)] or rows


def commonest(values: Sequence[Key]) -> Key:
    """The value that occurs most often; of several, the first."""
    return max(dict.fromkeys(values), key=values.count)


def by_line(rows: Iterable[Row], lab: str) -> dict[Line, list[Row]]:
    """The rows of each line by n, in its commonest type. Sorts come before the parts of their step."""
    lines = {}
    for line, own in groups((row for row in rows if row.lab == lab), line_of).items():
        main = commonest([row.type for row in own])
        by_n = {row.n: row for row in own if row.type == main}
        lines[line] = [by_n[n] for n in sorted(by_n)]
    return dict(sorted(lines.items(), key=lambda item: (item[0][0], item[0][1] != "sort")))


def golds_of(rows: Sequence[Row], lines: dict[Line, list[Row]]) -> dict[int, list[Row]]:
    """Tile -> the fastest gold standard at each n for the sorts among `lines`, in the type of the line."""
    found: dict[int, dict[int, Row]] = {}
    for (_, task, _), own in lines.items():
        for row in own if task == "sort" else []:
            gold = best_gold(rows, row)
            if gold:
                found.setdefault(row.tile, {})[row.n] = gold
    return {tile: [own[n] for n in sorted(own)] for tile, own in found.items()}


def by_entropy(rows: Iterable[Row]) -> list[Row]:
    """Rows of several inputs: random ones from the most entropy to the least, then the others as they came."""

    def place(row: Row) -> tuple[int, float]:
        bits = entropy(row.input, row.type)
        return (1, 0) if bits is None else (0, -bits)

    return sorted(rows, key=place)


def ranged(rows: Iterable[Row], lab: str) -> list[Row]:
    """A lab's sorts of keys that are uniform from 0, where the step chose its launch shape."""
    return [
        row
        for row in measured(rows)
        if largest_value(row) is not None and row.lab == lab and row.task == "sort" and row.blocks == 0
    ]


def shaped(rows: Iterable[Row], lab: str) -> list[Row]:
    """A lab's sorts with given launch shapes, of the keys that the lab usually sorts."""
    return [
        row
        for row in measured(rows)
        if row.lab == lab and row.task == "sort" and row.blocks and row.threads and largest_value(row) is None
    ]


def swept(rows: list[Row], column: str, keys: Sequence[str] = ("n", "type")) -> list[list[Row]]:
    """The rows of a sweep over `column`, each step at the `keys` for which it has most values; the largest n first."""

    def place(row: Row) -> tuple[object, ...]:
        return tuple(getattr(row, key) for key in keys)

    def values(some: Iterable[Row]) -> int:
        return len({getattr(row, column) for row in some})

    main = max(groups(rows, place).items(), key=lambda item: (values(item[1]), item[1][0].n), default=((), []))[0]
    chosen = {}
    for name, own in groups(rows, lambda row: row.name).items():
        at = groups(own, place)
        chosen[name] = max(at, key=lambda key: (values(at[key]), key == main))
    kept = groups((row for row in rows if chosen[row.name] == place(row)), place)
    return sorted((own for own in kept.values() if values(own) > 1), key=lambda own: -own[0].n)

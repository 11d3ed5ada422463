"""The figures of lab 03. A network is drawn only after it has been shown to sort every input."""

from __future__ import annotations

from collections.abc import Callable

from bitonic_networks import (
    LANE,
    Comparator,
    Place,
    Stage,
    classic,
    half_cleaner,
    lanes,
    mirrored,
    place_stages,
    run,
    sorts_everything,
)
from groups import draw_groups
from launches import draw_launches
from places import draw_places

from workbook.pictures import svg, theme
from workbook.pictures.recorded import RecordedRun

RUNS = {"run-tile": RecordedRun("03-bitonic", step=2, n=16)}


def draw_comparators(
    drawing: svg.Drawing, places: list[Place], y: Callable[[int], float], color: Callable[[Comparator], str]
) -> None:
    for place in places:
        for comparator, lane in place.comparators:
            drawing.arrow(place.x + lane * LANE, y(comparator.small), y(comparator.large), color(comparator))


def direction_color(comparator: Comparator) -> str:
    return theme.BLUE if comparator.small < comparator.large else theme.ORANGE


def legend(drawing: svg.Drawing, x: float, y: float, entries: list[tuple[str, bool, str]]) -> None:
    """Sample arrows with their meaning: (color, points down, words)."""
    for color, down, words in entries:
        drawing.arrow(x, y - 9 if down else y + 5, y + 5 if down else y - 9, color)
        drawing.text(x + 10, y + 3, words, 12.5, theme.MUTED if color == theme.WIRE else color, "start")
        x += 34 + 6.9 * len(words)


def draw_merges(
    drawing: svg.Drawing,
    places: list[Place],
    wires: int,
    y: Callable[[int], float],
    colors: Callable[[int, int], tuple[str, str]],
) -> None:
    """A box around each merge, with its size k above. `colors(first, k)`: the fill and the outline, by first wire."""
    k = 2
    while k <= wires:
        of_merge = [p for p in places if p.stage.merge == k]
        x1, x2 = of_merge[0].x - 15, of_merge[-1].x + of_merge[-1].width + 15
        for first in range(0, wires, k):
            drawing.rect(x1, y(first) - 10, x2 - x1, y(first + k - 1) - y(first) + 20, *colors(first, k), 5, 0.8)
        drawing.text((x1 + x2) / 2, 28, f"k = {k}", 15, theme.INK, weight="bold")
        k *= 2


def draw_network(n: int, title: str) -> svg.Drawing:
    """The classic network with a box around each merge, blue where it ascends, orange where it descends."""
    stages = classic(n)
    assert sorts_everything(stages, n)
    pitch, left, top = 24, 52, 78
    places, right = place_stages(stages, left + 26, 16)
    drawing = svg.Drawing(
        right + 48,
        top + (n - 1) * pitch + 64,
        title,
        f"{n} wires, one per position, and {len(stages)} stages of {n // 2} comparators, from left to right. A stage "
        "with stride j joins wires that are j apart. Merges into runs of k = "
        + svg.listed(sorted({stage.merge for stage in stages}))
        + " are boxed: they ascend and "
        "descend in turn, and the last one ascends.",
    )

    def y(wire: int) -> float:
        return top + wire * pitch

    def colors(first: int, k: int) -> tuple[str, str]:
        return (theme.BLUE_FILL, theme.BLUE) if (first & k) == 0 else (theme.ORANGE_FILL, theme.ORANGE)

    draw_merges(drawing, places, n, y, colors)
    for wire in range(n):
        drawing.line(left, y(wire), right + 26, y(wire))
        drawing.text(left - 10, y(wire) + 4.5, str(wire), 12.5, theme.MUTED, "end")
    draw_comparators(drawing, places, y, direction_color)
    for place in places:
        drawing.text(place.x + place.width / 2, 52, f"j = {place.stage.stride}", 11, theme.MUTED)
    legend(
        drawing, left, y(n - 1) + 40, [(theme.BLUE, True, "ascending merge"), (theme.ORANGE, False, "descending merge")]
    )
    return drawing


def draw_half_cleaners() -> svg.Drawing:
    pitch, top = 24, 74
    drawing = svg.Drawing(
        560,
        top + 7 * pitch + 38,
        "The half-cleaners of 8, 4 and 2 wires",
        "Three half-cleaners next to each other. In that of 8 wires, wire i meets wire i + 4, in that of 4 wires i "
        "+ 2, and in that of 2 wires i + 1. Every arrow points down, to the wire that gets the larger key.",
    )
    x = 52.0
    for n in (8, 4, 2):
        cleaner = Stage(n, n // 2, half_cleaner(n))
        places, right = place_stages([cleaner], x + 28, 0)

        def y(wire: int) -> float:
            return top + wire * pitch

        drawing.text((x + right + 28) / 2, 30, f"B{n}", 16, theme.INK, weight="bold")
        drawing.text((x + right + 28) / 2, 50, f"i meets i + {n // 2}", 12, theme.MUTED)
        for wire in range(n):
            drawing.line(x, y(wire), right + 28, y(wire), theme.WIRE)
            drawing.text(x - 10, y(wire) + 4.5, str(wire), 12.5, theme.MUTED, "end")
        draw_comparators(drawing, places, y, direction_color)
        x = right + 28 + 92
    legend(drawing, 232, top + 6 * pitch + 4, [(theme.BLUE, True, "points to where the larger key goes")])
    return drawing


def draw_mirrored(wires: int, n: int) -> svg.Drawing:
    """The mirrored network for `wires` wires of which only n carry keys; comparators of the others are grey."""
    everything, used = mirrored(wires), mirrored(n)
    assert sorts_everything(everything, wires) and sorts_everything(used, n)
    present = {(s.merge, s.stride, c) for s in used for c in s.comparators}
    pitch, left, top = 24, 52, 78
    places, right = place_stages(everything, left + 26, 16)
    drawing = svg.Drawing(
        right + 48,
        top + (wires - 1) * pitch + 64,
        f"The mirrored network for {wires} wires, used for n = {n} keys",
        f"A network of {wires} wires whose comparators all point down. Each merge begins with a mirror stage, in "
        f"which the first wire of a run meets the last, the second the last but one, and so on. Only the first {n} "
        "wires carry keys, so every comparator that touches another wire is skipped.",
    )

    def y(wire: int) -> float:
        return top + wire * pitch

    def colors(first: int, _: int) -> tuple[str, str]:
        return (theme.BLUE_FILL, theme.BLUE) if first < n else ("none", theme.WIRE)

    draw_merges(drawing, places, wires, y, colors)
    for wire in range(wires):
        inside = wire < n
        drawing.line(
            left, y(wire), right + 26, y(wire), theme.WIRE if inside else theme.WIRE, 1.2, "" if inside else "3 4"
        )
        drawing.text(left - 10, y(wire) + 4.5, str(wire) if inside else f"({wire})", 12.5, theme.MUTED, "end")
    for place in places:
        for comparator, lane in place.comparators:
            used_here = (place.stage.merge, place.stage.stride, comparator) in present
            drawing.arrow(
                place.x + lane * LANE, y(comparator.small), y(comparator.large), theme.BLUE if used_here else theme.WIRE
            )
        stride = place.stage.stride
        words = f"j = {stride}" if stride else "mirror"
        drawing.text(place.x + place.width / 2, 52, words, 11, theme.MUTED if stride else theme.BLUE)
    legend(
        drawing,
        left,
        y(wires - 1) + 40,
        [
            (theme.BLUE, True, "compared: both positions < n"),
            (theme.WIRE, True, "skipped: a position ≥ n holds no key"),
        ],
    )
    return drawing


def draw_example(keys: list[int]) -> svg.Drawing:
    """Keys that move through the classic network, one column per stage; the keys that a stage swapped are marked."""
    n = len(keys)
    stages = classic(n)
    states, swaps = run(stages, keys)
    assert states[-1] == sorted(keys)
    pitch, left, top = 32, 30, 84
    x = left + 16.0
    xs = [x]
    places: list[Place] = []
    for index, stage in enumerate(stages):
        comparators, count = lanes(stage.comparators)
        new_merge = index > 0 and stages[index - 1].merge != stage.merge
        x += 36 + (14 if new_merge else 0)
        places.append(Place(stage, x, (count - 1) * LANE, comparators))
        x += (count - 1) * LANE + 36
        xs.append(x)
    drawing = svg.Drawing(
        x + 46,
        top + (n - 1) * pitch + 66,
        "Eight keys on their way through the network",
        f"The keys {svg.listed(keys)} enter a bitonic network of {len(stages)} stages. After the merges into runs of "
        "2, 4 and 8 they are "
        + "; then ".join(svg.listed(states[i + 1]) for i, stage in enumerate(stages) if stage.stride == 1)
        + ". Keys that a stage has moved are marked.",
    )

    def y(wire: int) -> float:
        return top + wire * pitch

    for wire in range(n):
        drawing.line(left, y(wire), x + 16, y(wire))
    k = 2
    while k <= n:
        of_merge = [p for p in places if p.stage.merge == k]
        drawing.text(
            (of_merge[0].x + of_merge[-1].x + of_merge[-1].width) / 2, 28, f"k = {k}", 15, theme.INK, weight="bold"
        )
        k *= 2
    draw_comparators(drawing, places, y, direction_color)
    for place in places:
        drawing.text(place.x + place.width / 2, 52, f"j = {place.stage.stride}", 11, theme.MUTED)
    for column, (x, state) in enumerate(zip(xs, states)):
        for wire, key in enumerate(state):
            moved = column > 0 and wire in swaps[column - 1]
            drawing.rect(
                x - 13,
                y(wire) - 11,
                26,
                22,
                theme.TEAL_FILL if moved else theme.PAPER,
                theme.TEAL if moved else theme.WIRE,
                4,
            )
            drawing.text(
                x, y(wire) + 5, str(key), 14, theme.TEAL if moved else theme.INK, weight="bold" if moved else "normal"
            )
    bottom = y(n - 1) + 42
    drawing.text(xs[0], bottom, "in", 12.5, theme.MUTED)
    drawing.text(xs[-1], bottom, "out", 12.5, theme.MUTED)
    drawing.rect(xs[0] + 44, bottom - 13, 16, 16, theme.TEAL_FILL, theme.TEAL, 3)
    drawing.text(xs[0] + 68, bottom, "moved by the stage on its left", 12.5, theme.TEAL, "start")
    return drawing


def draw_bitonic_sequence(keys: list[int]) -> svg.Drawing:
    """Bars of a bitonic sequence before and after one half-cleaner."""
    n = len(keys)
    states, _ = run([Stage(n, n // 2, half_cleaner(n))], keys)
    before, after = states
    assert max(after[: n // 2]) <= min(after[n // 2 :])
    bar, gap, unit, top = 17, 4, 7, 66
    panel = n * (bar + gap)
    drawing = svg.Drawing(
        2 * panel + 150,
        top + unit * max(keys) + 66,
        "A bitonic sequence before and after a half-cleaner",
        f"Two bar charts of {n} keys. Before, they rise and then fall: {svg.listed(before)}. Afterwards the left "
        f"half has {svg.listed(after[: n // 2])} and the right half {svg.listed(after[n // 2 :])}: every key on the "
        "left is at most as large as every key on the right.",
    )
    base = top + unit * max(keys)
    for x, state, head in (
        (32, before, "before: rises, then falls"),
        (32 + panel + 86, after, f"after B{n}: every left key ≤ every right key"),
    ):
        drawing.text(x + panel / 2, 32, head, 14, theme.INK, weight="bold")
        for i, key in enumerate(state):
            left_half = i < n // 2
            drawing.rect(
                x + i * (bar + gap), base - unit * key, bar, unit * key, theme.BLUE if left_half else theme.ORANGE
            )
            drawing.text(x + i * (bar + gap) + bar / 2, base + 16, str(key), 11, theme.MUTED)
        middle = x + panel / 2 - gap / 2
        drawing.line(middle, top - 16, middle, base + 22, theme.MUTED, 1, "4 3")
        drawing.text(x + panel / 4, base + 40, f"positions 0 to {n // 2 - 1}", 12.5, theme.BLUE)
        drawing.text(x + 3 * panel / 4, base + 40, f"positions {n // 2} to {n - 1}", 12.5, theme.ORANGE)
    arrow = 32 + panel + 18
    drawing.line(arrow, base - 50, arrow + 40, base - 50, theme.INK, 2)
    drawing.polygon([(arrow + 50, base - 50), (arrow + 38, base - 56), (arrow + 38, base - 44)], theme.INK)
    return drawing


def draw_zero_one(n: int = 16) -> svg.Drawing:
    """Black and white squares: what a half-cleaner does to each kind of bitonic sequence of zeros and ones."""
    cases = [
        ("ones in the left half", [0, 0, 1, 1, 1, 1] + [0] * 10),
        ("ones across the middle", [0] * 5 + [1] * 6 + [0] * 5),
        ("ones wrap round", [1] * 5 + [0] * 5 + [1] * 6),
    ]
    cell, left, top, row = 15, 176, 62, 46
    panel = n * cell
    drawing = svg.Drawing(
        left + 2 * panel + 84,
        top + len(cases) * row + 30,
        "Half-cleaners on zeros and ones",
        f"Three bitonic rows of {n} zeros and ones before and after a half-cleaner: ones in the left half, ones "
        "across the middle, and ones that wrap round. Afterwards one half is always clean, all zeros or all ones, "
        "and the other half is bitonic.",
    )
    second = left + panel + 54
    drawing.text(left + panel / 2, 32, "bitonic, zeros and ones", 14, theme.INK, weight="bold")
    drawing.text(second + panel / 2, 32, f"after B{n}", 14, theme.INK, weight="bold")
    for index, (name, keys) in enumerate(cases):
        states, _ = run([Stage(n, n // 2, half_cleaner(n))], keys)
        halves = states[1][: n // 2], states[1][n // 2 :]
        assert any(len(set(half)) == 1 for half in halves) and max(halves[0]) <= min(halves[1])
        y = top + index * row
        drawing.text(left - 14, y + 13, name, 12.5, theme.INK, "end")
        for x, state in ((left, states[0]), (second, states[1])):
            for i, key in enumerate(state):
                fill = theme.BLUE if key else theme.PAPER
                drawing.rect(x + i * cell + (4 if i >= n // 2 else -4), y, cell, cell + 4, fill, theme.WIRE, 0, 0.8)
            drawing.line(x + panel / 2, y - 5, x + panel / 2, y + cell + 9, theme.ORANGE, 2)
        for half, center in zip(halves, (second + panel / 4, second + 3 * panel / 4)):
            words = "clean" if len(set(half)) == 1 else "bitonic"
            drawing.text(center, y + 33, words, 11.5, theme.TEAL if words == "clean" else theme.MUTED)
    drawing.rect(left, top + len(cases) * row + 2, 12, 12, theme.BLUE, theme.WIRE)
    drawing.text(left + 18, top + len(cases) * row + 12, "one", 12, theme.MUTED, "start")
    drawing.rect(left + 56, top + len(cases) * row + 2, 12, 12, theme.PAPER, theme.WIRE)
    drawing.text(left + 74, top + len(cases) * row + 12, "zero", 12, theme.MUTED, "start")
    return drawing


# --- all of them -----------------------------------------------------------------------------------------------------


def figures() -> dict[str, svg.Drawing]:
    for n in range(1, 17):
        assert sorts_everything(mirrored(n), n)
    return {
        "bitonic-sequence.svg": draw_bitonic_sequence([1, 3, 4, 6, 9, 12, 14, 16, 15, 13, 11, 10, 8, 7, 5, 2]),
        "zero-one.svg": draw_zero_one(),
        "half-cleaners.svg": draw_half_cleaners(),
        "network-8.svg": draw_network(8, "The bitonic network for 8 keys"),
        "network-16.svg": draw_network(16, "The bitonic network for 16 keys"),
        "example-8.svg": draw_example([5, 2, 7, 1, 8, 6, 3, 4]),
        "network-mirrored.svg": draw_mirrored(16, 11),
        "launches.svg": draw_launches(14),
        "places.svg": draw_places(16),
        "groups.svg": draw_groups(),
    }

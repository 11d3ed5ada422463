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
    launches,
    mirrored,
    place_stages,
    run,
    sorts_everything,
)
from groups import draw_groups
from places import draw_places

from workbook.pictures import svg
from workbook.pictures.recorded import RecordedRun

RUNS = {"run-tile": RecordedRun("03-bitonic", step=2, n=16)}
TILE_KEYS = 1024  # bitonic::tile_keys of labs/03-bitonic/bitonic.h


def draw_comparators(
    drawing: svg.Drawing, places: list[Place], y: Callable[[int], float], color: Callable[[Comparator], str]
) -> None:
    for place in places:
        for comparator, lane in place.comparators:
            drawing.arrow(place.x + lane * LANE, y(comparator.small), y(comparator.large), color(comparator))


def direction_color(comparator: Comparator) -> str:
    return svg.BLUE if comparator.small < comparator.large else svg.ORANGE


def legend(drawing: svg.Drawing, x: float, y: float, entries: list[tuple[str, bool, str]]) -> None:
    """Sample arrows with their meaning: (color, points down, words)."""
    for color, down, words in entries:
        drawing.arrow(x, y - 9 if down else y + 5, y + 5 if down else y - 9, color)
        drawing.text(x + 10, y + 3, words, 12.5, svg.MUTED if color == svg.ABSENT else color, "start")
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
        drawing.text((x1 + x2) / 2, 28, f"k = {k}", 15, svg.INK, weight="bold")
        k *= 2


def draw_network(n: int, title: str) -> svg.Drawing:
    """The classic network with a box around each merge, blue where it ascends, orange where it descends."""
    stages = classic(n)
    assert sorts_everything(stages, n)
    pitch, left, top = 24, 52, 78
    places, right = place_stages(stages, left + 26, 16)
    drawing = svg.Drawing(right + 48, top + (n - 1) * pitch + 64, title)

    def y(wire: int) -> float:
        return top + wire * pitch

    def colors(first: int, k: int) -> tuple[str, str]:
        return (svg.BLUE_FILL, svg.BLUE) if (first & k) == 0 else (svg.ORANGE_FILL, svg.ORANGE)

    draw_merges(drawing, places, n, y, colors)
    for wire in range(n):
        drawing.line(left, y(wire), right + 26, y(wire))
        drawing.text(left - 10, y(wire) + 4.5, str(wire), 12.5, svg.MUTED, "end")
    draw_comparators(drawing, places, y, direction_color)
    for place in places:
        drawing.text(place.x + place.width / 2, 52, f"j = {place.stage.stride}", 11, svg.MUTED)
    legend(drawing, left, y(n - 1) + 40, [(svg.BLUE, True, "ascending merge"), (svg.ORANGE, False, "descending merge")])
    return drawing


def draw_half_cleaners() -> svg.Drawing:
    pitch, top = 24, 74
    drawing = svg.Drawing(560, top + 7 * pitch + 38, "The half-cleaners of 8, 4 and 2 wires")
    x = 52.0
    for n in (8, 4, 2):
        cleaner = Stage(n, n // 2, half_cleaner(n))
        places, right = place_stages([cleaner], x + 28, 0)

        def y(wire: int) -> float:
            return top + wire * pitch

        drawing.text((x + right + 28) / 2, 30, f"B{n}", 16, svg.INK, weight="bold")
        drawing.text((x + right + 28) / 2, 50, f"i meets i + {n // 2}", 12, svg.MUTED)
        for wire in range(n):
            drawing.line(x, y(wire), right + 28, y(wire), svg.WIRE)
            drawing.text(x - 10, y(wire) + 4.5, str(wire), 12.5, svg.MUTED, "end")
        draw_comparators(drawing, places, y, direction_color)
        x = right + 28 + 92
    legend(drawing, 232, top + 6 * pitch + 4, [(svg.BLUE, True, "points to where the larger key goes")])
    return drawing


def draw_mirrored(wires: int, n: int) -> svg.Drawing:
    """The mirrored network for `wires` wires of which only n carry keys; comparators of the others are grey."""
    everything, used = mirrored(wires), mirrored(n)
    assert sorts_everything(everything, wires) and sorts_everything(used, n)
    present = {(s.merge, s.stride, c) for s in used for c in s.comparators}
    pitch, left, top = 24, 52, 78
    places, right = place_stages(everything, left + 26, 16)
    drawing = svg.Drawing(
        right + 48, top + (wires - 1) * pitch + 64, f"The mirrored network for {wires} wires, used for n = {n} keys"
    )

    def y(wire: int) -> float:
        return top + wire * pitch

    def colors(first: int, _: int) -> tuple[str, str]:
        return (svg.BLUE_FILL, svg.BLUE) if first < n else ("none", svg.ABSENT)

    draw_merges(drawing, places, wires, y, colors)
    for wire in range(wires):
        inside = wire < n
        drawing.line(
            left, y(wire), right + 26, y(wire), svg.WIRE if inside else svg.ABSENT, 1.2, "" if inside else "3 4"
        )
        drawing.text(left - 10, y(wire) + 4.5, str(wire), 12.5, svg.MUTED if inside else svg.ABSENT, "end")
    for place in places:
        for comparator, lane in place.comparators:
            used_here = (place.stage.merge, place.stage.stride, comparator) in present
            drawing.arrow(
                place.x + lane * LANE, y(comparator.small), y(comparator.large), svg.BLUE if used_here else svg.ABSENT
            )
        stride = place.stage.stride
        words = f"j = {stride}" if stride else "mirror"
        drawing.text(place.x + place.width / 2, 52, words, 11, svg.MUTED if stride else svg.BLUE)
    legend(
        drawing,
        left,
        y(wires - 1) + 40,
        [(svg.BLUE, True, "compared: both positions < n"), (svg.ABSENT, True, "skipped: a position ≥ n holds no key")],
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
    drawing = svg.Drawing(x + 46, top + (n - 1) * pitch + 66, "Eight keys on their way through the network")

    def y(wire: int) -> float:
        return top + wire * pitch

    for wire in range(n):
        drawing.line(left, y(wire), x + 16, y(wire))
    k = 2
    while k <= n:
        of_merge = [p for p in places if p.stage.merge == k]
        drawing.text(
            (of_merge[0].x + of_merge[-1].x + of_merge[-1].width) / 2, 28, f"k = {k}", 15, svg.INK, weight="bold"
        )
        k *= 2
    draw_comparators(drawing, places, y, direction_color)
    for place in places:
        drawing.text(place.x + place.width / 2, 52, f"j = {place.stage.stride}", 11, svg.MUTED)
    for column, (x, state) in enumerate(zip(xs, states)):
        for wire, key in enumerate(state):
            moved = column > 0 and wire in swaps[column - 1]
            drawing.rect(
                x - 13, y(wire) - 11, 26, 22, svg.TEAL_FILL if moved else svg.PAPER, svg.TEAL if moved else svg.WIRE, 4
            )
            drawing.text(
                x, y(wire) + 5, str(key), 14, svg.TEAL if moved else svg.INK, weight="bold" if moved else "normal"
            )
    bottom = y(n - 1) + 42
    drawing.text(xs[0], bottom, "in", 12.5, svg.MUTED)
    drawing.text(xs[-1], bottom, "out", 12.5, svg.MUTED)
    drawing.rect(xs[0] + 44, bottom - 13, 16, 16, svg.TEAL_FILL, svg.TEAL, 3)
    drawing.text(xs[0] + 68, bottom, "moved by the stage on its left", 12.5, svg.TEAL, "start")
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
        2 * panel + 150, top + unit * max(keys) + 66, "A bitonic sequence before and after a half-cleaner"
    )
    base = top + unit * max(keys)
    for x, state, head in (
        (32, before, "before: rises, then falls"),
        (32 + panel + 86, after, f"after B{n}: every left key ≤ every right key"),
    ):
        drawing.text(x + panel / 2, 32, head, 14, svg.INK, weight="bold")
        for i, key in enumerate(state):
            left_half = i < n // 2
            drawing.rect(x + i * (bar + gap), base - unit * key, bar, unit * key, svg.BLUE if left_half else svg.ORANGE)
            drawing.text(x + i * (bar + gap) + bar / 2, base + 16, str(key), 11, svg.MUTED)
        middle = x + panel / 2 - gap / 2
        drawing.line(middle, top - 16, middle, base + 22, svg.MUTED, 1, "4 3")
        drawing.text(x + panel / 4, base + 40, f"positions 0 to {n // 2 - 1}", 12.5, svg.BLUE)
        drawing.text(x + 3 * panel / 4, base + 40, f"positions {n // 2} to {n - 1}", 12.5, svg.ORANGE)
    arrow = 32 + panel + 18
    drawing.line(arrow, base - 50, arrow + 40, base - 50, svg.INK, 2)
    drawing.polygon([(arrow + 50, base - 50), (arrow + 38, base - 56), (arrow + 38, base - 44)], svg.INK)
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
    drawing = svg.Drawing(left + 2 * panel + 84, top + len(cases) * row + 30, "Half-cleaners on zeros and ones")
    second = left + panel + 54
    drawing.text(left + panel / 2, 32, "bitonic, zeros and ones", 14, svg.INK, weight="bold")
    drawing.text(second + panel / 2, 32, f"after B{n}", 14, svg.INK, weight="bold")
    for index, (name, keys) in enumerate(cases):
        states, _ = run([Stage(n, n // 2, half_cleaner(n))], keys)
        halves = states[1][: n // 2], states[1][n // 2 :]
        assert any(len(set(half)) == 1 for half in halves) and max(halves[0]) <= min(halves[1])
        y = top + index * row
        drawing.text(left - 14, y + 13, name, 12.5, svg.INK, "end")
        for x, state in ((left, states[0]), (second, states[1])):
            for i, key in enumerate(state):
                drawing.rect(x + i * cell, y, cell, cell + 4, svg.BLUE if key else svg.PAPER, svg.WIRE, 0, 0.8)
            drawing.line(x + panel / 2, y - 5, x + panel / 2, y + cell + 9, svg.ORANGE, 2)
        for half, center in zip(halves, (second + panel / 4, second + 3 * panel / 4)):
            words = "clean" if len(set(half)) == 1 else "bitonic"
            drawing.text(center, y + 33, words, 11.5, svg.TEAL if words == "clean" else svg.MUTED)
    drawing.rect(left, top + len(cases) * row + 2, 12, 12, svg.BLUE, svg.WIRE)
    drawing.text(left + 18, top + len(cases) * row + 12, "one", 12, svg.MUTED, "start")
    drawing.rect(left + 56, top + len(cases) * row + 2, 12, 12, svg.PAPER, svg.WIRE)
    drawing.text(left + 74, top + len(cases) * row + 12, "zero", 12, svg.MUTED, "start")
    return drawing


def draw_launches(n_log: int) -> svg.Drawing:
    """The triangle of all stages of step 03: a row per merge, a cell per stage, joined per launch."""
    tile_log = TILE_KEYS.bit_length() - 1
    plan = launches(tile_log, n_log)
    assert sum(len(cells) for _, cells in plan) == n_log * (n_log + 1) // 2
    m = n_log - tile_log
    assert len(plan) == 1 + m + m * (m + 1) // 2  # the contract in labs/03-bitonic/bitonic.h
    w, h, left, top = 40, 22, 96, 72
    colors = {
        "tile": (svg.TEAL, svg.TEAL_FILL),
        "merge": (svg.BLUE, svg.BLUE_FILL),
        "mirror": (svg.ORANGE, svg.ORANGE_FILL),
        "global": (svg.ORANGE, svg.ORANGE_FILL),
    }
    drawing = svg.Drawing(
        left + n_log * w + 40, top + n_log * h + 34, f"Step 03: which stages of 2^{n_log} keys run in which launch"
    )

    # Columns end at the right edge with stride 1, so that equal strides lie in one column.
    def cell_x(merge: int, stage: int) -> float:
        return left + (n_log - merge + stage) * w

    def cell_y(merge: int) -> float:
        return top + (merge - 1) * h

    for stride_log in range(n_log):
        x = left + (n_log - 1 - stride_log) * w + w / 2
        drawing.text(x, top - 12, str(1 << stride_log), 10.5, svg.MUTED)
    drawing.text(left - 10, top - 12, "stride j", 12, svg.MUTED, "end")
    for kind, cells in plan:
        color, fill = colors[kind]
        for merge, stage in cells:
            drawing.rect(cell_x(merge, stage), cell_y(merge), w, h, fill, svg.PAPER, 0, 1)
        if kind == "tile":
            continue
        x1, x2 = cell_x(*cells[0]), cell_x(*cells[-1]) + w
        drawing.rect(x1 + 1.5, cell_y(cells[0][0]) + 2, x2 - x1 - 3, h - 4, "none", color, 4, 1.4)
        words = {"mirror": "mirror", "global": "global", "merge": "one launch in shared memory"}[kind]
        drawing.text((x1 + x2) / 2, cell_y(cells[0][0]) + h / 2 + 4, words, 10.5 if kind != "merge" else 12, color)
    outline = []  # one launch for the whole lower triangle
    for merge in range(1, tile_log + 1):
        outline += [
            (cell_x(merge, 0) + 1.5, cell_y(merge) + (1.5 if merge == 1 else 0)),
            (cell_x(merge, 0) + 1.5, cell_y(merge) + h),
        ]
    right = cell_x(tile_log, tile_log - 1) + w - 1.5
    floor = cell_y(tile_log) + h - 2
    outline[-1] = (outline[-1][0], floor)
    corners = outline + [(right, floor), (right, cell_y(1) + 1.5), outline[0]]
    for (x1, y1), (x2, y2) in zip(corners, corners[1:]):
        drawing.line(x1, y1, x2, y2, svg.TEAL, 1.4)
    middle = left + (n_log - (tile_log - 2) / 2) * w
    drawing.text(middle, cell_y(tile_log - 2) + h / 2 + 2, "one launch in shared memory:", 13, svg.TEAL, weight="bold")
    drawing.text(middle, cell_y(tile_log - 1) + h / 2 + 1, f"{len(plan[0][1])} stages sort every tile", 13, svg.TEAL)
    for merge in range(1, n_log + 1):
        drawing.text(
            left - 10,
            cell_y(merge) + h / 2 + 4,
            f"k = {1 << merge}",
            11.5,
            svg.INK if merge > tile_log else svg.MUTED,
            "end",
        )
    total = len(plan)
    drawing.text(
        left,
        30,
        f"n = {1 << n_log} keys, tile = {TILE_KEYS}: {total} launches instead of {n_log * (n_log + 1) // 2}",
        14.5,
        svg.INK,
        "start",
        "bold",
    )
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

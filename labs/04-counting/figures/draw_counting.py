"""The figures of lab 04. Each runs its algorithm on a few keys, asserts the result and draws what happened."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate

from workbook.pictures import svg
from workbook.pictures.recorded import RecordedRun

VALUES_PER_ROW = 16  # 64-bit values in one row of the 32 banks of 4 bytes
RUNS = {"run-scan": RecordedRun("04-counting", step=2, n=16, key_type="u64", task="scan")}
SCAN_TILE = 1024  # counting::scan_tile of labs/04-counting/counting.h
SHADES = [(svg.BLUE, svg.BLUE_FILL), (svg.ORANGE, svg.ORANGE_FILL), (svg.TEAL, svg.TEAL_FILL)]


# --- the algorithms --------------------------------------------------------------------------------------------------


def exclusive(values: list[int]) -> list[int]:
    return [0] + list(accumulate(values))[:-1]


def hillis_steele(values: list[int]) -> tuple[list[list[int]], list[int]]:
    """The values before and after each stage, and the distance of each stage."""
    states, distances, distance = [list(values)], [], 1
    while distance < len(values):
        last = states[-1]
        states.append([last[i] + (last[i - distance] if i >= distance else 0) for i in range(len(values))])
        distances.append(distance)
        distance *= 2
    return states, distances


def blelloch(values: list[int]) -> tuple[list[tuple[int, list[int]]], list[int], list[tuple[int, list[int]]], int]:
    """The values after each level of the up-sweep and of the down-sweep: (half, state) lists, and the sum of all."""
    n, up, down = len(values), [], []
    tile, half = list(values), 1
    while half < n:
        for right in range(2 * half - 1, n, 2 * half):
            tile[right] += tile[right - half]
        up.append((half, list(tile)))
        half *= 2
    total, tile[n - 1] = tile[n - 1], 0
    cleared = list(tile)
    half = n // 2
    while half:
        for right in range(2 * half - 1, n, 2 * half):
            tile[right - half], tile[right] = tile[right], tile[right] + tile[right - half]
        down.append((half, list(tile)))
        half //= 2
    return up, cleared, down, total


def fold(values: list[int], join: Callable[[int, int], int]) -> tuple[list[list[int]], list[tuple[int, int]]]:
    """The values before and after each stage of the reduction, and for each stage (values left, reach)."""
    states, stages, left = [list(values)], [], len(values)
    while left > 1:
        reach = (left + 1) // 2
        now = list(states[-1])
        for t in range(left - reach):
            now[t] = join(now[t], now[t + reach])
        states.append(now)
        stages.append((left, reach))
        left = reach
    return states, stages


def padded(i: int) -> int:
    """The padded place of value i of a tile, as in 03_parallel.cu."""
    return i + i // 16 + i // 256


def wavefronts(places: list[int]) -> int:
    """Wavefronts of one access of half a warp: the largest number of different places in one bank."""
    banks: dict[int, set[int]] = {}
    for place in places:
        banks.setdefault(place % VALUES_PER_ROW, set()).add(place)
    return max(len(held) for held in banks.values())


def level(half: int, lanes: int = VALUES_PER_ROW) -> list[int]:
    """The right children that the first lanes of a warp touch in a level of a tile."""
    return [(2 * k + 2) * half - 1 for k in range(min(lanes, SCAN_TILE // (2 * half)))]


# --- drawing ---------------------------------------------------------------------------------------------------------


def cell(
    drawing: svg.Drawing,
    x: float,
    y: float,
    words: object,
    color: str = svg.INK,
    fill: str = svg.PAPER,
    stroke: str = svg.WIRE,
    w: float = 34,
    h: float = 26,
) -> None:
    drawing.rect(x - w / 2, y - h / 2, w, h, fill, stroke, 3)
    drawing.text(x, y + 4.8, str(words), 13.5, color, weight="bold" if color != svg.INK else "normal")


def head(drawing: svg.Drawing, x: float, y: float, color: str, up: bool = False) -> None:
    """An arrow head whose tip is at (x, y)."""
    back = 7 if up else -7
    drawing.polygon([(x, y), (x - 3.6, y + back), (x + 3.6, y + back)], color)


def draw_counting(keys: list[int], values: int) -> svg.Drawing:
    """Keys, counters, sums and sorted keys."""
    counts = [keys.count(v) for v in range(values)]
    sums = exclusive(counts + [0])
    output = [v for v in range(values) for _ in range(counts[v])]
    assert output == sorted(keys) and all(output[sums[v]] == v for v in range(values) if counts[v])
    pitch, left = 40, 150
    drawing = svg.Drawing(left + len(keys) * pitch + 24, 316, "Counting sort of twelve keys")

    def row(y: float, name: str, words: str) -> None:
        drawing.text(left - 34, y + 5, name, 13.5, svg.INK, "end", "bold")
        drawing.text(left - 34, y + 21, words, 11, svg.MUTED, "end")

    def x(i: int) -> float:
        return left + i * pitch + 4

    row(40, "keys", "")
    for i, key in enumerate(keys):
        cell(drawing, x(i), 40, key, *SHADES[key % 3], SHADES[key % 3][0])
    row(112, "counters", "histogram")
    row(176, "sums", "exclusive scan")
    for v in range(values + 1):
        color, fill = SHADES[v % 3] if v < values else (svg.MUTED, svg.PAPER)
        if v < values:
            drawing.text(x(v), 90, f"of {v}", 11, svg.MUTED)
            cell(drawing, x(v), 112, counts[v], color, fill, color)
        cell(drawing, x(v), 176, sums[v], color, svg.PAPER, color)
    row(264, "output", "placing")
    for i, key in enumerate(output):
        color, fill = SHADES[key % 3]
        cell(drawing, x(i), 264, key, color, fill, color)
        drawing.text(x(i), 296, str(i), 11, svg.MUTED)
    for v in range(values):
        if counts[v]:
            color = SHADES[v % 3][0]
            drawing.line(x(v), 190, x(sums[v]), 243, color, 1.5)
            head(drawing, x(sums[v]), 250, color)
    drawing.text(x(values) + 28, 180, "n, so that every run has an end", 11.5, svg.MUTED, "start")
    return drawing


def draw_reduction(values: list[int]) -> svg.Drawing:
    """The fold onto the lower half, for a number of threads that is not a power of two."""
    states, stages = fold(values, min)
    assert states[-1][0] == min(values)
    pitch, left, top, gap = 46, 134, 62, 70
    drawing = svg.Drawing(
        left + len(values) * pitch + 8, top + gap * len(stages) + 40, f"The smallest of {len(values)} values"
    )

    def x(t: int) -> float:
        return left + t * pitch + 10

    for t in range(len(values)):
        drawing.text(x(t), 28, f"t = {t}", 11.5, svg.MUTED)
    for number, state in enumerate(states):
        y = top + number * gap
        alive = stages[number][0] if number < len(stages) else 1
        joined = range(stages[number - 1][0] - stages[number - 1][1]) if number else []
        words = f"{alive} left" if alive > 1 else "the smallest"
        drawing.text(left - 26, y + 5, words, 13, svg.INK, "end", "bold")
        if number < len(stages):
            drawing.text(left - 26, y + 22, f"reach {stages[number][1]}", 11, svg.MUTED, "end")
            for t in range(stages[number][0] - stages[number][1]):
                drawing.line(x(t + stages[number][1]), y + 13, x(t), y + gap - 20, svg.BLUE, 1.4)
                head(drawing, x(t), y + gap - 13, svg.BLUE)
        for t in range(len(values)):
            if t < alive:
                color, fill = (svg.BLUE, svg.BLUE_FILL) if t in joined else (svg.INK, svg.PAPER)
                cell(drawing, x(t), y, state[t], color, fill, svg.BLUE if t in joined else svg.WIRE)
    return drawing


def draw_hillis_steele(values: list[int]) -> svg.Drawing:
    states, distances = hillis_steele(values)
    assert states[-1] == list(accumulate(values))
    pitch, left, top, gap = 54, 150, 46, 76
    drawing = svg.Drawing(left + len(values) * pitch, top + gap * len(distances) + 96, "The scan of Hillis and Steele")

    def x(i: int) -> float:
        return left + i * pitch + 12

    for number, state in enumerate(states):
        y = top + number * gap
        if number < len(distances):
            distance = distances[number]
            for i in range(len(values)):
                kept = i < distance
                drawing.line(
                    x(i), y + 13, x(i), y + gap - 20, svg.ABSENT if kept else svg.WIRE, 1.2, "3 3" if kept else ""
                )
                if i >= distance:
                    drawing.line(x(i - distance), y + 13, x(i) - 2, y + gap - 19, svg.BLUE, 1.4)
                    head(drawing, x(i), y + gap - 13, svg.BLUE)
            drawing.text(left - 26, y + gap / 2 + 5, f"distance {distance}", 12.5, svg.BLUE, "end")
        drawing.text(left - 26, y + 5, "values" if number == 0 else f"buffer {number % 2}", 13, svg.INK, "end", "bold")
        for i, value in enumerate(state):
            added = number and i >= distances[number - 1]
            cell(
                drawing,
                x(i),
                y,
                value,
                *((svg.BLUE, svg.BLUE_FILL, svg.BLUE) if added else (svg.INK, svg.PAPER, svg.WIRE)),
            )
    y = top + gap * len(distances) + 52
    drawing.text(left - 26, y + 5, "exclusive", 13, svg.INK, "end", "bold")
    for i, value in enumerate(exclusive(values)):
        cell(drawing, x(i), y, value, svg.TEAL, svg.TEAL_FILL, svg.TEAL)
        if i:
            drawing.line(x(i - 1), y - 39, x(i) - 2, y - 19, svg.TEAL, 1.3)
            head(drawing, x(i), y - 13, svg.TEAL)
    return drawing


def draw_blelloch(values: list[int]) -> svg.Drawing:
    up, cleared, down, total = blelloch(values)
    assert down[-1][1] == exclusive(values) and total == sum(values)
    n, pitch, left, top, gap = len(values), 54, 204, 46, 62
    rows = [("values", values, None)] + [("up", state, half) for half, state in up] + [("clear", cleared, None)]
    rows += [("down", state, half) for half, state in down]
    drawing = svg.Drawing(left + n * pitch, top + gap * (len(rows) - 1) + 40, "The scan of Blelloch")

    def x(i: int) -> float:
        return left + i * pitch + 12

    names = {"values": "values", "up": "sum of both children", "clear": "0 for the last", "down": "what lies before"}
    for number, (kind, state, half) in enumerate(rows):
        y = top + number * gap
        touched = {}
        if half:
            for right in range(2 * half - 1, n, 2 * half):
                touched[right] = svg.BLUE if kind == "up" else svg.ORANGE
                drawing.line(x(right), y - gap + 13, x(right), y - 13, svg.BLUE if kind == "up" else svg.ORANGE, 1.4)
                drawing.line(x(right - half), y - gap + 13, x(right) - 2, y - 19, svg.BLUE, 1.4)
                head(drawing, x(right), y - 13, svg.BLUE)
                if kind == "down":
                    touched[right - half] = svg.ORANGE
                    drawing.line(x(right), y - gap + 13, x(right - half) + 2, y - 19, svg.ORANGE, 1.4)
                    head(drawing, x(right - half), y - 13, svg.ORANGE)
        elif kind == "clear":
            touched[n - 1] = svg.TEAL
        fills = {svg.BLUE: svg.BLUE_FILL, svg.ORANGE: svg.ORANGE_FILL, svg.TEAL: svg.TEAL_FILL}
        drawing.text(left - 26, y + 5, names[kind], 13, svg.INK, "end", "bold")
        if half:
            drawing.text(left - 26, y + 21, f"half = {half}", 11, svg.MUTED, "end")
        for i, value in enumerate(state):
            color = touched.get(i, svg.INK)
            cell(drawing, x(i), y, value, color, fills.get(color, svg.PAPER), color if i in touched else svg.WIRE)
    return drawing


def draw_banks(half: int) -> svg.Drawing:
    """The nodes of one level in shared memory, one column per bank, without and with padding."""
    nodes = level(half)
    plain, spread = nodes, [padded(i) for i in nodes]
    assert wavefronts(plain) == len(nodes) and wavefronts(spread) == 1
    size, left, top = 27, 30, 84
    rows = max(spread) // VALUES_PER_ROW + 1
    panel = VALUES_PER_ROW * size
    drawing = svg.Drawing(
        2 * panel + 3 * left + 20,
        top + rows * size + 42,
        f"The nodes that end each {2 * half} values, in the banks of shared memory",
    )
    for x0, places, place_of, name, turns in (
        (left, plain, lambda i: i, "value i at position i", wavefronts(plain)),
        (2 * left + panel + 20, spread, padded, "value i at position i + i/16 + i/256", wavefronts(spread)),
    ):
        drawing.text(x0 + panel / 2, 28, name, 14.5, svg.INK, weight="bold")
        drawing.text(
            x0 + panel / 2,
            48,
            f"{len(nodes)} lanes: {turns} wavefront{'s' if turns > 1 else ''}",
            12.5,
            svg.ORANGE if turns > 1 else svg.BLUE,
        )
        for bank in range(VALUES_PER_ROW):
            drawing.text(x0 + bank * size + size / 2, top - 8, str(bank), 10.5, svg.MUTED)
        used = {place_of(i) for i in range(max(nodes) + 1)}
        for place in range(rows * VALUES_PER_ROW):
            x, y = x0 + place % VALUES_PER_ROW * size, top + place // VALUES_PER_ROW * size
            if place in places:
                color, fill = (svg.ORANGE, svg.ORANGE_FILL) if turns > 1 else (svg.BLUE, svg.BLUE_FILL)
                drawing.rect(x, y, size, size, fill, color)
                drawing.text(x + size / 2, y + 18, str(places.index(place)), 12, color, weight="bold")
            elif place in used:
                drawing.rect(x, y, size, size, svg.PAPER, "#d0d7de", 0, 0.7)
            elif place < max(used):
                drawing.rect(x, y, size, size, "#eceff3", "#d0d7de", 0, 0.7)
    words = "columns: banks of 8 bytes · numbers: the lane that reads this position · grey: padding"
    drawing.text(left, top + rows * size + 26, words, 12, svg.MUTED, "start")
    return drawing


def draw_wavefronts() -> svg.Drawing:
    """Wavefronts per level, for all levels of a tile."""
    halves = [1 << e for e in range(10)]
    plain = [wavefronts(level(h)) for h in halves]
    only16 = [wavefronts([i + i // 16 for i in level(h)]) for h in halves]
    both = [wavefronts([padded(i) for i in level(h)]) for h in halves]
    assert max(both) == 1 and sum(only16) > sum(both)
    assert all(wavefronts([padded(i - h) for i in level(h)]) == 1 for h in halves)  # the left children too
    left, top, pitch, gap = 196, 62, 52, 40
    drawing = svg.Drawing(
        left + pitch * len(halves) + 16, top + 3 * gap + 10, "Wavefronts per access of half a warp, level by level"
    )
    drawing.text(left - 16, top - 22, "half =", 12.5, svg.MUTED, "end")
    for c, h in enumerate(halves):
        drawing.text(left + c * pitch + 24, top - 22, str(h), 12.5, svg.MUTED)
    for r, (name, turns) in enumerate((("position i", plain), ("i + i/16", only16), ("i + i/16 + i/256", both))):
        drawing.text(left - 16, top + r * gap + 9, name, 13.5, svg.INK, "end", "bold")
        for c, t in enumerate(turns):
            color, fill = (svg.BLUE, svg.BLUE_FILL) if t == 1 else (svg.ORANGE, svg.ORANGE_FILL)
            cell(drawing, left + c * pitch + 24, top + r * gap + 4, t, color, fill, color, 42, 28)
    return drawing


def draw_stable(keys: list[int], warps: int, values: int) -> svg.Drawing:
    """One column of counters per warp, scanned value by value: the destination of each key."""
    chunk = len(keys) // warps
    counts = [[keys[w * chunk : (w + 1) * chunk].count(v) for w in range(warps)] for v in range(values)]
    sums = exclusive([c for row in counts for c in row])
    place_of, following = [], list(sums)
    for i, key in enumerate(keys):
        at = key * warps + i // chunk
        place_of.append(following[at])
        following[at] += 1
    order = sorted(range(len(keys)), key=lambda i: keys[i])
    assert [place_of[i] for i in order] == list(range(len(keys)))
    pitch, left = 44, 96
    width = left + len(keys) * pitch + 24
    drawing = svg.Drawing(width, 358, "Stable counting with a column of counters for each warp")

    def x(i: int) -> float:
        return left + i * pitch + 6

    def pair(i: int, at: int, y: float) -> None:
        color, fill = SHADES[i // chunk % 3]
        cell(drawing, x(at), y, f"{keys[i]}{chr(97 + i)}", color, fill, color, 36)

    drawing.text(left - 28, 55, "keys", 13.5, svg.INK, "end", "bold")
    for w in range(warps):
        drawing.text((x(w * chunk) + x((w + 1) * chunk - 1)) / 2, 26, f"chunk of warp {w}", 12, SHADES[w % 3][0])
    for i in range(len(keys)):
        pair(i, i, 50)
    for name, x0, table in (
        ("counts", left + 70, [c for row in counts for c in row]),
        ("their exclusive scan", left + 320, sums),
    ):
        drawing.text(x0 + warps * 46 / 2, 108, name, 13.5, svg.INK, weight="bold")
        for v in range(values):
            drawing.text(x0 - 10, 144 + v * 36 + 5, f"value {v}", 12, svg.MUTED, "end")
            for w in range(warps):
                color, fill = SHADES[w % 3]
                cell(drawing, x0 + w * 46 + 24, 144 + v * 36, table[v * warps + w], color, fill, color, 38)
    drawing.text(left - 28, 270 + 5, "output", 13.5, svg.INK, "end", "bold")
    for i in range(len(keys)):
        pair(i, place_of[i], 270)
        drawing.text(x(i), 303, str(i), 11, svg.MUTED)
    drawing.text(left, 338, "Equal keys keep their order: the letters of one value rise.", 12.5, svg.MUTED, "start")
    return drawing


def figures() -> dict[str, svg.Drawing]:
    keys = [3, 1, 4, 1, 0, 5, 3, 2, 5, 3, 5, 1]
    return {
        "counting.svg": draw_counting(keys, 6),
        "reduction.svg": draw_reduction([17, 9, 23, 12, 31, 8, 14, 27, 5, 19, 11]),
        "hillis-steele.svg": draw_hillis_steele([2, 5, 1, 4, 0, 3, 6, 2]),
        "blelloch.svg": draw_blelloch([2, 5, 1, 4, 0, 3, 6, 2]),
        "banks.svg": draw_banks(8),
        "wavefronts.svg": draw_wavefronts(),
        "stable.svg": draw_stable([2, 0, 1, 2, 1, 0, 2, 2, 0, 1, 2, 0], 3, 3),
    }

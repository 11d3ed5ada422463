"""The figures of lab 04. Each runs its algorithm on a few keys, asserts the result and draws what happened."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate

from banks import draw_banks, draw_columns, draw_wavefronts

from workbook.pictures import svg, theme
from workbook.pictures.recorded import RecordedRun

RUNS = {"run-scan": RecordedRun("04-counting", step=2, n=16, key_type="u64", task="scan")}
SHADES = [(theme.BLUE, theme.BLUE_FILL), (theme.ORANGE, theme.ORANGE_FILL), (theme.TEAL, theme.TEAL_FILL)]


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


# --- drawing ---------------------------------------------------------------------------------------------------------


def cell(
    drawing: svg.Drawing,
    x: float,
    y: float,
    words: object,
    color: str = theme.INK,
    fill: str = theme.PAPER,
    stroke: str = theme.WIRE,
    w: float = 34,
    h: float = 26,
) -> None:
    drawing.rect(x - w / 2, y - h / 2, w, h, fill, stroke, 3)
    drawing.text(x, y + 4.8, str(words), 13.5, color, weight="bold" if color != theme.INK else "normal")


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
    drawing = svg.Drawing(
        left + len(keys) * pitch + 24,
        316,
        "Counting sort of twelve keys",
        f"The keys {svg.listed(keys)}; how often each value from 0 to {values - 1} occurs, {svg.listed(counts)}; "
        f"the exclusive scan of these counters, {svg.listed(sums)}; and the output. A line leads from the sum of "
        "each value to the position of its first key.",
    )

    def row(y: float, name: str, words: str) -> None:
        drawing.text(left - 34, y + 5, name, 13.5, theme.INK, "end", "bold")
        drawing.text(left - 34, y + 21, words, 11, theme.MUTED, "end")

    def x(i: int) -> float:
        return left + i * pitch + 4

    row(40, "keys", "")
    for i, key in enumerate(keys):
        cell(drawing, x(i), 40, key, *SHADES[key % 3], SHADES[key % 3][0])
    row(112, "counters", "histogram")
    row(176, "sums", "exclusive scan")
    for v in range(values + 1):
        color, fill = SHADES[v % 3] if v < values else (theme.MUTED, theme.PAPER)
        if v < values:
            drawing.text(x(v), 90, f"of {v}", 11, theme.MUTED)
            cell(drawing, x(v), 112, counts[v], color, fill, color)
        cell(drawing, x(v), 176, sums[v], color, theme.PAPER, color)
    row(264, "output", "placing")
    for i, key in enumerate(output):
        color, fill = SHADES[key % 3]
        cell(drawing, x(i), 264, key, color, fill, color)
        drawing.text(x(i), 296, str(i), 11, theme.MUTED)
    for v in range(values):
        if counts[v]:
            color = SHADES[v % 3][0]
            drawing.line(x(v), 190, x(sums[v]), 243, color, 1.5)
            head(drawing, x(sums[v]), 250, color)
    drawing.text(x(values) + 28, 180, "n, so that every run has an end", 11.5, theme.MUTED, "start")
    return drawing


def draw_reduction(values: list[int]) -> svg.Drawing:
    """The fold onto the lower half, for a number of threads that is not a power of two."""
    states, stages = fold(values, min)
    assert states[-1][0] == min(values)
    pitch, left, top, gap = 46, 134, 62, 70
    drawing = svg.Drawing(
        left + len(values) * pitch + 8,
        top + gap * len(stages) + 40,
        f"The smallest of {len(values)} values",
        f"The values {svg.listed(values)} in {len(stages)} stages. With n values left, thread t keeps the smaller "
        "of value t and the one (n + 1) / 2 positions further on, if there is one, so "
        f"{svg.listed(left for left, _ in stages)} and finally 1 value are left: {min(values)}.",
    )

    def x(t: int) -> float:
        return left + t * pitch + 10

    for t in range(len(values)):
        drawing.text(x(t), 28, f"t = {t}", 11.5, theme.MUTED)
    for number, state in enumerate(states):
        y = top + number * gap
        alive = stages[number][0] if number < len(stages) else 1
        joined = range(stages[number - 1][0] - stages[number - 1][1]) if number else []
        words = f"{alive} left" if alive > 1 else "the smallest"
        drawing.text(left - 26, y + 5, words, 13, theme.INK, "end", "bold")
        if number < len(stages):
            drawing.text(left - 26, y + 22, f"reach {stages[number][1]}", 11, theme.MUTED, "end")
            for t in range(stages[number][0] - stages[number][1]):
                drawing.line(x(t + stages[number][1]), y + 13, x(t), y + gap - 20, theme.BLUE, 1.4)
                head(drawing, x(t), y + gap - 13, theme.BLUE)
        for t in range(len(values)):
            if t < alive:
                color, fill = (theme.BLUE, theme.BLUE_FILL) if t in joined else (theme.INK, theme.PAPER)
                cell(drawing, x(t), y, state[t], color, fill, theme.BLUE if t in joined else theme.WIRE)
    return drawing


def draw_hillis_steele(values: list[int]) -> svg.Drawing:
    states, distances = hillis_steele(values)
    assert states[-1] == list(accumulate(values))
    pitch, left, top, gap = 54, 150, 46, 76
    drawing = svg.Drawing(
        left + len(values) * pitch,
        top + gap * len(distances) + 96,
        "The scan of Hillis and Steele",
        f"The values {svg.listed(values)}. In stages of distance {svg.listed(distances)} each value is added to the "
        "one that far to its right, and two buffers take turns. The result is the inclusive scan, "
        f"{svg.listed(states[-1])}. Moved by one position it is the exclusive scan.",
    )

    def x(i: int) -> float:
        return left + i * pitch + 12

    for number, state in enumerate(states):
        y = top + number * gap
        if number < len(distances):
            distance = distances[number]
            for i in range(len(values)):
                kept = i < distance
                drawing.line(
                    x(i), y + 13, x(i), y + gap - 20, theme.WIRE if kept else theme.WIRE, 1.2, "3 3" if kept else ""
                )
                if i >= distance:
                    drawing.line(x(i - distance), y + 13, x(i) - 2, y + gap - 19, theme.BLUE, 1.4)
                    head(drawing, x(i), y + gap - 13, theme.BLUE)
            drawing.text(left - 26, y + gap / 2 + 5, f"distance {distance}", 12.5, theme.BLUE, "end")
        drawing.text(
            left - 26, y + 5, "values" if number == 0 else f"buffer {number % 2}", 13, theme.INK, "end", "bold"
        )
        for i, value in enumerate(state):
            added = number and i >= distances[number - 1]
            cell(
                drawing,
                x(i),
                y,
                value,
                *((theme.BLUE, theme.BLUE_FILL, theme.BLUE) if added else (theme.INK, theme.PAPER, theme.WIRE)),
            )
    y = top + gap * len(distances) + 52
    drawing.text(left - 26, y + 5, "exclusive", 13, theme.INK, "end", "bold")
    for i, value in enumerate(exclusive(values)):
        cell(drawing, x(i), y, value, theme.TEAL, theme.TEAL_FILL, theme.TEAL)
        if i:
            drawing.line(x(i - 1), y - 39, x(i) - 2, y - 19, theme.TEAL, 1.3)
            head(drawing, x(i), y - 13, theme.TEAL)
    return drawing


def draw_blelloch(values: list[int]) -> svg.Drawing:
    up, cleared, down, total = blelloch(values)
    assert down[-1][1] == exclusive(values) and total == sum(values)
    n, pitch, left, top, gap = len(values), 54, 204, 46, 62
    rows = [("values", values, None)] + [("up", state, half) for half, state in up] + [("clear", cleared, None)]
    rows += [("down", state, half) for half, state in down]
    drawing = svg.Drawing(
        left + n * pitch,
        top + gap * (len(rows) - 1) + 40,
        "The scan of Blelloch",
        f"The values {svg.listed(values)}. On the way up, sums of pairs, of fours and of all are stored at the last "
        "position of each. Then 0 replaces the last sum. On the way down, a node's value goes to its left child, "
        "and that value plus what the left child held to its right child. The result is the exclusive scan, "
        f"{svg.listed(down[-1][1])}.",
    )

    def x(i: int) -> float:
        return left + i * pitch + 12

    names = {"values": "values", "up": "sum of both children", "clear": "0 for the last", "down": "what lies before"}
    for number, (kind, state, half) in enumerate(rows):
        y = top + number * gap
        touched = {}
        if half:
            for right in range(2 * half - 1, n, 2 * half):
                touched[right] = theme.BLUE if kind == "up" else theme.ORANGE
                drawing.line(
                    x(right), y - gap + 13, x(right), y - 13, theme.BLUE if kind == "up" else theme.ORANGE, 1.4
                )
                drawing.line(x(right - half), y - gap + 13, x(right) - 2, y - 19, theme.BLUE, 1.4)
                head(drawing, x(right), y - 13, theme.BLUE)
                if kind == "down":
                    touched[right - half] = theme.ORANGE
                    drawing.line(x(right), y - gap + 13, x(right - half) + 2, y - 19, theme.ORANGE, 1.4)
                    head(drawing, x(right - half), y - 13, theme.ORANGE)
        elif kind == "clear":
            touched[n - 1] = theme.TEAL
        fills = {theme.BLUE: theme.BLUE_FILL, theme.ORANGE: theme.ORANGE_FILL, theme.TEAL: theme.TEAL_FILL}
        drawing.text(left - 26, y + 5, names[kind], 13, theme.INK, "end", "bold")
        if half:
            drawing.text(left - 26, y + 21, f"half = {half}", 11, theme.MUTED, "end")
        for i, value in enumerate(state):
            color = touched.get(i, theme.INK)
            cell(drawing, x(i), y, value, color, fills.get(color, theme.PAPER), color if i in touched else theme.WIRE)
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
    drawing = svg.Drawing(
        width,
        358,
        "Stable counting with a column of counters for each warp",
        f"{len(keys)} keys in {warps} chunks, one per warp: {svg.listed(keys)}. Each warp counts its own keys in a "
        "column. The scan runs through the table value by value, and within a value warp by warp, so each warp "
        "knows where its first key of a value goes. Equal keys keep their order in the output.",
    )

    def x(i: int) -> float:
        return left + i * pitch + 6

    def pair(i: int, at: int, y: float) -> None:
        color, fill = SHADES[i // chunk % 3]
        cell(drawing, x(at), y, f"{keys[i]}{chr(97 + i)}", color, fill, color, 36)

    drawing.text(left - 28, 55, "keys", 13.5, theme.INK, "end", "bold")
    for w in range(warps):
        drawing.text((x(w * chunk) + x((w + 1) * chunk - 1)) / 2, 26, f"chunk of warp {w}", 12, SHADES[w % 3][0])
    for i in range(len(keys)):
        pair(i, i, 50)
    for name, x0, table in (
        ("counts", left + 70, [c for row in counts for c in row]),
        ("their exclusive scan", left + 320, sums),
    ):
        drawing.text(x0 + warps * 46 / 2, 108, name, 13.5, theme.INK, weight="bold")
        for v in range(values):
            drawing.text(x0 - 10, 144 + v * 36 + 5, f"value {v}", 12, theme.MUTED, "end")
            for w in range(warps):
                color, fill = SHADES[w % 3]
                cell(drawing, x0 + w * 46 + 24, 144 + v * 36, table[v * warps + w], color, fill, color, 38)
    drawing.text(left - 28, 270 + 5, "output", 13.5, theme.INK, "end", "bold")
    for i in range(len(keys)):
        pair(i, place_of[i], 270)
        drawing.text(x(i), 303, str(i), 11, theme.MUTED)
    drawing.text(left, 338, "Equal keys keep their order: the letters of one value rise.", 12.5, theme.MUTED, "start")
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
        "columns.svg": draw_columns(),
        "stable.svg": draw_stable([2, 0, 1, 2, 1, 0, 2, 2, 0, 1, 2, 0], 3, 3),
    }

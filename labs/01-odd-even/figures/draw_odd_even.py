"""The figures of lab 01, drawn from sorts that run here, are counted, and whose results are asserted."""

from __future__ import annotations

import math
from collections.abc import Callable

from workbook.pictures import svg

MAX_N = 65536  # the largest n on the axis


# --- the sorts -------------------------------------------------------------------------------------------------------


def pairs(phase: int, n: int) -> range:
    """The first place of each pair that a phase compares."""
    return range(phase % 2, n - 1, 2)


def odd_even(keys: list[int]) -> tuple[list[list[int]], list[set[int]]]:
    """The keys before the first phase and after every phase, and for each phase the places that it exchanged."""
    states, exchanged = [list(keys)], []
    for phase in range(len(keys)):
        now, touched = list(states[-1]), set()
        for i in pairs(phase, len(now)):
            if now[i + 1] < now[i]:
                now[i], now[i + 1] = now[i + 1], now[i]
                touched |= {i, i + 1}
        states.append(now)
        exchanged.append(touched)
    assert states[-1] == sorted(keys)
    return states, exchanged


def bubble_rounds(keys: list[int]) -> list[list[int]]:
    """The keys before the first round of bubble sort and after every one."""
    states = [list(keys)]
    for end in range(len(keys) - 1, 0, -1):
        now = list(states[-1])
        for i in range(end):
            if now[i + 1] < now[i]:
                now[i], now[i + 1] = now[i + 1], now[i]
        states.append(now)
    assert states[-1] == sorted(keys)
    return states


def counted(n: int) -> tuple[int, int, int]:
    """Comparisons of bubble sort, those of odd-even sort, and its phases, counted while n reversed keys are sorted."""
    keys, bubble = list(range(n, 0, -1)), 0
    for end in range(n - 1, 0, -1):
        for i in range(end):
            bubble += 1
            if keys[i + 1] < keys[i]:
                keys[i], keys[i + 1] = keys[i + 1], keys[i]
    assert keys == sorted(keys)
    keys, comparisons, phases = list(range(n, 0, -1)), 0, 0
    for phase in range(n):
        phases += 1
        for i in pairs(phase, n):
            comparisons += 1
            if keys[i + 1] < keys[i]:
                keys[i], keys[i + 1] = keys[i + 1], keys[i]
    assert keys == sorted(keys)
    return bubble, comparisons, phases


def still_correct(count: int, phases: int, first_phase: int = 0) -> list[list[bool]]:
    """Which positions of a window into a longer array are correct, before the first phase and after each."""
    states = [[True] * count]
    for phase in range(first_phase, first_phase + phases):
        now = [False] * count  # a position whose partner lies outside the window is not correct
        for i in pairs(phase, count):
            now[i] = now[i + 1] = states[-1][i] and states[-1][i + 1]
        states.append(now)
    return states


# --- drawings --------------------------------------------------------------------------------------------------------


def draw_key(
    drawing: svg.Drawing,
    x: float,
    y: float,
    key: int,
    fill: str = svg.PAPER,
    stroke: str = svg.WIRE,
    color: str = svg.INK,
    weight: str = "normal",
) -> None:
    drawing.rect(x - 13, y - 11, 26, 22, fill, stroke, 4)
    drawing.text(x, y + 5, str(key), 14, color, weight=weight)


def draw_example(keys: list[int]) -> svg.Drawing:
    """Keys that move through all phases, one column per phase; the keys that a phase exchanged are marked."""
    n = len(keys)
    states, exchanged = odd_even(keys)
    pitch, left, top, step = 32, 56, 66, 72
    drawing = svg.Drawing(left + n * step + 56, top + (n - 1) * pitch + 66, f"{n} keys in {n} phases")

    def y(place: int) -> float:
        return top + place * pitch

    for place in range(n):
        drawing.line(left, y(place), left + n * step, y(place))
        drawing.text(left - 24, y(place) + 4.5, str(place), 12.5, svg.MUTED, "end")
    for phase in range(n):
        x = left + (phase + 0.5) * step
        color = svg.BLUE if phase % 2 == 0 else svg.ORANGE
        drawing.text(x, 28, f"phase {phase}", 12.5, svg.INK, weight="bold")
        drawing.text(x, 44, "even" if phase % 2 == 0 else "odd", 11.5, color)
        for i in pairs(phase, n):
            drawing.arrow(x, y(i), y(i + 1), color)
    for column, state in enumerate(states):
        for place, key in enumerate(state):
            moved = column > 0 and place in exchanged[column - 1]
            draw_key(
                drawing,
                left + column * step,
                y(place),
                key,
                svg.TEAL_FILL if moved else svg.PAPER,
                svg.TEAL if moved else svg.WIRE,
                svg.TEAL if moved else svg.INK,
                "bold" if moved else "normal",
            )
    bottom = y(n - 1) + 42
    drawing.text(left, bottom, "in", 12.5, svg.MUTED)
    drawing.text(left + n * step, bottom, "out", 12.5, svg.MUTED)
    drawing.rect(left + 60, bottom - 13, 16, 16, svg.TEAL_FILL, svg.TEAL, 3)
    drawing.text(left + 84, bottom, "exchanged by the phase on its left", 12.5, svg.TEAL, "start")
    drawing.arrow(left + 340, bottom - 11, bottom + 3, svg.BLUE)
    drawing.text(left + 350, bottom, "arrowhead: the larger key", 12.5, svg.BLUE, "start")
    return drawing


def draw_bubble(keys: list[int]) -> svg.Drawing:
    """The earliest time of each comparison of bubble sort."""
    n = len(keys)
    bubble_rounds(keys)
    cell, left, top = 30, 96, 78
    columns = 2 * n - 3
    drawing = svg.Drawing(
        left + columns * cell + 40, top + (n - 1) * cell + 66, "When the comparisons of bubble sort can be made"
    )
    drawing.text(
        left + columns * cell / 2, 26, "time: a comparison waits only for those that share a key with it", 13, svg.INK
    )
    at_once: dict[int, list[int]] = {}
    for round_ in range(n - 1):
        drawing.text(left - 14, top + round_ * cell + 20, f"round {round_}", 12.5, svg.MUTED, "end")
        for i in range(n - 1 - round_):
            time = 2 * round_ + i  # after (round, i - 1) and (round - 1, i + 1)
            at_once.setdefault(time, []).append(i)
            fill, color = (svg.BLUE_FILL, svg.BLUE) if i % 2 == 0 else (svg.ORANGE_FILL, svg.ORANGE)
            drawing.rect(left + time * cell + 1, top + round_ * cell + 1, cell - 2, cell - 2, fill, color, 3, 0.9)
            drawing.text(left + time * cell + cell / 2, top + round_ * cell + 19.5, f"{i},{i + 1}", 10.5, color)
    for time in range(columns):
        assert len({i % 2 for i in at_once[time]}) == 1
        drawing.text(left + time * cell + cell / 2, top - 12, str(time), 11, svg.MUTED)
    bottom = top + (n - 1) * cell + 32
    drawing.text(left, bottom, "blue: pairs that begin at even positions", 12.5, svg.BLUE, "start")
    drawing.text(left + 260, bottom, "orange: at odd positions", 12.5, svg.ORANGE, "start")
    return drawing


def draw_zero_one(bits: list[int]) -> svg.Drawing:
    """Zeros and ones on their way: the last one starts in phase 0 or 1, the next follows a phase later, and so on."""
    n = len(bits)
    states, _ = odd_even(bits)
    cell, left, top = 30, 86, 50
    drawing = svg.Drawing(left + (n + 1) * cell + 250, top + n * cell + 34, "Ones move down, each behind the next")
    for column, state in enumerate(states):
        x = left + column * cell
        drawing.text(x + cell / 2, top - 10, "in" if column == 0 else str(column - 1), 11.5, svg.MUTED)
        for place, bit in enumerate(state):
            fill, color = (svg.BLUE, svg.PAPER) if bit else (svg.PAPER, svg.MUTED)
            drawing.rect(x + 1, top + place * cell + 1, cell - 2, cell - 2, fill, svg.BLUE if bit else svg.WIRE, 3, 0.9)
            drawing.text(x + cell / 2, top + place * cell + 20, str(bit), 13, color)
    for place in range(n):
        drawing.text(left - 14, top + place * cell + 20, str(place), 12.5, svg.MUTED, "end")
    drawing.text(left - 14, top - 10, "after phase", 11.5, svg.MUTED, "end")
    x = left + (n + 1) * cell + 18
    lines = [
        "the last 1 moves on in every",
        "phase, from phase 1 at the latest,",
        "until it is at the end;",
        "",
        "the 1 before it follows a",
        "phase later, the next a phase",
        "after that, and so on",
    ]
    for k, words in enumerate(lines):
        drawing.text(x, top + 24 + 19 * k, words, 12.5, svg.INK, "start")
    return drawing


def draw_light_cone(tile: int, halo: int) -> svg.Drawing:
    """A tile with its halo: the positions that are still correct after each phase."""
    count = tile + 2 * halo
    states = still_correct(count, halo, first_phase=1)  # the worse parity: both edges lose a position at once
    assert all(states[-1][halo : halo + tile]) and not states[-1][halo - 1] and not states[-1][halo + tile]
    pitch, left, top, step = 24, 130, 66, 84
    right = left + halo * step
    drawing = svg.Drawing(right + 238, top + (count - 1) * pitch + 62, f"A tile of {tile} keys with a halo of {halo}")

    def y(place: int) -> float:
        return top + place * pitch

    drawing.rect(left - 22, y(halo) - 12, right - left + 44, (tile - 1) * pitch + 24, svg.BLUE_FILL, svg.BLUE, 5, 0.8)
    for place in range(count):
        drawing.line(left, y(place), right, y(place))
    for phase in range(halo):
        x = left + (phase + 0.5) * step
        drawing.text(x, 30, f"phase {phase + 1}", 12.5, svg.INK, weight="bold")
        for i in pairs(phase + 1, count):
            drawing.arrow(x, y(i), y(i + 1), svg.BLUE if phase % 2 else svg.ORANGE)
    for column, state in enumerate(states):
        for place, correct_here in enumerate(state):
            x = left + column * step
            if correct_here:
                drawing.dot(x, y(place), 5.5, svg.TEAL)
            else:
                drawing.rect(x - 8, y(place) - 9, 16, 18, svg.PAPER, svg.ABSENT, 3)
                drawing.text(x, y(place) + 4.5, "?", 13, svg.ORANGE, weight="bold")
    for first, n, words, color in (
        (0, halo, "halo", svg.MUTED),
        (halo, tile, "tile", svg.BLUE),
        (halo + tile, halo, "halo", svg.MUTED),
    ):
        drawing.text(left - 44, y(first) + (n - 1) * pitch / 2 + 5, words, 14, color, "end", "bold")
    x = right + 34
    for words, color, at in (
        ("green: as in the whole array", svg.TEAL, 1),
        ("?: its partner, or that of a key", svg.ORANGE, 2),
        ("it met, is not in the window", svg.ORANGE, 2.8),
        ("the tile, which is stored,", svg.BLUE, halo + tile / 2 - 0.9),
        (f"is correct after {halo} phases,", svg.BLUE, halo + tile / 2 - 0.1),
        ("but not after one more", svg.BLUE, halo + tile / 2 + 0.7),
    ):
        drawing.text(x, top + at * pitch + 4, words, 12.5, color, "start")
    drawing.text((left + right) / 2, y(count - 1) + 40, "the array continues above and below", 12.5, svg.MUTED)
    return drawing


def draw_lanes(lanes: int, lane_keys: int) -> svg.Drawing:
    """The pairs of both phases on a row: inside a lane, and across two lanes."""
    n = lanes * lane_keys
    cell, left, gap = 38, 96, 16
    drawing = svg.Drawing(left + n * cell + (lanes - 1) * gap + 30, 268, "Pairs inside a lane and across lanes")

    def x(place: int) -> float:
        return left + place * cell + place // lane_keys * gap

    for lane in range(lanes):
        drawing.text(x(lane * lane_keys) + lane_keys * cell / 2, 28, f"lane {lane}", 13, svg.INK, weight="bold")
    for row, words in ((0, "even phase"), (1, "odd phase")):
        top = 52 + row * 96
        drawing.text(left - 14, top + 22, words, 13, svg.MUTED, "end")
        for place in range(n):
            drawing.rect(x(place) + 1, top, cell - 2, 32, svg.PAPER, svg.WIRE, 4)
            drawing.text(x(place) + cell / 2, top + 21, str(place), 13, svg.INK)
        for i in pairs(row, n):
            across = i // lane_keys != (i + 1) // lane_keys
            color = svg.ORANGE if across else svg.BLUE
            x1, x2, y = x(i) + cell / 2, x(i + 1) + cell / 2, top + 46
            drawing.line(x1, top + 34, x1, y, color, 1.8)
            drawing.line(x2, top + 34, x2, y, color, 1.8)
            drawing.line(x1, y, x2, y, color, 1.8)
            if across:
                drawing.text((x1 + x2) / 2, y + 16, "shuffle", 11.5, svg.ORANGE)
    drawing.text(left, 250, "blue: both keys in the registers of one lane", 12.5, svg.BLUE, "start")
    drawing.text(left + 300, 250, "orange: each lane sends its key to the other", 12.5, svg.ORANGE, "start")
    return drawing


def draw_work() -> svg.Drawing:
    """Comparisons and steps against n: the dots are counted, the lines are formulas."""
    width, height, left, top = 470, 400, 84, 62
    most_x, most_y = math.log2(MAX_N), 10
    drawing = svg.Drawing(
        left + width + 256, top + height + 62, "Comparisons and steps of bubble sort and odd-even sort"
    )

    def x(n: float) -> float:
        return left + width * math.log2(n) / most_x

    def y(count: float) -> float:
        return top + height - height * math.log10(count) / most_y

    for power in range(most_y + 1):
        drawing.line(left, y(10**power), left + width, y(10**power), "#e5e7eb", 1)
        if power % 2 == 0:
            words = {0: "1", 2: "100", 4: "10 thousand", 6: "1 million", 8: "100 million", 10: "10 billion"}[power]
            drawing.text(left - 10, y(10**power) + 4.5, words, 11.5, svg.MUTED, "end")
    for power in range(0, int(most_x) + 1, 2):
        n = 2**power
        drawing.line(x(n), top, x(n), top + height, "#e5e7eb", 1)
        drawing.text(x(n), top + height + 20, f"{n:,}", 11.5, svg.MUTED)
    drawing.text(left + width / 2, top + height + 44, "n, keys", 13, svg.INK)
    drawing.text(left - 70, top - 34, "operations to sort n keys", 13, svg.INK, "start")
    drawing.text(left - 70, top - 16, "dots: counted; lines: formulas", 11.5, svg.MUTED, "start")

    def curve(count: Callable[[float], float], color: str, width: float = 2.2, dash: str = "") -> None:
        points = [(x(2 ** (p / 4)), y(count(2 ** (p / 4)))) for p in range(4, int(4 * most_x) + 1)]
        for (x1, y1), (x2, y2) in zip(points, points[1:]):
            drawing.line(x1, y1, x2, y2, color, width, dash)

    curve(lambda n: n * (n - 1) / 2, svg.ORANGE)
    curve(lambda n: n, svg.BLUE)
    curve(lambda n: n * math.log2(n), svg.ABSENT, 1.6)
    curve(lambda n: math.log2(n) * (math.log2(n) + 1) / 2, svg.ABSENT, 1.6)
    for power in range(1, 11):
        n = 2**power
        bubble, comparisons, phases = counted(n)
        assert bubble == comparisons == n * (n - 1) // 2 and phases == n
        drawing.dot(x(n), y(comparisons), 3.6, svg.ORANGE)
        drawing.dot(x(n), y(phases), 3.6, svg.BLUE)
    n = MAX_N
    labels = [
        (n * (n - 1) / 2, 0, svg.ORANGE, ["comparisons of both sorts, and", "steps of bubble sort:", "n (n - 1) / 2"]),
        (n * math.log2(n), -6, svg.MUTED, ["comparisons of merge sort", "(lab 02): n log2 n"]),
        (n, 6, svg.BLUE, ["phases of odd-even sort: n"]),
        (most_x * (most_x + 1) / 2, 0, svg.MUTED, ["stages of bitonic sort", "(lab 03)"]),
    ]
    for count, shift, color, lines in labels:
        for k, line in enumerate(lines):
            drawing.text(
                left + width + 12,
                y(count) + shift + 4.5 + 16 * (k - (len(lines) - 1) / 2),
                line,
                12.5,
                color,
                "start",
                "normal" if color == svg.MUTED else "bold",
            )
    return drawing


# --- all of them -----------------------------------------------------------------------------------------------------


def figures() -> dict[str, svg.Drawing]:
    return {
        "bubble.svg": draw_bubble([6, 3, 8, 1, 7, 2, 5, 4]),
        "example-8.svg": draw_example([6, 3, 8, 1, 7, 2, 5, 4]),
        "zero-one.svg": draw_zero_one([1, 1, 1, 1, 0, 0, 0, 0]),
        "light-cone.svg": draw_light_cone(6, 4),
        "lanes.svg": draw_lanes(4, 4),
        "work.svg": draw_work(),
    }

"""The figures of lab 01, drawn from sorts that run here, are counted, and whose results are asserted."""

from __future__ import annotations

from work import draw_work

from workbook.pictures import svg, theme
from workbook.pictures.recorded import RecordedRun

RUNS = {"run-exchange": RecordedRun("01-odd-even", step=0, n=9, task="exchange", seed=5)}

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


def bracket(drawing: svg.Drawing, x1: float, x2: float, top: float, color: str, words: str) -> None:
    """Joins two keys from below."""
    drawing.line(x1, top, x1, top + 12, color, 1.8)
    drawing.line(x2, top, x2, top + 12, color, 1.8)
    drawing.line(x1, top + 12, x2, top + 12, color, 1.8)
    drawing.text((x1 + x2) / 2, top + 28, words, 11.5, color)


def draw_key(
    drawing: svg.Drawing,
    x: float,
    y: float,
    key: int,
    fill: str = theme.PAPER,
    stroke: str = theme.WIRE,
    color: str = theme.INK,
    weight: str = "normal",
) -> None:
    drawing.rect(x - 13, y - 11, 26, 22, fill, stroke, 4)
    drawing.text(x, y + 5, str(key), 14, color, weight=weight)


def draw_example(keys: list[int]) -> svg.Drawing:
    """Keys that move through all phases, one column per phase; the keys that a phase exchanged are marked."""
    n = len(keys)
    states, exchanged = odd_even(keys)
    pitch, left, top, step = 32, 56, 66, 72
    drawing = svg.Drawing(
        left + n * step + 56,
        top + (n - 1) * pitch + 66,
        f"{n} keys in {n} phases",
        f"The keys {svg.listed(keys)} and what {n} phases make of them, one column per phase. Even phases compare "
        "positions 0 and 1, 2 and 3 and so on, odd phases 1 and 2, 3 and 4 and so on. The phases exchange "
        f"{svg.listed(len(places) // 2 for places in exchanged)} pairs, and then the keys are sorted.",
    )

    def y(place: int) -> float:
        return top + place * pitch

    for place in range(n):
        drawing.line(left, y(place), left + n * step, y(place))
        drawing.text(left - 24, y(place) + 4.5, str(place), 12.5, theme.MUTED, "end")
    for phase in range(n):
        x = left + (phase + 0.5) * step
        color = theme.BLUE if phase % 2 == 0 else theme.ORANGE
        drawing.text(x, 28, f"phase {phase}", 12.5, theme.INK, weight="bold")
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
                theme.TEAL_FILL if moved else theme.PAPER,
                theme.TEAL if moved else theme.WIRE,
                theme.TEAL if moved else theme.INK,
                "bold" if moved else "normal",
            )
    bottom = y(n - 1) + 42
    drawing.text(left, bottom, "in", 12.5, theme.MUTED)
    drawing.text(left + n * step, bottom, "out", 12.5, theme.MUTED)
    drawing.rect(left + 60, bottom - 13, 16, 16, theme.TEAL_FILL, theme.TEAL, 3)
    drawing.text(left + 84, bottom, "exchanged by the phase on its left", 12.5, theme.TEAL, "start")
    drawing.arrow(left + 340, bottom - 11, bottom + 3, theme.BLUE)
    drawing.text(left + 350, bottom, "arrowhead: the larger key", 12.5, theme.BLUE, "start")
    return drawing


def draw_bubble(keys: list[int]) -> svg.Drawing:
    """The earliest time of each comparison of bubble sort."""
    n = len(keys)
    bubble_rounds(keys)
    cell, left, top = 30, 96, 78
    columns = 2 * n - 3
    drawing = svg.Drawing(
        left + columns * cell + 40,
        top + (n - 1) * cell + 66,
        "When the comparisons of bubble sort can be made",
        f"The {n * (n - 1) // 2} comparisons of {n} keys: a row per round, a column per time from 0 to "
        f"{columns - 1}. Each round begins two columns after the one before. All pairs of a column begin at even "
        "positions, or all at odd ones, and the two kinds of column alternate.",
    )
    drawing.text(
        left + columns * cell / 2, 26, "time: a comparison waits only for those that share a key with it", 13, theme.INK
    )
    at_once: dict[int, list[int]] = {}
    for round_ in range(n - 1):
        drawing.text(left - 14, top + round_ * cell + 20, f"round {round_}", 12.5, theme.MUTED, "end")
        for i in range(n - 1 - round_):
            time = 2 * round_ + i  # after (round, i - 1) and (round - 1, i + 1)
            at_once.setdefault(time, []).append(i)
            fill, color = (theme.BLUE_FILL, theme.BLUE) if i % 2 == 0 else (theme.ORANGE_FILL, theme.ORANGE)
            drawing.rect(left + time * cell + 1, top + round_ * cell + 1, cell - 2, cell - 2, fill, color, 3, 0.9)
            drawing.text(left + time * cell + cell / 2, top + round_ * cell + 19.5, f"{i},{i + 1}", 10.5, color)
    for time in range(columns):
        assert len({i % 2 for i in at_once[time]}) == 1
        drawing.text(left + time * cell + cell / 2, top - 12, str(time), 11, theme.MUTED)
    bottom = top + (n - 1) * cell + 32
    drawing.text(left, bottom, "blue: pairs that begin at even positions", 12.5, theme.BLUE, "start")
    drawing.text(left + 260, bottom, "orange: at odd positions", 12.5, theme.ORANGE, "start")
    return drawing


def draw_zero_one(bits: list[int]) -> svg.Drawing:
    """Zeros and ones on their way: the last one starts in phase 0 or 1, the next follows a phase later, and so on."""
    n = len(bits)
    states, _ = odd_even(bits)
    cell, left, top = 30, 86, 50
    drawing = svg.Drawing(
        left + (n + 1) * cell + 250,
        top + n * cell + 34,
        "Ones move down, each behind the next",
        f"{bits.count(1)} ones, then {bits.count(0)} zeros, a column per phase. The last 1 moves on in every phase, "
        "from phase 1 at the latest, until it is at the end. Each 1 before it follows a phase later. After the "
        "last phase all zeros come before all ones.",
    )
    for column, state in enumerate(states):
        x = left + column * cell
        drawing.text(x + cell / 2, top - 10, "in" if column == 0 else str(column - 1), 11.5, theme.MUTED)
        for place, bit in enumerate(state):
            fill, color = (theme.BLUE, theme.PAPER) if bit else (theme.PAPER, theme.MUTED)
            drawing.rect(
                x + 1, top + place * cell + 1, cell - 2, cell - 2, fill, theme.BLUE if bit else theme.WIRE, 3, 0.9
            )
            drawing.text(x + cell / 2, top + place * cell + 20, str(bit), 13, color)
    for place in range(n):
        drawing.text(left - 14, top + place * cell + 20, str(place), 12.5, theme.MUTED, "end")
    drawing.text(left - 14, top - 10, "after phase", 11.5, theme.MUTED, "end")
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
        drawing.text(x, top + 24 + 19 * k, words, 12.5, theme.INK, "start")
    return drawing


def draw_light_cone(tile: int, halo: int) -> svg.Drawing:
    """A tile with its halo: the positions that are still correct after each phase."""
    count = tile + 2 * halo
    states = still_correct(count, halo, first_phase=1)  # the worse parity: both edges lose a position at once
    assert all(states[-1][halo : halo + tile]) and not states[-1][halo - 1] and not states[-1][halo + tile]
    pitch, left, top, step = 24, 130, 66, 84
    right = left + halo * step
    drawing = svg.Drawing(
        right + 238,
        top + (count - 1) * pitch + 62,
        f"A tile of {tile} keys with a halo of {halo}",
        f"{tile} keys of a tile with {halo} more keys on either side, and which of them are correct after each of "
        f"{halo} phases. In every phase one more key at each edge may be wrong, because its partner or that of a "
        f"key that it met is not in the window. After {halo} phases only the tile is correct, and after one more it "
        "would not be.",
    )

    def y(place: int) -> float:
        return top + place * pitch

    drawing.rect(
        left - 22, y(halo) - 12, right - left + 44, (tile - 1) * pitch + 24, theme.BLUE_FILL, theme.BLUE, 5, 0.8
    )
    for place in range(count):
        drawing.line(left, y(place), right, y(place))
    for phase in range(halo):
        x = left + (phase + 0.5) * step
        drawing.text(x, 30, f"phase {phase + 1}", 12.5, theme.INK, weight="bold")
        for i in pairs(phase + 1, count):
            drawing.arrow(x, y(i), y(i + 1), theme.BLUE if phase % 2 else theme.ORANGE)
    for column, state in enumerate(states):
        for place, correct_here in enumerate(state):
            x = left + column * step
            if correct_here:
                drawing.dot(x, y(place), 5.5, theme.TEAL)
            else:
                drawing.rect(x - 8, y(place) - 9, 16, 18, theme.PAPER, theme.WIRE, 3)
                drawing.text(x, y(place) + 4.5, "?", 13, theme.ORANGE, weight="bold")
    for first, n, words, color in (
        (0, halo, "halo", theme.MUTED),
        (halo, tile, "tile", theme.BLUE),
        (halo + tile, halo, "halo", theme.MUTED),
    ):
        drawing.text(left - 44, y(first) + (n - 1) * pitch / 2 + 5, words, 14, color, "end", "bold")
    x = right + 34
    for words, color, at in (
        ("green: as in the whole array", theme.TEAL, 1),
        ("?: its partner, or that of a key", theme.ORANGE, 2),
        ("it met, is not in the window", theme.ORANGE, 2.8),
        ("the tile, which is stored,", theme.BLUE, halo + tile / 2 - 0.9),
        (f"is correct after {halo} phases,", theme.BLUE, halo + tile / 2 - 0.1),
        ("but not after one more", theme.BLUE, halo + tile / 2 + 0.7),
    ):
        drawing.text(x, top + at * pitch + 4, words, 12.5, color, "start")
    drawing.text((left + right) / 2, y(count - 1) + 40, "the array continues above and below", 12.5, theme.MUTED)
    return drawing


def draw_pairs(n: int, threads: int) -> svg.Drawing:
    """The pairs of an even and of an odd phase, and the thread that takes each."""
    colors = ((theme.BLUE, theme.BLUE_FILL), (theme.ORANGE, theme.ORANGE_FILL), (theme.TEAL, theme.TEAL_FILL))
    cell, left, height = 58, 96, 116
    drawing = svg.Drawing(
        left + n * cell + 24,
        2 * height + 60,
        "Which thread takes which pair",
        f"{n} keys at positions 0 to {n - 1} and {threads} threads. In an even phase the pairs begin at positions "
        f"{svg.listed(pairs(0, n))}, in an odd phase at {svg.listed(pairs(1, n))}; the key that is left over has no "
        f"partner. Thread t takes pair t, then pair t + {threads} and so on, so thread 0 takes pairs 0 and "
        f"{threads}.",
    )
    for phase, words in ((0, "even phase"), (1, "odd phase")):
        top = 30 + phase * height
        drawing.text(left - 14, top + 22, words, 13, theme.INK, "end", "bold")
        owner = {place: pair % threads for pair, i in enumerate(pairs(phase, n)) for place in (i, i + 1)}
        for place in range(n):
            color, fill = colors[owner[place]] if place in owner else (theme.MUTED, theme.PAPER)
            drawing.rect(left + place * cell + 6, top, cell - 12, 32, fill, color if place in owner else theme.WIRE, 4)
            drawing.text(left + (place + 0.5) * cell, top + 21, str(place), 14, color)
            if place not in owner:
                drawing.text(left + (place + 0.5) * cell, top + 50, "no partner", 11, theme.MUTED)
        for pair, i in enumerate(pairs(phase, n)):
            color = colors[pair % threads][0]
            bracket(drawing, left + (i + 0.5) * cell, left + (i + 1.5) * cell, top + 35, color, f"pair {pair}")
            drawing.text(left + (i + 1) * cell, top + 79, f"thread {pair % threads}", 12.5, color, weight="bold")
    drawing.text(
        left,
        2 * height + 38,
        f"launched with {threads} threads: thread 0 takes pair {threads}, too",
        12.5,
        theme.MUTED,
        "start",
    )
    return drawing


def draw_lanes(lanes: int, lane_keys: int) -> svg.Drawing:
    """The pairs of both phases on a row: inside a lane, and across two lanes."""
    n = lanes * lane_keys
    cell, left, gap = 38, 96, 16
    drawing = svg.Drawing(
        left + n * cell + (lanes - 1) * gap + 30,
        268,
        "Pairs inside a lane and across lanes",
        f"{n} keys in {lanes} lanes of {lane_keys} keys each. In an even phase both keys of every pair are in the "
        "registers of one lane. In an odd phase the last key of a lane and the first of the next are a pair too, "
        "so these lanes exchange keys by shuffles.",
    )

    def x(place: int) -> float:
        return left + place * cell + place // lane_keys * gap

    for lane in range(lanes):
        drawing.text(x(lane * lane_keys) + lane_keys * cell / 2, 28, f"lane {lane}", 13, theme.INK, weight="bold")
    for row, words in ((0, "even phase"), (1, "odd phase")):
        top = 52 + row * 96
        drawing.text(left - 14, top + 22, words, 13, theme.MUTED, "end")
        for place in range(n):
            drawing.rect(x(place) + 1, top, cell - 2, 32, theme.PAPER, theme.WIRE, 4)
            drawing.text(x(place) + cell / 2, top + 21, str(place), 13, theme.INK)
        for i in pairs(row, n):
            across = i // lane_keys != (i + 1) // lane_keys
            words = "shuffle" if across else ""
            bracket(
                drawing, x(i) + cell / 2, x(i + 1) + cell / 2, top + 34, theme.ORANGE if across else theme.BLUE, words
            )
    drawing.text(left, 250, "blue: both keys in the registers of one lane", 12.5, theme.BLUE, "start")
    drawing.text(left + 300, 250, "orange: each lane sends its key to the other", 12.5, theme.ORANGE, "start")
    return drawing


# --- all of them -----------------------------------------------------------------------------------------------------


def figures() -> dict[str, svg.Drawing]:
    return {
        "pairs.svg": draw_pairs(9, 3),
        "bubble.svg": draw_bubble([6, 3, 8, 1, 7, 2, 5, 4]),
        "example-8.svg": draw_example([6, 3, 8, 1, 7, 2, 5, 4]),
        "zero-one.svg": draw_zero_one([1, 1, 1, 1, 0, 0, 0, 0]),
        "light-cone.svg": draw_light_cone(6, 4),
        "lanes.svg": draw_lanes(4, 4),
        "work.svg": draw_work(),
    }

"""The figures of lab 04 about the banks of shared memory."""

from __future__ import annotations

from workbook.pictures import svg, theme

LANES = 32  # and as many banks of 4 bytes
SIZE, LEFT = 19, 96  # of the figure of step 06: a cell, and where the first one is
KEYS = [3, 1, 4, 1, 5, 2, 0, 2, 5, 3, 5, 1, 3, 1, 1, 3, 2, 3, 1, 5, 0, 2, 4, 4, 1, 3, 1, 3, 2, 2, 1, 5]  # of its lanes
VALUES_PER_ROW = 16  # 64-bit values in one row of the 32 banks of 4 bytes
SCAN_TILE = 1024  # counting::scan_tile of labs/04-counting/counting.h


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


def draw_banks(half: int) -> svg.Drawing:
    """The nodes of one level in shared memory, one column per bank, without and with padding."""
    nodes = level(half)
    plain, spread = nodes, [padded(i) for i in nodes]
    assert wavefronts(plain) == len(nodes) and wavefronts(spread) == 1
    size, left, top = 20, 30, 84
    rows = max(spread) // VALUES_PER_ROW + 1
    panel = VALUES_PER_ROW * size
    drawing = svg.Drawing(
        2 * panel + 3 * left + 20,
        top + rows * size + 42,
        f"The nodes that end each {2 * half} values, in the banks of shared memory",
        f"Two grids with a column per bank. Left, value i is at position i: the {len(nodes)} nodes are in one bank, "
        f"so their access takes {wavefronts(plain)} wavefronts. Right, one unused position follows every 16 values "
        "and another one every 256: the nodes are in different banks, and their access takes one wavefront.",
    )
    for x0, places, place_of, name, turns in (
        (left, plain, lambda i: i, "value i at position i", wavefronts(plain)),
        (2 * left + panel + 20, spread, padded, "value i at position i + i/16 + i/256", wavefronts(spread)),
    ):
        drawing.text(x0 + panel / 2, 28, name, 14.5, theme.INK, weight="bold")
        drawing.text(
            x0 + panel / 2,
            48,
            f"{len(nodes)} lanes: {turns} wavefront{'s' if turns > 1 else ''}",
            12.5,
            theme.ORANGE if turns > 1 else theme.BLUE,
        )
        for bank in range(VALUES_PER_ROW):
            drawing.text(x0 + bank * size + size / 2, top - 8, str(bank), 10.5, theme.MUTED)
        used = {place_of(i) for i in range(max(nodes) + 1)}
        for place in range(rows * VALUES_PER_ROW):
            x, y = x0 + place % VALUES_PER_ROW * size, top + place // VALUES_PER_ROW * size
            if place in places:
                color, fill = (theme.ORANGE, theme.ORANGE_FILL) if turns > 1 else (theme.BLUE, theme.BLUE_FILL)
                drawing.rect(x, y, size, size, fill, color)
                drawing.text(x + size / 2, y + 14.5, str(places.index(place)), 11.5, color, weight="bold")
            elif place in used:
                drawing.rect(x, y, size, size, theme.PAPER, theme.RULE, 0, 0.7)
            elif place < max(used):
                drawing.rect(x, y, size, size, theme.GREY_FILL, theme.RULE, 0, 0.7)
                drawing.text(x + size / 2, y + 14.5, "–", 11.5, theme.MUTED)
    words = "columns: banks of 8 bytes · numbers: the lane that reads this position · dash: padding"
    drawing.text(left, top + rows * size + 26, words, 12, theme.MUTED, "start")
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
        left + pitch * len(halves) + 16,
        top + 3 * gap + 10,
        "Wavefronts per access of half a warp, level by level",
        f"A table with a column for each level, half = {svg.listed(halves)}. Wavefronts with value i at position i: "
        f"{svg.listed(plain)}. At position i + i/16: {svg.listed(only16)}. At position i + i/16 + i/256: one on "
        "every level.",
    )
    drawing.text(left - 16, top - 22, "half =", 12.5, theme.MUTED, "end")
    for c, h in enumerate(halves):
        drawing.text(left + c * pitch + 24, top - 22, str(h), 12.5, theme.MUTED)
    for r, (name, turns) in enumerate((("position i", plain), ("i + i/16", only16), ("i + i/16 + i/256", both))):
        drawing.text(left - 16, top + r * gap + 9, name, 13.5, theme.INK, "end", "bold")
        for c, t in enumerate(turns):
            color, fill = (theme.BLUE, theme.BLUE_FILL) if t == 1 else (theme.ORANGE, theme.ORANGE_FILL)
            drawing.rect(left + c * pitch + 3, top + r * gap - 10, 42, 28, fill, color, 3)
            drawing.text(left + c * pitch + 24, top + r * gap + 9, str(t), 13.5, color, weight="bold")
    return drawing


def small_cell(drawing: svg.Drawing, column: int, y: float, words: object, color: str, fill: str) -> None:
    drawing.rect(LEFT + column * SIZE + 0.5, y, SIZE - 1, SIZE - 1, fill, color, 2, 0.9)
    drawing.text(LEFT + (column + 0.5) * SIZE, y + 13.5, str(words), 11, color)


def draw_columns() -> svg.Drawing:
    """One request of a warp: the counters that its lanes need, in one set for all lanes and in a column for each."""
    values = max(KEYS) + 1
    waiting = [[lane for lane, key in enumerate(KEYS) if key % LANES == bank] for bank in range(LANES)]
    turns = max(map(len, waiting))
    assert len({(LANES * key + lane) % LANES for lane, key in enumerate(KEYS)}) == LANES  # each in a bank of its own
    one, own = 116, 180 + turns * SIZE  # the upper edges of the two parts
    drawing = svg.Drawing(
        LEFT + LANES * SIZE + 20,
        own + values * SIZE + 50,
        "One set of counters for all lanes, and a column of counters for each",
        f"{LANES} lanes of a warp count one key each, with values from 0 to {values - 1}. With one set of counters, "
        f"the counter of v is in bank v: {svg.listed(len(lanes) for lanes in waiting[:values])} lanes need the same "
        f"counter, so the request takes {turns} wavefronts. With a column per lane, the counter of v for lane l is "
        "word 32 v + l, in bank l: every lane has a bank for itself, and the request takes one wavefront.",
    )

    def label(y: float, words: str, weight: str = "normal", color: str = theme.MUTED) -> None:
        drawing.text(LEFT - 12, y + 13.5, words, 12, color, "end", weight)

    label(20, "lane")
    label(42, "its key", "bold", theme.INK)
    for lane, key in enumerate(KEYS):
        drawing.text(LEFT + (lane + 0.5) * SIZE, 33.5, str(lane), 10, theme.MUTED)
        small_cell(drawing, lane, 42, key, theme.INK, theme.PAPER)
    for y, words, color in (
        (one, f"one set, in bank v: {turns} wavefronts. A cell is a lane that needs this bank.", theme.ORANGE),
        (
            own,
            "a column for each lane, word 32 v + l: 1 wavefront. A cell is the counter that lane l needs.",
            theme.BLUE,
        ),
    ):
        drawing.text(LEFT, y - 26, words, 13, color, "start", "bold")
        label(y - 20, "bank")
        for bank in range(LANES):
            drawing.text(LEFT + (bank + 0.5) * SIZE, y - 6.5, str(bank), 10, theme.MUTED)
            drawing.line(LEFT + (bank + 0.5) * SIZE, y, LEFT + (bank + 0.5) * SIZE, y + 3, theme.WIRE, 1)
    for bank, lanes in enumerate(waiting):
        for turn, lane in enumerate(lanes):
            small_cell(drawing, bank, one + 5 + turn * SIZE, lane, theme.ORANGE, theme.ORANGE_FILL)
    for turn in range(turns):
        label(one + 5 + turn * SIZE, f"wavefront {turn + 1}")
    for value in range(values):
        label(own + 5 + value * SIZE, f"v = {value}")
        for lane, key in enumerate(KEYS):
            color, fill = (theme.BLUE, theme.BLUE_FILL) if key == value else (theme.RULE, theme.PAPER)
            small_cell(drawing, lane, own + 5 + value * SIZE, "+1" if key == value else "", color, fill)
    words = f"... and so on up to v = 255: 256 words in each of the {LANES} banks, 32 KiB"
    drawing.text(LEFT, own + values * SIZE + 28, words, 12, theme.MUTED, "start")
    return drawing

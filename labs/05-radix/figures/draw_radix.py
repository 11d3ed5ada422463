"""The figures of lab 05, each drawn by the algorithm that it shows."""

from __future__ import annotations

from float_figures import draw_fields, draw_float_order, draw_floats
from phases import draw_partitions, draw_pipeline

from workbook.pictures import svg, theme

CELL, HIGH = 44, 26
FILLS = [
    (theme.BLUE, theme.BLUE_FILL),
    (theme.ORANGE, theme.ORANGE_FILL),
    (theme.TEAL, theme.TEAL_FILL),
    (theme.INK, theme.GREY_FILL),
]


def key_box(drawing: svg.Drawing, x: float, y: float, words: str, color: str, fill: str, size: float = 13) -> None:
    drawing.rect(x, y, CELL - 4, HIGH, fill, color, 4, 1)
    drawing.text(x + (CELL - 4) / 2, y + HIGH / 2 + 4.5, words, size, color)


def draw_lsd() -> svg.Drawing:
    """Eight keys of three decimal digits, pass by pass; the digit that a pass sorts by is highlighted."""
    columns = [[329, 457, 657, 839, 436, 720, 355, 326]]
    for shift in range(3):
        power = 10**shift
        columns.append(sorted(columns[-1], key=lambda key: key // power % 10))  # stable, as each pass must be
    assert columns[-1] == sorted(columns[0])
    pitch, top, gap = 30, 66, 150
    drawing = svg.Drawing(
        60 + 4 * gap,
        top + 8 * pitch + 30,
        "Three passes of a radix sort, the lowest digit first",
        f"The keys {svg.listed(columns[0])}. After the pass by the ones they are {svg.listed(columns[1])}; by the "
        f"tens, {svg.listed(columns[2])}; by the hundreds, {svg.listed(columns[3])}. Keys with equal digits keep "
        "their order, so their lines never cross.",
    )
    titles = ["in", "by the ones", "by the tens", "by the hundreds"]
    for c, keys in enumerate(columns):
        x = 50 + c * gap
        drawing.text(x + 24, 34, titles[c], 13.5, theme.INK, weight="bold")
        for row, key in enumerate(keys):
            y = top + row * pitch
            text = f"{key:03}"
            for d, letter in enumerate(text):
                sorted_by = c > 0 and d == 3 - c
                drawing.rect(x + 16 * d, y - 15, 16, 22, theme.ORANGE_FILL if sorted_by else theme.PAPER)
                drawing.text(
                    x + 16 * d + 8,
                    y + 1,
                    letter,
                    14.5,
                    theme.ORANGE if sorted_by else theme.INK,
                    weight="bold" if sorted_by else "normal",
                )
            if c + 1 < len(columns):
                to = columns[c + 1].index(key)
                drawing.line(
                    x + 54, y - 4, x + gap - 6, top + to * pitch - 4, theme.BLUE if to == row else theme.WIRE, 1.2
                )
    drawing.text(
        50,
        top + 8 * pitch + 12,
        "keys with equal digits keep their order: their lines never cross",
        12.5,
        theme.MUTED,
        "start",
    )
    return drawing


def draw_split() -> svg.Drawing:
    """One split: eight bits, the scan of the ones, and the destination of each key."""
    bits = [1, 0, 1, 1, 0, 0, 1, 0]
    before = [sum(bits[:i]) for i in range(8)]
    zeros = bits.count(0)
    places = [zeros + s if b else i - s for i, (b, s) in enumerate(zip(bits, before))]
    assert sorted(places) == list(range(8))
    left, rows = 150, [30, 70, 110, 150]
    drawing = svg.Drawing(
        left + 8 * CELL + 30,
        268,
        "A split by one bit",
        f"Eight keys with the bits {svg.listed(bits)}, and the number of ones before each, {svg.listed(before)}. "
        f"Keys with bit 0 come first, in their order; keys with bit 1 follow from position {zeros} on, in their "
        f"order. The keys go to positions {svg.listed(places)}.",
    )
    names = ["i", "bit of key i", "s: ones before i", "goes to"]
    for name, y in zip(names, rows):
        drawing.text(left - 14, y + 18, name, 13, theme.MUTED, "end")
    for i in range(8):
        x = left + i * CELL
        color, fill = (theme.ORANGE, theme.ORANGE_FILL) if bits[i] else (theme.BLUE, theme.BLUE_FILL)
        drawing.text(x + 20, rows[0] + 18, str(i), 13, theme.MUTED)
        key_box(drawing, x, rows[1], str(bits[i]), color, fill, 14.5)
        drawing.text(x + 20, rows[2] + 18, str(before[i]), 14)
        drawing.text(x + 20, rows[3] + 18, str(places[i]), 14, color, weight="bold")
        drawing.line(x + 20, 176, left + places[i] * CELL + 20, 214, color, 1.3)
        key_box(drawing, left + places[i] * CELL, 216, str(bits[i]), color, fill, 14.5)
    drawing.text(left - 14, 234, f"z = {zeros} zeros first", 13, theme.BLUE, "end")
    return drawing


def draw_runs() -> svg.Drawing:
    """The keys of a tile by two bits, written at once and after the tile is sorted: the runs of addresses."""
    digits = [2, 0, 3, 1, 0, 2, 2, 1, 3, 0, 1, 2]
    starts = {d: 40 * d for d in range(4)}  # any places far apart
    rank: dict[int, int] = {}
    direct = []
    for digit in digits:
        direct.append(starts[digit] + rank.get(digit, 0))
        rank[digit] = rank.get(digit, 0) + 1
    in_order = sorted(direct)

    def jumps(places: list[int]) -> int:
        return sum(1 for a, b in zip(places, places[1:]) if b != a + 1)

    left, top = 196, 54
    drawing = svg.Drawing(
        left + 12 * CELL + 30,
        236,
        "A tile sorted by digit is written in runs",
        f"The positions to which 12 neighbouring threads write. As the keys come, they are {svg.listed(direct)}, "
        f"with {jumps(direct)} jumps. If the tile is sorted by digit first, they are {svg.listed(in_order)}, with "
        f"{jumps(in_order)} jumps, so neighbouring stores share sectors.",
    )
    order = sorted(range(12), key=lambda i: digits[i])
    for row, (name, indexes, places) in enumerate(
        [("as the keys come", range(12), direct), ("sorted by digit first", order, in_order)]
    ):
        y = top + row * 86
        drawing.text(left - 14, y + 18, name, 13, theme.INK, "end")
        drawing.text(
            left - 14, y + 38, f"{jumps(places)} jumps", 12.5, theme.ORANGE if row == 0 else theme.TEAL, "end", "bold"
        )
        for place, i in enumerate(indexes):
            color, fill = FILLS[digits[i]]
            key_box(drawing, left + place * CELL, y, f"d{digits[i]}", color, fill)
            drawing.text(left + place * CELL + 20, y + 42, str(places[place]), 11, theme.MUTED)
            if place and places[place] == places[place - 1] + 1:
                drawing.line(left + place * CELL - 8, y + 38, left + place * CELL + 4, y + 38, theme.TEAL, 2)
    drawing.text(
        left,
        26,
        "12 neighbouring threads, the digits of their keys and the positions they write to",
        13,
        theme.MUTED,
        "start",
    )
    drawing.text(
        left,
        222,
        "green dash: this position follows its neighbour's, so the stores share sectors",
        12.5,
        theme.TEAL,
        "start",
    )
    return drawing


def draw_look_back() -> svg.Drawing:
    """What tile 5 reads to learn how many keys precede its own, and what each tile has published by then."""
    own = [4, 2, 5, 1, 3, 6]
    known = [True, True, False, False, False, False]  # whether up_to_here has been published
    target, total, steps = 5, 0, []
    for tile in range(target - 1, -1, -1):
        value = sum(own[: tile + 1]) if known[tile] else own[tile]
        total += value
        steps.append((tile, value))
        if known[tile]:
            break
    assert total == sum(own[:target])
    wide, left, top = 104, 110, 74
    drawing = svg.Drawing(
        left + 6 * wide + 20,
        214,
        "Decoupled look-back",
        f"Six tiles with {svg.listed(own)} keys of one digit. Tiles 0 and 1 have published how many keys there are "
        f"up to and including them, the others only their own number. Tile {target} reads back from its neighbour "
        f"to tile {steps[-1][0]} and adds {' + '.join(str(value) for _, value in steps)}: {total} keys come before "
        "its own.",
    )
    for name, y in (("tile", 40), ("own keys", top + 18), ("published", top + 60)):
        drawing.text(left - 16, y, name, 13, theme.MUTED, "end")
    for tile in range(6):
        x = left + tile * wide
        drawing.text(x + 42, 40, str(tile), 14, theme.INK, weight="bold")
        drawing.rect(x, top, 84, 28, theme.PAPER, theme.WIRE, 4)
        drawing.text(x + 42, top + 19, str(own[tile]), 14)
        if tile == target:
            drawing.text(x + 42, top + 62, f"sum: {total}", 13.5, theme.TEAL, weight="bold")
            continue
        color, fill = (theme.BLUE, theme.BLUE_FILL) if known[tile] else (theme.ORANGE, theme.ORANGE_FILL)
        drawing.rect(x, top + 42, 84, 30, fill, color, 4)
        value = sum(own[: tile + 1]) if known[tile] else own[tile]
        drawing.text(x + 42, top + 62, f"{'up to here' if known[tile] else 'tile'} {value}", 12.5, color)
    y = 168
    for tile, _ in steps:
        x = left + tile * wide
        drawing.line(x + 42, y, x + wide + 36, y, theme.TEAL, 1.6)
        drawing.polygon([(x + 40, y), (x + 50, y - 4), (x + 50, y + 4)], theme.TEAL)
    read = " + ".join(str(value) for _, value in steps)
    drawing.text(
        left + target * wide,
        198,
        f"{read} = {total} keys before tile {target}; it ends at the first blue word",
        13,
        theme.TEAL,
        "end",
    )
    return drawing


def figures() -> dict[str, svg.Drawing]:
    return {
        "lsd.svg": draw_lsd(),
        "split.svg": draw_split(),
        "runs.svg": draw_runs(),
        "look-back.svg": draw_look_back(),
        "pipeline.svg": draw_pipeline(),
        "partitions.svg": draw_partitions(),
        "fields.svg": draw_fields(),
        "float-order.svg": draw_float_order(),
        "floats.svg": draw_floats(),
    }

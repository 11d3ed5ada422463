"""The figures of lab 05, each drawn by the algorithm that it shows."""

from __future__ import annotations

import struct

from workbook.pictures import svg

CELL, HIGH = 44, 26
FILLS = [(svg.BLUE, svg.BLUE_FILL), (svg.ORANGE, svg.ORANGE_FILL), (svg.TEAL, svg.TEAL_FILL), (svg.INK, "#eceff3")]


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
    drawing = svg.Drawing(60 + 4 * gap, top + 8 * pitch + 30, "Three passes of a radix sort, the lowest digit first")
    titles = ["in", "by the ones", "by the tens", "by the hundreds"]
    for c, keys in enumerate(columns):
        x = 50 + c * gap
        drawing.text(x + 24, 34, titles[c], 13.5, svg.INK, weight="bold")
        for row, key in enumerate(keys):
            y = top + row * pitch
            text = f"{key:03}"
            for d, letter in enumerate(text):
                sorted_by = c > 0 and d == 3 - c
                drawing.rect(x + 16 * d, y - 15, 16, 22, svg.ORANGE_FILL if sorted_by else svg.PAPER)
                drawing.text(
                    x + 16 * d + 8,
                    y + 1,
                    letter,
                    14.5,
                    svg.ORANGE if sorted_by else svg.INK,
                    weight="bold" if sorted_by else "normal",
                )
            if c + 1 < len(columns):
                to = columns[c + 1].index(key)
                drawing.line(x + 54, y - 4, x + gap - 6, top + to * pitch - 4, svg.BLUE if to == row else svg.WIRE, 1.2)
    drawing.text(
        50,
        top + 8 * pitch + 12,
        "keys with equal digits keep their order: their lines never cross",
        12.5,
        svg.MUTED,
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
    drawing = svg.Drawing(left + 8 * CELL + 30, 268, "A split by one bit")
    names = ["i", "bit of key i", "s: ones before i", "goes to"]
    for name, y in zip(names, rows):
        drawing.text(left - 14, y + 18, name, 13, svg.MUTED, "end")
    for i in range(8):
        x = left + i * CELL
        color, fill = (svg.ORANGE, svg.ORANGE_FILL) if bits[i] else (svg.BLUE, svg.BLUE_FILL)
        drawing.text(x + 20, rows[0] + 18, str(i), 13, svg.MUTED)
        key_box(drawing, x, rows[1], str(bits[i]), color, fill, 14.5)
        drawing.text(x + 20, rows[2] + 18, str(before[i]), 14)
        drawing.text(x + 20, rows[3] + 18, str(places[i]), 14, color, weight="bold")
        drawing.line(x + 20, 176, left + places[i] * CELL + 20, 214, color, 1.3)
        key_box(drawing, left + places[i] * CELL, 216, str(bits[i]), color, fill, 14.5)
    drawing.text(left - 14, 234, f"z = {zeros} zeros first", 13, svg.BLUE, "end")
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
    drawing = svg.Drawing(left + 12 * CELL + 30, 236, "A tile sorted by digit is written in runs")
    order = sorted(range(12), key=lambda i: digits[i])
    for row, (name, indexes, places) in enumerate(
        [("as the keys come", range(12), direct), ("sorted by digit first", order, in_order)]
    ):
        y = top + row * 86
        drawing.text(left - 14, y + 18, name, 13, svg.INK, "end")
        drawing.text(
            left - 14, y + 38, f"{jumps(places)} jumps", 12.5, svg.ORANGE if row == 0 else svg.TEAL, "end", "bold"
        )
        for place, i in enumerate(indexes):
            color, fill = FILLS[digits[i]]
            key_box(drawing, left + place * CELL, y, f"d{digits[i]}", color, fill)
            drawing.text(left + place * CELL + 20, y + 42, str(places[place]), 11, svg.MUTED)
            if place and places[place] == places[place - 1] + 1:
                drawing.line(left + place * CELL - 8, y + 38, left + place * CELL + 4, y + 38, svg.TEAL, 2)
    drawing.text(
        left,
        26,
        "12 neighbouring threads, the digits of their keys and the positions they write to",
        13,
        svg.MUTED,
        "start",
    )
    drawing.text(
        left,
        222,
        "green dash: this position follows its neighbour's, so the stores share sectors",
        12.5,
        svg.TEAL,
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
    drawing = svg.Drawing(left + 6 * wide + 20, 214, "Decoupled look-back")
    for name, y in (("tile", 40), ("own keys", top + 18), ("published", top + 60)):
        drawing.text(left - 16, y, name, 13, svg.MUTED, "end")
    for tile in range(6):
        x = left + tile * wide
        drawing.text(x + 42, 40, str(tile), 14, svg.INK, weight="bold")
        drawing.rect(x, top, 84, 28, svg.PAPER, svg.WIRE, 4)
        drawing.text(x + 42, top + 19, str(own[tile]), 14)
        if tile == target:
            drawing.text(x + 42, top + 62, f"sum: {total}", 13.5, svg.TEAL, weight="bold")
            continue
        color, fill = (svg.BLUE, svg.BLUE_FILL) if known[tile] else (svg.ORANGE, svg.ORANGE_FILL)
        drawing.rect(x, top + 42, 84, 30, fill, color, 4)
        value = sum(own[: tile + 1]) if known[tile] else own[tile]
        drawing.text(x + 42, top + 62, f"{'up to here' if known[tile] else 'tile'} {value}", 12.5, color)
    y = 168
    for tile, _ in steps:
        x = left + tile * wide
        drawing.line(x + 42, y, x + wide + 36, y, svg.TEAL, 1.6)
        drawing.polygon([(x + 40, y), (x + 50, y - 4), (x + 50, y + 4)], svg.TEAL)
    read = " + ".join(str(value) for _, value in steps)
    drawing.text(
        left + target * wide,
        198,
        f"{read} = {total} keys before tile {target}; it ends at the first blue word",
        13,
        svg.TEAL,
        "end",
    )
    return drawing


def float_bits(value: float) -> int:
    """The 32 bits of a float."""
    bits: int = struct.unpack("<I", struct.pack("<f", value))[0]
    return bits


def ordered_bits(value: float) -> int:
    """The 32 bits that sort as the float does: all inverted if it is negative, else the sign bit only."""
    bits = float_bits(value)
    if bits == 1 << 31:
        bits = 0
    return ~bits & 0xFFFFFFFF if bits >> 31 else bits | 1 << 31


def float_of(bits: int) -> float:
    """The float with these 32 bits."""
    value: float = struct.unpack("<f", struct.pack("<I", bits))[0]
    return value


def reading(bits: int) -> str:
    """What the fields of a float say, in binary scientific notation."""
    sign, exponent, fraction = bits >> 31, bits >> 23 & 0xFF, bits & 0x7FFFFF
    digits = f"{fraction:023b}".rstrip("0")
    shown = digits if len(digits) < 9 else digits[:6] + "..."
    if exponent == 255:
        return ("-" if sign else "+") + "infinity" if fraction == 0 else "not a number"
    if exponent == 0:
        return ("-" if sign else "+") + (f"0.{shown} * 2^-126" if fraction else "0")
    value = (1 + fraction / 2**23) * 2.0 ** (exponent - 127)
    assert (-value if sign else value) == float_of(bits)
    return ("-" if sign else "+") + f"1.{shown or '0'} * 2^{exponent - 127}"


def draw_fields() -> svg.Drawing:
    """The three fields of some floats."""
    rows = [
        ("1", float_bits(1)),
        ("-6.5", float_bits(-6.5)),
        ("0.1, rounded", float_bits(0.1)),
        ("2^-126, smallest normal", 1 << 23),
        ("2^-127, a denormal", float_bits(2.0**-127)),
        ("-0", 1 << 31),
        ("infinity", 0xFF << 23),
        ("a NaN", 0x7FC00000),
    ]
    left, top, wide, pitch, gap = 196, 62, 14, 32, 8
    fields = [("sign", 0, 1, svg.ORANGE, svg.ORANGE_FILL), ("exponent", 1, 9, svg.BLUE, svg.BLUE_FILL)]
    fields.append(("fraction", 9, 32, svg.TEAL, svg.TEAL_FILL))
    drawing = svg.Drawing(left + 32 * wide + 2 * gap + 206, top + pitch * len(rows) + 8, "The fields of a float")
    for field, (name, begin, end, color, fill) in enumerate(fields):
        x = left + begin * wide + field * gap
        drawing.text(x + (end - begin) * wide / 2, 28, name, 13.5, color, weight="bold")
        drawing.text(x + (end - begin) * wide / 2, 45, f"{end - begin} bit{'s' * (end > begin + 1)}", 11.5, svg.MUTED)
        for row, (_, bits) in enumerate(rows):
            y = top + row * pitch
            for i in range(begin, end):
                drawing.rect(left + i * wide + field * gap, y - 15, wide - 1, 22, fill)
                drawing.text(
                    left + i * wide + field * gap + wide / 2 - 0.5, y + 1, str(bits >> (31 - i) & 1), 12, color
                )
    drawing.text(left + 32 * wide + 2 * gap + 12, 28, "value, in binary digits", 13.5, svg.INK, "start", "bold")
    for row, (name, bits) in enumerate(rows):
        y = top + row * pitch
        drawing.text(left - 12, y + 1, name, 13, svg.INK, "end")
        drawing.text(left + 32 * wide + 2 * gap + 12, y + 1, reading(bits), 13, svg.INK, "start")
    return drawing


def draw_float_order() -> svg.Drawing:
    """The kinds of floats in the order of their bits and in the order of their values. Not to scale."""
    kinds = [("0", 0, 0), ("denormals", 1, 0x7FFFFF), ("normal numbers", 1 << 23, 0x7F7FFFFF)]
    kinds += [("inf", 0xFF << 23, 0xFF << 23), ("NaNs", (0xFF << 23) + 1, 0x7FFFFFFF)]
    widths = {"0": 34, "denormals": 74, "normal numbers": 124, "inf": 40, "NaNs": 54}
    regions = [(kind, first | sign << 31, last | sign << 31) for sign in (0, 1) for kind, first, last in kinds]
    assert all(a[2] + 1 == b[1] for a, b in zip(regions, regions[1:]))  # they are all patterns, in their order

    def turned(bits: int) -> int:
        return ~bits & 0xFFFFFFFF if bits >> 31 else bits | 1 << 31

    by_value = sorted(regions, key=lambda region: min(turned(region[1]), turned(region[2])))
    numbers = [float_of(region[1]) for region in by_value if region[0] != "NaNs"]
    assert numbers == sorted(numbers)
    left, high, gap, upper, lower = 24, 34, 3, 62, 176
    total = 2 * sum(widths.values()) + 9 * gap
    drawing = svg.Drawing(left + total + 24, 268, "Floats in the order of their bits and in the order of their values")
    drawing.text(left, 26, "in the order of their bits, read as unsigned integers", 13.5, svg.INK, "start", "bold")
    drawing.text(
        left,
        258,
        "after the inversions: in the order of their values",
        13.5,
        svg.INK,
        "start",
        "bold",
    )
    middles = {}
    for strip, (y, order) in enumerate(((upper, regions), (lower, by_value))):
        x = float(left)
        for kind, first, last in order:
            wide, negative = widths[kind], first >> 31
            color, fill = (svg.ORANGE, svg.ORANGE_FILL) if negative else (svg.BLUE, svg.BLUE_FILL)
            sign = "" if kind in ("denormals", "normal numbers", "NaNs") else "-" if negative else "+"
            drawing.rect(x, y, wide, high, fill, color, 4, 1)
            drawing.text(x + wide / 2, y + 21, sign + kind, 12.5, color)
            middles[strip, first] = x + wide / 2
            bits = first if strip == 0 else min(turned(first), turned(last))
            if kind in ("0", "normal numbers", "NaNs"):
                drawing.text(x + 1, y - 7 if strip == 0 else y + high + 15, f"{bits:08x}", 10.5, svg.MUTED, "start")
            x += wide + gap
    for _, first, _ in regions:
        color = svg.ORANGE if first >> 31 else svg.BLUE
        drawing.line(middles[0, first], upper + high + 3, middles[1, first], lower - 3, color, 1.2)
    return drawing


def draw_floats() -> svg.Drawing:
    """Floats, their bits, and the bits that are sorted."""
    values = [float("-inf"), -2.0, -0.5, 0.0, 2.0**-149, 0.5, 2.0, float("inf")]
    turned = [ordered_bits(v) for v in values]
    assert turned == sorted(turned)
    drawing = svg.Drawing(640, 74 + 30 * len(values), "Floats as unsigned integers of the same order")
    for x, name in ((110, "float"), (270, "its bits"), (480, "sorted as")):
        drawing.text(x, 34, name, 13.5, svg.INK, weight="bold")
    for row, value in enumerate(values):
        y = 66 + 30 * row
        bits = float_bits(value)
        negative = bits >> 31
        drawing.text(110, y, f"{value:g}", 14)
        drawing.text(270, y, f"{bits:08x}", 14, svg.MUTED)
        drawing.text(480, y, f"{turned[row]:08x}", 14, svg.ORANGE if negative else svg.BLUE, weight="bold")
        drawing.text(
            375, y, "all bits inverted" if negative else "sign bit inverted", 11, svg.ORANGE if negative else svg.BLUE
        )
    return drawing


def draw_partitions() -> svg.Drawing:
    """The keys of draw_lsd, the highest digit first: buckets get smaller until one is sorted by itself."""
    tiles = [[329, 457, 657, 839], [436, 720, 355, 326]]
    columns = [sum(tiles, [])]
    # Lanes and tiles claim places in any order, here the last one first: within a bucket, it does not matter.
    columns.append(sorted(tiles[1] + tiles[0], key=lambda key: key // 100))
    claimed = list(reversed(columns[-1]))
    columns.append(sorted(claimed, key=lambda key: key // 10))
    columns.append(sorted(columns[0]))
    assert columns[2] != columns[3]  # something is left to sort
    pitch, top, gap = 30, 66, 150
    drawing = svg.Drawing(
        60 + 4 * gap, top + 8 * pitch + 30, "Two partitions, the highest digit first, and the sort of each bucket"
    )
    titles = ["in", "by the hundreds", "by the tens", "each bucket sorted"]
    for c, keys in enumerate(columns):
        x = 50 + c * gap
        drawing.text(x + 24, 34, titles[c], 13.5, svg.INK, weight="bold")
        buckets = [key // (1, 100, 10, 10)[c] if c else 0 for key in keys]
        for bucket in dict.fromkeys(buckets):
            first, count = buckets.index(bucket), buckets.count(bucket)
            drawing.rect(x - 6, top + first * pitch - 19, 60, count * pitch - 2, svg.PAPER, svg.BLUE, 5, 1)
        for row, key in enumerate(keys):
            y = top + row * pitch
            for d, letter in enumerate(f"{key:03}"):
                seen = c > 0 and (d < c or c == 3)
                drawing.text(
                    x + 16 * d + 8,
                    y + 1,
                    letter,
                    14.5,
                    svg.ORANGE if seen else svg.INK,
                    weight="bold" if seen else "normal",
                )
            if c + 1 < len(columns):
                to = columns[c + 1].index(key)
                drawing.line(
                    x + 58, y - 4, x + gap - 10, top + to * pitch - 4, svg.BLUE if to == row else svg.WIRE, 1.2
                )
    words = "a frame is a bucket: keys in it are in any order, and none of them leaves it"
    drawing.text(50, top + 8 * pitch + 12, words, 12.5, svg.MUTED, "start")
    return drawing


def draw_pipeline() -> svg.Drawing:
    """What a block of step 05 does with two tiles, and what is in flight meanwhile."""
    phases = (("count", 2), ("publish", 2), ("rank, scatter", 4), ("look back", 3), ("store", 3))
    length = sum(wide for _, wide in phases)
    unit, left, high = 25, 96, 30
    drawing = svg.Drawing(left + unit * 2 * length + 16, 160, "The phases of two tiles, and what overlaps with them")
    for row, (name, y) in enumerate((("the block", 42), ("loads", 78), ("other tiles", 114))):
        drawing.text(left - 10, y + 20, name, 13, svg.INK, "end", "bold" if row == 0 else "normal")
    for tile in (0, 1):
        x = left + tile * unit * length
        color, fill = FILLS[tile]
        drawing.text(x + 2, 30, f"tile {'A' if tile == 0 else 'B'}", 13, color, "start", "bold")
        for name, wide in phases:
            drawing.rect(x, 42, unit * wide - 2, high, fill, color, 3, 1)
            drawing.text(x + unit * wide / 2 - 1, 61, name, 10.5, color)
            x += unit * wide
    ranked = left + unit * 8
    for start, end, y, words, index in (
        (ranked, left + unit * length, 78, "keys of tile B", 1),
        (left + unit * 4, ranked, 114, "publish counts", 2),
        (left + unit * (length + 8), left + unit * 2 * length, 78, "keys of tile C", 2),
        (left + unit * (length + 4), left + unit * (length + 8), 114, "publish counts", 2),
    ):
        color, fill = FILLS[index]
        drawing.rect(start, y, end - start - 2, high, fill, color, 3, 1)
        drawing.text((start + end) / 2 - 1, y + 19, words, 10.5, color)
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

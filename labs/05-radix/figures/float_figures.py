"""The figures of lab 05 about floats: their bits, and the integers that sort as they do."""

from __future__ import annotations

import struct

from workbook.pictures import svg, theme


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
    left, top, wide, pitch, gap = 182, 70, 14, 32, 8
    fields = [("sign", 0, 1, theme.ORANGE, theme.ORANGE_FILL), ("exponent", 1, 9, theme.BLUE, theme.BLUE_FILL)]
    fields.append(("fraction", 9, 32, theme.TEAL, theme.TEAL_FILL))
    drawing = svg.Drawing(
        left + 32 * wide + 2 * gap + 170,
        top + pitch * len(rows) + 8,
        "The fields of a float",
        "The 32 bits of eight floats, divided into one sign bit, 8 bits of exponent and 23 bits of fraction, with "
        "the value that they stand for: " + svg.listed(f"{name} is {reading(bits)}" for name, bits in rows) + ".",
    )
    for field, (name, begin, end, color, fill) in enumerate(fields):
        x = left + begin * wide + field * gap
        drawing.text(x + (end - begin) * wide / 2, 28, name, 13.5, color, weight="bold")
        drawing.text(x + (end - begin) * wide / 2, 45, f"{end - begin} bit{'s' * (end > begin + 1)}", 11.5, theme.MUTED)
        for row, (_, bits) in enumerate(rows):
            y = top + row * pitch
            for i in range(begin, end):
                drawing.rect(left + i * wide + field * gap, y - 15, wide - 1, 22, fill)
                drawing.text(
                    left + i * wide + field * gap + wide / 2 - 0.5, y + 1, str(bits >> (31 - i) & 1), 12, color
                )
    drawing.text(left + 32 * wide + 2 * gap + 12, 28, "value, in binary digits", 13.5, theme.INK, "start", "bold")
    for row, (name, bits) in enumerate(rows):
        y = top + row * pitch
        drawing.text(left - 12, y + 1, name, 13, theme.INK, "end")
        drawing.text(left + 32 * wide + 2 * gap + 12, y + 1, reading(bits), 13, theme.INK, "start")
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
    drawing = svg.Drawing(
        left + total + 24,
        268,
        "Floats in the order of their bits and in the order of their values",
        "Two strips with the kinds of floats: zeros, denormals, normal numbers, infinities and NaNs. In the order "
        "of their bits the positive ones come first and the negative ones follow, the largest magnitude last. "
        "After the inversions the order is that of their values, from negative NaNs and minus infinity to infinity "
        "and positive NaNs: the negative half is turned round and comes first.",
    )
    drawing.text(left, 26, "in the order of their bits, read as unsigned integers", 13.5, theme.INK, "start", "bold")
    drawing.text(
        left,
        258,
        "after the inversions: in the order of their values",
        13.5,
        theme.INK,
        "start",
        "bold",
    )
    middles = {}
    for strip, (y, order) in enumerate(((upper, regions), (lower, by_value))):
        x = float(left)
        for kind, first, last in order:
            wide, negative = widths[kind], first >> 31
            color, fill = (theme.ORANGE, theme.ORANGE_FILL) if negative else (theme.BLUE, theme.BLUE_FILL)
            sign = "" if kind in ("denormals", "normal numbers", "NaNs") else "-" if negative else "+"
            drawing.rect(x, y, wide, high, fill, color, 4, 1)
            drawing.text(x + wide / 2, y + 21, sign + kind, 12.5, color)
            middles[strip, first] = x + wide / 2
            bits = first if strip == 0 else min(turned(first), turned(last))
            if kind in ("0", "normal numbers", "NaNs"):
                drawing.text(x + 1, y - 7 if strip == 0 else y + high + 15, f"{bits:08x}", 10.5, theme.MUTED, "start")
            x += wide + gap
    for _, first, _ in regions:
        color = theme.ORANGE if first >> 31 else theme.BLUE
        drawing.line(middles[0, first], upper + high + 3, middles[1, first], lower - 3, color, 1.2)
    return drawing


def draw_floats() -> svg.Drawing:
    """Floats, their bits, and the bits that are sorted."""
    values = [float("-inf"), -2.0, -0.5, 0.0, 2.0**-149, 0.5, 2.0, float("inf")]
    turned = [ordered_bits(v) for v in values]
    assert turned == sorted(turned)
    drawing = svg.Drawing(
        640,
        74 + 30 * len(values),
        "Floats as unsigned integers of the same order",
        "A table of floats, their bits, and the bits as which they are sorted: "
        + "; ".join(f"{value:g}, {float_bits(value):08x}, {bits:08x}" for value, bits in zip(values, turned))
        + ". All bits of negative floats are inverted, and only the sign bit of the others.",
    )
    for x, name in ((110, "float"), (270, "its bits"), (480, "sorted as")):
        drawing.text(x, 34, name, 13.5, theme.INK, weight="bold")
    for row, value in enumerate(values):
        y = 66 + 30 * row
        bits = float_bits(value)
        negative = bits >> 31
        drawing.text(110, y, f"{value:g}", 14)
        drawing.text(270, y, f"{bits:08x}", 14, theme.MUTED)
        drawing.text(480, y, f"{turned[row]:08x}", 14, theme.ORANGE if negative else theme.BLUE, weight="bold")
        drawing.text(
            375,
            y,
            "all bits inverted" if negative else "sign bit inverted",
            11,
            theme.ORANGE if negative else theme.BLUE,
        )
    return drawing

"""The figure of lab 01 that counts: operations against n."""

from __future__ import annotations

import math
from collections.abc import Callable

from workbook.pictures import svg, theme

MAX_N = 65536  # the largest n on the axis


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
        for i in range(phase % 2, n - 1, 2):
            comparisons += 1
            if keys[i + 1] < keys[i]:
                keys[i], keys[i + 1] = keys[i + 1], keys[i]
    assert keys == sorted(keys)
    return bubble, comparisons, phases


def draw_work() -> svg.Drawing:
    """Comparisons and steps against n: the dots are counted, the lines are formulas."""
    width, height, left, top = 470, 400, 84, 62
    most_x, most_y = math.log2(MAX_N), 10
    drawing = svg.Drawing(
        left + width + 256,
        top + height + 62,
        "Comparisons and steps of bubble sort and odd-even sort",
        f"Numbers of operations against n, both logarithmic, up to n = {MAX_N:,}. Both sorts make n (n - 1) / 2 "
        f"comparisons, {MAX_N * (MAX_N - 1) // 2:,} at the right end; bubble sort takes as many steps, odd-even "
        "sort n phases. Below, the n log2 n comparisons of merge sort and the stages of bitonic sort.",
    )

    def x(n: float) -> float:
        return left + width * math.log2(n) / most_x

    def y(count: float) -> float:
        return top + height - height * math.log10(count) / most_y

    for power in range(most_y + 1):
        drawing.line(left, y(10**power), left + width, y(10**power), theme.RULE, 1)
        if power % 2 == 0:
            words = {0: "1", 2: "100", 4: "10 thousand", 6: "1 million", 8: "100 million", 10: "10 billion"}[power]
            drawing.text(left - 10, y(10**power) + 4.5, words, 11.5, theme.MUTED, "end")
    for power in range(0, int(most_x) + 1, 2):
        n = 2**power
        drawing.line(x(n), top, x(n), top + height, theme.RULE, 1)
        drawing.text(x(n), top + height + 20, f"{n:,}", 11.5, theme.MUTED)
    drawing.text(left + width / 2, top + height + 44, "n, keys", 13, theme.INK)
    drawing.text(left - 70, top - 34, "operations to sort n keys", 13, theme.INK, "start")
    drawing.text(left - 70, top - 16, "dots: counted; lines: formulas", 11.5, theme.MUTED, "start")

    def curve(count: Callable[[float], float], color: str, width: float = 2.2, dash: str = "") -> None:
        points = [(x(2 ** (p / 4)), y(count(2 ** (p / 4)))) for p in range(4, int(4 * most_x) + 1)]
        for (x1, y1), (x2, y2) in zip(points, points[1:]):
            drawing.line(x1, y1, x2, y2, color, width, dash)

    curve(lambda n: n * (n - 1) / 2, theme.ORANGE)
    curve(lambda n: n, theme.BLUE)
    curve(lambda n: n * math.log2(n), theme.WIRE, 1.6)
    curve(lambda n: math.log2(n) * (math.log2(n) + 1) / 2, theme.WIRE, 1.6)
    for power in range(1, 11):
        n = 2**power
        bubble, comparisons, phases = counted(n)
        assert bubble == comparisons == n * (n - 1) // 2 and phases == n
        drawing.dot(x(n), y(comparisons), 3.6, theme.ORANGE)
        drawing.dot(x(n), y(phases), 3.6, theme.BLUE)
    n = MAX_N
    labels = [
        (
            n * (n - 1) / 2,
            0,
            theme.ORANGE,
            ["comparisons of both sorts, and", "steps of bubble sort:", "n (n - 1) / 2"],
        ),
        (n * math.log2(n), -6, theme.MUTED, ["comparisons of merge sort", "(lab 02): n log2 n"]),
        (n, 6, theme.BLUE, ["phases of odd-even sort: n"]),
        (most_x * (most_x + 1) / 2, 0, theme.MUTED, ["stages of bitonic sort", "(lab 03)"]),
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
                "normal" if color == theme.MUTED else "bold",
            )
    return drawing

"""The figure of lab 02 that has no keys: how many merges each level has, and who does them."""

from __future__ import annotations

from workbook.pictures import svg, theme


def draw_regimes(logs: int = 6) -> svg.Drawing:
    """The levels of 2^logs runs: the number of merges, their length, and which threads do them."""
    w = 420
    left, top, row = 110, 60, 44
    drawing = svg.Drawing(
        left + w + 190,
        top + logs * row + 26,
        "Many short merges, few long ones",
        f"{logs} levels of a merge sort, with {svg.listed(1 << logs - 1 - level for level in range(logs))} merges. "
        "In the first levels one thread per merge has enough to do, in the middle ones one block per merge, and in "
        "the last ones many blocks share a merge.",
    )
    drawing.text(
        24, 30, "each row is a level: the same n keys in fewer and longer merges", 14.5, theme.INK, "start", "bold"
    )
    for level in range(logs):
        y = top + level * row
        merges = 1 << (logs - 1 - level)
        for i in range(merges):
            x, length = left + i * w / merges, w / merges
            drawing.rect(x + 1, y, length / 2 - 1, 26, theme.BLUE_FILL, theme.BLUE, 2)
            drawing.rect(x + length / 2, y, length / 2 - 1, 26, theme.ORANGE_FILL, theme.ORANGE, 2)
        name = f"{merges} merges" if merges > 1 else "1 merge"
        drawing.text(left - 14, y + 18, name, 12.5, theme.MUTED, "end")
    for first, rows, words in (
        (0, 2, ("many short:", "one thread per merge")),
        (2, 2, ("in between:", "one block per merge")),
        (4, 2, ("few long:", "many blocks per merge")),
    ):
        y1, y2 = top + first * row, top + (first + rows) * row - 18
        x = left + w + 16
        drawing.line(x, y1, x, y2, theme.TEAL, 2.5)
        drawing.text(x + 12, (y1 + y2) / 2 - 2, words[0], 12.5, theme.TEAL, "start", "bold")
        drawing.text(x + 12, (y1 + y2) / 2 + 15, words[1], 12.5, theme.TEAL, "start")
    return drawing

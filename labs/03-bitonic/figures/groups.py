"""The figure of step 05 of lab 03: which threads of a block sort which segment."""

from __future__ import annotations

from workbook.pictures import svg, theme

THREADS, WARP, ITEMS = 128, 32, 32  # of a block, of a warp, and the words of a thread
LENGTHS = (128, 512, 1024, 4096)
CELL, H, LEFT, TOP, RIGHT = 4, 30, 126, 62, 120


def draw_groups() -> svg.Drawing:
    """A row per length: the 128 threads of a block, coloured by the segment that they sort."""
    drawing = svg.Drawing(
        LEFT + THREADS * CELL + RIGHT,
        TOP + len(LENGTHS) * (H + 12) + 24,
        "Step 05: the groups of threads of a block",
        f"The {THREADS} threads of a block in {THREADS // WARP} warps, and how they are divided among segments. "
        + "; ".join(f"{length:,} keys take {length // ITEMS} threads" for length in LENGTHS)
        + f". Each thread holds {ITEMS} keys.",
    )
    drawing.text(LEFT - 14, TOP - 14, "keys per segment", 11, theme.MUTED, "end")
    for warp in range(THREADS // WARP):
        x = LEFT + (warp + 0.5) * WARP * CELL
        drawing.text(x, TOP - 14, f"warp {warp}", 11, theme.MUTED)
    for row, length in enumerate(LENGTHS):
        threads = length // ITEMS
        y = TOP + row * (H + 12)
        drawing.text(LEFT - 14, y + H / 2 + 5, f"{length:,}", 13, theme.INK, "end")
        for group in range(THREADS // threads):
            fill, stroke = ((theme.TEAL_FILL, theme.TEAL), (theme.BLUE_FILL, theme.BLUE))[group % 2]
            x = LEFT + group * threads * CELL
            drawing.rect(x + 0.5, y, threads * CELL - 1, H, fill, stroke, 2)
            if threads >= WARP // 2:
                drawing.text(x + threads * CELL / 2, y + H / 2 + 5, f"{threads} threads", 12, stroke)
        if threads < WARP // 2:  # too narrow for words
            drawing.text(LEFT + THREADS * CELL + 8, y + H / 2 + 5, f"{threads} threads each", 12, theme.TEAL, "start")
    y = TOP + len(LENGTHS) * (H + 12) + 8
    words = f"4 threads sort a segment of 128 keys, {ITEMS} words each; 32 segments per block"
    drawing.text(LEFT, y, words, 12, theme.MUTED, "start")
    for warp in range(1, THREADS // WARP):
        x = LEFT + warp * WARP * CELL
        drawing.line(x, TOP - 8, x, y - H - 28, theme.INK, 1, "4 3")  # not through the words of the last row
    return drawing

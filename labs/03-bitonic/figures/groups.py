"""The figure of step 05 of lab 03: which threads of a block sort which segment."""

from __future__ import annotations

from workbook.pictures import svg

THREADS, WARP, ITEMS = 128, 32, 32  # of a block, of a warp, and the words of a thread
LENGTHS = (128, 512, 1024, 4096)
CELL, H, LEFT, TOP, RIGHT = 5, 30, 126, 62, 120


def draw_groups() -> svg.Drawing:
    """A row per length: the 128 threads of a block, coloured by the segment that they sort."""
    drawing = svg.Drawing(
        LEFT + THREADS * CELL + RIGHT, TOP + len(LENGTHS) * (H + 12) + 24, "Step 05: the groups of threads of a block"
    )
    drawing.text(LEFT - 14, TOP - 14, "keys per segment", 11, svg.MUTED, "end")
    for warp in range(THREADS // WARP):
        x = LEFT + (warp + 0.5) * WARP * CELL
        drawing.text(x, TOP - 14, f"warp {warp}", 11, svg.MUTED)
    for row, length in enumerate(LENGTHS):
        threads = length // ITEMS
        y = TOP + row * (H + 12)
        drawing.text(LEFT - 14, y + H / 2 + 5, f"{length:,}", 13, svg.INK, "end")
        for group in range(THREADS // threads):
            fill, stroke = ((svg.TEAL_FILL, svg.TEAL), (svg.BLUE_FILL, svg.BLUE))[group % 2]
            x = LEFT + group * threads * CELL
            drawing.rect(x + 0.5, y, threads * CELL - 1, H, fill, stroke, 2)
            if threads >= WARP // 2:
                drawing.text(x + threads * CELL / 2, y + H / 2 + 5, f"{threads} threads", 12, stroke)
        if threads < WARP // 2:  # too narrow for words
            drawing.text(LEFT + THREADS * CELL + 8, y + H / 2 + 5, f"{threads} threads each", 12, svg.TEAL, "start")
    y = TOP + len(LENGTHS) * (H + 12) + 8
    words = f"4 threads sort a segment of 128 keys, {ITEMS} words each; 32 segments per block"
    drawing.text(LEFT, y, words, 12, svg.MUTED, "start")
    for warp in range(1, THREADS // WARP):
        x = LEFT + warp * WARP * CELL
        drawing.line(x, TOP - 8, x, y - 16, svg.INK, 1, "4 3")
    return drawing

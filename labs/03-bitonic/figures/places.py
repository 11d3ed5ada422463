"""The figure of step 04 of lab 03: through which memory the keys of each stage come together."""

from __future__ import annotations

from workbook.pictures import svg, theme

ITEMS_LOG, TILE_LOG, STRIDED_LOG, SHUFFLED_LOG = 5, 13, 5, 1  # of bitonic.h, 04_record.cu and tile_network.cuh
W, H, LEFT, TOP = 36, 20, 92, 104
COLORS = {  # the letter is for those who do not tell the colours apart
    "in registers": ("r", theme.TEAL, theme.TEAL_FILL),
    "by shuffles": ("s", theme.BLUE, theme.BLUE_FILL),
    "in registers, after an exchange through shared memory": ("x", theme.INK, theme.GREY_FILL),
    "in registers, in a strided pass over memory": ("m", theme.ORANGE, theme.ORANGE_FILL),
}
REGISTERS, SHUFFLES, SHARED, STRIDED = COLORS


def place(merge: int, stride: int) -> str:
    """Where the stage with the stride 2^stride of the merge to runs of 2^merge keys runs. (Its mirror stage, the first
    of the merge, counts as the longest stride.)"""
    if merge > TILE_LOG:
        if stride >= merge - STRIDED_LOG:
            return STRIDED
        return SHARED if stride >= 5 else SHUFFLES  # striped: lanes have neighbours, and a thread every 32nd key
    if merge > ITEMS_LOG + SHUFFLED_LOG and stride >= merge - ITEMS_LOG:
        return SHARED  # columns
    return SHUFFLES if stride >= ITEMS_LOG else REGISTERS


def draw_places(n_log: int) -> svg.Drawing:
    """The triangle of all stages: a row per merge, a cell per stage."""
    assert TILE_LOG < n_log <= TILE_LOG + STRIDED_LOG  # one strided pass per merge
    stages = [place(merge, stride) for merge in range(1, n_log + 1) for stride in range(merge)]
    numbers = "; ".join(f"{stages.count(words)} stages run {words}" for words in COLORS)
    drawing = svg.Drawing(
        LEFT + n_log * W + 40,
        TOP + n_log * H + 24,
        f"Step 04: how the keys of each stage of 2^{n_log} keys meet",
        f"A triangle of stages, a row per merge and a column per stride, up to runs of {1 << n_log} keys. "
        f"{numbers}. Long strides are the first stages of a merge: they need shared memory, and in the merges "
        f"beyond {1 << TILE_LOG} keys global memory. Short strides need neither.",
    )
    for i, (words, (letter, color, fill)) in enumerate(COLORS.items()):
        drawing.rect(LEFT, 8 + i * 18, 14, 13, fill, color)
        drawing.text(LEFT + 7, 18 + i * 18, letter, 11, color)
        drawing.text(LEFT + 20, 18 + i * 18, words, 12, color, "start")
    for stride in range(n_log):
        drawing.text(LEFT + (n_log - 1 - stride) * W + W / 2, TOP - 8, str(1 << stride), 10, theme.MUTED)
    drawing.text(LEFT - 10, TOP - 8, "stride", 11, theme.MUTED, "end")
    for merge in range(1, n_log + 1):
        y = TOP + (merge - 1) * H
        drawing.text(LEFT - 10, y + H / 2 + 4, f"run = {1 << merge}", 10.5, theme.MUTED, "end")
        for stride in range(merge):
            letter, color, fill = COLORS[place(merge, stride)]
            drawing.rect(LEFT + (n_log - 1 - stride) * W, y, W, H, fill, theme.PAPER, 0, 1)
            drawing.text(LEFT + (n_log - 0.5 - stride) * W, y + H / 2 + 4, letter, 11, color)
    return drawing

"""The figure of step 03 of lab 03: which stages share a launch."""

from __future__ import annotations

from bitonic_networks import launches

from workbook.pictures import svg, theme

TILE_KEYS = 1024  # bitonic::tile_keys of labs/03-bitonic/bitonic.h


def draw_launches(n_log: int) -> svg.Drawing:
    """The triangle of all stages of step 03: a row per merge, a cell per stage, joined per launch."""
    tile_log = TILE_KEYS.bit_length() - 1
    plan = launches(tile_log, n_log)
    assert sum(len(cells) for _, cells in plan) == n_log * (n_log + 1) // 2
    m = n_log - tile_log
    assert len(plan) == 1 + m + m * (m + 1) // 2  # the contract in labs/03-bitonic/bitonic.h
    w, h, left, top = 40, 22, 96, 72
    colors = {
        "tile": (theme.TEAL, theme.TEAL_FILL),
        "merge": (theme.BLUE, theme.BLUE_FILL),
        "mirror": (theme.ORANGE, theme.ORANGE_FILL),
        "global": (theme.ORANGE, theme.ORANGE_FILL),
    }
    drawing = svg.Drawing(
        left + n_log * w + 40,
        top + n_log * h + 34,
        f"Step 03: which stages of 2^{n_log} keys run in which launch",
        f"A triangle of {n_log * (n_log + 1) // 2} stages, a row per merge and a column per stride. The first "
        f"{tile_log} merges are one launch, which sorts every tile of {TILE_KEYS} keys in shared memory. Each later "
        f"merge takes a launch for every stride of {TILE_KEYS} or more, and one for all smaller strides: "
        f"{len(plan)} launches in all.",
    )

    # Columns end at the right edge with stride 1, so that equal strides lie in one column.
    def cell_x(merge: int, stage: int) -> float:
        return left + (n_log - merge + stage) * w

    def cell_y(merge: int) -> float:
        return top + (merge - 1) * h

    for stride_log in range(n_log):
        x = left + (n_log - 1 - stride_log) * w + w / 2
        drawing.text(x, top - 12, str(1 << stride_log), 10.5, theme.MUTED)
    drawing.text(left - 10, top - 12, "stride j", 12, theme.MUTED, "end")
    for kind, cells in plan:
        color, fill = colors[kind]
        if kind == "tile":
            for merge, stage in cells:
                drawing.rect(cell_x(merge, stage), cell_y(merge), w, h, fill, color, 0, 0.5)
            continue
        x1, x2 = cell_x(*cells[0]), cell_x(*cells[-1]) + w
        drawing.rect(x1 + 1.5, cell_y(cells[0][0]) + 2, x2 - x1 - 3, h - 4, fill, color, 4, 1.4)
        words = {"mirror": "mirror", "global": "global", "merge": "one launch in shared memory"}[kind]
        drawing.text((x1 + x2) / 2, cell_y(cells[0][0]) + h / 2 + 4, words, 10.5 if kind != "merge" else 12, color)
    outline = []  # one launch for the whole lower triangle
    for merge in range(1, tile_log + 1):
        outline += [
            (cell_x(merge, 0) + 1.5, cell_y(merge) + (1.5 if merge == 1 else 0)),
            (cell_x(merge, 0) + 1.5, cell_y(merge) + h),
        ]
    right = cell_x(tile_log, tile_log - 1) + w - 1.5
    floor = cell_y(tile_log) + h - 2
    outline[-1] = (outline[-1][0], floor)
    corners = outline + [(right, floor), (right, cell_y(1) + 1.5), outline[0]]
    for (x1, y1), (x2, y2) in zip(corners, corners[1:]):
        drawing.line(x1, y1, x2, y2, theme.TEAL, 1.4)
    beside = cell_x(5, 0) - 12  # left of the triangle
    drawing.text(beside, cell_y(3) + h / 2, "one launch in shared memory:", 13, theme.TEAL, "end", "bold")
    drawing.text(beside, cell_y(4) + h / 2 - 4, f"{len(plan[0][1])} stages sort every tile", 13, theme.TEAL, "end")
    for merge in range(1, n_log + 1):
        drawing.text(
            left - 10,
            cell_y(merge) + h / 2 + 4,
            f"k = {1 << merge}",
            11.5,
            theme.INK if merge > tile_log else theme.MUTED,
            "end",
        )
    total = len(plan)
    drawing.text(
        left,
        30,
        f"n = {1 << n_log} keys, tile = {TILE_KEYS}: {total} launches instead of {n_log * (n_log + 1) // 2}",
        14.5,
        theme.INK,
        "start",
        "bold",
    )
    return drawing

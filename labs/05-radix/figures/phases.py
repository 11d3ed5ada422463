"""The figures of lab 05 about steps 05 and 06: the phases of a tile over time, and the partitions."""

from __future__ import annotations

from workbook.pictures import svg, theme

TILES = [[329, 457, 657, 839], [436, 720, 355, 326]]  # the keys of lsd.svg, in two tiles
SHADES = [(theme.BLUE, theme.BLUE_FILL), (theme.ORANGE, theme.ORANGE_FILL), (theme.TEAL, theme.TEAL_FILL)]
UNIT, LEFT, HIGH = 11, 94, 28  # pixels of a unit of time, in front of it, and of a bar
# How long the phases take, in units of time that were chosen so that the figure is clear. In step 04, a block waits for
# its keys, and for the counts of the tiles before.
STEP_04 = (
    ("load keys", 7, True),
    ("rank", 5, False),
    ("publish", 4, False),
    ("look back", 9, True),
    ("store", 4, False),
)
STEP_05 = (
    ("count", 4, False),
    ("publish", 4, False),
    ("rank, scatter", 7, False),
    ("look back", 5, False),
    ("store", 4, False),
)


def bar(
    drawing: svg.Drawing, begin: float, length: float, y: float, words: str, shade: int, waits: bool = False
) -> None:
    """A phase; dashed while the block waits."""
    color, fill = SHADES[shade]
    x, wide = LEFT + begin * UNIT, length * UNIT - 2
    if waits:
        drawing.rect(x, y, wide, HIGH, theme.PAPER)
        for x1, y1, x2, y2 in (
            (x, y, x + wide, y),
            (x, y + HIGH, x + wide, y + HIGH),
            (x, y, x, y + HIGH),
            (x + wide, y, x + wide, y + HIGH),
        ):
            drawing.line(x1, y1, x2, y2, color, 1.2, "4 3")
    else:
        drawing.rect(x, y, wide, HIGH, fill, color, 3)
    drawing.text(x + wide / 2, y + 18, words, 11, color)


def tile_name(drawing: svg.Drawing, begin: float, y: float, tile: int) -> None:
    drawing.text(LEFT + begin * UNIT + 2, y, f"tile {'ABC'[tile]}", 13, SHADES[tile][0], "start", "bold")


def row_name(drawing: svg.Drawing, y: float, words: str) -> None:
    drawing.text(LEFT - 12, y + 18, words, 12.5, theme.INK, "end")


def draw_pipeline() -> svg.Drawing:
    """What a block does with two tiles in step 04 and in step 05, and what is in flight meanwhile."""
    before, after = sum(wide for _, wide, _ in STEP_04), sum(wide for _, wide, _ in STEP_05)
    load = STEP_04[0][1]
    drawing = svg.Drawing(
        LEFT + 2 * before * UNIT + 20,
        306,
        "The phases of two tiles in step 04 and in step 05",
        "Time runs to the right, not to scale. In step 04 a block loads the keys of tile A and waits for them, "
        "ranks them, publishes its counts, looks back, which waits for the tiles before, and stores; then it "
        "begins tile B. In step 05 it counts and publishes first, so the other tiles publish their counts while it "
        "ranks and scatters, and the look-back hardly waits. The keys of tile B are loaded during the look-back "
        "and the stores of tile A, so only the first tile waits for keys.",
    )
    drawing.text(20, 28, "step 04", 14, theme.INK, "start", "bold")
    row_name(drawing, 44, "the block")
    at = 0.0
    for tile in (0, 1):
        tile_name(drawing, at, 36, tile)
        for words, wide, waits in STEP_04:
            bar(drawing, at, wide, 44, words, tile, waits)
            at += wide
    drawing.line(20, 98, LEFT + 2 * before * UNIT, 98, theme.RULE, 1)
    drawing.text(20, 128, "step 05", 14, theme.INK, "start", "bold")
    for y, words in ((144, "the block"), (182, "loads"), (220, "other tiles")):
        row_name(drawing, y, words)
    bar(drawing, 0, load, 144, "load keys", 0, True)
    at = load
    for tile in (0, 1):
        tile_name(drawing, at, 136, tile)
        count, publish, rank = (wide for _, wide, _ in STEP_05[:3])
        bar(drawing, at + count + publish, rank, 220, "publish", 2)
        ranked = at + count + publish + rank
        bar(drawing, ranked, after - count - publish - rank, 182, f"keys of tile {'BC'[tile]}", tile + 1)
        for words, wide, _ in STEP_05:
            bar(drawing, at, wide, 144, words, tile)
            at += wide
    x = LEFT + at * UNIT + 8
    drawing.text(x, 162, "tile C", 12, theme.TEAL, "start")
    drawing.text(
        LEFT,
        284,
        "dashed: the block waits. Time runs to the right; the lengths are not to scale.",
        12,
        theme.MUTED,
        "start",
    )
    return drawing


def partitioned() -> list[list[int]]:
    """The keys before and after each of two partitions, and sorted."""
    columns = [sum(TILES, [])]
    # Lanes and tiles claim places in any order, here the last one first: within a bucket, it does not matter.
    columns.append(sorted(TILES[1] + TILES[0], key=lambda key: key // 100))
    claimed = columns[-1][::-1]
    columns.append(sorted(claimed, key=lambda key: key // 10))
    columns.append(sorted(columns[0]))
    assert columns[2] != columns[3]  # something is left to sort
    return columns


def draw_partitions() -> svg.Drawing:
    """The keys of lsd.svg, the highest digit first: buckets get smaller until one is sorted by itself."""
    columns = partitioned()
    pitch, top, gap = 30, 92, 176
    in_frames = [[int(key in TILES[1]) for key in columns[0]]]
    in_frames += [[key // unit for key in keys] for keys, unit in zip(columns[1:], (100, 10, 10))]
    drawing = svg.Drawing(
        96 + 3 * gap + 70,
        top + 8 * pitch + 40,
        "Two partitions, the highest digit first, and the sort of each bucket",
        f"The keys {svg.listed(columns[0])} in two tiles. The first partition moves them to "
        f"{len(set(in_frames[1]))} buckets by their hundreds: {svg.listed(columns[1])}. The second moves each key "
        f"within its bucket, to {len(set(in_frames[2]))} smaller buckets by hundreds and tens: "
        f"{svg.listed(columns[2])}. Within a bucket the keys are in any order. In the end a block sorts each "
        f"bucket, and no key leaves it: {svg.listed(columns[3])}.",
    )
    heads = (
        ("in", "two tiles"),
        ("by the hundreds", "partition 1"),
        ("by the tens", "partition 2"),
        ("sorted", "a block per bucket"),
    )
    for c, keys in enumerate(columns):
        x = 60 + c * gap
        drawing.text(x + 24, 34, heads[c][0], 13.5, theme.INK, weight="bold")
        drawing.text(x + 24, 53, heads[c][1], 12, theme.MUTED)
        frames = in_frames[c]
        for number, frame in enumerate(dict.fromkeys(frames)):
            first, count = frames.index(frame), frames.count(frame)
            color, fill = SHADES[number] if c == 0 else (theme.INK, (theme.GREY_FILL, theme.PAPER)[number % 2])
            drawing.rect(x - 6, top + first * pitch - 19, 60, count * pitch - 3, fill, color, 5)
            if c == 0:
                drawing.text(x - 14, top + first * pitch, f"tile {'AB'[number]}", 12.5, color, "end", "bold")
        for row, key in enumerate(keys):
            y = top + row * pitch
            for d, letter in enumerate(f"{key:03}"):
                seen = c > 0 and (d < c or c == 3)
                weight, color = ("bold", theme.ORANGE) if seen else ("normal", theme.INK)
                drawing.text(x + 16 * d + 8, y + 1, letter, 14.5, color, weight=weight)
            if c + 1 < len(columns):
                to = columns[c + 1].index(key)
                drawing.line(
                    x + 58,
                    y - 4,
                    x + gap - 10,
                    top + to * pitch - 4,
                    SHADES[key in TILES[1]][0] if c == 0 else theme.WIRE,
                    1.3,
                )
    words = "A frame is a bucket: its keys are in any order until it is sorted, and none of them leaves it."
    drawing.text(54, top + 8 * pitch + 18, words, 12.5, theme.MUTED, "start")
    return drawing

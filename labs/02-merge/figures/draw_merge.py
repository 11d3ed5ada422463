"""The figures of lab 02, drawn from merges that run here and whose results are asserted."""

from __future__ import annotations

from regimes import draw_regimes

from workbook.pictures import svg, theme

A, A_FILL, B, B_FILL = theme.BLUE, theme.BLUE_FILL, theme.ORANGE, theme.ORANGE_FILL


# --- the merges ------------------------------------------------------------------------------------------------------


def lower_rank(run: list[int], key: int) -> int:
    return sum(other < key for other in run)


def upper_rank(run: list[int], key: int) -> int:
    return sum(other <= key for other in run)


def places(a: list[int], b: list[int]) -> tuple[list[int], list[int]]:
    """The places of a's keys, and of b's, in their stable merge: own index + rank in the other run."""
    of_a = [i + lower_rank(b, key) for i, key in enumerate(a)]
    of_b = [i + upper_rank(a, key) for i, key in enumerate(b)]
    assert sorted(of_a + of_b) == list(range(len(a) + len(b)))
    merged = [key for _, key in sorted(zip(of_a + of_b, a + b))]
    assert merged == sorted(a + b)
    return of_a, of_b


def levels(keys: list[int]) -> list[tuple[int, list[int]]]:
    """The keys before the first level and after every level, with the length of the runs."""
    states = [(1, list(keys))]
    while states[-1][0] < len(keys):
        run, keys = states[-1]
        after = []
        for first in range(0, len(keys), 2 * run):
            after += sorted(keys[first : first + 2 * run])
        states.append((2 * run, after))
    assert states[-1][1] == sorted(keys)
    return states


def path(a: list[int], b: list[int]) -> list[tuple[int, int]]:
    """The merge path: the points (from a, from b) from (0, 0) to the ends of both runs."""
    points = [(0, 0)]
    for _ in range(len(a) + len(b)):
        i, j = points[-1]
        take_b = i == len(a) or (j < len(b) and b[j] < a[i])
        points.append((i, j + 1) if take_b else (i + 1, j))
    return points


def search_diagonal(a: list[int], b: list[int], diagonal: int) -> int:
    """The binary search of step 04: how many of the first `diagonal` keys come from a."""
    low, high = max(diagonal - len(b), 0), min(diagonal, len(a))
    while low < high:
        middle = (low + high) // 2
        if b[diagonal - 1 - middle] < a[middle]:
            high = middle
        else:
            low = middle + 1
    return low


def partition_points(a: list[int], b: list[int], distance: int) -> list[tuple[tuple[int, int], str, int]]:
    """Step 03: the partition point (i, j) of every splitter, its run and the splitter itself, in merge order."""
    pieces = []
    for run, other, rank, name in ((a, b, lower_rank, "a"), (b, a, upper_rank, "b")):
        for place in range(0, len(run), distance):
            r = rank(other, run[place])
            index = place // distance + -(-r // distance)
            pieces.append((index, (place, r) if name == "a" else (r, place), name, run[place]))
    pieces.sort()
    assert [index for index, *_ in pieces] == list(range(len(pieces)))
    ends = [point for _, point, *_ in pieces[1:]] + [(len(a), len(b))]
    for (_, (i, j), *_), (next_i, next_j) in zip(pieces, ends):
        assert 0 <= next_i - i <= distance and 0 <= next_j - j <= distance
    return [(point, name, key) for _, point, name, key in pieces]


def final_counts(a: list[int], b: list[int]) -> tuple[int, int]:
    """Step 02: how many keys of two loaded chunks have their final place, when both runs have more keys."""
    return upper_rank(a, b[-1]), lower_rank(b, a[-1])


# --- drawing ---------------------------------------------------------------------------------------------------------


def cell(
    drawing: svg.Drawing,
    x: float,
    y: float,
    w: float,
    h: float,
    word: object,
    fill: str,
    color: str,
    weight: str = "normal",
    text: str = theme.INK,
) -> None:
    drawing.rect(x, y, w, h, fill, color, 3, 1.2)
    drawing.text(x + w / 2, y + h / 2 + 4.5, str(word), 13, text, weight=weight)


def draw_levels(keys: list[int]) -> svg.Drawing:
    states = levels(keys)
    w, h, row = 40, 26, 62
    left, top = 168, 56
    drawing = svg.Drawing(
        left + len(keys) * w + 30,
        top + row * len(states) - 8,
        "Merge sort from the bottom up",
        f"{len(keys)} keys and {len(states) - 1} levels. Each level merges neighbouring runs in pairs, of 1 key, "
        "then 2, 4 and so on, until one run is left. A last run without a partner is only copied. Levels take "
        "turns between the caller's array and the scratch array.",
    )
    drawing.text(24, 30, f"{len(keys)} keys, {len(states) - 1} levels", 14.5, theme.INK, "start", "bold")
    for level, (run, state) in enumerate(states):
        y = top + level * row
        drawing.text(left - 18, y + 17, f"runs of {run}", 12.5, theme.MUTED, "end")
        array = "the caller's" if (len(states) - 1 - level) % 2 == 0 else "scratch"
        drawing.text(left - 18, y + 33, array, 11, theme.TEAL if array == "scratch" else theme.MUTED, "end")
        for i, key in enumerate(state):
            index = i // run
            alone = level < len(states) - 1 and index % 2 == 0 and (index + 1) * run >= len(state)
            color, fill = (theme.TEAL, theme.TEAL_FILL) if alone else (A, A_FILL) if index % 2 == 0 else (B, B_FILL)
            if level == len(states) - 1:
                color, fill = theme.INK, theme.PAPER
            cell(drawing, left + i * w + 2, y, w - 4, h, key, fill, color)
        if level == len(states) - 1:
            continue
        for first in range(0, len(state), 2 * run):
            end = min(first + 2 * run, len(state))
            x1, x2, y1 = left + first * w + 4, left + end * w - 4, y + h + 6
            drawing.line(x1, y1, x2, y1, theme.WIRE, 1.6)
            middle = (x1 + x2) / 2
            drawing.line(middle, y1, middle, y1 + 14, theme.WIRE, 1.6)
            drawing.polygon([(middle, y1 + 22), (middle - 4, y1 + 14), (middle + 4, y1 + 14)], theme.WIRE)
    return drawing


def draw_ranks(a: list[int], b: list[int]) -> svg.Drawing:
    of_a, of_b = places(a, b)
    w, h = 46, 30
    left = 150
    count = len(a) + len(b)
    width = left + count * w + 30
    drawing = svg.Drawing(
        width,
        322,
        "Own index plus rank in the other run",
        f"Run a with the keys {svg.listed(a)}, run b with {svg.listed(b)}, and their merge between them. A line "
        "leads from each key to its position, its index in its own run plus its rank in the other run. The keys of "
        f"a go to positions {svg.listed(of_a)}, those of b to {svg.listed(of_b)}.",
    )
    drawing.text(24, 30, "position = index in its own run + rank in the other run", 14.5, theme.INK, "start", "bold")
    rows = {"a": 66, "merge": 172, "b": 268}
    a_left = left + (count - len(a)) * w / 2
    b_left = left + (count - len(b)) * w / 2
    for name, keys, x0, own, color, fill in (("a", a, a_left, of_a, A, A_FILL), ("b", b, b_left, of_b, B, B_FILL)):
        y = rows[name]
        drawing.text(24, y + 20, f"run {name}", 13, color, "start", "bold")
        for i, (key, place) in enumerate(zip(keys, own)):
            x = x0 + i * w
            to = left + place * w + w / 2
            y1, y2 = (y + h, rows["merge"] - 2) if name == "a" else (y, rows["merge"] + h + 2)
            drawing.line(x + w / 2, y1, to, y2, color, 1.3)
            cell(drawing, x + 2, y, w - 4, h, key, fill, color, "bold")
            sums = f"{i}+{place - i}={place}"
            drawing.text(x + w / 2, y - 6 if name == "a" else y + h + 15, sums, 11, color)
    drawing.text(24, rows["merge"] + 20, "merge", 13, theme.INK, "start", "bold")
    owner = {place: ("a", key) for place, key in zip(of_a, a)} | {place: ("b", key) for place, key in zip(of_b, b)}
    for place in range(count):
        name, key = owner[place]
        fill, color = (A_FILL, A) if name == "a" else (B_FILL, B)
        cell(drawing, left + place * w + 2, rows["merge"], w - 4, h, key, fill, color)
    return drawing


def draw_chunks(a: list[int], b: list[int], a_rest: list[int], b_rest: list[int]) -> svg.Drawing:
    """Two loaded chunks: the keys that have their final places, and those that wait."""
    a_final, b_final = final_counts(a, b)
    rest = sorted(a[a_final:] + b[b_final:] + a_rest + b_rest)
    done = sorted(a[:a_final] + b[:b_final])
    assert done + rest == sorted(a + b + a_rest + b_rest)
    w, h, left = 44, 30, 96
    longest = max(len(a) + len(a_rest), len(b) + len(b_rest), len(done))
    drawing = svg.Drawing(
        left + longest * w + 60,
        250,
        "One round of a block's merge",
        f"A chunk of {len(a)} keys of each run is loaded: {svg.listed(a)} of run a and {svg.listed(b)} of run b. "
        f"The first {a_final} keys of a and the first {b_final} of b have their final positions and are stored: "
        f"{svg.listed(done)}. The other keys wait for the next round.",
    )
    drawing.text(
        24,
        30,
        "a chunk of each run is loaded; the position of the filled keys is final",
        14.5,
        theme.INK,
        "start",
        "bold",
    )
    for y, name, loaded, final, to_come, color, fill in (
        (56, "a", a, a_final, a_rest, A, A_FILL),
        (118, "b", b, b_final, b_rest, B, B_FILL),
    ):
        drawing.text(24, y + 20, f"run {name}", 13, color, "start", "bold")
        for i, key in enumerate(loaded):
            waits = i >= final
            cell(drawing, left + i * w + 2, y, w - 4, h, key, theme.PAPER if waits else fill, color)
        for i, key in enumerate(to_come):
            cell(drawing, left + (len(loaded) + i) * w + 2, y, w - 4, h, key, theme.PAPER, theme.WIRE, text=theme.MUTED)
        x = left + len(loaded) * w
        drawing.line(x, y - 6, x, y + h + 6, theme.INK, 1.6, "4 3")
        drawing.text(left + (len(loaded) - 0.5) * w, y - 9, "last loaded", 10.5, theme.MUTED)
    drawing.text(24, 204, "stored", 13, theme.INK, "start", "bold")
    for i, key in enumerate(done):
        cell(drawing, left + i * w + 2, 184, w - 4, h, key, theme.TEAL_FILL, theme.TEAL)
    drawing.text(left, 236, "right of the dashed line: keys that are not loaded yet", 11, theme.MUTED, "start")
    return drawing


def draw_splitters(a: list[int], b: list[int], distance: int) -> svg.Drawing:
    pieces = partition_points(a, b, distance)
    w, h = 36, 28
    left, y_a, y_b = 76, 84, 190
    width = left + max(len(a), len(b)) * w + 90
    drawing = svg.Drawing(
        width,
        300,
        "Splitters divide a merge into pieces",
        f"Runs a and b of {len(a)} and {len(b)} keys. Every {distance}-th key of each is a splitter. A line through "
        f"both runs before each splitter divides them into {len(pieces)} pieces that can be merged independently, "
        f"of at most {distance} keys from each run.",
    )
    title = f"a splitter every {distance} keys (every 256 in the lab): {len(pieces)} pieces"
    drawing.text(24, 30, title, 14.5, theme.INK, "start", "bold")
    for y, name, run, color, fill in ((y_a, "a", a, A, A_FILL), (y_b, "b", b, B, B_FILL)):
        drawing.text(24, y + 19, f"run {name}", 13, color, "start", "bold")
        for i, key in enumerate(run):
            splitter = i % distance == 0
            cell(
                drawing,
                left + i * w + 2,
                y,
                w - 4,
                h,
                key,
                fill if splitter else theme.PAPER,
                color,
                "bold" if splitter else "normal",
            )
    for index, ((i, j), name, _) in enumerate(pieces):
        x1, x2 = left + i * w, left + j * w
        color = A if name == "a" else B
        drawing.line(x1, y_a - 10, x1, y_a + h + 4, color, 2)
        drawing.line(x1, y_a + h + 4, x2, y_b - 4, color, 2)
        drawing.line(x2, y_b - 4, x2, y_b + h + 10, color, 2)
        at_same = sum(1 for (k, _), *_ in pieces[:index] if k == i)
        drawing.text(x1 + 2, y_a - 14 - 13 * at_same, f"{index}", 12, color, "start", "bold")
    legend = "a point has the colour of its splitter's run and the index of the piece to its right"
    drawing.text(left, 262, legend, 12, theme.MUTED, "start")
    sizes = [
        (next_i - i) + (next_j - j)
        for ((i, j), *_), (next_i, next_j) in zip(pieces, [point for point, *_ in pieces[1:]] + [(len(a), len(b))])
    ]
    drawing.text(left, 281, "keys in the pieces: " + ", ".join(map(str, sizes)), 12, theme.MUTED, "start")
    return drawing


def draw_path(a: list[int], b: list[int], step: int) -> svg.Drawing:
    """a goes down, b to the right; a key of a is a step down, a key of b one to the right."""
    points = path(a, b)
    size, left, top = 38, 100, 96
    width = left + len(b) * size + 260
    drawing = svg.Drawing(
        width,
        top + len(a) * size + 60,
        "The merge path",
        f"A grid with the {len(a)} keys of run a as rows and the {len(b)} keys of run b as columns. The path goes "
        f"down for each key taken from a and to the right for each taken from b. Diagonals after every {step} keys "
        "cross it at the edge of the cells in which b's key comes strictly before a's key.",
    )
    drawing.text(24, 30, f"the path, cut every {step} keys", 14.5, theme.INK, "start", "bold")
    drawing.text(left + len(b) * size / 2, 56, "run b", 13, B, weight="bold")
    drawing.text(34, top + len(a) * size / 2, "run a", 13, A, weight="bold")
    for j, key in enumerate(b):
        cell(drawing, left + j * size + 2, 64, size - 4, 26, key, B_FILL, B)
    for i, key in enumerate(a):
        cell(drawing, left - 42, top + i * size + 5, 36, size - 10, key, A_FILL, A)
    for i, a_key in enumerate(a):
        for j, b_key in enumerate(b):
            before = b_key < a_key
            drawing.rect(
                left + j * size, top + i * size, size, size, theme.TEAL_FILL if before else theme.PAPER, theme.WIRE
            )

    def at(i: int, j: int) -> tuple[float, float]:
        return left + j * size, top + i * size

    for (i, j), (i2, j2) in zip(points, points[1:]):
        drawing.line(*at(i, j), *at(i2, j2), A if i2 > i else B, 4)
    for diagonal in range(step, len(a) + len(b), step):
        i = search_diagonal(a, b, diagonal)
        assert points[diagonal] == (i, diagonal - i)
        low, high = max(diagonal - len(b), 0), min(diagonal, len(a))
        drawing.line(*at(low, diagonal - low), *at(high, diagonal - high), theme.INK, 1.3, "5 4")
        drawing.dot(*at(i, diagonal - i), 6, theme.INK)
        x, y = at(low, diagonal - low)
        drawing.text(x + 6, y + 14, f"d = {diagonal}", 11.5, theme.INK, "start", "bold")
    x = left + len(b) * size + 60
    lines = [
        "down: the next key is a's",
        "right: the next key is b's",
        "green: b's key is strictly",
        "before a's key",
        "dashed: all ways to take",
        "the first d keys; the path",
        "crosses where green begins",
    ]
    for k, words in enumerate(lines):
        color = (A, B, theme.TEAL, theme.TEAL, theme.INK, theme.INK, theme.INK)[k]
        drawing.text(x, top + 10 + 20 * k + (8 if k > 1 else 0) + (8 if k > 3 else 0), words, 12.5, color, "start")
    return drawing


def draw_bitonic(a: list[int], b: list[int], moments: list[int]) -> svg.Drawing:
    """Two runs in bitonic layout in shared memory, when some of their keys have been taken."""
    tile = a + b[::-1]
    w, h, left = 44, 30, 130
    drawing = svg.Drawing(
        left + len(tile) * w + 40,
        56 + 86 * len(moments),
        "Two runs in bitonic layout",
        f"Run a forwards and run b backwards in one array: {svg.listed(tile)}. The array is shown when "
        f"{svg.listed(moments)} keys have been taken. The next key of a is taken from the left and that of b from "
        "the right, so what is left always lies between the two positions.",
    )
    walk = path(a, b)
    for row, taken in enumerate(moments):
        y = 40 + 86 * row
        from_a, from_b = walk[taken]
        next_a, next_b = from_a, len(tile) - 1 - from_b
        assert next_a <= next_b
        assert sorted(tile[next_a : next_b + 1]) == sorted(a + b)[taken:]
        drawing.text(24, y + 20, f"{taken} keys taken", 13, theme.INK, "start", "bold")
        for i, key in enumerate(tile):
            color, fill = (A, A_FILL) if i < len(a) else (B, B_FILL)
            left_over = next_a <= i <= next_b
            ink, outline = (color, color) if left_over else (theme.MUTED, theme.WIRE)
            cell(drawing, left + i * w + 2, y, w - 4, h, key, fill if left_over else theme.PAPER, outline, text=ink)
        for i, name, color, shift in ((next_a, "a", A, -6), (next_b, "b", B, 6)):
            x = left + (i + 0.5) * w + shift
            drawing.small_arrow(x, y + h + 16, y + h + 2, color)
            drawing.text(x, y + h + 29, name, 12, color, weight="bold")
    return drawing


# --- all of them -----------------------------------------------------------------------------------------------------


def figures() -> dict[str, svg.Drawing]:
    a, b = [1, 4, 4, 7, 9, 10], [2, 3, 4, 8, 11, 12]
    long_a = [1, 2, 5, 9, 10, 12, 13, 21, 22, 24, 28, 30]
    long_b = [3, 4, 6, 7, 8, 11, 14, 15, 16, 17, 25, 29]
    return {
        "levels.svg": draw_levels([6, 3, 8, 1, 9, 2, 7, 4, 10, 5, 0]),
        "regimes.svg": draw_regimes(),
        "ranks.svg": draw_ranks([1, 4, 4, 7, 9], [2, 4, 5, 8]),
        "chunks.svg": draw_chunks([1, 3, 4, 9, 12, 14], [2, 5, 6, 7, 8, 10], [15, 20, 21], [11, 13, 17]),
        "splitters.svg": draw_splitters(long_a, long_b, 4),
        "path.svg": draw_path(a, b, 4),
        "bitonic.svg": draw_bitonic([1, 4, 4, 7, 9], [2, 3, 4, 8, 11, 12], [0, 4, 9]),
    }

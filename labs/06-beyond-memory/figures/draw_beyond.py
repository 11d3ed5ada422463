"""The figures of lab 06, each drawn by the algorithm that it shows."""

from __future__ import annotations

from workbook.pictures import svg, theme

CELL, HIGH = 40, 26
COLORS = [
    (theme.BLUE, theme.BLUE_FILL),
    (theme.ORANGE, theme.ORANGE_FILL),
    (theme.TEAL, theme.TEAL_FILL),
    (theme.INK, theme.GREY_FILL),
]
SLOTS = 3
PHASES = (("in", 10), ("sort", 4), ("out", 11))  # what a piece goes through, and how long it takes (of some unit)
Span = tuple  # (begin, end)


def key_box(drawing: svg.Drawing, x: float, y: float, words: str, color: str, fill: str, bold: bool = False) -> None:
    drawing.rect(x, y, CELL - 4, HIGH, fill, color, 4, 1.6 if bold else 1)
    drawing.text(x + (CELL - 4) / 2, y + HIGH / 2 + 4.5, words, 13, color, weight="bold" if bold else "normal")


# --- the timeline ---


def schedule(pieces: int, slots: int) -> list[list[Span]]:
    """When each phase of each piece runs. Each copy engine serves one piece at a time, and so do the multiprocessors; a
    slot serves a piece from its first phase to its last."""
    engine_free, slot_free = [0] * len(PHASES), [0] * slots
    times: list[list[Span]] = []
    for piece in range(pieces):
        at, own = slot_free[piece % slots], []
        for engine, (_, length) in enumerate(PHASES):
            begin = max(at, engine_free[engine])
            at = engine_free[engine] = begin + length
            own.append((begin, at))
        slot_free[piece % slots] = at
        times.append(own)
    return times


def draw_timeline() -> svg.Drawing:
    """Six pieces with one slot, as in step 1, and with three, as in step 2."""
    pieces, unit, left, lane = 6, 4.4, 118, 30
    plans = [("one slot, one stream", schedule(pieces, 1)), ("three slots, three streams", schedule(pieces, SLOTS))]
    longest = plans[0][1][-1][-1][1]
    drawing = svg.Drawing(
        left + longest * unit + 40,
        292,
        "Copies and sorts without and with overlap",
        f"{pieces} pieces are copied in, sorted and copied out. With one slot each phase waits for the one before. "
        f"With {SLOTS} slots the copies in follow each other without a gap while other pieces are sorted and copied "
        f"out, and all is done after {100 * plans[1][1][-1][-1][1] / longest:.0f} % of that time.",
    )
    for row, (title, times) in enumerate(plans):
        top = 50 + row * 128
        drawing.text(20, top - 18, title, 13.5, theme.INK, "start", "bold")
        for engine, name in enumerate(("copy in", "sort", "copy out")):
            y = top + engine * lane
            drawing.text(left - 12, y + 16, name, 12.5, theme.MUTED, "end")
            drawing.line(left, y + 24, left + longest * unit, y + 24, theme.RULE, 1)
            for piece, spans in enumerate(times):
                begin, end = spans[engine]
                color, fill = COLORS[piece % SLOTS]
                drawing.rect(left + begin * unit, y, (end - begin) * unit - 1, 22, fill, color, 3, 1)
                drawing.text(left + (begin + end) / 2 * unit, y + 15.5, str(piece), 12, color)
        end = times[-1][-1][1]
        drawing.line(left + end * unit, top - 6, left + end * unit, top + 3 * lane - 4, theme.RED, 1.4)
        share = 100 * end / longest
        drawing.text(left + end * unit - 6, top - 18, f"done: {share:.0f} %", 12.5, theme.RED, "end")
    return drawing


# --- merging ---


def draw_rounds() -> svg.Drawing:
    """Four threads merge their runs: the offers of each round, and the winner."""
    runs = [[1, 7, 9], [3, 3, 8], [2, 5, 10], [3, 4]]
    threads, total = len(runs), sum(map(len, runs))
    heads, offers = [0] * threads, []
    sorted_: list[int] = []
    while len(sorted_) < total:
        keys = [(run[head], t) for t, (run, head) in enumerate(zip(runs, heads)) if head < len(run)]
        _, winner = min(keys)  # as the 64-bit offers: the key first, then the thread
        offers.append((list(heads), winner))
        sorted_.append(runs[winner][heads[winner]])
        heads[winner] += 1
    assert sorted_ == sorted(key for run in runs for key in run)
    left, top, pitch = 116, 58, 34
    drawing = svg.Drawing(
        left + total * CELL + 24,
        top + (threads + 2) * pitch + 24,
        "Threads merge their runs",
        f"{threads} threads with a sorted run each. In every round each thread offers the first key of its run that "
        "is left, the smallest offer wins, and of equal keys that of the lowest thread. The threads "
        f"{svg.listed(winner for _, winner in offers)} win in turn, and the keys come out sorted: "
        f"{svg.listed(sorted_)}.",
    )
    drawing.text(left - 14, 36, "round", 13, theme.MUTED, "end")
    for t in range(threads):
        drawing.text(left - 14, top + t * pitch + 18, f"thread {t} offers", 13, theme.MUTED, "end")
    drawing.text(left - 14, top + (threads + 0.4) * pitch + 18, "sorted", 13, theme.INK, "end", "bold")
    drawing.text(left - 14, top + (threads + 1.3) * pitch + 18, "word", 13, theme.MUTED, "end")
    for round_, (before, winner) in enumerate(offers):
        x = left + round_ * CELL
        drawing.text(x + 18, 36, str(round_), 13, theme.MUTED)
        for t, head in enumerate(before):
            if head < len(runs[t]):
                color, fill = COLORS[t] if t == winner else (theme.MUTED, theme.PAPER)
                key_box(drawing, x, top + t * pitch, str(runs[t][head]), color, fill, t == winner)
        color, fill = COLORS[winner]
        key_box(drawing, x, top + (threads + 0.4) * pitch, str(sorted_[round_]), color, fill)
        drawing.text(x + 18, top + (threads + 1.3) * pitch + 18, str(round_ % 3), 13, theme.MUTED)
    return drawing


def losers_of(heads: list[int]) -> tuple[int, dict[int, int]]:
    """Plays all matches of a tree of losers: the winning run, and the losing run at each inner node."""
    runs = len(heads)
    winners = {runs + run: run for run in range(runs)}
    losers = {}
    for node in range(runs - 1, 0, -1):
        one, other = winners[2 * node], winners[2 * node + 1]
        winners[node], losers[node] = sorted((one, other), key=lambda run: (heads[run], run))
    return winners[1], losers


def tree_places(runs: int, left: float, width: float, top: float, step: float) -> dict[int, tuple[float, float]]:
    """Where the nodes of a tree with `runs` leaves are drawn. Runs: a power of two."""
    places = {}
    for node in range(1, 2 * runs):
        level = node.bit_length() - 1
        across = (node - (1 << level) + 0.5) / (1 << level)
        places[node] = (left + across * width, top + level * step)
    return places


def draw_tree(drawing: svg.Drawing, heads: list[int], left: float, path_of: int | None) -> int:
    """One state of the tree; the way of run `path_of` is drawn thick. Returns the winner."""
    runs = len(heads)
    winner, losers = losers_of(heads)
    places = tree_places(runs, left, 300, 100, 56)
    way = set()
    node = runs + path_of if path_of is not None else 0
    while node:
        way.add(node)
        node //= 2
    for node in range(2, 2 * runs):
        (x, y), (px, py) = places[node], places[node // 2]
        drawing.line(x, y, px, py, theme.ORANGE if node in way else theme.WIRE, 2.4 if node in way else 1.2)
    x, y = places[1]
    drawing.line(x, y, x, y - 40, theme.ORANGE if way else theme.WIRE, 2.4 if way else 1.2)
    drawing.text(x, y - 48, f"{heads[winner]} wins (run {winner})", 13.5, theme.INK, weight="bold")
    for node, (x, y) in places.items():
        run = losers[node] if node < runs else node - runs
        color, fill = COLORS[run % 4] if node >= runs else (theme.INK, theme.PAPER)
        drawing.rect(x - 17, y - 13, 34, 26, fill, color, 4 if node >= runs else 13, 1.2)
        drawing.text(x, y + 4.5, str(heads[run]), 13, color)
        if node >= runs:
            drawing.text(x, y + 28, f"run {run}", 11, theme.MUTED)
    return winner


def draw_losers() -> svg.Drawing:
    """A tree of losers of eight runs before and after one key: only the way of the winner's run is played again."""
    heads, next_key = [12, 5, 9, 7, 4, 15, 8, 11], 10
    before = losers_of(heads)[0]
    drawing = svg.Drawing(
        720,
        340,
        "A tree of losers",
        f"Two trees over eight runs whose first keys are {svg.listed(heads)}. Each inner node holds the loser of a "
        f"match between its two subtrees. On the left, {heads[before]} of run {before} has won. On the right, run "
        f"{before} goes on with {next_key}: only the three matches on its way up are played again.",
    )
    winner = draw_tree(drawing, heads, 30, None)
    heads[winner] = next_key
    draw_tree(drawing, heads, 390, winner)
    drawing.text(30, 324, "round: the loser of the match between the two subtrees", 12.5, theme.MUTED, "start")
    drawing.text(
        390, 324, f"run {winner} goes on with {next_key}: three matches, on its way up", 12.5, theme.ORANGE, "start"
    )
    return drawing


# --- partition ---


def draw_partition() -> svg.Drawing:
    """Three pieces of keys, grouped by the buckets of one splitter, gathered bucket by bucket, and sorted."""
    pieces = [[71, 12, 40, 93, 25], [40, 88, 7, 40, 52], [31, 66, 40, 3, 97]]
    splitter, size = 40, 5
    bucket_of = {key: (key > splitter) + (key >= splitter) for piece in pieces for key in piece}
    grouped = [key for piece in pieces for key in sorted(piece, key=lambda key: bucket_of[key])]
    order = sorted(range(len(grouped)), key=lambda i: bucket_of[grouped[i]])  # where each gathered key comes from
    gathered = [grouped[i] for i in order]
    result = [key for b in range(3) for key in sorted(key for key in gathered if bucket_of[key] == b)]
    assert result == sorted(grouped)
    ends = [sum(bucket_of[key] <= b for key in gathered) for b in range(3)]
    gap, left, tops = 14, 148, (40, 112, 196, 268)

    def place(index: int, row: int) -> tuple[float, float]:
        bounds = ends if row > 1 else [size, 2 * size]
        return left + index * CELL + gap * sum(index >= bound for bound in bounds), tops[row]

    drawing = svg.Drawing(
        left + 3 * size * CELL + 2 * gap + 20,
        340,
        "Partition in two round trips",
        f"Three pieces of {size} keys. Round trip 1 groups each piece by the splitter {splitter}: smaller keys, "
        f"equal keys, larger keys. Round trip 2 gathers each bucket from all pieces, {svg.listed(gathered)}, and "
        f"sorts it: {svg.listed(result)}. The bucket of the keys that equal the splitter needs no sort.",
    )
    for row, words in enumerate(("keys, in pieces", "scratch, grouped", "gathered on the GPU", "keys, sorted")):
        drawing.text(left - 14, tops[row] + 18, words, 13, theme.INK, "end")
    for trip, row in ((1, 0), (2, 2)):
        drawing.text(left - 14, (tops[row] + tops[row + 1]) / 2 + 18, f"round trip {trip}", 12, theme.MUTED, "end")
    for index, source in enumerate(order):
        (x, y), (to_x, to_y) = place(source, 1), place(index, 2)
        drawing.line(x + 18, y + HIGH + 1, to_x + 18, to_y - 1, COLORS[bucket_of[grouped[source]]][0], 1.2)
    for row, bounds in ((0, [0, size, 2 * size, 3 * size]), (2, [0, *ends])):  # an arrow per piece or bucket
        for first, end in zip(bounds, bounds[1:]):
            middle = (place(first, row)[0] + place(end - 1, row)[0] + CELL - 4) / 2
            drawing.arrow_down(middle, tops[row] + HIGH + 6, tops[row + 1] - 6, theme.MUTED)
    for row, keys in enumerate((sum(pieces, []), grouped, gathered, result)):
        for index, key in enumerate(keys):
            color, fill = COLORS[bucket_of[key]] if row else (theme.MUTED, theme.PAPER)
            key_box(drawing, *place(index, row), str(key), color, fill)
    words = f"splitter {splitter}: less (blue, sorted), equal (orange, nothing to sort), more (green, sorted)"
    drawing.text(left, 322, words, 12.5, theme.MUTED, "start")
    return drawing


# --- many GPUs ---


def draw_exchange() -> svg.Drawing:
    """Three GPUs sort their shares, exchange their keys by two splitters, and merge: most keys are equal."""
    shares = [[5, 9, 2, 5, 7, 5], [1, 5, 5, 8, 5, 3], [5, 6, 4, 5, 5, 0]]
    gpus, size = len(shares), len(shares[0])
    in_order = sorted((key, gpu * size + i) for gpu, share in enumerate(shares) for i, key in enumerate(sorted(share)))
    splitters = [in_order[(g + 1) * size] for g in range(gpus - 1)]  # all keys are samples here
    goes_to = {entry[1]: sum(entry >= splitter for splitter in splitters) for entry in in_order}
    keys = {index: key for key, index in in_order}
    received = [[i for i in range(gpus * size) if goes_to[i] == gpu] for gpu in range(gpus)]  # by sender
    merged = [sorted(own, key=lambda i: keys[i]) for own in received]
    assert [keys[i] for own in merged for i in own] == sorted(key for share in shares for key in share)
    gap, left, tops = 16, 122, (60, 150, 216)

    def x_of(gpu: int, i: int) -> float:
        return left + (gpu * size + i) * CELL + gap * gpu

    drawing = svg.Drawing(
        x_of(gpus - 1, size) + 20,
        286,
        "Three GPUs exchange keys",
        f"{gpus} GPUs with {size} sorted keys each: {'; '.join(svg.listed(sorted(share)) for share in shares)}. Two "
        "splitters, which are keys with their indices, divide every share, also where keys are equal. Each GPU "
        f"receives a run from every GPU, {size} keys in all, and merges them: "
        f"{'; '.join(svg.listed(keys[i] for i in own) for own in merged)}.",
    )
    for row, name in enumerate(("sorted shares", "received runs", "merged")):
        drawing.text(left - 14, tops[row] + 18, name, 13, theme.INK, "end")
    for gpu in range(gpus):
        drawing.text(x_of(gpu, 0), 36, f"GPU {gpu}", 13, COLORS[gpu][0], "start", "bold")
    for gpu, own in enumerate(received):
        for place, i in enumerate(own):
            begin, end = x_of(i // size, i % size) + 18, x_of(gpu, place) + 18
            drawing.line(begin, tops[0] + HIGH + 1, end, tops[1] - 1, COLORS[gpu][0], 1)
    for row, rows in enumerate(([list(range(g * size, (g + 1) * size)) for g in range(gpus)], received, merged)):
        for gpu, own in enumerate(rows):
            for place, i in enumerate(own):
                key_box(drawing, x_of(gpu, place), tops[row], str(keys[i]), *COLORS[goes_to[i]])
    words = " and ".join(f"key {key} with index {index}" for key, index in splitters)
    drawing.text(left, 272, f"splitters: {words}", 12.5, theme.MUTED, "start")
    return drawing


def figures() -> dict[str, svg.Drawing]:
    """All figures by file name."""
    return {
        "timeline.svg": draw_timeline(),
        "rounds.svg": draw_rounds(),
        "losers.svg": draw_losers(),
        "partition.svg": draw_partition(),
        "exchange.svg": draw_exchange(),
    }

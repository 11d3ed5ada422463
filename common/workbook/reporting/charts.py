"""The plots of reports and of the README, made of rows of measurements."""

import re

from ..core import measurements
from . import plot

GOLD_NAMES = {
    "stable-sort": "std::stable_sort",
    "sort": "std::sort",
    "spreadsort": "Boost spreadsort",
    "vqsort": "VQSort",
    "counting": "counting sort",
}
CPU_PARTS = {"reduce": "reduce by a loop", "histogram": "histogram by a loop", "exclusive-scan": "std::exclusive_scan"}
BYTES = {"u8": 1, "u16": 2, "u32": 4, "i32": 4, "f32": 4, "u64": 8, "i64": 8, "f64": 8, "pairs": 8}
READ_ONLY = ("reduce", "histogram")
TITLE = 5.2  # inches that the title above several panels needs


def gold_name(name, build):
    """A gold standard as people know it: "CUB radix", "VQSort"."""
    base, _, tile = re.fullmatch(r"(.*?)(-(\d+|tiles))?", name).groups()
    known = GOLD_NAMES.get(base) or (CPU_PARTS.get(base, base) if build == "cpu" else base)
    if build == "cuda" and known == base:
        known = f"CUB {base}"
    return f"{known}, {tile} a tile" if tile and tile.isdigit() else known


def label(row):
    """A step's line in words; one that sorts tiles only is not to be taken for one that sorts everything."""
    return f"{int(row['step']):02} {row['name']}" + ("" if row["tile"] == "0" else ", tiles")


def speed(row):
    """Keys a second."""
    return float(row["keys_per_s"])


def milliseconds(row):
    """The median."""
    return float(row["median_ms"])


def roof_keys(row):
    """Keys a second if memory were all that costs: each key read once and, where the task writes it, written once."""
    if not row["roof_gb_per_s"]:
        return None
    return float(row["roof_gb_per_s"]) * 1e9 / (BYTES[row["type"]] * (1 if row["task"] in READ_ONLY else 2))


def usual(rows):
    """Rows of uniform, ascending sorts whose launch shape the step chose."""
    return [
        row
        for row in measurements.whole(measurements.verified(rows))
        if (row["input"], row["order"], row["blocks"], row["threads"]) == ("uniform", "ascending", "0", "0")
    ]


def powers(rows):
    """The rows of a sweep over powers of two; all where there are none."""
    return [row for row in rows if is_power(row["n"])] or rows


def is_power(n):
    """Whether a number of keys is a power of two, from 1024 on."""
    n = int(n)
    return n >= 1024 and n & (n - 1) == 0


def by_line(rows, lab):
    """(step, task, name) -> its rows by n, of its commonest type."""
    lines = {}
    for row in rows:
        if row["lab"] == lab:
            lines.setdefault((int(row["step"]), row["task"], row["name"]), []).append(row)
    for key, own in lines.items():
        types = [row["type"] for row in own]
        main = max(dict.fromkeys(types), key=types.count)
        lines[key] = sorted(
            {int(row["n"]): row for row in own if row["type"] == main}.values(), key=lambda row: int(row["n"])
        )
    return dict(sorted(lines.items(), key=lambda item: (item[0][0], item[0][1] != "sort")))


def golds_of(rows, lines):
    """tile -> the fastest gold standard at each n for the sorts among `lines`, in the type of the line."""
    found = {}
    for (_, task, _), own in lines.items():
        if task != "sort":
            continue
        for row in own:
            gold = measurements.best_gold(rows, row)
            if gold:
                found.setdefault(int(row["tile"]), {})[int(row["n"])] = gold
    return {tile: [own[n] for n in sorted(own)] for tile, own in found.items()}


def _draw_over_n(axes, rows, lab, value, text, size=9):
    """Lines over n into `axes`; gives the labels for their ends."""
    rows = powers(usual(rows))
    lines = {key: own for key, own in by_line(rows, lab).items() if key[1] == "sort"}
    labels, counts = [], set()

    def draw(own, name, colour, words, **style):
        xs, ys = [int(row["n"]) for row in own], [value(row) for row in own]
        axes.plot(xs, ys, color=colour, **style)
        labels.append((xs[-1], ys[-1], name, words))
        counts.update(xs)

    for tile, own in golds_of(rows, lines).items():
        names = list(dict.fromkeys(gold_name(row["name"], row["build"]) for row in own))
        name = (
            names[0]
            if len(names) == 1
            else ", ".join([names[0], *(word.replace("CUB ", "") for word in names[1:])])
            if len(names) < 4
            else "gold standard"
        )
        draw(
            own,
            name,
            plot.INK,
            plot.INK,
            linestyle=(0, (4, 2)) if tile == 0 else (0, (1, 1.4)),
            linewidth=1.3,
            zorder=2,
        )
    for (number, _, _), own in lines.items():
        draw(own, label(own[0]), plot.step_colour(number), plot.step_words(number), marker="o", zorder=3)
    longest = max(lines.values(), key=len, default=[])
    roofed = [row for row in longest if roof_keys(row)]
    if roofed:
        roof = roof_keys(roofed[-1])
        xs = sorted(counts)
        ys = [roof if value is speed else n / roof * 1e3 for n in xs]
        measured = [y for line in axes.lines for y in line.get_ydata()]
        axes.plot(xs, ys, color=plot.MUTED, linewidth=0.9, zorder=1)
        labels.append((xs[-1], ys[-1], "memory's roof", plot.MUTED))
        if value is milliseconds:  # of few keys the roof lies far below all that is measured
            axes.set_ylim(min(*measured, ys[-1]) / 2, max(*measured, ys[-1]) * 2)
    if counts:
        plot.counts_axis(axes, counts)
        plot.value_axis(axes, text)
    return labels


def over_n(rows, lab, stem, what):
    """Keys a second ("speed") or time ("time") against n: all steps, the gold standard, the memory's roof."""
    value, text = (speed, plot.rate_text) if what == "speed" else (milliseconds, plot.time_text)
    with plot.drawing(7.2, 4.3) as (figure, axes):
        labels = _draw_over_n(axes, rows, lab, value, text)
        if not labels:
            return False
        axes.set_title("keys a second" if what == "speed" else "time of one sort")
        plot.end_labels(axes, labels)
        plot.save(figure, stem)
    return True


def parts_over_n(rows, lab, stem):
    """The parts of steps that do not sort (reduce, histogram, scan), each beside its gold standard."""
    rows = powers(usual(rows))
    lines = {key: own for key, own in by_line(rows, lab).items() if key[1] != "sort"}
    tasks = list(dict.fromkeys(key[1] for key in lines))
    if not tasks:
        return False
    with plot.drawing(3.6 * len(tasks) + 0.6, 3.4, ncols=len(tasks), squeeze=False) as (figure, (panels)):
        todo = []
        for axes, task in zip(panels[0], tasks):
            labels, counts = [], set()
            for (number, own_task, name), own in lines.items():
                if own_task != task:
                    continue
                xs = [int(row["n"]) for row in own]
                axes.plot(xs, [speed(row) for row in own], color=plot.step_colour(number), marker="o", zorder=3)
                labels.append((xs[-1], speed(own[-1]), f"{number:02} {name}", plot.step_words(number)))
                counts.update(xs)
                golds = [gold for gold in (measurements.best_gold(rows, row) for row in own) if gold]
                if golds and not any(entry[3] == plot.INK for entry in labels):
                    axes.plot(
                        [int(gold["n"]) for gold in golds],
                        [speed(gold) for gold in golds],
                        color=plot.INK,
                        linestyle=(0, (4, 2)),
                        linewidth=1.3,
                        zorder=2,
                    )
                    labels.append(
                        (
                            int(golds[-1]["n"]),
                            speed(golds[-1]),
                            gold_name(golds[-1]["name"], golds[-1]["build"]),
                            plot.INK,
                        )
                    )
            plot.counts_axis(axes, counts, f"{own_type(lines, task)} values")
            plot.value_axis(axes, plot.rate_text)
            axes.set_title(f"{task}: values a second")
            todo.append((axes, labels))
        for axes, labels in todo:
            plot.end_labels(axes, labels, size=8)
        plot.save(figure, stem)
    return True


def own_type(lines, task):
    """The key type of a task's first line."""
    return next(own[0]["type"] for key, own in lines.items() if key[1] == task)


def shapes(rows, lab, stem):
    """A heat map a step: the speed over blocks and threads of the launch, each on the n that has most shapes."""
    from matplotlib.colors import LogNorm

    maps = {}
    for row in measurements.whole(measurements.verified(rows)):
        if row["lab"] == lab and row["task"] == "sort" and row["blocks"] != "0" and row["threads"] != "0":
            maps.setdefault((int(row["step"]), row["name"]), {}).setdefault(int(row["n"]), []).append(row)
    kept = {}
    for step, by_n in maps.items():
        n = max(by_n, key=lambda n: (len(by_n[n]), n))
        height, width = (len({row[name] for row in by_n[n]}) for name in ("blocks", "threads"))
        # A few shapes are not a map of them.
        if height > 1 and width > 1 and len(by_n[n]) >= height * width / 2:
            kept[step] = by_n[n]
    if not kept:
        return False
    own = [row for some in kept.values() for row in some]
    blocks = sorted({int(row["blocks"]) for row in own})
    threads = sorted({int(row["threads"]) for row in own})
    names = sorted(kept)
    columns = min(3, len(names))
    lines = -(-len(names) // columns)
    low, high = min(map(speed, own)), max(map(speed, own))
    width = max(3.5 * columns + 0.3, TITLE)
    with plot.drawing(width, 3.3 * lines + 0.2, ncols=columns, nrows=lines, squeeze=False) as (figure, panels):
        for axes in panels.flat[len(names) :]:
            axes.set_visible(False)
        for axes, (number, name) in zip(panels.flat, names):
            found = {(int(row["blocks"]), int(row["threads"])): speed(row) for row in kept[number, name]}
            grid = [[found.get((b, t), float("nan")) for t in threads] for b in blocks]
            axes.imshow(grid, norm=LogNorm(low, high * 1.0001), cmap="cividis", aspect="auto", origin="lower")
            best = max(found, key=found.get)
            for y, b in enumerate(blocks):
                for x, t in enumerate(threads):
                    value = found.get((b, t))
                    if value is None:
                        axes.text(x, y, "\u2013", ha="center", va="center", color=plot.MUTED, size=8)
                        continue
                    light = high > low and LogNorm(low, high)(value) > 0.55
                    axes.text(
                        x,
                        y,
                        plot.rate_text(value).replace(" ", ""),
                        ha="center",
                        va="center",
                        size=7.5,
                        color="#000000" if light else "#FFFFFF",
                        weight="bold" if (b, t) == best else "normal",
                    )
            axes.set_xticks(range(len(threads)), threads)
            axes.set_yticks(range(len(blocks)), blocks)
            axes.spines[:].set_visible(False)
            axes.tick_params(length=0)
            one = kept[number, name][0]
            axes.set_title(
                f"{label(one)}: {plot.count_text(one['n'])} {one['type']} keys", color=plot.step_words(number)
            )
            axes.set_xlabel("threads a block")
            axes.set_ylabel("blocks")
        figure.suptitle("Keys a second over the launch shape; the best is bold", x=0.01, ha="left", size=10.5)
        plot.save(figure, stem)
    return True


def shape_lines(rows, lab, stem):
    """Time against n, a line a launch shape, a panel a step."""
    own = [
        row
        for row in measurements.whole(measurements.verified(rows))
        if row["lab"] == lab and row["task"] == "sort" and row["blocks"] != "0" and row["threads"] != "0"
    ]
    sizes = {}
    for row in own:
        sizes.setdefault((row["blocks"], row["threads"]), set()).add(row["n"])
    shapes_at = {}
    for row in own:
        shapes_at.setdefault(row["n"], set()).add((row["blocks"], row["threads"]))
    crowded = {n for n, some in shapes_at.items() if len(some) > 16}  # a whole grid: see shapes()
    sizes = {shape: {n for n in ns if n not in crowded} for shape, ns in sizes.items()}
    kept = sorted(
        (shape for shape, ns in sizes.items() if len(ns) > 1), key=lambda shape: (int(shape[0]) * int(shape[1]), shape)
    )
    if len(kept) < 2:
        return False
    own = [row for row in own if (row["blocks"], row["threads"]) in kept and row["n"] not in crowded]
    several = {
        name for name in {row["name"] for row in own} if len({row["n"] for row in own if row["name"] == name}) > 1
    }
    own = [row for row in own if row["name"] in several]  # a step that was measured at one n has no lines
    if not own:
        return False
    names = list(dict.fromkeys((int(row["step"]), row["name"]) for row in sorted(own, key=lambda r: int(r["step"]))))
    columns = min(3, len(names))
    lines = -(-len(names) // columns)
    width = max(3.5 * columns + 0.3, TITLE)
    with plot.drawing(width, 3.2 * lines, ncols=columns, nrows=lines, squeeze=False) as (figure, panels):
        todo = []
        for axes in panels.flat[len(names) :]:
            axes.set_visible(False)
        for axes, (number, name) in zip(panels.flat, names):
            labels, counts = [], set()
            best = min((row for row in own if row["name"] == name), key=lambda row: (-int(row["n"]), milliseconds(row)))
            for shape in kept:
                line = sorted(
                    (row for row in own if row["name"] == name and (row["blocks"], row["threads"]) == shape),
                    key=lambda row: int(row["n"]),
                )
                if not line:
                    continue
                xs, ys = [int(row["n"]) for row in line], [milliseconds(row) for row in line]
                counts.update(xs)
                fastest = shape == (best["blocks"], best["threads"])
                axes.plot(
                    xs,
                    ys,
                    color=plot.step_colour(number) if fastest else plot.GREY,
                    marker="o",
                    linewidth=1.8 if fastest else 1.2,
                    zorder=3 if fastest else 2,
                )
                labels.append(
                    (
                        xs[-1],
                        ys[-1],
                        f"{shape[0]} \u00d7 {shape[1]}",
                        plot.step_words(number) if fastest else plot.MUTED,
                    )
                )
            plot.counts_axis(axes, counts)
            plot.value_axis(axes, plot.time_text)
            axes.set_title(f"{number:02} {name}", color=plot.step_words(number))
            todo.append((axes, labels))
        figure.suptitle("Time of one sort for launch shapes (blocks \u00d7 threads)", x=0.01, ha="left", size=10.5)
        for axes, labels in todo:
            plot.end_labels(axes, labels, gap=9.5, size=7.5)
        plot.save(figure, stem)
    return True


# What a bit of a random input is worth, where all bits are alike; and what a key is worth where it has few values.
ENTROPY_OF_BIT = {"uniform": 1, "and-2": 0.8113, "and-3": 0.5436, "and-4": 0.3373, "and-5": 0.2006}
ENTROPY_OF_KEY = {"few-values": 4, "two-values": 1, "all-equal": 0}


def entropy(name, kind):
    """Bits of entropy in a key of that input and type; None for an input that is told apart by its order."""
    if name in ENTROPY_OF_BIT:
        return ENTROPY_OF_BIT[name] * (32 if kind == "pairs" else 8 * BYTES[kind])
    return ENTROPY_OF_KEY.get(name)


def by_entropy(rows):
    """Rows of several inputs: random ones from the most entropy to the least, then the others as they came."""

    def place(row):
        bits = entropy(row["input"], row["type"])
        return (1, 0) if bits is None else (0, -bits)

    return sorted(rows, key=place)


def _dots(rows, lab, stem, column, title, order=None, words=str):
    """A row for each value of `column`, a dot for each step: keys a second."""
    own = [row for row in rows if row["lab"] == lab and row["task"] == "sort"]
    values = list(dict.fromkeys(row[column] for row in own))
    values = sorted(values, key=order) if order else values
    steps = list(dict.fromkeys((int(row["step"]), row["name"]) for row in sorted(own, key=lambda r: int(r["step"]))))
    if len(values) < 2:
        return False
    everything = [speed(row) for row in own]
    near = max(2, max(everything) / min(everything)) ** 0.025  # so much faster, and a dot stands beside the other one
    with plot.drawing(7.2, 1.35 + 0.3 * len(values)) as (figure, axes):
        for line, value in enumerate(values):
            line_rows = sorted((row for row in own if row[column] == value), key=speed)
            ends = [speed(line_rows[0]), speed(line_rows[-1])]
            axes.plot(ends, [line, line], color=plot.FAINT, linewidth=2, zorder=1)
            crowds = []  # of dots that would hide each other: these leave their row, to both sides
            for row in line_rows:
                if crowds and speed(row) < near * speed(crowds[-1][-1]):
                    crowds[-1].append(row)
                else:
                    crowds.append([row])
            for crowd in crowds:
                for place, row in enumerate(sorted(crowd, key=lambda row: int(row["step"]))):
                    aside = 0.17 * (place - (len(crowd) - 1) / 2)
                    axes.plot(
                        speed(row),
                        line + aside,
                        "o",
                        color=plot.step_colour(row["step"]),
                        markersize=7,
                        zorder=3,
                        markeredgecolor=plot.PAPER,
                        markeredgewidth=0.7,
                    )
        axes.set_yticks(range(len(values)), map(words, values))
        axes.tick_params(axis="y", labelcolor=plot.INK)
        axes.set_ylim(len(values) - 0.5, -0.6)
        axes.set_xscale("log")
        low, high = axes.get_xlim()
        if high / low < 2:  # a few percent are not to look like much
            axes.set_xlim((low * high / 2) ** 0.5, (low * high * 2) ** 0.5)
        plot.value_axis(axes, plot.rate_text, "x")
        axes.set_xlabel("keys a second")
        axes.spines["left"].set_visible(False)
        axes.set_title(title, pad=20)
        _names_above(figure, axes, steps)
        plot.save(figure, stem)
    return True


def _names_above(figure, axes, steps):
    """The steps' names in their colours, in one line above the axes."""
    x = 0.0
    figure.canvas.draw()
    width = axes.get_window_extent().width
    for number, name in steps:
        axes.plot(
            x + 0.008, 1.0, "o", color=plot.step_colour(number), markersize=6, transform=axes.transAxes, clip_on=False
        )
        text = axes.annotate(
            f"{number:02} {name}",
            (x, 1.0),
            xycoords="axes fraction",
            xytext=(10, 0),
            textcoords="offset points",
            color=plot.step_words(number),
            size=9,
            va="center",
        )
        x += (text.get_window_extent().width + 26) / width


def inputs(rows, lab, stem):
    """The speed of each step on each distribution."""
    own = [
        row
        for row in measurements.whole(measurements.verified(rows))
        if (row["blocks"], row["threads"], row["order"]) == ("0", "0", "ascending") and ":" not in row["input"]
    ]
    counts = {}
    for row in own:
        if row["lab"] == lab:
            counts.setdefault((row["n"], row["type"]), set()).add(row["input"])
    if not counts:
        return False
    n, kind = max(counts, key=lambda key: (len(counts[key]), int(key[0])))
    own = [row for row in own if (row["n"], row["type"]) == (n, kind)]

    def words(name):
        bits = entropy(name, kind)
        return name if bits is None else f"{name}, {bits:.3g} bit{'' if bits == 1 else 's'}"

    return _dots(
        by_entropy(own),
        lab,
        stem,
        "input",
        f"Which input, {plot.count_text(n)} {kind} keys (bits: entropy of a key)",
        words=words,
    )


def types(rows, lab, stem):
    """The speed of each step on each type of key, of rows with one n."""
    own = [row for row in rows if row["lab"] == lab and row["task"] == "sort"]
    if not own:
        return False
    return _dots(
        own,
        lab,
        stem,
        "type",
        f"Which type of key, {plot.count_text(own[0]['n'])} keys",
        order=lambda kind: list(BYTES).index(kind),
    )


def largest_value(row):
    """Of keys that are uniform from 0 to that; else None."""
    match = re.fullmatch(r"range:0:(\d+)", row["input"])
    return int(match[1]) if match else None


def _ranged(rows, lab):
    """Sorts of a lab over such keys, where the step chose its launch."""
    return [
        row
        for row in measurements.whole(measurements.verified(rows))
        if largest_value(row) is not None and row["lab"] == lab and row["task"] == "sort" and row["blocks"] == "0"
    ]


def value_range(rows, lab, stem):
    """The speed of each step over the largest value among the keys."""
    own = [dict(row, values=largest_value(row) + 1) for row in _ranged(rows, lab)]
    if len({row["values"] for row in own}) < 2:
        return False
    counts = [(row["n"], row["type"]) for row in own]
    n, kind = max(dict.fromkeys(counts), key=counts.count)
    own = [row for row in own if (row["n"], row["type"]) == (n, kind)]
    with plot.drawing(7.2, 3.8) as (figure, axes):
        labels = []
        for number, name in dict.fromkeys((int(row["step"]), row["name"]) for row in own):
            line = sorted((row for row in own if row["name"] == name), key=lambda row: row["values"])
            xs = [row["values"] for row in line]
            axes.plot(xs, [speed(row) for row in line], color=plot.step_colour(number), marker="o")
            labels.append((xs[-1], speed(line[-1]), f"{number:02} {name}", plot.step_words(number)))
        plot.counts_axis(axes, [row["values"] for row in own], "different values that a key may have")
        plot.value_axis(axes, plot.rate_text)
        axes.set_title(f"keys a second, {plot.count_text(n)} {kind} keys")
        plot.end_labels(axes, labels)
        plot.save(figure, stem)
    return True


def value_range_lines(rows, lab, stem):
    """Time against n, a line a largest value, a panel a step."""
    own = {}
    for row in _ranged(rows, lab):
        lines = own.setdefault((int(row["step"]), row["name"]), {})
        lines.setdefault((largest_value(row), row["type"]), {})[int(row["n"])] = row
    # The sizes that several ranges were swept over, without the one that all ranges were measured at.
    plain = {n for lines in own.values() for by_n in lines.values() for n in by_n if not is_power(n)}
    if len(plain) > 1:
        own = {
            step: {key: {n: row for n, row in by_n.items() if n in plain} for key, by_n in lines.items()}
            for step, lines in own.items()
        }
    panels_of = {}
    for step, lines in own.items():
        lines = {key: by_n for key, by_n in lines.items() if len(by_n) > 1}
        if len(lines) > 1:
            panels_of[step] = dict(sorted(lines.items()))
    if not panels_of:
        return False
    with plot.drawing(max(5.4, 4.2 * len(panels_of)), 3.4, ncols=len(panels_of), squeeze=False) as (figure, panels):
        todo = []
        for axes, ((number, name), lines) in zip(panels[0], sorted(panels_of.items())):
            labels, counts = [], set()
            for place, ((largest, _), by_n) in enumerate(lines.items(), 1):
                xs = sorted(by_n)
                counts.update(xs)
                axes.plot(
                    xs,
                    [milliseconds(by_n[n]) for n in xs],
                    color=plot.step_colour(number),
                    marker="o",
                    alpha=0.4 + 0.6 * place / len(lines),
                )
                labels.append((xs[-1], milliseconds(by_n[xs[-1]]), f"0 to {largest:,}", plot.step_words(number)))
            plot.counts_axis(axes, counts)
            plot.value_axis(axes, plot.time_text)
            axes.set_title(f"{number:02} {name}: time of one sort, {next(iter(lines))[1]} keys")
            todo.append((axes, labels))
        for axes, labels in todo:
            plot.end_labels(axes, labels, size=8.5)
        plot.save(figure, stem)
    return True


def kernels(rows, lab, stem):
    """A bar a step, cut into its kernels: where the time goes, at the largest n."""
    parts = [
        row
        for row in measurements.verified(rows)
        if row["lab"] == lab
        and row["task"] == "sort"
        and row["kernel"] not in ("", *measurements.TRANSFERS)
        and (row["blocks"], row["threads"]) == ("0", "0")
        and row["input"] == "uniform"
    ]
    steps = {}
    for row in parts:
        steps.setdefault((int(row["step"]), row["name"]), {}).setdefault(int(row["n"]), []).append(row)
    if not steps:
        return False
    steps = dict(sorted(steps.items()))
    with plot.drawing(7.2, 1.1 + 0.68 * len(steps)) as (figure, axes):
        axes.set_title("where the time of a step goes")
        for line, ((number, name), by_n) in enumerate(steps.items()):
            own = by_n[max(by_n)]
            total = sum(map(milliseconds, own)) or 1
            left, small = 0.0, []
            for place, row in enumerate(own):
                share = 100 * milliseconds(row) / total
                axes.barh(
                    line,
                    share,
                    left=left,
                    height=0.58,
                    color=plot.step_colour(number),
                    alpha=1 if place % 2 == 0 else 0.72,
                    edgecolor=plot.PAPER,
                    linewidth=1,
                )
                words = f"{row['kernel']} {share:.0f} %"
                if share <= len(words) * 1.5:
                    small.append(words)
                else:
                    axes.text(
                        left + share / 2,
                        line,
                        words,
                        ha="center",
                        va="center",
                        size=8,
                        color="#000000" if number % 6 in (0, 4, 5) else plot.PAPER,
                    )
                left += share
            if small:
                axes.text(0, line + 0.34, "narrow: " + ", ".join(small), va="top", size=7.5, color=plot.MUTED)
            axes.annotate(
                f"{plot.time_text(total)}, {plot.count_text(max(by_n))} keys",
                (100, line),
                xytext=(8, 0),
                textcoords="offset points",
                va="center",
                size=8.5,
                color=plot.MUTED,
                annotation_clip=False,
            )
        axes.set_yticks(range(len(steps)), [f"{number:02} {name}" for number, name in steps])
        for text, (number, _) in zip(axes.get_yticklabels(), steps):
            text.set_color(plot.step_words(number))
        axes.set_ylim(len(steps) - 0.4, -0.4)
        axes.set_xlim(0, 100)
        axes.set_xlabel("percent of the time of all kernels of the step")
        axes.spines[:].set_visible(False)
        plot.save(figure, stem)
    return True


def machines(lines, stem, title):
    """Lines over n from several machines or programs.

    lines: (label, step's number or None for a gold standard, 0 for solid, 1 dashed, 2 dotted, [(n, keys a second)])
    """
    lines = [line for line in lines if line[3]]
    if len(lines) < 2:
        return False
    with plot.drawing(7.2, 4.2) as (figure, axes):
        labels, counts = [], set()
        for name, number, dashes, points in lines:
            colour = plot.INK if number is None else plot.step_colour(number)
            words = plot.INK if number is None else plot.step_words(number)
            axes.plot(
                *zip(*points),
                color=colour,
                marker="o",
                markersize=3,
                linewidth=1.5,
                linestyle=("-", (0, (4, 2)), (0, (1, 1.4)))[dashes % 3],
            )
            labels.append((*points[-1], name, words))
            counts.update(n for n, _ in points)
        plot.counts_axis(axes, {n for n in counts if is_power(n)} or counts)
        plot.value_axis(axes, plot.rate_text)
        axes.set_title(title)
        plot.end_labels(axes, labels, size=8.5)
        plot.save(figure, stem)
    return True


def all_labs(rows_of, stem, formats=("svg",)):
    """A panel a lab: the speed of every step over n, the gold standard and the roof. rows_of: lab -> rows"""
    columns = min(3, len(rows_of))
    lines = -(-len(rows_of) // columns)
    with plot.drawing(
        4.6 * columns if columns > 1 else 7.2,
        3.5 * lines if columns > 1 else 4.0,
        ncols=columns,
        nrows=lines,
        squeeze=False,
    ) as (figure, panels):
        todo = []
        for axes in panels.flat[len(rows_of) :]:
            axes.set_visible(False)
        for axes, (lab, rows) in zip(panels.flat, rows_of.items()):
            todo.append((axes, _draw_over_n(axes, rows, lab, speed, plot.rate_text)))
            axes.set_title(f"{lab.split('-', 1)[1]}: keys a second")
        for axes, labels in todo:
            plot.end_labels(axes, labels, gap=10, size=8)
        plot.save(figure, stem, formats)
    return True

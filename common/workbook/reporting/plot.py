"""How plots look, where matplotlib is there: colours, axes, labels, files. The plots themselves are in charts.py."""

import contextlib

from ..core import files

# Okabe and Ito's palette, which people tell apart whatever colours they see (jfly.uni-koeln.de/color). A step has the
# colour of its number in every plot; text in that colour is darker, to be read on white.
STEPS = {0: "#E69F00", 1: "#0072B2", 2: "#D55E00", 3: "#009E73", 4: "#CC79A7", 5: "#56B4E9"}
WORDS = {0: "#8F6200", 1: "#00588A", 2: "#A84A00", 3: "#00704F", 4: "#98446F", 5: "#1F6E9E"}
INK, MUTED, GREY, FAINT, PAPER = "#24292F", "#59636E", "#B4BBC3", "#E4E7EB", "#FEFEFE"
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
_GOLD = "#B8860B"


def step_colour(number):
    """The colour of a step's line or dot."""
    return STEPS[int(number) % len(STEPS)]


def step_words(number):
    """The colour of a step's name."""
    return WORDS[int(number) % len(WORDS)]


def available():
    """Whether plots can be made."""
    try:
        import matplotlib
    except ImportError:
        return False
    matplotlib.use("agg")
    return True


@contextlib.contextmanager
def drawing(width, height, **options):
    """A figure and its axes, as subplots() gives them, in the style of all plots."""
    import matplotlib
    from matplotlib import pyplot

    style = {
        "font.family": "sans-serif",
        "font.sans-serif": ["DejaVu Sans", "Verdana", "sans-serif"],
        "font.size": 9.5,
        "text.color": INK,
        "axes.labelcolor": INK,
        "xtick.color": MUTED,
        "ytick.color": MUTED,
        "axes.edgecolor": MUTED,
        "axes.linewidth": 0.7,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.titlesize": 10.5,
        "axes.titlelocation": "left",
        "axes.titleweight": "normal",
        "axes.axisbelow": True,
        "grid.color": FAINT,
        "grid.linewidth": 0.8,
        "lines.linewidth": 1.8,
        "lines.markersize": 4,
        "lines.solid_capstyle": "round",
        "xtick.minor.size": 0,
        "ytick.minor.size": 0,
        "xtick.major.size": 3,
        "ytick.major.size": 0,
        "svg.fonttype": "none",
        "svg.hashsalt": "workbook",
        "figure.facecolor": PAPER,
        "axes.facecolor": "none",
        "pdf.fonttype": 42,
    }
    with matplotlib.rc_context(style):
        figure, axes = pyplot.subplots(figsize=(width, height), layout="constrained", **options)
        try:
            yield figure, axes
        finally:
            pyplot.close(figure)


def save(figure, stem, formats=("svg", "png", "pdf")):
    """Writes stem.svg, stem.png and stem.pdf, each whole or not at all; no dates in them."""
    import io

    for form in formats:
        content = io.BytesIO()
        without_date = {"svg": {"Date": None, "Creator": None}, "pdf": {"CreationDate": None}, "png": {}}[form]
        figure.savefig(content, format=form, dpi=160, metadata=without_date)
        files.write_whole(stem.with_suffix(f".{form}"), content.getvalue())


# --- axes ---

_SUPERSCRIPTS = str.maketrans("-0123456789", "\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079")


def power(base, exponent):
    """2 to the 10th as people write it."""
    return f"{base}{str(exponent).translate(_SUPERSCRIPTS)}"


def count_text(n):
    """A number of keys on an axis or in a title: a power of two or of ten as such."""
    n = int(n)
    if n >= 1024 and n & (n - 1) == 0:
        return power(2, n.bit_length() - 1)
    if n >= 1000 and str(n).rstrip("0") == "1":
        return power(10, len(str(n)) - 1)
    return f"{n:,}"


def _short(value):
    return f"{value:.3g}"


def rate_text(keys_per_s):
    """12.5 M: keys a second."""
    for unit, name in ((1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")):
        if keys_per_s >= unit * 0.9995:
            return _short(keys_per_s / unit) + name
    return _short(keys_per_s)


def time_text(milliseconds):
    """12.5 ms, with the unit that suits."""
    for unit, name in ((1e3, " s"), (1, " ms"), (1e-3, " \u00b5s")):
        if milliseconds >= unit * 0.9995:
            return _short(milliseconds / unit) + name
    return _short(milliseconds * 1e6) + " ns"


def counts_axis(axes, counts, title="keys"):
    """A logarithmic axis of numbers of keys below, with a mark at those that were measured, or at some of them."""
    from matplotlib import ticker

    counts = sorted(set(counts))
    axes.set_xscale("log", base=2)
    while len(counts) > 8:
        counts = counts[::2]
    axes.xaxis.set_major_locator(ticker.FixedLocator(counts))
    axes.xaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: count_text(round(value))))
    axes.xaxis.set_minor_locator(ticker.NullLocator())
    axes.set_xlabel(title)


def value_axis(axes, text, which="y"):
    """A logarithmic axis of values that `text` turns into words, with a grid."""
    from matplotlib import ticker

    axis = axes.yaxis if which == "y" else axes.xaxis
    (axes.set_yscale if which == "y" else axes.set_xscale)("log")
    low, high = axes.get_ylim() if which == "y" else axes.get_xlim()
    marks = (1, 1.5, 2, 3, 4, 5, 6, 8) if high / low < 5 else (1, 2, 5) if high / low < 150 else (1,)
    axis.set_major_locator(ticker.LogLocator(base=10, subs=marks, numticks=12))
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: text(value)))
    axis.set_minor_locator(ticker.NullLocator())
    axes.grid(axis=which)


def end_labels(axes, labels, gap=11.5, size=9):
    """Names lines at their right ends, moved apart where they would touch.

    labels: (x, y in data, text, colour)
    """
    figure = axes.figure
    figure.canvas.draw()  # the places of the axes are known after this
    scale = figure.dpi / 72
    low, high = (axes.transAxes.transform((0, y))[1] / scale for y in (0, 1))

    def centre(group):
        """Where the middle of these labels is best: at their lines, but not beyond the axes."""
        room = gap * (len(group) - 1) / 2
        mean = sum(one[0] for one in group) / len(group)
        return max(min(mean, high + gap / 2 - room), low + gap / 2 + room)

    def write(own, x, y, text, colour, middle):
        axes.annotate(
            text,
            (x, y),
            xytext=(8, middle - own),
            textcoords="offset points",
            color=colour,
            size=size,
            va="center",
            annotation_clip=False,
            zorder=5,
            bbox={"facecolor": PAPER, "edgecolor": "none", "alpha": 0.8, "pad": 0.4},
        )

    ends = sorted(
        ([axes.transData.transform((x, y))[1] / scale, x, y, text, colour] for x, y, text, colour in labels),
        key=lambda end: end[0],
    )
    last = max((end[1] for end in ends), default=0)
    groups = []  # of labels that touch, each with the place that suits all
    for end in ends:
        if end[1] < last:
            continue
        groups.append([[end], centre([end])])
        while len(groups) > 1:
            (first, a), (second, b) = groups[-2:]
            if b - a >= gap * (len(first) + len(second)) / 2:
                break
            both = first + second
            groups[-2:] = [[both, centre(both)]]
    for members, middle in groups:
        bottom = middle - gap * (len(members) - 1) / 2
        for place, end in enumerate(members):
            write(*end, bottom + place * gap)
    taken = []  # by labels of lines that end before the others: (left, right, middle)
    for end in ends:
        if end[1] < last:
            left = axes.transData.transform((end[1], end[2]))[0] / scale + 8
            right = left + 0.6 * size * len(end[3])
            places = (end[0] + step * gap / 4 for step in sorted(range(-16, 17), key=abs))
            free = (
                place
                for place in places
                if low < place < high
                and not _crossed(axes, scale, left, right, place, gap / 2)
                and all(right < a or left > b or abs(place - other) >= gap for a, b, other in taken)
            )
            middle = next(free, end[0])
            taken.append((left, right, middle))
            write(*end, middle)


def _crossed(axes, scale, left, right, middle, half):
    """Whether a line of the plot goes through a box (all in points)."""
    for line in axes.lines:
        points = axes.transData.transform(line.get_xydata()) / scale
        for (x0, y0), (x1, y1) in zip(points, points[1:]):
            a, b = max(left, x0), min(right, x1)
            if a < b:
                ys = [y0 + (y1 - y0) * (x - x0) / (x1 - x0) for x in (a, b)]
                if min(ys) < middle + half and max(ys) > middle - half:
                    return True
    return False


def demo(rows, path, kind):
    """A line a step: its speed on each input, and the gold standard's on the first, as SVG. False: no matplotlib.

    rows: (label of the step, input, Mkeys/s, the gold standard's Mkeys/s or None)
    """
    try:
        import matplotlib
    except ImportError:
        return False
    matplotlib.use("svg")
    from matplotlib import pyplot

    inputs = list(dict.fromkeys(row[1] for row in rows))
    labels = list(dict.fromkeys(row[0] for row in rows))
    figure, axes = pyplot.subplots(figsize=(9, 1.4 + 0.28 * len(labels)), layout="constrained")
    for line, label in enumerate(labels):
        own = [row for row in rows if row[0] == label]
        gold = next((row[3] for row in own if row[3]), None)
        if gold:
            axes.plot([own[0][2], gold], [line, line], color="#DDDDDD", linewidth=2, zorder=1)
            axes.plot(gold, line, "|", color=_GOLD, markersize=11, markeredgewidth=3, zorder=2)
        for _, name, speed, _ in own:
            axes.plot(speed, line, "o", color=_COLOURS[inputs.index(name) % len(_COLOURS)], markersize=6, zorder=3)
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.set_xscale("log")
    axes.set_xlabel("million keys a second (logarithmic)")
    axes.set_title(f"Every step of every lab, {kind} build", loc="left", fontsize=11)
    marks = [("o", _COLOURS[i % len(_COLOURS)], name) for i, name in enumerate(inputs)]
    marks.append(("|", _GOLD, f"gold standard, {inputs[0]}"))
    handles = [
        axes.plot([], [], mark, color=colour, label=name, markersize=8, markeredgewidth=2 + (mark == "|"))[0]
        for mark, colour, name in marks
    ]
    figure.legend(
        handles=handles,
        loc="outside upper right",
        ncols=len(handles),
        frameon=False,
        fontsize=9,
        labelcolor="linecolor",
        handletextpad=0.1,
        columnspacing=1,
    )
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color="#EEEEEE")
    axes.set_axisbelow(True)
    figure.savefig(path, format="svg")
    pyplot.close(figure)
    return True

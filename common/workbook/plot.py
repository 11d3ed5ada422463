"""Plots, where matplotlib is there."""

from . import table

# Okabe and Ito's palette, which people tell apart whatever colours they see (jfly.uni-koeln.de/color).
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
_GOLD = "#B8860B"


def demo(rows, path, kind):
    """A line a step and input, from its speed to the gold standard's, as SVG. False: there is no matplotlib.

    rows: (label of the step, input, Mkeys/s, the gold standard's Mkeys/s or None)
    """
    try:
        import matplotlib
    except ImportError:
        return False
    matplotlib.use("svg")
    from matplotlib import pyplot

    inputs = list(dict.fromkeys(row[1] for row in rows))
    rows = sorted(rows, key=lambda row: row[0])
    figure, axes = pyplot.subplots(figsize=(8, 1.2 + 0.34 * len(rows)), layout="constrained")
    for line, (_, name, speed, gold) in enumerate(rows):
        colour = _COLOURS[inputs.index(name) % len(_COLOURS)]
        if gold:
            axes.plot([speed, gold], [line, line], color="#DDDDDD", linewidth=2, zorder=1)
            axes.plot(gold, line, "|", color=_GOLD, markersize=13, markeredgewidth=3, zorder=2)
        axes.plot(speed, line, "o", color=colour, markersize=8, zorder=3)
        axes.annotate(table.significant(speed), (speed, line), (0, 7), textcoords="offset points", ha="center",
                      fontsize=8, color=colour)
    best = max((row[3] for row in rows if row[3]), default=None)
    if best:
        axes.annotate("gold standard", (best, [row[3] for row in rows].index(best)), (9, 0), textcoords="offset points",
                      va="center", fontsize=9, color=_GOLD, annotation_clip=False)
    axes.set_yticks(range(len(rows)), [f"{label}, {name}" for label, name, _, _ in rows])
    axes.set_ylim(len(rows) - 0.5, -0.8)
    axes.set_xscale("log")
    axes.set_xlabel("million keys a second (logarithmic)")
    axes.set_title(f"Every step of every lab, {kind} build", loc="left", fontsize=11)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color="#EEEEEE")
    axes.set_axisbelow(True)
    figure.savefig(path, format="svg")
    pyplot.close(figure)
    return True

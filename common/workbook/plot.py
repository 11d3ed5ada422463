"""Plots, where matplotlib is there."""

from . import table

# Okabe and Ito's palette, which people tell apart whatever colours they see (jfly.uni-koeln.de/color).
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
_GOLD = "#B8860B"


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
    handles = [axes.plot([], [], mark, color=colour, label=name, markersize=8, markeredgewidth=2 + (mark == "|"))[0]
               for mark, colour, name in marks]
    figure.legend(handles=handles, loc="outside upper right", ncols=len(handles), frameon=False, fontsize=9,
                  labelcolor="linecolor", handletextpad=0.1, columnspacing=1)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color="#EEEEEE")
    axes.set_axisbelow(True)
    figure.savefig(path, format="svg")
    pyplot.close(figure)
    return True

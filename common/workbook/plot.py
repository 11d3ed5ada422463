"""Plots, where matplotlib is there."""


def demo(rows, path, kind):
    """Bars of keys per second, a group for each step, with the gold standard's mark. False: there is no matplotlib.

    rows: (label of the step, input, Mkeys/s, the gold standard's Mkeys/s or None)
    """
    try:
        import matplotlib
    except ImportError:
        return False
    matplotlib.use("svg")
    from matplotlib import pyplot

    labels = list(dict.fromkeys(row[0] for row in rows))
    inputs = list(dict.fromkeys(row[1] for row in rows))
    figure, axes = pyplot.subplots(figsize=(8, 4.5), layout="constrained")
    width = 0.8 / max(1, len(inputs))
    for i, name in enumerate(inputs):
        chosen = [row for row in rows if row[1] == name]
        places = [labels.index(row[0]) + (i - (len(inputs) - 1) / 2) * width for row in chosen]
        axes.bar(places, [row[2] for row in chosen], width * 0.95, label=name)
        marked = [(place, row[3]) for place, row in zip(places, chosen) if row[3]]
        axes.scatter([m[0] for m in marked], [m[1] for m in marked], marker="_", s=300, color="black", zorder=3,
                     label="gold standard" if i == len(inputs) - 1 else None)
    axes.set_yscale("log")
    axes.set_ylabel("million keys a second (log)")
    axes.set_xticks(range(len(labels)), labels)
    axes.set_title(f"Every step of every lab, {kind} build")
    axes.legend()
    figure.savefig(path, format="svg")
    pyplot.close(figure)
    return True

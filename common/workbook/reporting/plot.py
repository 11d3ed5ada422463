"""The style of all plots: colours, figures, files, axes and numbers. matplotlib is imported late: it may be missing."""

from __future__ import annotations

import contextlib
import importlib.util
import io
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from ..core import files
from ..pictures import theme

# A step has the colour of its number in every plot; its name has a colour of the same hue with more contrast.
STEPS, WORDS = theme.STEPS, theme.WORDS
INK, MUTED, GREY, FAINT, PAPER = theme.INK, theme.MUTED, theme.WIRE, theme.RULE, theme.PAPER
_STYLE: dict[Any, Any] = {
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
FORMATS = ("svg", "png", "pdf")
_SUPERSCRIPTS = str.maketrans("-0123456789", "\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079")


def step_colour(number: int) -> str:
    """The colour of a step's line or dot."""
    return STEPS[number % len(STEPS)]


def step_words(number: int) -> str:
    """The colour of a step's name."""
    return WORDS[number % len(WORDS)]


def step_fill(number: int) -> str:
    """The pale colour of a step's areas that text lies on. They need an outline in its colour."""
    return theme.FILLS[number % len(theme.FILLS)]


def available() -> bool:
    """Whether matplotlib is installed. (It is imported only when something is drawn, which takes a second.)"""
    return importlib.util.find_spec("matplotlib") is not None


# --- figures and files ---


@contextlib.contextmanager
def drawing(
    width: float, height: float, stem: Path | None = None, formats: Iterable[str] = FORMATS, **options: Any
) -> Iterator[tuple[Any, Any]]:
    """A figure and its axes in the style of all plots, which is saved in the end if it has a stem. Sizes are in inches;
    `options` are those of subplots()."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    with matplotlib.rc_context(_STYLE):
        figure, axes = pyplot.subplots(figsize=(width, height), layout="constrained", **options)
        try:
            yield figure, axes
            if stem:
                save(figure, stem, formats)
        finally:
            pyplot.close(figure)


@contextlib.contextmanager
def panels(
    count: int,
    width: float,
    height: float,
    stem: Path,
    formats: Iterable[str] = FORMATS,
    *,
    columns: int = 3,
    least_width: float = 0,
    extra_height: float = 0,
) -> Iterator[tuple[Any, list[Any]]]:
    """The same with `count` axes, `columns` in a row; `width` and `height` are those of one panel."""
    columns = min(columns, count)
    rows = -(-count // columns)
    size = max(width * columns + 0.3, least_width), height * rows + extra_height
    with drawing(*size, stem, formats, ncols=columns, nrows=rows, squeeze=False) as (figure, grid):
        for axes in grid.flat[count:]:
            axes.set_visible(False)
        yield figure, list(grid.flat[:count])


def save(figure: Any, stem: Path, formats: Iterable[str] = FORMATS) -> None:
    """Writes stem.svg, stem.png and stem.pdf, without dates, so that the same data makes the same files.

    The SVG describes itself in words: by the label of the figure, figure.set_label(), or else by its lines' labels.
    """
    for form in formats:
        content = io.BytesIO()
        without_date = {"svg": {"Date": None, "Creator": None}, "pdf": {"CreationDate": None}, "png": {}}[form]
        figure.savefig(content, format=form, dpi=160, metadata=without_date)
        written = content.getvalue()
        if form == "svg":
            written = theme.finished(written.decode(), title_of(figure), description_of(figure)).encode()
        files.write_whole(stem.with_suffix(f".{form}"), written)


def title_of(figure: Any) -> str:
    """The title of the figure, or those of its axes."""
    if figure._suptitle:
        return str(figure._suptitle.get_text())
    return "; ".join(dict.fromkeys(filter(None, (axes.get_title("left") for axes in figure.axes))))


def description_of(figure: Any) -> str:
    """The figure's label; without one, where each line with a label begins and ends."""
    return str(figure.get_label()) or " ".join(_in_words(axes) for axes in figure.axes if axes.get_visible())


def _in_words(axes: Any) -> str:
    x_of, y_of = axes.xaxis.get_major_formatter(), axes.yaxis.get_major_formatter()
    lines = []
    for line in axes.lines:
        points = [(x_of(x, 0), y_of(y, 0)) for x, y in line.get_xydata()]
        if points and not line.get_label().startswith("_"):
            (x0, y0), (x1, y1) = points[0], points[-1]
            lines.append(f"{line.get_label()}, {y0} at {x0} to {y1} at {x1}")
    return f"{axes.get_title('left')}. {axes.get_xlabel()}: {'; '.join(lines)}."


# --- numbers ---


def power(base: int, exponent: int) -> str:
    """A power with a superscript."""
    return f"{base}{str(exponent).translate(_SUPERSCRIPTS)}"


def count_text(n: int) -> str:
    """A number of keys on an axis or in a title; powers of two and of ten are written as powers."""
    if n >= 1024 and n & (n - 1) == 0:
        return power(2, n.bit_length() - 1)
    if n >= 1000 and str(n).rstrip("0") == "1":
        return power(10, len(str(n)) - 1)
    return f"{n:,}"


def _short(value: float) -> str:
    return f"{value:.3g}"


def rate_text(keys_per_s: float) -> str:
    """Keys per second: 12.5 M."""
    for unit, name in ((1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")):
        if keys_per_s >= unit * 0.9995:
            return _short(keys_per_s / unit) + name
    return _short(keys_per_s)


def time_text(milliseconds: float) -> str:
    """A time in the unit that suits it: 12.5 ms."""
    for unit, name in ((1e3, " s"), (1, " ms"), (1e-3, " \u00b5s")):
        if milliseconds >= unit * 0.9995:
            return _short(milliseconds / unit) + name
    return _short(milliseconds * 1e6) + " ns"


# --- axes ---


def entitle(figure: Any, title: str) -> None:
    """A title at the left edge of the figure, above what stands left of its axes."""
    figure.suptitle(title, x=0.01, ha="left", size=10.5)


def bare(axes: Any) -> None:
    """Leaves only the grid of the x axis: rows have their names from write()."""
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.tick_params(length=0, labelsize=8.5)
    axes.set_yticks([])
    axes.grid(axis="x")


def write(axes: Any, x: float, y: float, words: str, right: float, **look: Any) -> None:
    """Words `right` points to the right of a place; if that is negative, to the left of the axes."""
    where = ("axes fraction", "data") if right < 0 else "data"
    place = {"xytext": (right, 0), "xycoords": where, "textcoords": "offset points", "annotation_clip": False}
    paper = {"facecolor": PAPER, "edgecolor": "none", "pad": 0.5}  # hides lines of the grid
    axes.annotate(words, (x, y), va="center", size=8.5, bbox=paper if words else None, **place, **look)


def counts_axis(axes: Any, measured: Iterable[int], title: str = "keys") -> None:
    """A logarithmic x axis of numbers of keys, with at most eight of the measured ones as ticks."""
    from matplotlib import ticker

    counts = sorted(set(measured))
    axes.set_xscale("log", base=2)
    while len(counts) > 8:
        counts = counts[::2]
    axes.xaxis.set_major_locator(ticker.FixedLocator(counts))
    axes.xaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: count_text(round(value))))
    axes.xaxis.set_minor_locator(ticker.NullLocator())
    axes.set_xlabel(title)


def value_axis(axes: Any, text: Callable[[float], str], which: str = "y") -> None:
    """A logarithmic axis with a grid; `text` formats its values."""
    from matplotlib import ticker

    axis = axes.yaxis if which == "y" else axes.xaxis
    (axes.set_yscale if which == "y" else axes.set_xscale)("log")
    low, high = axes.get_ylim() if which == "y" else axes.get_xlim()
    marks = (1, 1.5, 2, 3, 4, 5, 6, 8) if high / low < 5 else (1, 2, 5) if high / low < 150 else (1,)
    axis.set_major_locator(ticker.LogLocator(base=10, subs=marks, numticks=12))
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: text(value)))
    axis.set_minor_locator(ticker.NullLocator())
    axes.grid(axis=which)

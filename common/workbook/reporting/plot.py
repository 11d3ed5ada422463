"""The style of all plots: colours, figures, files, axes and numbers. matplotlib is imported late: it may be missing."""

from __future__ import annotations

import contextlib
import importlib.util
import io
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from ..core import files

# Okabe and Ito's palette, which is safe for all kinds of colour vision (jfly.uni-koeln.de/color). A step has the colour
# of its number in every plot; text has a darker shade of it, which is legible on white.
STEPS = {0: "#E69F00", 1: "#0072B2", 2: "#D55E00", 3: "#009E73", 4: "#CC79A7", 5: "#56B4E9"}
WORDS = {0: "#8F6200", 1: "#00588A", 2: "#A84A00", 3: "#00704F", 4: "#98446F", 5: "#1F6E9E"}
INK, MUTED, GREY, FAINT, PAPER = "#24292F", "#59636E", "#B4BBC3", "#E4E7EB", "#FEFEFE"
_STYLE = {
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
    least_width: float = 0,
    extra_height: float = 0,
) -> Iterator[tuple[Any, list[Any]]]:
    """The same with `count` axes, three in a row; `width` and `height` are those of one panel."""
    columns = min(3, count)
    rows = -(-count // columns)
    size = max(width * columns + 0.3, least_width), height * rows + extra_height
    with drawing(*size, stem, formats, ncols=columns, nrows=rows, squeeze=False) as (figure, grid):
        for axes in grid.flat[count:]:
            axes.set_visible(False)
        yield figure, list(grid.flat[:count])


def save(figure: Any, stem: Path, formats: Iterable[str] = FORMATS) -> None:
    """Writes stem.svg, stem.png and stem.pdf, without dates, so that the same data makes the same files."""
    for form in formats:
        content = io.BytesIO()
        without_date = {"svg": {"Date": None, "Creator": None}, "pdf": {"CreationDate": None}, "png": {}}[form]
        figure.savefig(content, format=form, dpi=160, metadata=without_date)
        files.write_whole(stem.with_suffix(f".{form}"), content.getvalue())


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

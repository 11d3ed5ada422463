"""Labels at the ends of lines, moved apart where they would overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .plot import PAPER

Label = tuple[float, float, str, str]  # x and y in data coordinates, text, colour
NEAR = 40  # points: labels of lines that end so near to the last end are in one column with its label


class _End:
    """The end of a line: its label, its place in points, and where its label begins."""

    def __init__(self, axes: Any, scale: float, label: Label) -> None:
        self.x, self.y, self.text, self.colour = label
        self.at, self.height = axes.transData.transform((self.x, self.y)) / scale
        self.left = self.at + 8


class _Group:
    """Labels that would overlap and are spread around one centre."""

    def __init__(self, ends: list[_End], gap: float, low: float, high: float) -> None:
        self.ends, self.gap, self.low, self.high = ends, gap, low, high
        # Best at their lines, but within the axes.
        room = gap * (len(ends) - 1) / 2
        mean = sum(end.height for end in ends) / len(ends)
        self.centre = max(min(mean, high + gap / 2 - room), low + gap / 2 + room)

    def overlaps(self, above: _Group) -> bool:
        """Whether this group and the one above it are too close."""
        return bool(above.centre - self.centre < self.gap * (len(self.ends) + len(above.ends)) / 2)

    def joined(self, above: _Group) -> _Group:
        """Both groups as one."""
        return _Group(self.ends + above.ends, self.gap, self.low, self.high)


def end_labels(axes: Any, labels: Sequence[Label], gap: float = 11.5, size: float = 9) -> None:
    """Writes the names of lines at their right ends. `gap`: points between two labels; `size`: of the text."""
    axes.figure.canvas.draw()  # lays the axes out, so that their places are known
    scale = axes.figure.dpi / 72
    low, high = (axes.transAxes.transform((0, y))[1] / scale for y in (0, 1))
    ends = sorted((_End(axes, scale, label) for label in labels), key=lambda end: end.height)
    last = max((end.left for end in ends), default=0)
    inside = [end for end in ends if end.left < last - NEAR]
    groups: list[_Group] = []
    for end in (end for end in ends if end not in inside):
        end.left = last
        groups.append(_Group([end], gap, low, high))
        while len(groups) > 1 and groups[-2].overlaps(groups[-1]):
            groups[-2:] = [groups[-2].joined(groups[-1])]
    taken: list[tuple[float, float, float]] = []  # places of labels: (left, right, middle)
    for group in groups:
        bottom = group.centre - gap * (len(group.ends) - 1) / 2
        for place, end in enumerate(group.ends):
            middle = bottom + place * gap
            taken.append((*_sides(end, size), middle))
            _write(axes, end, middle, size)
    for end in inside:
        left, right = _sides(end, size)
        heights = (end.height + step * gap / 4 for step in sorted(range(-16, 17), key=abs))
        clear = [
            height
            for height in heights
            if low < height < high and all(right < a or left > b or abs(height - other) >= gap for a, b, other in taken)
        ]
        free = (height for height in clear if not crossed(axes, scale, left, right, height, gap / 2))
        middle = next(free, clear[0] if clear else end.height)  # rather across a line than across a label
        taken.append((left, right, middle))
        _write(axes, end, middle, size)


def _sides(end: _End, size: float) -> tuple[float, float]:
    """About where a label begins and ends, in points."""
    return end.left, end.left + 0.6 * size * len(end.text)


def _write(axes: Any, end: _End, middle: float, size: float) -> None:
    axes.annotate(
        end.text,
        (end.x, end.y),
        xytext=(end.left - end.at, middle - end.height),
        textcoords="offset points",
        color=end.colour,
        size=size,
        va="center",
        annotation_clip=False,
        zorder=5,
        bbox={"facecolor": PAPER, "edgecolor": "none", "alpha": 0.8, "pad": 0.4},
    )


def crossed(axes: Any, scale: float, left: float, right: float, middle: float, half: float) -> bool:
    """Whether a line of the plot crosses a box, whose sides are given in points."""
    for line in axes.lines:
        points = axes.transData.transform(line.get_xydata()) / scale
        for (x0, y0), (x1, y1) in zip(points, points[1:]):
            a, b = max(left, x0), min(right, x1)
            if a < b:
                ys = [y0 + (y1 - y0) * (x - x0) / (x1 - x0) for x in (a, b)]
                if min(ys) < middle + half and max(ys) > middle - half:
                    return True
    return False

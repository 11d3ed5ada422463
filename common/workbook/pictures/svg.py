"""A small SVG writer."""

from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape

from . import theme
from .theme import INK, PAPER, WIRE


def number(x: float) -> str:
    """A coordinate with one decimal, which is more than the eye resolves."""
    return f"{x:.1f}".rstrip("0").rstrip(".")


def listed(values: Iterable[object]) -> str:
    """Values for a description, with commas."""
    return ", ".join(map(str, values))


class Drawing:
    """Collects SVG elements on a sheet of paper. `title` and `description` say in words what the picture shows."""

    def __init__(self, width: float, height: float, title: str, description: str) -> None:
        self.width, self.height, self.title, self.description = width, height, title, description
        self.parts: list[str] = []

    def open_group(self, hover: str, kind: str) -> None:
        """Starts a group. `hover` appears under the pointer; `kind` is the group's class."""
        self.parts.append(f'<g class="{kind}"><title>{escape(hover)}</title>')

    def close_group(self) -> None:
        """Ends the group."""
        self.parts.append("</g>")

    def rect(
        self,
        x: float,
        y: float,
        w: float,
        h: float,
        fill: str,
        stroke: str = "none",
        radius: float = 0,
        width: float = 1,
    ) -> None:
        """A rectangle; `radius` rounds its corners."""
        self.parts.append(
            f'<rect x="{number(x)}" y="{number(y)}" width="{number(w)}" height="{number(h)}" rx="{number(radius)}"'
            f' fill="{fill}" stroke="{stroke}" stroke-width="{number(width)}"/>'
        )

    def line(
        self, x1: float, y1: float, x2: float, y2: float, color: str = WIRE, width: float = 1.2, dash: str = ""
    ) -> None:
        """A straight line."""
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(
            f'<line x1="{number(x1)}" y1="{number(y1)}" x2="{number(x2)}" y2="{number(y2)}" stroke="{color}"'
            f' stroke-width="{number(width)}"{dashes}/>'
        )

    def polygon(self, points: Sequence[tuple[float, float]], fill: str) -> None:
        """A filled polygon."""
        corners = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        self.parts.append(f'<polygon points="{corners}" fill="{fill}"/>')

    def diamond(self, x: float, y: float, radius: float, fill: str) -> None:
        """A square on its corner."""
        self.polygon([(x, y - radius), (x + radius, y), (x, y + radius), (x - radius, y)], fill)

    def dot(self, x: float, y: float, radius: float, fill: str) -> None:
        """A filled circle without an outline."""
        self.parts.append(f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(radius)}" fill="{fill}"/>')

    def circle(self, x: float, y: float, radius: float, fill: str, stroke: str, width: float = 1.0) -> None:
        """A circle with an outline; filled with the paper's colour it looks hollow."""
        self.parts.append(
            f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(radius)}" fill="{fill}" stroke="{stroke}"'
            f' stroke-width="{number(width)}"/>'
        )

    def text(
        self,
        x: float,
        y: float,
        words: str,
        size: float = 13,
        color: str = INK,
        anchor: str = "middle",
        weight: str = "normal",
    ) -> None:
        """One line of text; nothing for no words."""
        if not words:
            return
        self.parts.append(
            f'<text x="{number(x)}" y="{number(y)}" font-size="{number(size)}" fill="{color}" text-anchor="{anchor}"'
            f' font-weight="{weight}">{escape(words)}</text>'
        )

    def arrow(self, x: float, y_from: float, y_to: float, color: str, width: float = 1.6) -> None:
        """A comparator: a dot on the wire of the smaller key, the arrowhead on the wire of the larger."""
        self._shaft(x, y_from, y_to, color, width)
        self.dot(x, y_from, 2.6, color)
        self._head(x, y_from, y_to, color)

    def arrow_down(self, x: float, y_from: float, y_to: float, color: str) -> None:
        """A plain arrow."""
        self._shaft(x, y_from, y_to, color, 1.6)
        self._head(x, y_from, y_to, color)

    def small_arrow(self, x: float, y_from: float, y_to: float, color: str, width: float = 1.6) -> None:
        """The same with the smaller, outlined dot of the access pictures."""
        self._shaft(x, y_from, y_to, color, width)
        self.circle(x, y_from, 2.2, color, color)
        self._head(x, y_from, y_to, color)

    def _shaft(self, x: float, y_from: float, y_to: float, color: str, width: float) -> None:
        down = 1 if y_to > y_from else -1
        self.line(x, y_from, x, y_to - down * 5, color, width)

    def _head(self, x: float, y_from: float, y_to: float, color: str) -> None:
        down = 1 if y_to > y_from else -1
        self.polygon([(x, y_to), (x - 4, y_to - down * 8), (x + 4, y_to - down * 8)], color)

    def svg(self) -> str:
        """The whole file."""
        w, h = number(self.width), number(self.height)
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}"'
            " font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\">\n"
            f'<rect width="{w}" height="{h}" rx="8" fill="{PAPER}" stroke="{theme.RULE}"/>\n'
        )
        return theme.finished(head + "\n".join(self.parts) + "\n</svg>", self.title, self.description)

"""A small SVG writer, in the colours of the handouts' figures."""

INK = "#24292f"
MUTED = "#6b7280"
WIRE = "#c3cad3"
RULE = "#dfe3e8"
PAPER = "#ffffff"
BLUE, BLUE_PALE = "#1f5fa8", "#9dc0e6"
ORANGE, ORANGE_PALE = "#b9540c", "#ecb98f"
RED, RED_PALE = "#d1242f", "#f0a6ab"
WARPS = (INK, "#0f766e", "#7b3fa0", "#8a6d0b")  # a warp each, again from the first


def number(x):
    """A coordinate, without digits that nobody sees."""
    return f"{x:.1f}".rstrip("0").rstrip(".")


def escaped(words):
    """Text as it may stand between tags."""
    return words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


class Svg:
    """Collects elements. A picture has its own light paper, so that it reads on light and dark pages alike."""

    def __init__(self, title):
        self.title, self.parts = title, []

    def open_group(self, hover, kind):
        """What follows belongs together: `hover` is shown under the pointer, `kind` is its class."""
        self.parts.append(f'<g class="{kind}"><title>{escaped(hover)}</title>')

    def close_group(self):
        """The end of a group."""
        self.parts.append("</g>")

    def line(self, x1, y1, x2, y2, colour, width=1.2, dash=""):
        """A straight line."""
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(
            f'<line x1="{number(x1)}" y1="{number(y1)}" x2="{number(x2)}" y2="{number(y2)}" stroke="{colour}"'
            f' stroke-width="{number(width)}"{dashes}/>'
        )

    def circle(self, x, y, radius, fill, stroke, width=1.0):
        """A dot, hollow if it is filled with the paper's colour."""
        self.parts.append(
            f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(radius)}" fill="{fill}" stroke="{stroke}"'
            f' stroke-width="{number(width)}"/>'
        )

    def polygon(self, points, fill):
        """A filled polygon."""
        corners = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        self.parts.append(f'<polygon points="{corners}" fill="{fill}"/>')

    def diamond(self, x, y, radius, fill):
        """A square on its corner."""
        self.polygon([(x, y - radius), (x + radius, y), (x, y + radius), (x - radius, y)], fill)

    def arrow(self, x, y_from, y_to, colour, width=1.6):
        """A comparator: a dot on the wire of the smaller key, the head on the wire of the larger."""
        down = 1 if y_to > y_from else -1
        self.line(x, y_from, x, y_to - down * 5, colour, width)
        self.circle(x, y_from, 2.2, colour, colour)
        self.polygon([(x, y_to), (x - 4, y_to - down * 8), (x + 4, y_to - down * 8)], colour)

    def text(self, x, y, words, size=13, colour=INK, anchor="middle", weight="normal"):
        """One line of text."""
        self.parts.append(
            f'<text x="{number(x)}" y="{number(y)}" font-size="{number(size)}" fill="{colour}" text-anchor="{anchor}"'
            f' font-weight="{weight}">{escaped(words)}</text>'
        )

    def text_of(self, width, height):
        """The whole file."""
        w, h = number(width), number(height)
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}" role="img"'
            f" font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\">\n<title>{escaped(self.title)}</title>\n"
            f'<rect width="{w}" height="{h}" rx="8" fill="{PAPER}" stroke="#d0d7de"/>\n'
        )
        return head + "\n".join(self.parts) + "\n</svg>\n"

"""A small SVG writer and the colours of all figures."""

INK = "#24292f"
MUTED = "#6b7280"
WIRE = "#9aa4b1"
PAPER = "#ffffff"
ABSENT = "#c9ced6"
BLUE, BLUE_FILL = "#1f5fa8", "#e3eefa"
ORANGE, ORANGE_FILL = "#b9540c", "#fdeedd"
TEAL, TEAL_FILL = "#0f766e", "#d5efec"


def number(x):
    return f"{x:.1f}".rstrip("0").rstrip(".")


class Drawing:
    """Collects SVG elements. Every figure has its own light paper, so that it reads on light and dark pages alike."""

    def __init__(self, width, height, title):
        self.width, self.height, self.title = width, height, title
        self.parts = []

    def rect(self, x, y, w, h, fill, stroke="none", radius=0, width=1):
        self.parts.append(
            f'<rect x="{number(x)}" y="{number(y)}" width="{number(w)}" height="{number(h)}" rx="{number(radius)}"'
            f' fill="{fill}" stroke="{stroke}" stroke-width="{number(width)}"/>'
        )

    def line(self, x1, y1, x2, y2, color=WIRE, width=1.2, dash=""):
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(
            f'<line x1="{number(x1)}" y1="{number(y1)}" x2="{number(x2)}" y2="{number(y2)}" stroke="{color}"'
            f' stroke-width="{number(width)}"{dashes}/>'
        )

    def polygon(self, points, fill):
        corners = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        self.parts.append(f'<polygon points="{corners}" fill="{fill}"/>')

    def dot(self, x, y, radius, fill):
        self.parts.append(f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(radius)}" fill="{fill}"/>')

    def text(self, x, y, words, size=13, color=INK, anchor="middle", weight="normal"):
        words = words.replace("&", "&amp;").replace("<", "&lt;")
        self.parts.append(
            f'<text x="{number(x)}" y="{number(y)}" font-size="{number(size)}" fill="{color}" text-anchor="{anchor}"'
            f' font-weight="{weight}">{words}</text>'
        )

    def arrow(self, x, y_from, y_to, color, width=1.6):
        """A comparator: a dot on the wire of the smaller key, the head on the wire of the larger."""
        down = 1 if y_to > y_from else -1
        self.line(x, y_from, x, y_to - down * 5, color, width)
        self.dot(x, y_from, 2.6, color)
        self.polygon([(x, y_to), (x - 4, y_to - down * 8), (x + 4, y_to - down * 8)], color)

    def svg(self):
        w, h = number(self.width), number(self.height)
        title = self.title.replace("&", "&amp;").replace("<", "&lt;")
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}" role="img"'
            f" font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\">\n<title>{title}</title>\n"
            f'<rect width="{w}" height="{h}" rx="8" fill="{PAPER}" stroke="#d0d7de"/>\n'
        )
        return head + "\n".join(self.parts) + "\n</svg>\n"

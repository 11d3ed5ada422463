"""The colours of all figures, pictures and plots on light and dark pages, and what makes an SVG accessible.

A drawing uses the light colours. `finished` adds a style that replaces them on a dark page, also where the SVG is shown
by <img>. On the paper, text has a contrast of at least 4.5 and every mark one of at least 3 (WCAG 2.1, AA); RULE is
decoration. Colours that distinguish things also differ for colour-blind readers. tests/workbook/test_figures.py
measures all this.
"""

import re
from xml.sax.saxutils import escape

PAPER, INK, MUTED, WIRE, RULE = "#ffffff", "#24292f", "#59636e", "#79838f", "#dfe3e8"
BLUE, BLUE_FILL, BLUE_PALE = "#17508f", "#e3eefa", "#5592d6"
ORANGE, ORANGE_FILL, ORANGE_PALE = "#ad4d00", "#fdeedd", "#cf803c"
TEAL, TEAL_FILL = "#0c786b", "#dcf3f0"
GREY_FILL = "#eceff3"
RED, RED_PALE = "#cb1f2b", "#dd6a72"
OTHER_WARP = "#3a8fd0"
WARPS = (INK, TEAL, "#8a45c0", "#8a6d0b")  # one colour per warp, then again from the first
# In every plot, a step has the colour of its number. Its name has a colour of the same hue with more contrast, and an
# area that text lies on a pale one.
STEPS = ("#8f7c0f", "#033f90", "#7a2a08", "#0a7a52", "#d062a5", "#1f8fe6", "#7f2ff0")
WORDS = ("#7a6a0c", "#02387f", "#6a2406", "#096b48", "#a83d80", "#166fb5", "#7327dd")
FILLS = ("#efe9c8", "#d5e2f5", "#f3dccf", "#d0eee0", "#f9dfee", "#d6ebfc", "#e9dcfd")

DARK = {
    PAPER: "#14171a",
    INK: "#e6e9ec",
    MUTED: "#9aa4ae",
    WIRE: "#808b96",
    RULE: "#343b42",
    BLUE: "#5fa8f5",
    BLUE_FILL: "#16304d",
    BLUE_PALE: "#3f78b8",
    ORANGE: "#f0954f",
    ORANGE_FILL: "#40260f",
    ORANGE_PALE: "#a8632a",
    TEAL: "#5fd3bc",
    TEAL_FILL: "#0f3a34",
    GREY_FILL: "#2a3037",
    RED: "#ff7b72",
    RED_PALE: "#b0484c",
    OTHER_WARP: "#3d85c6",
    WARPS[2]: "#c080f0",
    WARPS[3]: "#d9bc55",
    **dict(zip(STEPS, ("#eea60c", "#56b0d7", "#ad6427", "#4ff0a8", "#d8347c", "#2f7fd0", "#9a4bf5"))),
    **dict(zip(WORDS, ("#f2b53a", "#6dbcdf", "#cc8348", "#62f2b1", "#ea6a9f", "#5c9fe4", "#b681fa"))),
    **dict(zip(FILLS, ("#3d3008", "#12303f", "#3a2210", "#0d3b29", "#43142a", "#10294a", "#2d1a4d"))),
}
assert len(DARK) == len(set(DARK) | set(DARK.values())) / 2  # no colour has two meanings


def dark_style(svg: str) -> str:
    """The <style> that replaces the colours of an SVG on a dark page. Colours are attributes or within `style`."""
    rules = [
        f'[{paint}="{light}"],[style*="{paint}: {light}"]{{{paint}:{dark}!important}}'
        for light, dark in DARK.items()
        for paint in ("fill", "stroke")
        if f'{paint}="{light}"' in svg or f"{paint}: {light}" in svg
    ]
    return f"<style>@media screen and (prefers-color-scheme: dark) {{{''.join(rules)}}}</style>"


def finished(svg: str, title: str, description: str) -> str:
    """The SVG with a title, a description and a dark style, and without what refers to other files."""
    svg = svg[svg.index("<svg ") :].rstrip("\n")
    svg = re.sub(r"\s*<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    name = (
        re.sub(r"\W+", "-", title, flags=re.ASCII).strip("-").lower()
    )  # identifiers must be unique on a page of several pictures
    head = (
        f'<title id="{name}-title">{escape(title)}</title>\n<desc id="{name}-desc">{escape(description)}</desc>\n'
        f"{dark_style(svg)}\n"
    )
    end = svg.index(">") + 1
    root = f'{svg[: end - 1]} role="img" aria-labelledby="{name}-title {name}-desc">\n'
    return root + head + svg[end:].lstrip("\n") + "\n"

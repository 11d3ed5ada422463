"""What keeps readers from reading an SVG: no words for those who do not see it, too little contrast, missing files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from xml.etree import ElementTree

from workbook.pictures import theme

DECORATION = {theme.RULE, theme.DARK[theme.RULE]}  # colours of lines that say nothing
TEXT, GRAPHICS = 4.5, 3.0  # the least contrasts of WCAG 2.1, AA
EDGE = 0.5
NAMESPACE = "{http://www.w3.org/2000/svg}"
_RULE = re.compile(r'\[(fill|stroke)="(#\w{6})"\][^{]*\{\1:(#\w{6})!important\}')
Rules = dict[tuple[str, str], str]  # ("fill" or "stroke", colour) -> the colour that replaces it
_CORNER = re.compile(r"[ML] ?(-?[\d.]+)[ ,](-?[\d.]+)")


def linear(colour: str) -> list[float]:
    """Red, green and blue, as amounts of light."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def luminance(colour: str) -> float:
    red, green, blue = linear(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """The contrast of two colours as WCAG defines it, from 1 to 21."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


class Box(NamedTuple):
    """An area with a colour. What runs along its edge is beside it."""

    left: float
    top: float
    right: float
    bottom: float
    fill: str

    def has(self, x: float, y: float) -> bool:
        return self.left + EDGE < x < self.right - EDGE and self.top + EDGE < y < self.bottom - EDGE


class Shape(NamedTuple):
    """A painted element, a place on it, and its colours; the box, if it is an area without gaps."""

    kind: str
    x: float
    y: float
    fill: str
    stroke: str
    box: Box | None


def _style(element: ElementTree.Element, which: str) -> str:
    found = re.search(rf"\b{which}: ([^;]+)", element.get("style", ""))
    return (found[1] if found else element.get(which, "")).strip()


def _numbers(element: ElementTree.Element, *names: str) -> list[float]:
    return [float(element.get(name, 0)) for name in names]


def _painted(element: ElementTree.Element) -> Iterator[ElementTree.Element]:
    """The elements below this one, without what is only defined there."""
    for child in element:
        yield child
        if child.tag != f"{NAMESPACE}defs":
            yield from _painted(child)


def _corners(kind: str, element: ElementTree.Element) -> list[tuple[float, ...]]:
    """The points that an element lies between or at."""
    if kind == "rect":
        x, y, width, height = _numbers(element, "x", "y", "width", "height")
        return [(x, y), (x + width, y + height)]
    if kind == "line":
        return [tuple(_numbers(element, "x1", "y1")), tuple(_numbers(element, "x2", "y2"))]
    if kind == "polygon":
        return [tuple(map(float, corner.split(","))) for corner in element.get("points", "").split()]
    if kind == "path":
        return [(float(x), float(y)) for x, y in _CORNER.findall(element.get("d", ""))]
    if kind == "circle":
        return [tuple(_numbers(element, "cx", "cy"))]
    return [tuple(_numbers(element, "x", "y"))] if kind in ("use", "text") else []


def shapes(root: ElementTree.Element, rules: Rules) -> Iterator[Shape]:
    """What is painted, in order, with the colours that the rules replace."""
    for element in _painted(root):
        kind = str(element.tag).replace(NAMESPACE, "")
        corners = _corners(kind, element)
        if not corners:
            continue
        colours = ((which, _style(element, which)) for which in ("fill", "stroke"))
        fill, stroke = (rules.get(colour, colour[1]) for colour in colours)
        xs, ys = zip(*corners)
        closed = len(corners) > 3 and ("z" in element.get("d", "") or corners[0] == corners[-1])
        area = Box(min(xs), min(ys), max(xs), max(ys), fill) if closed or kind == "rect" else None
        x, y = (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2
        if kind == "text":
            x, y = x + {"start": 3, "end": -3}.get(_style(element, "text-anchor"), 0), y - 3
        yield Shape(kind, x, y, fill, stroke, area)


def _of_shape(shape: Shape, own: list[str], under: str, labelled: bool) -> str:
    """Why a shape cannot be seen on what lies under it; "" if it can. `own`: its colours."""
    if shape.kind == "text":
        return "" if contrast(own[0], under) >= TEXT else f"text {own[0]} on {under}: {contrast(own[0], under):.2f}"
    best = max((contrast(colour, under) for colour in own), default=GRAPHICS)
    if best >= GRAPHICS or labelled:
        return ""
    return f"{shape.kind} {' '.join(own)} on {under}: {best:.2f}"


def contrasts(root: ElementTree.Element, rules: Rules) -> set[str]:
    """The faults of contrast."""
    painted = list(shapes(root, rules))
    texts = [shape for shape in painted if shape.kind == "text"]
    boxes: list[Box] = []
    faults = set()
    for shape in painted:
        colours = [c for c in (shape.fill, shape.stroke) if c.startswith("#") and c not in DECORATION]
        under = next((box.fill for box in reversed(boxes) if box.has(shape.x, shape.y)), None)
        if under and colours:
            # An area needs no contrast if words lie on it, or if it is as the paper.
            labelled = shape.box is not None and (
                colours == [under] or shape.fill == under or any(shape.box.has(t.x, t.y) for t in texts)
            )
            faults.add(_of_shape(shape, colours, under, labelled))
        if shape.box and shape.fill.startswith("#"):
            boxes.append(shape.box)
    return faults - {""}


def words(root: ElementTree.Element) -> list[str]:
    """The faults of the title and the description."""
    named = {element.get("id"): element.text or "" for element in root if element.get("id")}
    labels = [named.get(name, "") for name in root.get("aria-labelledby", "").split()]
    if root.get("role") != "img" or len(labels) != 2:
        return ['no role="img" with a title and a description']
    title, description = labels
    faults = [f"title: {title!r}"] if len(title) < 8 else []
    return faults + ([f"description: {description!r}"] if len(description) < 40 or title == description else [])


def faults_of(svg: str) -> list[str]:
    """All faults of an SVG."""
    root = ElementTree.fromstring(svg)
    faults = words(root)
    dark = {(which, light): shown for which, light, shown in _RULE.findall(svg)}
    faults += [f"light: {fault}" for fault in sorted(contrasts(root, {}))]
    faults += [f"dark: {fault}" for fault in sorted(contrasts(root, dark))]
    if "prefers-color-scheme: dark" not in svg:
        faults.append("no style for dark pages")
    outside = re.findall(r'(?:href|src)="(?!#|data:)[^"]*|url\((?!#)[^)]*|@import|<script|<!DOCTYPE|<\?xml-', svg)
    return faults + [f"refers to {reference}" for reference in outside]

"""The figures of the records' stories: a bar per version, drawn from the tables of the pages themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from workbook.pictures import svg, theme

PAGES = Path(__file__).resolve().parents[1]
LEFT, WIDE, PITCH, TOP = 308, 340, 25, 66  # where bars begin, how long the longest is, a row, the first row
SHADES = [(theme.BLUE, theme.BLUE_FILL), (theme.ORANGE, theme.ORANGE_FILL), (theme.TEAL, theme.TEAL_FILL)]
GREY, WHITE = (theme.INK, theme.GREY_FILL), (theme.INK, theme.PAPER)
Shade = tuple[str, str]
MS = re.compile(r"([\d.]+) ms")


class Bar(NamedTuple):
    """A row of a chart."""

    version: str
    idea: str
    parts: Sequence[tuple[float, Shade]]
    value: float  # as the page states it: its parts are rounded
    predicted: float | None = None


class Line(NamedTuple):
    """A value to compare with."""

    value: float
    words: str


def table(page: str, head: str) -> Iterator[list[str]]:
    """The rows of the tables whose head matches, as cells. Raises ValueError if there is none."""
    rows = re.findall(rf"^\| {head}.*\|\n\|[-:| ]+\|\n((?:\|.*\|\n)+)", page, re.MULTILINE)
    if not rows:
        raise ValueError(f"no table with the head {head!r}")
    for line in "".join(rows).splitlines():
        yield [cell.strip() for cell in line.strip("|").split("|")]


def number(pattern: str, text: str) -> float:
    """The number in a text that matches."""
    found = re.search(pattern, text)
    if not found:
        raise ValueError(f"{pattern!r} is not in {text[:60]!r}")
    return float(found[1])


def total(cell: str) -> float | None:
    """The time of the whole sort in a prediction, if there is one."""
    whole = re.search(r"(?:^|= |: |, )([\d.]+) ms(?:[,;]|$)", cell)
    return float(whole[1]) if whole else None


def chart(
    title: str, unit: str, bars: Sequence[Bar], lines: Sequence[Line], legend: Sequence[tuple[str, Shade]]
) -> svg.Drawing:
    """Horizontal bars from 0. `legend`: what the colours mean."""
    scale = WIDE / max(bar.value for bar in bars)
    bottom = TOP + PITCH * len(bars)
    spoken = [f"{bar.version}, {bar.idea}: {bar.value:.3g} {unit}" for bar in bars]
    drawing = svg.Drawing(
        744,
        bottom + 46,
        title,
        f"Bars from 0. {'; '.join(spoken)}. For comparison: "
        f"{svg.listed(f'{line.words}, {line.value:g} {unit}' for line in lines)}.",
    )
    drawing.text(16, 26, title, 14, theme.INK, "start", "bold")
    for row, bar in enumerate(bars):
        y = TOP + row * PITCH
        drawing.text(16, y + 14, bar.version, 12.5, theme.INK, "start", "bold")
        drawing.text(94, y + 14, bar.idea, 12, theme.INK, "start")
        x = float(LEFT)
        for part, (color, fill) in bar.parts:
            drawing.rect(x, y + 1, part * scale, PITCH - 7, fill, color, 1)
            x += part * scale
        if bar.predicted is not None:
            drawing.diamond(LEFT + bar.predicted * scale, y + 10, 5, theme.INK)
        drawing.text(LEFT + WIDE + 14, y + 14, f"{bar.value:.3g} {unit}", 12, theme.INK, "start")
    for line in lines:
        x = LEFT + line.value * scale
        drawing.text(x, 48, f"{line.words}: {line.value:g}", 11.5, theme.INK)
        drawing.line(x, 54, x, bottom + 2, theme.INK, 1.2, "4 3")
    x = 16.0
    for words, (color, fill) in legend:
        drawing.rect(x, bottom + 18, 14, 12, fill, color, 1)
        drawing.text(x + 20, bottom + 28, words, 12, color, "start")
        x += 46 + 6.4 * len(words)
    if any(bar.predicted is not None for bar in bars):
        drawing.diamond(x + 6, bottom + 24, 5, theme.INK)
        drawing.text(x + 18, bottom + 28, "predicted", 12, theme.INK, "start")
    return drawing


# What is new in each version.
MERGE = {
    "1": "two-way merges, 14 passes",
    "2": "asynchronous copies",
    "3": "four-way merges, 7 passes",
    "4": "eight-way merges, 5 passes",
    "5": "all types; 32 lanes search",
    "6": "8 lanes search",
    "7": "4 lanes search",
    "8": "few keys: two-way merges",
}
BITONIC = {
    "1": "tiles of 4096 keys",
    "1a": "strided passes of five stages",
    "2": "1a with columns and fewer registers",
    "3": "8192 keys, 32 per thread",
    "3a": "3, next kernel launched early",
    "4": "clusters: 8192 keys, 256 threads",
    "4b": "clusters: 4096 keys, 256 threads",
    "4c": "clusters: 2048 keys, 256 threads",
}
COUNTING = {"1": "with cache hints", "2": "without hints", "3": "counters in the sorted array"}
RADIX = {
    "1": "counts published before ranks",
    "1a": "match instead of votes",
    "2": "four instructions per voted bit",
    "2a": "two blocks per multiprocessor",
    "2b": "24 keys per thread",
    "2c": "2a, next tile not loaded early",
    "3": "first pass by itself, padding",
    "4": "two partitions; sum of kernels",
    "4a": "counts first, no ranks kept",
    "4b": "a counter per digit and lane",
    "4c": "one lane draws for equal digits",
    "5": "samples find skewed keys",
    "9": "16 bits per key, in two halves",
}


def draw_merge(page: str) -> svg.Drawing:
    bars = []
    for version, _, predicted, measured in table(page, r"version \| idea \| predicted \| measured"):
        of_passes = re.match(r"([\d.]+) \+ (\d+) &times; \(([\d.]+) \+ ([\d.]+)\) = ([\d.]+) ms", measured)
        if of_passes:
            tiles, passes, merges, searches, whole = map(float, of_passes.groups())
            parts = [(tiles, GREY), (passes * merges, SHADES[0]), (passes * searches, SHADES[1])]
            assert abs(sum(part for part, _ in parts) - whole) < 0.25
        else:
            whole = number(MS.pattern, measured)
            parts = [(whole, WHITE)]
        bars.append(Bar(version, MERGE[version], parts, whole, total(predicted)))
    cub = number(r"`DeviceMergeSort` \| ([\d.]+) ms", page)
    legend = [("tiles", GREY), ("merges", SHADES[0]), ("searches", SHADES[1]), ("not divided", WHITE)]
    return chart("Merge sort, 2^28 keys: time of each version", "ms", bars, [Line(cub, "CUB")], legend)


def draw_bitonic(page: str) -> svg.Drawing:
    bars = []
    for version, _, _, measured in table(page, r"version \| idea \| predicted \| measured"):
        times = number(r", ([\d.]+) times", measured)
        bars.append(Bar(version, BITONIC[version], [(times, SHADES[2 if version[0] == "4" else 0])], times))
    aim = number(r"aim for 2<sup>16</sup> keys, ([\d.]+) times", page.replace("\n", " "))
    legend = [("a kernel per pass", SHADES[0]), ("eight blocks in a cluster", SHADES[2])]
    title = "Bitonic sort, 2^16 keys: speed of each version, as a multiple of CUB's"
    return chart(title, "times", bars, [Line(1, "CUB"), Line(aim, "the aim")], legend)


def draw_counting(page: str) -> svg.Drawing:
    bars = []
    for version, _, predicted, measured in table(page, r"version \| idea \| predicted \| measured"):
        *parts, whole = (float(part) for part in re.findall(r"0\.\d+", measured.split(" (")[0]))
        divided = [(parts[0], SHADES[0]), (whole - parts[0], SHADES[1])] if parts else [(whole, WHITE)]
        bars.append(Bar(version, COUNTING[version], divided, whole, total(predicted)))
    copy = number(r"does both at once \(A, B, C\) \| ([\d.]+)", page)
    legend = [("count", SHADES[0]), ("scan and write", SHADES[1]), ("not divided", WHITE)]
    return chart(
        "Counting sort, 2^30 bytes: time of each version", "ms", bars, [Line(copy, "a copy on the device")], legend
    )


def draw_radix(page: str) -> svg.Drawing:
    bars = []
    for version, _, predicted, measured, *_ in table(page, r"version \| idea \| predicted \| measured"):
        if version in RADIX:  # versions 6, 7 and 8 are about few values, few keys and small keys
            whole = number(MS.pattern, measured)
            bars.append(Bar(version, RADIX[version], [(whole, SHADES[int(version[0]) < 4])], whole, total(predicted)))
    cub = number(r"CUB takes ([\d.]+) ms", page)
    legend = [("passes from the lowest digit: step 05", SHADES[1]), ("the highest digit first: step 06", SHADES[0])]
    return chart("Radix sort, 2^28 uniform keys: time of each version", "ms", bars, [Line(cub, "CUB")], legend)


def figures() -> dict[str, svg.Drawing]:
    stories = {"02-merge": draw_merge, "03-bitonic": draw_bitonic, "04-counting": draw_counting, "05-radix": draw_radix}
    return {f"{name}.svg": draw((PAGES / f"{name}.md").read_text(encoding="utf-8")) for name, draw in stories.items()}

"""The map of the GPU that all handouts show: what a launch consists of, where it runs, and which memories there are."""

from __future__ import annotations

import csv
import re
from pathlib import Path

from workbook.pictures import svg, theme

ROWS = Path(__file__).resolve().parents[2] / "reports/results/h200/01-odd-even.csv"
# Of compute capability 9.0: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
LANES, WARPS, REGISTERS, SHARED_KIB = 32, 64, 65536, 228
CACHE_MB = 50  # NVIDIA H100 Tensor Core GPU Architecture; the H200's is the same
LEFT, RIGHT, SM_TOP, SM_WIDE, SM_HIGH = 246, 716, 56, 142, 220  # the multiprocessors


def machine() -> tuple[int, int]:
    """The multiprocessors and the GiB of global memory of the GPU of the recorded results."""
    with ROWS.open(encoding="utf-8", newline="") as file:
        name = next(csv.DictReader(file))["machine"]
    found = re.search(r"(\d+) multiprocessors, (\d+) GiB", name)
    assert found and "H200" in name
    return int(found[1]), int(found[2])


def draw_box(drawing: svg.Drawing, x: float, y: float, w: float, lines: list[str], color: str, fill: str) -> None:
    """A box with a bold line and smaller ones."""
    drawing.rect(x, y, w, 12 + 17 * len(lines), fill, color, 4)
    for i, words in enumerate(lines):
        drawing.text(
            x + w / 2, y + 18 + 17 * i, words, 12.5 if i == 0 else 11.5, color, weight="normal" if i else "bold"
        )


def draw_launch(drawing: svg.Drawing) -> None:
    """The grid, one of its blocks, one of its warps."""
    drawing.text(20, 30, "what a launch starts", 14, theme.INK, "start", "bold")
    drawing.text(20, 60, "a grid of blocks", 12.5, theme.BLUE, "start", "bold")
    for block in range(6):
        x, y = 20 + block % 3 * 60, 70 + block // 3 * 36
        drawing.rect(x, y, 54, 30, theme.BLUE_FILL, theme.BLUE, 4)
        drawing.text(x + 27, y + 19.5, f"block {block}", 11.5, theme.BLUE)
    drawing.text(20, 176, "a block: up to 32 warps", 12.5, theme.BLUE, "start", "bold")
    for warp in range(4):
        y = 186 + 24 * warp
        drawing.rect(20, y, 174, 20, theme.BLUE_FILL, theme.BLUE, 3)
        first = LANES * warp
        drawing.text(107, y + 14, f"warp {warp}: threads {first} to {first + LANES - 1}", 11, theme.BLUE)
    drawing.text(20, 318, f"a warp: {LANES} threads, its lanes", 12.5, theme.BLUE, "start", "bold")
    for lane in range(LANES):
        x, y = 20 + lane % 16 * 11, 328 + lane // 16 * 14
        drawing.rect(x, y, 8.5, 11, theme.BLUE, theme.BLUE, 1)
    drawing.text(20, 374, "They usually execute together.", 11.5, theme.MUTED, "start")


def draw_multiprocessor(drawing: svg.Drawing, x: float, name: str, blocks: str) -> None:
    drawing.rect(x, SM_TOP, SM_WIDE, SM_HIGH, "none", theme.INK, 6, 1.2)
    drawing.text(x + SM_WIDE / 2, SM_TOP + 19, name, 13, theme.INK, weight="bold")
    for y, lines, color, fill in (
        (28, [blocks, f"up to {WARPS} warps"], theme.BLUE, theme.BLUE_FILL),
        (80, ["registers", f"{REGISTERS:,} of 4 bytes", "a few per thread"], theme.ORANGE, theme.ORANGE_FILL),
        (149, ["shared memory", f"up to {SHARED_KIB} KiB", "a part per block"], theme.ORANGE, theme.ORANGE_FILL),
    ):
        draw_box(drawing, x + 8, SM_TOP + y, SM_WIDE - 16, lines, color, fill)


def both_ways(drawing: svg.Drawing, x: float, y1: float, y2: float) -> None:
    """Two arrows: data moves up and down."""
    drawing.arrow_down(x - 6, y1, y2, theme.INK)
    drawing.arrow_down(x + 6, y2, y1, theme.INK)


def draw_gpu() -> svg.Drawing:
    """The launch on the left, the GPU on the right, the host below."""
    multiprocessors, gib = machine()
    drawing = svg.Drawing(
        744,
        514,
        "A map of the GPU",
        "On the left, what a launch starts: a grid of blocks, each of up to 32 warps, each of 32 threads, its "
        f"lanes. On the right, the GPU, with the numbers of an H200: {multiprocessors} streaming multiprocessors, "
        "each of which runs several blocks and has registers, which belong to one thread each, and shared memory, "
        "which belongs to one block. Below them the level 2 cache and the global memory, which all blocks share "
        "and which outlives a launch. The bus joins the GPU to the host and its memory. The further down a memory "
        "is, the slower.",
    )
    draw_launch(drawing)
    drawing.rect(230, 14, 500, 394, "none", theme.WIRE, 8, 1.2)
    words = f"the GPU: {multiprocessors} streaming multiprocessors (SMs)"
    drawing.text(LEFT, 40, words, 14, theme.INK, "start", "bold")
    for sm in range(3):
        x = LEFT + sm * (SM_WIDE + 8)
        draw_multiprocessor(drawing, x, f"SM {sm}", f"blocks {sm} and {sm + 3}")
        both_ways(drawing, x + SM_WIDE / 2, SM_TOP + SM_HIGH + 1, 299)
    drawing.text(RIGHT - 10, SM_TOP + 110, "...", 18, theme.INK)
    wide = RIGHT - LEFT
    lines = [f"level 2 cache, {CACHE_MB} MB: between all SMs and global memory"]
    draw_box(drawing, LEFT, 300, wide, lines, theme.TEAL, theme.TEAL_FILL)
    both_ways(drawing, LEFT + wide / 2, 330, 351)
    lines = [f"global memory, {gib} GiB", "holds the keys; all blocks can access it; outlives a launch"]
    draw_box(drawing, LEFT, 352, wide, lines, theme.TEAL, theme.TEAL_FILL)
    both_ways(drawing, LEFT + wide / 2, 399, 451)
    drawing.text(LEFT + wide / 2 + 18, 434, "the bus, slower than any of these", 12, theme.INK, "start")
    lines = ["the host: CPU and host memory", "launches kernels, and copies keys in and out"]
    draw_box(drawing, LEFT, 452, wide, lines, theme.INK, theme.GREY_FILL)
    for y, words, color in (
        (424, "Blocks run in any order, each on", theme.INK),
        (441, "one SM, and several at a time.", theme.INK),
        (468, "The numbers are an H200's.", theme.MUTED),
        (485, "The further down, the slower.", theme.MUTED),
    ):
        drawing.text(20, y, words, 12, color, "start")
    return drawing


def figures() -> dict[str, svg.Drawing]:
    return {"gpu.svg": draw_gpu()}

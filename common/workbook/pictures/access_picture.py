"""The access picture as SVG: one panel per array, one wire per place, one column per barrier interval.

Where a thread puts the values of two places in order, the picture shows a comparator, as in a sorting network. Other
stored values are lines from the places they were read from, or computed from, to the place they were written to.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence

from ..core.console import Usage
from ..core.judge_types import Finding
from .access_layout import LEFT, Column, in_words, lay_columns
from .access_painter import Painter, draw_legend
from .accesses import Panel, choose_launches, lay_wires, panels_of, short_kernel
from .marks import fill
from .svg import Drawing
from .theme import INK, MUTED, RED, RULE
from .trace import Trace

HEAD = 92
LETTER = 8.2  # the largest width of a bold letter in the heads
MAX_FINDINGS = 6


def _boundaries(svg: Drawing, columns: list[Column], top: float, bottom: float) -> None:
    """A thin line per barrier, a stronger one per launch."""
    for before, after in zip(columns, columns[1:]):
        x = (before.x + before.width + after.x) / 2
        if before.launch == after.launch:
            svg.line(x, top, x, bottom, RULE, 1, "2 3")
        else:
            svg.line(x, top, x, bottom, RULE, 1.5)


def _heads(svg: Drawing, run: Trace, columns: list[Column], y: float, right: float) -> None:
    """Writes the kernel's name above its launches, and the number of each column."""
    spans: list[tuple[str, list[Column]]] = []
    for column in columns:
        name = short_kernel(run.launches[column.launch].kernel)
        if spans and spans[-1][0] == name:
            spans[-1][1].append(column)
        else:
            spans.append((name, [column]))
    units = set()
    ends = [own[0].x - 16 for _, own in spans[1:]] + [right]
    for (name, own), end in zip(spans, ends):
        left, last = own[0].x - 8, own[-1].x + own[-1].width + 8
        launches = list(dict.fromkeys(c.launch for c in own))
        shape = run.launches[launches[0]]
        words = f"{name}<<<{_plain(shape.grid)}, {_plain(shape.block)}>>>"
        room = int((end - left) / LETTER)
        words = words if len(words) <= room else name if len(name) <= room else name[: max(2, room - 1)] + "…"
        svg.line(left, y + 6, last, y + 6, MUTED, 1)
        if len(words) * LETTER > last - left:
            svg.text(left, y, words, 12, INK, "start", "bold")
        else:
            svg.text((left + last) / 2, y, words, 12, INK, weight="bold")
        by_launch = len(own) == len(launches) and len(own) > 1
        units.add("launch" if by_launch else "interval")
        for i, column in enumerate(own):
            number = column.launch if by_launch else column.interval
            svg.text(column.x + column.width / 2, y + 21, str(number), 10.5, MUTED)
            if i and own[i - 1].launch == column.launch and own[i - 1].interval + 1 < column.interval:
                svg.text((own[i - 1].x + own[i - 1].width + column.x) / 2, y + 20, "…", 10.5, MUTED)
    svg.text(LEFT - 9, y + 21, units.pop() if len(units) == 1 else "", 10.5, MUTED, "end")


def _names(panels: Sequence[Panel]) -> list[str]:
    """The names of arrays; those of several blocks once."""
    blocks = Counter(panel.name for panel in panels if panel.of_several)
    names = {
        panel.name: f"{panel.name} of {blocks[panel.name]} blocks" if blocks[panel.name] > 1 else panel.title
        for panel in panels
    }
    return list(names.values())


def _plain(shape: str) -> str:
    """A shape as in a launch: 4 for 4,1,1."""
    return re.sub(r"(,1)+$", "", shape)


def _wrapped(text: str, width: int) -> list[str]:
    """Text in lines of at most `width` characters."""
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return lines


def _in_words(run: Trace, panels: Sequence[Panel], columns: Sequence[Column], findings: Sequence[Finding]) -> str:
    """A description: what is drawn, how much of it, and what is wrong."""
    marks = [mark for panel in panels for own in panel.marks.values() for mark in own]
    pairs = [mark for mark in marks if mark.kind == "exchange"]
    wrong = sum(any(access.wrong or access.conflict for access in mark.accesses) for mark in marks)
    kernels = dict.fromkeys(short_kernel(run.launches[column.launch].kernel) for column in columns)
    text = (
        f"Accesses to {', '.join(_names(panels))}, with a line per position and a column per barrier interval. "
        f"Kernels: {', '.join(kernels)}. Launches: {len({column.launch for column in columns})}. "
        f"Columns: {len(columns)}. "
    )
    if pairs:
        text += f"Comparisons of two keys: {len(pairs)}. Those that swap them: {sum(m.swapped for m in pairs)}. "
    if len(marks) > len(pairs):
        text += f"Other marks, for values that are read or written: {len(marks) - len(pairs)}. "
    text += f"Marks of faults and bank conflicts: {wrong}. " * (wrong > 0)
    return (text + " ".join(f"{f.kind} at {f.file}:{f.line}." for f in findings[:MAX_FINDINGS])).strip()


def draw(
    run: Trace,
    findings: Sequence[Finding],
    title: str,
    n: int,
    key_type: str,
    which: str | None = None,
    window: Collection[int] | None = None,
    launches: range | None = None,
) -> str:
    """The picture of a run as SVG text.

    `which`: "shared", "global", "all" or None; `window` and `launches`: the places and launches to draw, or None.
    Raises Usage if the run touched none of them.
    """
    drawn = choose_launches(run, launches)
    accesses = [access for access in run.accesses if access.launch in drawn]
    panels, left_out = panels_of(run, accesses, which)
    for panel in panels:
        lay_wires(panel, n, window)
    left_out += [panel for panel in panels if not panel.wires]
    panels = [panel for panel in panels if panel.wires]
    if not panels:
        raise Usage(
            "the run touches none of these places: leave out --places, --launches or --arrays to see what it touches"
        )
    columns, right = lay_columns(fill(accesses, panels, key_type), panels)
    right += 22
    svg = Drawing(0, 0, title, _in_words(run, panels, columns, findings))
    remarks = [len(remark) for panel in panels for remark in panel.remarks]
    legend = draw_legend(Drawing(0, 0, title, ""), panels, 0)  # to measure it
    width: float = max(right + 40, 420, LEFT + 6.4 * max(remarks, default=0) + 20, legend + 20)
    heading = _wrapped(title, int((width - 40) / 8.6))
    top = HEAD + 18 * (len(heading) - 1)
    y: float = top
    painters: list[Painter] = []
    for panel in panels:
        y += 26
        painters.append(Painter(svg, panel, run, columns, y))
        y = painters[-1].bottom + 18 * len(panel.remarks) + 10
    for i, line in enumerate(heading):
        svg.text(20, 28 + 18 * i, line, 14, INK, "start", "bold")
    if columns:
        _heads(svg, run, columns, top - 28, width - 14)
    for painter in painters:
        _boundaries(svg, columns, painter.top - 10, painter.bottom - 2)
        place = "" if painter.panel.shared else ", in global memory"
        svg.text(20, painter.top - 15, painter.panel.title + place, 12.5, INK, "start")
        painter.wires(right)
        for column in columns:
            painter.column(column)
        for i, remark in enumerate(painter.panel.remarks):
            svg.text(LEFT, painter.bottom + 12 + 18 * i, remark, 11, MUTED, "start")
    y += 14
    draw_legend(svg, panels, y)
    small = [f"not drawn: {', '.join(_names(left_out))}"] if left_out else []
    if len(drawn) < len(run.launches):
        part = f"launches {drawn[0]} to {drawn[-1]}" if len(drawn) > 1 else f"launch {drawn[0]}"
        small.append(f"{part} of {len(run.launches)}{' or more' if run.truncated else ''}; --launches shows others")
    elif run.truncated:
        small.append("truncated: the run makes more accesses than can be recorded")
    for text, colour in [(t, MUTED) for t in small] + [(in_words(f), RED) for f in findings[:MAX_FINDINGS]]:
        for line in _wrapped(text, int((width - LEFT - 20) / 5.9)):
            y += 16
            svg.text(LEFT, y + 8, line, 11, colour, "start")
    svg.width, svg.height = width, y + 24
    return svg.svg()

"""The page that replays a run: one HTML file with its program, its style, the sources and the events.

Nothing draws the page but the browser's canvas. The libraries that Debian and PyPI have (D3, Plotly, Bokeh) draw
charts, whose marks are objects. Here are thousands of cells, and each step draws a few of them again.
"""

from __future__ import annotations

import base64
import gzip
import html
import json
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..core.console import Usage
from ..core.course import ROOT
from .names import named
from .replay import Replay

HERE = Path(__file__).resolve().parent
SCRIPTS = ("decode.js", "model.js", "cost.js", "words.js", "arrays.js", "panels.js", "player.js")
MOST_BYTES = 5_000_000
CONTEXT = 60  # lines of a header that are shown around those that access memory
MOST_LINES = 1500  # of one file


def packed(columns: Mapping[str, Any], heap: bytes, about: Mapping[str, Any]) -> bytes:
    """The events in a form that the page decodes: the length of a JSON object, that object, and the columns it names,
    each from a multiple of 8 bytes on; all compressed."""
    parts: list[bytes] = []
    table: list[list[Any]] = []
    for name, column in {**columns, "heap": memoryview(heap)}.items():
        kind = {"B": "Uint8Array", "H": "Uint16Array", "i": "Int32Array"}[
            column.format if name == "heap" else column.typecode
        ]
        data = column.tobytes()
        table.append([name, kind, len(column)])
        parts.append(data + bytes(-len(data) % 8))
    header = json.dumps({**about, "columns": table}, separators=(",", ":")).encode()
    header += b" " * (-(len(header) + 4) % 8)
    assert sys.byteorder == "little"
    return gzip.compress(len(header).to_bytes(4, "little") + header + b"".join(parts), 9, mtime=0)


def _own_path(name: str, folders: Iterable[Path]) -> Path | None:
    return next((path for folder in folders if (path := folder / name).is_file()), None)


def highlighted(text: str) -> list[str]:
    """The lines of a source as HTML, with the classes of Pygments; without it, plain."""
    try:
        from pygments import highlight
        from pygments.formatters import HtmlFormatter
        from pygments.lexers import CudaLexer
    except ImportError:
        return [html.escape(line) for line in text.splitlines()]
    lexer = CudaLexer(stripnl=False, ensurenl=False)
    lines: str = highlight("\n".join(text.splitlines()), lexer, HtmlFormatter(nowrap=True))
    return lines.rstrip("\n").split("\n")


def sources(places: Iterable[str], folders: Iterable[Path]) -> dict[str, dict[str, Any]]:
    """The files that places "FILE:LINE" name: {file: {"first": number of its first line, "lines": [HTML]}}. Files are
    looked for in the folders. Those that are not found are left out; of a header, only the lines around its places."""
    named: dict[str, set[int]] = {}
    for place in places:
        file, _, line = place.rpartition(":")
        if line.isdigit():
            named.setdefault(file, set()).add(int(line))
    found: dict[str, dict[str, Any]] = {}
    for file, lines in named.items():
        path = _own_path(file, folders)
        if path is None:
            continue
        all_lines = highlighted(path.read_text(encoding="utf-8", errors="replace"))
        is_header = path.suffix not in (".cu", ".cpp") or len(all_lines) > MOST_LINES
        first = max(min(lines) - CONTEXT, 1) if is_header else 1
        last = min(max(lines) + CONTEXT, first + MOST_LINES) if is_header else len(all_lines)
        found[file] = {"first": first, "lines": all_lines[first - 1 : last]}
    return found


def _inlined(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


def page(replay: Replay, title: str, about: Mapping[str, Any], folders: Iterable[Path] = (ROOT,)) -> str:
    """The page's text. `about`: what the page says of the run as a whole. Raises Usage if the page is too large."""
    places = [place for pair in replay.about["places"] for place in pair]
    places += [found["place"] for found in replay.about["findings"]]
    known = list(folders)
    arrays = named([cells.source for cells in replay.cells.values()], replay.about, known)
    columns = {**replay.columns, "origins": replay.values.origins}
    shown = {**replay.about, **about, "arrays": arrays, "files": sources(places, known)}
    events = packed(columns, bytes(replay.heap), shown)
    script = "\n".join(_inlined(name) for name in SCRIPTS)
    parts = {
        "title": html.escape(title),
        "style": _inlined("player.css"),
        "script": script,
        "events": base64.b64encode(events).decode(),
    }
    text = re.sub(r"\{\{ (\w+) \}\}", lambda name: parts[name[1]], _inlined("player.html"))
    if len(text.encode()) > MOST_BYTES:
        raise Usage(
            f"the page would have {len(text) / 1e6:.1f} MB, and {MOST_BYTES / 1e6:.0f} are allowed: choose a smaller "
            "--n, or record a part of the run with --launches or --only-blocks"
        )
    return text

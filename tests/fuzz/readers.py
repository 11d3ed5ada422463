"""Fuzzes what reads files of students or of their programs: the archive reader, the rewriter and the trace reader.

    readers.py archive|rewriter|trace CORPUS [OPTION OF LIBFUZZER ...]

Each must take any bytes, or refuse them with its own exception. It needs the package atheris.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
import tempfile
from pathlib import Path

import atheris

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "common"), str(ROOT / "common/simt")]

with atheris.instrument_imports():
    import tarfile  # noqa: F401
    import zipfile  # noqa: F401

    from rewrite import output, source

    from workbook.core.console import Problem
    from workbook.grading import unpack
    from workbook.pictures import trace
    from workbook.player.replay import Replay


def read_archive(data: bytes) -> None:
    """The first byte chooses between the two kinds of archives."""
    try:
        for _, kind, text in unpack.members("a.zip" if data[:1] == b"z" else "a.tar", io.BytesIO(data[1:]), [".cu"]):
            assert kind in ("file", "link", "large", "encrypted", "other")
            assert text is None or (kind == "file" and len(text) <= unpack.MOST_TEXT)
    except unpack.Refused:
        pass


def rewrite(data: bytes) -> None:
    """The last line keeps its number: what is added has no line breaks, or is followed by #line."""
    path = FOLDER / "k.cu"
    path.write_bytes(data)
    try:
        reader = source.Reader([], str(FOLDER))
        main = reader.read(str(path))
        sources = list(reader.sources.values())
        output.rewrite_all(sources, 700)
        main.rewritten = True
        output.write_all(sources, main, str(FOLDER / "k.cpp"))
    except source.RewriteError:
        return
    number = 0
    for line in (FOLDER / "k.cpp").read_bytes().split(b"\n"):
        mark = re.match(rb'#line (\d+) "k.cu"', line)
        number = int(mark[1]) - 1 if mark else number + 1
    assert number == data.count(b"\n") + 1


def read_trace(data: bytes) -> None:
    """Decoded as where traces are read."""
    with contextlib.suppress(Problem):
        run = trace.read(data.decode(errors="replace"))
        trace.groups(run.accesses)
        Replay(run, "u32", 4)


with tempfile.TemporaryDirectory() as folder:
    FOLDER = Path(folder)
    readers = {"archive": read_archive, "rewriter": rewrite, "trace": read_trace}
    atheris.Setup([sys.argv[0], *sys.argv[2:]], readers[sys.argv[1]])
    atheris.Fuzz()

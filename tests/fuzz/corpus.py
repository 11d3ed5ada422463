"""Makes the inputs that fuzzing begins with."""

from __future__ import annotations

import io
import json
import struct
import tarfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
READY, SORTED, DOCUMENT, FINISHED = range(4)


def archives() -> Iterator[bytes]:
    """Archives of two files, a folder and a link; and one with a file that is encrypted and one that is too large."""
    names = ("03-bitonic/02_shared.cu", "notes.txt")
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", method) as archive:
            for name in names:
                archive.writestr(name, "keys " * 9)
            archive.writestr("folder/", "")
        yield b"z" + file.getvalue()
    yield b"z" + refused_zip()
    for mode in ("w", "w:gz", "w:bz2", "w:xz"):
        file = io.BytesIO()
        with tarfile.open(fileobj=file, mode=mode) as packed:
            for name in names:
                info = tarfile.TarInfo(name)
                info.size = 9
                packed.addfile(info, io.BytesIO(b"some keys"))
            link = tarfile.TarInfo("x.cu")
            link.type, link.linkname = tarfile.SYMTYPE, "notes.txt"
            packed.addfile(link)
        yield b"t" + file.getvalue()


def refused_zip() -> bytes:
    """A zip archive with files that unpack.py does not take: one is too large, the other is marked as encrypted."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("large.cu", bytes(2 << 20))
        archive.writestr("encrypted.cu", "keys")
        archive.infolist()[-1].flag_bits |= 1
    return file.getvalue()


def sources() -> Iterator[bytes]:
    """CUDA C++: the solutions where they are, and the wrong kernels."""
    for folder in ("solutions", "tests/wrong/kernels", "tests/simt"):
        for path in sorted((ROOT / folder).rglob("*.cu")):
            yield path.read_bytes()[:8000]


def traces() -> Iterator[bytes]:
    """The beginnings of recorded traces, and one of each kind of line."""
    for path in sorted(ROOT.glob("labs/*/figures/*.trace")):
        yield path.read_bytes()[:2000].rpartition(b"\n")[0] + b"\n"
    yield (
        b"launch\tk\t1\t32\nblock\t0\narray\t0\tshared\ttile\t0\t256\ncode\ta\tx.cu:7\n"
        b"access\t0\t0\ta\tstore\t0\t4\t5\naccess\t0\t1\tb\tload\t0\t4\tff\nrace\t1\tb\t0\t0\ta\nfault\t1\tb\n"
        b"conflict\ta\t4\tstore\t0\t0\t2\t1\nbarrier\ncut\n"
    )


def reply(progress: int, text: str = "", status: int = 0, milliseconds: float = 0.1, write: bytes = b"") -> bytes:
    """A message of a runner, as judge.cpp in this folder reads it."""
    head = struct.pack("<BBdH", progress | (8 if write else 0), status, milliseconds, len(text))
    return head + write + text.encode()


def exchanges() -> Iterator[bytes]:
    """Requests to the judge, one per line, then replies of the runner after an empty line."""
    case = {"lab": "03-bitonic", "step": 1, "n": 1, "type": "u32", "order": "ascending", "input": "sorted", "seed": 3}
    run = {"ask": "run", "runner": "r", "case": case, "timeout": 5, "trace": "t", "environment": {"A": "b"}}
    run |= {"sandbox": ["s"], "time_kernels": True}
    beyond = {**case, "lab": "06-beyond-memory", "memory": 1 << 20, "pageable": True}
    cases = {"ask": "cases", "lab": "01-odd-even", "step": 0, "set": "public", "build": "cpu", "seed": 1}
    measure = {"ask": "measure", "runner": "r", "case": case, "kernels": True, "copy_bytes_per_second": 1e9}
    measure |= {"limits": {"repeats": 3, "min_time": 0, "time_limit": 0.01}}
    file_ = {"ask": "sort_file", "runner": "r", "input": "i", "output": "o", "host_memory": 1 << 20, "case": beyond}
    kernel = {"name": "k", "launches": 1, "milliseconds": 0.5, "blocks": 1, "threads": 32}
    kernel |= {"dynamic_shared": 0, "static_shared": 0, "registers": -1}
    line = {"file": "a.cu", "line": 7}
    element: dict[str, object] = {"memory": "shared", "array": "tile", "allocation": 0, "allocated": line}
    element |= {"array_bytes": 64, "offset": -4, "bytes": 4, "index": None}
    fact: dict[str, object] = {"place": line, "header": None, "kernel": "k", "call": "", "launch": line}
    fact |= {"block": [0, 0, 0], "thread": None, "access": "load", "is_atomic": False, "is_volatile": False}
    fact |= {"element": element}
    place: dict[str, object] = {**line, "kind": "race", "severity": "error", "why": "threads", "remedy": "fence"}
    place |= {"round": "next", "last_barrier": line, "facts": [fact], "text": "two", "times": 2}
    place |= {"details": {"a": 1, "b": 0.5, "c": [1, 2, 3], "d": line}}
    note = {"file": "a.cu", "line": 7, "kind": "sectors", "ideal": 1, "actual": 2, "unit": "x", "requests": 3}
    note |= {"space": "global", "access": "load"}
    launch = {"kernel": "k", "grid": [1, 1, 1], "block": [32, 1, 1], "barriers": 3}
    observed = {"findings": [place], "remarks": [place], "notes": [note], "launches": [launch], "copied_bytes": 8}
    span = {"stream": 1, "what": "copy in", "begin_ms": 0.25, "end_ms": 1, "bytes": 4}
    document = {"kernels": [kernel], "timeline": {"spans": [span], "left_out": 2}, "observed": observed}
    well = reply(READY) + reply(SORTED) + reply(DOCUMENT, json.dumps(document)) + reply(FINISHED)
    facts = {"device": "cpu", "on_gpu": False, "copy_bytes_per_second": 0, "facts": [["a", "b"]], "steps": []}
    describes = reply(DOCUMENT, json.dumps(facts)) + reply(FINISHED)
    for request, replies in (
        ({"ask": "labs"}, b""),
        ({"ask": "inputs"}, b""),
        ({"ask": "machine"}, b""),
        ({"ask": "runner", "runner": "r"}, describes),
        (cases, b""),
        (run, well),
        (run, reply(READY) + reply(FINISHED, "n is too large", 3)),
        ({**run, "case": {**case, "n": 40, "input": "uniform"}}, well + b"\xfe"),
        ({**run, "case": beyond}, reply(READY) + reply(SORTED, write=b"\x05\x01") + reply(FINISHED)),
        ({**run, "keys": "k", "output": "o"}, well),
        (measure, well * 6),
        (file_, well * 3),
        ({**run, "case": {**case, "lab": "gold"}}, describes),
    ):
        yield json.dumps(request).encode() + b"\n\n" + replies


def write(folder: Path, inputs: Iterable[bytes]) -> None:
    """Writes each into a file."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(inputs):
        (folder / f"{number:03}").write_bytes(data)

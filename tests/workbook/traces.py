"""Traces written by hand: the records of common/simt/check/TRACE.md."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

VERSION = {"trace": 1}


def text(*records: dict[str, Any]) -> str:
    """The trace with these records."""
    return "".join(f"{json.dumps(record)}\n" for record in records)


def launch(
    kernel: str = "turn", blocks: int = 1, threads: int = 64, arguments: Sequence[int | None] = ()
) -> dict[str, Any]:
    shape = {"grid": [blocks, 1, 1], "block": [threads, 1, 1], "arguments": list(arguments)}
    return {"launch": {"kernel": kernel, **shape, "at": "a.cu:1"}}


def array(number: int, space: str, name: str, size: int, allocation: int = 0, allocated: str = "") -> dict[str, Any]:
    own = {"id": number, "space": space, "name": name, "allocation": allocation, "allocated": allocated, "bytes": size}
    return {"array": own}


def load(of: int, thread: int, code: int, offset: int, value: int, size: int = 4) -> dict[str, Any]:
    return {"access": [of, thread, code, "load", offset, size, f"{value:x}"]}


def store(of: int, thread: int, code: int, offset: int, value: int, size: int = 4) -> dict[str, Any]:
    return {"access": [of, thread, code, "store", offset, size, f"{value:x}"]}


def atomic(of: int, thread: int, code: int, offset: int, before: int, value: int) -> dict[str, Any]:
    return {"access": [of, thread, code, "atomic", offset, 4, f"{value:x}", f"{before:x}"]}


def line(code: int, place: str) -> dict[str, Any]:
    return {"code": {"id": code, "at": place, "in_source": place}}


def shuffle(warp: int, values: list[int], sources: list[int]) -> dict[str, Any]:
    """A shuffle of the lanes from 0 on."""
    lanes = (1 << len(values)) - 1
    bits = [f"{value:x}" for value in values]
    results = [bits[source] for source in sources]
    own = {"warp": warp, "lanes": lanes, "sources": sources, "values": bits, "results": results}
    return {"exchange": {"name": "__shfl_sync", "at": "a.cu:5", **own}}


def finding(kind: str, place: str, accesses: int, code: int = -1, other: int = -1) -> dict[str, Any]:
    own = {"kind": kind, "at": place, "text": f"{kind}; put __syncthreads() between the two accesses", "times": 1}
    return {"finding": {**own, "remedy": "block-barrier", "accesses": accesses, "code": code, "other": other}}

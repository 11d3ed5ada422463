"""Mistakes in lab 02."""

from __future__ import annotations

from functools import partial

from mistake import Mistake

SWAP = """before);
    CUDA_CHECK(cudaGetLastError());
    std::swap(from, to);"""
in_thread = partial(Mistake, "02-merge", "01_thread.cu")
in_block = partial(Mistake, "02-merge", "02_block.cu")
in_splitters = partial(Mistake, "02-merge", "03_splitters.cu")
in_path = partial(Mistake, "02-merge", "04_path.cu")
in_record = partial(Mistake, "02-merge", "05_record.cu")

MISTAKES = (
    in_thread(
        "an unstable merge",
        {"before(from.keys[b], from.keys[a]));": "!before(from.keys[a], from.keys[b]));"},
    ),
    in_thread(
        "no check for the end of a run",
        {"(b < end && before(": "(before("},
        ["FAILED", "error: out-of-bounds: "],
    ),
    in_thread(
        "a copy back after each level",
        {SWAP: SWAP.replace("std::swap(from, to)", "copy_items(to, from, n, stream)")},
        ["OVER"],
        needs_gcc=True,
        alone=True,
    ),
    in_block(
        "the wrong rank for the first run",
        {"i + lower_rank(from.keys + middle": "i + upper_rank(from.keys + middle"},
    ),
    in_block(
        "the second run in the wrong position",
        {"load_items(loaded, chunk_keys, from, b, count.b);": "load_items(loaded, count.a, from, b, count.b);"},
    ),
    in_splitters(
        "no next partition point for the last piece",
        {"(piece + 1) * piece_keys < merge.end ?": "piece + 1 > 0 ?"},
        ["FAILED", "error: out-of-bounds: "],
    ),
    in_path(
        "a diagonal that is one too long",
        {"before(b[diagonal - 1 - middle], a[middle])": "before(b[diagonal - middle], a[middle])"},
    ),
    in_record(
        "no barrier between the levels of four runs",
        {"__syncthreads();  // the next level, or the store": ";  // the next level, or the store"},
    ),
    in_record(
        "the second run read forwards",
        {"b = max(b - 1, output.first);": "b = min(b + 1, output.end - 1);"},
    ),
)

"""Mistakes in lab 05."""

from __future__ import annotations

from functools import partial

from mistake import Mistake

TICKET = "atomicAdd(state.next_tile, 1u)"
in_cpu = partial(Mistake, "05-radix", "00_cpu.cu")
in_host_move = partial(Mistake, "05-radix", "01_host_move.cu")
in_split = partial(Mistake, "05-radix", "02_split.cu")
in_digits = partial(Mistake, "05-radix", "03_digits.cu")
in_onesweep = partial(Mistake, "05-radix", "04_onesweep.cu")
in_pipeline = partial(Mistake, "05-radix", "05_pipeline.cu")
in_record = partial(Mistake, "05-radix", "06_record.cu")

MISTAKES = (
    in_cpu(
        "digits of the wrong width on the host",
        {"digits(order, pass * digit_bits);": "digits(order, pass * 4);"},
    ),
    in_host_move(
        "a shift that skips a bit",
        {"shift += digit_bits) {": "shift += digit_bits + 1) {"},
    ),
    in_host_move(
        "no barrier before the counters are added up",
        {"__syncthreads();  // a thread reads elements": ";  // a thread reads elements"},
        ["FAILED", "error: race: "],
        alone=True,
    ),
    in_split(
        "one key too many in the count",
        {"__syncthreads_count(i < keys.n &&": "__syncthreads_count(i <= keys.n &&"},
        ["FAILED", "error: out-of-bounds: "],
        alone=True,
    ),
    in_split(
        "zeros that count the wrong keys",
        {"zeros + before : i - before;": "zeros + before : before;"},
    ),
    in_digits(
        "the key before the first one",
        {"if (i == 0 || digits.extract(": "if (digits.extract("},
        ["FAILED", "error: out-of-bounds: "],
    ),
    in_onesweep(
        "tiles in the order of the blocks",
        {
            "(;;) {\n    __syncthreads();  //": "(unsigned round = 0;; ++round) {\n    __syncthreads();  //",
            f"= {TICKET};": "= blockIdx.x + round * gridDim.x, (void)state;",
        },
    ),
    in_onesweep(
        "a counter that is read again after the atomic",
        {f"shared.tile = {TICKET};": f"{TICKET}, shared.tile = *state.next_tile;"},
    ),
    in_onesweep(
        "no __syncwarp between read and write",
        {"__syncwarp();  // one lane raises": ";  // one lane raises"},
        ["FAILED", "error: race: "],
        alone=True,
    ),
    in_pipeline(
        "every lane claims, not one of those with equal digits",
        {"if (lower == 0) first = atomicAdd(": "first = atomicAdd("},
    ),
    in_pipeline(
        "the positions are claimed before all warps have theirs",
        {"__syncthreads();  // a lane claims positions": ";  // a lane claims positions"},
        ["FAILED", "error: race: "],
        alone=True,
    ),
    in_record(
        "bins are claimed from before they are scanned",
        {"__syncthreads();  // a thread claims positions from bucket": ";  // a thread claims positions from bucket"},
        ["FAILED", "error: race: "],
        alone=True,
    ),
    in_record(
        "the margin forgotten",
        {"bucket.keys[Shape::margin + claim_in_bin(": "bucket.keys[claim_in_bin("},
        ["FAILED", "error: uninitialized: "],
    ),
)

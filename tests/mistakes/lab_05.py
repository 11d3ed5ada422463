"""Mistakes in lab 05."""

from __future__ import annotations

from mistake import Mistake

LAB = "05-radix"

MISTAKES = (
    Mistake(
        "digits of the wrong width on the host",
        LAB,
        "00_cpu.cu",
        [("digits(order, pass * digit_bits);", "digits(order, pass * 4);")],
        ["FAILED  step 00 cpu, cpu build", "00_cpu.cu"],
    ),
    Mistake(
        "a shift that skips a bit",
        LAB,
        "01_host_move.cu",
        [("shift += digit_bits) {", "shift += digit_bits + 1) {")],
        ["FAILED  step 01 host_move, cpu build", "01_host_move.cu: wrong key at index"],
    ),
    Mistake(
        "no barrier before the counters are added up",
        LAB,
        "01_host_move.cu",
        [("__syncthreads();  // a thread adds counters", ";  // a thread adds counters")],
        ["FAILED  step 01 host_move, check build", "01_host_move.cu:", "error: race: "],
        alone=True,
    ),
    Mistake(
        "one key too many in the count",
        LAB,
        "02_split.cu",
        [("__syncthreads_count(i < keys.n &&", "__syncthreads_count(i <= keys.n &&")],
        ["FAILED  step 02 split, ", "{at}: error: out-of-bounds: "],
        alone=True,
    ),
    Mistake(
        "zeros that count the wrong keys",
        LAB,
        "02_split.cu",
        [("zeros + before : i - before;", "zeros + before : before;")],
        ["FAILED  step 02 split, ", "02_split.cu"],
    ),
    Mistake(
        "the key before the first one",
        LAB,
        "03_digits.cu",
        [("if (i == 0 || digits.extract(", "if (digits.extract(")],
        ["FAILED  step 03 digits, ", "{at}: error: out-of-bounds: "],
    ),
    Mistake(
        "tiles in the order of the blocks",
        LAB,
        "04_onesweep.cu",
        [
            (
                "for (;;) {\n    __syncthreads();  // shared.tile and",
                "for (unsigned round = 0;; ++round) {\n    __syncthreads();  // shared.tile and",
            ),
            (
                "shared.tile = atomicAdd(state.next_tile, 1u);",
                "shared.tile = blockIdx.x + round * gridDim.x, (void)state;",
            ),
        ],
        [
            "FAILED  step 04 onesweep, ",
            "04_onesweep.cu:",
            "CUDA defines no order of blocks",
            "last block first",
            "SIMT_REVERSE_BLOCKS=1",
        ],
        quick=True,
    ),
    Mistake(
        "a counter that is read again after the atomic",
        LAB,
        "04_onesweep.cu",
        [
            (
                "shared.tile = atomicAdd(state.next_tile, 1u);",
                "atomicAdd(state.next_tile, 1u), shared.tile = *state.next_tile;",
            )
        ],
        ["FAILED  step 04 onesweep, ", "04_onesweep.cu: the step changed nothing", "range:0:9, ascending, seed 0"],
    ),
    Mistake(
        "no __syncwarp between read and write",
        LAB,
        "04_onesweep.cu",
        [("__syncwarp();  // one lane raises", ";  // one lane raises")],
        ["FAILED  step 04 onesweep, check build", "04_onesweep.cu:", "error: race: ", "__syncwarp"],
        alone=True,
    ),
)

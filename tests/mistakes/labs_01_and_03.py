"""More mistakes in labs 01 and 03: two threads for one key, barriers, early returns, and steps that change nothing."""

from __future__ import annotations

from labs_01_to_03 import (
    in_bitonic_shared,
    in_odd_even_global,
    in_odd_even_halo,
    in_odd_even_rows,
)

LOAD = "for (int i = threadIdx.x; i < count; i += blockDim.x) window[i] = from[left + i];"
COMPARE = "compare_exchange<order>(window[i], window[i + 1]);\n      }\n      __syncthreads();  // the next phase"

MISTAKES = (
    # --- two threads for one key ---
    in_odd_even_global(
        "no block in the index of a pair",
        {"t = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; t < pairs": "t = threadIdx.x; t < pairs"},
        ["FAILED  step 01 global, check build", "{at+2}: error: race: ", "is blockIdx in the index?", "again: "],
    ),
    in_odd_even_global(
        "a thread for each key",
        {"pairs = (n - parity) / 2;": "pairs = n - parity - 1;", "i = 2 * t + parity;": "i = t + parity;"},
        ["FAILED  step 01 global, check build", "01_global.cu:", "error: race: ", "which thread has which element"],
    ),
    in_odd_even_global(
        "a pair too few in odd phases",
        {"pairs = (n - parity) / 2;": "pairs = n / 2 - parity;"},
        ["FAILED  step 01 global, cpu build", "01_global.cu: wrong key at index"],
    ),
    # --- barriers ---
    in_odd_even_halo(
        "a barrier inside the loop over pairs",
        {COMPARE: COMPARE.replace("\n      }\n      ", "\n        ").replace(";  //", ";\n      }  //")},
        [
            "FAILED  step 02 halo, check build. The first thing to fix:\n\n",
            "error: divergent-barrier: ",
            "{at+1}\n",
            "move it out of an if or a loop",
        ],
    ),
    in_odd_even_halo(
        "no barrier after the load",
        {"__syncthreads();  // the first phase": ";  // the first phase"},
        ["FAILED  step 02 halo, check build", "02_halo.cu:", "error: race: ", "put __syncthreads() between"],
        alone=True,
    ),
    in_odd_even_halo(
        "no barrier after the store",
        {"__syncthreads();  // the next load": ";  // the next load"},
        ["FAILED  step 02 halo, check build", "02_halo.cu:", "error: race: ", "__syncthreads()"],
        alone=True,
    ),
    in_bitonic_shared(
        "no barrier after the mirrored stage",
        {"__syncthreads();  // the next stage compares": ";  // the next stage compares"},
        ["FAILED  step 02 shared, check build", "error: race: ", "put __syncthreads() between"],
        alone=True,
    ),
    # --- threads that leave early ---
    in_odd_even_halo(
        "threads without a pair return before the load",
        {LOAD: "if (2 * threadIdx.x >= count) return;\n    " + LOAD},
        ["FAILED  step 02 halo, check build. The first thing to fix:", "{at}: error: early-exit: ", "uninitialized"],
        quick=True,
    ),
    in_odd_even_halo(
        "threads without a pair return from the phases",
        {
            "for (int i = 2 * threadIdx.x + parity;": "if (2 * threadIdx.x + 2 > count) return;\n      "
            "for (int i = 2 * threadIdx.x + parity;"
        },
        ["FAILED  step 02 halo, check build. The first thing to fix:", "{at}: error: early-exit: "],
    ),
    in_odd_even_rows(
        "lanes without keys return before the shuffles",
        {"Key own[items_per_thread];\n": "if (position >= keys.n) return;\n    Key own[items_per_thread];\n"},
        [
            "FAILED  step 03 rows, check build",
            "03_rows.cu:",
            "error: ",
            "which has exited",
            "keep every lane until after the shuffle",
        ],
    ),
    # --- nothing changes ---
    in_odd_even_global(
        "a loop without a round",
        {"phase < keys.n; ++phase": "phase < keys.n / 512; ++phase"},
        ["FAILED  step 01 global, check build", "01_global.cu: the step changed nothing: it launches no kernel"],
        quick=True,
    ),
    in_bitonic_shared(
        "a merge too few",
        {"run / 2 < count; run": "run <= count; run"},
        ["FAILED  step 02 shared, cpu build", "02_shared.cu: wrong key at index"],
    ),
)

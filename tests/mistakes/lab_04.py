"""Mistakes in lab 04: those that the first reader made there, and others of their kind."""

from __future__ import annotations

from mistake import Mistake

LAB = "04-counting"
GLOBAL, SHARED, PARALLEL, RANGE, STABLE = (
    "01_global.cu",
    "02_shared.cu",
    "03_parallel.cu",
    "04_range.cu",
    "05_stable.cu",
)
EDGES = "for_each_index(vectors.edges, [&](std::int64_t e) { atomicAdd(&block_counts[keys[vectors.edge(e)]], 1u); });"
CLEAR = "CUDA_CHECK(cudaMemsetAsync(counts.data(), 0, counts.size() * sizeof(std::uint64_t), stream));"

MISTAKES = (
    # --- what does not compile ---
    Mistake(
        "no semicolon",
        LAB,
        SHARED,
        [("const uint4 vector = all[j];", "const uint4 vector = all[j]")],
        ["{at+1}", "error: expected"],
    ),
    Mistake(
        "braces without a type at a launch",
        LAB,
        GLOBAL,
        [("(lab::Span<const std::uint8_t>{keys.data, keys.n}, counts", "({keys.data, keys.n}, counts")],
        ["{at}", "error: ", "this argument's type"],
    ),
    Mistake(
        "no __device__",
        LAB,
        PARALLEL,
        [("__device__ std::uint64_t scan_in_shared", "std::uint64_t scan_in_shared")],
        [
            "{at+40}",
            "error: kernel ",
            "calls ",
            "scan_in_shared, which is a host function",
            "write __device__ before it",
        ],
    ),
    Mistake(
        "a function of the standard library in a kernel",
        LAB,
        RANGE,
        [("= min(smallest[t], smallest[partner]);", "= std::min(smallest[t], smallest[partner]);")],
        ["{at}", "error: kernel ", "calls std::min, which is a host function", "write min()"],
    ),
    Mistake(
        "atomicAdd on uint64_t",
        LAB,
        GLOBAL,
        [("atomic_add(&counts[keys.data[i]], 1);", "atomicAdd(&counts[keys.data[i]], 1);")],
        ["{at}", "error: ", "unsigned long long"],
    ),
    Mistake(
        "a kernel called like a function",
        LAB,
        GLOBAL,
        [("scan<<<1, 1, 0, stream>>>(counts.data());", "scan(counts.data());")],
        ["{at}", "error: ", "<<<"],
    ),
    # --- counting ---
    Mistake(
        "memset without sizeof",
        LAB,
        GLOBAL,
        [("counts.size() * sizeof(std::uint64_t), stream", "counts.size(), stream")],
        ["FAILED  step 01 global, check build", "01_global.cu:", "error: uninitialized: ", "again: "],
    ),
    Mistake(
        "no memset",
        LAB,
        GLOBAL,
        [(CLEAR, "")],
        ["FAILED  step 01 global, check build", "01_global.cu:", "error: uninitialized: ", "again: "],
    ),
    Mistake(
        "no atomic",
        LAB,
        SHARED,
        [("atomicAdd(&tile_counts[keys.data[first + i]], 1u);", "++tile_counts[keys.data[first + i]];")],
        [
            "FAILED  step 02 shared, check build. The first thing to fix:",
            "{at}: error: race: ",
            "several threads change the same element at once: use atomicAdd() or another atomic",
            "again: ",
            "--build check --solution",
        ],
        quick=True,
        alone=True,
    ),
    Mistake(
        "the edges are not counted",
        LAB,
        SHARED,
        [(EDGES, "(void)keys;")],
        [
            "FAILED  step 02 shared, histogram, cpu build. The first thing to fix:",
            "solutions/04-counting/02_shared.cu: counts[",
            "] of 256 is 0; it should be 1",
            "histogram: 1 u8 keys, range:0:9, seed 0",
            "again: ./workbook run 04-counting 2 --n 1 --input range:0:9",
            "--task histogram --seed 0 --solution",
        ],
    ),
    Mistake(
        "a fault in a part of an earlier step",
        LAB,
        SHARED,
        [(EDGES, "(void)keys;")],
        [
            "FAILED  step 03 parallel uses step 02 shared, histogram, which fails on the cpu build. The first thing",
            "solutions/04-counting/02_shared.cu: counts[",
        ],
        step=3,
        quick=True,
    ),
    Mistake(
        "vectors that begin at the first key",
        LAB,
        SHARED,
        [
            (
                "const uint4* const all = vectors.in(keys);",
                "const uint4* const all = reinterpret_cast<const uint4*>(keys);",
            )
        ],
        [
            "FAILED  step 02 shared, histogram, ",
            "02_shared.cu:",
            "error: misaligned: ",
            "past an aligned address",
            "--offset ",
        ],
        quick=True,
    ),
    # --- scans ---
    Mistake(
        "a scan that is one counter short",
        LAB,
        GLOBAL,
        [("v <= byte_values; ++v", "v < byte_values; ++v")],
        ["FAILED  step 01 global, ", "01_global.cu:"],
    ),
    Mistake(
        "the buffers of the scan are not exchanged",
        LAB,
        SHARED,
        [("to = from, from = written;", "(void)written;")],
        ["FAILED  step 02 shared, hillis-steele, ", "02_shared.cu"],
    ),
    Mistake(
        "the sums are inclusive",
        LAB,
        SHARED,
        [("sums[first + i] = i == 0 ? 0 : from[i - 1];", "sums[first + i] = from[i];")],
        [
            "FAILED  step 02 shared, hillis-steele, cpu build",
            "sums[0] of 1 is 1; it should be 0",
            "1 u64 keys, range:1:1",
        ],
        quick=True,
    ),
    Mistake(
        "a loop that never ends, with a barrier",
        LAB,
        SHARED,
        [("distance < count; distance *= 2", "distance < count; distance *= 1")],
        ["FAILED  step 02 shared, hillis-steele, cpu build", "error: hang: the kernel was still running here"],
    ),
    Mistake(
        "a loop that never ends",
        LAB,
        GLOBAL,
        [("position < end; ++position)", "position < end;)")],
        ["FAILED  step 01 global, cpu build", "01_global.cu:", "error: hang: "],
    ),
    Mistake(
        "a shared array without padding",
        LAB,
        PARALLEL,
        [("tile[padded(scan_tile)];", "tile[scan_tile];")],
        ["FAILED  step 03 parallel, blelloch, check build", "03_parallel.cu:", "error: out-of-bounds: ", "tile["],
    ),
    Mistake(
        "no padding in the tree of the scan",
        LAB,
        PARALLEL,
        [("return i + i / 16 + i / 256;", "return i;")],
        ["OVER ", "over budget: blelloch", "note: bank-conflict: "],
        alone=True,
    ),
    Mistake(
        "no zero at the root of the tree",
        LAB,
        PARALLEL,
        [("if (threadIdx.x == 0) tile[padded(scan_tile - 1)] = 0;", "")],
        ["FAILED  step 03 parallel, blelloch, cpu build", "sums[0] of 1 is 1; it should be 0"],
    ),
    # --- placing ---
    Mistake(
        "the chunk is rounded down",
        LAB,
        GLOBAL,
        [("(keys.n + walkers - 1) / walkers", "keys.n / walkers")],
        ["FAILED  step 01 global, cpu build", "01_global.cu: the step changed nothing"],
    ),
    Mistake(
        "blocks and threads in the wrong order",
        LAB,
        GLOBAL,
        [("walk<<<walk_blocks, threads, 0, stream>>>", "walk<<<threads, walk_blocks, 0, stream>>>")],
        ["FAILED  step 01 global, ", "01_global.cu:"],
    ),
    Mistake(
        "if in place of while",
        LAB,
        GLOBAL,
        [("while (sums[v + 1] <= std::uint64_t(position)) ++v;", "if (sums[v + 1] <= std::uint64_t(position)) ++v;")],
        [
            "FAILED  step 01 global, cpu build",
            "01_global.cu: wrong key at index 1 of 2",
            "range:0:9, ascending, seed 0",
        ],
    ),
    Mistake(
        "shared memory in elements",
        LAB,
        SHARED,
        [("counters * sizeof(unsigned), stream", "counters, stream")],
        ["FAILED  step 02 shared, histogram, ", "02_shared.cu:", "error: out-of-bounds: "],
    ),
    Mistake(
        "barriers before the next tile are missing in two kernels",
        LAB,
        SHARED,
        [
            ("__syncthreads();  // the next tile overwrites sums", ";  // the next tile overwrites sums"),
            ("__syncthreads();  // the next tile sets counters", ";  // the next tile sets counters"),
        ],
        ["FAILED  step 02 shared, hillis-steele, check build", "02_shared.cu:", "error: race: ", "again: "],
    ),
    Mistake(
        "the barrier before the next tile is missing",
        LAB,
        SHARED,
        [("__syncthreads();  // the next tile sets counters", ";  // the next tile sets counters")],
        ["FAILED  step 02 shared, check build", "02_shared.cu:", "error: race: ", "__syncthreads", "again: "],
        alone=True,
        quick=True,
    ),
    Mistake(
        "a barrier in a loop that some threads leave",
        LAB,
        SHARED,
        [("v += blockDim.x) tile_counts[v] = 0;", "v += blockDim.x) tile_counts[v] = 0, __syncthreads();")],
        ["FAILED  step 02 shared, ", "{at}", "error: divergent-barrier: "],
    ),
    Mistake(
        "a last tile that is taken for a whole one",
        LAB,
        SHARED,
        [("const int count = items_in_tile(keys.n, first, scatter_tile);", "const int count = int(scatter_tile);")],
        ["FAILED  step 02 shared, ", "02_shared.cu:", "error: out-of-bounds: ", "again: "],
    ),
    Mistake(
        "positions in an int",
        LAB,
        SHARED,
        [("const std::int64_t position = positions[key]", "const int position = positions[key]")],
        ["ok      step 02 shared: ", "{at}: note: narrow: int holds ", "std::int64_t"],
        alone=True,
        quick=True,
    ),
    Mistake(
        "an index that is computed in 32 bits",
        LAB,
        GLOBAL,
        [
            (
                "const std::int64_t thread = std::int64_t(blockIdx.x) * blockDim.x",
                "const std::int64_t thread = blockIdx.x * blockDim.x",
            )
        ],
        ["ok      step 01 global: ", "{at}: note: narrow: blockIdx.x * blockDim.x", "std::int64_t(blockIdx.x)"],
        alone=True,
    ),
    # --- the host ---
    Mistake(
        "a kernel that prints",
        LAB,
        GLOBAL,
        [("if (keys.n < 2) return;", 'if (keys.n < 2) return; std::printf("n is %d\\n", int(keys.n));')],
        ["ok      step 01 global: ", "it printed in ", ", first: n is 2"],
    ),
    Mistake(
        "the host writes device memory",
        LAB,
        GLOBAL,
        [(CLEAR, "counts.data()[0] = 0;")],
        ["FAILED  step 01 global, ", "{at}: error: device-pointer: ", "cudaMemcpy"],
    ),
    Mistake(
        "a host function in a kernel",
        LAB,
        GLOBAL,
        [
            (
                "const std::int64_t stride = std::int64_t(gridDim.x) * blockDim.x;",
                "const std::int64_t stride = std::int64_t(gridDim.x) * blockDim.x; cudaDeviceSynchronize();",
            )
        ],
        ["{at}", "error: ", "cudaDeviceSynchronize"],
    ),
    Mistake(
        "a launch whose error nobody reads",
        LAB,
        GLOBAL,
        [
            (
                "(keys.n + walkers - 1) / walkers, order);\n  CUDA_CHECK(cudaGetLastError());",
                "(keys.n + walkers - 1) / walkers, order);\n",
            )
        ],
        [
            "FAILED  step 01 global, check build",
            "{at}: error: unchecked-launch: kernel walk",
            "CUDA_CHECK(cudaGetLastError())",
        ],
        alone=True,
        quick=True,
    ),
    # --- warps ---
    Mistake(
        "threads exit before the last barriers",
        LAB,
        RANGE,
        [
            (
                "__syncthreads();  // a thread reads what its partner has stored",
                "__syncthreads(); if (2 * t > int(blockDim.x)) return;  // a thread reads what its partner has stored",
            )
        ],
        ["ok      step 04 range: ", "04_range.cu:", "note: early-exit: "],
        alone=True,
    ),
    Mistake(
        "atomics in place of ranks",
        LAB,
        STABLE,
        [
            (
                "const std::uint64_t position = next[v] + __popc(equal & ((1u << warp.lane) - 1));",
                "const std::uint64_t position = atomic_add(&next[v], 1);",
            ),
            ("if (equal >> warp.lane == 1) next[v] = position + 1;", "(void)equal;"),
        ],
        ["FAILED  step 05 stable, ", "05_stable.cu", "equal keys in the wrong order (the step promises to be stable)"],
    ),
    Mistake(
        "a mask of lanes that do not take part",
        LAB,
        STABLE,
        [("__match_any_sync(active, v)", "__match_any_sync(warp.mask, v)")],
        ["FAILED  step 05 stable, ", "{at}: error: ", "__match_any_sync"],
    ),
    Mistake(
        "no __syncwarp at the end of a round",
        LAB,
        STABLE,
        [("__syncwarp(warp.mask);  // the next round reads", ";  // the next round reads")],
        ["FAILED  step 05 stable, check build", "05_stable.cu:", "error: race: ", "__syncwarp"],
        alone=True,
    ),
)

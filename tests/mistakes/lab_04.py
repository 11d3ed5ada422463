"""Mistakes in lab 04: those that the first reader made there, and others of their kind."""

from __future__ import annotations

from functools import partial

from mistake import Mistake

EDGES = "for_each_index(vectors.edges, [&](std::int64_t e) { atomicAdd(&block_counts[keys[vectors.edge(e)]], 1u); });"
CLEAR = "CUDA_CHECK(cudaMemsetAsync(counts.data(), 0, counts.size() * sizeof(std::uint64_t), stream));"
in_global = partial(Mistake, "04-counting", "01_global.cu")
in_shared = partial(Mistake, "04-counting", "02_shared.cu")
in_parallel = partial(Mistake, "04-counting", "03_parallel.cu")
in_range = partial(Mistake, "04-counting", "04_range.cu")
in_stable = partial(Mistake, "04-counting", "05_stable.cu")

MISTAKES = (
    # --- what does not compile ---
    in_shared(
        "no semicolon",
        {"const uint4 vector = all[j];": "const uint4 vector = all[j]"},
        ["{at+1}", "error: expected"],
    ),
    in_global(
        "braces without a type at a launch",
        {"(lab::Span<const std::uint8_t>{keys.data, keys.n}, counts": "({keys.data, keys.n}, counts"},
        ["{at}", "error: ", "this argument's type"],
    ),
    in_parallel(
        "no __device__",
        {"__device__ std::uint64_t scan_in_shared": "std::uint64_t scan_in_shared"},
        [
            "{at+40}",
            "error: kernel ",
            "calls ",
            "scan_in_shared, which is a host function",
            "write __device__ before it",
        ],
    ),
    in_range(
        "a function of the standard library in a kernel",
        {"= min(smallest[t], smallest[partner]);": "= std::min(smallest[t], smallest[partner]);"},
        ["{at}", "error: kernel ", "calls std::min, which is a host function", "write min()"],
    ),
    in_global(
        "atomicAdd on uint64_t",
        {"atomic_add(&counts[keys.data[i]], 1);": "atomicAdd(&counts[keys.data[i]], 1);"},
        ["{at}", "error: ", "unsigned long long"],
    ),
    in_global(
        "a kernel called like a function",
        {"scan<<<1, 1, 0, stream>>>(counts.data());": "scan(counts.data());"},
        ["{at}", "error: ", "<<<"],
    ),
    # --- counting ---
    in_global(
        "memset without sizeof",
        {"counts.size() * sizeof(std::uint64_t), stream": "counts.size(), stream"},
        ["FAILED", "error: uninitialized: "],
    ),
    in_global(
        "no memset",
        {CLEAR: ""},
        ["FAILED", "error: uninitialized: "],
    ),
    in_shared(
        "no atomic",
        {"atomicAdd(&tile_counts[keys.data[first + i]], 1u);": "++tile_counts[keys.data[first + i]];"},
        ["FAILED", "error: race: "],
        alone=True,
    ),
    in_shared(
        "the edges are not counted",
        {EDGES: "(void)keys;"},
    ),
    in_shared(
        "a fault in a part of an earlier step",
        {EDGES: "(void)keys;"},
        step=3,
    ),
    in_shared(
        "vectors that begin at the first key",
        {"= vectors.in(keys);": "= reinterpret_cast<const uint4*>(keys);"},
        ["FAILED", "error: misaligned: "],
    ),
    # --- scans ---
    in_global(
        "a scan that is one counter short",
        {"v <= byte_values; ++v": "v < byte_values; ++v"},
        is_searched=True,
    ),
    in_shared(
        "the buffers of the scan are not exchanged",
        {"to = from, from = written;": "(void)written;"},
    ),
    in_shared(
        "the sums are inclusive",
        {"sums[first + i] = i == 0 ? 0 : from[i - 1];": "sums[first + i] = from[i];"},
    ),
    in_shared(
        "a loop that never ends, with a barrier",
        {"distance < count; distance *= 2": "distance < count; distance *= 1"},
        ["FAILED", "error: hang: "],
    ),
    in_global(
        "a loop that never ends",
        {"position < end; ++position)": "position < end;)"},
        ["FAILED", "error: hang: "],
    ),
    in_parallel(
        "a shared array without padding",
        {"tile[padded(scan_tile)];": "tile[scan_tile];"},
        ["FAILED", "error: out-of-bounds: "],
    ),
    in_parallel(
        "no padding in the tree of the scan",
        {"return i + i / 16 + i / 256;": "return i;"},
        ["OVER"],
        needs_gcc=True,
        alone=True,
    ),
    in_parallel(
        "no zero at the root of the tree",
        {"if (threadIdx.x == 0) tile[padded(scan_tile - 1)] = 0;": ""},
    ),
    # --- placing ---
    in_global(
        "the chunk is rounded down",
        {"(keys.n + walkers - 1) / walkers": "keys.n / walkers"},
    ),
    in_global(
        "blocks and threads in the wrong order",
        {"walk<<<walk_blocks, threads, 0, stream>>>": "walk<<<threads, walk_blocks, 0, stream>>>"},
    ),
    in_global(
        "if in place of while",
        {"while (sums[v + 1] <= std::uint64_t(position)) ++v;": "if (sums[v + 1] <= std::uint64_t(position)) ++v;"},
    ),
    in_shared(
        "shared memory in elements",
        {"counters * sizeof(unsigned), stream": "counters, stream"},
        ["FAILED", "error: out-of-bounds: "],
    ),
    in_shared(
        "barriers before the next tile are missing in two kernels",
        {
            "__syncthreads();  // the next tile overwrites sums": ";  // the next tile overwrites sums",
            "__syncthreads();  // the next tile sets counters": ";  // the next tile sets counters",
        },
        ["FAILED", "error: race: "],
    ),
    in_shared(
        "the barrier before the next tile is missing",
        {"__syncthreads();  // the next tile sets counters": ";  // the next tile sets counters"},
        ["FAILED", "error: race: "],
        alone=True,
    ),
    in_shared(
        "a barrier in a loop that some threads leave",
        {"v += blockDim.x) tile_counts[v] = 0;": "v += blockDim.x) tile_counts[v] = 0, __syncthreads();"},
        ["FAILED", "error: divergent-barrier: "],
    ),
    in_shared(
        "a last tile that is taken for a whole one",
        {"const int count = items_in_tile(keys.n, first, scatter_tile);": "const int count = int(scatter_tile);"},
        ["FAILED", "error: out-of-bounds: "],
    ),
    in_shared(
        "positions in an int",
        {"const std::int64_t position = positions[key]": "const int position = positions[key]"},
        ["ok      step 02 shared: ", "{at}: note: narrow: int holds ", "std::int64_t"],
        alone=True,
    ),
    in_global(
        "an index that is computed in 32 bits",
        {"thread = std::int64_t(blockIdx.x) * blockDim.x": "thread = blockIdx.x * blockDim.x"},
        ["ok      step 01 global: ", "{at}: note: narrow: blockIdx.x * blockDim.x", "std::int64_t(blockIdx.x)"],
        alone=True,
    ),
    # --- the host ---
    in_global(
        "a kernel that prints",
        {"if (keys.n < 2) return;": 'if (keys.n < 2) return; std::printf("n is %d\\n", int(keys.n));'},
        ["ok      step 01 global: ", "the step printed something in ", ", first: n is 2"],
    ),
    in_global(
        "the host writes device memory",
        {CLEAR: "counts.data()[0] = 0;"},
        ["FAILED", "error: device-pointer: "],
    ),
    in_global(
        "a host function in a kernel",
        {"(gridDim.x) * blockDim.x;": "(gridDim.x) * blockDim.x; cudaDeviceSynchronize();"},
        ["{at}", "error: ", "cudaDeviceSynchronize"],
    ),
    in_global(
        "a launch whose error nobody reads",
        {"/ walkers, order);\n  CUDA_CHECK(cudaGetLastError());": "/ walkers, order);\n"},
        ["FAILED", "error: unchecked-launch: "],
        alone=True,
    ),
    # --- warps ---
    in_range(
        "threads exit before the last barriers",
        {"  // a thread reads elements of `s": " if (2 * t > int(blockDim.x)) return;  // `s"},
        ["ok      step 04 range: ", "04_range.cu:", "note: early-exit: "],
        alone=True,
    ),
    in_stable(
        "atomics in place of ranks",
        {
            "position = next[v] + __popc(equal & ((1u << warp.lane) - 1));": "position = atomic_add(&next[v], 1);",
            "if (equal >> warp.lane == 1) next[v] = position + 1;": "(void)equal;",
        },
    ),
    in_stable(
        "a mask of lanes that do not take part",
        {"__match_any_sync(active, v)": "__match_any_sync(warp.mask, v)"},
    ),
    in_stable(
        "no __syncwarp at the end of a round",
        {"__syncwarp(warp.mask);  // the next round reads": ";  // the next round reads"},
        ["FAILED", "error: race: "],
        alone=True,
    ),
)

"""Mistakes in lab 03."""

from __future__ import annotations

from functools import partial

from mistake import Mistake

FIRST_STAGE = (
    "compare_exchange<order>(keys, values, i, partner);\n    }\n    __syncthreads();  // the next stage compares"
)
STRIDE = "if (partner < count) compare_exchange<order>(keys, values, i, partner);\n      }\n      __syncthreads()"
LEAVES = "    if (run / 2 + threadIdx.x > tile_keys / 4) return;\n"
in_global = partial(Mistake, "03-bitonic", "01_global.cu")
in_shared = partial(Mistake, "03-bitonic", "02_shared.cu")
in_hybrid = partial(Mistake, "03-bitonic", "03_hybrid.cu")
in_record = partial(Mistake, "03-bitonic", "04_record.cu")
in_segments = partial(Mistake, "03-bitonic", "05_segments.cu")

MISTAKES = (
    in_global(
        "the wrong partner",
        {"const std::int64_t partner = i ^ j;": "const std::int64_t partner = i ^ k;"},
    ),
    in_global(
        "all comparators in one direction",
        {"const bool forward = (i & k) == 0;": "const bool forward = true;"},
    ),
    in_global(
        "the direction by the thread",
        {"(i & k) == 0;": "(t & k) == 0;"},
    ),
    in_global(
        "the wrong bit decides the direction",
        {"(i & k) == 0;": "(i & j) == 0;"},
        is_searched=True,
    ),
    in_shared(
        "a thread without a pair leaves the kernel",
        {STRIDE: STRIDE.replace("if (partner < count)", "if (partner >= count) return;\n        if (true)")},
        is_searched=True,
    ),
    in_global(
        "only powers of two",
        {"if (padded == keys.n) {": "if (padded >= keys.n) {"},
    ),
    in_global(
        "a copy in the wrong direction",
        {"scratch.data(), keys.data, bytes, cudaMemcpyDevice": "scratch.data(), keys.data, bytes, cudaMemcpyHost"},
        ["FAILED", "error: invalid-copy: "],
    ),
    in_global(
        "bytes counted as keys",
        {"std::size_t(keys.n) * sizeof(Key);": "std::size_t(keys.n);"},
        ["FAILED", "error: uninitialized: "],
    ),
    in_shared(
        "the partner of the first stage is not the mirror image",
        {"partner = i ^ (run - 1);": "partner = i + run / 2;"},
    ),
    in_shared(
        "no barrier after the load",
        {"__syncthreads();  // the first stage reads keys": ";  // the first stage reads keys"},
        ["FAILED", "error: race: "],
        alone=True,
    ),
    in_shared(
        "no check that there is a partner",
        {"partner = i ^ (run - 1);\n      if (partner < count) ": "partner = i ^ (run - 1);\n      "},
    ),
    in_global(
        "positions that are too far apart",
        {"2 * t - (t & (j - 1));": "2 * j * (t / j) + t;"},
    ),
    in_hybrid(
        "the first merge sorts the tiles again",
        {"std::int64_t run = 2 * tile_keys;": "std::int64_t run = tile_keys;"},
        ["OVER"],
        needs_gcc=True,
    ),
    in_shared(
        "a return between a launch and the reading of its error",
        {
            "  CUDA_CHECK(cudaGetLastError());": "  if (order == lab::Order::descending) return;\n"
            "  CUDA_CHECK(cudaGetLastError());"
        },
    ),
    in_hybrid(
        "half as many comparators as a cut run needs",
        {"(keys.n + run - 1) / run * (run / 2)": "keys.n / 2"},
    ),
    in_record(
        "the second half of a mirrored trip from the same column",
        {"mirrored ? run + stride - 1 - column : low;": "low;"},
    ),
    in_record(
        "no barrier between blocked and striped words",
        {"__syncthreads();  // read_striped() reads words of `tile` that other threads have written": ""},
        ["FAILED", "error: race: "],
        alone=True,
    ),
    in_record(
        "a strided pass too few",
        {"while (stride > tile) {": "while (stride > 32 * tile) {"},
    ),
    in_record(
        "merges that end at the largest power of two below n",
        {"run / 2 < all.n; run *= 2": "run <= all.n; run *= 2"},
    ),
    in_segments(
        "no sentinels behind a segment",
        {"i * threads < left ? from[i * threads] : ~0u;": "from[i * threads];"},
    ),
    in_segments(
        "no barrier between the sort of a segment and its store",
        {"synchronize<threads>();  // a thread stores words of tiles[group] that other threads have written": ""},
        ["FAILED", "error: race: "],
        alone=True,
    ),
    in_segments(
        "half as many blocks as there are segments to list",
        {"(segments + per_block - 1)": "segments"},
        ["FAILED", "error: invalid-launch: "],
    ),
    in_segments(
        "segments that are counted, but not listed",
        {"list_segments_by_class<<<": "count_segments<<<"},
    ),
    # --- barriers ---
    in_shared(
        "no barrier after the mirrored stage",
        {"__syncthreads();  // the next stage compares": ";  // the next stage compares"},
        ["FAILED", "error: race: "],
        alone=True,
    ),
    # --- nothing changes ---
    in_shared(
        "a merge too few",
        {"run / 2 < count; run": "run <= count; run"},
    ),
    # --- indices ---
    in_shared(
        "the partner of the first stage by the run",
        {"partner = i ^ (run - 1);": "partner = i ^ run;"},
        ["FAILED", "error: race: "],
    ),
    in_shared(
        "positions of the first stage without gaps",
        {"lower_position(t, run / 2), partner = i ^ (run - 1);": "t, partner = i ^ (run - 1);"},
        ["FAILED", "error: race: "],
    ),
    in_shared(
        "no barrier between the further stages",
        {"__syncthreads();  // the next stage, or the store": ";  // the next stage, or the store"},
        ["FAILED", "error: race: "],
        alone=True,
    ),
    in_shared(
        "the key before the tile",
        {FIRST_STAGE: FIRST_STAGE.replace("i, partner", "i - 1, partner")},
        ["FAILED", "error: out-of-bounds: "],
    ),
    # --- barriers ---
    in_shared(
        "a return of threads without a comparator before a barrier",
        {
            "    __syncthreads();  // the next stage compares": LEAVES
            + "    __syncthreads();  // the next stage compares"
        },
    ),
    # --- nothing changes ---
    in_shared(
        "no store of the tile",
        {"    store_tile(keys, values, first, count, tile, tile_values);\n": ""},
    ),
    in_shared(
        "no __shared__",
        {"__shared__ Key tile[": "Key tile["},
        ["FAILED", "error: uninitialized: "],
        needs_gcc=True,
    ),
    # --- wrong keys ---
    in_global(
        "merges that end too early",
        {"k <= n; k *= 2": "k < n; k *= 2"},
    ),
    in_global(
        "strides in the wrong order",
        {"j = k / 2; j > 0; j /= 2": "j = 1; j < k; j *= 2"},
    ),
    in_hybrid(
        "the whole run as the stride of the mirror stage",
        {"pairs, run / 2);": "pairs, run);"},
    ),
    in_hybrid(
        "a return in place of a comparator that is skipped",
        {
            "    if (partner < keys.n) compare_exchange<order>(keys.data, values, i, partner);\n": "    if (partner >= "
            "keys.n) return;\n    compare_exchange<order>(keys.data, values, i, partner);\n"
        },
    ),
    in_hybrid(
        "no merge in the tiles",
        {
            "    merge_in_tiles<order><<<tile_blocks, threads_per_block, 0, stream>>>(keys, values);\n"
            "    CUDA_CHECK(cudaGetLastError());\n": ""
        },
    ),
    in_hybrid(
        "no store in the merge of the tiles",
        {"    store_tile(keys, values, first, count, tile, tile_values);\n": ""},
    ),
    # --- what has been written ---
    in_shared(
        "no load of the tile",
        {"    load_tile(tile, tile_values, keys, values, first, count);\n": ""},
        ["FAILED", "error: uninitialized: "],
    ),
    in_shared(
        "partners up to the end of a full tile",
        {
            "i ^ (run - 1);\n      if (partner < count)": "i ^ (run - 1);\n      if (partner < tile_keys)",
            "i + stride;\n        if (partner < count)": "i + stride;\n        if (partner < tile_keys)",
        },
    ),
    # --- kernels and hosts ---
    in_hybrid(
        "a barrier in the host",
        {"    for (std::int64_t stride = run / 4;": "    __syncthreads();\n    for (std::int64_t stride = run / 4;"},
    ),
    in_hybrid(
        "no values for the last stages",
        {"(tile, tile_values, i, partner)": "(tile, static_cast<Value*>(nullptr), i, partner)"},
    ),
    # --- compilers' messages ---
    in_shared(
        "the arguments of a function in another order",
        {
            "load_tile(tile, tile_values, keys, values, first, count);": "load_tile(keys, values, tile, tile_values, "
            "first, count);"
        },
        ["{at}: error: load_tile(Key*, Value*, lab::Span<Key>", "cannot take the arguments of this call"],
    ),
    in_global(
        "the opposite of an order",
        {
            "forward ? lab::before(b, a, order) : lab::before(a, b, order)": "lab::before(b, a, forward ? order : "
            "!order)"
        },
        ["{at}: error: no match for ", "exchange the two keys that are compared"],
    ),
    in_hybrid(
        "a length of runs in 32 bits",
        {"for (std::int64_t run = 2": "for (int run = 2"},
        ["ok      step 03 hybrid", "{at}: note: narrow: int run grows up to n and overflows", "use std::int64_t"],
    ),
    # --- the first stage that goes wrong ---
    in_global(
        "all comparators turned round",
        {
            "forward ? lab::before(b, a, order) : lab::before(a, b, order)": "forward ? lab::before(a, b, order) : "
            "lab::before(b, a, order)"
        },
    ),
    in_global(
        "positions without gaps",
        {"i = 2 * t - (t & (j - 1));": "i = t;"},
    ),
    in_global(
        "merges that begin with four keys",
        {"k = 2; k <= n": "k = 4; k <= n"},
    ),
    in_global(
        "no loop over the comparators",
        {"t < comparators; t += step": "t < comparators; t += step + comparators"},
    ),
    in_shared(
        "a tile that is stored before it is sorted",
        {
            "    sort_in_shared<order>(tile, tile_values, count);\n": "",
            "count, tile, tile_values);\n    __syncthreads();  // not": "count, tile, tile_values);\n    "
            "sort_in_shared<order>(tile, tile_values, count);\n    __syncthreads();  // not",
        },
    ),
    in_shared(
        "no stage with stride 1",
        {"stride > 0; stride": "stride > 1; stride"},
    ),
    in_shared(
        "the first tile in every block",
        {
            "load_tile(tile, tile_values, keys, values, first, count)": "load_tile(tile, tile_values, keys, values, "
            "std::int64_t(0), count)"
        },
    ),
    in_hybrid(
        "no mirror stage",
        {"run_global_stage<order, true><<<": "run_global_stage<order, false><<<"},
    ),
    # --- the cause comes before what follows from it ---
    in_global(
        "two arguments exchanged",
        {"(keys, n / 2, k, j, order);": "(keys, n / 2, j, k, order);"},
    ),
    in_global(
        "no merge into all keys",
        {"k <= n; k *= 2": "k < n; k *= 2"},
    ),
    in_global(
        "no stage of neighbours",
        {"j > 0; j /= 2": "j > 1; j /= 2"},
    ),
    in_global(
        "strides that grow",
        {"j = k / 2; j > 0; j /= 2": "j = 1; j < k; j *= 2"},
    ),
    in_global(
        "a position in place of a comparator",
        {
            "i = 2 * t - (t & (j - 1));": "i = t;",
            "const Key a = keys[i], b = keys[partner];": "if (partner < i) continue;\n    const Key a = keys[i], b = "
            "keys[partner];",
        },
    ),
    in_global(
        "a bit of the comparator in place of its rest",
        {"(t & (j - 1));": "(t & j);"},
    ),
    in_global(
        "a comparison with signs",
        {
            "forward ? lab::before(b, a, order) : lab::before(a, b, order);": "(b < a) == (forward == (order == "
            "lab::Order::ascending)) && a != b;"
        },
    ),
    in_shared(
        "no barrier between the first stage and the others",
        {"    __syncthreads();  // the next stage compares": "    // the next stage compares"},
    ),
    in_shared(
        "one comparator per thread",
        {
            "for (int t = threadIdx.x; t < tile_keys / 2; t += blockDim.x) {\n      const int i = lower_position("
            "t, run / 2)": "if (const int t = threadIdx.x; t < tile_keys / 2) {\n      const int i = lower_position(t, "
            "run / 2)"
        },
    ),
    in_shared(
        "a partner that is not tested",
        {
            "if (partner < count) compare_exchange<order>(keys, values, i, partner);\n    }\n    __sync": "compare_ex"
            "change<order>(keys, values, i, partner);\n    }\n    __sync"
        },
    ),
    in_shared(
        "the keys in global memory in place of the tile",
        {
            "sort_in_shared<order>(tile, tile_values, count);": "sort_in_shared<order>(keys.data + first, values, "
            "count);"
        },
    ),
    in_shared(
        "the kernel of ascending order in either order",
        {"sort_tiles_kernel<lab::Order::descending><<<": "sort_tiles_kernel<lab::Order::ascending><<<"},
    ),
    in_shared(
        "a stage too many in each merge",
        {"for (int stride = run / 4;": "for (int stride = run / 2;"},
        ["OVER"],
        needs_gcc=True,
    ),
    in_shared(
        "the tile of the block in each round",
        {
            "load_tile(tile, tile_values, keys, values, first, count);": "load_tile(tile, tile_values, keys, values, "
            "std::int64_t(blockIdx.x) * tile_keys, count);"
        },
    ),
    in_hybrid(
        "half of the mirror image",
        {"i ^ (2 * stride - 1)": "i ^ (stride - 1)"},
    ),
    in_hybrid(
        "too few comparators",
        {"pairs = (keys.n + run - 1) / run * (run / 2);": "pairs = keys.n / 2;"},
    ),
    in_hybrid(
        "values left behind",
        {
            "compare_exchange<order>(keys.data, values, i, partner);": "compare_exchange<order>(keys.data, "
            "static_cast<NoValue*>(nullptr), i, partner), (void)values;"
        },
    ),
    in_hybrid(
        "half a tile of shared memory",
        {"__shared__ Key tile[tile_keys];": "__shared__ Key tile[tile_keys / 2];"},
    ),
    in_hybrid(
        "a device function called by the host",
        {
            "    merge_in_tiles<order><<<": "    if (keys.n < 2) compare_exchange<order>(keys.data, values, 0, 1);\n"
            "    compare_exchange<order>(keys.data, values, 0, 1);\n    merge_in_tiles<order><<<"
        },
    ),
    in_hybrid(
        "a mirror stage that is launched as another one",
        {"run_global_stage<order, true><<<": "run_global_stage<order, false><<<"},
    ),
    in_hybrid(
        "wrong positions in a tile, which race",
        {"int i = lower_position(t, stride), partner": "int i = lower_position(stride, t), partner"},
    ),
    in_global(
        "an exchange in every case",
        {"if (swap) {": "if (true) {"},
    ),
)

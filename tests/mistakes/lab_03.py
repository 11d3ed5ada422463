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
        ["FAILED  step 01 global, ", "01_global.cu:", "error: "],
    ),
    in_global(
        "all comparators in one direction",
        {"const bool forward = (i & k) == 0;": "const bool forward = true;"},
        [
            "FAILED  step 01 global, cpu build",
            "01_global.cu: ",
            "wrong key at index",
            "in the wrong order",
            "range:0:9, ascending",
        ],
    ),
    in_global(
        "the direction by the thread",
        {"(i & k) == 0;": "(t & k) == 0;"},
        ["FAILED  step 01 global, cpu build", "01_global.cu: ", "wrong key at index", "input ", "got ", "expected "],
        quick=True,
    ),
    in_global(
        "the wrong bit decides the direction",
        {"(i & k) == 0;": "(i & j) == 0;"},
        [
            "FAILED  step 01 global, cpu build",
            "look at line ",
            "The mistake may be in ",
            "{at}: `j` is the wrong variable in ",
        ],
        is_searched=True,
    ),
    in_shared(
        "a thread without a pair leaves the kernel",
        {STRIDE: STRIDE.replace("if (partner < count)", "if (partner >= count) return;\n        if (true)")},
        [
            "FAILED  step 02 shared, ",
            "{at}: error: a thread that returns here does not reach the __syncthreads() of line ",
            "The mistake may be in ",
            "{at}: `return` ends the whole function, not only this iteration of the loop",
        ],
        quick=True,
        is_searched=True,
    ),
    in_global(
        "only powers of two",
        {"if (padded == keys.n) {": "if (padded >= keys.n) {"},
        ["FAILED  step 01 global, ", "01_global.cu"],
    ),
    in_global(
        "a copy in the wrong direction",
        {"scratch.data(), keys.data, bytes, cudaMemcpyDevice": "scratch.data(), keys.data, bytes, cudaMemcpyHost"},
        ["FAILED  step 01 global, ", "{at}: error: invalid-copy: ", "write cudaMemcpyDeviceToDevice"],
    ),
    in_global(
        "bytes counted as keys",
        {"std::size_t(keys.n) * sizeof(Key);": "std::size_t(keys.n);"},
        ["FAILED  step 01 global, ", "01_global.cu:", "error: uninitialized: "],
    ),
    in_shared(
        "the partner of the first stage is not the mirror image",
        {"partner = i ^ (run - 1);": "partner = i + run / 2;"},
        ["FAILED  step 02 shared, cpu build", "02_shared.cu: ", "wrong key at index", "range:0:9, ascending, seed 0"],
    ),
    in_shared(
        "no barrier after the load",
        {"__syncthreads();  // the first stage reads keys": ";  // the first stage reads keys"},
        ["FAILED  step 02 shared, check build", "put __syncthreads() ", "error: race: "],
        alone=True,
        quick=True,
    ),
    in_shared(
        "no check that there is a partner",
        {"partner = i ^ (run - 1);\n      if (partner < count) ": "partner = i ^ (run - 1);\n      "},
        ["FAILED  step 02 shared, ", "02_shared.cu"],
    ),
    in_global(
        "positions that are too far apart",
        {"2 * t - (t & (j - 1));": "2 * j * (t / j) + t;"},
        [
            "compares keys[8] and keys[9], but there is no keys[8]: there are 8 keys",
            "line 34: `const std::int64_t i = 2 *",
        ],
    ),
    in_hybrid(
        "the first merge sorts the tiles again",
        {"std::int64_t run = 2 * tile_keys;": "std::int64_t run = tile_keys;"},
        [
            "OVER",
            "error: launches 2 to 3, of which this is the first (run_global_stage<order, true>), are too many",
            "launch 4 is the one that belongs here",
            "does this loop begin too early? line 77: `for (std::int64_t run = tile_keys;",
        ],
    ),
    in_shared(
        "a return between a launch and the reading of its error",
        {
            "  CUDA_CHECK(cudaGetLastError());": "  if (order == lab::Order::descending) return;\n"
            "  CUDA_CHECK(cudaGetLastError());"
        },
        [
            "FAILED  step 02 shared, check build",
            "error: this `return` leaves out line 87, which reads the error of the",
        ],
    ),
    in_hybrid(
        "half as many comparators as a cut run needs",
        {"(keys.n + run - 1) / run * (run / 2)": "keys.n / 2"},
        [
            "FAILED  step 03 hybrid, cpu build",
            "passes pairs = 512, which is too few",
            "fails for every n above 1,024 that is not a power of two",
            "03_hybrid.cu: wrong key at index",
            "again: ",
        ],
    ),
    in_record(
        "the second half of a mirrored trip from the same column",
        {"mirrored ? run + stride - 1 - column : low;": "low;"},
        ["FAILED  step 04 record, cpu build", "04_record.cu: wrong key at index", "again: "],
    ),
    in_record(
        "no barrier between blocked and striped words",
        {"__syncthreads();  // read_striped() reads words of `tile` that other threads have written": ""},
        ["FAILED  step 04 record, check build", "error: race: ", "__syncthreads"],
        alone=True,
    ),
    in_record(
        "a strided pass too few",
        {"while (stride > tile) {": "while (stride > 32 * tile) {"},
        ["FAILED  step 04 record, cpu build", "04_record.cu: wrong key at index", "again: "],
    ),
    in_record(
        "merges that end at the largest power of two below n",
        {"run / 2 < all.n; run *= 2": "run <= all.n; run *= 2"},
        ["FAILED  step 04 record, cpu build", "04_record.cu: wrong key at index", "again: "],
    ),
    in_segments(
        "no sentinels behind a segment",
        {"i * threads < left ? from[i * threads] : ~0u;": "from[i * threads];"},
        ["FAILED  step 05 segments", "05_segments.cu", "error: "],
    ),
    in_segments(
        "no barrier between the sort of a segment and its store",
        {"synchronize<threads>();  // a thread stores words of tiles[group] that other threads have written": ""},
        ["FAILED  step 05 segments", "check build", "error: race: "],
        alone=True,
    ),
    in_segments(
        "half as many blocks as there are segments to list",
        {"(segments + per_block - 1)": "segments"},
        ["FAILED  step 05 segments", "error: invalid-launch: ", "has no blocks"],
    ),
    in_segments(
        "segments that are counted, but not listed",
        {"list_segments_by_class<<<": "count_segments<<<"},
        ["FAILED  step 05 segments", "segment", "error: "],
    ),
    # --- barriers ---
    in_shared(
        "no barrier after the mirrored stage",
        {"__syncthreads();  // the next stage compares": ";  // the next stage compares"},
        ["FAILED  step 02 shared, check build", "put __syncthreads() ", "error: race: "],
        alone=True,
    ),
    # --- nothing changes ---
    in_shared(
        "a merge too few",
        {"run / 2 < count; run": "run <= count; run"},
        ["FAILED  step 02 shared, cpu build", "02_shared.cu: wrong key at index"],
    ),
    # --- indices ---
    in_shared(
        "the partner of the first stage by the run",
        {"partner = i ^ (run - 1);": "partner = i ^ run;"},
        [
            "FAILED  step 02 shared, check build",
            "compares tile[0] and tile[2]",
            "partner = i ^ run",
            "error: race: ",
        ],
        quick=True,
    ),
    in_shared(
        "positions of the first stage without gaps",
        {"lower_position(t, run / 2), partner = i ^ (run - 1);": "t, partner = i ^ (run - 1);"},
        ["FAILED  step 02 shared, check build", "both compare tile[0] and tile[1]", "i = t", "error: race: "],
    ),
    in_shared(
        "no barrier between the further stages",
        {"__syncthreads();  // the next stage, or the store": ";  // the next stage, or the store"},
        ["FAILED  step 02 shared, check build", "put __syncthreads() ", "error: race: "],
        alone=True,
    ),
    in_shared(
        "the key before the tile",
        {FIRST_STAGE: FIRST_STAGE.replace("i, partner", "i - 1, partner")},
        [
            "FAILED  step 02 shared, check build",
            "error: out-of-bounds: ",
            "4 bytes before the start of __shared__ tile",
        ],
    ),
    # --- barriers ---
    in_shared(
        "a return of threads without a comparator before a barrier",
        {
            "    __syncthreads();  // the next stage compares": LEAVES
            + "    __syncthreads();  // the next stage compares"
        },
        [
            "FAILED  step 02 shared, check build",
            "{at}: error: a thread that returns here does not reach the __syncthreads() of line ",
            "put the work under a condition instead",
        ],
    ),
    # --- nothing changes ---
    in_shared(
        "no store of the tile",
        {"    store_tile(keys, values, first, count, tile, tile_values);\n": ""},
        ["FAILED  step 02 shared, check build", "the step changed nothing: its kernels store nothing in the keys"],
    ),
    in_shared(
        "no __shared__",
        {"__shared__ Key tile[": "Key tile["},
        ["FAILED  step 02 shared, check build", "error: uninitialized: ", "reads tile[", "declare it __shared__"],
    ),
    # --- wrong keys ---
    in_global(
        "merges that end too early",
        {"k <= n; k *= 2": "k < n; k *= 2"},
        ["FAILED  step 01 global, cpu build", "wrong key at index", "the step changed nothing: it launches no kernel"],
    ),
    in_global(
        "strides in the wrong order",
        {"j = k / 2; j > 0; j /= 2": "j = 1; j < k; j *= 2"},
        [
            "FAILED  step 01 global, cpu build",
            "01_global.cu: wrong key at index",
            "it launched pad once; run_stage 3 times",
        ],
    ),
    in_hybrid(
        "the whole run as the stride of the mirror stage",
        {"pairs, run / 2);": "pairs, run);"},
        [
            "passes stride = 2048, but it must be stride = 1024\n",
            "    the launch passes `run` as stride\n",
            "with 1,025 keys, this must be the launch of the mirror stage of runs of 2048 keys\n",
        ],
    ),
    in_hybrid(
        "a return in place of a comparator that is skipped",
        {
            "    if (partner < keys.n) compare_exchange<order>(keys.data, values, i, partner);\n": "    if (partner >= "
            "keys.n) return;\n    compare_exchange<order>(keys.data, values, i, partner);\n"
        },
        [
            "{at}: error: no thread compares ",
            "`return` ends a thread's loop; `continue` skips one comparator: line ",
            "takes no pair after comparator ",
        ],
    ),
    in_hybrid(
        "no merge in the tiles",
        {
            "    merge_in_tiles<order><<<tile_blocks, threads_per_block, 0, stream>>>(keys, values);\n"
            "    CUDA_CHECK(cudaGetLastError());\n": ""
        },
        [
            "FAILED  step 03 hybrid, cpu build",
            "03_hybrid.cu: wrong key at index",
            "it launched sort_tiles_kernel<lab::Order::ascending> once; run_global_stage<order, true> once\n",
        ],
    ),
    in_hybrid(
        "no store in the merge of the tiles",
        {"    store_tile(keys, values, first, count, tile, tile_values);\n": ""},
        [
            "FAILED  step 03 hybrid, cpu build",
            "03_hybrid.cu: wrong key at index",
            "merge_in_tiles<order> once, which stores nothing in global memory",
        ],
        quick=True,
    ),
    # --- what has been written ---
    in_shared(
        "no load of the tile",
        {"    load_tile(tile, tile_values, keys, values, first, count);\n": ""},
        [
            "FAILED  step 02 shared, check build",
            "this line reads tile, but the block has stored nothing in it",
            "error: uninitialized: ",
        ],
    ),
    in_shared(
        "partners up to the end of a full tile",
        {
            "i ^ (run - 1);\n      if (partner < count)": "i ^ (run - 1);\n      if (partner < tile_keys)",
            "i + stride;\n        if (partner < count)": "i + stride;\n        if (partner < tile_keys)",
        },
        ["FAILED  step 02 shared, check build", "but tile[8] holds no key: there are 8 keys"],
    ),
    # --- kernels and hosts ---
    in_hybrid(
        "a barrier in the host",
        {"    for (std::int64_t stride = run / 4;": "    __syncthreads();\n    for (std::int64_t stride = run / 4;"},
        [
            "FAILED  step 03 hybrid, cpu build",
            "{at}: error: __syncthreads() was called outside a kernel",
        ],
    ),
    in_hybrid(
        "no values for the last stages",
        {"(tile, tile_values, i, partner)": "(tile, static_cast<Value*>(nullptr), i, partner)"},
        [
            "FAILED  step 03 hybrid, check build",
            "{at}: error: this line passes static_cast<Value*>(nullptr) with tile, but the values ",
            "fails for pairs, not for their keys alone",
        ],
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
        [
            "error: thread 0 of block 0 exchanges keys[0] = ",
            "the comparison is the wrong way round",
            "wrong key at index 0",
        ],
        quick=True,
    ),
    in_global(
        "positions without gaps",
        {"i = 2 * t - (t & (j - 1));": "i = t;"},
        ["both compare keys[0] and keys[1]", "no thread compares 2 of the 4 pairs", "error: race: "],
    ),
    in_global(
        "merges that begin with four keys",
        {"k = 2; k <= n": "k = 4; k <= n"},
        ["run_stage is never launched for k = 2, j = 1", "where does the loop over k begin?"],
    ),
    in_global(
        "no loop over the comparators",
        {"t < comparators; t += step": "t < comparators; t += step + comparators"},
        ["no thread compares 32 of the 64 pairs", "each of the 32 threads compares only one pair", "<<<1, 32>>>"],
    ),
    in_shared(
        "a tile that is stored before it is sorted",
        {
            "    sort_in_shared<order>(tile, tile_values, count);\n": "",
            "count, tile, tile_values);\n    __syncthreads();  // not": "count, tile, tile_values);\n    "
            "sort_in_shared<order>(tile, tile_values, count);\n    __syncthreads();  // not",
        },
        ["{at}: error: the tile is stored here before it is sorted", "store it after the last stage", "error: race: "],
        quick=True,
    ),
    in_shared(
        "no stage with stride 1",
        {"stride > 0; stride": "stride > 1; stride"},
        [
            "the stage with stride 1 of runs of 4 keys is missing",
            "does this loop begin and end with the right stride? line 40: `for (int stride = run / 4; stride > 1;",
        ],
    ),
    in_shared(
        "the first tile in every block",
        {
            "load_tile(tile, tile_values, keys, values, first, count)": "load_tile(tile, tile_values, keys, values, "
            "std::int64_t(0), count)"
        },
        ["{at}: error: thread 0 loads position 0 of the array into tile[0], but position 1024 of the array"],
    ),
    in_hybrid(
        "no mirror stage",
        {"run_global_stage<order, true><<<": "run_global_stage<order, false><<<"},
        ["compares the pairs of a stage with a stride: (0, 1024)", "the mirror stage of runs of 2048 keys"],
    ),
    # --- the cause comes before what follows from it ---
    in_global(
        "two arguments exchanged",
        {"(keys, n / 2, k, j, order);": "(keys, n / 2, j, k, order);"},
        [
            "{at}: error: launch 1 (run_stage) passes k = 1 and j = 2, but it must be k = 2 and j = 1",
            "are two arguments exchanged?",
        ],
        quick=True,
    ),
    in_global(
        "no merge into all keys",
        {"k <= n; k *= 2": "k < n; k *= 2"},
        [
            "{at+2}: error: run_stage is never launched for k = 8, j = 4; ",
            "all of them have k = 8: where does the loop over k",
        ],
    ),
    in_global(
        "no stage of neighbours",
        {"j > 0; j /= 2": "j > 1; j /= 2"},
        [
            "{at+1}: error: run_stage is never launched for k = 2, j = 1; ",
            "all of them have j = 1: where does the loop over j",
        ],
        quick=True,
    ),
    in_global(
        "strides that grow",
        {"j = k / 2; j > 0; j /= 2": "j = 1; j < k; j *= 2"},
        ["{at+1}: error: launch 2 (run_stage) passes k = 4 and j = 1, but it must be k = 4 and j = 2"],
    ),
    in_global(
        "a position in place of a comparator",
        {
            "i = 2 * t - (t & (j - 1));": "i = t;",
            "const Key a = keys[i], b = keys[partner];": "if (partner < i) continue;\n    const Key a = keys[i], b = "
            "keys[partner];",
        },
        ["error: no thread compares 2 of the 4 pairs: (4, 5), (6, 7)", "in place of its own"],
    ),
    in_global(
        "a bit of the comparator in place of its rest",
        {"(t & (j - 1));": "(t & j);"},
        [
            "both compare keys[0] and keys[1]",
            "thread 1 of block 0 should compare keys[2] and keys[3]: i comes from line ",
        ],
    ),
    in_global(
        "a comparison with signs",
        {
            "forward ? lab::before(b, a, order) : lab::before(a, b, order);": "(b < a) == (forward == (order == "
            "lab::Order::ascending)) && a != b;"
        },
        ["= nan", "lab::before() knows it, but < and > are false for a nan"],
    ),
    in_shared(
        "no barrier between the first stage and the others",
        {"    __syncthreads();  // the next stage compares": "    // the next stage compares"},
        ["{at-2}: error: no barrier comes between ", "put __syncthreads() after line "],
        quick=True,
    ),
    in_shared(
        "one comparator per thread",
        {
            "for (int t = threadIdx.x; t < tile_keys / 2; t += blockDim.x) {\n      const int i = lower_position("
            "t, run / 2)": "if (const int t = threadIdx.x; t < tile_keys / 2) {\n      const int i = lower_position(t, "
            "run / 2)"
        },
        [
            "error: no thread compares tile[63] and tile[64]",
            "only one pair of a stage: use a loop",
        ],
    ),
    in_shared(
        "a partner that is not tested",
        {
            "if (partner < count) compare_exchange<order>(keys, values, i, partner);\n    }\n    __sync": "compare_ex"
            "change<order>(keys, values, i, partner);\n    }\n    __sync"
        },
        ["{at}: error: thread ", "but tile[", "skip a comparator whose partner is not below"],
    ),
    in_shared(
        "the keys in global memory in place of the tile",
        {
            "sort_in_shared<order>(tile, tile_values, count);": "sort_in_shared<order>(keys.data + first, values, "
            "count);"
        },
        [
            "{at}: error: thread ",
            "compares keys in global memory, not in tile",
            "is another array passed in line ",
        ],
    ),
    in_shared(
        "the kernel of ascending order in either order",
        {"sort_tiles_kernel<lab::Order::descending><<<": "sort_tiles_kernel<lab::Order::ascending><<<"},
        ["{at}: error: sort_tiles_kernel<lab::Order::ascending> is launched here, but the order ", "descending"],
    ),
    in_shared(
        "a stage too many in each merge",
        {"for (int stride = run / 4;": "for (int stride = run / 2;"},
        ["OVER ", "error: ", "barriers per block; the budget allows 58"],
    ),
    in_shared(
        "the tile of the block in each round",
        {
            "load_tile(tile, tile_values, keys, values, first, count);": "load_tile(tile, tile_values, keys, values, "
            "std::int64_t(blockIdx.x) * tile_keys, count);"
        },
        [
            "{at}: error: thread ",
            "loads position 0 of the array into tile[0], but position 1024 of the array belongs there",
            "its loop",
        ],
    ),
    in_hybrid(
        "half of the mirror image",
        {"i ^ (2 * stride - 1)": "i ^ (stride - 1)"},
        ["{at+1}: error: thread ", "the mirror stage of runs of 2048 keys"],
    ),
    in_hybrid(
        "too few comparators",
        {"pairs = (keys.n + run - 1) / run * (run / 2);": "pairs = keys.n / 2;"},
        ["error: launch 2 (run_global_stage<order, true>) passes pairs = 512, which is too few", "comparator 1023"],
        quick=True,
    ),
    in_hybrid(
        "values left behind",
        {
            "compare_exchange<order>(keys.data, values, i, partner);": "compare_exchange<order>(keys.data, "
            "static_cast<NoValue*>(nullptr), i, partner), (void)values;"
        },
        ["{at}: error: run_global_stage<order, true> stores keys, but not the values that belong to them"],
    ),
    in_hybrid(
        "half a tile of shared memory",
        {"__shared__ Key tile[tile_keys];": "__shared__ Key tile[tile_keys / 2];"},
        ["{at}: error: tile has 512 elements, but up to 1,024 keys are loaded into it"],
    ),
    in_hybrid(
        "a device function called by the host",
        {
            "    merge_in_tiles<order><<<": "    if (keys.n < 2) compare_exchange<order>(keys.data, values, 0, 1);\n"
            "    compare_exchange<order>(keys.data, values, 0, 1);\n    merge_in_tiles<order><<<"
        },
        ["{at}: error: host code calls compare_exchange(), which is a __device__ function", "launch the kernel here"],
    ),
    in_hybrid(
        "a mirror stage that is launched as another one",
        {"run_global_stage<order, true><<<": "run_global_stage<order, false><<<"},
        ["compares the pairs of a stage with a stride", "the template argument false in the launch", "in line 81"],
    ),
    in_hybrid(
        "wrong positions in a tile, which race",
        {"int i = lower_position(t, stride), partner": "int i = lower_position(stride, t), partner"},
        ["but its pair in this stage is tile[0] and tile[512]", "i comes from line 55"],
    ),
    in_global(
        "an exchange in every case",
        {"if (swap) {": "if (true) {"},
        ["which are in order", "this depends on line 39: `if (true)`"],
    ),
)

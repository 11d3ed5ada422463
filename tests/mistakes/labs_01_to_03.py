"""Mistakes in labs 01 to 03."""

from __future__ import annotations

from mistake import Mistake

ODD_EVEN, MERGE, BITONIC = "01-odd-even", "02-merge", "03-bitonic"
SWAP = """before);
    CUDA_CHECK(cudaGetLastError());
    std::swap(from, to);"""

MISTAKES = (
    # --- lab 01 ---
    Mistake(
        "one pair too many",
        ODD_EVEN,
        "01_global.cu",
        [("t < pairs;", "t <= pairs;")],
        ["FAILED  step 01 global, ", "01_global.cu:", "error: out-of-bounds: ", "keys["],
        quick=True,
    ),
    Mistake(
        "a comparison in the wrong direction",
        ODD_EVEN,
        "01_global.cu",
        [("lab::before(b, a, order)", "lab::before(a, b, order)")],
        [
            "FAILED  step 01 global, cpu build",
            "01_global.cu: wrong key at index 0 of 2",
            "in the wrong order",
            "2 u32 keys, range:0:9, ascending, seed 0",
        ],
    ),
    Mistake(
        "a phase too few",
        ODD_EVEN,
        "01_global.cu",
        [("phase < keys.n; ++phase", "phase < keys.n - 1; ++phase")],
        ["FAILED  step 01 global, cpu build", "01_global.cu: ", "wrong key at index", "again: "],
    ),
    Mistake(
        "always the same parity",
        ODD_EVEN,
        "01_global.cu",
        [("int(phase % 2), order", "0, order")],
        ["FAILED  step 01 global, cpu build", "01_global.cu: ", "wrong key at index", "of 3"],
    ),
    Mistake(
        "a launch with no blocks",
        ODD_EVEN,
        "01_global.cu",
        [
            (
                "const unsigned blocks = lab::blocks_or(shape, keys.n / 2, threads_per_block);",
                "lab::blocks_or(shape, 1, 1); const unsigned blocks = keys.n / 2 / threads_per_block;",
            )
        ],
        ["FAILED  step 01 global, ", "01_global.cu:", "error: invalid-launch: ", "has no blocks"],
    ),
    Mistake(
        "a window that begins one key late",
        ODD_EVEN,
        "02_halo.cu",
        [("window[i] = from[left + i];", "window[i] = from[left + i + 1];")],
        ["FAILED  step 02 halo, ", "{at}: error: out-of-bounds: "],
    ),
    Mistake(
        "buffers that are never exchanged",
        ODD_EVEN,
        "02_halo.cu",
        [("std::swap(from, to);\n  }", "\n  }")],
        ["FAILED  step 02 halo, ", "02_halo.cu"],
    ),
    Mistake(
        "an odd number of exchanges",
        ODD_EVEN,
        "02_halo.cu",
        [("(keys.n + 2 * halo_keys - 1) / (2 * halo_keys) * 2;", "(keys.n + halo_keys - 1) / halo_keys;")],
        ["FAILED  step 02 halo, cpu build", "02_halo.cu: the step changed nothing", "range:0:9, ascending, seed 0"],
    ),
    Mistake(
        "no barrier between two phases",
        ODD_EVEN,
        "02_halo.cu",
        [("__syncthreads();  // the next phase, or the store", ";  // the next phase, or the store")],
        ["FAILED  step 02 halo, check build", "02_halo.cu:", "error: race: ", "__syncthreads"],
        alone=True,
    ),
    Mistake(
        "scratch memory that is freed before its use",
        ODD_EVEN,
        "02_halo.cu",
        [("Key* to = scratch.data();", "Key* to = lab::DeviceArray<Key>(keys.n, stream).data();")],
        ["FAILED  step 02 halo, ", "02_halo.cu:", "error: use-after-free: "],
    ),
    Mistake(
        "lane 0 has no neighbour",
        ODD_EVEN,
        "03_rows.cu",
        [("if (lane > 0) own[0]", "if (lane >= 0) own[0]")],
        ["FAILED  step 03 rows, ", "03_rows.cu", "wrong key at index"],
    ),
    Mistake(
        "a shuffle that lane 31 skips",
        ODD_EVEN,
        "03_rows.cu",
        [
            (
                "const Key next = __shfl_down_sync(all_lanes, own[0], 1);",
                "const Key next = lane < 31 ? __shfl_down_sync(all_lanes, own[0], 1) : own[0];",
            )
        ],
        ["FAILED  step 03 rows, ", "03_rows.cu:", "error: ", "__shfl_"],
    ),
    Mistake(
        "a short last row that is loaded whole",
        ODD_EVEN,
        "03_rows.cu",
        [
            (
                "own[j] = position + j < keys.n ? keys.data[position + j] : lab::last_key<Key>(order);",
                "own[j] = keys.data[position + j];",
            )
        ],
        ["FAILED  step 03 rows, ", "{at}: error: out-of-bounds: "],
    ),
    # --- lab 02 ---
    Mistake(
        "an unstable merge",
        MERGE,
        "01_thread.cu",
        [("before(from.keys[b], from.keys[a]));", "!before(from.keys[a], from.keys[b]));")],
        [
            "FAILED  step 01 thread, cpu build",
            "equal keys in the wrong order (the step promises to be stable) at index",
            " pairs, range:0:9, ascending, seed 0",
        ],
        quick=True,
    ),
    Mistake(
        "no check for the end of a run",
        MERGE,
        "01_thread.cu",
        [("(b < end && before(", "(before(")],
        ["FAILED  step 01 thread, ", "{at}: error: out-of-bounds: "],
    ),
    Mistake(
        "a copy back after each level",
        MERGE,
        "01_thread.cu",
        [
            (SWAP, SWAP.replace("std::swap(from, to)", "copy_items(to, from, n, stream)")),
        ],
        [
            "OVER    step 01 thread",
            "over budget: thread, ",
            "cudaMemcpyAsync",
            "exchange the two pointers instead",
        ],
        alone=True,
        quick=True,
    ),
    Mistake(
        "the wrong rank for the first run",
        MERGE,
        "02_block.cu",
        [
            (
                "i + lower_rank(from.keys + middle, end - middle, key, before)",
                "i + upper_rank(from.keys + middle, end - middle, key, before)",
            )
        ],
        ["FAILED  step 02 block, ", "02_block.cu"],
    ),
    Mistake(
        "the second run in the wrong position",
        MERGE,
        "02_block.cu",
        [("load_items(loaded, chunk_keys, from, b, count.b);", "load_items(loaded, count.a, from, b, count.b);")],
        ["FAILED  step 02 block, ", "02_block.cu"],
    ),
    Mistake(
        "no next partition point for the last piece",
        MERGE,
        "03_splitters.cu",
        [("(piece + 1) * piece_keys < merge.end ?", "piece + 1 > 0 ?")],
        ["FAILED  step 03 splitters, ", "{at}: error: out-of-bounds: "],
    ),
    Mistake(
        "a diagonal that is one too long",
        MERGE,
        "04_path.cu",
        [("before(b[diagonal - 1 - middle], a[middle])", "before(b[diagonal - middle], a[middle])")],
        ["FAILED  step 04 path, ", "04_path.cu"],
    ),
    Mistake(
        "no barrier between the levels of four runs",
        MERGE,
        "05_record.cu",
        [("    __syncthreads();  // the next level, or the store, reads what other threads have written\n", "")],
        ["FAILED  step 05 record, ", "05_record.cu"],
    ),
    Mistake(
        "the second run read forwards",
        MERGE,
        "05_record.cu",
        [("b = max(b - 1, runs.first);", "b = min(b + 1, runs.end - 1);")],
        ["FAILED  step 05 record, ", "05_record.cu"],
    ),
    # --- lab 03 ---
    Mistake(
        "the wrong partner",
        BITONIC,
        "01_global.cu",
        [("const std::int64_t partner = i ^ j;", "const std::int64_t partner = i ^ k;")],
        ["FAILED  step 01 global, ", "01_global.cu:", "error: "],
    ),
    Mistake(
        "all comparators in one direction",
        BITONIC,
        "01_global.cu",
        [("const bool forward = (i & k) == 0;", "const bool forward = true;")],
        [
            "FAILED  step 01 global, cpu build",
            "01_global.cu: ",
            "wrong key at index",
            "in the wrong order",
            "range:0:9, ascending",
        ],
    ),
    Mistake(
        "only powers of two",
        BITONIC,
        "01_global.cu",
        [("if (padded == keys.n) {", "if (padded >= keys.n) {")],
        ["FAILED  step 01 global, ", "01_global.cu"],
    ),
    Mistake(
        "a copy in the wrong direction",
        BITONIC,
        "01_global.cu",
        [
            (
                "scratch.data(), keys.data, bytes, cudaMemcpyDeviceToDevice",
                "scratch.data(), keys.data, bytes, cudaMemcpyHostToDevice",
            )
        ],
        ["FAILED  step 01 global, ", "{at}: error: invalid-copy: ", "write cudaMemcpyDeviceToDevice"],
    ),
    Mistake(
        "bytes counted as keys",
        BITONIC,
        "01_global.cu",
        [("std::size_t(keys.n) * sizeof(Key);", "std::size_t(keys.n);")],
        ["FAILED  step 01 global, ", "01_global.cu:", "error: uninitialized: "],
    ),
    Mistake(
        "the partner of the first stage is not the mirror image",
        BITONIC,
        "02_shared.cu",
        [("partner = i ^ (run - 1);", "partner = i + run / 2;")],
        ["FAILED  step 02 shared, cpu build", "02_shared.cu: ", "wrong key at index", "range:0:9, ascending, seed 0"],
    ),
    Mistake(
        "no barrier after the load",
        BITONIC,
        "02_shared.cu",
        [("__syncthreads();  // the first stage reads keys", ";  // the first stage reads keys")],
        ["FAILED  step 02 shared, check build", "error: race: ", "__syncthreads"],
        alone=True,
        quick=True,
    ),
    Mistake(
        "no check that there is a partner",
        BITONIC,
        "02_shared.cu",
        [("partner = i ^ (run - 1);\n      if (partner < count) ", "partner = i ^ (run - 1);\n      ")],
        ["FAILED  step 02 shared, ", "02_shared.cu"],
    ),
    Mistake(
        "half as many comparators as a cut run needs",
        BITONIC,
        "03_hybrid.cu",
        [("(keys.n + run - 1) / run * (run / 2)", "keys.n / 2")],
        ["FAILED  step 03 hybrid, cpu build", "03_hybrid.cu: wrong key at index", "again: "],
    ),
    Mistake(
        "the second half of a mirrored trip from the same column",
        BITONIC,
        "04_record.cu",
        [("mirrored ? run + stride - 1 - column : low;", "low;")],
        ["FAILED  step 04 record, cpu build", "04_record.cu: wrong key at index", "again: "],
    ),
    Mistake(
        "no barrier between blocked and striped words",
        BITONIC,
        "04_record.cu",
        [("__syncthreads();  // a thread reads striped words that others have written as blocked ones", "")],
        ["FAILED  step 04 record, check build", "error: race: ", "__syncthreads"],
        alone=True,
    ),
    Mistake(
        "a strided pass too few",
        BITONIC,
        "04_record.cu",
        [("while (stride > tile) {", "while (stride > 32 * tile) {")],
        ["FAILED  step 04 record, cpu build", "04_record.cu: wrong key at index", "again: "],
    ),
    Mistake(
        "merges that end at the largest power of two below n",
        BITONIC,
        "04_record.cu",
        [("run / 2 < all.n; run *= 2", "run <= all.n; run *= 2")],
        ["FAILED  step 04 record, cpu build", "04_record.cu: wrong key at index", "again: "],
    ),
    Mistake(
        "no sentinels behind a segment",
        BITONIC,
        "05_segments.cu",
        [("i * threads < left ? from[i * threads] : ~0u;", "from[i * threads];")],
        ["FAILED  step 05 segments", "05_segments.cu", "error: "],
    ),
    Mistake(
        "no barrier between the sort of a segment and its store",
        BITONIC,
        "05_segments.cu",
        [("synchronize<threads>();  // a thread stores words that others have written", "")],
        ["FAILED  step 05 segments", "check build", "error: race: "],
        alone=True,
    ),
    Mistake(
        "half as many blocks as there are segments to list",
        BITONIC,
        "05_segments.cu",
        [("(segments + per_block - 1)", "segments")],
        ["FAILED  step 05 segments", "error: invalid-launch: ", "has no blocks"],
    ),
    Mistake(
        "segments that are counted, but not listed",
        BITONIC,
        "05_segments.cu",
        [
            (
                "list_segments_by_class<<<list_blocks, list_threads, 0, stream>>>(begins.data, segments, lists);",
                "count_segments<<<list_blocks, list_threads, 0, stream>>>(begins.data, segments, lists);",
            )
        ],
        ["FAILED  step 05 segments", "segment", "error: "],
    ),
)

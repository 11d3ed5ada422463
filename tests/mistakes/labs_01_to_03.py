"""Mistakes in labs 01 to 03."""

from __future__ import annotations

from functools import partial

from mistake import Mistake

SWAP = """before);
    CUDA_CHECK(cudaGetLastError());
    std::swap(from, to);"""
in_odd_even_exchange = partial(Mistake, "01-odd-even", "00_exchange.cu")
in_odd_even_global = partial(Mistake, "01-odd-even", "01_global.cu")
in_odd_even_halo = partial(Mistake, "01-odd-even", "02_halo.cu")
in_odd_even_rows = partial(Mistake, "01-odd-even", "03_rows.cu")
in_merge_thread = partial(Mistake, "02-merge", "01_thread.cu")
in_merge_block = partial(Mistake, "02-merge", "02_block.cu")
in_merge_splitters = partial(Mistake, "02-merge", "03_splitters.cu")
in_merge_path = partial(Mistake, "02-merge", "04_path.cu")
in_merge_record = partial(Mistake, "02-merge", "05_record.cu")
in_bitonic_global = partial(Mistake, "03-bitonic", "01_global.cu")
in_bitonic_shared = partial(Mistake, "03-bitonic", "02_shared.cu")
in_bitonic_hybrid = partial(Mistake, "03-bitonic", "03_hybrid.cu")
in_bitonic_record = partial(Mistake, "03-bitonic", "04_record.cu")
in_bitonic_segments = partial(Mistake, "03-bitonic", "05_segments.cu")

MISTAKES = (
    # --- lab 01 ---
    in_odd_even_exchange(
        "the left neighbour instead of the right",
        {"b = keys[i + 1];": "b = keys[i - 1];"},
        [
            "FAILED  step 00 exchange, ",
            "{at}: error: out-of-bounds: ",
            "before the start of keys",
        ],
    ),
    in_odd_even_exchange(
        "a pair in the wrong direction",
        {"!lab::before(b, a, order)": "!lab::before(a, b, order)"},
        ["FAILED  step 00 exchange, cpu build", "00_exchange.cu: wrong key at index 0 of 2 (pair 0)", "wrong order"],
    ),
    in_odd_even_exchange(
        "a key that is overwritten before it is moved",
        {"keys[i + 1] = a;": "keys[i + 1] = keys[i];"},
        [
            "FAILED  step 00 exchange, cpu build",
            "00_exchange.cu: wrong key at index 1 of 3 (pair 0)",
            "lost or made up",
        ],
    ),
    in_odd_even_global(
        "one pair too many",
        {"t < pairs;": "t <= pairs;"},
        ["FAILED  step 01 global, ", "01_global.cu:", "error: out-of-bounds: ", "keys["],
        quick=True,
    ),
    in_odd_even_global(
        "a comparison in the wrong direction",
        {"lab::before(b, a, order)": "lab::before(a, b, order)"},
        [
            "FAILED  step 01 global, cpu build",
            "01_global.cu: wrong key at index 0 of 2",
            "in the wrong order",
            "2 u32 keys, range:0:9, ascending, seed 1",
        ],
    ),
    in_odd_even_global(
        "a phase too few",
        {"phase < keys.n; ++phase": "phase < keys.n - 1; ++phase"},
        ["FAILED  step 01 global, cpu build", "01_global.cu: ", "wrong key at index", "again: "],
    ),
    in_odd_even_global(
        "always the same parity",
        {"int(phase % 2), order": "0, order"},
        ["FAILED  step 01 global, cpu build", "01_global.cu: ", "wrong key at index", "of 3"],
    ),
    in_odd_even_global(
        "a launch with no blocks",
        {"= lab::blocks_or(shape, keys.n / 2, threads_per_block);": "= (void(shape), keys.n / 2 / threads_per_block);"},
        ["FAILED  step 01 global, ", "01_global.cu:", "error: invalid-launch: ", "has no blocks"],
    ),
    in_odd_even_global(
        "no loop over the pairs",
        {"t < pairs; t += stride": "t < pairs; t += pairs + 0 * stride"},
        [
            "FAILED  step 01 global, cpu build",
            "01_global.cu: wrong key at index",
            "the smallest case that fails: 66 u32 keys, range:0:9, ascending, <<<1, 32>>>, seed 0",
            "fails with <<<1, 32>>>, and passes with the launch shape that the step chooses",
            "fails only with fewer threads than pairs of keys: 32 threads, n above 65",
            "again: ./workbook run 01-odd-even 1 --n 66 ",
        ],
        quick=True,
    ),
    in_odd_even_global(
        "the phase in place of its parity",
        {"int(phase % 2), order": "int(phase), order"},
        ["FAILED  step 01 global, cpu build", "01_global.cu: ", "wrong key at index", "input ", "got ", "expected "],
    ),
    in_odd_even_global(
        "a launch on the default stream",
        {"threads_per_block, 0, stream>>>": "threads_per_block>>>"},
        [
            "FAILED  step 01 global, ",
            "{at}: error: default-stream: kernel run_phase: launched on the default stream",
            "<<<grid, block, 0, stream>>>",
        ],
        quick=True,
    ),
    in_odd_even_global(
        "the span in place of its pointer",
        {"(keys.data, keys.n, int(": "(keys, keys.n, int("},
        [
            "{at}: error: argument 1 of kernel run_phase has the type lab::Span<unsigned int>, but the kernel takes ",
            "run_phase(Key*, int64_t, int, lab::Order)",
        ],
    ),
    in_odd_even_global(
        "an argument too few",
        {"int(phase % 2), order);": "int(phase % 2));"},
        ["{at}: error: kernel run_phase takes 4 arguments, and the launch has 3: run_phase(Key*, int64_t, "],
    ),
    in_odd_even_global(
        "two arguments in the wrong order",
        {"int(phase % 2), order);": "order, int(phase % 2));"},
        ["{at}: error: argument 3 of kernel run_phase has the type lab::Order, but the kernel takes int: "],
        quick=True,
    ),
    in_odd_even_global(
        "the stream in place of the shared bytes",
        {"threads_per_block, 0, stream>>>": "threads_per_block, stream>>>"},
        ["{at}: error: between <<< and >>>, number 3 is the bytes of dynamic shared memory", "<<<grid, block, shared"],
    ),
    in_odd_even_global(
        "two angle brackets",
        {"run_phase<<<blocks, threads_per_block, 0, stream>>>": "run_phase<<blocks, threads_per_block, 0, stream>>"},
        ["{at}: error: a launch has three angle brackets on each side: run_phase<<<grid, block>>>(...)"],
    ),
    in_odd_even_global(
        "a launch that is not closed",
        {"0, stream>>>": "0, stream>>"},
        ["{at}: error: kernel launch: this '<<<' is never closed by '>>>'"],
    ),
    in_odd_even_halo(
        "more phases than the halo has keys",
        {"(keys.n + 2 * halo_keys - 1) / (2 * halo_keys) * 2;": "2;"},
        [
            "FAILED  step 02 halo, cpu build",
            "02_halo.cu: wrong key at index",
            "the smallest case that fails: ",
            "fails for every n above ",
            "again: ",
        ],
    ),
    in_odd_even_halo(
        "a window that begins one key late",
        {"window[i] = from[left + i];": "window[i] = from[left + i + 1];"},
        ["FAILED  step 02 halo, ", "{at}: error: out-of-bounds: "],
    ),
    in_odd_even_halo(
        "buffers that are never exchanged",
        {"std::swap(from, to);\n  }": "\n  }"},
        ["FAILED  step 02 halo, ", "02_halo.cu"],
    ),
    in_odd_even_halo(
        "an odd number of exchanges",
        {"(keys.n + 2 * halo_keys - 1) / (2 * halo_keys) * 2;": "(keys.n + halo_keys - 1) / halo_keys;"},
        [
            "FAILED  step 02 halo, check build",
            "02_halo.cu: the step changed nothing: its kernels wrote to the array allocated at ",
            "range:0:9, ascending, seed 0",
        ],
    ),
    in_odd_even_halo(
        "no barrier between two phases",
        {"__syncthreads();  // the next phase, or the store": ";  // the next phase, or the store"},
        ["FAILED  step 02 halo, check build", "02_halo.cu:", "error: race: ", "__syncthreads"],
        alone=True,
    ),
    in_odd_even_halo(
        "scratch memory that is freed before its use",
        {"Key* to = scratch.data();": "Key* to = lab::DeviceArray<Key>(keys.n, stream).data();"},
        ["FAILED  step 02 halo, ", "02_halo.cu:", "error: use-after-free: "],
    ),
    in_odd_even_rows(
        "lane 0 has no neighbour",
        {"if (lane > 0) own[0]": "if (lane >= 0) own[0]"},
        ["FAILED  step 03 rows, ", "03_rows.cu", "wrong key at index"],
    ),
    in_odd_even_rows(
        "a key that is changed before it is sent",
        {
            "    const Key next = __shfl_down_sync(all_lanes, own[0], 1);    // key 0 of lane + 1\n"
            "    if (lane > 0) own[0] = lab::later<order>(previous, own[0]);\n": "    if (lane > 0) own[0] = "
            "lab::later<order>(previous, own[0]);\n    const Key next = __shfl_down_sync(all_lanes, own[0], 1);\n"
        },
        ["FAILED  step 03 rows, cpu build", "03_rows.cu: wrong key at index", "input ", "got ", "expected ", "again: "],
    ),
    in_odd_even_rows(
        "a shuffle that lane 31 skips",
        {"= __shfl_down_sync(all_lanes, own[0], 1);": "= lane < 31 ? __shfl_down_sync(all_lanes, own[0], 1) : own[0];"},
        ["FAILED  step 03 rows, ", "03_rows.cu:", "error: ", "__shfl_"],
    ),
    in_odd_even_rows(
        "a short last row that is loaded whole",
        {"position + j < keys.n ? keys.data[position + j] : lab::last_key<Key>(order);": "keys.data[position + j];"},
        ["FAILED  step 03 rows, ", "{at}: error: out-of-bounds: "],
    ),
    # --- lab 02 ---
    in_merge_thread(
        "an unstable merge",
        {"before(from.keys[b], from.keys[a]));": "!before(from.keys[a], from.keys[b]));"},
        [
            "FAILED  step 01 thread, cpu build",
            "equal keys in the wrong order (the step promises to be stable) at index",
            " pairs, range:0:9, ascending, seed 0",
        ],
        quick=True,
    ),
    in_merge_thread(
        "no check for the end of a run",
        {"(b < end && before(": "(before("},
        ["FAILED  step 01 thread, ", "{at}: error: out-of-bounds: "],
    ),
    in_merge_thread(
        "a copy back after each level",
        {SWAP: SWAP.replace("std::swap(from, to)", "copy_items(to, from, n, stream)")},
        [
            "OVER    step 01 thread",
            "over budget: thread, ",
            "cudaMemcpyAsync",
            "exchange the two pointers instead",
        ],
        alone=True,
        quick=True,
    ),
    in_merge_block(
        "the wrong rank for the first run",
        {"i + lower_rank(from.keys + middle": "i + upper_rank(from.keys + middle"},
        ["FAILED  step 02 block, ", "02_block.cu"],
    ),
    in_merge_block(
        "the second run in the wrong position",
        {"load_items(loaded, chunk_keys, from, b, count.b);": "load_items(loaded, count.a, from, b, count.b);"},
        ["FAILED  step 02 block, ", "02_block.cu"],
    ),
    in_merge_splitters(
        "no next partition point for the last piece",
        {"(piece + 1) * piece_keys < merge.end ?": "piece + 1 > 0 ?"},
        ["FAILED  step 03 splitters, ", "{at}: error: out-of-bounds: "],
    ),
    in_merge_path(
        "a diagonal that is one too long",
        {"before(b[diagonal - 1 - middle], a[middle])": "before(b[diagonal - middle], a[middle])"},
        ["FAILED  step 04 path, ", "04_path.cu"],
    ),
    in_merge_record(
        "no barrier between the levels of four runs",
        {"__syncthreads();  // the next level, or the store": ";  // the next level, or the store"},
        ["FAILED  step 05 record, ", "05_record.cu"],
    ),
    in_merge_record(
        "the second run read forwards",
        {"b = max(b - 1, runs.first);": "b = min(b + 1, runs.end - 1);"},
        ["FAILED  step 05 record, ", "05_record.cu"],
    ),
    # --- lab 03 ---
    in_bitonic_global(
        "the wrong partner",
        {"const std::int64_t partner = i ^ j;": "const std::int64_t partner = i ^ k;"},
        ["FAILED  step 01 global, ", "01_global.cu:", "error: "],
    ),
    in_bitonic_global(
        "all comparators in one direction",
        {"const bool forward = (i & k) == 0;": "const bool forward = true;"},
        [
            "FAILED  step 01 global, cpu build",
            "01_global.cu: ",
            "wrong key at index",
            "in the original order",
            "range:0:9, ascending",
        ],
    ),
    in_bitonic_global(
        "the direction by the thread",
        {"(i & k) == 0;": "(t & k) == 0;"},
        ["FAILED  step 01 global, cpu build", "01_global.cu: ", "wrong key at index", "input ", "got ", "expected "],
        quick=True,
    ),
    in_bitonic_global(
        "only powers of two",
        {"if (padded == keys.n) {": "if (padded >= keys.n) {"},
        ["FAILED  step 01 global, ", "01_global.cu"],
    ),
    in_bitonic_global(
        "a copy in the wrong direction",
        {"scratch.data(), keys.data, bytes, cudaMemcpyDevice": "scratch.data(), keys.data, bytes, cudaMemcpyHost"},
        ["FAILED  step 01 global, ", "{at}: error: invalid-copy: ", "write cudaMemcpyDeviceToDevice"],
    ),
    in_bitonic_global(
        "bytes counted as keys",
        {"std::size_t(keys.n) * sizeof(Key);": "std::size_t(keys.n);"},
        ["FAILED  step 01 global, ", "01_global.cu:", "error: uninitialized: "],
    ),
    in_bitonic_shared(
        "the partner of the first stage is not the mirror image",
        {"partner = i ^ (run - 1);": "partner = i + run / 2;"},
        ["FAILED  step 02 shared, cpu build", "02_shared.cu: ", "wrong key at index", "range:0:9, ascending, seed 0"],
    ),
    in_bitonic_shared(
        "no barrier after the load",
        {"__syncthreads();  // the first stage reads keys": ";  // the first stage reads keys"},
        ["FAILED  step 02 shared, check build", "error: race: ", "__syncthreads"],
        alone=True,
        quick=True,
    ),
    in_bitonic_shared(
        "no check that there is a partner",
        {"partner = i ^ (run - 1);\n      if (partner < count) ": "partner = i ^ (run - 1);\n      "},
        ["FAILED  step 02 shared, ", "02_shared.cu"],
    ),
    in_bitonic_hybrid(
        "half as many comparators as a cut run needs",
        {"(keys.n + run - 1) / run * (run / 2)": "keys.n / 2"},
        [
            "FAILED  step 03 hybrid, cpu build",
            "03_hybrid.cu: wrong key at index",
            "fails for every n above 1,024; 11 larger n were tried",
            "again: ",
        ],
    ),
    in_bitonic_record(
        "the second half of a mirrored trip from the same column",
        {"mirrored ? run + stride - 1 - column : low;": "low;"},
        ["FAILED  step 04 record, cpu build", "04_record.cu: wrong key at index", "again: "],
    ),
    in_bitonic_record(
        "no barrier between blocked and striped words",
        {"__syncthreads();  // read_striped() reads words of `tile` that other threads have written": ""},
        ["FAILED  step 04 record, check build", "error: race: ", "__syncthreads"],
        alone=True,
    ),
    in_bitonic_record(
        "a strided pass too few",
        {"while (stride > tile) {": "while (stride > 32 * tile) {"},
        ["FAILED  step 04 record, cpu build", "04_record.cu: wrong key at index", "again: "],
    ),
    in_bitonic_record(
        "merges that end at the largest power of two below n",
        {"run / 2 < all.n; run *= 2": "run <= all.n; run *= 2"},
        ["FAILED  step 04 record, cpu build", "04_record.cu: wrong key at index", "again: "],
    ),
    in_bitonic_segments(
        "no sentinels behind a segment",
        {"i * threads < left ? from[i * threads] : ~0u;": "from[i * threads];"},
        ["FAILED  step 05 segments", "05_segments.cu", "error: "],
    ),
    in_bitonic_segments(
        "no barrier between the sort of a segment and its store",
        {"synchronize<threads>();  // a thread stores words of tiles[group] that other threads have written": ""},
        ["FAILED  step 05 segments", "check build", "error: race: "],
        alone=True,
    ),
    in_bitonic_segments(
        "half as many blocks as there are segments to list",
        {"(segments + per_block - 1)": "segments"},
        ["FAILED  step 05 segments", "error: invalid-launch: ", "has no blocks"],
    ),
    in_bitonic_segments(
        "segments that are counted, but not listed",
        {"list_segments_by_class<<<": "count_segments<<<"},
        ["FAILED  step 05 segments", "segment", "error: "],
    ),
)

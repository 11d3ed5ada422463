"""Breaks of the solutions that one public graded run must catch: other ones than the mistakes of beginners."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mistake import Mistake

WRONG, OUTSIDE = "wrong: ", "cudaErrorIllegalAddress"
EITHER = ": "  # a position outside the array is a wrong key or an error, depending on what lies there
UNEVEN = "the splitters do not divide the keys evenly"
COPY_BACK = "CUDA_CHECK(cudaMemcpyAsync(keys.data, scratch.data(), bytes, cudaMemcpyDeviceToDevice, stream));"


def _break(path: str, name: str, old: str, new: str, shown: str = WRONG) -> Mistake:
    """One change, and what must be in the status or the message of the first case that fails."""
    lab, file = path.split("/")
    return Mistake(lab, file, name, {old: new}, [shown])


# By file: (name, old, new), and what is shown if the result is not just wrong.
_BREAKS: Mapping[str, Sequence[Sequence[str]]] = {
    "01-odd-even/00_exchange.cu": [
        ("the last pair is left out", "i + 1 >= n", "i + 2 >= n"),
        ("only the first block's pairs", "std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;", "threadIdx.x;"),
        ("descending order forgotten", "lab::before(b, a, order)", "lab::before(b, a, lab::Order::ascending)"),
        (
            "equal keys change places",
            "!lab::before(b, a, order)",
            "lab::before(a, b, order)",
            "equal keys in the wrong order",
        ),
    ],
    "01-odd-even/01_global.cu": [
        ("the last pair is left out", "(n - parity) / 2;", "(n - parity - 1) / 2;"),
        (
            "all blocks take the first block's pairs",
            "t = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; t < pairs;",
            "t = threadIdx.x; t < pairs;",
        ),
        ("no loop over the grid", "t += stride) {", "t += pairs) {"),
        ("descending order forgotten", "lab::before(b, a, order)", "lab::before(b, a, lab::Order::ascending)"),
    ],
    "01-odd-even/02_halo.cu": [
        ("no halo on the right", "int(min(end + halo_keys, n) - left)", "int(end - left)"),
        ("the window's last pair", "i + 1 < count;", "i + 2 < count;"),
        ("one pair per thread only", "i += 2 * blockDim.x) {", "i += count) {"),
        ("half the phases of a launch", "keys.n * (launch + 1) / launches;", "first_phase + halo_keys / 2;"),
        ("more phases than the halo has keys", "keys.n + 2 * halo_keys - 1) / (2", "keys.n + 4 * halo_keys - 1) / (4"),
    ],
    "01-odd-even/03_rows.cu": [
        ("half the phases of a row", "phase < row_keys;", "phase < row_keys / 2;"),
        ("zeros after the last key", "lab::last_key<Key>(order);", "Key{};"),
        ("the wrong key of the neighbour", "__shfl_up_sync(all_lanes, own[3],", "__shfl_up_sync(all_lanes, own[2],"),
        (
            "descending rows ascend",
            "sort_rows_kernel<lab::Order::descending>",
            "sort_rows_kernel<lab::Order::ascending>",
        ),
    ],
    "02-merge/01_thread.cu": [
        ("the result stays in scratch memory", "merge_levels(n, 1) % 2 == 1", "false"),
        ("a level too few", "run < n; run *= 2", "2 * run < n; run *= 2"),
        ("pairs rounded down", "(n + 2 * run - 1) / (2 * run);", "n / (2 * run);"),
    ],
    "02-merge/02_block.cu": [
        ("equal keys in one place", "upper_rank(from.keys + first", "lower_rank(from.keys + first"),
        ("values that stay", "copy_item(to, position, from, i);", "to.keys[position] = key;"),
        ("output that overlaps", "output += placed.a + placed.b;", "output += placed.a;"),
    ],
    "02-merge/03_splitters.cu": [
        ("splitters between equal keys", "lower_rank(from + merge.middle", "upper_rank(from + merge.middle", OUTSIDE),
        ("a partition point rounded down", "(rank + piece_keys - 1) / piece_keys", "rank / piece_keys", OUTSIDE),
    ],
    "02-merge/04_path.cu": [
        ("a search that begins too low", "low = max(diagonal - b_count, Index(0));", ""),
        ("the second run first", "before(b_key, a_key));", "!before(a_key, b_key));", "equal keys in the wrong order"),
        ("the last merge of a tile", "width <= path_threads_per_block;", "width < path_threads_per_block;"),
    ],
    "02-merge/05_record.cu": [
        (
            "equal keys when the first run is used up",
            "a >= middle || before(b_key, a_key);",
            "before(b_key, a_key);",
            "equal keys in the wrong order",
        ),
        ("the second run first", "|| before(b_key, a_key", "|| !before(a_key, b_key", "equal keys in the wrong order"),
        ("runs that are not in bitonic layout", "first == pair ? Half::first : Half::second);", "Half::first);"),
        ("the last level of a tile", "run < Shape::threads && position", "2 * run < Shape::threads && position"),
        ("too few threads for a merge", "int(threadIdx.x) >= needed;", "int(threadIdx.x) + 1 >= needed;"),
        ("both results forwards", "in_second ? Half::second : Half::first", "Half::first"),
        ("a probe of a run that has none", "comes_before && !is_known ?", "comes_before ?"),
        ("a search that ends too early", "__any_sync(all_lanes, low < high)", "__any_sync(all_lanes, low + 1 < high)"),
        ("tiles in the wrong array", "= passes % 2 == 0", "= passes % 2 == 1", "in the original order"),
    ],
    "03-bitonic/01_global.cu": [
        ("no stage of stride 1", "j > 0; j /= 2", "j > 1; j /= 2"),
        ("padding for one order", "lab::last_key<Key>(order));", "lab::last_key<Key>(lab::Order::ascending));"),
        ("no copy back", COPY_BACK, "", "in the original order"),
    ],
    "03-bitonic/02_shared.cu": [
        ("n = 2^k + 1 keys", "run / 2 < count; run *= 2", "run <= count; run *= 2"),
        ("the last stride", "stride > 0; stride /= 2", "stride > 1; stride /= 2"),
        (
            "descending tiles ascend",
            "sort_tiles_kernel<lab::Order::descending>",
            "sort_tiles_kernel<lab::Order::ascending>",
        ),
        ("one tile per block", "first += std::int64_t(gridDim.x) * tile_keys) {", "first += keys.n) {"),
    ],
    "03-bitonic/03_hybrid.cu": [
        ("no stage with the stride of a tile", "stride >= tile_keys;", "stride > tile_keys;"),
        ("mirror and stride exchanged", "= mirrored ?", "= !mirrored ?"),
        ("values that stay after the tiles", "keys, values.data, order", "keys, static_cast<NoValue*>(nullptr), order"),
        ("a merge too few", "run / 2 < keys.n; run *= 2", "run <= keys.n; run *= 2"),
    ],
    "03-bitonic/04_record.cu": [
        ("no mirror image", "mirrored ? run + stride - 1 - column : low;", "low;"),
        ("striped words stored as columns", "(tile, columns, striped, t);", "(tile, columns, columns, t);"),
        ("a strided pass too few", "stride > tile) {", "stride > strided_items * tile) {"),
        ("a cut run is left out", "if (run >= all.n) break;", "if (run + strided_items * stride > all.n) break;"),
        ("descending words ascend", "Words<lab::Order::descending, Key,", "Words<lab::Order::ascending, Key,"),
        ("a merge of tiles too few", "run / 2 < all.n; run *= 2", "run <= all.n; run *= 2"),
    ],
    "03-bitonic/05_segments.cu": [
        ("a sentinel that is a key", "from[i * threads] : ~0u;", "from[i * threads] : 0u;"),
        ("neighbouring vectors", "vectors[t + i * threads];", "vectors[t + i];"),
        ("the last word of a segment is not stored", "i * threads < left) to", "i * threads + 1 < left) to"),
        ("the segment of the first group for all", "__shfl_sync(all_lanes, own.begin, i * threads)", "own.begin"),
        (
            "lists without the last segment",
            "list_segments_by_class<<<list_blocks, list_threads, 0, stream>>>(begins.data, segments, lists);",
            "list_segments_by_class<<<list_blocks, list_threads, 0, stream>>>(begins.data, segments - 1, lists);",
        ),
        ("equal segments of the next class", "segments.length) != index)", "segments.length) != index + 1)"),
    ],
    "04-counting/01_global.cu": [
        ("a run that is one too long", "<= std::uint64_t(position)) ++v;", "< std::uint64_t(position)) ++v;"),
        (
            "descending order is not reversed",
            "order == lab::Order::ascending ? position : keys.n - 1 - position",
            "position",
        ),
        ("one past the first place", "keys.n - 1 - position]", "keys.n - position]"),
    ],
    "04-counting/02_shared.cu": [
        ("a key is counted twice", "value = next, equal = 0;", "value = next, equal = 1;"),
        ("the sum of all but one", "tile_sums[tile] = from[count - 1];", "tile_sums[tile] = from[count / 2];"),
        ("positions that are one too high", "atomicSub(&tile_counts[key], 1u) - 1", "atomicSub(&tile_counts[key], 1u)"),
        ("a copy that is a byte short", "sorted.data(), keys.n, cuda", "sorted.data(), keys.n - 1, cuda"),
    ],
    "04-counting/03_parallel.cu": [
        ("the left child keeps its sum", "tile[padded(right - half)] = before,", "tile[padded(right - half)] = left,"),
        ("the last key of a vector", "vectors.keys_per_vector - 1) != first", "vectors.keys_per_vector - 2) != first"),
    ],
    "04-counting/04_range.cu": [
        ("an odd number of values to fold", "left > 1; left = (left + 1) / 2", "left > 1; left = left / 2"),
        ("the last block's largest key", "atomicMax(&range[1], largest[0]);", "range[1] = largest[0];"),
        ("signed keys as unsigned", "lab::ordered_bits(key);", "std::uint32_t(key);", ""),
    ],
    "04-counting/05_stable.cu": [
        ("a rank that counts the lane itself", "equal & ((1u << warp.lane) - 1)", "equal & ((2u << warp.lane) - 1)"),
        ("values that are not moved", "to.values[position] = from.values[i];", ""),
        ("the wrong parity of passes", "passes % 2 == 1", "passes % 2 == 0"),
        ("all warps begin at the first", "sums[v * chunks.warps + warp.index];", "sums[v * chunks.warps];"),
    ],
    "04-counting/06_record.cu": [
        ("the vector that is left over", "if (j < vectors.count) add_to_column(column, all[j]);", ""),
        ("a column is left out", "for (int i = 0; i < lanes; ++i) sum", "for (int i = 1; i < lanes; ++i) sum"),
        ("the groups of all warps", "group < c / lanes; ++group", "group <= c / lanes; ++group"),
        ("a run that ends in the vector", ">= position + keys_per_vector) {", ">= position + keys_per_vector - 1) {"),
        ("descending bytes ascend", "atomic_add(&counts[v ^ flip], sum)", "atomic_add(&counts[v], sum)"),
        ("the edges are left out", "keys[position] = std::uint8_t(", "(void)std::uint8_t("),
    ],
    "05-radix/00_cpu.cu": [
        ("passes that are skipped", "== Count(n)) continue;", "!= 0) continue;"),
        ("the result of an odd number of passes", "if (from.keys != pairs.keys) {", "if (from.keys == pairs.keys) {"),
        ("values of an odd number of passes", "std::copy_n(from.values, n, pairs.values);", ";"),
        ("strings from the first letter", "= length - 1; letter >= 0; --letter", "= 0; letter < length; ++letter"),
        ("strings in an unstable pass", "i = 0; i < n; ++i) {\n      const", "i = n - 1; i >= 0; --i) {\n      const"),
    ],
    "05-radix/01_host_move.cu": [
        ("a digit too few", "shift < int(8 * sizeof(Key));", "shift < 8 * (int(sizeof(Key)) - 1);"),
        ("values that are not copied back", "std::copy_n(moved_values.get(), values.n, value_view.data());", ""),
        ("flip with the mask of unflip", ">> 31 ? ~own : own | 0x80000000u", ">> 31 ? own & 0x7fffffffu : ~own"),
        ("unflip with the mask of flip", "flipped ^ 0x80000000u : ~flipped", "~flipped : flipped | 0x80000000u"),
    ],
    "05-radix/02_split.cu": [
        ("the highest bit of 32, and no higher one", "shift < int(8 * sizeof(Key));", "shift < 31;"),
        ("ones of earlier rows forgotten", "before_row += row_ones;", ""),
        ("zeros without the last tile's ones", "n - ones_before[tiles];", "n - ones_before[tiles - 1];"),
    ],
    "05-radix/03_digits.cu": [
        ("places beyond the end as zeros", "i >= count || digits.bit", "i < count && digits.bit"),
        ("counters by tile", "counters[threadIdx.x * tiles + tile]", "counters[tile * digit_values + threadIdx.x]"),
        ("every second group begins early", "inclusive - both + first;", "inclusive - both;"),
    ],
    "05-radix/04_onesweep.cu": [
        ("keys of one byte", "if (passes<Key> % 2 == 1) {", "if (false) {"),
        ("places beyond the end first", ": digit_values - 1;", ": 0;", OUTSIDE),
        ("offsets without the tile's own", "exclusive_prefix) - digit_first;", "exclusive_prefix);"),
        ("one order in every pass", "digit_bits>(order, pass", "digit_bits>(lab::Order::ascending, pass"),
    ],
    "05-radix/05_pipeline.cu": [
        (
            "the same position for all lanes",
            "__ffs(int(equal)) - 1) + lower",
            "__ffs(int(equal)) - 1)",
        ),
        ("keys transformed in every pass", "if (pass.is_first) items", "items", EITHER),
        ("transformed keys at the end", "if (pass.is_last) {", "if (false) {"),
        (
            "offsets without the tile's own",
            "look_back(pass.status, tile, run.count) - run.begin;",
            "look_back(pass.status, tile, run.count);",
            EITHER,
        ),
        ("any order in every pass", "active == 1 && plan->negative_zeros == 0,", "plan->negative_zeros == 0,"),
    ],
    "05-radix/06_record.cu": [
        (
            "keys of the next tile stored",
            "tile.store_runs(job, count);",
            "tile.store_runs(job, items.left + t);",
            EITHER,
        ),
        ("sentinels overwritten", "bucket.keys[Shape::margin + claim_in_bin(", "bucket.keys[claim_in_bin("),
        (
            "offsets without the tile's own",
            "tile.offsets[t] = reserved - begin;",
            "tile.offsets[t] = reserved;",
            EITHER,
        ),
    ],
    "06-beyond-memory/01_runs.cu": [
        ("the highest bit is left out", "bit < 32; ++bit", "bit < 31; ++bit"),
        ("ones before the zeros", "keys[place(i)] = ones[place(i -", "keys[place(i - zeros)] = ones[place(i -"),
        ("the last round", "round < tile_count; ++round", "round < tile_count - 1; ++round"),
        ("a match that the winner loses", "if (losers[node] < winner)", "if (winner < losers[node])", "crashed: "),
        ("a run that enters the tree at another leaf", "node = (runs + run)", "node = (runs + run + 1)", "crashed: "),
        ("offers without the lowest bit", "Offer(keys[place(next)]) << 32 |", "Offer(keys[place(next)] >> 1) << 33 |"),
        ("runs that stay in the scratch", "std::memcpy(keys.data, scratch.data, keys.n * sizeof(std::uint32_t));", ""),
    ],
    "06-beyond-memory/02_overlap.cu": [
        ("pieces in one order only", "count, order, shape.blocks, slot.stream", "count, {}, shape.blocks, slot.stream"),
        ("a run that begins in the last", "begins.push_back(first);", "begins.push_back(first / 2);"),
        ("a piece that is not copied back", "copy_out(keys.data + first", "if (first > 0) copy_out(keys.data + first"),
    ],
    "06-beyond-memory/03_partition.cu": [
        ("offsets without the tile's part", ": 0) - first;", ": 0);"),
        ("the last key of a tile", "if (i >= count) break;", "if (i + 1 >= count) break;"),
        # What lies behind the keys decides whether the result is wrong or an access fails.
        (
            "whole tiles after the first",
            "const int count = keys.n - first",
            "const int count = first > 0 || keys.n",
            "",
        ),
        ("equal keys in the wrong order of bits", "/ 2] ^ sort.inversion);", "/ 2]);"),
        ("buckets that fit are not sorted", "if (fits) sort_piece", "if (!fits) sort_piece"),
        (
            "a piece as long as the first",
            "n = std::min(sort.capacity, keys.n - first);",
            "n = sort.capacity;",
            "cudaErrorInvalidValue",
        ),
    ],
    "06-beyond-memory/04_many_gpus.cu": [
        ("an index that begins with the share", "splitter.index - first,", "splitter.index,", UNEVEN),
        ("equal keys behind the splitter", "&& bits == splitter.bits)", "&& bits < splitter.bits)", UNEVEN),
        (
            "splitters of the first samples",
            "samples[(i + 1) * std::int64_t(samples.size()) / gpus];",
            "samples[i];",
            UNEVEN,
        ),
        ("samples as they come", "std::sort(samples.begin(), samples.end());", "", UNEVEN),
        ("two runs only", "joined = merge_in_pairs(", "(void)merge_in_pairs("),
    ],
}

BREAKS: Sequence[Mistake] = [_break(path, *words) for path, breaks in _BREAKS.items() for words in breaks]

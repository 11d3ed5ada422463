"""Mistakes that readers of labs 02, 04 and 05 made, or planned, before they had seen any message of `check`."""

from __future__ import annotations

from functools import partial

from mistake import Mistake

merge_thread = partial(Mistake, "02-merge", "01_thread.cu", shown=())
merge_block = partial(Mistake, "02-merge", "02_block.cu", shown=())
count_global = partial(Mistake, "04-counting", "01_global.cu", shown=())
count_shared = partial(Mistake, "04-counting", "02_shared.cu", shown=())
count_tree = partial(Mistake, "04-counting", "03_parallel.cu", shown=())
radix_cpu = partial(Mistake, "05-radix", "00_cpu.cu", shown=())
radix_host = partial(Mistake, "05-radix", "01_host_move.cu", shown=())
radix_split = partial(Mistake, "05-radix", "02_split.cu", shown=())
CONTINUE = "      const bool is_one = i < n && digits"

MISTAKES = (
    merge_thread(
        name="equal keys from the wrong run",
        changes={"before(from.keys[b], from.keys[a])": "!before(from.keys[a], from.keys[b])"},
    ),
    merge_block(name="the wrong rank", changes={"placed.b = lower_rank(": "placed.b = upper_rank("}),
    merge_thread(name="one key too few", changes={"i < end; ++i": "i < end - 1; ++i"}),
    merge_thread(name="a run may be empty", changes={"a == middle || (b < end && before": "a == middle || (before"}),
    merge_thread(
        name="the second run ends too late", changes={"min(first + 2 * run, n), before": "first + 2 * run, before"}
    ),
    merge_block(name="a rank without the own run", changes={"? i + lower_rank": "? lower_rank"}),
    count_global(
        name="an inclusive scan",
        changes={"    counts[v] = sum;\n    sum += keys_of_v;": "    sum += keys_of_v;\n    counts[v] = sum;"},
    ),
    count_global(
        name="a byte that counts to 256",
        changes={"(int v = 0; v <= byte_values": "(std::uint8_t v = 0; v <= byte_values"},
    ),
    count_shared(
        name="the sums on the left are not copied",
        changes={
            "to[i] = i >= distance ? from[i] + from[i - distance] : from[i];": (
                "if (i >= distance) to[i] = from[i] + from[i - distance];"
            )
        },
    ),
    count_shared(
        name="a copy back in the wrong direction",
        changes={"(keys.data, sorted.data(), keys.n,": "(sorted.data(), keys.data, keys.n,"},
    ),
    count_tree(
        name="no zeros after the end",
        changes={
            "i < scan_tile; i += blockDim.x) tile[padded(i)] = i < count ? values": (
                "i < count; i += blockDim.x) tile[padded(i)] = i < count ? values"
            )
        },
    ),
    count_shared(
        name="no atomic",
        changes={
            "{ atomicAdd(&block_counts[keys[vectors.edge(e)]], 1u); }": "{ ++block_counts[keys[vectors.edge(e)]]; }"
        },
    ),
    radix_cpu(name="the shift counts bytes", changes={"digits(order, pass * digit_bits)": "digits(order, pass)"}),
    radix_host(
        name="the counters are cleared once",
        changes={
            "    CUDA_CHECK(cudaMemsetAsync(counters.data(), 0, counters.size()": (
                "    if (shift == 0) CUDA_CHECK(cudaMemsetAsync(counters.data(), 0, counters.size()"
            )
        },
    ),
    radix_split(name="rows do not follow one another", changes={"      before_row += row_ones;\n": "\n"}),
    radix_split(name="threads without a key leave", changes={CONTINUE: f"      if (i >= n) continue;\n{CONTINUE}"}),
    radix_split(
        name="zeros behind ones",
        changes={"is_one ? zeros + before : i - before": "is_one ? zeros + before : i - before_row"},
    ),
)

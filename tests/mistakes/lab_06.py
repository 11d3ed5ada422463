"""Mistakes in lab 06."""

from __future__ import annotations

from functools import partial

from mistake import Mistake

in_runs = partial(Mistake, "06-beyond-memory", "01_runs.cu")
in_overlap = partial(Mistake, "06-beyond-memory", "02_overlap.cu")
in_partition = partial(Mistake, "06-beyond-memory", "03_partition.cu")
in_many_gpus = partial(Mistake, "06-beyond-memory", "04_many_gpus.cu")

MISTAKES = (
    in_runs(
        "every thread with the smallest key wins",
        {"unsigned(winner) == threadIdx.x": "next < own_count && keys[place(next)] == unsigned(winner >> 32)"},
    ),
    in_runs(
        "two words in turn instead of three",
        {
            "best[round % 3], Offer": "best[round % 2], Offer",
            "winner = best[round % 3];": "winner = best[round % 2];",
            "best[(round + 2) % 3]": "best[(round + 1) % 2]",
        },
        ["FAILED", "error: race: "],
        alone=True,
    ),
    in_runs(
        "no barrier between offers and winner",
        {"__syncthreads();  // all offers": ";  // all offers"},
        ["FAILED", "error: race: "],
        alone=True,
    ),
    in_runs(
        "a merge that does not wait for the last copy",
        {"CUDA_CHECK(cudaStreamSynchronize(stream));  // the host": ";  // the host"},
        ["FAILED", "error: stream-race: "],
        alone=True,
    ),
    in_runs(
        "no end of the last run",
        {"  begins.push_back(keys.n);\n": ""},
    ),
    in_overlap(
        "a copy back in another stream",
        {"slot.keys.data(), count, slot.stream);": "slot.keys.data(), count, stream);"},
        ["FAILED", "error: stream-race: "],
        alone=True,
    ),
    in_overlap(
        "slots that are not waited for",
        {"  slots.synchronize();  // the host": "  // the host"},
        ["FAILED", "error: stream-race: "],
        alone=True,
    ),
    in_overlap(
        "the keys of one slot in the stream of the next",
        {"keys.data + first, count, slot.stream);": "keys.data + first, count, slots.next().stream);"},
        ["FAILED", "error: stream-race: "],
        alone=True,
    ),
    in_overlap(
        "every piece as long as the first",
        {"const std::int64_t count = std::min(piece, keys.n - first);": "const std::int64_t count = piece;"},
    ),
    in_partition(
        "the splitter behind the last",
        {"(first < n && splitters[first] == bits ? 1 : 0)": "(splitters[first] == bits ? 1 : 0)"},
        alone=True,
    ),
    in_partition(
        "places in place of counts",
        {"bucket_count, counter, bucket_count, slot.stream);": "bucket_count, next, bucket_count, slot.stream);"},
    ),
    in_partition(
        "no barrier after the tile's counters are cleared",
        {"__syncthreads();  // a thread adds to elements of": ";  // a thread adds to elements of"},
        ["FAILED", "error: race: "],
        alone=True,
    ),
    in_partition(
        "counters that are cleared in another stream",
        {"bucket_count * sizeof(unsigned), slot.stream));": "bucket_count * sizeof(unsigned), nullptr));"},
        ["FAILED", "error: stream-race: "],
        alone=True,
    ),
    in_many_gpus(
        "equal keys that all go to one GPU",
        {"return min(max(splitter.index - first, search(false)), search(true));": "return (void)first, search(false);"},
    ),
    in_many_gpus(
        "what a GPU sends for what it receives",
        {"counts[std::int64_t(other) * gpus + gpu];": "counts[std::int64_t(gpu) * gpus + other];"},
    ),
)

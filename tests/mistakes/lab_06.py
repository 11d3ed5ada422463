"""Mistakes in lab 06."""

from __future__ import annotations

from mistake import Mistake

LAB = "06-beyond-memory"

MISTAKES = (
    Mistake(
        "every thread with the smallest key wins",
        LAB,
        "01_runs.cu",
        [
            (
                "if (unsigned(winner) == threadIdx.x)",
                "if (next < own_count && keys[place(next)] == unsigned(winner >> 32))",
            )
        ],
        ["FAILED  step 01 runs, ", "wrong key at index", "keys were lost or made up"],
    ),
    Mistake(
        "two words in turn instead of three",
        LAB,
        "01_runs.cu",
        [
            ("best[round % 3], Offer", "best[round % 2], Offer"),
            ("winner = best[round % 3];", "winner = best[round % 2];"),
            ("best[(round + 2) % 3]", "best[(round + 1) % 2]"),
        ],
        ["FAILED  step 01 runs, check build", "01_runs.cu:", "error: race: "],
        alone=True,
    ),
    Mistake(
        "no barrier between offers and winner",
        LAB,
        "01_runs.cu",
        [("__syncthreads();  // all offers", ";  // all offers")],
        ["FAILED  step 01 runs, check build", "{at+1}: error: race: ", "__syncthreads"],
        alone=True,
    ),
    Mistake(
        "a merge that does not wait for the last copy",
        LAB,
        "01_runs.cu",
        [("CUDA_CHECK(cudaStreamSynchronize(stream));  // the host", ";  // the host")],
        ["FAILED  step 01 runs, check build", "error: stream-race: "],
        alone=True,
    ),
    Mistake(
        "no end of the last run",
        LAB,
        "01_runs.cu",
        [("  begins.push_back(keys.n);\n", "")],
        ["FAILED  step 01 runs, cpu build", "01_runs.cu"],
    ),
    Mistake(
        "a copy back in another stream",
        LAB,
        "02_overlap.cu",
        [
            (
                "copy_out(keys.data + first, slot.keys.data(), count, slot.stream);",
                "copy_out(keys.data + first, slot.keys.data(), count, stream);",
            )
        ],
        ["FAILED  step 02 overlap, check build", "error: stream-race: "],
        alone=True,
    ),
    Mistake(
        "slots that are not waited for",
        LAB,
        "02_overlap.cu",
        [("  slots.synchronize();  // the host", "  // the host")],
        ["FAILED  step 02 overlap, check build", "error: stream-race: "],
        alone=True,
    ),
    Mistake(
        "the keys of one slot in the stream of the next",
        LAB,
        "02_overlap.cu",
        [
            (
                "copy_in(slot.keys.data(), keys.data + first, count, slot.stream);",
                "copy_in(slot.keys.data(), keys.data + first, count, slots.next().stream);",
            )
        ],
        ["FAILED  step 02 overlap, check build", "error: stream-race: "],
        alone=True,
    ),
    Mistake(
        "every piece as long as the first",
        LAB,
        "02_overlap.cu",
        [("const std::int64_t count = std::min(piece, keys.n - first);", "const std::int64_t count = piece;")],
        ["FAILED  step 02 overlap, "],
    ),
    Mistake(
        "the splitter behind the last",
        LAB,
        "03_partition.cu",
        [("(first < n && splitters[first] == bits ? 1 : 0)", "(splitters[first] == bits ? 1 : 0)")],
        ["FAILED  step 03 partition, check build", "{at}: error: "],
        alone=True,
    ),
    Mistake(
        "places in place of counts",
        LAB,
        "03_partition.cu",
        [("bucket_count, counter, bucket_count, slot.stream);", "bucket_count, next, bucket_count, slot.stream);")],
        ["FAILED  step 03 partition, "],
    ),
    Mistake(
        "no barrier after the tile's counters are cleared",
        LAB,
        "03_partition.cu",
        [("__syncthreads();  // a thread counts in counters that others have cleared\n", ";\n")],
        ["FAILED  step 03 partition, check build", "03_partition.cu:", "error: race: "],
        alone=True,
    ),
    Mistake(
        "counters that are cleared in another stream",
        LAB,
        "03_partition.cu",
        [("bucket_count * sizeof(unsigned), slot.stream));", "bucket_count * sizeof(unsigned), nullptr));")],
        ["FAILED  step 03 partition, check build", "error: stream-race: "],
        alone=True,
        quick=True,
    ),
    Mistake(
        "equal keys that all go to one GPU",
        LAB,
        "04_many_gpus.cu",
        [
            (
                "return min(max(splitter.index - first, search(false)), search(true));",
                "return (void)first, search(false);",
            )
        ],
        ["FAILED  step 04 many_gpus, cpu build", "the splitters do not divide the keys evenly"],
    ),
    Mistake(
        "what a GPU sends for what it receives",
        LAB,
        "04_many_gpus.cu",
        [("counts[std::int64_t(other) * gpus + gpu];", "counts[std::int64_t(gpu) * gpus + other];")],
        ["FAILED  step 04 many_gpus, "],
    ),
)

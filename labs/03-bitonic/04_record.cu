// Step 04: the record.
//
// Idea: a key that has been read stays in registers for as many stages as possible. A thread that holds 32 keys runs
// the stages among them without any memory. Between the lanes of a warp, keys travel by shuffles. Between warps, they
// go through shared memory once for several stages, not once for each. And the stages whose partners are in different
// tiles, each of which was a trip through global memory in step 03, go in fives: a thread takes 32 keys that are a
// stride apart, and for five stages these meet only each other.
// New since step 03: the network in registers and between lanes (network.cuh); tiles whose arrangement follows the
// stages (tile_network.cuh); strided trips; thread block clusters, where there are any (cluster.cuh). Keys of all types
// are sorted as unsigned numbers (words.cuh), so that a comparator is a minimum and a maximum.
// Cost: one read and one write of every key to sort the tiles, of 8192 keys each (4096 if they have 8 bytes or values).
// Then a merge into runs of 2^m tiles takes one strided trip for every five stages across tiles, m / 5 rounded up, and
// one trip for all others. For 2^16 keys 7 trips in all, for 2^20 17 (step 03: 28 and 66). With clusters, the first trip
// sorts runs of 32,768 keys (16,384), which leaves 3 trips and 13.
// Scratch memory: none, but 8 bytes per segment and 128 bytes if segments are given by offsets. CUB's
// DeviceSegmentedSort needs 8 bytes per segment and 2 to 4 KiB.
// Limits: 256 threads per block.
// Lines: 63 to write, 180 given.
#include <algorithm>
#include <cstdint>

#include "cluster.cuh"
#include "segments.cuh"
#include "step/device_array.h"
#include "step/device_attribute.h"
#include "step/launch_shape.h"
#include "tile_network.cuh"
#include "words.cuh"

namespace bitonic {
namespace {

constexpr int strided_items = 32, strided_threads = 128;
constexpr int list_block_keys = 1024;  // with fewer, a block would mostly read the lengths of lists

/// 8192 words of 4 bytes, or 4096 of 8 bytes.
template <class Words>
using RecordTile = Tile<typename Words::Word, 128 / sizeof(typename Words::Word), record_threads>;

/// For few keys, which are a single tile: sorting it takes less time the smaller it is.
template <class Words>
using SmallTile = Tile<typename Words::Word, 16, record_threads>;

/// Sorts each tile. Each block takes the tiles blockIdx.x, blockIdx.x + gridDim.x, ...
template <class Tile, class Words>
__global__ void __launch_bounds__(record_threads) sort_each_tile(Words all) {
  __shared__ Tile tile;
  const int t = threadIdx.x;
  for (std::int64_t begin = std::int64_t(blockIdx.x) * tile.size; begin < all.n;
       begin += std::int64_t(gridDim.x) * tile.size) {
    const auto rows = all.from(begin + row_position<tile.items>(t));
    typename Words::Word words[tile.items];
#pragma unroll
    for (int i = 0; i < tile.items; ++i) words[i] = rows.load(32 * i);
    // Your code: sort the words of the whole block (sort_blocks), and arrange them as rows again: write_blocks()
    // and read_rows(). Which barriers are needed, also for the next tile?
#pragma unroll
    for (int i = 0; i < tile.items; ++i) rows.store(32 * i, words[i]);
  }
}

/// Runs five stages of the merges into runs of 32 * stride words. In these stages, the words that are `stride` apart in
/// such a run meet only each other. With `mirrored`, the first of the five is the mirror stage.
template <bool mirrored, class Words>
__global__ void __launch_bounds__(strided_threads) run_strided_stages(Words all, std::int64_t stride) {
  constexpr int items = strided_items;
  const std::int64_t threads = std::int64_t(gridDim.x) * strided_threads;
  for (std::int64_t t = std::int64_t(blockIdx.x) * strided_threads + threadIdx.x;; t += threads) {
    const std::int64_t column = t & (stride - 1), run = (t - column) * items;
    if (run >= all.n) break;
    // Your code: load the words at run + column, run + column + stride, and so on (all.load), run the five stages
    // with mirror_registers() and clean_registers(), and store the words (all.store). With `mirrored`, the word at
    // run + column must meet its mirror image, the last word but `column` of the run. So which words belong in the
    // second half of the array?
  }
}

/// Runs the last stages of a merge, those within a tile, on each tile.
template <class Words>
__global__ void __launch_bounds__(record_threads) clean_each_tile(Words all) {
  __shared__ RecordTile<Words> tile;
  const int t = threadIdx.x;
  for (std::int64_t begin = std::int64_t(blockIdx.x) * tile.size; begin < all.n;
       begin += std::int64_t(gridDim.x) * tile.size) {
    const auto columns = all.from(begin + t);
    const auto rows = all.from(begin + row_position<tile.items>(t));
    typename Words::Word words[tile.items];
#pragma unroll
    for (int i = 0; i < tile.items; ++i) words[i] = columns.load(i * record_threads);
    // Your code: the thread's words are 256 apart. Run the stages with strides of 256 and more in registers; write
    // the words to shared memory where they belong (tile.at), and read rows; run the strides 128 to 32 in registers
    // and the rest by shuffles. Put a barrier wherever one thread needs what another has written.
#pragma unroll
    for (int i = 0; i < tile.items; ++i) rows.store(32 * i, words[i]);
  }
}

/// Queues the whole sort.
template <class Words>
void sort_words(Words all, lab::LaunchShape shape, cudaStream_t stream) {
  constexpr std::int64_t tile = RecordTile<Words>::size;
  const unsigned tile_blocks = lab::blocks_or(shape, all.n, tile);
  std::int64_t sorted = shape.blocks == 0 ? sort_runs_in_clusters(all, stream) : 0;  // runs of so many words
  // Your code: if nothing is sorted yet, and all keys fit into one SmallTile, launch sort_each_tile with it, and that
  // is all. If nothing is sorted and they do not fit, launch it with RecordTile: then runs of `tile` words are
  // sorted. Then, for runs of 2, 4, ... times the sorted ones, until one run holds all keys: a strided trip that
  // begins with the mirror stage, further strided trips as long as there are strides of a tile or more, and
  // clean_each_tile. How many threads does a strided trip need if n is not a power of two? Check each launch.
  (void)sort_each_tile<RecordTile<Words>, Words>, (void)sort_each_tile<SmallTile<Words>, Words>;
  (void)run_strided_stages<true, Words>, (void)run_strided_stages<false, Words>, (void)clean_each_tile<Words>;
  (void)tile_blocks, (void)tile, (void)sorted, (void)stream;
  NOT_WRITTEN("step 04");
}

template <class Key, class Value>
void sort_any(lab::Span<Key> keys, Value* values, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  if (lab::threads_or(shape, record_threads) != record_threads) {
    throw lab::Unsupported("this step has 256 threads per block: choose --threads 256 or leave it out");
  }
  if (keys.n < 2) return;
  if (order == lab::Order::ascending) {
    sort_words(Words<lab::Order::ascending, Key, Value>{keys.data, values, keys.n}, shape, stream);
  } else {
    sort_words(Words<lab::Order::descending, Key, Value>{keys.data, values, keys.n}, shape, stream);
  }
}

// --- segments ---

void require_segments(std::int64_t n, lab::LaunchShape shape) {
  if (lab::threads_or(shape, segment_threads) != segment_threads) {
    throw lab::Unsupported("segments are sorted by 128 threads per block: choose --threads 128 or leave it out");
  }
  if (n > max_segmented_keys) throw lab::Unsupported("segments have positions of type int: choose --n below 2^31");
}

/// Queues the sort of equal segments of class `number` or, if they do not belong to it, of the next class.
template <int number>
void sort_from_class(SegmentKeys keys, EqualSegments segments, lab::LaunchShape shape, cudaStream_t stream) {
  if constexpr (number < classes - 1) {
    if (class_of(segments.length) != number) return sort_from_class<number + 1>(keys, segments, shape, stream);
    const unsigned blocks = lab::blocks_or(shape, segments.number, Class<number>::per_block);
    // Your code: launch sort_segments_of_class, and check the launch.
    (void)blocks, (void)keys, (void)stream, (void)sort_segments_of_class<Class<number>>;
    NOT_WRITTEN("step 04");
  } else {
    const unsigned blocks = lab::blocks_or(shape, segments.number, 1);
    sort_long_segments<<<blocks, segment_threads, 0, stream>>>(keys, segments);
    CUDA_CHECK(cudaGetLastError());
  }
}

/// Blocks that work through lists: at most as many as run at a time.
unsigned list_blocks(std::int64_t n, lab::LaunchShape shape) {
  const unsigned blocks = lab::blocks_or(shape, n, list_block_keys);
  if (shape.blocks != 0) return blocks;
  return std::min(blocks, unsigned(segment_blocks * lab::device_attribute(cudaDevAttrMultiProcessorCount)));
}

}  // namespace

void sort_equal_segments(lab::Span<const std::uint32_t> keys, lab::Span<std::uint32_t> sorted, int length,
                         lab::LaunchShape shape, cudaStream_t stream) {
  require_segments(keys.n, shape);
  lab::blocks_or(shape, 1, 1);  // refuses impossible shapes, whatever n is
  if (length < 1) throw lab::Unsupported("a segment has at least one key: choose a greater length");
  if (keys.n == 0) return;
  const int number = int((keys.n + length - 1) / length);
  sort_from_class<0>({keys.data, sorted.data}, {length, int(keys.n), number}, shape, stream);
}

void sort_segments(lab::Span<const std::uint32_t> keys, lab::Span<std::uint32_t> sorted, lab::Span<const int> begins,
                   lab::LaunchShape shape, cudaStream_t stream) {
  require_segments(keys.n, shape);
  const unsigned blocks = list_blocks(keys.n, shape);
  const int number = int(begins.n) - 1;
  if (keys.n == 0) return;
  const lab::DeviceArray<Segment> memory(SegmentLists::needed(number), stream);
  const SegmentLists lists(memory.data());
  CUDA_CHECK(cudaMemsetAsync(lists.counts, 0, SegmentLists::counters * sizeof(int), stream));
  // Your code: launch count_segments and list_segments_by_class, whose blocks look at 512 segments each; then
  // sort_long_segments for the first list, and sort_listed_segments for all others. Check each launch.
  (void)blocks, (void)number, (void)sorted, (void)lists, (void)sort_long_segments<ListedSegments>;
  NOT_WRITTEN("step 04");
}

template <class Key>
void sort_record(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  sort_any(keys, static_cast<NoValue*>(nullptr), order, shape, stream);
}

template <class Key, class Value>
void sort_record(lab::Span<Key> keys, lab::Span<Value> values, lab::Order order, lab::LaunchShape shape,
                 cudaStream_t stream) {
  sort_any(keys, values.data, order, shape, stream);
}

template void sort_record(lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_record(lab::Span<std::int32_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_record(lab::Span<std::uint64_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_record(lab::Span<float>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_record(lab::Span<std::uint32_t>, lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape,
                          cudaStream_t);

}  // namespace bitonic

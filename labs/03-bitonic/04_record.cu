// Step 04: the record.
//
// Idea: a key that has been read stays in registers for as many stages as possible. A thread that holds 32 keys runs
// the stages among them without accessing memory. Keys travel between nearby lanes by shuffles, and between other
// threads through shared memory, once for several stages. In step 03, each stage whose partners are in different tiles
// was a pass over memory. Here five such stages share a pass: a thread takes 32 keys that are a stride apart, which
// meet only each other for five stages.
// New since step 03: the network in registers and between lanes (network.cuh), tiles whose arrangement follows the
// stages (tile_network.cuh), strided passes (merge_passes.cuh), and thread block clusters, on GPUs that have them
// (cluster.cuh). Keys of all types are sorted as unsigned numbers (words.cuh), so that a comparator is a minimum and a
// maximum.
// Occupancy: a block that sorts a tile has 256 threads with 80 registers each. A streaming multiprocessor has 65,536,
// so three blocks run there at a time, and while one waits at a barrier, the others work.
// Limits: 256 threads per block.
#include <cstdint>

#include "cluster.cuh"
#include "merge_passes.cuh"
#include "step/launch_shape.h"
#include "words.cuh"

namespace bitonic {
namespace {

constexpr int strided_threads = 128;

/// 8192 words of 4 bytes, or 4096 of 8 bytes.
template <class Words>
using RecordTile = Tile<typename Words::Word, 128 / sizeof(typename Words::Word), record_threads>;

/// For keys that fit into a single tile, which takes less time to sort the smaller it is.
template <class Words>
using SmallTile = Tile<typename Words::Word, 16, record_threads>;

/// Sorts each tile. Each block takes the tiles blockIdx.x, blockIdx.x + gridDim.x, ...
template <class Tile, class Words>
__global__ void __launch_bounds__(record_threads) sort_each_tile(Words all) {
  __shared__ Tile tile;
  const int t = threadIdx.x;
  for (std::int64_t begin = std::int64_t(blockIdx.x) * tile.size; begin < all.n;
       begin += std::int64_t(gridDim.x) * tile.size) {
    const auto striped = all.from(begin + striped_position<tile.items>(t));
    typename Words::Word words[tile.items];
#pragma unroll
    for (int i = 0; i < tile.items; ++i) words[i] = striped.load(32 * i);
    // Your code: sort the words of the whole block (sort_group), and make them striped again with write_blocked() and
    // read_striped(). Which barriers are needed, including the one before the next tile?
#pragma unroll
    for (int i = 0; i < tile.items; ++i) striped.store(32 * i, words[i]);
  }
}

/// Runs five stages of the merges into runs of 32 * stride words. In these stages, the words that are `stride` apart in
/// such a run meet only each other. With `mirrored`, the first of the five is the mirror stage.
template <bool mirrored, class Words>
__global__ void __launch_bounds__(strided_threads) run_strided_stages(Words all, std::int64_t stride) {
  const std::int64_t threads = std::int64_t(gridDim.x) * strided_threads;
  for (std::int64_t t = std::int64_t(blockIdx.x) * strided_threads + threadIdx.x;; t += threads) {
    const std::int64_t column = t & (stride - 1), run = (t - column) * strided_items;
    if (run >= all.n) break;
    // Your code: call run_five_stages() for the words at run + column, run + column + stride, and so on. With
    // `mirrored`, the word at run + column must meet its mirror image, the last word but `column` of the run. Where,
    // then, do the words in the second half of the run begin?
  }
}

/// Runs the last stages of a merge, those within a tile, on each tile.
template <class Words>
__global__ void __launch_bounds__(record_threads) merge_each_tile(Words all) {
  __shared__ RecordTile<Words> tile;
  const int t = threadIdx.x;
  for (std::int64_t begin = std::int64_t(blockIdx.x) * tile.size; begin < all.n;
       begin += std::int64_t(gridDim.x) * tile.size) {
    // Your code: call merge_tile_in_memory(), with the words from two positions on (all.from). Which barrier is
    // needed?
    (void)t;
  }
}

/// Queues the whole sort.
template <class Words>
void sort_words(Words all, lab::LaunchShape shape, cudaStream_t stream) {
  constexpr std::int64_t tile = RecordTile<Words>::size;
  const unsigned tile_blocks = lab::blocks_or(shape, all.n, tile);
  // PHASE 1: sort runs in clusters, if the GPU has them.
  std::int64_t sorted = shape.blocks == 0 ? sort_runs_in_clusters(all, stream) : 0;  // the length of sorted runs
  // PHASE 2: sort tiles, if nothing is sorted yet.
  // Your code: if nothing is sorted and all keys fit into one SmallTile, launch sort_each_tile with it, and return. If
  // they do not fit, launch it with RecordTile, which makes sorted runs of `tile` words.
  // PHASE 3: merge the sorted runs in pairs.
  // Also your code: for runs of 2, 4, ... times the sorted ones, until one run holds all keys: a strided pass that
  // begins with the mirror stage, further strided passes as long as there are strides of a tile or more, and
  // merge_each_tile. How many threads does a strided pass need if n is not a power of two? Check each launch.
  (void)sort_each_tile<RecordTile<Words>, Words>, (void)sort_each_tile<SmallTile<Words>, Words>;
  (void)run_strided_stages<true, Words>, (void)run_strided_stages<false, Words>, (void)merge_each_tile<Words>;
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

}  // namespace

template <class Key>
void sort_record(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  sort_any(keys, static_cast<NoValue*>(nullptr), order, shape, stream);
}

template <class Key, class Value>
void sort_record(lab::Span<Key> keys, lab::Span<Value> values, lab::Order order, lab::LaunchShape shape,
                 cudaStream_t stream) {
  sort_any(keys, values.data, order, shape, stream);
}

#ifndef LAB_OTHER_TYPES
template void sort_record(lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_record(lab::Span<std::uint32_t>, lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape,
                          cudaStream_t);
#endif
#ifndef LAB_FIRST_TYPES
template void sort_record(lab::Span<std::int32_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_record(lab::Span<std::uint64_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_record(lab::Span<float>, lab::Order, lab::LaunchShape, cudaStream_t);
#endif

}  // namespace bitonic

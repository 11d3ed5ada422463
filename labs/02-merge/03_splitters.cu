// Step 03: many blocks per merge, by splitters.
//
// Idea: every 256th key of both runs is a splitter. It cuts its own run right before itself, and the other run where a
// binary search finds its place. All splitters together cut a merge into independent pieces of at most 256 keys of
// either run. A block merges a piece by ranks, as in step 02.
// New since step 02, whose sorted tiles this step starts from: a level has as many blocks as pieces, however few merges
// it has. The splitters are put in order without sorting: the index of a splitter among all is its index among those of
// its own run plus its rank among those of the other run, which follows from its partition point.
#include <cstdint>

#include "instantiate.cuh"
#include "rank.cuh"
#include "step/launch_shape.h"
#include "tiles.cuh"

namespace merge_sort {
namespace {

static_assert(tile_keys % piece_keys == 0, "the splitters of all runs are piece_keys apart in the whole array");
constexpr int default_threads_per_block = 256;

/// Where a splitter divides a and b, as positions in the whole array: the items from there on go to its right. Aligned
/// to be read in one access.
struct alignas(16) PartitionPoint {
  std::int64_t a;
  std::int64_t b;
};

/// Finds the partition point of every splitter from[0], from[256], ... and stores it under the index of the piece to
/// its right, among the pieces of all merges.
template <class Key, class Before>
__global__ void find_partition_points(const Key* from, Level<piece_keys> level, PartitionPoint* points, Before before) {
  const std::int64_t step = std::int64_t(gridDim.x) * blockDim.x;
  for (std::int64_t s = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; s < level.parts; s += step) {
    const std::int64_t position = s * piece_keys;
    const Merge merge = level.merge_of(s);
    // Your code: the splitter is from[position], a key of a or of b. Its partition point: how many keys of the other
    // run go before it? Its index: how many splitters are among those keys, and how many go before it in its own run?
    (void)merge;
  }
}

/// Each block merges the pieces blockIdx.x, blockIdx.x + gridDim.x, ... A piece extends from one partition
/// point to the next.
template <class Key, class Value, class Before>
__global__ void merge_pieces(Items<Key, Value> from, Items<Key, Value> to, Level<piece_keys> level,
                             const PartitionPoint* points, Before before) {
  __shared__ Key keys[2][2 * piece_keys];
  __shared__ Value values[2][has_values<Value> ? 2 * piece_keys : 1];
  const Items<Key, Value> loaded{keys[0], values[0]}, merged{keys[1], values[1]};
  for (std::int64_t piece = blockIdx.x; piece < level.parts; piece += gridDim.x) {
    const Merge merge = level.merge_of(piece);
    // Your code: the piece extends from points[piece] to the next point or, at the end of its merge, to the ends of
    // both runs. load_items() of a and of b, place_by_ranks(), store_items(). How many items of the output come before
    // the piece?
    (void)merge, (void)loaded, (void)merged;
  }
}

template <class Key, class Value, class Before>
void sort(Items<Key, Value> items, std::int64_t n, Before before, lab::LaunchShape shape, cudaStream_t stream) {
  const int threads_per_block = lab::threads_or(shape, default_threads_per_block);
  const std::int64_t pieces = (n + piece_keys - 1) / piece_keys;
  const unsigned find_blocks = lab::blocks_or(shape, pieces, threads_per_block);
  const unsigned merge_blocks = lab::blocks_or(shape, pieces, 1);
  const lab::DeviceArray<PartitionPoint> points(pieces, stream);
  // Your code: sort_by_levels(), as in step 02. A level is find_partition_points, then merge_pieces. Check each launch.
  (void)items, (void)before, (void)find_blocks, (void)merge_blocks, (void)threads_per_block;
  NOT_WRITTEN("step 03");
}

}  // namespace

template <class Key, class Before>
void sort_splitters(lab::Span<Key> keys, Before before, lab::LaunchShape shape, cudaStream_t stream) {
  sort(items_of(keys), keys.n, before, shape, stream);
}

template <class Key, class Value, class Before>
void sort_splitters(lab::Span<Key> keys, lab::Span<Value> values, Before before, lab::LaunchShape shape,
                    cudaStream_t stream) {
  sort(items_of(keys, values), keys.n, before, shape, stream);
}

MERGE_SORT_INSTANTIATE(sort_splitters);

}  // namespace merge_sort

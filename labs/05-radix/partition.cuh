// A partition of step 06 moves the keys of each bucket to smaller buckets, by their next digit. No order has to be kept
// within a bucket, so no tile looks back. Instead, it reserves places in each bucket with one atomic.
// Source: E. Stehle and H.-A. Jacobsen, "A memory bandwidth-efficient hybrid radix sort on GPUs", SIGMOD 2017.
#pragma once

#include "bucket_plan.h"

namespace radix {

/// Threads per block, keys per thread, and how many blocks should share a multiprocessor.
template <int threads_per_block, int keys_per_thread, int blocks>
struct PartitionShape {
  static constexpr int threads = threads_per_block;
  static constexpr int items = keys_per_thread;
  static constexpr int size = threads * items;
  static constexpr int blocks_per_multiprocessor = blocks;
  static_assert(threads >= byte_values, "every digit has a thread");
};

// The longer the runs of a digit, the fewer parts of a sector are written. Therefore the tile is as large as shared
// memory and registers allow. The small one is for few keys, which would not give every multiprocessor a large tile.
using LargePartition = PartitionShape<1024, 32, 1>;
using SmallPartition = PartitionShape<512, 8, 2>;

/// What the threads of a block share while they partition a tile.
template <class TheShape>
struct PartitionTile {
  using Shape = TheShape;
  static constexpr int size = Shape::size;

  unsigned counts[byte_values];   ///< of each digit's keys; then the position of its next key
  unsigned offsets[byte_values];  ///< where a digit's keys begin in the output, less where they begin in the tile
  unsigned warp_sums[Shape::threads / 32];
  unsigned tile_firsts[byte_values + 1];
  unsigned bucket;  ///< of the next tile
  std::uint32_t keys[Shape::size];

  /// Copies the first tiles of the job's buckets, and clears the counts.
  template <class Job>
  __device__ void clear(const Job& job) {
    const int t = threadIdx.x;
    for (int b = t; b <= job.buckets; b += Shape::threads) {
      tile_firsts[b] = job.source->tile_firsts[job.first_bucket + b];
    }
    if (t < byte_values) counts[t] = 0;
  }

  /// Finds the bucket of a tile. After the next barrier, all threads may read it.
  __device__ void find_bucket(unsigned tile, int buckets) {
    const int b = threadIdx.x;
    if (b < buckets && tile_firsts[b] <= tile && tile < tile_firsts[b + 1]) bucket = b;
  }
};

/// Which buckets an array holds: all of them, or half.
enum class Half { all, lower, upper };

/// An array of transformed keys, or of their lowest 16 bits, whose position 0 the plan decides.
template <class T>
struct Placement {
  T* data;
  Half half;

  /// The lower half is kept behind the middle of an array, and the upper half at its beginning.
  __device__ std::int64_t offset(const BucketPlan& plan) const {
    if (half == Half::all) return 0;
    const std::int64_t middle = plan.middle();
    return half == Half::lower ? 2 * middle : -middle;
  }
};

/// One partition: of `buckets` buckets of `source`, from bucket `first_bucket` on, by `digit`.
template <class To, class Key>
struct PartitionJob {
  const std::uint32_t* from;
  Placement<To> to;
  KeyTransform<Key> transform;
  PartitionDigit digit;
  int first_bucket, buckets;
  const PartitionSource* source;  ///< in device memory
  unsigned* cursors;              ///< cursors[bucket * bins + digit]: where the next key goes, in device memory
};

/// The keys of one tile that a thread has in its registers, striped: neighbouring threads have neighbouring keys.
template <class Shape>
struct PartitionItems {
  std::uint32_t keys[Shape::items];
  int left = 0;  ///< keys of the tile from the thread's first one on
  unsigned bucket = 0;

  __device__ bool has(int row) const { return row * Shape::threads < left; }

  /// Loads them from tile `index`, whose bucket is known.
  template <class To, class Key>
  __device__ void load(const PartitionTile<Shape>& tile, const PartitionJob<To, Key>& job, unsigned index) {
    bucket = job.first_bucket + tile.bucket;
    const unsigned first = job.source->firsts[bucket] + (index - tile.tile_firsts[tile.bucket]) * Shape::size;
    left = int(min(job.source->firsts[bucket + 1] - first, unsigned(Shape::size))) - int(threadIdx.x);
    const std::uint32_t* const own = job.from + first + threadIdx.x;
#pragma unroll
    for (int row = 0; row < Shape::items; ++row) {
      keys[row] = has(row) ? own[row * Shape::threads] : 0;
    }
  }

  template <class Transform>
  __device__ void transform_keys(Transform transform) {
#pragma unroll
    for (int row = 0; row < Shape::items; ++row) keys[row] = transform.forward(keys[row]);
  }
};

/// How the lanes of a warp claim places in the bins. Crowded: many lanes have the digit of lane 0, which claims for all
/// of them, because lanes that add to the same counter wait for each other.
enum class Lanes { apart, crowded };

/// Calls f(row, claim) for the thread's keys, where claim(counters, bin) returns a place: Core::place<Lanes::apart>
/// or, if the warp's first row is crowded, as in keys that are nearly in order, Core::place<Lanes::crowded>. The latter
/// is used only for a whole tile, because all lanes of the warp call it. Core::place<lanes>(counters, bin) adds 1 to
/// counters[bin], in shared memory, and returns the old value, in any order of the lanes. first_bin: the bin of the
/// thread's first key.
template <class Core, class Shape, class F>
__device__ void for_each_row(const PartitionItems<Shape>& items, unsigned first_bin, F f) {
  const bool whole = __all_sync(0xffffffffu, items.has(Shape::items - 1));
  if (whole && __popc(lanes_as_lane_0(first_bin)) >= crowded_lanes) {
#pragma unroll
    for (int row = 0; row < Shape::items; ++row) {
      f(row, [](unsigned* counters, unsigned bin) { return Core::template place<Lanes::crowded>(counters, bin); });
    }
  } else {
#pragma unroll
    for (int row = 0; row < Shape::items; ++row) {
      if (!items.has(row)) continue;
      f(row, [](unsigned* counters, unsigned bin) { return Core::template place<Lanes::apart>(counters, bin); });
    }
  }
}

}  // namespace radix

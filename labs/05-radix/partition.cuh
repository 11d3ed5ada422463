// A partition of step 06 moves the keys of each bucket to smaller buckets, by their next digit. No order has to be kept
// within a bucket, so no tile looks back. Instead, it reserves places in each bucket with one atomic.
// Source: E. Stehle and H.-A. Jacobsen, "A memory bandwidth-efficient hybrid radix sort on GPUs", SIGMOD 2017.
#pragma once

#include "bucket_plan.h"
#include "scan.cuh"
#include "step/device.h"

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
// memory and registers allow. The small one is for few keys, which would not give every multiprocessor a large tile: of
// 65,536 keys, a block of 16 multiprocessors still has two.
using LargePartition = PartitionShape<1024, 32, 1>;
using SmallPartition = PartitionShape<512, 4, 1>;

/// One partition: of `buckets` buckets of `source`, by `digit`. To has 16 bits if the others are those of the bucket.
template <class To, class Key>
struct PartitionJob {
  const std::uint32_t* from;
  To* to;
  KeyTransform<Key> transform;
  PartitionDigit digit;
  int buckets;
  const PartitionSource* source;  ///< in device memory
  unsigned* cursors;              ///< cursors[bucket * bins + digit]: where the next key goes, in device memory
};

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
      tile_firsts[b] = job.source->tile_firsts[b];
    }
    if (t < byte_values) counts[t] = 0;
  }

  /// Finds the bucket of a tile. After the next barrier, all threads may read it.
  __device__ void find_bucket(unsigned tile, int buckets) {
    const int b = threadIdx.x;
    if (b < buckets && tile_firsts[b] <= tile && tile < tile_firsts[b + 1]) bucket = b;
  }

  /// Stores the tile's `count` keys, digit by digit in runs.
  template <class To, class Key>
  __device__ void store_runs(const PartitionJob<To, Key>& job, int count) const {
#pragma unroll
    for (int row = 0; row < Shape::items; ++row) {
      const int i = row * Shape::threads + threadIdx.x;
      if (i >= count) break;
      const std::uint32_t key = keys[i];
      job.to[offsets[job.digit.of(key)] + i] = To(key);
    }
  }
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
    bucket = tile.bucket;
    const unsigned first = job.source->firsts[bucket] + (index - tile.tile_firsts[bucket]) * Shape::size;
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

/// True if the kernels have room for large tiles, and for the counters of as many buckets as there may be.
inline bool has_room_for_large_tiles() {
  const lab::Device& device = lab::Device::current();
  return device.fits<PartitionTile<LargePartition>>() &&
         device.shared_bytes_per_block >= bucket_plan_shared_bytes(max_bucket_bits) + 1024;
}

/// True if n keys are enough for partitions. With fewer, it would take more than 2 % of the time of step 05 to find out
/// that they are not spread. That takes the same time for any n.
inline bool suits_large_tiles(std::int64_t n) {
  return has_room_for_large_tiles() && n >= std::int64_t{1} << 26 && n <= std::int64_t{1} << 30;
}

/// True for few keys on a CPU, or on a GPU without room for large tiles, so that all builds run the kernels. How fast
/// they are there has not been measured.
inline bool suits_small_tiles(std::int64_t n) {
  const bool is_small = lab::Device::current().cache_bytes == 0 || !has_room_for_large_tiles();
  return is_small && n >= 2 * samples && n <= 8 * samples;
}

}  // namespace radix

// The plan of step 06's partitions: one read counts the keys of each bucket, that is, of each value of the highest
// bits. The counts show where each bucket begins, and whether partitions are needed and will work. They are not needed
// for keys in order, and do not work for keys that are unevenly distributed. bucket_plan.cu makes the plan.
#pragma once

#include <cstdint>

#include "key_transform.cuh"

namespace radix {

/// The bits of a transformed key that one partition looks at: bins() values of them, from bit `shift` on.
struct PartitionDigit {
  int shift, bits;

  LAB_HOST_DEVICE int bins() const { return 1 << bits; }
  LAB_HOST_DEVICE unsigned of(std::uint32_t key) const { return key >> shift & ((1u << bits) - 1); }
};

/// The buckets that a partition starts from, and their tiles: bucket b has the keys firsts[b] ... firsts[b + 1] - 1 and
/// the tiles tile_firsts[b] ... tile_firsts[b + 1] - 1.
struct PartitionSource {
  unsigned firsts[byte_values + 1];
  unsigned tile_firsts[byte_values + 1];
};

/// What the partitions of one sort need to know. All 0 at the start.
struct BucketPlan {
  unsigned out_of_order;                ///< not 0 if some key belongs before the one to its left
  unsigned zeros;                       ///< 1 if some key is -0, 2 if some key is +0, 3 for both
  unsigned unsorted;                    ///< not 0 if partitions cannot sort the keys
  unsigned active;                      ///< 1 if the keys are to be partitioned, 0 if they are in order, or unsorted
  unsigned first_cursors[byte_values];  ///< where the first partition puts the next key of a bin
  PartitionSource first, second;

  /// Where the buckets of the second partition divide into two halves.
  __device__ unsigned middle() const { return second.firsts[byte_values / 2]; }
};

/// How the keys are divided into buckets, and what a bucket may hold.
struct BucketLimits {
  PartitionDigit first, second;  ///< a bucket's index consists of both digits
  unsigned max_bucket;           ///< keys in a bucket that one block can sort
  int tile_size;                 ///< keys in a tile of a partition

  LAB_HOST_DEVICE int bits() const { return first.bits + second.bits; }
};

/// What a thread has seen of the keys, besides their digits.
struct Seen {
  bool out_of_order = false;
  unsigned zeros = 0;  ///< as in BucketPlan
};

/// The shared memory in which a block counts the keys of 2^bits buckets.
inline int bucket_counter_bytes(int bits) { return 2 << bits; }

/// Queues the kernels that count the keys of each bucket and fill `plan`, which is in device memory and all 0. `counts`
/// has 2^limits.bits() elements, all 0, and receives the position of each bucket's first key. If a bucket is larger
/// than limits.max_bucket, plan->unsorted is set. Key: uint32_t, float.
template <class Key>
void make_bucket_plan(lab::Span<const std::uint32_t> keys, KeyTransform<Key> transform, BucketLimits limits,
                      BucketPlan* plan, unsigned* counts, cudaStream_t stream);

}  // namespace radix

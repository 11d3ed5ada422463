// The plan of step 06. A sample of the keys shows whether they are spread, that is, whether partitions can sort them.
// If they are, one read counts the keys of each bucket, whose index is the highest bits. The counts show where each
// bucket begins. bucket_plan.cu makes the plan.
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

/// What the partitions of one sort need to know.
struct alignas(16) BucketPlan {
  unsigned is_spread;                   ///< not 0 if a sample of the keys seems uniform
  unsigned rejected;                    ///< not 0 if partitions cannot sort the keys all the same
  unsigned zeros;                       ///< 1 if some key is -0, 2 if some key is +0, 3 for both
  unsigned blocks_done;                 ///< blocks that have added their counters
  unsigned first_cursors[byte_values];  ///< where the first partition puts the next key of a bin
  PartitionSource first, second;

  /// The counters of the buckets, in memory behind the plan: where the next key of each goes, and at last where it ends.
  unsigned* ends() { return reinterpret_cast<unsigned*>(this + 1); }
};

/// How the keys are divided into buckets, and what a bucket may hold.
struct BucketLimits {
  PartitionDigit first, second;  ///< a bucket's index consists of both digits
  unsigned max_bucket;           ///< keys in a bucket that one block can sort
  int tile_size;                 ///< keys in a tile of a partition

  LAB_HOST_DEVICE int bits() const { return first.bits + second.bits; }
};

/// The buckets of n keys: at least 256 of them, and as many as it takes for a block to sort each.
template <class Partition, class Bucket>
BucketLimits limits_for(std::int64_t n) {
  int bits = 8;
  while (n > std::int64_t(Bucket::target_fill) << bits) ++bits;
  const int first = bits / 2, second = bits - first;
  return {.first = {32 - first, first},
          .second = {32 - bits, second},
          .max_bucket = Bucket::capacity,
          .tile_size = Partition::size};
}

/// There are at most 2^16 buckets. Their counters just fit into the shared memory of a block.
inline constexpr int max_bucket_bits = 16;

/// A sample has this many keys, and there must be twice as many.
inline constexpr int samples = 8192;

/// The dynamic shared memory of a block that looks at a sample, for 2^bits buckets. A block that counts all keys needs
/// less.
int bucket_plan_shared_bytes(int bits);

/// Queues the kernel that looks at a sample of the keys. plan->is_spread becomes 1 if partitions can probably sort them,
/// else 0. It does not use the rest of the plan. Key: uint32_t, float.
template <class Key>
void look_at_sample(lab::Span<const std::uint32_t> keys, KeyTransform<Key> transform, BucketLimits limits,
                    BucketPlan* plan, cudaStream_t stream);

/// Queues the kernel that fills `plan`, which is in device memory and all 0. `counts` has 2^limits.bits() elements, all
/// 0, and receives the position of each bucket's first key. If a bucket is larger than limits.max_bucket, or both -0 and
/// +0 are among the keys, plan->rejected becomes 1. Key: uint32_t, float.
template <class Key>
void make_bucket_plan(lab::Span<const std::uint32_t> keys, KeyTransform<Key> transform, BucketLimits limits,
                      BucketPlan* plan, unsigned* counts, cudaStream_t stream);

}  // namespace radix

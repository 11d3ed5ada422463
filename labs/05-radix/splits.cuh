// The way of step 05 for many keys of 4 bytes without values: split them by their highest bits until each bucket fits
// into one block. Fewer trips through memory than four passes by a byte each, but only for keys that are spread evenly.
#pragma once

#include "bucket_sort.cuh"
#include "few_values.cuh"
#include "one_tile.cuh"
#include "split.cuh"

namespace radix {

/// Whether the splits sort keys of this type: those of 32 bits without values, whose positions in an array of n keys fit
/// into a Word. The splits are not stable, which nobody can notice if equal keys have no values.
template <class Word, class Key, class Value>
inline constexpr bool can_be_split = sizeof(Key) == 4 && sizeof(Word) == 4 && !has_values<Value>;

/// What one sort by splits keeps in device memory. All 0 at the start.
struct SplitsPlan {
  BucketPlan buckets;
  FewValues values;
};

/// By how many bits each of the two splits divides n keys.
struct BucketBits {
  int first, second;

  /// `usual`: how many keys a bucket should have at most on average.
  BucketBits(std::int64_t n, int usual) {
    int bits = 8;
    while (n > std::int64_t(usual) << bits) ++bits;
    first = bits / 2;
    second = bits - first;
  }
  int both() const { return first + second; }
};

/// The shapes of the kernels for one range of n. HeavyTile: a tile that holds the largest bucket.
template <class TheSplit, class TheBucket, class HeavyTileShape>
struct SplitShapes {
  using Split = TheSplit;
  using BucketShape = TheBucket;
  using HeavyTile = Tile<HeavyTileShape, std::uint32_t, std::uint32_t, NoValue>;
  static_assert(HeavyTile::size >= BucketShape::capacity);

  static BucketBits bits(std::int64_t n) { return {n, BucketShape::usual}; }

  static bool suit(std::int64_t n, const Device& device) {
    constexpr int other_bytes = 1024;  // of the kernel that counts, beside its counters
    return bits(n).both() <= 16 &&
           device.shared_bytes_per_block >= bucket_counter_bytes(bits(n).both()) + other_bytes &&
           device.fits<SplitTile<Split>>() && device.fits<Bucket<BucketShape>>() && device.fits<HeavyTile>();
  }
};

/// Sorts by splits where they suit the keys.
class Splits {
 public:
  /// Queues the sort of n keys in `home`, if they are enough.
  template <class Key>
  void sort(std::uint32_t* home, std::uint32_t* scratch, std::int64_t n, Coding<Key> coding, const Device& device,
            cudaStream_t stream) {
    using Few = SplitShapes<SmallSplit, SmallBucket, MediumTile>;
    using Many = SplitShapes<LargeSplit, SmallBucket, MediumTile>;
    using Most = SplitShapes<LargeSplit, LargeBucket, OneTile>;
    if (!device.fits<SplitTile<LargeSplit>>()) {
      // On such devices splits have not been measured. This range lets every build run them.
      if (n > SmallSplit::size && n <= 8 * SmallSplit::size && Few::suit(n, device)) {
        queue<Few>(home, scratch, n, coding, device, stream);
      }
      return;
    }
    // For fewer keys, the launches of all these kernels take longer than passes.
    const std::int64_t resident = device.resident_keys<SplitTile<LargeSplit>>();
    if (n >= resident && Many::suit(n, device)) {
      queue<Many>(home, scratch, n, coding, device, stream);
    } else if (n >= resident && Most::suit(n, device)) {
      queue<Most>(home, scratch, n, coding, device, stream);
    } else if (n >= resident / 2 && Few::suit(n, device)) {
      queue<Few>(home, scratch, n, coding, device, stream);
    }
  }

  /// Where in device memory it says whether the keys are still as they were. Null: nothing has been queued.
  const unsigned* skewed() const { return plan_.data() == nullptr ? nullptr : &plan_.data()->buckets.skewed; }

 private:
  template <class Shapes, class Key>
  void queue(std::uint32_t* home, std::uint32_t* scratch, std::int64_t n, Coding<Key> coding, const Device& device,
             cudaStream_t stream);

  lab::DeviceArray<SplitsPlan> plan_;
  lab::DeviceArray<unsigned> counts_;  ///< of the buckets; then where each ends
  lab::DeviceArray<unsigned> heavy_;   ///< numbers of buckets
};

template <class Shapes, class Key>
void Splits::queue(std::uint32_t* home, std::uint32_t* scratch, std::int64_t n, Coding<Key> coding,
                   const Device& device, cudaStream_t stream) {
  using Split = typename Shapes::Split;
  using BucketShape = typename Shapes::BucketShape;
  using HeavyTile = typename Shapes::HeavyTile;
  const BucketBits bits = Shapes::bits(n);
  const int buckets = 1 << bits.both();
  plan_ = lab::DeviceArray<SplitsPlan>(1, stream);
  counts_ = lab::DeviceArray<unsigned>(buckets, stream);
  heavy_ = lab::DeviceArray<unsigned>(buckets, stream);
  BucketPlan* const plan = &plan_.data()->buckets;
  CUDA_CHECK(cudaMemsetAsync(plan_.data(), 0, sizeof(SplitsPlan), stream));
  CUDA_CHECK(cudaMemsetAsync(counts_.data(), 0, buckets * sizeof(unsigned), stream));

  const SplitDigit first{32 - bits.first, bits.first}, second{32 - bits.both(), bits.second};
  make_bucket_plan({home, n}, coding, first, second, BucketShape::capacity, Split::size, plan, counts_.data(), device,
                   stream);
  const Coding<std::uint32_t> coded(lab::Order::ascending);  // of keys that are codes already
  split_buckets<Split>(home, scratch, n, coding, first, 1, &plan->first, plan, plan->first_cursors, device, stream);
  split_buckets<Split>(scratch, home, n, coded, second, first.bins(), &plan->second, plan, counts_.data(), device,
                       stream);
  constexpr std::size_t bytes = sizeof(Bucket<BucketShape>), heavy_bytes = sizeof(HeavyTile);
  allow_shared_memory(detail::sort_buckets<BucketShape, Key>, bytes);
  detail::sort_buckets<BucketShape><<<buckets, BucketShape::threads, bytes, stream>>>(
      home, coding, bits.both(), counts_.data(), plan, heavy_.data());
  CUDA_CHECK(cudaGetLastError());
  const unsigned heavy_blocks = unsigned(device.resident_keys<HeavyTile>() / HeavyTile::size);
  allow_shared_memory(sort_heavy_buckets<HeavyTile, Key>, heavy_bytes);
  sort_heavy_buckets<HeavyTile><<<heavy_blocks, HeavyTile::Shape::threads, heavy_bytes, stream>>>(
      home, coded, coding, bits.both(), counts_.data(), plan, heavy_.data());
  CUDA_CHECK(cudaGetLastError());
  // For fewer keys, the launches take longer than the passes that they spare.
  if (n >= device.resident_keys<SplitTile<LargeSplit>>()) {
    sort_few_values({home, n}, coding, &plan_.data()->values, &plan->skewed, device, stream);
  }
}

}  // namespace radix

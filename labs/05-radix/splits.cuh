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

/// The shapes of the kernels for one range of n.
template <class TheSplit, class TheBucket>
struct SplitShapes {
  using Split = TheSplit;
  using BucketShape = TheBucket;
  using HeavyTile = BucketTile<BucketShape>;

  static BucketBits bits(std::int64_t n) { return {n, BucketShape::usual}; }

  static bool suit(std::int64_t n, const Device& device) {
    constexpr int other_bytes = 1024;  // of the kernel that counts, beside its counters
    return bits(n).both() <= 16 &&
           device.shared_bytes_per_block >= bucket_counter_bytes(bits(n).both()) + other_bytes &&
           device.fits<SplitTile<Split>>() && device.fits<Bucket<BucketShape>>() && device.fits<HeavyTile>();
  }
};

namespace {

/// Sorts bucket number blockIdx.x of its half. Buckets end at ends[0], ends[1], and so on. `coded`: the coding of keys
/// that are codes already.
template <class Shape, class From, class Key>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks_per_multiprocessor)
    sort_buckets(Place<From> from, std::uint32_t* keys, Coding<std::uint32_t> coded, Coding<Key> coding,
                 int bucket_bits, const unsigned* ends, const BucketPlan* plan) {
  extern __shared__ uint4 shared_memory[];
  if (plan->splits == 0) return;
  const bool upper = from.half == Half::upper;
  const unsigned number = blockIdx.x + (upper ? gridDim.x : 0);
  const unsigned first = blockIdx.x != 0 ? ends[number - 1] : upper ? plan->middle() : 0;
  const int count = int(ends[number] - first);
  if (count == 0) return;
  const From* const codes = from.data + from.offset(*plan) + first;
  const std::uint32_t highest = sizeof(From) == 2 ? number << 16 : 0;
  auto& bucket = *reinterpret_cast<Bucket<Shape>*>(shared_memory);
  if (!detail::sort_bucket(bucket, codes, highest, keys + first, count, coding, bucket_bits)) {
    sort_heavy_bucket<BucketTile<Shape>>(codes, highest, keys + first, count, 32 - bucket_bits, coded, coding);
  }
}

}  // namespace

/// Sorts by splits where they suit the keys.
class Splits {
 public:
  /// Queues the sort, if the keys are enough. Then returns where in device memory it says whether they are still as they
  /// were; else null. `plan`: all 0.
  template <class Key>
  const unsigned* sort(lab::Span<std::uint32_t> keys, std::uint32_t* scratch, Coding<Key> coding, SplitsPlan* plan,
                       const Device& device, cudaStream_t stream) {
    const std::int64_t n = keys.n;
    using Few = SplitShapes<SmallSplit, SmallBucket>;
    using Many = SplitShapes<LargeSplit, SmallBucket>;
    using Most = SplitShapes<LargeSplit, LargeBucket>;
    if (!device.fits<SplitTile<LargeSplit>>()) {
      // On such devices splits have not been measured. This range lets every build run them.
      if (n > SmallSplit::size && n <= 8 * SmallSplit::size && Few::suit(n, device)) {
        return queue<Few>(keys, scratch, coding, plan, device, stream);
      }
      return nullptr;
    }
    // Fewer keys are sorted by one split or in one tile: the launches of all these kernels would take longer.
    const std::int64_t resident = device.resident_keys<SplitTile<LargeSplit>>();
    if (n >= resident && Many::suit(n, device)) return queue<Many>(keys, scratch, coding, plan, device, stream);
    if (n >= resident && Most::suit(n, device)) return queue<Most>(keys, scratch, coding, plan, device, stream);
    if (n >= resident / 2 && Few::suit(n, device)) return queue<Few>(keys, scratch, coding, plan, device, stream);
    return nullptr;
  }

  /// The same with given shapes, for any n that they suit.
  template <class Shapes, class Key>
  const unsigned* queue(lab::Span<std::uint32_t> keys, std::uint32_t* scratch, Coding<Key> coding, SplitsPlan* plan,
                        const Device& device, cudaStream_t stream);

 private:
  lab::DeviceArray<unsigned> counts_;  ///< of the buckets; then where each ends
};

template <class Shapes, class Key>
const unsigned* Splits::queue(lab::Span<std::uint32_t> keys, std::uint32_t* scratch, Coding<Key> coding,
                              SplitsPlan* splits_plan, const Device& device, cudaStream_t stream) {
  using Split = typename Shapes::Split;
  using BucketShape = typename Shapes::BucketShape;
  std::uint32_t* const home = keys.data;
  const std::int64_t n = keys.n;
  const BucketBits bits = Shapes::bits(n);
  const int buckets = 1 << bits.both();
  counts_ = lab::DeviceArray<unsigned>(buckets, stream);
  BucketPlan* const plan = &splits_plan->buckets;
  CUDA_CHECK(cudaMemsetAsync(counts_.data(), 0, buckets * sizeof(unsigned), stream));

  const SplitDigit first{32 - bits.first, bits.first}, second{32 - bits.both(), bits.second};
  make_bucket_plan({home, n}, coding, first, second, BucketShape::capacity, Split::size, plan, counts_.data(), device,
                   stream);
  const Coding<std::uint32_t> coded(lab::Order::ascending);  // of keys that are codes already
  split_buckets<Split>(home, Place<std::uint32_t>{scratch, Half::none}, n, coding, first, 0, 1, &plan->first, plan,
                       plan->first_cursors, device, stream);
  // The second split, whose codes go to `to`, and the sort of its buckets.
  const auto finish = [&](auto to, int first_bucket, int first_buckets) {
    using To = std::remove_pointer_t<decltype(to.data)>;
    split_buckets<Split>(scratch, to, n, coded, second, first_bucket, first_buckets, &plan->second, plan,
                         counts_.data(), device, stream);
    constexpr std::size_t bytes = std::max(sizeof(Bucket<BucketShape>), sizeof(typename Shapes::HeavyTile));
    allow_shared_memory<sort_buckets<BucketShape, To, Key>>(bytes, device);
    sort_buckets<BucketShape><<<first_buckets << bits.second, BucketShape::threads, bytes, stream>>>(
        to, home, coded, coding, bits.both(), counts_.data(), plan);
    CUDA_CHECK(cudaGetLastError());
  };
  if (bits.both() == 16) {
    // The number of a bucket says the highest 16 bits of its keys, so only the others need be stored.
    finish(Place<std::uint16_t>{reinterpret_cast<std::uint16_t*>(home), Half::upper}, byte_values / 2, byte_values / 2);
    finish(Place<std::uint16_t>{reinterpret_cast<std::uint16_t*>(scratch), Half::lower}, 0, byte_values / 2);
  } else {
    finish(Place<std::uint32_t>{home, Half::none}, 0, first.bins());
  }
  sort_few_values(keys, coding, &splits_plan->values, &plan->skewed, device, stream);
  return &plan->skewed;
}

}  // namespace radix

// The buckets of step 03, and where their keys are after the first round trip.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "slots.h"

namespace beyond {

inline constexpr int bucket_count = 256, max_splitters = 127;
inline constexpr std::int64_t samples_per_bucket = 64;

/// Divides keys into 2 n + 1 buckets: bucket 2 i + 1 holds the keys equal to splitter i, and bucket 2 i those between
/// splitters i - 1 and i. A bucket with an odd number therefore needs no sort, however many keys it holds.
struct Splitters {
  int n = 0;
  std::uint32_t bits[max_splitters] = {};  ///< in ascending order, all different; inverted for descending order

  int buckets() const { return 2 * n + 1; }
};

/// Chooses splitters so that the buckets between them have about `wanted` keys each, if max_splitters are enough for
/// that. They come from a sample, which has one key from an unpredictable place in each of many parts of equal size. A
/// sample at equal distances would be misled by keys that repeat at such a distance. There are samples_per_bucket of
/// them between two splitters, so the size of a bucket has a standard deviation of about an eighth of the average. Any
/// bucket has fewer keys than there are in all, because a splitter is a key.
inline Splitters choose_splitters(Keys keys, std::int64_t wanted, std::uint32_t inversion) {
  const std::int64_t n = std::clamp<std::int64_t>(keys.n / wanted, 1, max_splitters);
  const std::int64_t samples = std::min(keys.n, samples_per_bucket * (n + 1));
  std::vector<std::uint32_t> sample(samples);
  std::uint64_t random = 1;
  for (std::int64_t i = 0; i < samples; ++i) {
    random = random * 6364136223846793005u + 1442695040888963407u;  // D. E. Knuth's MMIX generator
    const std::int64_t begin = i * keys.n / samples, length = (i + 1) * keys.n / samples - begin;
    sample[i] = keys.data[begin + std::int64_t((random >> 33) % std::uint64_t(length))] ^ inversion;
  }
  std::sort(sample.begin(), sample.end());
  Splitters splitters;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint32_t bits = sample[(i + 1) * samples / (n + 1)];
    if (splitters.n == 0 || splitters.bits[splitters.n - 1] != bits) splitters.bits[splitters.n++] = bits;
  }
  return splitters;
}

/// Consecutive keys in host memory.
struct Chunk {
  const std::uint32_t* data;
  std::int64_t n;
};

/// Where the keys of a bucket are gathered: with those of the bucket before, if they equal a splitter and are few. Its
/// sort puts them behind its own keys, where they belong. In a slot of their own, they would keep larger buckets waiting.
inline std::size_t gathered_with(std::size_t bucket, const std::vector<std::int64_t>& sizes, std::int64_t capacity) {
  const bool few = bucket % 2 == 1 && sizes[bucket] <= capacity / 64 && sizes[bucket - 1] + sizes[bucket] <= capacity;
  return few ? bucket - 1 : bucket;
}

/// A bucket's keys, one chunk per piece that was copied out.
class Chunks {
 public:
  void add(const std::uint32_t* data, std::int64_t n) {
    if (n == 0) return;
    if (!chunks_.empty() && chunks_.back().data + chunks_.back().n == data) {
      chunks_.back().n += n;
    } else {
      chunks_.push_back({data, n});
    }
    size_ += n;
  }

  std::int64_t size() const { return size_; }  ///< the number of keys, including those that have been copied

  /// Queues the copies of the next n keys to the device, in one batch.
  void copy_next(std::uint32_t* device, std::int64_t n, cudaStream_t stream) {
    Copies copies;
    while (n > 0) {
      Chunk& chunk = chunks_[taken_];
      const std::int64_t count = std::min(n, chunk.n);
      copies.add(device, chunk.data, count);
      device += count;
      n -= count;
      chunk.data += count;
      chunk.n -= count;
      if (chunk.n == 0) ++taken_;
    }
    copy_in(copies, stream);
  }

 private:
  std::vector<Chunk> chunks_;
  std::size_t taken_ = 0;
  std::int64_t size_ = 0;
};

}  // namespace beyond

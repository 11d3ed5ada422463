// Step 04's parts that do not depend on how keys travel from one GPU to another. The graded step, the program that runs
// on several GPUs and the simulation all call these functions.
//
// n keys are divided among `gpus` GPUs. The share of GPU g begins at key share_begin(n, gpus, g) of all, and the GPU
// sorts it. Below, "key" means the bits that compare in ascending order (inverted for descending order), and a key's
// index is where its share begins, plus its position in the sorted share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "beyond.h"

namespace beyond {

inline constexpr int max_gpus = 4096;

/// Where GPU `gpu`'s share begins. The shares' sizes differ by at most one key.
inline std::int64_t share_begin(std::int64_t n, int gpus, int gpu) { return n / gpus * gpu + n % gpus * gpu / gpus; }

/// A key and its index. No two of them are equal, so splitters divide equal keys, too.
struct Splitter {
  std::uint32_t bits;
  std::int64_t index;

  bool operator<(const Splitter& other) const { return bits != other.bits ? bits < other.bits : index < other.index; }
};

/// How many keys of its share each GPU sends as a sample: enough that the fullest share exceeds the average by at most
/// 10 %, for any keys. Up to 100 GPUs this is certain, beyond that its probability of failure is below 10^-9.
/// Why: s samples are w = share / s keys apart in the sorted share. Of the keys between two splitters, each GPU has
/// fewer than (its samples between them + 1) w, and all GPUs together have s samples there. Together they have fewer
/// than (s + gpus) w keys, which is 1 + gpus / s times a share: with 1024 samples at most 1.1 for 100 GPUs. (Regular
/// sampling: H. Shi and J. Schaeffer, "Parallel sorting by regular sampling", 1992.) But the errors of many GPUs rarely
/// add up. Each GPU draws the place of its first sample at random, so its error is less than w and 0 on average. By
/// Hoeffding's inequality, the sum of the errors at one of 2 gpus boundaries exceeds t w with probability at most
/// exp(-2 t^2 / gpus). With t = s / 20, which is 5 % of a share, and s^2 = 6000 gpus, this is exp(-30).
inline std::int64_t samples_per_share(int gpus) {
  std::int64_t samples = 1024;
  while (samples * samples < 6000 * std::int64_t{gpus}) ++samples;
  return samples;
}

/// A random number for each GPU. Source: SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", 2014).
inline std::uint64_t random_of(int gpu) {
  std::uint64_t x = (std::uint64_t(gpu) + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// Where the samples of a GPU are in its sorted share of n keys.
struct SamplePlaces {
  std::int64_t n, count, offset;

  SamplePlaces(std::int64_t n, int gpus, int gpu)
      : n(n),
        count(std::min(n, samples_per_share(gpus))),
        offset(n == 0 ? 0 : std::int64_t(random_of(gpu) % std::uint64_t(n))) {}

  LAB_HOST_DEVICE std::int64_t operator[](std::int64_t i) const { return (i * n + offset) / count; }
};

/// The samples of a sorted share in device memory; `first` is the index of its first key. Waits for the stream.
std::vector<Splitter> sample_share(lab::Span<const std::uint32_t> share, std::int64_t first, int gpus, int gpu,
                                   lab::Order order, cudaStream_t stream);

/// gpus - 1 splitters in ascending order, from the samples of all shares in any order: GPU g gets the keys from
/// splitter g - 1 on that precede splitter g.
std::vector<Splitter> splitters_from(std::vector<Splitter> samples, int gpus);

/// Where the keys for each GPU begin in a sorted share: those for GPU g are share[begins[g]] up to
/// share[begins[g + 1] - 1]. `begins` has gpus + 1 numbers. Waits for the stream.
std::vector<std::int64_t> find_begins(lab::Span<const std::uint32_t> share, std::int64_t first,
                                      const std::vector<Splitter>& splitters, lab::Order order, cudaStream_t stream);

/// What one GPU sends and receives: the keys send_begins[to] ... send_begins[to + 1] - 1 of its share go to GPU `to`,
/// and those from GPU `from` are at receive_begins[from] ... receive_begins[from + 1] - 1 afterwards.
struct ExchangePlan {
  std::vector<std::int64_t> send_begins, receive_begins;

  std::int64_t received() const { return receive_begins.back(); }
};

/// GPU `gpu`'s part of the exchange. counts[from * gpus + to]: how many keys GPU `from` has for GPU `to`.
ExchangePlan plan_exchange(const std::vector<std::int64_t>& counts, int gpus, int gpu);

}  // namespace beyond

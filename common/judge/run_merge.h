// Merging sorted runs from one file into another, with as many workers as overlap the disk and the processors.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "judge/key_file.h"
#include "step/keys.h"

namespace lab {

/// Consecutive sorted runs of u32 keys in a file. All have `length` keys, except for the last, which may have
/// fewer. `samples`: of each run keys 0, stride, 2 stride, ...
struct Runs {
  const KeyFile& file;
  Order order;
  std::int64_t keys;
  std::int64_t length;
  std::int64_t stride;
  std::vector<std::vector<std::uint32_t>> samples;

  std::int64_t count() const { return std::int64_t(samples.size()); }
  std::int64_t begin(std::int64_t run) const { return run * length; }
  std::int64_t size(std::int64_t run) const { return std::min(length, keys - begin(run)); }
};

/// Takes samples of the run that is appended next.
void add_samples(Runs& runs, const std::uint32_t* keys, std::int64_t n);

/// Examines keys on their way to a file. Two parts that follow each other are joined with join().
class WrittenKeys {
 public:
  WrittenKeys(Order order, std::uint64_t hash_seed) : order_(order), seed_(hash_seed) {}

  /// Errors: lab::Unavailable if the keys are not in order, among themselves or after those before.
  void add(const std::uint32_t* keys, std::int64_t n);
  void join(const WrittenKeys& next);

  std::uint64_t multiset() const { return multiset_; }  ///< that of hash_of() with this seed
  std::int64_t count() const { return count_; }

 private:
  void require(bool in_order) const;

  Order order_;
  std::uint64_t seed_;
  std::uint64_t multiset_ = 0;
  std::int64_t count_ = 0;
  std::uint32_t first_ = 0, last_ = 0;  // if there is one
};

/// How much memory a merge takes: every worker has a block per run, and one for what it writes.
struct MergeShape {
  int workers;
  std::int64_t block;  ///< keys
};

/// Where part t begins in each run, for t from 0 to `parts`: part t has the keys from row t up to row t + 1. The keys
/// of a part precede those of the next, and parts have about the same size, whatever the keys are.
/// Source: regular sampling, H. Shi and J. Schaeffer, "Parallel sorting by regular sampling", 1992.
std::vector<std::vector<std::int64_t>> divide(const Runs& runs, int parts);

/// Merges the runs into `output`. `written` counts keys that have been written, while the merge works, and `meanwhile`
/// is called now and then. Returns what was written; every key has been examined.
WrittenKeys merge(const Runs& runs, KeyFile& output, MergeShape shape, std::uint64_t hash_seed,
                  std::atomic<std::int64_t>& written, const std::function<void()>& meanwhile);

}  // namespace lab

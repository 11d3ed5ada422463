#include "judge/run_merge.h"

#include <algorithm>
#include <compare>
#include <functional>
#include <numeric>

#include "judge/errors.h"
#include "judge/random.h"
#include "judge/workers.h"

namespace lab {
namespace {

constexpr std::int64_t key_size = sizeof(std::uint32_t);

// The bits to invert in every key, so that it compares in ascending order.
std::uint32_t inversion_of(Order order) { return order == Order::ascending ? 0u : ~0u; }

// A sample, with its place. In the order of these no two keys of the file are equal, so equal keys can be divided, too.
struct Splitter {
  std::uint32_t bits;  ///< inverted for descending order
  std::int64_t run, at;

  auto operator<=>(const Splitter&) const = default;
};

// How many keys of a run precede the splitter. Two samples enclose the place, so one read finds it.
std::int64_t keys_before(const Runs& runs, std::int64_t run, const Splitter& splitter) {
  if (run == splitter.run) return splitter.at;
  const std::uint32_t inversion = inversion_of(runs.order);
  const auto precedes = [&](std::uint32_t key) {
    const std::uint32_t bits = key ^ inversion;
    return bits < splitter.bits || (bits == splitter.bits && run < splitter.run);
  };
  const std::vector<std::uint32_t>& samples = runs.samples[run];
  const std::int64_t samples_before = std::partition_point(samples.begin(), samples.end(), precedes) - samples.begin();
  if (samples_before == 0) return 0;
  const std::int64_t first = (samples_before - 1) * runs.stride + 1;
  std::vector<std::uint32_t> keys(std::min(runs.stride - 1, runs.size(run) - first));
  runs.file.read((runs.begin(run) + first) * key_size, keys.data(), std::ssize(keys) * key_size);
  return first + (std::partition_point(keys.begin(), keys.end(), precedes) - keys.begin());
}

// How many keys of a block that begins at key `at` of a file are moved at a time: the first time so few that the next
// block begins with a page, as it does in memory.
std::int64_t to_page_end(std::int64_t at, std::int64_t keys) {
  constexpr std::int64_t page = page_size / key_size;
  return at % page == 0 ? keys : std::min(keys, page - at % page);
}

// A worker's part of a run, of which one block is in memory.
class Part {
 public:
  Part(const KeyFile& file, std::int64_t begin, std::int64_t end, std::int64_t block)
      : file_(file), next_(begin), end_(end), block_(block), keys_(new_key_block(std::min(block, end - begin))) {}

  bool take(std::uint32_t& key) {
    if (at_ == filled_ && !read_block()) return false;
    key = keys_[at_++];
    return true;
  }

 private:
  bool read_block() {
    filled_ = to_page_end(next_, std::min(block_, end_ - next_));
    at_ = 0;
    file_.read(next_ * key_size, keys_.get(), filled_ * key_size);
    next_ += filled_;
    return filled_ > 0;
  }

  const KeyFile& file_;
  std::int64_t next_, end_, block_;  // keys of the file
  std::int64_t at_ = 0, filled_ = 0;
  KeyBlock keys_;
};

// The smallest of the parts' next keys, by the standard library's heap: the disk is slower. An entry is a key, inverted
// for descending order, with its run's number in the lower half.
class NextKeys {
 public:
  NextKeys(std::vector<Part> parts, std::uint32_t inversion) : parts_(std::move(parts)), inversion_(inversion) {
    for (std::uint32_t run = 0; run < parts_.size(); ++run) add_from(run);
  }

  std::uint32_t take() {
    std::pop_heap(entries_.begin(), entries_.end(), std::greater<>());
    const std::uint64_t entry = entries_.back();
    entries_.pop_back();
    add_from(std::uint32_t(entry));
    return std::uint32_t(entry >> 32) ^ inversion_;
  }

 private:
  void add_from(std::uint32_t run) {
    std::uint32_t key;
    if (!parts_[run].take(key)) return;
    entries_.push_back(std::uint64_t{key ^ inversion_} << 32 | run);
    std::push_heap(entries_.begin(), entries_.end(), std::greater<>());
  }

  std::vector<Part> parts_;
  std::uint32_t inversion_;
  std::vector<std::uint64_t> entries_;  // a heap, the smallest first
};

}  // namespace

void add_samples(Runs& runs, const std::uint32_t* keys, std::int64_t n) {
  std::vector<std::uint32_t>& samples = runs.samples.emplace_back();
  for (std::int64_t i = 0; i < n; i += runs.stride) samples.push_back(keys[i]);
}

void WrittenKeys::require(bool in_order) const {
  if (in_order) return;
  throw Unavailable(
      "the keys to be written are not in order, although every piece was: they have changed in memory or on the disk. "
      "Try again; if it happens again, test this machine's memory and disk");
}

void WrittenKeys::add(const std::uint32_t* keys, std::int64_t n) {
  if (n == 0) return;
  const std::uint32_t inversion = inversion_of(order_);
  if (count_ == 0) first_ = last_ = keys[0];
  std::uint32_t before = last_ ^ inversion;
  bool in_order = true;
  std::uint64_t multiset = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint32_t bits = keys[i] ^ inversion;
    in_order &= before <= bits;
    before = bits;
    multiset += mix(keys[i] + seed_);
  }
  require(in_order);
  multiset_ += multiset;
  last_ = keys[n - 1];
  count_ += n;
}

void WrittenKeys::join(const WrittenKeys& next) {
  if (next.count_ == 0) return;
  const std::uint32_t inversion = inversion_of(order_);
  require(count_ == 0 || (last_ ^ inversion) <= (next.first_ ^ inversion));
  if (count_ == 0) first_ = next.first_;
  last_ = next.last_;
  multiset_ += next.multiset_;
  count_ += next.count_;
}

std::vector<std::vector<std::int64_t>> divide(const Runs& runs, int parts) {
  std::vector<Splitter> candidates;
  for (std::int64_t run = 0; run < runs.count(); ++run) {
    for (std::int64_t i = 0; i < std::ssize(runs.samples[run]); ++i) {
      candidates.push_back({runs.samples[run][i] ^ inversion_of(runs.order), run, i * runs.stride});
    }
  }
  std::sort(candidates.begin(), candidates.end());
  std::vector<std::vector<std::int64_t>> begins(parts + 1, std::vector<std::int64_t>(runs.count(), 0));
  for (std::int64_t run = 0; run < runs.count(); ++run) {
    for (std::int64_t part = 1; part < parts; ++part) {
      begins[part][run] = keys_before(runs, run, candidates[part * std::ssize(candidates) / parts]);
    }
    begins[parts][run] = runs.size(run);
  }
  return begins;
}

WrittenKeys merge(const Runs& runs, KeyFile& output, MergeShape shape, std::uint64_t hash_seed,
                  std::atomic<std::int64_t>& written, const std::function<void()>& meanwhile) {
  const std::vector<std::vector<std::int64_t>> begins = divide(runs, shape.workers);
  std::vector<WrittenKeys> examined(shape.workers, WrittenKeys(runs.order, hash_seed));
  std::atomic<bool> stop = false;
  const auto work = [&](int part) {
    std::vector<Part> parts;
    for (std::int64_t run = 0; run < runs.count(); ++run) {
      const std::int64_t begin = runs.begin(run);
      parts.emplace_back(runs.file, begin + begins[part][run], begin + begins[part + 1][run], shape.block);
    }
    NextKeys keys(std::move(parts), inversion_of(runs.order));
    std::int64_t at = std::accumulate(begins[part].begin(), begins[part].end(), std::int64_t{0});
    const std::int64_t end = std::accumulate(begins[part + 1].begin(), begins[part + 1].end(), std::int64_t{0});
    const KeyBlock block = new_key_block(std::min(shape.block, end - at));
    WrittenKeys own(runs.order, hash_seed);
    KeyWriter writer(output);
    while (at < end && !stop) {
      const std::int64_t n = to_page_end(at, std::min(shape.block, end - at));
      for (std::int64_t i = 0; i < n; ++i) block[i] = keys.take();
      own.add(block.get(), n);
      writer.write(at * key_size, block.get(), n * key_size);
      at += n;
      written += n;
    }
    writer.finish();
    examined[part] = own;
  };
  run_workers(shape.workers, work, stop, meanwhile);
  for (int part = 1; part < shape.workers; ++part) examined[0].join(examined[part]);
  return examined[0];
}

}  // namespace lab

// What a step is: the arguments it is called with, and its line in a lab's table of steps.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "step/keys.h"

namespace lab {

/// n keys (or values) that lie one after another in device memory. A view: it owns nothing.
template <class T>
struct Span {
  T* data = nullptr;
  std::int64_t n = 0;
};

/// n keys that lie one after another in host memory. A view: it owns nothing.
template <class T>
struct HostSpan {
  T* data = nullptr;
  std::int64_t n = 0;
};

/// Blocks and threads of a launch; 0 lets the step choose.
struct LaunchShape {
  int blocks = 0;
  int threads = 0;
};

/// Sorts `keys` in place. Errors: lab::Unsupported, before anything is changed; lab::CudaError.
template <class Key>
using SortKeys = void (*)(Span<Key> keys, Order order, LaunchShape shape, cudaStream_t stream);

/// The same with values that travel with their keys; both spans have the same n.
template <class Key, class Value>
using SortPairs = void (*)(Span<Key> keys, Span<Value> values, Order order, LaunchShape shape, cudaStream_t stream);

/// Sorts `keys`, which are in host memory, in pieces that fit on the device. Begins after the work that is queued on
/// `stream`, and returns when the keys are sorted. `scratch`: room for as many keys in host memory; its contents are
/// arbitrary before and after. Both are pinned, unless the caller has chosen pageable memory. `device_bytes`: how much
/// device memory the step may have allocated at any time; 0: nearly all that is free. Errors: the same.
template <class Key>
using SortHostKeys = void (*)(HostSpan<Key> keys, HostSpan<Key> scratch, Order order, std::int64_t device_bytes,
                              LaunchShape shape, cudaStream_t stream);

/// What a line of a table computes. The tasks other than sort only read `keys`, and write all of their result, whose
/// memory is not initialized. Errors: the same as for sorting.
enum class Task {
  sort,
  reduce,
  histogram,
  scan,
  strings,
  flip,
  unflip,
  segments_128,   ///< segments of 128 keys
  segments_1024,  ///< segments of 1024 keys
  segments        ///< segments of different lengths
};

inline constexpr Task all_tasks[] = {Task::sort, Task::reduce, Task::histogram,    Task::scan,          Task::strings,
                                     Task::flip, Task::unflip, Task::segments_128, Task::segments_1024, Task::segments};

/// result = {smallest, largest} of the keys, or {2^32 - 1, 0} if there are no keys.
using Reduce = void (*)(Span<const std::uint32_t> keys, Span<std::uint32_t> result, LaunchShape shape,
                        cudaStream_t stream);

/// counts[b] = how many keys are b, for all 256 values of b.
using Histogram = void (*)(Span<const std::uint8_t> keys, Span<std::uint64_t> counts, LaunchShape shape,
                           cudaStream_t stream);

/// sums[i] = values[0] + ... + values[i - 1], modulo 2^64: the exclusive scan. Both spans have the same n.
using Scan = void (*)(Span<const std::uint64_t> values, Span<std::uint64_t> sums, LaunchShape shape,
                      cudaStream_t stream);

/// sorted = the strings in the order of memcmp: each has 8 letters, the bytes of a word in memory, compared as unsigned
/// numbers. Both spans have the same n.
using Strings = void (*)(Span<const std::uint64_t> strings, Span<std::uint64_t> sorted, LaunchShape shape,
                         cudaStream_t stream);

/// floats[i] are the bits of a float; integers[i] = an unsigned integer of the same order, in which -0 comes before +0:
/// if the sign bit is set, all bits are inverted, else the sign bit is. Both spans have the same n.
using Flip = void (*)(Span<const std::uint32_t> floats, Span<std::uint32_t> integers, LaunchShape shape,
                      cudaStream_t stream);

/// The inverse of Flip, for all 2^32 values.
using Unflip = void (*)(Span<const std::uint32_t> integers, Span<std::uint32_t> floats, LaunchShape shape,
                        cudaStream_t stream);

/// sorted = the keys, of which each segment of `length` keys is sorted separately, in ascending order; the last segment
/// may be shorter. Both spans have the same n, below 2^31.
using EqualSegments = void (*)(Span<const std::uint32_t> keys, Span<std::uint32_t> sorted, int length,
                               LaunchShape shape, cudaStream_t stream);

/// The same for segments of any length: segment i has the positions begins[i], ..., begins[i + 1] - 1, the first begins
/// at 0, and the last one ends at n. So `begins` has an element more than there are segments.
using Segments = void (*)(Span<const std::uint32_t> keys, Span<std::uint32_t> sorted, Span<const int> begins,
                          LaunchShape shape, cudaStream_t stream);

/// What the declarations above call a task's two arrays.
struct ArrayNames {
  const char* input;
  const char* result;
};

constexpr ArrayNames array_names(Task task) {
  constexpr ArrayNames names[] = {
      {"keys", "values"},     {"keys", "result"},     {"keys", "counts"}, {"values", "sums"}, {"strings", "sorted"},
      {"floats", "integers"}, {"integers", "floats"}, {"keys", "sorted"}, {"keys", "sorted"}, {"keys", "sorted"}};
  return names[static_cast<int>(task)];
}

/// How many values a task's result has, for n keys; none for a sort, whose result is its keys.
constexpr std::int64_t result_size(Task task, std::int64_t n) {
  return task == Task::sort ? 0 : task == Task::reduce ? 2 : task == Task::histogram ? 256 : n;
}

/// What a line may cost, counted by the check build over all kernels of one sort of n uniform keys of the lab's own
/// type. A cost of 0 is not checked. Kernels are deterministic, so the counts are the same on every machine.
struct Budget {
  std::int64_t n = 0;    ///< keys; 0: the line has no budget
  int blocks = 0;        ///< per launch; 0: the step chooses
  double conflicts = 0;  ///< shared memory: wavefronts per wavefront needed without bank conflicts
  double sectors = 0;    ///< global memory: sectors moved per sector needed if all of its 32 bytes were used
  double bytes = 0;      ///< global memory: bytes of the sectors moved, per key
  double barriers = 0;   ///< __syncthreads() per block, on average over all blocks of all launches
};

inline constexpr std::int64_t any_n = std::numeric_limits<std::int64_t>::max();

/// How a step's work grows with n, and how much of the machine shares it.
enum class Growth {
  linear,    ///< as n or n log n, on the whole machine
  serial,    ///< as n or n log n, but one thread or the host does much of it
  quadratic  ///< as n^2
};

/// About how many keys a step sorts in a second on each build, with the case's other costs included.
struct Affordable {
  std::int64_t check = 0, cpu = 0, cuda = 0;
};

/// The one place that decides how many keys tests, sweeps and demonstrations give to a step.
constexpr Affordable affordable(Growth growth) {
  switch (growth) {
    case Growth::quadratic:
      return {.check = 1500, .cpu = 4200, .cuda = 65536};
    case Growth::serial:
      return {.check = 1 << 17, .cpu = 1 << 20, .cuda = 1 << 22};
    case Growth::linear:
      break;
  }
  return {.check = 1 << 17, .cpu = 1 << 20, .cuda = 1 << 28};
}

/// What holds for all steps of a lab.
struct LabTraits {
  const char* name;  ///< of its folder: "03-bitonic"
  KeyType default_type = KeyType::u32;
  /// Not 0: keys on standard input follow their number (4 bytes, the low one first), which may be at most this.
  std::int64_t max_counted_keys = 0;
};

/// One line of a lab's table of steps. A function left out is a type that the step does not sort. The first line with a
/// number is the step's own. Those below it with the same number are parts of the step, tested and timed by themselves:
/// each has the function of a task that no other line of the step has.
struct Step {
  int number;
  const char* name;  ///< as in the file's name, 02_shared.cu: "shared"; a part has a name of its own
  const char* idea;  ///< a few words for tables
  /// Lines of other steps that this one calls, by name. If it fails, they are tested first, so that a fault is reported
  /// where it is.
  std::array<const char*, 3> uses = {};
  bool stable = false;         ///< equal keys keep their order
  std::int64_t tile = 0;       ///< 0: sorts the whole array; else each run of `tile` keys separately
  std::int64_t max_n = any_n;  ///< the judge refuses more keys, because the step would take too long
  /// A step that counts values: if largest - smallest + 1 is more than this, it throws Unsupported with that number.
  /// 0: any range.
  std::uint64_t max_range = 0;
  /// Of a step that sorts host memory: with less device memory than this, it throws Unsupported.
  std::int64_t fewest_device_bytes = 0;
  /// Of a step that sorts host memory: how often it copies every key to the device and back, both directions at the
  /// same time. 0: no fixed number.
  int trips = 0;
  int threads = 0;  ///< 0: blocks may have any number of threads that the lab's header allows; else only this number
  bool on_host = false;  ///< the host may read and write the keys; otherwise kernels must do the work
  Growth growth = Growth::linear;
  Budget budget = {};
  SortKeys<std::uint8_t> u8 = nullptr;
  SortKeys<std::uint16_t> u16 = nullptr;
  SortKeys<std::uint32_t> u32 = nullptr;
  SortKeys<std::uint64_t> u64 = nullptr;
  SortKeys<std::int32_t> i32 = nullptr;
  SortKeys<std::int64_t> i64 = nullptr;
  SortKeys<float> f32 = nullptr;
  SortKeys<double> f64 = nullptr;
  SortPairs<std::uint32_t, std::uint32_t> pairs = nullptr;
  SortHostKeys<std::uint32_t> host_u32 = nullptr;
  Reduce reduce = nullptr;
  Histogram histogram = nullptr;
  Scan scan = nullptr;
  Strings strings = nullptr;
  Flip flip = nullptr;
  Unflip unflip = nullptr;
  EqualSegments segments_128 = nullptr;
  EqualSegments segments_1024 = nullptr;
  Segments segments = nullptr;

  constexpr Task task() const {
    if (reduce) return Task::reduce;
    if (histogram) return Task::histogram;
    if (scan) return Task::scan;
    if (strings) return Task::strings;
    if (flip) return Task::flip;
    if (segments_128) return Task::segments_128;
    if (segments_1024) return Task::segments_1024;
    if (segments) return Task::segments;
    return unflip ? Task::unflip : Task::sort;
  }

  /// True if the keys are in host memory.
  constexpr bool in_host_memory() const { return host_u32 != nullptr; }

  /// True if `type` is what the line sorts, or what its task takes.
  constexpr bool takes(KeyType type) const {
    if (reduce || flip || unflip || segments_128 || segments_1024 || segments) return type == KeyType::u32;
    if (histogram) return type == KeyType::u8;
    if (scan || strings) return type == KeyType::u64;
    switch (type) {
      case KeyType::u8:
        return u8 != nullptr;
      case KeyType::u16:
        return u16 != nullptr;
      case KeyType::u32:
        return u32 != nullptr || in_host_memory();
      case KeyType::u64:
        return u64 != nullptr;
      case KeyType::i32:
        return i32 != nullptr;
      case KeyType::i64:
        return i64 != nullptr;
      case KeyType::f32:
        return f32 != nullptr;
      case KeyType::f64:
        return f64 != nullptr;
      case KeyType::pairs:
        return pairs != nullptr;
    }
    return false;
  }
};

}  // namespace lab

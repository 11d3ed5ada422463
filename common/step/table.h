// A lab's table of steps: what one of its lines says.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>
#include <variant>

#include "step/key_type.h"
#include "step/keys.h"
#include "step/step.h"
#include "step/task.h"

namespace lab {

/// Sorts an array in device memory: one function for each key type that the line sorts.
struct Sort {
  static constexpr Task task = Task::sort;
  SortKeys<std::uint8_t> u8 = nullptr;
  SortKeys<std::uint16_t> u16 = nullptr;
  SortKeys<std::uint32_t> u32 = nullptr;
  SortKeys<std::uint64_t> u64 = nullptr;
  SortKeys<std::int32_t> i32 = nullptr;
  SortKeys<std::int64_t> i64 = nullptr;
  SortKeys<float> f32 = nullptr;
  SortKeys<double> f64 = nullptr;
  SortPairs<std::uint32_t, std::uint32_t> pairs = nullptr;

  /// The function for keys without values; null if there is none.
  template <class Key>
  constexpr SortKeys<Key> of() const {
    return std::get<SortKeys<Key>>(std::tuple(u8, u16, u32, u64, i32, i64, f32, f64));
  }
  constexpr bool takes(KeyType type) const {
    if (type == KeyType::pairs) return pairs != nullptr;
    return with_key(type, [this]<class Key>(KeyTag<Key>) { return of<Key>() != nullptr; });
  }
};

/// Puts the keys 2i and 2i + 1 in order, for every i, and sorts no further; the last of an odd number of keys stays.
struct Exchange : Sort {
  static constexpr Task task = Task::exchange;
};

/// Sorts an array in host memory.
struct SortHostMemory {
  static constexpr Task task = Task::sort;
  SortHostKeys<std::uint32_t> function;

  constexpr bool takes(KeyType type) const { return type == KeyType::u32; }
};

/// Another task: reads one array and writes a second one.
template <Task its_task, class Input, class Result>
struct Compute {
  static constexpr Task task = its_task;
  ReadAndWrite<Input, Result> function;

  constexpr bool takes(KeyType type) const {
    return type != KeyType::pairs && with_key(type, []<class Key>(KeyTag<Key>) { return std::is_same_v<Key, Input>; });
  }
};

/// result = {smallest, largest} of the keys, or {2^32 - 1, 0} if there are no keys.
using Reduce = Compute<Task::reduce, std::uint32_t, std::uint32_t>;

/// counts[b] = how many keys are b, for all 256 values of b.
using Histogram = Compute<Task::histogram, std::uint8_t, std::uint64_t>;

/// sums[i] = values[0] + ... + values[i - 1], modulo 2^64: the exclusive scan. Both spans have the same n.
using Scan = Compute<Task::scan, std::uint64_t, std::uint64_t>;

/// sorted = the strings in the order of memcmp: each has 8 letters, the bytes of a word in memory, compared as unsigned
/// numbers. Both spans have the same n.
using Strings = Compute<Task::strings, std::uint64_t, std::uint64_t>;

/// floats[i] are the bits of a float; integers[i] = an unsigned integer of the same order, in which -0 comes before +0:
/// if the sign bit is set, all bits are inverted, else the sign bit is. Both spans have the same n.
using Flip = Compute<Task::flip, std::uint32_t, std::uint32_t>;

/// The inverse of Flip, for all 2^32 values.
using Unflip = Compute<Task::unflip, std::uint32_t, std::uint32_t>;

/// sorted = the keys, of which each segment of `length` keys is sorted separately, in ascending order; the last segment
/// may be shorter. Both spans have the same n, below 2^31. The function is called with the length.
template <int segment_length>
struct EqualSegments {
  static_assert(segment_length == 128 || segment_length == 1024);
  static constexpr int length = segment_length;
  static constexpr Task task = length == 128 ? Task::segments_128 : Task::segments_1024;
  void (*function)(Span<const std::uint32_t> keys, Span<std::uint32_t> sorted, int length, LaunchShape shape,
                   cudaStream_t stream);

  constexpr bool takes(KeyType type) const { return type == KeyType::u32; }
};

/// The same for segments of any length: segment i has the positions begins[i], ..., begins[i + 1] - 1, the first begins
/// at 0, and the last one ends at n. `begins` has one element more than there are segments.
struct Segments {
  static constexpr Task task = Task::segments;
  void (*function)(Span<const std::uint32_t> keys, Span<std::uint32_t> sorted, Span<const int> begins,
                   LaunchShape shape, cudaStream_t stream);

  constexpr bool takes(KeyType type) const { return type == KeyType::u32; }
};

/// The function of a line, or its functions by key type.
using Function = std::variant<Sort, Exchange, SortHostMemory, Reduce, Histogram, Scan, Strings, Flip, Unflip,
                              EqualSegments<128>, EqualSegments<1024>, Segments>;

/// What a line may cost, counted by the check build over all kernels of one sort of n uniform keys of the lab's own
/// type. A cost of 0 is not checked. Kernels are deterministic, so the counts are the same on every machine.
struct Budget {
  std::int64_t n = 0;    ///< keys; 0: the line has no budget
  int blocks = 0;        ///< per launch; 0: the step chooses
  double conflicts = 0;  ///< shared memory: wavefronts per wavefront needed without bank conflicts
  double sectors = 0;    ///< global memory: sectors moved per sector needed if all of its 32 bytes were used
  double bytes = 0;      ///< global memory: bytes of the sectors moved, per key
  double barriers = 0;   ///< __syncthreads() per block, on average over all blocks of all launches
  double span = 0;       ///< requests on the critical path for 1,000 keys: those of the busiest warp between two
                         ///< barriers, added up over a block, in the block with the most of each launch, and over all
                         ///< launches
  double work = 0;       ///< requests of all kernels for 1,000 keys, at least: about a fourth of the solution's, where
                         ///< that is much more than a copy. Fewer mean that the host has done the work
};

/// The numbers from `first` to `last`; by default, none.
struct Range {
  int first = 0, last = -1;

  constexpr bool empty() const { return last < first; }
};

/// What `./workbook picture` draws of a line unless its options say otherwise: a small run that shows the step's idea.
/// What is left out here is chosen as it is for any other run.
struct Picture {
  std::int64_t n = 16;               ///< keys
  const char* input = "";            ///< "": as usual
  const char* arrays = "";           ///< "shared", "global" or "all"; "": those in shared memory if there are any
  Range launches = {};               ///< from 0; empty: the first that fit
  std::array<Range, 8> places = {};  ///< of arrays that are too large; all empty: the first
  bool is_in_report = false;         ///< a report draws this line: one of each lab, with barriers if the lab has any
};

/// Lines of a step's solution, of which `./workbook starters` counts.
struct Lines {
  int own = 0;    ///< that the student writes
  int given = 0;  ///< all others
};

inline constexpr std::int64_t any_n = std::numeric_limits<std::int64_t>::max();

/// How a step's work grows with n, and how much of the machine shares it.
enum class Growth {
  linear,    ///< as n or n log n, on the whole machine
  passes,    ///< the same, with a pass over all keys for each of their bits
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
    case Growth::passes:
      return {.check = 1 << 16, .cpu = 1 << 16, .cuda = 1 << 28};
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

/// One line of a lab's table of steps. The first line with a number is the step's own, whatever its task; the others
/// with the same number are parts of that step, which are tested and timed by themselves.
struct Step {
  int number;
  const char* name;  ///< as in the file's name, 02_shared.cu: "shared". A part has a different name
  const char* idea;  ///< a few words for tables
  Lines lines = {};  ///< of a step's own line
  Picture picture = {};
  bool record = false;  ///< built for speed: the lab's fastest step for its kind of work; see `bench --preset records`
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
  std::int64_t min_device_bytes = 0;
  /// Of a step that sorts host memory: how often it copies every key to the device and back, both directions at the
  /// same time. 0: no fixed number.
  int round_trips = 0;
  int threads = 0;  ///< 0: blocks may have any number of threads that the lab's header allows; else only this number
  bool on_host = false;  ///< the host may read and write the keys; otherwise kernels must do the work
  Growth growth = Growth::linear;
  Budget budget = {};
  Function function;

  constexpr Task task() const {
    return std::visit([](const auto& chosen) { return chosen.task; }, function);
  }

  /// True if `type` is what the line sorts, or what its task reads.
  constexpr bool takes(KeyType type) const {
    return std::visit([type](const auto& chosen) { return chosen.takes(type); }, function);
  }

  /// True if the keys are in host memory.
  constexpr bool in_host_memory() const { return std::holds_alternative<SortHostMemory>(function); }
};

}  // namespace lab

// A case: one call of a step with one input, and its expected outcome.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "judge/labs.h"
#include "step/keys.h"
#include "step/step.h"

namespace lab {

/// The expected outcome of a case: the correct keys, a refusal that changes nothing, or either.
enum class Expect { verified, refused, either };

/// One call of a step, or of a part of one.
struct Case {
  std::string lab;
  StepFacts step;
  KeyType type = KeyType::u32;
  Order order = Order::ascending;
  LaunchShape shape;
  std::int64_t n = 0;
  std::string input = "uniform";  ///< a name of judge/inputs.h, a range, or file:PATH
  std::uint64_t seed = 0;
  std::int64_t device_bytes = 0;  ///< that a step which sorts host memory may allocate; 0: nearly all that is free
  bool pageable = false;          ///< host memory is not pinned for such a step
  std::int64_t offset = 0;        ///< keys between an address divisible by 256 and the arrays, below max_offset
  bool is_timed = false;          ///< nothing may take time but the step: whether kernels do the work is not watched
  bool reversed_blocks = false;   ///< CUDA on the CPU starts the last block first, and few blocks at a time
  std::optional<std::uint64_t> lane_seed = std::nullopt;  ///< SIMT_SEED of the runner; none: the judge's own
  Expect expect = Expect::verified;
};

/// The number of keys of a case if n is not specified.
inline constexpr std::int64_t default_n = 1 << 20;

inline constexpr std::int64_t max_offset = 256;

/// Bytes of the keys and values, or of the keys that a task reads.
double element_bytes(const Case& which);

/// Bytes of the values of pairs, or of a task's result.
std::int64_t value_bytes(const Case& which);

/// Bytes of one of these values.
std::int64_t bytes_per_value(const Case& which);

/// Bytes of the scratch that a step which sorts host memory gets; 0 for others.
std::int64_t scratch_bytes(const Case& which);

/// "64M", as the option --memory takes it; a number of bytes where it is not a multiple of a larger unit.
std::string memory_text(std::int64_t bytes);

/// The command that runs exactly this case again: "./workbook run 03-bitonic 2 --n 1023 ...".
std::string replay_command(const Case& which);

/// "03-bitonic step 2 shared: 1000 u32 keys, uniform, ascending"
std::string title_of(const Case& which);

}  // namespace lab

// What a runner's document and its printed text contain. All of it comes from the student's process, so it is read with
// bounds, and what does not have the expected form is refused.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "runner/protocol.h"

namespace lab {

/// A fault in a step's source, found by the check build or by the emulation.
struct Finding {
  std::string file;
  std::int64_t line = 0;
  std::string kind;
  std::string text;  ///< for people
  std::int64_t times = 1;
  nlohmann::json facts;  ///< what else the check build knows of it, as common/README.md documents it; null: nothing
};

/// Where a cost of the check build comes from.
struct Note {
  std::string file;
  std::int64_t line = 0;
  std::string kind;
  std::int64_t ideal = 0, actual = 0;
  std::string unit;
  std::int64_t requests = 0;
  std::string space, access;
  std::string text;  ///< the cause, as far as it is known
};

/// What the check build counted in one launch; `counts` by the names that the check build gives them.
struct LaunchCounts {
  std::string kernel;
  std::array<std::int64_t, 3> grid{}, block{};
  std::map<std::string, std::int64_t> counts;
};

struct Document {
  bool observed = false;  ///< from the check build
  std::vector<Finding> findings;
  std::vector<Finding> remarks;  ///< on code that is defined, but that easily goes wrong
  std::vector<Note> notes;
  std::vector<LaunchCounts> launches;
  std::string unchanged;           ///< why no write has reached the keys, if the check build knows
  std::int64_t copied_bytes = 0;   ///< read and written by copies within the device
  std::int64_t bytes_to_host = 0;  ///< that kernels have passed to the host
  std::vector<KernelTime> kernels;
  Timeline timeline;
};

/// Reads the document that a runner sent for a sort. Errors: lab::Error, with what is malformed.
Document read_document(const std::string& text);

/// Why a program that printed this called abort(): an exception, an assertion, or what the C library has noticed. "" if
/// that is not known.
std::string cause_of_abort(std::string_view printed);

/// The findings that the emulation printed: lines "FILE:LINE: error: KIND: TEXT".
std::vector<Finding> printed_findings(std::string_view printed);

/// `printed` without those lines.
std::string without_findings(std::string_view printed);

/// The place that a message of the step begins with, as "labs/03-bitonic/02_shared.cu:41: ..."; line 0 if there is
/// none.
Finding place_in(std::string_view message);

}  // namespace lab

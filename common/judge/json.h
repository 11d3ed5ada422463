// From and to JSON: the requests and answers of serve.h, and what runners send.
#pragma once

#include <deque>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "judge/case.h"
#include "judge/file_sort.h"
#include "judge/judge.h"
#include "judge/labs.h"
#include "judge/timing.h"

namespace lab {

using Json = nlohmann::json;

/// Parses text that a student's process or a request has written. Errors: lab::Error where it is not JSON, or nested
/// deeper than any document of ours.
Json parse_shallow(const std::string& text);

/// Reads the members of a request one by one. Errors of all: lab::Error, with the member's name and what it must be.
class Members {
 public:
  /// `what` names the object in errors.
  Members(const Json& object, std::string what);

  bool has(const char* name);  ///< present, and not null
  std::string text(const char* name);
  std::string text(const char* name, const std::string& fallback);
  bool flag(const char* name);  ///< false if missing
  std::int64_t integer(const char* name, std::int64_t min, std::int64_t max);
  std::int64_t integer(const char* name, std::int64_t min, std::int64_t max, std::int64_t fallback);
  std::uint64_t seed(const char* name);
  double number(const char* name, double fallback);
  const Json& object(const char* name);
  std::vector<std::string> strings(const char* name);  ///< empty if missing

  /// Throws if the object has a member that was not asked for.
  void finish() const;

 private:
  const Json& member(const char* name);
  [[noreturn]] void fail(const char* name, const std::string& expected) const;

  const Json& object_;
  std::string what_;
  std::vector<std::string> known_;
};

/// The inverse of json_of(Case), with defaults for missing members. `steps`: of the lab that is named.
Case read_case(Members& members, std::string_view lab, std::span<const StepFacts> steps, KeyType preferred);

Json json_of(const Lab& lab);
Json json_of(const StepFacts& step, std::string_view lab);
Json json_of(const Case& which);
Json json_of(const Outcome& outcome, const Case& which);
Json json_of(const FileSorted& sorted);
Json json_of(const Measurement& measurement, const std::vector<KernelMeasurement>& kernels, const Case& which);
Json json_of(const RunnerFacts& runner, std::span<const StepFacts> steps);

/// What a runner's description contains. Errors: lab::Error where it is malformed. The steps' views point into `texts`.
RunnerFacts read_runner_facts(const std::string& document);
std::vector<StepFacts> read_steps(const std::string& document, std::deque<std::string>& texts);

}  // namespace lab

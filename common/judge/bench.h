// A sweep: every step that was asked for over every n, input, type, order and launch shape, beside the gold standard.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "judge/labs.h"
#include "judge/timing.h"
#include "step/step.h"

namespace lab {

struct Sweep {
  std::string lab, runner;
  std::string gold;                       ///< the gold standard's runner; empty: not timed
  std::string build, commit, machine_id;  ///< for the rows; an empty id: found out
  std::string csv;                        ///< appended to: what it has already is not measured again; empty: stdout
  std::vector<int> steps;                 ///< empty: all
  std::vector<std::string> types;         ///< empty: the lab's own
  std::vector<std::string> orders, inputs;
  std::vector<std::int64_t> counts;  ///< of keys; empty: as many as suit
  std::vector<LaunchShape> shapes;
  std::uint64_t seed = 0;
  double timeout = 20;     ///< seconds that a step may take
  double budget = 0;       ///< seconds after which no measurement begins; 0: no limit
  bool kernels = false;    ///< a row for each kernel as well
  bool transfers = false;  ///< and for the copies to the device and back
  bool only_gold = false;
  TimingLimits limits;
};

/// Keys that a case has where nobody says how many.
inline constexpr std::int64_t default_n = 1 << 20;

/// The lab's own type, or where a line does not take that, the first that it takes.
KeyType default_type(const Lab& lab, const StepFacts& step);

/// "03-bitonic step 2 shared: 1000 u32 keys, uniform, ascending"
std::string title_of(const Case& asked);

/// Measures; what it does stands on standard error: a line a measurement, begun when it begins, with what is left.
/// Returns whether all went well. Errors: lab::Error for what cannot be served.
bool run_sweep(const Sweep& sweep);

}  // namespace lab

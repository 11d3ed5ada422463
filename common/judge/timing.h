// Times: how often to measure, what to conclude from the measurements, and which of them to refuse.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "judge/judge.h"

namespace lab {

struct Quartiles {
  double first = 0;
  double median = 0;
  double third = 0;
};

/// Quartiles by linear interpolation between the sorted values; `values` is not empty.
Quartiles quartiles(std::span<const double> values);

struct TimingLimits {
  int repeats = 30;        ///< timed runs at most
  double min_time = 0.2;   ///< seconds of sorting before a small spread ends the measurement
  double time_limit = 30;  ///< seconds of the judge's clock, inputs and verification included
};

struct Measurement {
  Status status = Status::verified;
  std::string message;
  std::string printed;
  int repeats = 0;
  Quartiles milliseconds;
  std::uint64_t failed_seed = 0;  ///< of the run that was not verified
  Quartiles to_device, to_host;   ///< milliseconds of the copies, which the above does not include
  double changed_share = 1;       ///< see Judge::changed_share
};

/// Times a case: one warm-up, then runs that each have an input with a different seed and a verified output, until the
/// quartiles lie within 2 % of the median (after 5 runs and the minimum time) or a limit is reached. Only runs that the
/// judge's clock confirms count. If those are fewer than half, the step gets up to ten more, within twice the time
/// limit; if there are none then, its time is refused. Where the machine is to blame, the step gets all of twice the time
/// limit, and then the status is `busy`. Ends at the first run that is not verified.
/// `copy_bytes_per_second` (0: unknown) is what the device can read and write.
Measurement measure(Judge& judge, const Case& which, const TimingLimits& limits, double copy_bytes_per_second);

/// Bytes that no step can avoid moving: every key is read, and what a sort or scan returns is written.
double minimum_bytes(const Case& which);

/// One kernel's share of a step.
struct KernelMeasurement {
  KernelTime kernel;
  int repeats = 0;
  Quartiles milliseconds;  ///< of all its launches in one call of the step
};

/// Runs the case a few more times, each verified, with every launch timed. Empty if a run is not verified or launches
/// nothing.
std::vector<KernelMeasurement> measure_kernels(Judge& judge, Case which, const TimingLimits& limits);

/// Seed of run `repeat` of a measurement that began with `seed`; run 0 has `seed` itself.
std::uint64_t seed_of_repeat(std::uint64_t seed, int repeat);

/// A run as it was timed, in milliseconds.
struct TimedRun {
  double reported = 0;  ///< by the runner
  double wall = 0;      ///< by the judge's clock
  double waited = 0;    ///< for which runner and judge, taken together, could not run because others had the processors
};

/// The reported times of the runs that took hardly longer by the judge's clock. In the others the machine was busy, or
/// the step worked on while its time was not taken.
std::vector<double> confirmed(std::span<const TimedRun> runs);

/// `verified`, or why the reported times do not count. `refused`: one is longer than the judge's own, none is confirmed,
/// or their median is less than `min_milliseconds`, which the device needs to move the keys. `busy`: none is confirmed,
/// but most runs waited long enough for a processor to explain that. A step may cause such waiting itself, so it makes a
/// time neither right nor wrong.
std::pair<Status, std::string> judged(std::span<const TimedRun> runs, double min_milliseconds);

}  // namespace lab

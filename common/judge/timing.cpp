#include "judge/timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <tuple>
#include <utility>
#include <vector>

#include "judge/random.h"
#include "step/key_type.h"

namespace lab {
namespace {

constexpr int min_repeats = 5;
constexpr double small_spread = 0.02;
constexpr int second_look = 10;  // runs added before a time is refused

// The judge's clock runs from sending "go" to hearing "sorted": the step's time and two messages.
constexpr double messages_milliseconds = 0.5;
constexpr double clock_tolerance = 1.25;
constexpr double uncounted_share = 0.25;

// A copy is not quite the fastest way to read and write memory, so steps may be this much faster.
constexpr double bandwidth_tolerance = 0.8;
// Smaller inputs may stay in the cache, where the memory's bandwidth is not a limit.
constexpr double beyond_caches = 256e6;  // bytes

// Every key must be read, and those that change places must be written.
double min_milliseconds_of(const Case& which, double changed_share, double copy_bytes_per_second) {
  const double bytes = element_bytes(which);
  if (copy_bytes_per_second <= 0 || bytes < beyond_caches) return 0;
  return bandwidth_tolerance * bytes * (1 + changed_share) / copy_bytes_per_second * 1e3;
}

// Whether the step's time and two messages are all that a time by the judge's clock consists of.
bool is_near(double reported, double wall) { return wall <= clock_tolerance * reported + messages_milliseconds; }

// Whether waiting explains most of the difference. The system does not count all that a busy machine delays.
bool is_excused(const TimedRun& run) {
  return is_near(run.reported, run.wall - run.waited - uncounted_share * (run.wall - run.reported));
}

double median_of(std::span<const TimedRun> runs, double TimedRun::* time) {
  std::vector<double> times;
  for (const TimedRun& run : runs) times.push_back(run.*time);
  return quartiles(times).median;
}

}  // namespace

Quartiles quartiles(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const auto at = [&](double share) {
    const double position = share * double(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (position - double(below)) * (sorted[above] - sorted[below]);
  };
  return {at(0.25), at(0.5), at(0.75)};
}

std::uint64_t seed_of_repeat(std::uint64_t seed, int repeat) { return repeat == 0 ? seed : random_at(seed, repeat); }

std::vector<double> confirmed(std::span<const TimedRun> runs) {
  std::vector<double> kept;
  for (const TimedRun& run : runs) {
    if (is_near(run.reported, run.wall)) kept.push_back(run.reported);
  }
  return kept;
}

std::pair<Status, std::string> judged(std::span<const TimedRun> runs, double min_milliseconds) {
  for (const TimedRun& run : runs) {
    if (run.reported > run.wall) {
      return {Status::refused,
              fmt::format("the runner reports {:.4f} ms, but only {:.4f} ms passed by the judge's clock", run.reported,
                          run.wall)};
    }
  }
  const std::vector<double> kept = confirmed(runs);
  if (kept.empty()) {
    const auto excused = std::ranges::count_if(runs, is_excused);
    const double reported = median_of(runs, &TimedRun::reported), wall = median_of(runs, &TimedRun::wall);
    if (2 * excused >= std::ssize(runs)) {
      return {Status::busy,
              fmt::format("the machine is busy: the step's {:.4f} ms were {:.4f} ms by the judge's clock, "
                          "because other programs had the processors; measure again when they have ended",
                          reported, wall)};
    }
    return {Status::refused,
            fmt::format("the runner reports {:.4f} ms, but the judge's clock measured {:.4f} ms", reported, wall)};
  }
  const double claimed = quartiles(kept).median;
  if (claimed < min_milliseconds) {
    return {Status::refused,
            fmt::format("the runner reports {:.4f} ms, but the device needs at least {:.4f} ms to move "
                        "the keys",
                        claimed, min_milliseconds)};
  }
  return {Status::verified, ""};
}

double minimum_bytes(const Case& which) {
  const bool only_reads = which.step.task == Task::reduce || which.step.task == Task::histogram;
  return element_bytes(which) * (only_reads ? 1 : 2);
}

Measurement measure(Judge& judge, const Case& which, const TimingLimits& limits, double copy_bytes_per_second) {
  const auto started = std::chrono::steady_clock::now();
  const auto spent = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count(); };
  Measurement measured;
  std::vector<TimedRun> runs;
  std::vector<double> to_device, to_host;
  double sorting_seconds = 0, min_milliseconds = 0;
  for (int run = 0;; ++run) {
    Case repeat = which;
    repeat.seed = seed_of_repeat(which.seed, run);
    repeat.is_timed = true;
    const Outcome outcome = judge.run(repeat);
    if (outcome.status != Status::verified) {
      measured.status = outcome.status;
      measured.message = outcome.message;
      measured.printed = outcome.printed;
      measured.failed_seed = repeat.seed;
      return measured;
    }
    measured.changed_share = judge.changed_share();
    min_milliseconds = min_milliseconds_of(which, measured.changed_share, copy_bytes_per_second);
    if (run == 0) continue;  // the warm-up
    runs.push_back({.reported = outcome.milliseconds,
                    .wall = outcome.wall_milliseconds,
                    .waited = outcome.waited_milliseconds + outcome.judge_waited_milliseconds});
    to_device.push_back(outcome.to_device);
    to_host.push_back(outcome.to_host);
    sorting_seconds += outcome.milliseconds * 1e-3;
    const std::vector<double> kept = confirmed(runs);
    measured.repeats = static_cast<int>(kept.size());
    if (!kept.empty()) measured.milliseconds = quartiles(kept);
    const bool spread_is_known =
        (measured.milliseconds.third - measured.milliseconds.first) < small_spread * measured.milliseconds.median;
    const bool measured_well = measured.repeats >= min_repeats && spread_is_known && sorting_seconds >= limits.min_time;
    if (!measured_well && run < limits.repeats && spent() < limits.time_limit) continue;
    std::tie(measured.status, measured.message) = judged(runs, min_milliseconds);
    // A busy machine may have delayed most of the few runs so far.
    const bool most_count = measured.status == Status::verified && 2 * measured.repeats >= std::ssize(runs);
    const bool looked_again = run >= limits.repeats + second_look && measured.status != Status::busy;
    if (most_count || looked_again || spent() >= 2 * limits.time_limit) break;
  }
  measured.to_device = quartiles(to_device);
  measured.to_host = quartiles(to_host);
  if (measured.status != Status::verified) measured.failed_seed = which.seed;
  return measured;
}

std::vector<KernelMeasurement> measure_kernels(Judge& judge, Case which, const TimingLimits& limits) {
  const auto started = std::chrono::steady_clock::now();
  const auto spent = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count(); };
  std::vector<KernelMeasurement> kernels;
  std::vector<std::vector<double>> times;
  const std::uint64_t seed = random_at(which.seed, 1 << 20);
  which.is_timed = true;
  for (int run = 0; run <= std::min(limits.repeats, min_repeats); ++run) {
    which.seed = seed_of_repeat(seed, run);
    const Outcome outcome = judge.run(which, KernelTimes::measure);
    if (outcome.status != Status::verified) return {};
    if (run == 0) continue;  // the warm-up
    for (const KernelTime& kernel : outcome.document.kernels) {
      auto known = std::find_if(kernels.begin(), kernels.end(), [&](auto& k) { return k.kernel.name == kernel.name; });
      if (known == kernels.end()) {
        known = kernels.insert(known, {kernel, 0, {}});
        times.emplace_back();
      }
      times[std::size_t(known - kernels.begin())].push_back(kernel.milliseconds);
    }
    if (spent() >= limits.time_limit) break;
  }
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    kernels[k].repeats = static_cast<int>(times[k].size());
    kernels[k].milliseconds = quartiles(times[k]);
  }
  return kernels;
}

}  // namespace lab

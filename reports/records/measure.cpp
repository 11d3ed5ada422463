// Times one line of a lab's table of steps, and beside it every line of the gold standard that does the same, and
// libcusort if it was given to Meson. All are timed in this process, on the same keys, and nothing else happens between
// a run's start and its end: the judge, which runs steps in another process, also times what that costs the host.
// README.md names the commands. LAB_SPACE: the C++ namespace of the lab's table. LAB_GOLD: what rows call the gold
// standard, such as "CUB".
#include <cuda_runtime.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "gold/table.h"
#include "judge/inputs.h"
#include "judge/reference.h"
#include "judge/timing.h"
#include "judge/verify.h"
#include "libcusort.h"
#include "runner/call.h"
#include "runner/cuda_handles.h"
#include "runner/fair_start.h"
#include "step/device_array.h"
#include "step/error.h"
#include "step/key_type.h"
#include "step/pinned_array.h"
#include "step/segments.h"
#include "step/table.h"
#include "step/task.h"
#include "steps.h"

namespace {

using lab::DeviceArray;
using lab::KeyType;
using lab::Order;
using lab::PinnedArray;
using lab::Step;
using lab::Task;

/// The command line.
struct Options {
  std::string step = "record", commit, against;
  std::vector<std::string> sizes = {"2^16", "2^20", "2^26", "2^28"}, inputs = {"uniform"}, types = {"u32"};
  bool descending = false;
  int runs = 11;
  std::uint64_t seed = 1;

  Order order() const { return descending ? Order::descending : Order::ascending; }
};

/// What is sorted: n keys of a type, made by one of the judge's inputs.
struct Problem {
  Task task;
  KeyType type;
  Order order;
  std::string input;
  std::int64_t n;
  std::uint64_t seed;

  bool carries_values() const { return type == KeyType::pairs; }
  std::int64_t bytes() const { return n * lab::key_bytes(type); }
  /// Of the values that the keys carry, or of a task's result.
  std::int64_t value_bytes() const {
    if (task != Task::sort) return lab::result_bytes(task, n);
    return carries_values() ? n * std::int64_t{sizeof(std::uint32_t)} : 0;
  }
};

/// One of those that are timed.
struct Contender {
  std::string name;
  const Step* step;
};

/// Milliseconds of a contender's runs.
struct Times {
  std::string name;
  double shortest, median;
};

/// Keys and values, or a task's result, in host memory or on the device.
template <template <class> class Array>
struct Arrays {
  Array<char> keys, values;
};

/// A problem in memory, and how one run of it goes.
class Bench {
 public:
  explicit Bench(const Problem& problem)
      : problem_(problem),
        host_begins_(problem.task == Task::segments ? lab::segment_begins(problem.task, problem.n)
                                                    : std::vector<int>()) {
    lab::make_keys(problem.input, problem.type, problem.seed, problem.n, output_.keys.data());
    std::fill_n(output_.values.data(), value_bytes_, char(0xa5));
    if (problem.carries_values()) lab::make_values(problem.seed, problem.n, values_of(output_));
    copy(input_, output_);
    copy(begins_.data(), host_begins_.data(), std::ssize(host_begins_) * std::int64_t{sizeof(int)});
  }

  /// Runs a step on its own copy of the input, with nothing in the cache. Returns the milliseconds between two events.
  double run(const Step& step) const {
    copy(work_, input_);  // a task's result, too: what an earlier run has left there must not pass for one
    lab::flush_cache(stream_);
    CUDA_CHECK(cudaStreamSynchronize(stream_));
    CUDA_CHECK(cudaEventRecord(start_, stream_));
    lab::call(step, {.type = problem_.type,
                     .keys = work_.keys.span(),
                     .values = work_.values.span(),
                     .n = problem_.n,
                     .order = problem_.order,
                     .shape = {},
                     .stream = stream_,
                     .begins = {begins_.data(), begins_.size()}});
    CUDA_CHECK(cudaEventRecord(stop_, stream_));
    CUDA_CHECK(cudaDeviceSynchronize());
    return lab::milliseconds_between(start_, stop_);
  }

  /// Remembers the last run's output as the right one.
  void expect_output() {
    copy(expected_, work_);
    CUDA_CHECK(cudaStreamSynchronize(stream_));
  }

  /// Throws lab::Error if the last run's output is wrong.
  void verify(const Contender& by) {
    copy(output_, work_);
    CUDA_CHECK(cudaStreamSynchronize(stream_));
    const auto& [task, type, order, input, n, seed] = problem_;
    const lab::Fault fault =
        task == Task::sort
            ? lab::compare({type, order, n, by.step->tile, by.step->stable},
                           {expected_.keys.data(), values_of(expected_)}, {output_.keys.data(), values_of(output_)})
            : lab::compare_results(task, n, expected_.values.data(), output_.values.data());
    if (!fault.text.empty()) throw lab::Error(fmt::format("{}, {}, n = {}: {}", by.name, input, n, fault.text));
  }

 private:
  /// Those of pairs; else null.
  std::uint32_t* values_of(const Arrays<PinnedArray>& arrays) const {
    return problem_.carries_values() ? reinterpret_cast<std::uint32_t*>(arrays.values.data()) : nullptr;
  }

  void copy(const auto& to, const auto& from) const {
    copy(to.keys.data(), from.keys.data(), bytes_);
    copy(to.values.data(), from.values.data(), value_bytes_);
  }
  void copy(void* to, const void* from, std::int64_t bytes) const {
    if (bytes > 0) CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_));
  }

  const Problem problem_;
  const lab::Stream stream_;
  const lab::Event start_, stop_;
  const std::vector<int> host_begins_;
  const std::int64_t bytes_ = problem_.bytes(), value_bytes_ = problem_.value_bytes();
  const Arrays<DeviceArray> input_{{bytes_, stream_}, {value_bytes_, stream_}};
  const Arrays<DeviceArray> work_{{bytes_, stream_}, {value_bytes_, stream_}};
  const DeviceArray<int> begins_{std::ssize(host_begins_), stream_};
  const Arrays<PinnedArray> expected_{PinnedArray<char>(bytes_), PinnedArray<char>(value_bytes_)};
  const Arrays<PinnedArray> output_{PinnedArray<char>(bytes_), PinnedArray<char>(value_bytes_)};
};

const Step& step_named(const std::string& name) {
  for (const Step& step : LAB_SPACE::steps) {
    if (name == step.name && !step.in_host_memory()) return step;
  }
  throw lab::Error(fmt::format("{} has no step '{}' of keys on the device", LAB_SPACE::traits.name, name));
}

/// The gold standard's lines first, the step last.
std::vector<Contender> contenders(const Step& step, const Problem& problem, const std::string& against) {
  std::vector<Contender> found;
  const auto add = [&](const char* library, std::span<const Step> table) {
    for (const Step& line : table) {
      const bool same = line.task() == step.task() && line.tile == step.tile && !line.in_host_memory();
      const bool wanted = against.empty() || against == line.name;
      if (same && wanted && line.takes(problem.type) && problem.n <= line.max_n) {
        found.push_back({fmt::format("{} {}", library, line.name), &line});
      }
    }
  };
  add(LAB_GOLD, gold::table());
  if (found.empty()) throw lab::Error(fmt::format("the gold standard has nothing to compare '{}' with", step.name));
  add("libcusort", libcusort::table());
  if (!step.takes(problem.type) || problem.n > step.max_n) {
    throw lab::Error(
        fmt::format("step {} does not take {} keys of type {}", step.name, problem.n, lab::name_of(problem.type)));
  }
  found.push_back({fmt::format("{} {}", LAB_SPACE::traits.name, step.name), &step});
  return found;
}

/// Each contender has one run before those that are timed. Every output is compared with that of the first contender.
std::vector<Times> times_of(const std::vector<Contender>& all, const Problem& problem, int runs) {
  Bench bench(problem);
  std::vector<Times> times;
  for (const Contender& one : all) {
    std::vector<double> milliseconds;
    try {
      bench.run(*one.step);
    } catch (const lab::Unsupported& error) {
      if (&one == &all.back()) throw;
      fmt::print(stderr, "{} is left out: {}\n", one.name, error.what());
      continue;
    }
    if (times.empty()) bench.expect_output();
    for (int run = 0; run < runs; ++run) {
      milliseconds.push_back(bench.run(*one.step));
      bench.verify(one);
    }
    times.push_back({one.name, std::ranges::min(milliseconds), lab::quartiles(milliseconds).median});
  }
  return times;
}

void print(const std::vector<Times>& all, const Problem& problem, const Options& options, const std::string& machine) {
  const double step = all.back().median;
  for (const Times& times : all) {
    fmt::print("{},{},{},{},{},{},{},{},{:.4f},{:.4f},{:.2f},{:.3f}\n", machine, options.commit, times.name,
               lab::name_of(problem.type), lab::name_of(problem.order), problem.input, problem.n, options.runs,
               times.shortest, times.median, double(problem.n) / times.median / 1e6, times.median / step);
  }
  std::fflush(stdout);
}

std::int64_t size_of(const std::string& text) {
  const std::int64_t n = text.starts_with("2^") ? std::int64_t{1} << std::stoi(text.substr(2)) : std::stoll(text);
  if (n < 1) throw lab::Error("there must be at least one key");
  return n;
}

void measure(const Options& options) {
  cudaDeviceProp device{};
  CUDA_CHECK(cudaGetDeviceProperties(&device, 0));
  lab::keep_freed_memory();
  const Step& step = step_named(options.step);
  fmt::print("machine,commit,sort,type,order,input,n,runs,min_ms,median_ms,gkeys_per_s,ratio\n");
  for (const std::string& type : options.types) {
    for (const std::string& input : options.inputs) {
      for (const std::string& n : options.sizes) {
        const Problem problem{step.task(), lab::key_type_named(type), options.order(), input, size_of(n), options.seed};
        print(times_of(contenders(step, problem, options.against), problem, options.runs), problem, options,
              device.name);
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) try {
  Options options;
  CLI::App app(fmt::format("Times a step of {} beside the gold standard, as CSV.", LAB_SPACE::traits.name));
  app.add_option("--step", options.step, "the name of its line in steps.h")->capture_default_str();
  app.add_option("--n", options.sizes, "numbers of keys, such as 1000 or 2^20")->delimiter(',')->capture_default_str();
  app.add_option("--input", options.inputs, "the judge's inputs; all: each of them, and values:33 and values:1000")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--type", options.types, "types of keys")->delimiter(',')->capture_default_str();
  app.add_option("--against", options.against, "only other sorts with this name, such as radix");
  app.add_flag("--descending", options.descending);
  app.add_option("--runs", options.runs, "timed runs")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--seed", options.seed, "of the inputs")->capture_default_str();
  app.add_option("--commit", options.commit, "of the sources, for the rows: $(git rev-parse --short HEAD)")->required();
  CLI11_PARSE(app, argc, argv);
  if (options.inputs == std::vector<std::string>{"all"}) {
    options.inputs = {"values:33", "values:1000"};
    for (const lab::InputFacts& input : lab::inputs()) options.inputs.push_back(input.name);
  }
  measure(options);
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}

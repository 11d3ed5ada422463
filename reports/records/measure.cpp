// Times one line of a lab's table of steps, and beside it every line of the gold standard that does the same, and
// libcusort if it was given to Meson. All are timed in this process, on the same keys, and nothing else happens between
// a run's start and its end: the judge, which runs steps in another process, also times what that costs the host.
// --draw draws what is sorted (draw.h). README.md names the commands. LAB_SPACE: the C++ namespace of the lab's table. LAB_GOLD: what rows call the gold
// standard, such as "CUB".
#include <cuda_runtime.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "draw.h"
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

constexpr std::int64_t many_keys = std::int64_t{1} << 26;
constexpr int runs_of_many_keys = 5;  ///< in drawn cells, where few runs are as many as the time allows

/// The command line.
struct Options {
  std::string machine;
  std::string step = "record", beside, commit, against;
  std::vector<std::string> sizes = {"2^16", "2^20", "2^26", "2^28"}, inputs = {"uniform"}, types = {"u32"};
  bool descending = false;
  int runs = 11;
  std::uint64_t seed = 1;
  std::uint64_t draw = 0;  ///< the seed of the cells that are drawn; 0: none are
  int cells = 64;

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
  bool is_peer = true;  ///< not a step of the lab
};

/// Milliseconds of a contender's runs.
struct Times {
  std::string name;
  bool is_peer;  ///< and sorts by the same order: libcusort 1.0.1 puts -0 before +0
  double shortest, median;
};

/// Keys and values, or a task's result, in host memory or on the device.
template <template <class> class Array>
struct Arrays {
  Array<char> keys, values;
};

/// A problem in memory, and how one run of it goes. The classes below make the keys, and check what comes out.
class Bench {
 public:
  explicit Bench(const Problem& problem)
      : problem_(problem),
        host_begins_(problem.task == Task::segments ? lab::segment_begins(problem.task, problem.n)
                                                    : std::vector<int>()) {
    copy(begins_.data(), host_begins_.data(), std::ssize(host_begins_) * std::int64_t{sizeof(int)});
  }
  virtual ~Bench() = default;

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
  virtual void expect_output() = 0;

  /// Throws lab::Error if the last run's output is wrong. False: the keys are in another order, in which -0 is not +0.
  virtual bool verify(const Contender& by) = 0;

 protected:
  /// Those of pairs; else null.
  std::uint32_t* values_of(const auto& arrays) const {
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
};

/// Keys by one of the judge's inputs, made and compared on the host.
class NamedBench : public Bench {
 public:
  explicit NamedBench(const Problem& problem) : Bench(problem) {
    lab::make_keys(problem.input, problem.type, problem.seed, problem.n, output_.keys.data());
    std::fill_n(output_.values.data(), value_bytes_, char(0xa5));
    if (problem.carries_values()) lab::make_values(problem.seed, problem.n, values_of(output_));
    copy(input_, output_);
  }

  void expect_output() override {
    copy(expected_, work_);
    CUDA_CHECK(cudaStreamSynchronize(stream_));
  }

  bool verify(const Contender& by) override {
    copy(output_, work_);
    CUDA_CHECK(cudaStreamSynchronize(stream_));
    const Problem& p = problem_;
    const lab::Fault fault =
        p.task == Task::sort
            ? lab::compare({p.type, p.order, p.n, by.step->tile, by.step->stable},
                           {expected_.keys.data(), values_of(expected_)}, {output_.keys.data(), values_of(output_)})
            : lab::compare_results(p.task, p.n, expected_.values.data(), output_.values.data());
    if (!fault.text.empty()) throw lab::Error(fmt::format("{}, {}, n = {}: {}", by.name, p.input, p.n, fault.text));
    return true;
  }

 private:
  const Arrays<PinnedArray> expected_{PinnedArray<char>(bytes_), PinnedArray<char>(value_bytes_)};
  const Arrays<PinnedArray> output_{PinnedArray<char>(bytes_), PinnedArray<char>(value_bytes_)};
};

/// Keys that were drawn, made and compared on the device.
class DrawnBench : public Bench {
 public:
  DrawnBench(const Problem& problem, const draw::Cell& cell) : Bench(problem), cell_(cell) {
    draw::make_keys(cell, input_.keys.data(), values_of(input_), stream_);
  }

  void expect_output() override { copy(expected_, work_); }

  bool verify(const Contender& by) override {
    const draw::Sorted expected{expected_.keys.data(), values_of(expected_)};
    const draw::Sorted actual{work_.keys.data(), by.step->stable ? values_of(work_) : nullptr};
    if (draw::differences(cell_, expected, actual, draw::Zeros::differ, stream_) == 0) return true;
    const std::int64_t wrong = draw::differences(cell_, expected, actual, draw::Zeros::are_equal, stream_);
    if (wrong == 0 && (by.is_peer || !by.step->stable)) return false;
    throw lab::Error(
        fmt::format("{}, {}, n = {}: {} keys or values are wrong", by.name, problem_.input, problem_.n, wrong));
  }

 private:
  const draw::Cell cell_;
  const Arrays<DeviceArray> expected_{{bytes_, stream_}, {value_bytes_, stream_}};
};

const Step& step_named(const std::string& name) {
  for (const Step& step : LAB_SPACE::steps) {
    if (name == step.name && !step.in_host_memory()) return step;
  }
  throw lab::Error(fmt::format("{} has no step '{}' of keys on the device", LAB_SPACE::traits.name, name));
}

/// The gold standard's lines first, the step last.
std::vector<Contender> contenders(const Step& step, const Problem& problem, const Options& options) {
  const std::string& against = options.against;
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
  const auto own = [&](const Step& line) {
    found.push_back({fmt::format("{} {}", LAB_SPACE::traits.name, line.name), &line, false});
  };
  if (!options.beside.empty()) own(step_named(options.beside));
  own(step);
  return found;
}

/// Each contender has one run before those that are timed. Every output is compared with that of the first contender.
std::vector<Times> times_of(const std::vector<Contender>& all, Bench& bench, int runs) {
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
    bool same_order = true;
    for (int run = 0; run < runs; ++run) {
      milliseconds.push_back(bench.run(*one.step));
      same_order &= bench.verify(one);
    }
    times.push_back(
        {one.name, one.is_peer && same_order, std::ranges::min(milliseconds), lab::quartiles(milliseconds).median});
  }
  return times;
}

void print(const std::vector<Times>& all, const Problem& problem, int runs, const Options& options) {
  const double step = all.back().median;
  for (const Times& times : all) {
    fmt::print("{},{},{},{},{},{},{},{},{:.4f},{:.4f},{:.2f},{:.3f}\n", options.machine, options.commit, times.name,
               lab::name_of(problem.type), lab::name_of(problem.order), problem.input, problem.n, runs, times.shortest,
               times.median, double(problem.n) / times.median / 1e6, times.median / step);
  }
  std::fflush(stdout);
}

std::int64_t size_of(const std::string& text) {
  const std::int64_t n = text.starts_with("2^") ? std::int64_t{1} << std::stoi(text.substr(2)) : std::stoll(text);
  if (n < 1) throw lab::Error("there must be at least one key");
  return n;
}

void measure_named(const Step& step, const Options& options) {
  for (const std::string& type : options.types) {
    for (const std::string& input : options.inputs) {
      for (const std::string& n : options.sizes) {
        const Problem problem{step.task(), lab::key_type_named(type), options.order(), input, size_of(n), options.seed};
        NamedBench bench(problem);
        print(times_of(contenders(step, problem, options), bench, options.runs), problem, options.runs, options);
      }
    }
  }
}

/// How many times as fast as the fastest peer the step is in a cell.
struct DrawnRatio {
  double ratio;
  std::string cell;
};

void print_summary(std::vector<DrawnRatio> cells) {
  std::ranges::sort(cells, {}, &DrawnRatio::ratio);
  const auto percent = [&](double least) {
    return 100.0 * double(std::ranges::count_if(cells, [&](const auto& cell) { return cell.ratio >= least; })) /
           double(cells.size());
  };
  fmt::print("# {} cells: {:.1f} % at or above 1.0 x the fastest peer, {:.1f} % at or above 0.97\n", cells.size(),
             percent(1), percent(0.97));
  for (std::size_t i = 0; i < std::min(cells.size(), std::size_t{5}); ++i) {
    fmt::print("# {:.3f} {}\n", cells[i].ratio, cells[i].cell);
  }
}

/// Draws cells from the types and between the sizes of the options.
void measure_drawn(const Step& step, const Options& options) {
  std::vector<KeyType> types;
  for (const std::string& type : options.types) types.push_back(lab::key_type_named(type));
  std::vector<DrawnRatio> ratios;
  for (const draw::Cell& cell :
       draw::cells(options.draw, options.cells, types, size_of(options.sizes.front()), size_of(options.sizes.back()))) {
    const Problem problem{step.task(), cell.type, cell.order, draw::describe(cell), cell.n, cell.seed};
    const int runs = cell.n <= many_keys ? options.runs : std::min(options.runs, runs_of_many_keys);
    DrawnBench bench(problem, cell);
    const std::vector<Times> all = times_of(contenders(step, problem, options), bench, runs);
    print(all, problem, runs, options);
    double peer = std::numeric_limits<double>::infinity();
    for (const Times& times : all) peer = times.is_peer ? std::min(peer, times.median) : peer;
    ratios.push_back({peer / all.back().median, fmt::format("{} {} {} n = {}", lab::name_of(cell.type),
                                                            lab::name_of(cell.order), problem.input, cell.n)});
  }
  print_summary(std::move(ratios));
}

void measure(Options& options) {
  cudaDeviceProp device{};
  CUDA_CHECK(cudaGetDeviceProperties(&device, 0));
  options.machine = device.name;
  lab::keep_freed_memory();
  const Step& step = step_named(options.step);
  fmt::print("machine,commit,sort,type,order,input,n,runs,min_ms,median_ms,gkeys_per_s,ratio\n");
  if (options.draw == 0) {
    measure_named(step, options);
  } else {
    measure_drawn(step, options);
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
  app.add_option("--beside", options.beside, "another line of the lab's steps.h, to be timed as well");
  app.add_option("--draw", options.draw,
                 "a seed: draw inputs, orders, types of --type and sizes from --n's first to last");
  app.add_option("--cells", options.cells, "how many are drawn")->check(CLI::PositiveNumber)->capture_default_str();
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

// Sorts keys on as many GPUs as there are processes, by step 04. Each process makes its share of the keys on its GPU,
// NCCL exchanges them, and the result is verified. Started by MPI, on one host or several:
//   mpirun -n 2 many-gpus --per-gpu 2^32 --input uniform
// Process 0 prints one line of JSON. An error of any process ends all of them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "device.h"
#include "processes.h"
#include "runner/cuda_handles.h"
#include "step/device_array.h"
#include "step/key_type.h"

namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::string n, per_gpu, input = "uniform", order = "ascending";
  std::uint64_t seed = 1;
  int repeats = 3, local_sort = 6, parts = 0;  ///< parts: of the exchange; 0: as many as parts_for() says
};

/// A whole number, or a power such as 2^33. Throws lab::Error.
std::int64_t number(const std::string& text, const char* option) {
  try {
    std::size_t used = 0;
    const std::int64_t base = std::stoll(text, &used);
    if (used == text.size() && base >= 0) return base;
    const int exponent = std::stoi(text.substr(used + 1));
    if (base == 2 && text[used] == '^' && exponent >= 0 && exponent < 48) return std::int64_t{1} << exponent;
  } catch (const std::logic_error&) {
  }
  throw lab::Error(
      fmt::format("{} {} is not a number of keys: give a whole number or a power of two as 2^33", option, text));
}

/// How long a sort took, in milliseconds: for each phase, the longest time of all processes. `join` is what remains of
/// the merges when all keys have arrived.
struct Times {
  double sort = 0, splitters = 0, exchange = 0, join = 0, total = 0;
};

/// What a GPU gets and sends.
struct Load {
  std::int64_t keys = 0, sent = 0;
};

/// This process's part of a sort.
class Sorter {
 public:
  Sorter(const beyond::Processes& processes, const Options& options, std::int64_t n)
      : processes_(processes), options_(options), n_(n), order_(lab::order_named(options.order)) {
    const int gpus = processes.count;
    first_ = beyond::share_begin(n, gpus, processes.rank);
    size_ = beyond::share_begin(n, gpus, processes.rank + 1) - first_;
    if (gpus > 1) parts_ = options.parts > 0 ? options.parts : beyond::parts_for(n, gpus);
    keep_freed_memory();
    if (gpus > 1) communicator_.emplace(processes);
    const beyond::Communicator* const communicator = gpus > 1 ? &*communicator_ : nullptr;
    share_.emplace(size_ + beyond::unit, communicator);  // the last unit that is sent ends behind the share
    if (gpus > 1) received_.emplace(beyond::room_for(capacity(), gpus, parts_), communicator);
  }

  /// Makes the keys, sorts and verifies them. All processes call it.
  Times run() {
    beyond::make_keys({share_->data(), size_}, options_.input, options_.seed, first_, n_, stream_);
    const std::uint64_t before = processes_.sum(beyond::facts_of({share_->data(), size_}, order_, stream_).checksum);
    CUDA_CHECK(cudaStreamSynchronize(stream_));
    processes_.wait_for_all();
    const auto started = Clock::now();
    sort();
    CUDA_CHECK(cudaStreamSynchronize(stream_));
    const double total = std::chrono::duration<double, std::milli>(Clock::now() - started).count();
    verify(before);
    const auto phase = [&](int i) { return processes_.largest(lab::milliseconds_between(events_[i], events_[i + 1])); };
    return {phase(0), phase(1), phase(2), phase(3), processes_.largest(total)};
  }

  /// Sorts the same keys by CUB, on one GPU; the time in milliseconds.
  double run_cub() {
    beyond::make_keys({share_->data(), size_}, options_.input, options_.seed, first_, n_, stream_);
    CUDA_CHECK(cudaEventRecord(events_[0], stream_));
    beyond::sort_by_cub({share_->data(), size_}, order_, stream_);
    CUDA_CHECK(cudaEventRecord(events_[1], stream_));
    CUDA_CHECK(cudaStreamSynchronize(stream_));
    return lab::milliseconds_between(events_[0], events_[1]);
  }

  Load load() const { return load_; }
  int parts() const { return parts_; }

  /// How many keys run_all_to_all() sends from each GPU to each.
  std::int64_t all_to_all_keys() const {
    return n_ / processes_.count / processes_.count / beyond::unit * beyond::unit;
  }

  /// How long NCCL's own all-to-all takes, in milliseconds: the longest time of all processes.
  double run_all_to_all() {
    CUDA_CHECK(cudaStreamSynchronize(stream_));
    processes_.wait_for_all();
    CUDA_CHECK(cudaEventRecord(events_[0], communicator_->stream()));
    communicator_->all_to_all(*share_, *received_, all_to_all_keys());
    CUDA_CHECK(cudaEventRecord(events_[1], communicator_->stream()));
    return processes_.largest(lab::milliseconds_between(events_[0], events_[1]));
  }

 private:
  /// Freed memory stays with this process, because getting it from the driver again takes longer than the sort.
  static void keep_freed_memory() {
    int device = 0;
    cudaMemPool_t pool;
    std::uint64_t all = std::numeric_limits<std::uint64_t>::max();
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, device));
    CUDA_CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all));
  }

  /// How many keys a GPU may get: 10 % more than the average.
  std::int64_t capacity() const { return n_ / processes_.count * 11 / 10 + processes_.count; }

  void sort() {
    joined_ = {};  // the sort needs as much memory
    record(0);
    beyond::sort_share({share_->data(), size_}, options_.local_sort, order_, stream_);
    record(1);
    result_ = {share_->data(), size_};
    load_ = {size_, 0};
    if (processes_.count == 1) {
      for (int i = 2; i < 5; ++i) record(i);
      return;
    }
    const std::vector<beyond::Part> parts = make_plan();
    record(2);
    exchange_and_join(parts);
    std::int64_t sent = 0;
    for (const beyond::Part& part : parts) {
      for (const beyond::Range& range : part.sent) sent += range.n;
    }
    load_ = {result_.n, sent};
  }

  /// Each part is joined in stream_ while the next one is sent in the communicator's stream.
  void exchange_and_join(const std::vector<beyond::Part>& parts) {
    joined_ = {received_keys(parts), stream_};
    result_ = {joined_.data(), joined_.size()};
    CUDA_CHECK(cudaStreamWaitEvent(communicator_->stream(), events_[2], 0));
    for (const beyond::Part& part : parts) {
      communicator_->exchange(*share_, *received_, part);
      CUDA_CHECK(cudaEventRecord(events_[3], communicator_->stream()));
      CUDA_CHECK(cudaStreamWaitEvent(stream_, events_[3], 0));
      std::vector<lab::Span<const std::uint32_t>> runs;
      for (int gpu = 0; gpu < processes_.count; ++gpu) {
        const auto* const keys = gpu == processes_.rank ? share_->data() : received_->data();
        runs.push_back({keys + part.runs[gpu].first, part.runs[gpu].n});
      }
      beyond::join_runs(std::move(runs), joined_.data() + part.result.first, options_.local_sort, order_, stream_);
    }
    record(4);
  }

  /// Splitters from the samples of all processes, and how many keys each has for each.
  std::vector<beyond::Part> make_plan() const {
    const int gpus = processes_.count;
    const lab::Span<const std::uint32_t> share{share_->data(), size_};
    std::vector<std::int64_t> samples;
    for (int gpu = 0; gpu < gpus; ++gpu) {
      const std::int64_t size = beyond::share_begin(n_, gpus, gpu + 1) - beyond::share_begin(n_, gpus, gpu);
      samples.push_back(beyond::SamplePlaces(size, gpus, gpu).count);
    }
    const auto splitters = beyond::splitters_from(
        processes_.gather(beyond::sample_share(share, first_, gpus, processes_.rank, order_, stream_), samples),
        gpus * parts_);
    const auto begins = beyond::find_begins(share, first_, splitters, order_, stream_);
    std::vector<std::int64_t> own;
    for (int i = 0; i < gpus * parts_; ++i) own.push_back(begins[i + 1] - begins[i]);
    const auto counts = processes_.gather(own, std::vector<std::int64_t>(gpus, gpus * parts_));
    const std::vector<beyond::Part> parts = beyond::plan_parts(counts, gpus, parts_, processes_.rank);
    if (received_keys(parts) > capacity()) {
      throw lab::Error(
          fmt::format("this GPU gets {} keys, more than the {} for which there is room: the splitters do not "
                      "divide the keys evenly",
                      received_keys(parts), capacity()));
    }
    return parts;
  }

  void verify(std::uint64_t checksum) {
    const beyond::Facts facts = beyond::facts_of(result_, order_, stream_);
    struct Ends {
      std::int64_t n;
      std::uint32_t first, last;
    } own{result_.n, 0, 0};
    if (own.n > 0) {
      CUDA_CHECK(cudaMemcpy(&own.first, result_.data, sizeof own.first, cudaMemcpyDeviceToHost));
      CUDA_CHECK(cudaMemcpy(&own.last, result_.data + own.n - 1, sizeof own.last, cudaMemcpyDeviceToHost));
    }
    const auto all = processes_.gather(std::vector<Ends>{own}, std::vector<std::int64_t>(processes_.count, 1));
    std::int64_t n = 0;
    const Ends* previous = nullptr;
    for (const Ends& ends : all) {
      if (ends.n == 0) continue;
      if (previous != nullptr && lab::before(ends.first, previous->last, order_)) {
        throw lab::Error("the result is wrong: the keys of two GPUs are not in order");
      }
      previous = &ends;
      n += ends.n;
    }
    if (processes_.sum(facts.inversions) > 0)
      throw lab::Error("the result is wrong: the keys of a GPU are not in order");
    if (n != n_ || processes_.sum(facts.checksum) != checksum) {
      throw lab::Error("the result is wrong: it is in order, but does not have the keys of the input");
    }
  }

  void record(int event) { CUDA_CHECK(cudaEventRecord(events_[event], stream_)); }

  const beyond::Processes& processes_;
  const Options& options_;
  const std::int64_t n_;
  const lab::Order order_;
  std::int64_t first_ = 0, size_ = 0;
  int parts_ = 1;  ///< of the exchange
  lab::Stream stream_;
  lab::Event events_[5];
  std::optional<beyond::Communicator> communicator_;
  std::optional<beyond::SharedKeys> share_, received_;
  lab::DeviceArray<std::uint32_t> joined_;
  lab::Span<const std::uint32_t> result_;
  Load load_;
};

std::string gpu_name() {
  int device = 0;
  cudaDeviceProp properties;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
  return properties.name;
}

std::string nccl_version() {
  int version = 0;
  beyond::check_nccl(ncclGetVersion(&version), "ncclGetVersion", nullptr);
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

/// The run with the median time.
Times median(std::vector<Times> times) {
  const auto middle = times.begin() + std::ssize(times) / 2;
  std::nth_element(times.begin(), middle, times.end(),
                   [](const Times& a, const Times& b) { return a.total < b.total; });
  return *middle;
}

/// The median of `repeats` calls of f, after one that is not timed.
template <class F>
double median_of(int repeats, F&& f) {
  f();
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) times.push_back(f());
  std::nth_element(times.begin(), times.begin() + repeats / 2, times.end());
  return times[repeats / 2];
}

nlohmann::ordered_json described(const Options& options, std::int64_t n, int gpus) {
  return {{"n", n},
          {"gpus", gpus},
          {"input", options.input},
          {"order", options.order},
          {"seed", options.seed},
          {"local_sort", options.local_sort},
          {"repeats", options.repeats}};
}

void sort_and_report(const beyond::Processes& processes, const Options& options) {
  const int gpus = processes.count;
  if (gpus > beyond::max_gpus) throw lab::Error(fmt::format("at most {} GPUs are possible", beyond::max_gpus));
  const std::int64_t n = options.per_gpu.empty() ? number(options.n.empty() ? "2^28" : options.n, "--n")
                                                 : number(options.per_gpu, "--per-gpu") * gpus;
  processes.choose_gpu();
  Sorter sorter(processes, options, n);
  const Times first = sorter.run();  // NCCL connects the GPUs, and CUDA loads the kernels
  std::vector<Times> times;
  for (int i = 0; i < options.repeats; ++i) times.push_back(sorter.run());
  const Times t = median(times);
  constexpr std::int64_t key_bytes = sizeof(std::uint32_t);
  const std::int64_t most_keys = processes.largest(sorter.load().keys),
                     most_sent = processes.largest(sorter.load().sent);
  nlohmann::ordered_json line = described(options, n, gpus);
  line.update({{"parts", sorter.parts()},
               {"sort_ms", t.sort},
               {"splitters_ms", t.splitters},
               {"exchange_ms", t.exchange},
               {"join_ms", t.join},
               {"total_ms", t.total},
               {"keys_per_s", n / t.total * 1000},
               {"balance", n == 0 ? 1.0 : double(most_keys) * gpus / double(n)},
               {"nccl_share", gpus == 1 ? 0 : t.exchange / t.total},
               {"bytes_sent", most_sent * key_bytes},
               {"first_exchange_ms", first.exchange}});
  if (const std::int64_t keys = sorter.all_to_all_keys(); gpus > 1 && keys > 0) {
    const double ms = median_of(options.repeats, [&] { return sorter.run_all_to_all(); });
    line["exchange_gb_per_s"] = double(most_sent * key_bytes) / t.exchange / 1e6;
    line["all_to_all_gb_per_s"] = double((gpus - 1) * keys * key_bytes) / ms / 1e6;
  }
  line.update({{"verified", true}, {"gpu", gpu_name()}, {"nccl", nccl_version()}});
  if (gpus == 1) line["cub_ms"] = median_of(options.repeats, [&] { return sorter.run_cub(); });
  if (processes.rank == 0) std::puts(line.dump().c_str());
}

}  // namespace

int main(int argc, char** argv) {
  std::unique_ptr<beyond::Processes> processes;
  try {
    processes = std::make_unique<beyond::Processes>(&argc, &argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  Options options;
  CLI::App app("Sorts 32-bit keys on one GPU per process; started by mpirun.");
  app.add_option("--n", options.n, "keys in all, such as 2^33 (default: 2^28)");
  app.add_option("--per-gpu", options.per_gpu, "keys per GPU, instead of --n")->excludes("--n");
  app.add_option("--input", options.input, std::string("one of: ") + beyond::input_names);
  app.add_option("--order", options.order, "ascending or descending");
  app.add_option("--seed", options.seed, "of the input");
  app.add_option("--repeats", options.repeats, "timed sorts, after one that is not timed")->check(CLI::Range(1, 1000));
  app.add_option("--local-sort", options.local_sort, "step of lab 05 that sorts a share")->check(CLI::Range(4, 6));
  app.add_option("--parts", options.parts, "parts of the exchange, each joined while the next is sent")
      ->check(CLI::Range(1, 64));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (processes->rank != 0) std::fclose(stderr), std::fclose(stdout);  // one process says it
    return app.exit(error);
  }
  try {
    sort_and_report(*processes, options);
  } catch (const std::exception& error) {
    processes->end_all(error.what());
  }
  return 0;
}

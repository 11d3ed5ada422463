// Divides keys among 2, 4, 8, ... simulated GPUs by step 04's splitters and exchange plan, compiled for the CPU, and
// prints a line of JSON for each number of GPUs: how full the shares are, and what crosses the links. No key is sent.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "exchange.h"
#include "judge/inputs.h"
#include "judge/parallel.h"
#include "step/device_array.h"

namespace {

using Numbers = std::vector<std::uint32_t>;

/// Shares in host memory; each is sorted, as its GPU would do.
struct Shares {
  Numbers keys;
  int gpus;

  std::int64_t begin(int gpu) const { return beyond::share_begin(std::ssize(keys), gpus, gpu); }

  void sort() {
    lab::parallel_pieces(gpus, std::min(gpus, lab::core_count()), [&](int, std::int64_t first, std::int64_t last) {
      for (std::int64_t gpu = first; gpu < last; ++gpu) {
        std::sort(keys.begin() + begin(int(gpu)), keys.begin() + begin(int(gpu) + 1));
      }
    });
  }

  /// Calls f(share in device memory, index of its first key, GPU), for one GPU after another.
  template <class F>
  void for_each(F&& f) const {
    const lab::DeviceArray<std::uint32_t> device(std::ssize(keys) / gpus + 1, nullptr);
    for (int gpu = 0; gpu < gpus; ++gpu) {
      const std::int64_t first = begin(gpu), n = begin(gpu + 1) - first;
      if (n > 0) {
        CUDA_CHECK(cudaMemcpyAsync(device.data(), keys.data() + first, n * sizeof(std::uint32_t),
                                   cudaMemcpyHostToDevice, nullptr));
      }
      f(lab::Span<const std::uint32_t>{device.data(), n}, first, gpu);
    }
  }
};

nlohmann::ordered_json simulate(const std::string& input, std::uint64_t seed, std::int64_t per_gpu, int gpus) {
  Shares shares{Numbers(per_gpu * gpus), gpus};
  lab::make_keys(input, lab::KeyType::u32, seed, per_gpu * gpus, shares.keys.data());
  shares.sort();
  std::vector<beyond::Splitter> samples;
  shares.for_each([&](auto share, std::int64_t first, int gpu) {
    for (const beyond::Splitter& sample :
         beyond::sample_share(share, first, gpus, gpu, lab::Order::ascending, nullptr)) {
      samples.push_back(sample);
    }
  });
  const std::int64_t sample_count = std::ssize(samples);
  const auto started = std::chrono::steady_clock::now();
  const auto splitters = beyond::splitters_from(std::move(samples), gpus);
  const std::chrono::duration<double, std::milli> splitters_time = std::chrono::steady_clock::now() - started;
  std::vector<std::int64_t> counts;
  shares.for_each([&](auto share, std::int64_t first, int) {
    const auto begins = beyond::find_begins(share, first, splitters, lab::Order::ascending, nullptr);
    for (int to = 0; to < gpus; ++to) counts.push_back(begins[to + 1] - begins[to]);
  });
  std::int64_t most_keys = 0, most_sent = 0, most_received = 0, all = 0;
  for (int gpu = 0; gpu < gpus; ++gpu) {
    const beyond::ExchangePlan plan = beyond::plan_exchange(counts, gpus, gpu);
    const std::int64_t kept = counts[std::int64_t(gpu) * gpus + gpu];
    all += plan.received();
    most_keys = std::max(most_keys, plan.received());
    most_sent = std::max(most_sent, plan.send_begins.back() - kept);
    most_received = std::max(most_received, plan.received() - kept);
  }
  if (all != per_gpu * gpus) throw lab::Error("keys are lost: the splitters or the plan of step 04 are wrong");
  return {{"gpus", gpus},
          {"keys_per_gpu", per_gpu},
          {"input", input},
          {"samples", sample_count},
          {"splitters_ms", splitters_time.count()},
          {"most_keys", most_keys},
          {"most_sent", most_sent},
          {"most_received", most_received}};
}

}  // namespace

int main(int argc, char** argv) {
  int gpus = beyond::max_gpus;
  std::int64_t per_gpu = 1 << 14;
  std::uint64_t seed = 1;
  std::string input = "uniform";
  CLI::App app("Divides keys among simulated GPUs by step 04's splitters and exchange plan.");
  app.add_option("--gpus", gpus, "the largest number of GPUs")->check(CLI::Range(2, beyond::max_gpus));
  app.add_option("--per-gpu", per_gpu, "keys per GPU")->check(CLI::Range(1, 1 << 24));
  app.add_option("--input", input, "as in ./workbook run");
  app.add_option("--seed", seed, "of the input");
  CLI11_PARSE(app, argc, argv);
  try {
    for (int now = 2;; now = std::min(2 * now, gpus)) {
      std::puts(simulate(input, seed, per_gpu, now).dump().c_str());
      std::fflush(stdout);
      if (now == gpus) return 0;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

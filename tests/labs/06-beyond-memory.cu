// What the judge does not see of lab 06: runs of any number and length, how much device memory is used and how, and
// several streams.
#include <doctest/doctest.h>
#include <simt/launch.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "beyond.h"
#include "buckets.h"
#include "exchange.h"
#include "labs/on_device.h"
#include "many_gpus/parts.h"
#include "runner/kernel_times.h"
#include "runs.cuh"
#include "step/host_view.h"
#include "steps.h"

namespace {

using lab::Order;
using Numbers = std::vector<std::uint32_t>;

Numbers random_keys(std::int64_t n, std::uint32_t values) {
  std::mt19937 random(1);
  Numbers keys(n);
  for (std::uint32_t& key : keys) key = values == 0 ? random() : random() % values;
  return keys;
}

/// Where runs of any length begin, and where the last one ends. Some are empty.
std::vector<std::int64_t> random_begins(int runs, std::int64_t n, std::mt19937& random) {
  std::vector<std::int64_t> begins = {0, n};
  for (int run = 1; run < runs; ++run) begins.push_back(random() % (n + 1));
  std::sort(begins.begin(), begins.end());
  return begins;
}

void sort_runs(Numbers& keys, const std::vector<std::int64_t>& begins, Order order) {
  for (std::size_t run = 0; run + 1 < begins.size(); ++run) {
    std::sort(keys.begin() + begins[run], keys.begin() + begins[run + 1], comparison(order));
  }
}

beyond::Keys span_of(Numbers& keys) { return {keys.data(), std::ssize(keys)}; }

/// Sorts each run, merges the runs, and compares with all keys sorted at once.
void check_runs(Numbers keys, const std::vector<std::int64_t>& begins, Order order) {
  const Numbers right = in_order(keys, order);
  Numbers scratch(keys.size(), 77);
  sort_runs(keys, begins, order);
  beyond::merge_runs(span_of(keys), span_of(scratch), begins, order);
  CHECK(keys == right);
}

struct Launches {
  std::set<cudaStream_t> streams;
  std::vector<std::string> kernels;
} launches;

/// Runs a step on n keys, and returns the most device memory that it had at a time.
std::int64_t memory_of(const lab::Step& step, std::int64_t n, std::int64_t device_bytes, std::uint32_t values = 0) {
  Numbers keys = random_keys(n, values), scratch(n);
  const Numbers right = in_order(keys, Order::ascending);
  cudaMemPool_t pool;
  std::uint64_t bytes = 0;
  CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
  CUDA_CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &bytes));
  launches = {};
  simt::listen_to_launches([](const simt::Kernel& kernel, const simt::LaunchConfig& config, double) {
    launches.streams.insert(config.stream);
    launches.kernels.emplace_back(kernel.name);
  });
  std::get<lab::SortHostMemory>(step.function)
      .function(span_of(keys), span_of(scratch), Order::ascending, device_bytes, {}, nullptr);
  simt::listen_to_launches(nullptr);
  CHECK(keys == right);
  CUDA_CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &bytes));
  return std::int64_t(bytes);
}

/// What a clock records while a step sorts n keys.
lab::Recording recording_of(const lab::Step& step, std::int64_t n, std::int64_t device_bytes) {
  Numbers keys = random_keys(n, 0), scratch(n);
  lab::KernelClock clock;
  std::get<lab::SortHostMemory>(step.function)
      .function(span_of(keys), span_of(scratch), Order::ascending, device_bytes, {}, nullptr);
  return clock.recording();
}

}  // namespace

TEST_CASE("runs of any number and length are merged") {
  std::mt19937 random(2);
  for (Order order : {Order::ascending, Order::descending}) {
    check_runs({}, {0, 0}, order);
    check_runs({}, {0, 0, 0, 0}, order);
    check_runs({5}, {0, 1}, order);
    check_runs({5}, {0, 0, 0, 1, 1}, order);
    for (int runs : {1, 2, 3, 4, 5, 7, 8, 31, 33, 100, 1000}) {
      CAPTURE(runs);
      for (std::uint32_t values : {0u, 1u, 3u}) {
        check_runs(random_keys(3000, values), random_begins(runs, 3000, random), order);
      }
    }
  }
}

TEST_CASE("the smallest and the largest key are keys like any other") {
  Numbers keys;
  for (int i = 0; i < 1000; ++i) keys.push_back(i % 3 == 0 ? 0 : i % 3 == 1 ? ~0u : i);
  std::vector<std::int64_t> begins;
  for (std::int64_t begin = 0; begin <= 1000; begin += 100) begins.push_back(begin);
  for (Order order : {Order::ascending, Order::descending}) check_runs(keys, begins, order);
}

TEST_CASE("steps use most of the device memory that they may, and no more") {
  for (const lab::Step& step : beyond::steps) {
    CAPTURE(step.name);
    for (std::int64_t device_bytes : {beyond::fewest_device_bytes, std::int64_t{600'000}, std::int64_t{1} << 20}) {
      CAPTURE(device_bytes);
      const std::int64_t n = step.number == 1 ? 20'000 : 150'000;
      const std::int64_t most = memory_of(step, n, device_bytes);
      CHECK(most <= device_bytes);
      // (The emulation frees what one sort needs before the next begins.)
      if (step.number != 1) CHECK(most > device_bytes / 5 * 2);
    }
  }
}

TEST_CASE("the sort of a piece allocates what lab 05 says") {
  cudaMemPool_t pool;
  CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
  for (std::int64_t n : {2, 1000, 7680, 7681, 100'000}) {
    CAPTURE(n);
    const lab::DeviceArray<std::uint32_t> keys(n, nullptr);
    CUDA_CHECK(cudaMemsetAsync(keys.data(), 0, n * sizeof(std::uint32_t), nullptr));
    std::uint64_t before = 0, bytes = 0;
    CUDA_CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &before));
    CUDA_CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &bytes));
    beyond::sort_piece(keys.data(), n, Order::ascending, 0, nullptr);
    CUDA_CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &bytes));
    CHECK(std::int64_t(bytes - before) == radix::onesweep_temporary_bytes(n));
  }
}

TEST_CASE("pieces and buckets are distributed over three streams, none of them the caller's") {
  for (int number : {2, 3}) {
    CAPTURE(number);
    memory_of(beyond::steps[number - 1], 60'000, beyond::fewest_device_bytes);
    CHECK(launches.streams.size() == 3);
    CHECK(!launches.streams.contains(nullptr));
  }
}

TEST_CASE("keys of one value are not sorted, however many there are") {
  const lab::Step& partition = beyond::steps[2];
  const auto sorts = [] {
    return std::count_if(launches.kernels.begin(), launches.kernels.end(),
                         [](const std::string& kernel) { return kernel.find("sweep") != std::string::npos; });
  };
  memory_of(partition, 60'000, beyond::fewest_device_bytes, 1);
  CHECK(sorts() == 0);
  memory_of(partition, 60'000, beyond::fewest_device_bytes, 4);
  CHECK(sorts() == 0);
  memory_of(partition, 60'000, beyond::fewest_device_bytes);
  CHECK(sorts() > 0);
}

TEST_CASE("splitters are keys, in order and all different, and their buckets have about the same size") {
  for (std::uint32_t values : {0u, 1u, 2u, 50u}) {
    CAPTURE(values);
    Numbers keys = random_keys(200'000, values);
    const beyond::Splitters splitters = beyond::choose_splitters(span_of(keys), 5000, 0);
    REQUIRE(splitters.n >= 1);
    CHECK(std::is_sorted(splitters.bits, splitters.bits + splitters.n));
    CHECK(std::adjacent_find(splitters.bits, splitters.bits + splitters.n) == splitters.bits + splitters.n);
    std::vector<std::int64_t> between(splitters.n + 1);
    for (std::uint32_t key : keys) {
      const auto* const at = std::lower_bound(splitters.bits, splitters.bits + splitters.n, key);
      if (at == splitters.bits + splitters.n || *at != key) ++between[at - splitters.bits];
    }
    CHECK(*std::max_element(between.begin(), between.end()) < 8000);
    for (int i = 0; i < splitters.n; ++i) CHECK(std::count(keys.begin(), keys.end(), splitters.bits[i]) > 0);
  }
}

TEST_CASE("a bucket that is too large is divided again") {
  // A pattern that a sample at equal distances would not see: far more keys per splitter than fit, and most of them
  // close together.
  const lab::Step& partition = beyond::steps[2];
  const std::int64_t n = 2'000'000;
  CHECK(memory_of(partition, n, beyond::fewest_device_bytes) <= beyond::fewest_device_bytes);
  const auto groups = std::count_if(launches.kernels.begin(), launches.kernels.end(), [](const std::string& kernel) {
    return kernel.find("group") != std::string::npos;
  });
  CHECK(groups >
        n / beyond::keys_per_slot(beyond::fewest_device_bytes) + 1);  // more than one round trip for each piece
}

TEST_CASE("a timeline has the copies and kernels of all streams, in order, with the bytes of the copies") {
  const std::int64_t n = 60'000, piece = beyond::keys_per_slot(beyond::fewest_device_bytes);
  const lab::Recording recording = recording_of(beyond::steps[1], n, beyond::fewest_device_bytes);
  std::map<std::string, std::int64_t> bytes, pieces, launches_of;
  std::map<int, std::string> last;  // stream -> what it did last
  double end = 0;
  for (const lab::TimelineSpan& span : recording.timeline.spans) {
    CHECK(span.begin <= span.end);
    CHECK(span.begin >= end - 0.01);  // one after the other on the CPU; the clock is read twice
    end = span.end;
    CHECK(span.stream <= std::ssize(last));  // numbered in the order of their first use
    bytes[span.what] += span.bytes;
    const bool is_copy = span.what == lab::copy_in || span.what == lab::copy_out;
    ++(is_copy ? pieces : launches_of)[span.what];
    CHECK((span.bytes > 0) == is_copy);
    std::string& before = last[span.stream];
    if (span.what == lab::copy_in) CHECK((before.empty() || before == lab::copy_out));
    if (span.what == lab::copy_out) CHECK((before != lab::copy_in && before != lab::copy_out));
    before = span.what;
  }
  CHECK(last.size() == 3);
  for (const char* what : {lab::copy_in, lab::copy_out}) {
    CHECK(bytes[what] == n * std::int64_t(sizeof(std::uint32_t)));
    CHECK(pieces[what] == (n + piece - 1) / piece);
  }
  for (const lab::KernelTime& kernel : recording.kernels) CHECK(launches_of[kernel.name] == kernel.launches);
}

TEST_CASE("a timeline ends after a number of spans, and counts the others") {
  Numbers host(1, 7);
  const lab::DeviceArray<std::uint32_t> device(1, nullptr);
  const auto record = [&](std::size_t copies) {
    lab::KernelClock clock;
    for (std::size_t i = 0; i < copies; ++i) {
      CUDA_CHECK(cudaMemcpy(host.data(), device.data(), sizeof(std::uint32_t), cudaMemcpyDefault));
    }
    return clock.recording().timeline;
  };
  const lab::Timeline cut = record(lab::max_timeline_spans + 5), whole = record(1);
  CHECK(cut.spans.size() == lab::max_timeline_spans);
  CHECK(cut.left_out == 5);
  REQUIRE(whole.spans.size() == 1);  // a new clock starts from nothing
  CHECK(whole.spans[0].what == lab::copy_out);
}

// --- step 04 ---

namespace {

/// n keys in which the shares of several GPUs differ, or do not, in all ways that matter to splitters.
Numbers keys_of_kind(int kind, std::int64_t n) {
  std::mt19937 random(3);
  Numbers keys(n);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint32_t any = random();
    const std::uint32_t kinds[] = {
        any,
        7,                                                     // all equal
        any % 2 ? ~0u : 0u,                                    // two values
        std::uint32_t(i),                                      // sorted
        std::uint32_t(n - i),                                  // reversed
        any >> random() % 32,                                  // skewed
        i % 3 == 0 ? any : 5,                                  // one value very frequent
        i < n / 2 ? 1u : any,                                  // half of the GPUs have one value
        i % std::max<std::int64_t>(n / 64, 1) == 0 ? any : 9,  // one in a few thousand differs
        std::uint32_t(i % 1000)};
    keys[i] = kinds[kind];
  }
  return keys;
}
constexpr int key_kinds = 10;

/// Divides keys among GPUs as step 04 does, on shares that std::sort has sorted. begins[from] is what find_begins()
/// returns for a share.
struct Division {
  Numbers keys;  // with sorted shares
  int gpus;
  std::vector<std::vector<std::int64_t>> begins;
  std::vector<std::int64_t> counts;

  std::int64_t share_begin(int gpu) const { return beyond::share_begin(std::ssize(keys), gpus, gpu); }

  Division(Numbers all, int gpus, Order order) : keys(std::move(all)), gpus(gpus) {
    std::vector<beyond::Splitter> samples;
    const lab::DeviceArray<std::uint32_t> device(std::ssize(keys) + 1, nullptr);
    std::vector<std::int64_t> share_begins;
    for (int gpu = 0; gpu <= gpus; ++gpu) share_begins.push_back(share_begin(gpu));
    sort_runs(keys, share_begins, order);
    std::copy(keys.begin(), keys.end(), lab::HostView(device.span(), nullptr).data());
    const auto share = [&](int gpu) {
      return lab::Span<const std::uint32_t>{device.data() + share_begin(gpu), share_begin(gpu + 1) - share_begin(gpu)};
    };
    for (int gpu = 0; gpu < gpus; ++gpu) {
      const auto own = beyond::sample_share(share(gpu), share_begin(gpu), gpus, gpu, order, nullptr);
      CHECK(std::ssize(own) == std::min(share(gpu).n, beyond::samples_per_share(gpus)));
      samples.insert(samples.end(), own.begin(), own.end());
    }
    std::reverse(samples.begin(), samples.end());  // they may come in any order
    const auto splitters = beyond::splitters_from(samples, gpus);
    REQUIRE(std::ssize(splitters) == gpus - 1);
    CHECK(std::is_sorted(splitters.begin(), splitters.end()));
    for (int gpu = 0; gpu < gpus; ++gpu) {
      begins.push_back(beyond::find_begins(share(gpu), share_begin(gpu), splitters, order, nullptr));
      REQUIRE(std::ssize(begins.back()) == gpus + 1);
      REQUIRE(begins.back().front() == 0);
      REQUIRE(begins.back().back() == share(gpu).n);
      REQUIRE(std::is_sorted(begins.back().begin(), begins.back().end()));
      for (int to = 0; to < gpus; ++to) counts.push_back(begins.back()[to + 1] - begins.back()[to]);
    }
  }

  std::int64_t fullest() const {
    std::int64_t most = 0;
    for (int gpu = 0; gpu < gpus; ++gpu) most = std::max(most, beyond::plan_exchange(counts, gpus, gpu).received());
    return most;
  }

  /// What the GPUs hold after the exchange, each one's keys sorted.
  Numbers exchanged(Order order) const {
    Numbers all;
    for (int gpu = 0; gpu < gpus; ++gpu) {
      const beyond::ExchangePlan plan = beyond::plan_exchange(counts, gpus, gpu);
      Numbers received(plan.received());
      bool agrees = true;
      for (int from = 0; from < gpus && agrees; ++from) {
        const auto* const share = keys.data() + share_begin(from);
        agrees &= plan.receive_begins[from + 1] - plan.receive_begins[from] == counts[from * gpus + gpu];
        std::copy(share + begins[from][gpu], share + begins[from][gpu + 1],
                  received.begin() + plan.receive_begins[from]);
      }
      REQUIRE(agrees);  // what one sends is what the other expects
      CHECK(plan.send_begins == begins[gpu]);
      received = in_order(std::move(received), order);
      all.insert(all.end(), received.begin(), received.end());
    }
    return all;
  }
};

}  // namespace

TEST_CASE("shares are balanced within 10 % and in order, for any keys and any number of GPUs") {
  for (const auto& share : {std::pair{1, 5000}, {2, 50'000}, {3, 20'011}, {7, 9001}, {64, 3000}, {300, 1500}}) {
    const int gpus = share.first, per_gpu = share.second;
    for (int kind = 0; kind < key_kinds; ++kind) {
      CAPTURE(gpus);
      CAPTURE(kind);
      const Order order = kind % 2 ? Order::ascending : Order::descending;
      const Numbers keys = keys_of_kind(kind, std::int64_t{gpus} * per_gpu + gpus / 2);
      const Division division(keys, gpus, order);
      CHECK(double(division.fullest()) * gpus <= 1.1 * double(keys.size()));
      CHECK(division.exchanged(order) == in_order(keys, order));
    }
  }
}

TEST_CASE("4096 GPUs") {
  const Division division(keys_of_kind(6, 4096 * 16), 4096, Order::ascending);
  CHECK(division.fullest() == 16);  // all keys are samples
}

TEST_CASE("fewer keys than GPUs, and none") {
  for (int gpus : {2, 7, 64, 300}) {
    for (std::int64_t n : {0, 1, 2, 5, 63}) {
      CAPTURE(gpus);
      CAPTURE(n);
      const Numbers keys = random_keys(n, n % 2 ? 0 : 2);
      const Division division(keys, gpus, Order::ascending);
      CHECK(division.exchanged(Order::ascending) == in_order(keys, Order::ascending));
      CHECK(division.fullest() <= n / gpus + 1);
    }
  }
}

TEST_CASE("equal keys are divided where their indices say") {
  const auto device = on_device(Numbers(1000, 4));
  const auto begins = [&](std::vector<beyond::Splitter> splitters, std::int64_t first) {
    return beyond::find_begins({device.data(), 1000}, first, splitters, Order::ascending, nullptr);
  };
  using Begins = std::vector<std::int64_t>;
  CHECK(begins({{3, 1500}, {4, 10}, {4, 1000}, {4, 1300}, {4, 1999}, {4, 2000}, {4, 5000}, {5, 0}}, 1000) ==
        Begins{0, 0, 0, 0, 300, 999, 1000, 1000, 1000, 1000});
}

TEST_CASE("runs are merged in pairs, whatever their lengths") {
  std::mt19937 random(5);
  for (int runs = 1; runs <= 9; ++runs) {
    for (std::int64_t n : {0, 1, 5000, 30'000}) {
      for (std::uint32_t values : {0u, 1u, 3u}) {
        const Order order = runs % 2 ? Order::ascending : Order::descending;
        const std::vector<std::int64_t> begins = random_begins(runs, n, random);
        Numbers keys = random_keys(n, values);
        sort_runs(keys, begins, order);
        const lab::DeviceArray<std::uint32_t> one(n + 1, nullptr), other(n + 1, nullptr);
        std::copy(keys.begin(), keys.end(), lab::HostView(one.span(), nullptr).data());
        std::uint32_t* const to = beyond::merge_in_pairs(one.data(), other.data(), begins, order, {}, nullptr);
        const lab::HostView merged(lab::Span<std::uint32_t>{to, n}, nullptr);
        keys = in_order(std::move(keys), order);
        CHECK(std::equal(keys.begin(), keys.end(), merged.data()));
      }
    }
  }
}

TEST_CASE("runs in several places are merged into one") {
  std::mt19937 random(6);
  for (int runs = 2; runs <= beyond::max_merged_runs; ++runs) {
    for (std::int64_t n : {0, 1, 20'000}) {
      const Order order = runs % 2 ? Order::ascending : Order::descending;
      const std::vector<std::int64_t> begins = random_begins(runs, n, random);
      Numbers keys = random_keys(n, 100);
      sort_runs(keys, begins, order);
      const auto one = on_device(keys), other = on_device(keys);
      std::vector<beyond::Run> places;
      for (int run = 0; run < runs; ++run) {
        places.push_back({(run % 2 ? one : other).data() + begins[run], begins[run + 1] - begins[run]});
      }
      const lab::DeviceArray<std::uint32_t> to(n + 1, nullptr);
      beyond::merge_to(places, to.data(), order, nullptr);
      const lab::HostView merged(lab::Span<std::uint32_t>{to.data(), n}, nullptr);
      keys = in_order(std::move(keys), order);
      CHECK(std::equal(keys.begin(), keys.end(), merged.data()));
    }
  }
}

/// Sends the keys of all parts from share to share, as NCCL does, and checks what each GPU has received. Each key is the
/// index of its count.
void check_parts(const std::vector<Numbers>& shares, const std::vector<std::int64_t>& counts, int parts) {
  const int gpus = int(shares.size());
  std::vector<std::vector<beyond::Part>> plans;
  for (int gpu = 0; gpu < gpus; ++gpu) plans.push_back(beyond::plan_parts(counts, gpus, parts, gpu));
  for (int gpu = 0; gpu < gpus; ++gpu) {
    std::map<std::int64_t, std::int64_t> results;  // the ends of the parts by their beginnings
    Numbers received(beyond::room_for(std::ssize(shares[0]) * gpus, gpus, parts));
    for (int turn = 0; turn < parts; ++turn) {
      const beyond::Part& own = plans[gpu][turn];
      const int part = beyond::part_of(turn, gpu, gpus, parts);
      std::int64_t joined = 0;
      for (int from = 0; from < gpus; ++from) {
        const beyond::Range sent = plans[from][turn].sent[gpu], to = own.received[from], run = own.runs[from];
        CHECK((sent.n == to.n && sent.n % beyond::unit == 0));
        CHECK((sent.first % beyond::unit == 0 && to.first % beyond::unit == 0));
        REQUIRE((from != gpu || sent.n == 0));
        REQUIRE((to.first + to.n <= std::ssize(received) && sent.first + sent.n <= std::ssize(shares[from])));
        std::copy_n(shares[from].begin() + sent.first, sent.n, received.begin() + to.first);
        const int place = (from * gpus + gpu) * parts + part;
        const auto keys = (from == gpu ? shares[gpu] : received).begin() + run.first;
        CHECK(run.n == counts[place]);
        CHECK(std::count(keys, keys + run.n, place) == run.n);
        joined += run.n;
      }
      CHECK(own.result.n == joined);
      if (joined > 0) results[own.result.first] = own.result.first + joined;
    }
    std::int64_t end = 0;
    for (const auto& [first, last] : results) CHECK(first == std::exchange(end, last));
  }
}

TEST_CASE("parts of the exchange begin at multiples of 16 bytes and bring every GPU its keys") {
  std::mt19937 random(7);
  for (int gpus : {2, 3, 5}) {
    for (int parts : {1, 2, 8}) {
      for (unsigned most : {1u, 2u, 9u, 40u}) {
        std::vector<std::int64_t> counts;
        std::vector<Numbers> shares(gpus);
        for (int i = 0; i < gpus * gpus * parts; ++i) {
          counts.push_back(random() % most);
          shares[i / (gpus * parts)].insert(shares[i / (gpus * parts)].end(), counts.back(), i);
        }
        for (Numbers& share : shares) share.resize(share.size() + beyond::unit);
        check_parts(shares, counts, parts);
      }
    }
  }
}

TEST_CASE("parts that each come from one share are sent by all GPUs at the same time") {
  for (int gpus : {2, 4, 8}) {
    constexpr int parts = 8;
    for (int turn = 0; turn < parts; ++turn) {
      std::set<int> senders;  // the part of equal keys comes from the share in which their indices are
      for (int to = 0; to < gpus; ++to) senders.insert(beyond::part_of(turn, to, gpus, parts) * gpus / parts);
      CHECK(std::ssize(senders) == gpus);
    }
  }
}

TEST_CASE("many keys are exchanged in several parts, in as many splitters as step 04 can find") {
  CHECK(beyond::parts_for(0, 2) == 1);
  CHECK(beyond::parts_for(std::int64_t{1} << 26, 2) == 1);
  CHECK(beyond::parts_for(std::int64_t{1} << 28, 2) == 4);
  CHECK(beyond::parts_for(std::int64_t{1} << 40, 2) == 8);
  CHECK(beyond::parts_for(std::int64_t{1} << 50, beyond::max_gpus) == 1);
}

TEST_CASE("more than 4096 GPUs are refused before anything is touched") {
  CHECK_THROWS_AS(beyond::sort_many({nullptr, std::int64_t{1} << 30}, {nullptr, std::int64_t{1} << 30},
                                    Order::ascending, beyond::fewest_device_bytes, {}, nullptr),
                  lab::Unsupported);
}

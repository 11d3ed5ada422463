// A launch: checks the shape, then hands blocks out in increasing order to a pool that lives as long as the process.
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#ifdef SIMT_CHECK
#include "../check/check.h"
#endif
#include "scheduler.h"
#include "simt/memory.h"

namespace simt {
namespace {

/// A whole number from the environment, or `otherwise`.
std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return otherwise;
  char* end;
  const std::uint64_t value = std::strtoull(text, &end, 0);
  if (*end != '\0') {
    std::fprintf(stderr, "error: %s=%s is not a whole number\n", name, text);
    std::exit(2);
  }
  return value;
}

/// The OS threads that run blocks; the thread that launches is one of them. Blocks start in increasing order, so a
/// block may wait for an earlier one, which is running or done (decoupled look-back relies on it).
class Pool {
 public:
  static Pool& instance() {
    static Pool* const pool = new Pool;  // never destroyed: a launch may come from a static's destructor
    return *pool;
  }

  void run(Launch& launch) {
    const std::lock_guard one_launch(launches_);
    launch_ = &launch;
    next_block_ = 0;
    failed_ = false;
    SIMT_OBSERVE(check::begin_launch(launch); check::new_totals(launch);)
    const bool share = launch.blocks > 1 && !helpers_.empty();
    if (share) {
      const std::lock_guard lock(mutex_);
      busy_ = helpers_.size();
      ++generation_;
      start_.notify_all();
    }
    run_blocks();
    if (share) {
      std::unique_lock lock(mutex_);
      done_.wait(lock, [&] { return busy_ == 0; });
    }
    SIMT_OBSERVE(check::end_launch();)
  }

  bool failed() const { return failed_; }
  bool runs() const { return running_ > 0; }

  /// True for the first block that fails in a launch: the one that is reported.
  bool first_failure() { return !failed_.exchange(true); }

  int threads() const { return int(helpers_.size()) + 1; }

 private:
  Pool() {
    std::thread([this] { watch(); }).detach();
    unsigned threads = unsigned(from_environment("SIMT_THREADS", std::thread::hardware_concurrency()));
    SIMT_OBSERVE(threads = 1;)
    for (; threads > 1; --threads) helpers_.emplace_back([this] { help(); }).detach();
  }

  void run_blocks() {
    Worker& worker = Worker::current();
    if (!worker.watched) {
      const std::lock_guard lock(mutex_);
      watched_.push_back({pthread_self(), &worker, 0});
      worker.watched = true;
    }
    ++running_;
    for (;;) {
      const std::uint64_t block = next_block_.fetch_add(1);
      if (block >= launch_->blocks || failed_) break;
      if (!worker.run_block(*launch_, block)) break;
    }
    --running_;
  }

  /// Interrupts workers that have not changed threads since the last look: see Worker::preempt().
  void watch() {
    for (;;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(running_ > 0 ? 1 : 20));
      if (running_ == 0) continue;
      const std::lock_guard lock(mutex_);
      for (Watched& one : watched_) {
        SIMT_OBSERVE(if (check::look_at_time(one.thread) && !is_looked_at()) pthread_kill(one.thread, interrupt_signal);
                     continue;)
        const std::uint64_t turn = one.worker->turn();
        if (is_ending() ? !is_looked_at() : turn == one.turn) pthread_kill(one.thread, interrupt_signal);
        one.turn = turn;
      }
    }
  }

  struct Watched {
    pthread_t thread;
    Worker* worker;
    std::uint64_t turn;
  };

  void help() {
    for (std::uint64_t seen = 0;;) {
      std::unique_lock lock(mutex_);
      start_.wait(lock, [&] { return generation_ != seen; });
      seen = generation_;
      lock.unlock();
      run_blocks();
      lock.lock();
      if (--busy_ == 0) done_.notify_one();
    }
  }

  std::vector<std::thread> helpers_;
  std::vector<Watched> watched_;
  std::atomic<int> running_ = 0;
  std::mutex launches_, mutex_;
  std::condition_variable start_, done_;
  std::uint64_t generation_ = 0;
  std::size_t busy_ = 0;
  Launch* launch_ = nullptr;
  std::atomic<std::uint64_t> next_block_ = 0;
  std::atomic<bool> failed_ = false;
};

std::atomic<LaunchListener> listener = nullptr;

/// Why a device refuses this shape; empty if it does not. Limits: CUDA C++ Programming Guide, "Compute Capabilities".
std::string refusal(const LaunchConfig& config, std::size_t dynamic_limit) {
  const auto text = [](dim3 d) {
    return "(" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + ")";
  };
  const dim3 g = config.grid, b = config.block;
  if (g.x == 0 || g.y == 0 || g.z == 0) return "grid " + text(g) + " has no blocks";
  if (g.x > 0x7fffffffu || g.y > 65535 || g.z > 65535) {
    return "grid " + text(g) + " exceeds (2147483647,65535,65535)";
  }
  if (b.x == 0 || b.y == 0 || b.z == 0) return "block " + text(b) + " has no threads";
  if (b.x > 1024 || b.y > 1024 || b.z > 64 || std::uint64_t(b.x) * b.y * b.z > max_threads) {
    return "block " + text(b) + " exceeds 1024 threads or (1024,1024,64)";
  }
  if (config.dynamic_shared > dynamic_limit) {
    return std::to_string(config.dynamic_shared) + " bytes of dynamic shared memory exceed the limit of " +
           std::to_string(dynamic_limit) + " (cudaFuncSetAttribute raises it to 232448)";
  }
  return {};
}

}  // namespace

std::uint64_t order_seed() {
  static const std::uint64_t seed = from_environment("SIMT_SEED", 1);
  return seed;
}

int pool_threads() { return Pool::instance().threads(); }
bool launch_failed() { return Pool::instance().failed(); }
bool a_kernel_runs() { return Pool::instance().runs(); }
bool first_failure() { return Pool::instance().first_failure(); }

void listen_to_launches(LaunchListener told) { listener = told; }

void run(const Kernel& kernel, const LaunchConfig& config) {
  if (sticky() != cudaSuccess) return;  // the device is lost, as after a fault on a GPU
  if (Worker* const worker = Worker::running()) {
    worker->fail("invalid-launch", std::string("launches ") + kernel.name + " from a kernel; this is not supported",
                 kernel.site, cudaErrorNotSupported);
  }
  const std::string reason = refusal(config, max_dynamic_shared());
  if (!reason.empty()) {
    SIMT_OBSERVE(
        check::add_finding("invalid-launch", kernel.site, std::string("kernel ") + kernel.name + ": " + reason);)
#ifndef SIMT_CHECK  // which tells it at the program's end
    std::fprintf(stderr, "%s:%d: error: invalid-launch: kernel %s: %s\n", kernel.site.file, kernel.site.line,
                 kernel.name, reason.c_str());
#endif
    set_last_error(cudaErrorInvalidConfiguration);
    return;
  }
  if (!is_stream(config.stream)) {
    std::fprintf(stderr, "%s:%d: error: invalid-launch: kernel %s: the stream does not exist or has been destroyed\n",
                 kernel.site.file, kernel.site.line, kernel.name);
    set_last_error(cudaErrorInvalidResourceHandle);
    return;
  }
  static std::atomic<std::uint64_t> launches = 0;
  const std::uint64_t number = ++launches;
  Launch launch{kernel,
                config,
                std::uint64_t(config.grid.x) * config.grid.y * config.grid.z,
                int(config.block.x * config.block.y * config.block.z),
                number,
                order_seed() == 0 ? 0 : order_seed() + (number << 32)};
  const auto started = std::chrono::steady_clock::now();
  Pool::instance().run(launch);
  if (const LaunchListener told = listener) {
    told(kernel, config, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - started).count());
  }
}

}  // namespace simt

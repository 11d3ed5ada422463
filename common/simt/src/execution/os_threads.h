// The OS threads that run blocks; the thread that launches is one of them.
#pragma once

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "worker.h"

namespace simt {

/// Whether a judge watches how many blocks end. It ends only programs that have not answered in time.
bool is_judged();

/// Blocks start in increasing order, so a block may wait for an earlier one, which is running or done (decoupled
/// look-back relies on that).
class OsThreads {
 public:
  static OsThreads& instance();

  /// Runs all blocks of the launch, or those before the first failure.
  void run(const Launch& launch);

  /// As long as the lock lives, no launch runs in any thread. A thread that runs a kernel must not call it.
  std::unique_lock<std::mutex> between_launches() { return std::unique_lock(launches_); }

  int count() const { return int(helpers_.size()) + 1; }

  /// A thread of the host ends, and its worker with it: the watchdog must use neither any more.
  void forget(const Worker& worker);

 private:
  struct Watched {
    pthread_t thread;
    Worker* worker;
    std::uint64_t turn;
    std::int64_t run;  ///< processor time, in nanoseconds
  };

  OsThreads();
  void run_blocks();
  std::optional<Left> run_next(Worker& worker);
  std::uint64_t number_of(std::uint64_t block) const;
  bool has_blocks_left() const;
  void arrange_blocks();
  void help();
  void watch();
  void end_between_launches();
  bool needs_interruption(Watched& watched, std::int64_t least_run);
  void look_at_time();

  std::vector<std::thread> helpers_;
  std::vector<Watched> watched_;
  std::vector<std::uint64_t> order_;  // of a cooperative launch's blocks
  std::mutex launches_, mutex_;
  std::condition_variable start_, done_;
  std::uint64_t generation_ = 0;
  bool is_open_ = false;  // the launch has begun, and may have blocks left
  std::size_t busy_ = 0;  // helpers that run blocks of it
  const Launch* launch_ = nullptr;
  std::atomic<std::uint64_t> next_block_ = 0, blocks_ = 0;
  std::chrono::steady_clock::time_point began_;
};

}  // namespace simt

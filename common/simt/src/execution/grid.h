// The barrier of all blocks of a cooperative launch.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "failure.h"

namespace simt {

class Grid {
 public:
  /// Of the running launch.
  static Grid& running();

  /// A thread that waits at the barrier with all others of its block.
  struct Arrival {
    std::string thread;  ///< "kernel k, block (0,0,0), thread (3,0,0)"
    Site site;
  };

  void begin(std::uint64_t blocks);
  /// All threads of a block are at the barrier. Returns why it can never open, if that is so.
  std::optional<Failure> arrive(const Arrival& arrival);
  /// The same for a block that has ended.
  std::optional<Failure> end(const std::string& block);

  /// How often the barrier has opened.
  std::uint64_t times_opened() const { return times_opened_; }
  /// Waits until it has opened more often than that, or the launch has failed.
  void wait(std::uint64_t times);
  /// The launch has failed: no OS thread is to wait any more.
  void stop_waiting();

 private:
  std::optional<Failure> look_for_missing() const;

  std::mutex mutex_;
  std::condition_variable opened_;
  std::atomic<std::uint64_t> times_opened_ = 0;
  std::uint64_t blocks_ = 0, arrived_ = 0, ended_ = 0;
  Arrival first_;            // at the barrier
  std::string first_ended_;  // block
};

}  // namespace simt

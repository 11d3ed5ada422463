// Ends kernels that do not end by themselves, that use up the memory, or whose program has been asked to end.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "findings.h"

namespace simt::check {

enum class Verdict {
  in_time,
  attend,     ///< the next access or barrier must look at the time
  interrupt,  ///< neither has come for some time: interrupt the thread
};

/// How long a block may take, by the processor's time, and how much memory may be used. A launch whose blocks end is
/// slow, not endless; so is a block that accesses memory, for longer. A block that has made no access for seconds is
/// taken to be endless: now and then the launch is asked for a sign of life, which its next access gives.
class TimeLimit {
 public:
  void begin_launch();
  void block_ended() { progress_.fetch_add(1, std::memory_order_relaxed); }
  /// The running block leaves its turn to others; returns for how long it has run.
  double leave_block() const;
  /// A block that has run for so long has its turn again.
  void continue_block(double time_run);
  /// The program is to end: the time of the running launch is up. `has_hung`: that is why; otherwise nothing is known
  /// to be wrong with the launch.
  void ask_to_end(int signal, bool has_hung) {
    has_hung_ = has_hung;
    signal_ = signal;
  }
  bool is_asked_to_end() const { return signal_ != 0; }
  int signal() const { return signal_; }

  /// To be called repeatedly while a launch runs, for each thread that has run one.
  Verdict look(pthread_t thread);
  /// Whether the next access must answer or end the launch.
  bool needs_attention() const { return phase_.load(std::memory_order_relaxed) >= Phase::asked; }
  /// Whether the next access or barrier must end the launch.
  bool is_up() const { return phase_.load(std::memory_order_relaxed) == Phase::up; }
  /// A sign of life. Returns how many seconds the block has run, if that is to be noted now; otherwise 0.
  double answer();
  /// While suspended, accesses do not end the launch: the observers themselves are about to make some.
  void suspend() { phase_ = Phase::reported; }
  void resume() { phase_ = Phase::up; }
  /// From now on, every access must look at the time.
  void watch_each() { phase_ = Phase::asked; }
  /// The launch's time was up, but other blocks may run for a moment each.
  void begin_search();
  /// The finding of the launch that is now ended, once; it lacks the place.
  Finding take(bool later_blocks_wait);
  /// Seconds that a block may take.
  static double limit();

 private:
  enum class Phase { running, reported, asked, up };

  bool is_phase(Phase phase) const { return phase_.load(std::memory_order_relaxed) == phase; }
  bool is_silent(double now);

  std::atomic<Phase> phase_ = Phase::running;
  std::atomic<pthread_t> thread_ = {};       // that runs the launch
  std::atomic<std::uint64_t> progress_ = 0;  // launches begun and blocks ended
  std::atomic<double> began_ = 0;            // the running block, by the thread's clock
  bool is_noted_ = false;                    // that a block of this launch takes long
  std::uint64_t seen_progress_ = 0;          // what follows belongs to the thread that calls look()
  double alive_ = 0;                         // the last sign of life
  bool is_asking_ = false;
  double up_since_ = 0;
  std::atomic<int> signal_ = 0;  // that has asked the program to end
  std::atomic<bool> has_hung_ = false, is_searching_ = false;
  std::atomic<bool> is_out_of_memory_ = false, is_silent_ = false;
};

}  // namespace simt::check

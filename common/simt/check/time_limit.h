// Ends kernels that do not end by themselves, that use up the memory, or whose program has been asked to end.
#pragma once

#include <pthread.h>

#include <atomic>
#include <string>

namespace simt::check {

struct TimeIsUp {
  const char* kind;
  std::string text;
};

enum class Verdict {
  in_time,
  over,       ///< the next access or barrier must end the launch
  interrupt,  ///< neither has come for some time: interrupt the thread
};

/// How long a launch may take, by the processor's time, and how much memory may be used.
class TimeLimit {
 public:
  void begin_launch();
  /// The program is to end: the time of the running launch is up.
  void ask_to_end(int signal) { signal_ = signal; }
  bool is_asked_to_end() const { return signal_ != 0; }
  int signal() const { return signal_; }

  /// To be called repeatedly while a launch runs on that thread.
  Verdict look(pthread_t thread);
  /// Whether the next access or barrier must end the launch.
  bool is_running() const { return phase_.load(std::memory_order_relaxed) == Phase::running; }
  bool is_up() const { return phase_.load(std::memory_order_relaxed) == Phase::up; }
  /// While suspended, accesses do not end the launch: the observers themselves are about to make some.
  void suspend() { phase_ = Phase::reported; }
  void resume() { phase_ = Phase::up; }
  /// The finding of the launch that is now ended, once.
  TimeIsUp take(bool later_blocks_wait);

 private:
  enum class Phase { running, up, reported };

  std::atomic<Phase> phase_ = Phase::running;
  std::atomic<double> started_ = 0;
  double up_since_ = 0;
  std::atomic<int> signal_ = 0;  // that has asked the program to end
  std::atomic<bool> is_out_of_memory_ = false;
};

}  // namespace simt::check

#include "time_limit.h"

#include <time.h>

#include <cstdio>
#include <cstdlib>

#include "memory_left.h"

namespace simt::check {
namespace {

double seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

double limit() {
  static const double limit = [] {
    const char* text = std::getenv("SIMT_SECONDS");
    const double value = text != nullptr ? std::atof(text) : 0;
    return value > 0 ? value : 30;
  }();
  return limit;
}

}  // namespace

void TimeLimit::begin_launch() {
  started_ = seconds(CLOCK_THREAD_CPUTIME_ID);
  phase_ = Phase::running;
}

Verdict TimeLimit::look(pthread_t thread) {
  clockid_t clock;
  if (pthread_getcpuclockid(thread, &clock) != 0) return Verdict::in_time;
  const double passed = seconds(clock) - started_;
  if (is_running() && !has_memory_left()) is_out_of_memory_ = true;
  if (passed <= limit() && !is_asked_to_end() && !is_out_of_memory_) return Verdict::in_time;
  // The wait for an access or a barrier begins when the launch could first notice that its time is up.
  Phase expected = Phase::running;
  if (phase_.compare_exchange_strong(expected, Phase::up)) up_since_ = passed;
  return is_up() && passed > up_since_ + 0.5 ? Verdict::interrupt : Verdict::over;
}

TimeIsUp TimeLimit::take(bool later_blocks_wait) {
  phase_ = Phase::reported;
  if (is_out_of_memory_) {
    return {
        "out-of-memory",
        "this machine's memory is used up: the check build keeps 3 to 9 bytes about each byte of device memory that "
        "the program accesses; run it on less data, or without the check build"};
  }
  if (is_asked_to_end()) return {"hang", "was still running when the program was asked to end"};
  char text[320];
  // What works on a GPU that runs all blocks at once, such as a barrier of the grid, never ends here.
  std::snprintf(
      text, sizeof text,
      "has not ended after %g s of processor time; look for a loop that never ends%s, or allow more time with "
      "SIMT_SECONDS=%g",
      limit(), later_blocks_wait ? " or waits for a later block, which runs only after this one" : "", 10 * limit());
  return {"time-limit", text};
}

}  // namespace simt::check

// Ends kernels that do not end by themselves, or whose program is told to end.
#include <pthread.h>
#include <time.h>

#include <csignal>
#include <cstdlib>

#include "running.h"

namespace simt::check {
namespace {

std::atomic<double> started = 0;
std::atomic<bool> asked_to_end = false;

double seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

double limit() {
  static const double limit = [] {
    const char* text = std::getenv("SIMT_SECONDS");
    const double asked = text != nullptr ? std::atof(text) : 0;
    return asked > 0 ? asked : 30;
  }();
  return limit;
}

}  // namespace

std::atomic<Time> out_of_time = Time::left;

void begin_time() {
  started = seconds(CLOCK_THREAD_CPUTIME_ID);
  out_of_time = Time::left;
}

bool look_at_time(pthread_t thread) {
  clockid_t clock;
  if (pthread_getcpuclockid(thread, &clock) != 0) return false;
  const double passed = seconds(clock) - started;
  if (passed <= limit() && !asked_to_end) return false;
  // Its next access or barrier ends the launch, and names the line. Only if none comes for long, counted from when it
  // could know, is it interrupted, wherever that is.
  static double told_at;
  Time expected = Time::left;
  if (out_of_time.compare_exchange_strong(expected, Time::up)) told_at = passed;
  look_closely();
  return out_of_time == Time::up && passed > told_at + 0.5;
}

void ask_to_end() { asked_to_end = true; }

void end_if_asked() {
  if (!asked_to_end) return;
  end_program();
  std::signal(SIGTERM, SIG_DFL);
  std::raise(SIGTERM);
}

TimeIsUp time_is_up() {
  if (asked_to_end) return {"hang", "was still running when the program was told to end"};
  char text[256];
  // What works on a GPU that runs all blocks at once, as a barrier of the grid, never ends here.
  const bool later_ones = launch != nullptr && block + 1 < launch->blocks;
  std::snprintf(text, sizeof text, "has not ended after %g s, and was given up here; SIMT_SECONDS=%g gives it more%s",
                limit(), 10 * limit(), later_ones ? "; later blocks, if it waits for one, run after it only" : "");
  return {"time-limit", text};
}

}  // namespace simt::check

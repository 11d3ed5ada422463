#include "time_limit.h"

#include <time.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "memory_left.h"

namespace simt::check {
namespace {

constexpr double question_every = 0.5;  // seconds
constexpr double search_limit = 0.1;    // of a block

double seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

/// Seconds after which a block that makes no access is ended. Kernels that compute in registers for 3 s are rare among
/// a lab's small cases, and may be correct in other programs, whose limit is longer.
double early() { return std::max(0.3 * TimeLimit::limit(), std::min(TimeLimit::limit(), 3.0)); }

/// A longer block is noted.
double noted_after() { return std::min(early(), 0.5 * TimeLimit::limit()); }

const char* name_of(int signal) {
  return signal == SIGINT ? "Ctrl-C (SIGINT)" : signal == SIGTERM ? "SIGTERM" : "a signal";
}

}  // namespace

double TimeLimit::limit() {
  static const double limit = [] {
    const char* text = std::getenv("SIMT_SECONDS");
    const double value = text != nullptr ? std::atof(text) : 0;
    return value > 0 ? value : 30;
  }();
  return limit;
}

void TimeLimit::begin_launch() {
  is_noted_ = false;
  is_silent_ = is_searching_ = false;
  thread_ = pthread_self();
  began_ = seconds(CLOCK_THREAD_CPUTIME_ID);
  phase_ = Phase::running;
  block_ended();
}

double TimeLimit::leave_block() const { return seconds(CLOCK_THREAD_CPUTIME_ID) - began_; }

void TimeLimit::continue_block(double time_run) { began_ = seconds(CLOCK_THREAD_CPUTIME_ID) - time_run; }

void TimeLimit::begin_search() {
  is_searching_ = true;
  began_ = seconds(CLOCK_THREAD_CPUTIME_ID);
  phase_ = Phase::running;
}

/// Asks for a sign of life now and then. Whether there has been none for too long.
bool TimeLimit::is_silent(double now) {
  if (is_asking_ && is_phase(Phase::running)) {  // it has answered
    is_asking_ = false;
    alive_ = now;
  }
  Phase expected = Phase::running;
  if (now > alive_ + question_every && phase_.compare_exchange_strong(expected, Phase::asked)) is_asking_ = true;
  return is_asking_ && now > alive_ + question_every + early();
}

Verdict TimeLimit::look(pthread_t thread) {
  clockid_t clock;
  if (!pthread_equal(thread, thread_) || pthread_getcpuclockid(thread, &clock) != 0) return Verdict::in_time;
  const double now = seconds(clock);
  if (const std::uint64_t progress = progress_; progress != seen_progress_) {
    seen_progress_ = progress;
    began_ = alive_ = now;
    Phase expected = Phase::asked;
    phase_.compare_exchange_strong(expected, Phase::running);
    is_asking_ = false;
  }
  if (is_phase(Phase::running) && !has_memory_left()) is_out_of_memory_ = true;
  if (now - began_ <= (is_searching_ ? search_limit : limit()) && !is_asked_to_end() && !is_out_of_memory_ &&
      !is_silent_) {
    if (!is_silent(now)) return is_asking_ ? Verdict::attend : Verdict::in_time;
    is_silent_ = true;
  }
  // The wait for an access or a barrier begins when the launch could first notice that its time is up.
  for (Phase expected : {Phase::running, Phase::asked}) {
    if (phase_.compare_exchange_strong(expected, Phase::up)) up_since_ = now;
  }
  return is_up() && now > up_since_ + 0.5 ? Verdict::interrupt : Verdict::attend;
}

double TimeLimit::answer() {
  Phase expected = Phase::asked;
  if (!phase_.compare_exchange_strong(expected, Phase::running) || is_noted_) return 0;
  const double ran = seconds(CLOCK_THREAD_CPUTIME_ID) - began_;
  is_noted_ = ran > noted_after();
  return is_noted_ ? ran : 0;
}

Finding TimeLimit::take(bool later_blocks_wait) {
  phase_ = Phase::reported;
  if (is_out_of_memory_) return {.kind = "out-of-memory", .why = "memory-used-up"};
  if (is_asked_to_end() && has_hung_) return {.kind = "hang", .why = "asked-to-end"};
  if (is_asked_to_end()) {
    return {.kind = "interrupted",
            .why = "signal",
            .details = {.all = {{"signal", name_of(signal())}}},
            .severity = Severity::remark};
  }
  // What works on a GPU that runs all blocks at once, such as a barrier of the grid, never ends here.
  return {.kind = "time-limit",
          .why = is_silent_          ? "no-access"
                 : later_blocks_wait ? "time-with-later-blocks"
                                     : "time",
          .details = {.all = {{"seconds", is_silent_ ? early() : limit()}, {"longer", 10 * limit()}}}};
}

}  // namespace simt::check

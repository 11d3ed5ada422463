// What the fake runner does, by the number of the step.
#pragma once

#include <sched.h>

namespace fake {

enum Step {
  right = 1,
  dies,
  dies_before_go,
  exits,
  hangs,
  closes_channel,
  wrong_nonce,
  short_message,
  skips_a_message,
  not_written,
  refuses_cleanly,
  touches_then_refuses,
  writes_before,
  writes_behind,
  changes_input,
  too_short_time,
  delayed_at_first,
  too_long_time,
  prints_much,
  time_is_nan,
  time_is_negative,
  reports_findings,
  reports_findings_and_dies,
  reports_findings_when_asked_to_end,
  forges_findings,
  sends_no_json,
  sends_deep_json,
  sends_wrong_types,
  sends_too_much,
  claims_too_long_a_text,
  cuts_off_memory,
  ends_blocks_slowly,
  computes_on_one_processor,
  reverses,
  writes_behind_scratch,
  loses_the_device,
  searches_memory,
  forges_a_reply,
  leaves_processes,
  leaves_processes_and_hangs
};

/// Puts the calling thread on the first processor that this program may use, which need not be number 0.
inline void stay_on_one_processor() {
  cpu_set_t allowed, first;
  sched_getaffinity(0, sizeof allowed, &allowed);
  int number = 0;
  while (!CPU_ISSET(number, &allowed)) ++number;
  CPU_ZERO(&first);
  CPU_SET(number, &first);
  sched_setaffinity(0, sizeof first, &first);
}

}  // namespace fake

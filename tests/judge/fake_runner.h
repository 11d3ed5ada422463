// What the fake runner does, by the number of the step.
#pragma once

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
  ends_blocks_slowly,
  computes_on_one_processor
};

}  // namespace fake

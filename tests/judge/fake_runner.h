// What the fake runner does, by the number of the step that it is asked for.
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
  too_long_time,
  prints_much
};

}  // namespace fake

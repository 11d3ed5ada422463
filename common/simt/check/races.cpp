#include "races.h"

#include "running.h"

namespace simt::check {

[[gnu::cold, gnu::noinline]] void race(const Event& before, const Event& now, bool before_writes, bool now_writes,
                                       std::uintptr_t address, unsigned bytes) {
  const Code code = program + now.code, other = program + (before.code & ~kept_write);
  if (!before_writes) drop_finding("uninitialized", other);  // it read too early: that is the race
  const std::uint64_t other_block = block_of(before);
  if (tracing) trace_race(other_block, thread_of(before), other);
  if (is_known("race", code, other)) return add_finding("race", code, other, "");
  add_finding("race", code, other,
              who(thread_of(now)) + (now_writes ? "writes " : "reads ") + describe(address, bytes) + "; block " +
                  block_name(other_block) + ", thread " + thread_name(thread_of(before)) +
                  (before_writes ? " writes" : " reads") + " it at {other} with no barrier or fence between");
}

}  // namespace simt::check

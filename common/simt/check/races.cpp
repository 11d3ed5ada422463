#include "races.h"

#include "text.h"

namespace simt::check {
namespace {

const char* advice(bool same_block, bool same_warp) {
  if (!same_block) return "no fence or atomic orders these blocks; use an atomic, or two launches";
  return same_warp ? "nothing orders these lanes; put __syncwarp() between the two accesses, or use an atomic"
                   : "no barrier orders these threads; put __syncthreads() between the two accesses, or use an atomic";
}

}  // namespace

[[gnu::cold, gnu::noinline]] void report_race(const Event& before, Way before_way, const Event& now,
                                              const Access& access) {
  CheckState& all = state();
  const Code code = all.ownership.program + now.code, other = all.ownership.program + before.code;
  // The earlier access read too early: the race is the reason.
  if (before_way == Way::load) all.findings.drop("uninitialized", other);
  const std::uint64_t other_block = all.order.block_of(before);
  if (all.trace.is_on()) all.trace.race(other_block, before.thread, other);
  if (all.findings.count_again("race", code, other)) return;
  const bool same_block = other_block == all.running.block;
  const bool same_warp = before.thread / lanes_per_warp == now.thread / lanes_per_warp;
  all.findings.add({.kind = "race",
                    .text = all.running.subject(now.thread) + verb_of(access.way) +
                            all.ownership.describe(access.address, access.bytes) + "; block " +
                            block_name(*all.running.launch, other_block) + ", thread " +
                            thread_name(*all.running.launch, before.thread) + " " + verb_of(before_way) +
                            "it at {other}; " + advice(same_block, same_warp),
                    .code = code,
                    .other = other});
}

}  // namespace simt::check

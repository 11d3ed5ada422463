#include "races.h"

#include <algorithm>

#include "schedule.h"
#include "transfers.h"

namespace simt::check {
namespace {

/// What orders the two threads of a race, if both come to it.
Remedy barrier_for(bool is_same_block, bool is_same_warp) {
  return !is_same_block ? Remedy::none : is_same_warp ? Remedy::warp_barrier : Remedy::block_barrier;
}

bool is_volatile(const Event& event) { return event.is_synchronized && !event.is_atomic; }

bool in_same_warp(const Event& a, const Event& b) { return a.thread / lanes_per_warp == b.thread / lanes_per_warp; }

/// Whether threads of two blocks may be meant to be told apart by blockIdx, which is missing: blocks of one thread have no
/// other index.
bool has_same_index(const Event& a, const Event& b) {
  const dim3 block = state().running.launch->config.block;
  return a.thread == b.thread && block.x * block.y * block.z > 1;
}

/// Whether the threads differ in threadIdx.y or .z, and not in .x, where the block has several of both.
bool differ_in_y_only(const Event& a, const Event& b) {
  const dim3 block = state().running.launch->config.block;
  return block.y * block.z > 1 && a.thread != b.thread && a.thread % block.x == b.thread % block.x;
}

/// The same of two blocks, where the grid has several rows of them.
bool differ_in_row_only(const Event& a, const Event& b) {
  const CheckState& all = state();
  const dim3 grid = all.running.launch->config.grid;
  const std::uint64_t first = all.order.block_of(a), second = all.order.block_of(b);
  return grid.y * grid.z > 1 && first != second && first % grid.x == second % grid.x;
}

/// Of two blocks. `is_shown_in_block`: the finding is on two threads of one block.
Advice advice_on_blocks(const Race& race, bool is_shown_in_block = false) {
  const auto& [before, before_way, now, access] = race;
  const bool are_plain = !before.is_synchronized && !now.is_synchronized;
  const bool is_cooperative = state().running.launch->config.is_cooperative;
  const bool is_atomic = before.is_atomic || now.is_atomic;
  const Remedy remedy = is_cooperative ? Remedy::grid_barrier : is_atomic ? Remedy::atomic : Remedy::launch;
  if (before.is_synchronized && now.is_synchronized) return {"block-scope", Remedy::atomic};
  if (are_plain && before_way == Way::store && access.way == Way::load && state().order.has_flag_after(before)) {
    return {"no-fence", Remedy::fence};
  }
  if (is_shown_in_block) return {"threads-of-any-block", remedy};
  if (has_same_index(before, now)) return {differ_in_row_only(before, now) ? "rows-of-blocks" : "same-thread-index"};
  return {"blocks", remedy};
}

/// Of two threads of a block.
Advice advice(const Race& race, Remedy barrier) {
  const bool are_volatile = is_volatile(race.before) && is_volatile(race.now);
  if (race.access.space == Space::global && state().running.last_barrier.line == 0 && !are_volatile) {
    return {differ_in_y_only(race.before, race.now) ? "rows-of-threads" : "same-element"};
  }
  if (are_volatile) return {"volatile-lanes", barrier};
  // For lanes, too, and where the block has one warp only: with another launch shape, it may have more.
  return {in_same_warp(race.before, race.now) ? "lanes" : "threads", Remedy::block_barrier};
}

/// What a sentence on a race says of its launch.
Details details_of_launch() {
  CheckState& all = state();
  Details details;
  if (all.running.launch->config.is_cooperative) details.set("cooperative", std::uint64_t(1));
  if (all.counts.launch().barriers != 0) details.set("barriers", all.counts.launch().barriers);
  if (all.running.has_exchanges) details.set("exchanges", std::uint64_t(1));
  return details;
}

/// Of two threads of a block that write one element: the instructions by which each has come to it, up to its write, in
/// the round in which it writes. A store may be left out in some rounds, so that it counts fewer of them than a load.
std::vector<std::pair<Code, Code>> executed_together(const Race& race) {
  const CheckState& all = state();
  const auto in_last_round = [&](const Event& write) {
    auto executions = all.requests.executions_at(race.access.address, race.access.space, write.thread);
    std::erase_if(executions, [&](const auto& e) { return e.code > all.ownership.program + write.code; });
    const auto last = std::max_element(executions.begin(), executions.end(),
                                       [](const auto& a, const auto& b) { return a.round < b.round; });
    if (last == executions.end()) return executions;
    std::erase_if(executions, [round = last->round](const auto& e) { return e.round < round; });
    return executions;
  };
  std::vector<std::pair<Code, Code>> together;
  const auto before = in_last_round(race.before), now = in_last_round(race.now);
  for (const auto& a : before) {
    for (const auto& b : now) {
      if (a.round == b.round) together.push_back({a.code, b.code});
    }
  }
  return together;
}

/// The two accesses, the later one first.
std::vector<Fact> facts_of(const Race& race) {
  const CheckState& all = state();
  const auto fact_of = [&](const Event& event, Way way) {
    Fact fact = all.running.by(event.thread, all.ownership.program + event.code);
    fact.way = way;
    fact.is_atomic = event.is_atomic;
    fact.is_volatile = is_volatile(event);
    return fact;
  };
  Fact now = fact_of(race.now, race.access.way), before = fact_of(race.before, race.before_way);
  before.block = all.running.index_of_block(all.order.block_of(race.before));
  now.element = before.element = state().ownership.element_at(race.access);
  return {now, before};
}

}  // namespace

[[gnu::cold, gnu::noinline]] void report_race(const Event& before, Way before_way, const Event& now,
                                              const Access& access) {
  const Race race{before, before_way, now, access};
  if (state().order.is_of_earlier_launch(before)) return report_race_at_once(race);
  const bool are_plain = !before.is_synchronized && !now.is_synchronized;
  if (before_way == Way::load && access.way == Way::store && are_plain && state().order.have_met_since(before, now)) {
    return remark_shuffle_order(race);
  }
  if (before_way == Way::store && access.way == Way::store && are_plain) {
    state().pending.compare(race);
  } else {
    report_race_at_once(race);
  }
}

[[gnu::cold, gnu::noinline]] void report_race_at_once(const Race& race) {
  const auto& [before, before_way, now, access] = race;
  // What is recognized as right, such as a plain read before an atomicCAS, is so only if no other thread comes in between,
  // and of fences between blocks, less is kept than turns would need. A run without a schedule looks for races.
  if (Schedule::is_on()) return;
  CheckState& all = state();
  const Code code = all.ownership.program + now.code, other = all.ownership.program + before.code;
  if (all.order.is_of_earlier_launch(before)) {
    return report_stream_race(before, before_way, all.running.by(now.thread), access);
  }
  // The earlier access read too early: the race is the reason.
  if (before_way == Way::load) all.findings.drop("uninitialized", other);
  const std::uint64_t other_block = all.order.block_of(before);
  if (all.trace.is_on()) all.trace.race(now.thread, code, other_block, before.thread, other);
  const bool same_block = other_block == all.running.block;
  const bool are_writes = before_way == Way::store && access.way == Way::store;
  if (Finding* const known = all.findings.known_race(code, other)) {
    constexpr std::uint64_t looks = 64;
    if (known->address != access.address) known->address = 0;
    known->is_same_index &= !same_block && has_same_index(before, now);
    known->are_in_rows &= same_block && differ_in_y_only(before, now);
    if (!same_block) {
      all.findings.advise(code, other, advice_on_blocks(race, known->barrier != Remedy::none));
    } else if (are_writes && known->together.empty() && known->times < looks) {
      known->together = executed_together(race);
    }
    if (same_block && !in_same_warp(before, now)) {
      known->barrier = Remedy::block_barrier;
      if (known->remedy == Remedy::warp_barrier) known->remedy = Remedy::block_barrier;
    }
    ++known->times;
    return;
  }
  const Remedy barrier = barrier_for(same_block, in_same_warp(before, now));
  const Advice what = same_block ? advice(race, barrier) : advice_on_blocks(race);
  all.findings.add({.kind = "race",
                    .why = what.why,
                    .facts = facts_of(race),
                    .remedy = what.remedy,
                    .details = details_of_launch(),
                    .began = before.interval,
                    .barrier = barrier,
                    .last_barrier = same_block ? all.running.last_barrier : Site{},
                    .is_same_index = !same_block && has_same_index(before, now),
                    .are_in_rows = same_block && differ_in_y_only(before, now),
                    .address = before.is_synchronized || now.is_synchronized ? 0 : access.address,
                    .together = same_block && are_writes ? executed_together(race) : decltype(Finding::together){}});
}

namespace {

/// Two accesses that another order of the threads would do no harm to, as far as today's GPUs go.
void add_remark_on(const Race& race, const char* kind, const Advice& what) {
  CheckState& all = state();
  const Code code = all.ownership.program + race.now.code, other = all.ownership.program + race.before.code;
  if (all.findings.count_again(kind, code, other)) return;
  all.findings.add({.kind = kind,
                    .why = what.why,
                    .facts = facts_of(race),
                    .remedy = what.remedy,
                    .severity = Severity::remark,
                    .address = race.access.address});
}

}  // namespace

[[gnu::cold, gnu::noinline]] void remark_shuffle_order(const Race& race) {
  add_remark_on(race, "shuffle-order", {"before-shuffle", Remedy::warp_barrier});
}

[[gnu::cold, gnu::noinline]] void remark_same_value(const Race& race) {
  add_remark_on(race, "same-value", {"equal-values"});
}

[[gnu::cold, gnu::noinline]] void find_test(const Cell& cell, const Event& atomic, const Access& access) {
  const auto look = [&](const Event& read) {
    // An atomic further up, in a loop, does not follow from the test.
    const bool is_test = read.thread == atomic.thread && !read.is_synchronized && read.code < atomic.code;
    CheckState& all = state();
    if (!is_test || !all.order.is_since_barrier(read)) return;
    const Code code = all.ownership.program + read.code;
    all.findings.precedes_atomic(code);
    const bool is_unchanged =
        cell.write.interval < all.order.first_of_own(access.space);  // the block's own are not known
    if (access.is_exchange) all.exchanges.follows(code, access.code, is_unchanged);
  };
  look(cell.read);
  if (!cell.content.other_is_write) look(cell.other_read);
}

[[gnu::cold, gnu::noinline]] void look_for_lanes_in_step(const Cell& cell, const Event& now, const Access& access) {
  CheckState& all = state();
  const Order& order = all.order;
  if (order.has_fences()) return;  // then volatile variables may be flags
  const auto is_in_step = [&](const Event& before) {
    return is_volatile(before) && order.are_unordered_lanes(before, now);
  };
  if (access.way == Way::load) {
    const auto is_own = [&](const Event& event) { return order.is_since_barrier(event) && event.thread == now.thread; };
    // A lane that reads a word again and again waits for another one.
    if (is_own(cell.read) && cell.read.code == now.code && !is_own(cell.write)) all.pending.waits.insert(now.code);
    if (is_in_step(cell.write) && all.pending.waits.count(now.code) == 0) {
      report_race_at_once({cell.write, Way::store, now, access});
    }
    return;
  }
  const auto report_read = [&](const Event& read) {
    const bool is_wrong = is_in_step(read) && all.pending.waits.count(read.code) == 0;
    if (is_wrong) report_race_at_once({read, Way::load, now, access});
    return is_wrong;
  };
  if (!report_read(cell.read) && !cell.content.other_is_write) report_read(cell.other_read);
}

[[gnu::cold, gnu::noinline]] void join_swap(const Cell& cell, const Event& swap) {
  const auto join = [&](Event& read) {
    if (read.thread == swap.thread && state().order.is_since_barrier(read))
      read.is_synchronized = read.is_atomic = true;
  };
  join(cell.read);
  if (!cell.content.other_is_write) join(cell.other_read);
}

}  // namespace simt::check

#include "races.h"

#include <algorithm>

#include "schedule.h"
#include "text.h"
#include "transfers.h"

namespace simt::check {
namespace {

/// What orders the two threads of a race; null if nothing does, because they are of different blocks.
const char* barrier_for(bool is_same_block, bool is_same_warp) {
  return !is_same_block ? nullptr : is_same_warp ? "__syncwarp()" : "__syncthreads()";
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

/// What orders blocks instead of what the kernel has.
std::string remark_on_blocks(const Race& race) {
  if (state().counts.launch().barriers != 0) {
    const bool is_cooperative = state().running.launch->config.is_cooperative;
    return is_cooperative ? "" : "; __syncthreads() orders only threads of one block";
  }
  if (race.before.is_synchronized || race.now.is_synchronized) return "";
  return "; blockIdx.x * blockDim.x + threadIdx.x is another number in each thread of the grid";
}

/// Of two blocks. `is_shown_in_block`: the text is on two threads of one block.
std::string advice_on_blocks(const Race& race, bool is_shown_in_block = false) {
  const auto& [before, before_way, now, access] = race;
  const bool are_plain = !before.is_synchronized && !now.is_synchronized;
  const bool is_atomic = before.is_atomic || now.is_atomic;
  const char* const or_atomic = is_atomic ? ", or use an atomic" : "";
  if (before.is_synchronized && now.is_synchronized) {
    return "an atomic of block scope is one only for the threads of its own block: use atomicAdd() instead of "
           "atomicAdd_block() and the like, or cuda::thread_scope_device";
  }
  const std::string ways = state().running.launch->config.is_cooperative
                               ? std::string("put this_grid().sync() between the two accesses") + or_atomic
                           : is_atomic ? "use an atomic, or two launches"
                                       : "use two launches";
  if (are_plain && before_way == Way::store && access.way == Way::load && state().order.has_flag_after(before)) {
    return "a flag or counter says that the other block has written it, but no fence comes between that write and the "
           "flag: put __threadfence() before the flag is written";
  }
  if (is_shown_in_block) {
    return "threads of different blocks do the same, and no barrier orders them: check which thread has which element, "
           "or " +
           ways;
  }
  if (has_same_index(before, now)) {
    if (differ_in_row_only(before, now)) return advice_on_rows("blocks", "blockIdx");
    return "two blocks access one element with the same threadIdx: is blockIdx in the index, times the number of "
           "elements per block? In a loop over the grid, is the step gridDim.x times that number? " +
           (before_way != access.way || is_atomic
                ? "If all blocks should access this element, " + ways +
                      (before_way == access.way ? "" : "; or let the kernel write into another array than it reads")
                : "If all blocks should add to this element, use atomicAdd()");
  }
  return "nothing orders these blocks: check which thread has which element, or " + ways + remark_on_blocks(race);
}

/// Of two threads of a block.
std::string advice(const Race& race, const char* barrier) {
  const bool is_same_warp = in_same_warp(race.before, race.now);
  const bool are_volatile = is_volatile(race.before) && is_volatile(race.now);
  const std::string or_atomic = race.before.is_atomic || race.now.is_atomic ? ", or use an atomic" : "";
  const Running& running = state().running;
  if (race.access.space == Space::global && running.last_barrier.line == 0 && !are_volatile) {
    if (differ_in_y_only(race.before, race.now)) return advice_on_rows("threads", "threadIdx");
    return "two threads work on the same element: check which thread has which element" + or_atomic +
           "; if a loop leads to it, check the loop's start and step, too; a barrier orders only threads of one block";
  }
  const std::string between = std::string("put ") + barrier + " between the two accesses";
  if (are_volatile) return "lanes do not run in step, and volatile does not order them: " + between;
  if (is_same_warp) {
    // Also where the block has one warp only: with another launch shape, it may have more.
    return std::string("nothing orders these lanes") +
           (running.has_exchanges ? ", and shuffles and votes do not: " : ": ") +
           "put __syncthreads() between the two accesses, or __syncwarp() if no other warp uses the data" + or_atomic;
  }
  return "no barrier orders these threads: " + between + or_atomic;
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

/// The instruction that reads, if the other end is an atomic; otherwise 0.
Code plain_read_of(const Race& race) {
  const auto& [before, before_way, now, access] = race;
  const Code program = state().ownership.program;
  if (before_way == Way::store && before.is_atomic && access.way == Way::load) return program + now.code;
  return before_way == Way::load && now.is_atomic && writes(access.way) ? program + before.code : 0;
}

/// "block (1,0,0), thread (3,0,0)" of an event.
std::string who(const Event& event) {
  const CheckState& all = state();
  return "block " + block_name(*all.running.launch, all.order.block_of(event)) + ", thread " +
         thread_name(*all.running.launch, event.thread);
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
    return report_stream_race(before, before_way, all.running.subject(now.thread), access);
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
      all.findings.advise(code, other, advice_on_blocks(race, !known->between.empty()));
    } else if (are_writes && known->together.empty() && known->times < looks) {
      known->together = executed_together(race);
    }
    if (same_block && !in_same_warp(before, now)) known->barrier = barrier_for(true, false);
    ++known->times;
    return;
  }
  const char* const barrier = barrier_for(same_block, in_same_warp(before, now));
  all.findings.add({.kind = "race",
                    .text = all.running.subject(now.thread) + verb_of(access.way) + all.ownership.describe(access) +
                            "; " + who(before) + " " + verb_of(before_way) + "it at {other}",
                    .code = code,
                    .other = other,
                    .advice = same_block ? advice(race, barrier) : advice_on_blocks(race),
                    .barrier = barrier,
                    .is_same_index = !same_block && has_same_index(before, now),
                    .are_in_rows = same_block && differ_in_y_only(before, now),
                    .address = before.is_synchronized || now.is_synchronized ? 0 : access.address,
                    .between = same_block ? all.running.since_barrier() + all.ownership.array_at(access) : "",
                    .last_barrier = same_block ? all.running.last_barrier : Site{},
                    .are_writes = are_writes,
                    .together = same_block && are_writes ? executed_together(race) : decltype(Finding::together){},
                    .plain_read = plain_read_of(race),
                    .began = before.interval});
}

[[gnu::cold, gnu::noinline]] void remark_shuffle_order(const Race& race) {
  CheckState& all = state();
  const Access& access = race.access;
  const Code code = all.ownership.program + race.now.code, other = all.ownership.program + race.before.code;
  if (all.findings.count_again("shuffle-order", code, other)) return;
  all.findings.add({.kind = "shuffle-order",
                    .text = all.running.subject(access.thread) + "writes " + all.ownership.describe(access) + "; " +
                            who(race.before) +
                            " reads it at {other}, before a shuffle or vote in which both lanes take part; today's " +
                            "GPUs read first, but in CUDA's memory model a shuffle or vote orders no accesses: put " +
                            "__syncwarp() between the two",
                    .code = code,
                    .other = other,
                    .address = access.address,
                    .severity = Severity::remark});
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

[[gnu::cold, gnu::noinline]] void remark_same_value(const Race& race) {
  CheckState& all = state();
  const Access& access = race.access;
  const Code code = all.ownership.program + race.now.code, other = all.ownership.program + race.before.code;
  if (all.findings.count_again("same-value", code, other)) return;
  all.findings.add({.kind = "same-value",
                    .text = all.running.subject(access.thread) + "writes " + all.ownership.describe(access) + "; " +
                            who(race.before) +
                            " writes the same value at {other}, and nothing orders the two; the result does not " +
                            "depend on the order as long as all values are equal",
                    .code = code,
                    .other = other,
                    .address = access.address,
                    .are_writes = true,
                    .severity = Severity::remark});
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

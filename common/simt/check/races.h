// Accesses to one word that no barrier, fence or atomic puts in order.
#pragma once

#include "state.h"

namespace simt::check {

/// Reports that `now` races with `before`, an event that does not hold its own way; or waits for what decides that.
void report_race(const Event& before, Way before_way, const Event& now, const Access& access);
void report_race_at_once(const Race& race);
/// The two threads have stored the same value.
void remark_same_value(const Race& race);
/// Volatile accesses of one warp's lanes in shared memory: volatile does not make lanes wait for each other.
void look_for_lanes_in_step(const Cell& cell, const Event& now, const Access& access);
/// The lanes have come to a shuffle or vote between a read and the write that follows it.
void remark_shuffle_order(const Race& race);
/// Plain reads of a word by the thread that now changes it by an atomic.
void find_test(const Cell& cell, const Event& atomic, const Access& access);
/// A compare-and-swap loop's first read of a word counts as an atomic one.
void join_swap(const Cell& cell, const Event& swap);

/// Keeps two readers of different threads as long as a later writer may race with them.
[[gnu::always_inline]] inline void keep_reader(const Cell& cell, const Event& now, const Order& order, Space space) {
  const bool is_other = cell.read.thread != now.thread || cell.read.interval < order.first_of_own(space);
  if (cell.read.interval >= order.first_concurrent(space) && is_other) {
    cell.other_read = cell.read;
    cell.content.other_is_write = false;
  }
  cell.read = now;
}

/// Compares an access with the earlier ones that a cell holds, then stores it there.
[[gnu::always_inline]] inline void look_for_races(const Cell& cell, const Event& now, const Access& access) {
  CheckState& all = state();
  Order& order = all.order;
  if (all.pending.has_reads()) [[unlikely]]
    all.pending.follow(&cell.write, access);
  if (access.is_atomic && access.way == Way::atomic) find_test(cell, now, access);
  if (access.is_compare_and_swap) join_swap(cell, now);
  const bool is_synchronized = access.sync == Sync::synchronized;
  const Event& write = cell.write;
  const bool is_of_device = access.scope == Scope::device && !write.is_of_block;
  if (is_synchronized && access.space == Space::global && reads(access.way) && write.is_synchronized && is_of_device &&
      write.interval >= order.first_of_launch() && write.interval < order.first_of_own(Space::global)) [[unlikely]] {
    all.progress.learn(access, order.block_of(write));
    order.acquire(write, access);
  }
  if (is_synchronized && reads(access.way) && order.has_fences()) [[unlikely]]
    order.take_over(&cell.write, access);

  if (is_synchronized && !access.is_atomic && access.space == Space::shared) [[unlikely]]
    look_for_lanes_in_step(cell, now, access);
  const bool other_is_write = cell.content.other_is_write;
  if (order.are_unordered(write, now, access.space)) [[unlikely]] {
    if (write.is_atomic && access.way == Way::load && !is_synchronized) {
      all.pending.await_swap(&cell.write, {write, Way::store, now, access});
    } else {
      report_race(write, Way::store, now, access);
    }
  } else if (other_is_write && order.are_unordered(cell.other_read, now, access.space)) [[unlikely]] {
    report_race(cell.other_read, Way::store, now, access);
  }
  const std::uint32_t first_concurrent = order.first_concurrent(access.space);
  if (writes(access.way)) {
    if (is_synchronized && access.space == Space::global) [[unlikely]]
      all.progress.remember(access);
    if (order.are_unordered(cell.read, now, access.space)) [[unlikely]] {
      report_race(cell.read, Way::load, now, access);
    } else if (!other_is_write && order.are_unordered(cell.other_read, now, access.space)) [[unlikely]] {
      report_race(cell.other_read, Way::load, now, access);
    }
    if (is_synchronized && !write.is_synchronized && write.interval >= first_concurrent) {
      cell.other_read = write;
      cell.content.other_is_write = true;
    }
    cell.write = now;
    if (is_synchronized && order.has_fences()) [[unlikely]]
      order.pass_on(&cell.write, access.thread, access.way);
  }
  if (access.way == Way::load) keep_reader(cell, now, order, access.space);
}

}  // namespace simt::check

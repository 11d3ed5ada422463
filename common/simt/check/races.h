// Accesses of one word that no barrier, fence or atomic puts in an order.
#pragma once

#include "ownership.h"

namespace simt::check {
#pragma GCC visibility push(hidden)

/// An access as the observers of races and of initialisation see it.
struct Access {
  std::uintptr_t address;
  unsigned bytes;
  bool reads, writes, atomic, sync, shared;
  unsigned thread;
  Code code;
};

/// An `other_read` that is a plain write, over which an atomic one has gone: it may still race with what follows.
inline constexpr std::uint32_t kept_write = 1u << 31;

void race(const Event& before, const Event& now, bool before_writes, bool now_writes, std::uintptr_t address,
          unsigned bytes);

/// Holds an access against what a cell knows of earlier ones, and puts it there.
[[gnu::always_inline]] inline void look_for_races(Cell& cell, const Event& now, const Access& a) {
  if (a.sync && !a.shared && a.reads && synchronized(cell.write) && cell.write.interval >= first_of_launch &&
      cell.write.interval < first_of_block) [[unlikely]] {
    acquire(cell.write);
  }
  if (a.sync && a.reads && fenced_now) [[unlikely]]
    take_over(&cell, a.thread);
  const bool kept = (cell.other_read.code & kept_write) != 0;
  if (unordered(cell.write, now, a.shared)) [[unlikely]] {
    race(cell.write, now, true, a.writes, a.address, a.bytes);
  } else if (kept && unordered(cell.other_read, now, a.shared)) [[unlikely]] {
    race(cell.other_read, now, true, a.writes, a.address, a.bytes);
  }
  if (a.writes) {
    if (unordered(cell.read, now, a.shared)) [[unlikely]] {
      race(cell.read, now, false, true, a.address, a.bytes);
    } else if (!kept && unordered(cell.other_read, now, a.shared)) [[unlikely]] {
      race(cell.other_read, now, false, true, a.address, a.bytes);
    }
    if (a.sync && !synchronized(cell.write) && cell.write.interval >= (a.shared ? interval : first_of_launch)) {
      cell.other_read = cell.write;
      cell.other_read.code |= kept_write;
    }
    cell.write = now;
    if (a.sync && fenced_now) [[unlikely]]
      hand_on(&cell, a.thread, a.atomic);
  }
  if (a.reads && !a.atomic) {
    // Kept: two readers of different threads, as long as a later writer may race with them.
    if (cell.read.interval >= (a.shared ? interval : first_of_launch) &&
        (thread_of(cell.read) != a.thread || cell.read.interval < first_of_block)) {
      cell.other_read = cell.read;
    }
    cell.read = now;
  }
}

#pragma GCC visibility pop
}  // namespace simt::check

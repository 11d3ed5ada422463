// What comes before what: barrier intervals, clocks of a warp's lanes, fences between blocks.
//
// Intervals number what lies between two barriers of a block, through the whole program, so that one comparison tells
// most cases. Within an interval lanes of a warp have vector clocks, joined where they meet. A block comes after another
// one of the same launch if it has read, atomically or as a volatile, what that one wrote so after a __threadfence:
// what stands before the fence, not what stands behind it. So do threads of one block within an interval, for which
// __threadfence_block is enough.
#pragma once

#include <cstdint>

#include "check.h"

namespace simt::check {
#pragma GCC visibility push(hidden)

/// An access, as later ones see it. Of intervals, smaller is earlier.
struct Event {
  std::uint32_t interval = 0;  ///< 0: none
  std::uint32_t code = 0;      ///< from the program's first address; 1 bit: see kept_write
  std::uint32_t who = 0;  ///< thread, 10 bits; bytes of the word, 4; synchronised (atomic or volatile), 1; clock, 17
};

inline unsigned thread_of(const Event& e) { return e.who & 1023; }
inline unsigned bytes_of(const Event& e) { return e.who >> 10 & 15; }
inline bool synchronized(const Event& e) { return (e.who >> 14 & 1) != 0; }
inline unsigned clock_of(const Event& e) { return e.who >> 15; }

extern std::uint32_t interval, first_of_block, first_of_launch;
extern bool clocks_used[max_warps];  ///< lanes of this warp have met, or fenced, in this interval

/// The `who` of an event of this thread now: it accesses the bytes of `mask` in a word.
std::uint32_t clock_of_thread(unsigned thread);
inline std::uint32_t who_now(unsigned thread, bool sync) {
  return thread | unsigned(sync) << 14 | (clocks_used[thread / lanes_per_warp] ? clock_of_thread(thread) : 1u) << 15;
}

void order_launch(std::uint64_t blocks);
void order_block();     ///< `block` begins
void order_interval();  ///< a barrier has opened
void order_fence(unsigned thread);
void order_fence_in_block(unsigned thread);

/// Within this interval: an atomic or volatile write of a flag hands on what its thread knew at its last fence, a read
/// takes it over. A flag is known by its cell. An atomic adds to what others have handed on by it.
extern bool fenced_now;  ///< else there is nothing to hand on
void hand_on(const void* flag, unsigned thread, bool atomic);
void take_over(const void* flag, unsigned thread);

/// An atomic or volatile read of what another block wrote so: that block's writes before its fence, and all that it
/// could rely on, come before what follows here.
void acquire(const Event& write);
std::uint64_t block_of(const Event& event);  ///< of the running launch

/// May `before` and the access `now` have happened in the other order?
bool unordered_in_launch(const Event& before, const Event& now, bool shared);

/// Most accesses follow one of an earlier barrier interval, launch or block, or of the same thread.
[[gnu::always_inline]] inline bool unordered(const Event& before, const Event& now, bool shared) {
  if (before.interval < (shared ? first_of_block : first_of_launch)) return false;
  if (before.interval == now.interval ? thread_of(before) == thread_of(now) : before.interval >= first_of_block) {
    return false;
  }
  return unordered_in_launch(before, now, shared);
}

#pragma GCC visibility pop
}  // namespace simt::check

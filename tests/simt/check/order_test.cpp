// Which accesses may have happened in the other order.
#include <doctest/doctest.h>

#include "kept.h"
#include "order.h"

using namespace simt::check;

namespace {

/// What a thread does now, to all bytes of a word.
Event now(unsigned thread, bool sync = false, unsigned bytes = 15) {
  return {interval, 0x10, who_now(thread, sync) | bytes << 10};
}
bool shared_race(const Event& before, const Event& after) { return unordered(before, after, true); }
bool global_race(const Event& before, const Event& after) { return unordered(before, after, false); }

}  // namespace

TEST_CASE("threads of a block are in no order until a barrier") {
  const InLaunch in_launch;
  const Event first = now(3);
  CHECK(shared_race(first, now(40)));
  CHECK(shared_race(first, now(4)));  // of its own warp, too
  CHECK_FALSE(shared_race(first, now(3)));
  order_interval();
  CHECK_FALSE(shared_race(first, now(40)));
  CHECK_FALSE(global_race(first, now(40)));
}

TEST_CASE("lanes that have met are in order, lanes that have not are not") {
  const InLaunch in_launch;
  const Event first = now(3);
  lanes_synchronized(0, 0xff);
  CHECK_FALSE(shared_race(first, now(4)));
  CHECK(shared_race(first, now(9)));   // was not among them
  CHECK(shared_race(first, now(36)));  // of another warp
  CHECK(shared_race(now(3), now(4)));  // what came after they met
}

TEST_CASE("an order passes on through a third lane") {
  const InLaunch in_launch;
  const Event first = now(0);
  lanes_synchronized(0, 0b011);
  lanes_synchronized(0, 0b110);
  CHECK_FALSE(shared_race(first, now(2)));
}

TEST_CASE("two atomic accesses do not race, an atomic and a plain one do") {
  const InLaunch in_launch;
  CHECK_FALSE(global_race(now(3, true), now(40, true)));
  CHECK(global_race(now(3, true), now(40)));
  CHECK(global_race(now(3), now(40, true)));
}

TEST_CASE("different bytes of a word do not race") {
  const InLaunch in_launch;
  CHECK_FALSE(shared_race(now(3, false, 0b0011), now(40, false, 0b0100)));
  CHECK(shared_race(now(3, false, 0b0011), now(40, false, 0b0110)));
}

TEST_CASE("blocks are in no order, whatever barriers they pass; launches are") {
  InLaunch in_launch;
  const Event first = now(3);
  order_interval();
  in_launch.next_block();
  order_interval();
  CHECK(global_race(first, now(3)));
  CHECK_FALSE(shared_race(first, now(3)));  // each block has shared memory of its own
  CHECK(block_of(first) == 0);
  const InLaunch next;
  CHECK_FALSE(global_race(first, now(3)));
}

TEST_CASE("what stands before a fence comes before a block that reads what was written after it") {
  InLaunch in_launch;
  const Event before = now(3), other = now(70);
  order_fence(3);
  const Event after = now(3), flag = now(3, true);
  in_launch.next_block();
  CHECK(global_race(before, now(5)));  // the flag has not been read yet
  acquire(flag);
  CHECK_FALSE(global_race(before, now(5)));
  CHECK(global_race(after, now(5)));
  CHECK(global_race(other, now(5)));  // another thread's, with no barrier before the fence
}

TEST_CASE("a barrier before the fence lets it stand for the whole block; a third block relies on the second") {
  InLaunch in_launch;
  const Event other = now(70);
  order_interval();
  order_fence(3);
  const Event flag = now(3, true);
  in_launch.next_block();
  acquire(flag);
  CHECK_FALSE(global_race(other, now(5)));
  order_interval();
  order_fence(0);
  const Event second = now(0, true);
  in_launch.next_block();
  CHECK(global_race(other, now(5)));
  acquire(second);
  CHECK_FALSE(global_race(other, now(5)));
}

TEST_CASE("a flag without a fence orders nothing") {
  InLaunch in_launch;
  const Event before = now(3), flag = now(3, true);
  in_launch.next_block();
  acquire(flag);
  CHECK(global_race(before, now(5)));
}

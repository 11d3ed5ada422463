// Which accesses may have happened in the other order.
#include <doctest/doctest.h>

#include "in_launch.h"

using namespace simt::check;

namespace {

Order& order() { return state().order; }

/// What a thread does now, to all bytes of a word or to some of them.
Event now(unsigned thread, Sync sync = Sync::plain, unsigned bytes = 15) {
  return order().event_of(thread, bytes, sync, 0x10);
}
bool shared_race(const Event& before, const Event& after) {
  return order().are_unordered(before, after, Space::shared);
}
bool global_race(const Event& before, const Event& after) {
  return order().are_unordered(before, after, Space::global);
}

/// A thread reads a flag: by a volatile load, or one of CUDA's own atomics, or by a relaxed load of a cuda::atomic.
void read_flag(const Event& flag, unsigned thread, Acquire acquire = Acquire::at_once) {
  const Access read{.address = 0,
                    .bytes = 4,
                    .way = Way::load,
                    .sync = Sync::synchronized,
                    .space = Space::global,
                    .thread = thread,
                    .code = 0,
                    .acquire = acquire};
  order().acquire(flag, read);
}

}  // namespace

TEST_CASE("threads of a block are in no order until a barrier") {
  const InLaunch in_launch;
  const Event first = now(3);
  CHECK(shared_race(first, now(40)));
  CHECK(shared_race(first, now(4)));  // of its own warp, too
  CHECK_FALSE(shared_race(first, now(3)));
  order().begin_interval();
  CHECK_FALSE(shared_race(first, now(40)));
  CHECK_FALSE(global_race(first, now(40)));
}

TEST_CASE("lanes that have synchronized are in order, other lanes are not") {
  const InLaunch in_launch;
  const Event first = now(3);
  order().synchronize_lanes(0, 0xff);
  CHECK_FALSE(shared_race(first, now(4)));
  CHECK(shared_race(first, now(9)));   // was not one of them
  CHECK(shared_race(first, now(36)));  // of another warp
  CHECK(shared_race(now(3), now(4)));  // after they have synchronized
}

TEST_CASE("lanes may synchronize more often than an event's clock can count") {
  const InLaunch in_launch;
  order().synchronize_lanes(1, 0b11);
  const Event other_warp = now(32);
  const Event early = now(0), alone = now(2);
  for (int i = 0; i < 70000; ++i) order().synchronize_lanes(0, 0b11);
  const Event late = now(0);
  CHECK_FALSE(shared_race(early, now(1)));
  CHECK_FALSE(shared_race(late, now(0)));
  CHECK(shared_race(late, now(1)));
  CHECK(shared_race(late, now(2)));
  CHECK(shared_race(alone, now(0)));  // did not take part
  CHECK(shared_race(early, now(32)));
  CHECK(shared_race(other_warp, now(0)));
  CHECK(shared_race(other_warp, now(33)));
  for (int i = 0; i < 70000; ++i) order().synchronize_lanes(0, 0b111);
  for (const Event& event : {early, late, alone}) CHECK_FALSE(shared_race(event, now(1)));
  CHECK(shared_race(late, now(3)));
  order().begin_interval();
  CHECK_FALSE(shared_race(late, now(3)));
  CHECK(shared_race(now(0), now(1)));
}

TEST_CASE("an order passes on through a third lane") {
  const InLaunch in_launch;
  const Event first = now(0);
  order().synchronize_lanes(0, 0b011);
  order().synchronize_lanes(0, 0b110);
  CHECK_FALSE(shared_race(first, now(2)));
}

TEST_CASE("two atomic accesses do not race, an atomic and a plain one do") {
  const InLaunch in_launch;
  CHECK_FALSE(global_race(now(3, Sync::synchronized), now(40, Sync::synchronized)));
  CHECK(global_race(now(3, Sync::synchronized), now(40)));
  CHECK(global_race(now(3), now(40, Sync::synchronized)));
}

TEST_CASE("different bytes of a word do not race") {
  const InLaunch in_launch;
  CHECK_FALSE(shared_race(now(3, Sync::plain, 0b0011), now(40, Sync::plain, 0b0100)));
  CHECK(shared_race(now(3, Sync::plain, 0b0011), now(40, Sync::plain, 0b0110)));
}

TEST_CASE("blocks are in no order, whatever barriers they pass, but launches are") {
  InLaunch in_launch;
  const Event first = now(3);
  order().begin_interval();
  in_launch.next_block();
  order().begin_interval();
  CHECK(global_race(first, now(3)));
  CHECK_FALSE(shared_race(first, now(3)));  // each block has its own shared memory
  CHECK(order().block_of(first) == 0);
  const InLaunch next;
  CHECK_FALSE(global_race(first, now(3)));
}

TEST_CASE("what precedes a fence comes before a block that reads what was written after the fence") {
  InLaunch in_launch;
  const Event before = now(3), other = now(70);
  order().fence(3);
  const Event after = now(3), flag = now(3, Sync::synchronized);
  in_launch.next_block();
  CHECK(global_race(before, now(5)));  // the flag has not been read yet
  read_flag(flag, 5);
  CHECK_FALSE(global_race(before, now(5)));
  CHECK(global_race(after, now(5)));
  CHECK(global_race(other, now(5)));  // another thread's, with no barrier before the fence
}

TEST_CASE("after a barrier, a fence counts for the whole block, and a third block relies on the second") {
  InLaunch in_launch;
  const Event other = now(70);
  order().begin_interval();
  order().fence(3);
  const Event flag = now(3, Sync::synchronized);
  in_launch.next_block();
  read_flag(flag, 5);
  CHECK_FALSE(global_race(other, now(5)));
  order().begin_interval();
  order().fence(0);
  const Event second = now(0, Sync::synchronized);
  in_launch.next_block();
  CHECK(global_race(other, now(5)));
  read_flag(second, 5);
  CHECK_FALSE(global_race(other, now(5)));
}

TEST_CASE("a flag without a fence orders nothing") {
  InLaunch in_launch;
  const Event before = now(3), flag = now(3, Sync::synchronized);
  in_launch.next_block();
  read_flag(flag, 5);
  CHECK(global_race(before, now(5)));
}

TEST_CASE("who has not read the flag relies on it after a barrier, or when its lane synchronizes") {
  InLaunch in_launch;
  const Event before = now(3);
  order().fence(3);
  const Event flag = now(3, Sync::synchronized);
  in_launch.next_block();
  read_flag(flag, 5);
  CHECK_FALSE(global_race(before, now(5)));
  CHECK(global_race(before, now(6)));
  CHECK(global_race(before, now(40)));
  order().synchronize_lanes(0, 0x60);
  CHECK_FALSE(global_race(before, now(6)));
  CHECK(global_race(before, now(40)));
  order().begin_interval();
  CHECK_FALSE(global_race(before, now(40)));
}

TEST_CASE("a relaxed load orders what follows the next fence, also after a barrier") {
  InLaunch in_launch;
  const Event before = now(3);
  order().fence(3);
  const Event flag = now(3, Sync::synchronized);
  in_launch.next_block();
  read_flag(flag, 5, Acquire::by_fence);
  CHECK(global_race(before, now(5)));
  order().fence_in_block(5);  // of too narrow a scope
  CHECK(global_race(before, now(5)));
  order().begin_interval();
  CHECK(global_race(before, now(5)));
  order().acquire_fence(5);
  CHECK_FALSE(global_race(before, now(5)));
}

TEST_CASE("atomics of block scope race with those of other blocks only") {
  InLaunch in_launch;
  Event narrow = now(3, Sync::synchronized);
  narrow.is_of_block = 1;
  CHECK_FALSE(global_race(narrow, now(40, Sync::synchronized)));
  in_launch.next_block();
  CHECK(global_race(narrow, now(40, Sync::synchronized)));
}

// What a word remembers, and which accesses of it are a race.
#include <doctest/doctest.h>

#include "kept.h"
#include "races.h"

using namespace simt::check;

namespace {

char word[4];  // whose address the accesses carry

enum class Do { read, write, add, volatile_read, volatile_write };

/// An access of a word of global (or shared) memory by a thread, at a code address of its own.
void access(Cell& cell, unsigned thread, Do what, Code code, bool shared = false) {
  const bool sync = what == Do::add || what == Do::volatile_read || what == Do::volatile_write;
  const Access one{std::uintptr_t(word),
                   4,
                   what != Do::write && what != Do::volatile_write,
                   what == Do::write || what == Do::add || what == Do::volatile_write,
                   what == Do::add,
                   sync,
                   shared,
                   thread,
                   program + code};
  look_for_races(cell, {interval, std::uint32_t(code), who_now(thread, sync) | 15u << 10}, one);
}

bool races(Code code, Code other) { return is_known("race", program + code, program + other); }

}  // namespace

TEST_CASE("a write races with another thread's write and read, a read with a write") {
  const InLaunch in_launch;
  Cell written{}, read{};
  access(written, 3, Do::write, 0x10);
  access(written, 40, Do::write, 0x20);
  CHECK(races(0x20, 0x10));
  access(read, 3, Do::read, 0x30);
  access(read, 40, Do::read, 0x40);
  CHECK(told.size() == 1);
  access(read, 50, Do::write, 0x50);
  CHECK(races(0x50, 0x40));
  access(read, 60, Do::read, 0x60);
  CHECK(races(0x60, 0x50));
  CHECK(told.size() == 3);
}

TEST_CASE("a thread may read and write what it likes alone, and after a barrier what others had") {
  const InLaunch in_launch;
  Cell cell{};
  access(cell, 3, Do::write, 0x10);
  access(cell, 3, Do::read, 0x20);
  access(cell, 3, Do::write, 0x30);
  order_interval();
  access(cell, 40, Do::write, 0x40);
  CHECK(told.empty());
}

TEST_CASE("of two readers the one that is not the writer is told") {
  const InLaunch in_launch;
  Cell cell{};
  access(cell, 40, Do::read, 0x10);
  access(cell, 3, Do::read, 0x20);
  access(cell, 3, Do::write, 0x30);
  CHECK(races(0x30, 0x10));
  CHECK(told.size() == 1);
}

TEST_CASE("atomics race with plain accesses only, also where an atomic has gone over a plain write") {
  const InLaunch in_launch;
  Cell counted{}, cleared{};
  access(counted, 3, Do::add, 0x10);
  access(counted, 40, Do::add, 0x20);
  CHECK(told.empty());
  access(counted, 50, Do::read, 0x30);
  CHECK(races(0x30, 0x20));
  access(cleared, 3, Do::write, 0x40);
  access(cleared, 3, Do::add, 0x50);
  access(cleared, 40, Do::add, 0x60);
  CHECK(races(0x60, 0x40));
  CHECK(told.back().text.find("thread (3,0,0) writes it at") != std::string::npos);
}

TEST_CASE("a flag after a fence hands on what was written before it") {
  InLaunch in_launch;
  Cell sum{}, flag{}, unfenced{};
  access(sum, 3, Do::write, 0x10);
  order_fence(3);
  access(flag, 3, Do::volatile_write, 0x20);
  access(unfenced, 3, Do::write, 0x30);
  in_launch.next_block();
  access(flag, 5, Do::volatile_read, 0x40);
  access(sum, 5, Do::read, 0x50);
  CHECK(told.empty());
  access(unfenced, 5, Do::read, 0x60);
  CHECK(races(0x60, 0x30));
}

TEST_CASE("a flag hands on within a block, too, what stands before a fence of it") {
  const InLaunch in_launch;
  Cell sum{}, others{}, flag{}, late{};
  access(sum, 3, Do::write, 0x10);
  access(others, 4, Do::write, 0x20);
  order_fence_in_block(3);
  access(late, 3, Do::write, 0x30);
  access(flag, 3, Do::volatile_write, 0x40);
  access(flag, 40, Do::volatile_read, 0x50);
  access(sum, 40, Do::read, 0x60);
  CHECK(told.empty());
  access(late, 40, Do::read, 0x70);
  CHECK(races(0x70, 0x30));
  access(others, 40, Do::read, 0x80);
  CHECK(races(0x80, 0x20));
  access(sum, 70, Do::write, 0x90);  // has not read the flag
  CHECK(races(0x90, 0x60));
}

TEST_CASE("what a flag hands on goes to all lanes that meet, and from thread to thread") {
  const InLaunch in_launch;
  Cell sum{}, flag{}, second{};
  access(sum, 4, Do::write, 0x10);
  order_fence_in_block(4);
  lanes_synchronized(0, 0xff);
  access(flag, 3, Do::add, 0x20);  // the fence of lane 4 stands for lane 3
  access(flag, 40, Do::add, 0x30);
  lanes_synchronized(1, 0xffff);
  access(sum, 41, Do::write, 0x40);
  CHECK(told.empty());
  order_fence_in_block(42);
  access(second, 42, Do::volatile_write, 0x50);
  access(second, 70, Do::volatile_read, 0x60);
  access(sum, 70, Do::read, 0x70);
  CHECK(races(0x70, 0x40));  // lane 41 wrote when it had met lane 42
  CHECK(told.size() == 1);
}

TEST_CASE("a race is told with kernel, blocks and threads; one that read too early has no other fault") {
  InLaunch in_launch;
  Cell cell{};
  add_finding("uninitialized", program + 0x10, 0, "");
  access(cell, 3, Do::read, 0x10);
  in_launch.next_block();
  access(cell, 40, Do::write, 0x20);
  REQUIRE(told.size() == 1);
  CHECK(told[0].kind == "race");
  CHECK(told[0].text.find("kernel move, block (1,0,0), thread (40,0,0): writes ") == 0);
  CHECK(told[0].text.find("block (0,0,0), thread (3,0,0) reads it at {other}") != std::string::npos);
}

// What a word remembers, and which accesses of it are a race.
#include <doctest/doctest.h>

#include "in_launch.h"
#include "races.h"
#include "words.h"

using namespace simt::check;

namespace {

char word[4];  // whose address the accesses carry

enum class Do { read, write, write_same, add, swap, volatile_read, volatile_write };

Order& order() { return state().order; }

Way way_of(Do what) {
  if (what == Do::add || what == Do::swap) return Way::atomic;
  return what == Do::read || what == Do::volatile_read ? Way::load : Way::store;
}

bool is_plain(Do what) { return what == Do::read || what == Do::write || what == Do::write_same; }

/// An access of a word by a thread, at a code address of its own. A write stores another value, unless it is
/// write_same.
void access(OwnCell& cell, unsigned thread, Do what, Code code, Space space = Space::global) {
  if (state().pending.has_stores()) state().pending.settle_stores();
  const Sync sync = is_plain(what) ? Sync::plain : Sync::synchronized;
  const Access access{.address = std::uintptr_t(word),
                      .bytes = 4,
                      .way = way_of(what),
                      .sync = sync,
                      .space = space,
                      .thread = thread,
                      .code = state().ownership.program + code,
                      .is_compare_and_swap = what == Do::swap,
                      .is_atomic = way_of(what) == Way::atomic};
  Event now = order().event_of(thread, 15, sync, std::uint32_t(code));
  now.is_atomic = access.is_atomic;
  look_for_races(cell.cell(), now, access);
  if (what == Do::write) ++word[0];
}

Finding finding_at(const char* kind, Code code) { return {.kind = kind, .facts = {{.place = {.code = code}}}}; }

/// Nothing follows that could decide otherwise.
bool races(Code code, Code other) {
  state().pending.settle_all();
  const Code program = state().ownership.program;
  return state().findings.is_known("race", program + code, program + other);
}

}  // namespace

TEST_CASE("a write races with another thread's write and read, a read with a write") {
  const InLaunch in_launch;
  OwnCell written, read;
  access(written, 3, Do::write, 0x10);
  access(written, 40, Do::write, 0x20);
  CHECK(races(0x20, 0x10));
  access(read, 3, Do::read, 0x30);
  access(read, 40, Do::read, 0x40);
  CHECK(count_findings() == 1);
  access(read, 50, Do::write, 0x50);
  CHECK(races(0x50, 0x40));
  access(read, 60, Do::read, 0x60);
  CHECK(races(0x60, 0x50));
  CHECK(count_findings() == 3);
}

TEST_CASE("a thread does not race with itself, nor after a barrier with others") {
  const InLaunch in_launch;
  OwnCell cell;
  access(cell, 3, Do::write, 0x10);
  access(cell, 3, Do::read, 0x20);
  access(cell, 3, Do::write, 0x30);
  order().begin_interval();
  access(cell, 40, Do::write, 0x40);
  CHECK(count_findings() == 0);
}

TEST_CASE("a writer that is one of two readers races with the other") {
  const InLaunch in_launch;
  OwnCell cell;
  access(cell, 40, Do::read, 0x10);
  access(cell, 3, Do::read, 0x20);
  access(cell, 3, Do::write, 0x30);
  CHECK(races(0x30, 0x10));
  CHECK(count_findings() == 1);
}

TEST_CASE("atomics race with plain accesses only, even if an atomic has replaced a plain write") {
  const InLaunch in_launch;
  OwnCell counted, cleared;
  access(counted, 3, Do::add, 0x10);
  access(counted, 40, Do::add, 0x20);
  CHECK(count_findings() == 0);
  access(counted, 50, Do::read, 0x30);
  CHECK(races(0x30, 0x20));
  access(cleared, 3, Do::write, 0x40);
  access(cleared, 3, Do::add, 0x50);
  access(cleared, 40, Do::add, 0x60);
  CHECK(races(0x60, 0x40));
  CHECK(words_of(state().findings.all().back()).find("thread (3,0,0) writes it") != std::string::npos);
}

TEST_CASE("threads that write the same value do not race with each other, but with a reader") {
  const InLaunch in_launch;
  OwnCell cell;
  access(cell, 3, Do::write, 0x10);
  access(cell, 40, Do::write_same, 0x20);
  access(cell, 50, Do::write_same, 0x20);
  CHECK_FALSE(races(0x20, 0x10));
  CHECK(state().findings.all().front().kind == "same-value");
  CHECK(state().findings.all().front().severity == Severity::remark);
  access(cell, 60, Do::read, 0x30);
  CHECK(races(0x30, 0x20));
  access(cell, 70, Do::write, 0x40);
  CHECK(races(0x40, 0x20));
}

TEST_CASE("a plain read of what others change by atomics may only be the first step of an atomicCAS") {
  const InLaunch in_launch;
  OwnCell swapped, read, read_twice;
  for (unsigned thread : {3u, 40u, 70u}) {
    access(swapped, thread, Do::read, 0x10);
    access(swapped, thread, Do::swap, 0x20);
    access(swapped, thread, Do::swap, 0x20);
  }
  state().pending.settle_all();
  CHECK(count_findings() == 0);
  access(swapped, 80, Do::write, 0x30);
  CHECK(races(0x30, 0x20));
  access(read, 3, Do::add, 0x40);
  access(read, 40, Do::read, 0x50);
  CHECK(races(0x50, 0x40));
  access(read_twice, 3, Do::add, 0x60);
  access(read_twice, 40, Do::read, 0x70);
  access(read_twice, 40, Do::read, 0x80);
  access(read_twice, 40, Do::swap, 0x90);
  CHECK(races(0x70, 0x60));
  CHECK_FALSE(races(0x80, 0x60));
}

TEST_CASE("volatile does not order the lanes of a warp") {
  const InLaunch in_launch;
  OwnCell read_first, written_first, ordered, flag;
  access(read_first, 3, Do::volatile_read, 0x10, Space::shared);
  access(read_first, 4, Do::volatile_write, 0x20, Space::shared);
  CHECK(races(0x20, 0x10));
  access(written_first, 3, Do::volatile_write, 0x30, Space::shared);
  access(written_first, 40, Do::volatile_read, 0x40, Space::shared);  // another warp
  access(written_first, 4, Do::volatile_read, 0x50, Space::shared);
  CHECK(races(0x50, 0x30));
  access(ordered, 3, Do::volatile_write, 0x60, Space::shared);
  order().synchronize_lanes(0, ~0u);
  access(ordered, 4, Do::volatile_read, 0x70, Space::shared);
  for (int i = 0; i < 2; ++i) access(flag, 5, Do::volatile_read, 0x80, Space::shared);  // it waits
  access(flag, 6, Do::volatile_write, 0x90, Space::shared);
  CHECK(count_findings() == 2);
}

TEST_CASE("a flag after a fence passes on what was written before the fence") {
  InLaunch in_launch;
  OwnCell sum, flag, unfenced;
  access(sum, 3, Do::write, 0x10);
  order().fence(3);
  access(flag, 3, Do::volatile_write, 0x20);
  access(unfenced, 3, Do::write, 0x30);
  in_launch.next_block();
  access(flag, 5, Do::volatile_read, 0x40);
  access(sum, 5, Do::read, 0x50);
  CHECK(count_findings() == 0);
  access(unfenced, 5, Do::read, 0x60);
  CHECK(races(0x60, 0x30));
}

TEST_CASE("within a block, a flag passes on what precedes a fence") {
  const InLaunch in_launch;
  OwnCell sum, others, flag, late;
  access(sum, 3, Do::write, 0x10);
  access(others, 4, Do::write, 0x20);
  order().fence_in_block(3);
  access(late, 3, Do::write, 0x30);
  access(flag, 3, Do::volatile_write, 0x40);
  access(flag, 40, Do::volatile_read, 0x50);
  access(sum, 40, Do::read, 0x60);
  CHECK(count_findings() == 0);
  access(late, 40, Do::read, 0x70);
  CHECK(races(0x70, 0x30));
  access(others, 40, Do::read, 0x80);
  CHECK(races(0x80, 0x20));
  access(sum, 70, Do::write, 0x90);  // has not read the flag
  CHECK(races(0x90, 0x60));
}

TEST_CASE("what a flag passes on reaches all lanes that synchronize, and goes from thread to thread") {
  const InLaunch in_launch;
  OwnCell sum, flag, second;
  access(sum, 4, Do::write, 0x10);
  order().fence_in_block(4);
  order().synchronize_lanes(0, 0xff);
  access(flag, 3, Do::add, 0x20);  // the fence of lane 4 counts for lane 3
  access(flag, 40, Do::add, 0x30);
  order().synchronize_lanes(1, 0xffff);
  access(sum, 41, Do::write, 0x40);
  CHECK(count_findings() == 0);
  order().fence_in_block(42);
  access(second, 42, Do::volatile_write, 0x50);
  access(second, 70, Do::volatile_read, 0x60);
  access(sum, 70, Do::read, 0x70);
  CHECK(races(0x70, 0x40));  // lane 41 wrote after it had synchronized with lane 42
  CHECK(count_findings() == 1);
}

TEST_CASE("a race names kernel, blocks and threads, and replaces the finding that a read came too early") {
  InLaunch in_launch;
  OwnCell cell;
  state().findings.add(finding_at("uninitialized", state().ownership.program + 0x10));
  access(cell, 3, Do::read, 0x10);
  in_launch.next_block();
  access(cell, 40, Do::write, 0x20);
  const std::vector<Finding> found = state().findings.all();
  REQUIRE(found.size() == 1);
  CHECK(found[0].kind == "race");
  CHECK(words_of(found[0]).find("kernel move, block (1,0,0), thread (40,0,0): writes ") == 0);
  CHECK(words_of(found[0]).find("block (0,0,0), thread (3,0,0) reads it") != std::string::npos);
}

TEST_CASE("findings come in the order in which the faults began, and within an interval races come first") {
  InLaunch in_launch;
  OwnCell cell, other;
  access(cell, 3, Do::read, 0x10);
  state().findings.add(finding_at("out-of-bounds", 0x50));
  access(cell, 40, Do::write, 0x20);
  order().begin_interval();
  access(other, 3, Do::write, 0x30);
  in_launch.next_block();
  state().findings.add(finding_at("misaligned", 0x60));
  in_launch.next_block();
  access(other, 3, Do::read, 0x40);
  state().findings.add(finding_at("uninitialized", 0x70));
  std::vector<std::string> kinds;
  for (const Finding& finding : state().findings.all()) kinds.push_back(finding.kind);
  CHECK(kinds == std::vector<std::string>{"race", "out-of-bounds", "race", "misaligned", "uninitialized"});
}

TEST_CASE("a kernel races with one in another stream, unless it waits for an event") {
  InLaunch in_launch;
  constexpr Handle first = 1000, second = 1001, event = 1002;
  order().streams.add_stream(first, true);
  order().streams.add_stream(second, true);
  const auto launch = [&](Handle stream) {
    order().begin_launch(4);
    order().submit(stream, {.name = "kernel"});
    order().begin_block(0);
  };
  OwnCell cell;
  const auto stream_races = [&](Code code, Code before) {
    const Code program = state().ownership.program;
    return state().findings.is_known("stream-race", program + code, program + before);
  };
  launch(first);
  access(cell, 3, Do::write, 0x10);
  launch(first);
  access(cell, 40, Do::read, 0x20);
  CHECK(count_findings() == 0);
  launch(second);
  access(cell, 40, Do::read, 0x30);
  CHECK(stream_races(0x30, 0x10));
  order().streams.record(event, second);
  order().streams.wait_for_event(first, event);
  launch(first);
  access(cell, 40, Do::write, 0x40);
  CHECK(count_findings() == 1);
  launch(second);
  access(cell, 5, Do::write, 0x50);
  CHECK(stream_races(0x50, 0x40));
}

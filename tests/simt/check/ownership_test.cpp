// Which memory an address belongs to.
#include <doctest/doctest.h>
#include <sys/mman.h>

#include "../src/memory/pages.h"
#include "in_launch.h"
#include "ownership.h"
#include "words.h"

using namespace simt::check;

namespace {

Ownership& own() { return state().ownership; }

/// Pages far from others, as the emulation's allocations are; never unmapped, so that no two have the same address.
char* pages() {
  constexpr std::size_t apart = 1 << 20;
  void* memory = mmap(nullptr, apart, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return static_cast<char*>(memory) + apart / 2;
}

}  // namespace

TEST_CASE("an allocation is known by its addresses and by those around it") {
  char* const begin = pages();
  own().allocated(begin, 1000, false);
  const Region* const region = own().region_at(std::uintptr_t(begin));
  REQUIRE(region != nullptr);
  CHECK(region->begin == begin);
  CHECK(region->bytes == 1000);
  CHECK(own().region_at(std::uintptr_t(begin) + 999) == region);
  CHECK(own().region_at(std::uintptr_t(begin) - 8) == region);
  CHECK(own().region_at(std::uintptr_t(begin) + 1008) == region);
  CHECK_FALSE(region->is_freed);
  own().freed(begin);
  CHECK(region->is_freed);
}

TEST_CASE("an element is described by owner, index, byte and size") {
  char* const begin = pages();
  own().allocated(begin, 1000, false);
  const std::string name = "allocation " + std::to_string(own().region_at(std::uintptr_t(begin))->number);
  const auto description = [](const void* address, unsigned bytes) {
    return text_of(own().element_at(std::uintptr_t(address), bytes));
  };
  CHECK(description(begin + 40, 4) == "element 10 of " + name + " (a 4-byte access at byte 40 of 1000)");
  CHECK(description(begin + 1000, 8) == "element 125 of " + name + " (an 8-byte access at byte 1000 of 1000)");
  CHECK(description(begin - 4, 4) == "4 bytes before the start of " + name);
}

TEST_CASE("what the host has written is initialized, to the byte") {
  char* const begin = pages();
  own().allocated(begin, 64, false);
  const Content* const cells = own().region_at(std::uintptr_t(begin))->cells.contents;
  CHECK(+cells[0].initialized == 0);
  own().written(begin + 2, 7);
  CHECK(+cells[0].initialized == 0b1100);
  CHECK(+cells[1].initialized == 0b1111);
  CHECK(+cells[2].initialized == 0b0001);
  CHECK(+cells[3].initialized == 0);
  own().written(begin + 60, 100);  // stops at its end
  CHECK(+cells[15].initialized == 0b1111);
  char* const other = pages();
  own().allocated(other, 64, true);
  CHECK(+own().region_at(std::uintptr_t(other))->cells.contents[15].initialized == 0b1111);
}

TEST_CASE("an allocation is surrounded by its padding and its guards") {
  const Region region{.bytes = 1000, .number = 1, .whole_bytes = 1000};  // its rounded end is a page's end
  const std::size_t before = simt::page_bytes() - 1024;
  CHECK(outside(region, 1000, 4) == Outside::padding);
  CHECK(outside(region, 1020, 4) == Outside::padding);
  CHECK(outside(region, 1020, 8) == Outside::guard);
  CHECK(outside(region, 1024, 4) == Outside::guard);
  CHECK(outside(region, std::size_t(-8), 8) == Outside::padding);
  CHECK(outside(region, -before, 4) == Outside::padding);
  CHECK(outside(region, -before - 1, 1) == Outside::guard);
  CHECK(outside(region, 1024 + guard_bytes, 1) == Outside::elsewhere);
}

TEST_CASE("a narrowed allocation is smaller and has a name") {
  char* const begin = pages();
  own().allocated(begin, 1000, false);
  own().narrow(begin + 256, 400, "keys");
  own().written(begin, 1000);
  const Region* const region = own().region_at(std::uintptr_t(begin));
  CHECK(region->begin == begin + 256);
  CHECK(region->bytes == 400);
  CHECK(+region->cells.contents[0].initialized == 0b1111);
  CHECK(+region->cells.contents[99].initialized == 0b1111);
  CHECK(+region->cells.contents[100].initialized == 0);
  CHECK(text_of(own().element_at(std::uintptr_t(begin) + 264, 4)) == "keys[2] (a 4-byte access at byte 8 of 400)");
  CHECK(text_of(own().element_at(std::uintptr_t(begin) + 252, 4)) == "4 bytes before the start of keys");
  CHECK(outside(*region, 400, 4) == Outside::padding);
  CHECK(outside(*region, std::size_t(-4), 4) == Outside::padding);
  CHECK(outside(*region, 1024 - 256, 4) == Outside::guard);
  own().freed(begin);
  CHECK(region->is_freed);
}

TEST_CASE("arrays of another source file lend no name to an access outside") {
  InLaunch in_launch;
  Ownership memory;
  memory.symbols.functions = {{.name = {}, .offset = 100, .bytes = 50, .source = 1},
                              {.name = {}, .offset = 150, .bytes = 50, .source = 2},
                              {.name = {}, .offset = 200, .bytes = 50, .source = 3}};
  memory.symbols.arrays = {{.name = "tile", .offset = 1000, .bytes = 64, .source = 1},
                           {.name = "columns", .offset = 1072, .bytes = 64, .source = 2}};
  const auto near = [&](std::size_t offset, Code code) {
    const Symbol* const array = memory.array_near(offset, code);
    return array != nullptr ? array->name : "none";
  };
  CHECK(near(1070, 120) == "tile");
  CHECK(near(1080, 120) == "tile");
  CHECK(near(1066, 170) == "columns");
  CHECK(near(1080, 220) == "none");
  CHECK(near(1070, 300) == "columns");  // code of several files
  CHECK(near(1020, 300) == "tile");
}

TEST_CASE("shared memory is initialized only for the block that wrote it") {
  InLaunch in_launch;
  OwnCell cell;
  cell.write.interval = state().order.interval();
  cell.content.initialized = 0b0011;
  CHECK(is_initialized(cell.cell(), 0b0001, Space::shared, state().order));
  CHECK_FALSE(is_initialized(cell.cell(), 0b0111, Space::shared, state().order));
  in_launch.next_block();
  CHECK(is_initialized(cell.cell(), 0b0001, Space::global, state().order));
  CHECK_FALSE(is_initialized(cell.cell(), 0b0001, Space::shared, state().order));
}

TEST_CASE("an allocation at the address of a freed one starts without content") {
  char* const begin = pages();
  own().allocated(begin, 64, true);
  const int number = own().region_at(std::uintptr_t(begin))->number;
  own().freed(begin);
  own().allocated(begin, 32, false);
  CHECK(own().region_at(std::uintptr_t(begin))->number == number + 1);
  CHECK_FALSE(own().region_at(std::uintptr_t(begin))->is_freed);
  CHECK(+own().region_at(std::uintptr_t(begin))->cells.contents[0].initialized == 0);
}

TEST_CASE("the device's heap never uses memory twice, and leaves gaps") {
  DeviceHeap heap;
  auto* const first = static_cast<char*>(heap.allocate(10, 100, 0x10));
  auto* const second = static_cast<char*>(heap.allocate(90, 100, 0x20));
  REQUIRE(first != nullptr);
  REQUIRE(second != nullptr);
  CHECK(heap.allocate(1, 100, 0x30) == nullptr);  // it is full
  CHECK(second - first > 10 + 64);
  CHECK(heap.near(std::uintptr_t(first) + 40) == heap.starting_at(first));
  CHECK(heap.starting_at(first + 1) == nullptr);
  heap.free(*heap.starting_at(first), 0x40);
  CHECK(heap.starting_at(first)->freed_by == 0x40);
  auto* const third = static_cast<char*>(heap.allocate(10, 100, 0x50));
  CHECK(third > second);
  CHECK(heap.owns(third));
  CHECK_FALSE(heap.owns(&heap));
}

TEST_CASE("an offset belongs to the last symbol that begins before it") {
  std::vector<Symbol> symbols{{"tile", 64, 128}, {"sums", 192, 32}};
  CHECK(symbol_at(symbols, 64)->name == "tile");
  CHECK(symbol_at(symbols, 191)->name == "tile");
  CHECK(symbol_at(symbols, 192)->name == "sums");
  CHECK(symbol_at(symbols, 5000)->name == "sums");
  CHECK(symbol_at(symbols, 0)->name == "tile");
}

// Whose memory an address is.
#include <doctest/doctest.h>
#include <sys/mman.h>

#include "kept.h"
#include "ownership.h"

using namespace simt::check;

namespace {

/// Pages far from others, as the emulation's allocations are; never given back, so that no two have the same address.
char* pages() {
  constexpr std::size_t apart = 1 << 20;
  void* memory = mmap(nullptr, apart, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return static_cast<char*>(memory) + apart / 2;
}

}  // namespace

TEST_CASE("an allocation is known by its addresses and by those around it") {
  char* const begin = pages();
  allocated(begin, 1000, false);
  const Region* const region = region_at(std::uintptr_t(begin));
  REQUIRE(region != nullptr);
  CHECK(region->begin == begin);
  CHECK(region->bytes == 1000);
  CHECK(region_at(std::uintptr_t(begin) + 999) == region);
  CHECK(region_at(std::uintptr_t(begin) - 8) == region);
  CHECK(region_at(std::uintptr_t(begin) + 1008) == region);
  CHECK_FALSE(region->freed);
  freed(begin, 1000);
  CHECK(region->freed);
}

TEST_CASE("a place is told by owner, index, byte and size") {
  char* const begin = pages();
  allocated(begin, 1000, false);
  const std::string name = "allocation " + std::to_string(region_at(std::uintptr_t(begin))->number);
  CHECK(describe(std::uintptr_t(begin) + 40, 4) == name + "[10] (byte 40 of 1000, 4 bytes an access)");
  CHECK(describe(std::uintptr_t(begin) + 1000, 8) == name + "[125] (byte 1000 of 1000, 8 bytes an access)");
  CHECK(describe(std::uintptr_t(begin) - 4, 4) == name + " of 1000 bytes, 4 bytes before its start");
}

TEST_CASE("what the host has written is initialised, to the byte") {
  char* const begin = pages();
  allocated(begin, 64, false);
  const Cell* const cells = region_at(std::uintptr_t(begin))->cells;
  CHECK(cells[0].initialized == 0);
  written(begin + 2, 7);
  CHECK(cells[0].initialized == 0b1100);
  CHECK(cells[1].initialized == 0b1111);
  CHECK(cells[2].initialized == 0b0001);
  CHECK(cells[3].initialized == 0);
  written(begin + 60, 100);  // no farther than its end
  CHECK(cells[15].initialized == 0b1111);
  char* const other = pages();
  allocated(other, 64, true);
  CHECK(region_at(std::uintptr_t(other))->cells[15].initialized == 0b1111);
}

TEST_CASE("beside an allocation lie its padding and its guards") {
  const Region region{nullptr, 1000, nullptr, 1, false, nullptr, nullptr, 1000};  // its end, rounded, is its page's end
  CHECK(beside(region, 1000, 4) == Beside::padding);
  CHECK(beside(region, 1020, 4) == Beside::padding);
  CHECK(beside(region, 1020, 8) == Beside::guard);
  CHECK(beside(region, 1024, 4) == Beside::guard);
  CHECK(beside(region, std::size_t(-8), 8) == Beside::padding);
  CHECK(beside(region, std::size_t(-3072), 4) == Beside::padding);
  CHECK(beside(region, std::size_t(-3073), 1) == Beside::guard);
  CHECK(beside(region, 1024 + guard, 1) == Beside::elsewhere);
}

TEST_CASE("of a narrowed allocation a part is left, which has a name") {
  char* const begin = pages();
  allocated(begin, 1000, false);
  narrow(begin + 256, 400, "keys");
  written(begin, 1000);
  const Region* const region = region_at(std::uintptr_t(begin));
  CHECK(region->begin == begin + 256);
  CHECK(region->bytes == 400);
  CHECK(region->cells[0].initialized == 0b1111);
  CHECK(region->cells[99].initialized == 0b1111);
  CHECK(region->cells[100].initialized == 0);
  CHECK(describe(std::uintptr_t(begin) + 264, 4) == "keys[2] (byte 8 of 400, 4 bytes an access)");
  CHECK(describe(std::uintptr_t(begin) + 252, 4) == "keys of 400 bytes, 4 bytes before its start");
  CHECK(beside(*region, 400, 4) == Beside::padding);
  CHECK(beside(*region, std::size_t(-4), 4) == Beside::padding);
  CHECK(beside(*region, 1024 - 256, 4) == Beside::guard);
  freed(begin, 1000);
  CHECK(region->freed);
}

TEST_CASE("shared memory is initialised by the block that wrote it only") {
  InLaunch in_launch;
  Cell cell{};
  cell.write.interval = interval;
  cell.initialized = 0b0011;
  CHECK(is_initialized(cell, 0b0001, true));
  CHECK_FALSE(is_initialized(cell, 0b0111, true));
  in_launch.next_block();
  CHECK(is_initialized(cell, 0b0001, false));
  CHECK_FALSE(is_initialized(cell, 0b0001, true));
}

TEST_CASE("an allocation where a freed one was begins anew") {
  char* const begin = pages();
  allocated(begin, 64, true);
  const int number = region_at(std::uintptr_t(begin))->number;
  freed(begin, 64);
  allocated(begin, 32, false);
  CHECK(region_at(std::uintptr_t(begin))->number == number + 1);
  CHECK_FALSE(region_at(std::uintptr_t(begin))->freed);
  CHECK(region_at(std::uintptr_t(begin))->cells[0].initialized == 0);
}

TEST_CASE("an offset belongs to the last symbol that begins before it") {
  std::vector<Symbol> symbols{{"tile", 64, 128}, {"sums", 192, 32}};
  CHECK(symbol_at(symbols, 64)->name == "tile");
  CHECK(symbol_at(symbols, 191)->name == "tile");
  CHECK(symbol_at(symbols, 192)->name == "sums");
  CHECK(symbol_at(symbols, 5000)->name == "sums");
  CHECK(symbol_at(symbols, 0)->name == "tile");
}

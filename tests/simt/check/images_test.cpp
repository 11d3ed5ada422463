// Copies of device memory, in which writes show that the observers have not seen.
#include "images.h"

#include <doctest/doctest.h>
#include <sys/mman.h>

#include "in_launch.h"
#include "state.h"

using namespace simt::check;

namespace {

/// An allocation of 4096 bytes, and copies of it.
struct Watched {
  char* const begin =
      static_cast<char*>(mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) +
      (1 << 19);

  explicit Watched(bool is_host_accessible = false) {
    unseen_writes.clear();
    written_for_host = 0;
    state().ownership.allocated(begin, 4096, is_host_accessible);
    state().images.begin();
  }
  ~Watched() {
    state().images.end();
    state().ownership.freed(begin);
  }
  /// As the observers do when a thread of the running launch writes.
  void write(std::size_t at) const {
    state().ownership.region_at(std::uintptr_t(begin))->cells.writes[at / 4] =
        state().order.event_of(0, 15, Sync::plain, 0);
    ++begin[at];
  }
};

}  // namespace

TEST_CASE("what no thread was seen to write is found, once") {
  const InLaunch in;
  const Watched memory;
  memory.write(1000);
  state().images.look(&in.launch);
  CHECK(unseen_writes.empty());
  ++memory.begin[2000];
  state().images.look(&in.launch);
  REQUIRE(unseen_writes.size() == 1);
  CHECK(unseen_writes[0].find("a.cu:1: move has changed byte 2000 of") == 0);
  state().images.look(&in.launch);
  CHECK(unseen_writes.size() == 1);
}

TEST_CASE("what the host changes between two calls is found, and a copy is not") {
  const InLaunch in;
  const Watched memory;
  ++memory.begin[100];
  state().images.update(memory.begin + 96, 8);
  state().images.look(nullptr);
  CHECK(unseen_writes.empty());
  memory.write(100);  // in an earlier launch
  state().images.look(nullptr);
  REQUIRE(unseen_writes.size() == 1);
  CHECK(unseen_writes[0].find("byte 100 of an allocation of 4096 bytes has changed between two") == 0);
}

TEST_CASE("what kernels write where the host can read it counts, each time that it changes") {
  const InLaunch in;
  const Watched memory(true);
  for (int i = 0; i < 3; ++i) {
    memory.write(8);
    state().images.look(&in.launch);
    ++memory.begin[16];  // by the host
    state().images.look(nullptr);
  }
  CHECK(written_for_host == 3);
  CHECK(unseen_writes.empty());
}

// What a warp's request costs, and which lanes make one.
#include <doctest/doctest.h>

#include "in_launch.h"

using namespace simt::check;

namespace {

/// Lanes that access first + lane * stride.
Request strided(std::uint32_t stride, std::uint32_t first = 0, unsigned lanes = ~0u) {
  Request request{lanes, {}};
  for (unsigned lane = 0; lane < 32; ++lane) request.address[lane] = first + lane * stride;
  return request;
}

/// One access of each of the first `lanes` threads of a warp.
void execute(Code code, unsigned lanes, std::uint32_t stride, Space space = Space::shared, Way way = Way::load) {
  for (unsigned lane = 0; lane < lanes; ++lane) {
    state().requests.add({4096 + lane * stride, 4, way, Sync::plain, space, lane, code});
  }
}

}  // namespace

TEST_CASE("wavefronts are the different words of the busiest bank") {
  CHECK(wavefronts(strided(4), 4) == 1);
  CHECK(wavefronts(strided(4, 20), 4) == 1);
  CHECK(wavefronts(strided(8), 4) == 2);
  CHECK(wavefronts(strided(16), 4) == 4);
  CHECK(wavefronts(strided(128), 4) == 32);
  CHECK(wavefronts(strided(132), 4) == 1);          // a column of a tile whose rows have one word more
  CHECK(wavefronts(strided(0), 4) == 1);            // one word for all
  CHECK(wavefronts(strided(1), 1) == 1);            // four lanes per word
  CHECK(wavefronts(strided(128, 0, 0xf), 4) == 4);  // of four lanes
}

TEST_CASE("wide accesses go by half warps and quarters") {
  CHECK(wavefronts(strided(8), 8) == 2);
  CHECK(wavefronts(strided(16), 16) == 4);
  CHECK(wavefronts(strided(16), 8) == 4);
  CHECK(wavefronts(strided(0), 16) == 1 + 1);  // two halves, in each of which pairs have the same address
  CHECK(wavefronts(strided(0), 8) == 1);
}

TEST_CASE("sectors are 32 bytes, counted once") {
  CHECK(sectors(strided(4), 4) == 4);
  CHECK(sectors(strided(4, 4), 4) == 5);  // begins within a sector
  CHECK(sectors(strided(32), 4) == 32);
  CHECK(sectors(strided(0), 4) == 1);
  CHECK(sectors(strided(16), 16) == 16);
  CHECK(sectors(strided(4, 0, 0xff), 4) == 1);
}

TEST_CASE("bytes are used once, however many lanes access them") {
  CHECK(used_bytes(strided(4), 4) == 128);
  CHECK(used_bytes(strided(32), 4) == 128);  // of 32 sectors
  CHECK(used_bytes(strided(0), 8) == 8);
  CHECK(used_bytes(strided(16), 16) == 512);
  CHECK(used_bytes(strided(4, 0, 0xff), 4) == 32);
  Request request = strided(4);
  request.address[5] = request.address[31] = request.address[0];
  CHECK(used_bytes(request, 4) == 120);
}

TEST_CASE("atomics on one address take turns") {
  CHECK(turns_of_atomics(strided(4)) == 1);
  CHECK(turns_of_atomics(strided(0)) == 32);
  Request request = strided(4);
  request.address[5] = request.address[9] = request.address[0];
  CHECK(turns_of_atomics(request) == 3);
}

TEST_CASE("lanes that execute an instruction for the k-th time make one request") {
  const InLaunch in_launch;
  execute(0x1000, 32, 4);
  execute(0x1000, 8, 4);  // a second time, by a part of them
  execute(0x1010, 32, 8);
  state().requests.finish();
  CHECK(counts().shared_requests[unsigned(Way::load)] == 3);
  CHECK(counts().shared_wavefronts[unsigned(Way::load)] == 1 + 1 + 2);
  CHECK(counts().shared_ideal[unsigned(Way::load)] == 1 + 1 + 1);
}

TEST_CASE("lanes that loop more often than others make requests without them") {
  const InLaunch in_launch;
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned round = 0; round <= lane; ++round) {
      state().requests.add({4096 + lane * 32, 4, Way::load, Sync::plain, Space::global, lane, 0x1000});
    }
  }
  state().requests.finish();
  CHECK(counts().global_requests[unsigned(Way::load)] == 32);
  CHECK(counts().global_sectors[unsigned(Way::load)] == 32 * 33 / 2);
  execute(0x1000, 32, 4, Space::global);
  state().requests.finish();
  CHECK(counts().global_requests[unsigned(Way::load)] == 33);
}

TEST_CASE("a request costs what the one before has cost only if it is the same, moved by whole sectors or banks") {
  const InLaunch in_launch;
  const auto execute_at = [](std::uintptr_t first, unsigned lanes, unsigned stride, Space space) {
    for (unsigned lane = 0; lane < lanes; ++lane) {
      state().requests.add({first + lane * stride, 4, Way::load, Sync::plain, space, lane, 0x1000});
    }
  };
  for (const std::uintptr_t first : {4096, 4096 + 64, 4096 + 16}) execute_at(first, 32, 4, Space::global);
  execute_at(4096 + 16, 8, 4, Space::global);
  state().requests.finish();
  CHECK(counts().global_sectors[unsigned(Way::load)] == 4 + 4 + 5 + 2);
  for (const std::uintptr_t first : {4096, 4096 + 4}) execute_at(first, 32, 8, Space::shared);
  execute_at(4096 + 4, 32, 16, Space::shared);
  execute_at(4096 + 4, 16, 8, Space::shared);
  state().requests.finish();
  CHECK(counts().shared_wavefronts[unsigned(Way::load)] == 2 + 2 + 4 + 1);
}

TEST_CASE("the span is what waits for one another: of the busiest warp between barriers, and of the longest block") {
  const InLaunch in_launch;
  const auto alone = [](unsigned thread, int times) {
    for (int i = 0; i < times; ++i)
      state().requests.add({4096, 4, Way::load, Sync::plain, Space::global, thread, 0x1000});
  };
  state().requests.begin_block();
  for (unsigned thread = 0; thread < 96; ++thread) alone(thread, 2);  // three warps, at the same time
  state().requests.finish();
  alone(0, 5);
  state().requests.finish();
  alone(64, 7);  // another thread, but after the first
  state().requests.end_block();
  CHECK(counts().span == 2 + 5 + 7);
  state().requests.begin_block();
  alone(3, 9);
  state().requests.end_block();
  CHECK(counts().span == 14);  // blocks run at the same time
}

TEST_CASE("another warp, another barrier interval or another memory make requests of their own") {
  const InLaunch in_launch;
  execute(0x1000, 32, 4);
  state().requests.add({0, 4, Way::load, Sync::plain, Space::shared, 32, 0x1000});
  state().requests.finish();
  execute(0x1000, 32, 4);
  execute(0x1000, 32, 4, Space::global);
  execute(0x1000, 32, 4, Space::global, Way::atomic);
  state().requests.finish();
  state().requests.finish();  // nothing is counted twice
  CHECK(counts().shared_requests[unsigned(Way::load)] == 3);
  CHECK(counts().global_requests[unsigned(Way::load)] == 1);
  CHECK(counts().global_sectors[unsigned(Way::load)] == 4);
  CHECK(counts().global_requests[unsigned(Way::atomic)] == 1);
  CHECK(counts().global_sectors[unsigned(Way::atomic)] == 4);
}

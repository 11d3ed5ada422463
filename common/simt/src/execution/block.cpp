#include "block.h"

#include <algorithm>

#include "failure.h"
#include "shuffle.h"

namespace simt {

void Block::arrange(const Launch& launch) {
  const dim3 shape = launch.config.block;
  arranged_for = launch.number;
  warp_count = (launch.threads + lanes_per_warp - 1) / lanes_per_warp;
  if (warps.size() < std::size_t(warp_count)) {
    warps.resize(std::size_t(warp_count));
    threads.resize(warps.size() * lanes_per_warp);
    waiting.resize(threads.size());
  }
  std::uint64_t random = launch.order_seed;
  std::uint8_t warp_order[max_warps];
  for (int w = 0; w < warp_count; ++w) warp_order[w] = std::uint8_t(w);
  // A short last warp stays last: positions are packed without holes.
  const int full_warps = launch.threads / lanes_per_warp;
  if (launch.order_seed != 0) shuffle(warp_order, unsigned(full_warps), random);
  for (int w = 0; w < warp_count; ++w) {
    Warp& warp = warps[w];
    const int first = warp_order[w] * lanes_per_warp;
    const int lanes = std::min(lanes_per_warp, launch.threads - first);
    std::uint8_t lane_order[lanes_per_warp];
    for (int lane = 0; lane < lanes; ++lane) lane_order[lane] = std::uint8_t(lane);
    if (launch.order_seed != 0) shuffle(lane_order, unsigned(lanes), random);
    warp.existing = lanes == lanes_per_warp ? ~0u : (1u << lanes) - 1;
    for (int position = 0; position < lanes; ++position) {
      Thread& thread = thread_at(w, position);
      const unsigned linear = unsigned(first + lane_order[position]);
      thread.number = std::uint16_t(linear);
      thread.index = {linear % shape.x, linear / shape.x % shape.y, linear / (shape.x * shape.y)};
      warp.position[thread.lane()] = std::uint8_t(position);
    }
  }
}

void Block::restart() {
  for (int w = 0; w < warp_count; ++w) {
    Warp& warp = warps[w];
    warp.runnable = warp.unstarted = warp.alive = warp.existing;  // positions are packed, so the bits are the same
    warp.yielded = 0;
    warp.exited = 0;
    warp.group_count = 0;
  }
  ++barrier;  // no thread waits at it yet
  alive = launch->threads;
  in_barrier = 0;
  named_barriers = 0;
  if (in_grid_barrier != 0) open_grid_barrier();  // of a launch that was abandoned
}

void Block::open_grid_barrier() {
  in_grid_barrier = 0;
  for (Waiting& thread : waiting) {
    if (thread.barrier == Waiting::grid) thread.barrier = 0;
  }
}

const Thread* Block::thread_at_barrier(std::uint64_t number) const {
  for (int t = 0; t < launch->threads; ++t) {
    if (waiting[t].barrier == number) return &threads[t];
  }
  return nullptr;
}

std::string Block::here() const {
  return std::string("kernel ") + launch->kernel.name + ", block " + coordinates(blockIdx) + ", thread " +
         coordinates(turn.current->index);
}

}  // namespace simt

#include "schedule.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include "../src/environment.h"
#include "../src/execution/shuffle.h"

namespace simt::check {
namespace {

constexpr unsigned scale_bits = 5, max_changes = 3, max_same = 3;
/// Initial priorities are above this. Below are those of threads that a change has lowered, and below 0, each lower than
/// the one before, those of threads that have waited.
constexpr std::int64_t above_lowered = std::int64_t(1) << 32;

std::int64_t half_random(std::uint64_t& random) { return std::int64_t(next_random(random) >> 32); }

}  // namespace

[[gnu::init_priority(101)]] const Schedule::Number Schedule::number_{number_from_environment("SIMT_SCHEDULE", 0)};

void Schedule::begin_launch(const Launch& launch) {
  points_ = 0;
  lowest_ = 0;
  changes_.clear();
  if (!is_on()) return;
  has_blocks_ = launch.blocks > 1;
  random_ = number();
  random_ = next_random(random_) + launch.number;
  const std::uint64_t last = std::uint64_t(1) << number() % (1u << scale_bits);
  const auto count = 1 + next_random(random_) % max_changes;
  while (changes_.size() < count) changes_.push_back(1 + next_random(random_) % last);
  std::sort(changes_.begin(), changes_.end(), std::greater<>());
}

void Schedule::begin_block(ScheduleOfBlock& block, int warps) {
  block.lowered = {};
  block.threads.assign(std::size_t(warps) * lanes_per_warp, {});
  std::array<std::int64_t, lanes_per_warp> priorities;
  for (std::size_t first = 0; first < block.threads.size(); first += lanes_per_warp) {
    for (std::int64_t& priority : priorities) priority = above_lowered + half_random(random_);
    std::sort(priorities.begin(), priorities.end(), std::greater<>());
    for (std::size_t i = 0; i < lanes_per_warp; ++i) block.threads[first + i].priority = priorities[i];
  }
}

void Schedule::lower(ScheduleOfBlock& block, std::size_t thread, std::int64_t priority) {
  block.threads[thread].priority = priority;
  block.lowered[thread / lanes_per_warp] |= 1u << thread % lanes_per_warp;
}

Turn Schedule::come_to(ScheduleOfBlock& block, std::size_t thread, const Point& point) {
  if (!changes_.empty() && changes_.back() <= points_) {
    changes_.pop_back();
    if (has_blocks_ && next_random(random_) % 2 == 0) return Turn::block_leaves;
    lower(block, thread, half_random(random_));
    return Turn::lowered;
  }
  if (point.bytes == 0) return Turn::goes_on;
  ScheduleOfBlock::OfThread& own = block.threads[thread];
  if (own.code != point.code || own.address != point.address) {
    own.code = point.code;
    own.address = point.address;
    own.same = 0;  // and nothing is known to be there: the address may be wrong
    return Turn::goes_on;
  }
  std::uint64_t bits = 0;
  std::memcpy(&bits, reinterpret_cast<const void*>(point.address), std::min(point.bytes, 8u));
  own.same = bits == own.bits ? own.same + 1 : 0;
  own.bits = bits;
  if (own.same < max_same) return Turn::goes_on;
  own.same = 0;
  lower(block, thread, --lowest_);
  return Turn::waits;
}

int Schedule::highest(const ScheduleOfBlock& block, const std::vector<Warp>& warps, int warp_count) {
  int best = -1;
  const auto look_at = [&](int warp, int position) {
    const int thread = warp * lanes_per_warp + position;
    if (best < 0 || block.threads[std::size_t(thread)].priority > block.threads[std::size_t(best)].priority)
      best = thread;
  };
  for (int w = 0; w < warp_count; ++w) {
    const std::uint32_t mask = warps[std::size_t(w)].runnable & ~block.lowered[std::size_t(w)];
    if (mask != 0) look_at(w, std::countr_zero(mask));
  }
  if (best >= 0) return best;
  for (int w = 0; w < warp_count; ++w) {
    for_each_lane(warps[std::size_t(w)].runnable, [&](int position) { look_at(w, position); });
  }
  return best;
}

}  // namespace simt::check

#include "order.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

namespace simt::check {
namespace {

constexpr std::uint64_t max_tracked_blocks = 8192;
constexpr std::uint64_t max_flagged_blocks = 256;  // for advice only
constexpr std::size_t max_fences = 65536;          // of a block
constexpr std::uint32_t max_clock = 65535;         // of an event

bool in_same_warp(unsigned a, unsigned b) { return a / lanes_per_warp == b / lanes_per_warp; }

}  // namespace

Order::Order() {
  clocks_.reset(new Clocks[max_warps]);
  for (unsigned warp = 0; warp < max_warps; ++warp) reset_clocks(warp);
}

void Order::learn(std::array<std::uint32_t, lanes_per_warp>& own,
                  const std::array<std::uint32_t, lanes_per_warp>& more) {
  for (unsigned lane = 0; lane < lanes_per_warp; ++lane) own[lane] = std::max(own[lane], more[lane]);
}

void Order::learn(Known& own, const Known& more) {
  for (const auto& [warp, lanes] : more) learn(own[warp], lanes);
}

/// Lanes that have synchronized know what each of them has learned; a fence of one counts for all.
void Order::join(KnownByThread& known, unsigned warp, unsigned lanes) {
  Known all;
  for (unsigned left = lanes; left != 0; left &= left - 1) {
    const auto of_lane = known.find(warp * lanes_per_warp + unsigned(std::countr_zero(left)));
    if (of_lane != known.end()) learn(all, of_lane->second);
  }
  if (all.empty()) return;
  for (unsigned left = lanes; left != 0; left &= left - 1) {
    known[warp * lanes_per_warp + unsigned(std::countr_zero(left))] = all;
  }
}

void Order::reset_clocks(unsigned warp) {
  clocks_[warp] = {};
  for (unsigned lane = 0; lane < lanes_per_warp; ++lane) clocks_[warp][lane][lane] = 1;  // others know 0 of it
}

bool Order::Fence::comes_after(const Event& access) const {
  return since_barrier > access.interval ||
         (thread == access.thread &&
          (interval > access.interval || (interval == access.interval && clock > access.clock))) ||
         (is_joined && in_same_warp(thread, access.thread));
}

bool Order::Fence::comes_before(const Event& access) const {
  return interval < access.interval ||
         (thread == access.thread && interval == access.interval && clock <= access.clock) ||
         (is_joined && in_same_warp(thread, access.thread));
}

std::uint64_t Order::block_of(const Event& event) const {
  return event.interval >= first_of_turn_ ? block_ : block_of_interval_[event.interval - first_of_launch_];
}

std::uint32_t Order::clock_of(const Event& event) const {
  const unsigned warp = event.thread / lanes_per_warp;
  const auto stage = std::find_if(stages_.rbegin(), stages_.rend(), [&](const Stage& one) {
    return one.warp == warp && one.first_interval <= event.interval;
  });
  return event.clock + (stage == stages_.rend() ? 0 : stage->before[event.thread % lanes_per_warp]);
}

bool Order::are_unordered_in_interval(const Event& before, unsigned now) const {
  const unsigned warp = before.thread / lanes_per_warp, lane = before.thread % lanes_per_warp;
  const std::uint32_t clock = clock_of(before);
  if (in_same_warp(before.thread, now)) return clocks_[warp][now % lanes_per_warp][lane] < clock;
  const auto known = from_flags_.find(now);
  if (known == from_flags_.end()) return true;
  const auto of_warp = known->second.find(warp);
  return of_warp == known->second.end() || of_warp->second[lane] < clock;
}

bool Order::is_own(const Event& event, Space space) const {
  return event.interval >= first_of_block_ && (event.interval >= first_of_own(space) || block_of(event) == block_);
}

bool Order::are_unordered_in_launch(const Event& before, const Event& now, Space space) const {
  if ((before.bytes & now.bytes) == 0) return false;
  if (before.is_synchronized && now.is_synchronized) return false;
  if (is_own(before, space)) {
    if (!is_since_barrier(before) || before.thread == now.thread) return false;
    return are_unordered_in_interval(before, now.thread);
  }
  if (space == Space::global && before.interval < first_of_launch_) return streams.is_unordered(before.interval);
  if (space == Space::shared || has_untracked_fences_ || before.interval < first_of_phase_) return false;
  const std::uint32_t other = block_of_interval_[before.interval - first_of_launch_];
  if (acquired_.size() <= block_ || acquired_[block_].size() <= other) return true;
  // Ordered if one of the fences on which this block relies comes after the access.
  const std::vector<Fence>& fences = fences_[other];
  for (std::uint32_t n = acquired_[block_][other]; n > 0 && fences[n - 1].interval >= before.interval; --n) {
    if (fences[n - 1].comes_after(before)) return false;
  }
  return true;
}

void Order::acquire(const Event& write) {
  const std::uint32_t from = block_of_interval_[write.interval - first_of_launch_];
  if (from == block_) return;
  learn_of_flag(from, write.interval);
  if (fences_.size() <= from || fences_[from].empty()) return;
  const std::vector<Fence>& fences = fences_[from];
  std::uint32_t before = std::uint32_t(fences.size());
  while (before > 0 && !fences[before - 1].comes_before(write)) --before;
  std::vector<std::uint32_t>& own = acquired_[block_];
  own.resize(blocks_);
  if (own[from] >= before) return;
  own[from] = before;
  for (std::size_t b = 0; b < acquired_[from].size(); ++b) own[b] = std::max(own[b], acquired_[from][b]);
}

/// Like fences: what the writer of the flag knows of others, its reader does, too.
void Order::learn_of_flag(std::uint32_t from, std::uint32_t interval) {
  if (blocks_ > max_flagged_blocks) return;
  flags_.resize(blocks_, std::vector<std::uint32_t>(blocks_));
  std::vector<std::uint32_t>& own = flags_[block_];
  if (own[from] >= interval) return;
  for (std::size_t b = 0; b < blocks_; ++b) own[b] = std::max(own[b], flags_[from][b]);
  own[from] = interval;
}

bool Order::has_flag_after(const Event& before) const {
  return !flags_.empty() && flags_[block_][block_of(before)] >= before.interval;
}

void Order::begin_launch(std::uint64_t blocks) {
  first_of_launch_ = first_of_phase_ = first_unordered_ = interval_ + 1;
  blocks_ = blocks;
  block_of_interval_.clear();
  fences_.clear();
  acquired_.clear();
  flags_.clear();
  has_untracked_fences_ = false;
}

void Order::submit(Handle stream, Operation operation) {
  operation.first_interval = first_of_launch_;
  streams.submit(stream, std::move(operation));
  first_unordered_ = streams.first_unordered();
}

void Order::begin_block(std::uint64_t block) {
  block_ = block;
  first_of_block_ = first_of_turn_ = interval_ + 1;
  begin_interval();
}

/// Without what it knows of lanes, if that is nothing: it takes much memory.
OrderInBlock Order::leave_block() {
  const bool has_clocks = std::find(std::begin(has_clocks_), std::end(has_clocks_), true) != std::end(has_clocks_);
  OrderInBlock left = std::exchange(static_cast<OrderInBlock&>(*this), {});
  if (has_clocks) {
    clocks_.reset(new Clocks[max_warps]);
    for (unsigned warp = 0; warp < max_warps; ++warp) reset_clocks(warp);
  } else {
    clocks_ = std::move(left.clocks_);
  }
  return left;
}

void Order::continue_block(std::uint64_t block, OrderInBlock known) {
  forget_interval();
  if (known.clocks_ == nullptr) known.clocks_ = std::move(clocks_);
  static_cast<OrderInBlock&>(*this) = std::move(known);
  block_ = block;
  first_of_turn_ = ++interval_;
  block_of_interval_.push_back(std::uint32_t(block_));
}

void Order::begin_phase() {
  const bool has_concurrent = first_unordered_ < first_of_phase_;  // operations in other streams
  first_of_phase_ = interval_ + 1;
  if (!has_concurrent) first_unordered_ = first_of_phase_;
}

void Order::begin_interval() {
  since_barrier_ = ++interval_;
  block_of_interval_.push_back(std::uint32_t(block_));
  forget_interval();
}

/// Forgets what belongs to the interval between two barriers.
void Order::forget_interval() {
  if (!stages_.empty()) {
    stages_.clear();
    before_stage_ = {};
  }
  for (unsigned warp = 0; warp < max_warps; ++warp) {
    if (!has_clocks_[warp]) continue;
    has_clocks_[warp] = lanes_joined_[warp] = false;
    reset_clocks(warp);
  }
  if (!has_fences_) return;
  has_fences_ = false;
  at_fence_.clear();
  from_flags_.clear();
  by_flag_.clear();
}

void Order::advance_clock(unsigned warp, unsigned lane) {
  ++clocks_[warp][lane][lane];
  if (clock_in_stage(warp * lanes_per_warp + lane) > max_clock) [[unlikely]]
    begin_stage(warp);
}

/// The warp's events have no room for its clocks any more.
void Order::begin_stage(unsigned warp) {
  ++interval_;
  block_of_interval_.push_back(std::uint32_t(block_));
  Stage stage{.warp = warp, .first_interval = interval_, .before = {}};
  for (unsigned lane = 0; lane < lanes_per_warp; ++lane) {
    stage.before[lane] = before_stage_[warp * lanes_per_warp + lane] = clocks_[warp][lane][lane] - 1;
  }
  stages_.push_back(stage);
}

void Order::synchronize_lanes(unsigned warp, unsigned lanes) {
  has_clocks_[warp] = lanes_joined_[warp] = true;
  std::array<std::uint32_t, lanes_per_warp> known = {};
  for (unsigned lane = 0; lane < lanes_per_warp; ++lane) {
    if ((lanes >> lane & 1) != 0) learn(known, clocks_[warp][lane]);
  }
  for (unsigned lane = 0; lane < lanes_per_warp; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    clocks_[warp][lane] = known;
    advance_clock(warp, lane);
  }
  if (!has_fences_) return;
  join(at_fence_, warp, lanes);
  join(from_flags_, warp, lanes);
}

void Order::pass_on(const void* flag, unsigned thread, Way way) {
  const auto known = at_fence_.find(thread);
  if (way != Way::atomic) by_flag_.erase(flag);
  if (known != at_fence_.end()) learn(by_flag_[flag], known->second);
}

void Order::take_over(const void* flag, unsigned thread) {
  const auto known = by_flag_.find(flag);
  if (known == by_flag_.end()) return;
  for (const auto& [warp, lanes] : known->second) {
    if (warp == thread / lanes_per_warp) {
      learn(clocks_[warp][thread % lanes_per_warp], lanes);
    } else {
      learn(from_flags_[thread][warp], lanes);
    }
  }
}

void Order::fence_in_block(unsigned thread) {
  const unsigned warp = thread / lanes_per_warp, lane = thread % lanes_per_warp;
  has_clocks_[warp] = has_fences_ = true;
  Known& known = at_fence_[thread];
  if (const auto learned = from_flags_.find(thread); learned != from_flags_.end()) learn(known, learned->second);
  learn(known[warp], clocks_[warp][lane]);
  advance_clock(warp, lane);
}

void Order::fence(unsigned thread) {
  fence_in_block(thread);
  if (blocks_ > max_tracked_blocks || (block_ < fences_.size() && fences_[block_].size() >= max_fences)) {
    has_untracked_fences_ = true;
    return;
  }
  fences_.resize(blocks_);
  acquired_.resize(blocks_);
  fences_[block_].push_back({since_barrier_, interval_, std::uint16_t(thread), lanes_joined_[thread / lanes_per_warp],
                             clock_in_stage(thread)});
}

}  // namespace simt::check

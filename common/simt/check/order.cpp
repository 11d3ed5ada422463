#include "order.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "state.h"

namespace simt::check {
namespace {

constexpr std::uint64_t max_tracked_blocks = 8192;
constexpr std::size_t max_fences = 65536;   // of a block
constexpr std::uint32_t max_clock = 32767;  // of an event

bool in_same_warp(unsigned a, unsigned b) { return a / lanes_per_warp == b / lanes_per_warp; }

}  // namespace

Order::Order() { clocks_.reset(new Clocks[max_warps]()); }

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

/// Each lane has its first clock, and the others know nothing of it.
void Order::reset_clocks(unsigned warp) {
  if (has_learned_[warp]) clocks_[warp] = {};
  has_learned_[warp] = false;
  if (!meetings_.empty()) std::fill_n(meetings_.begin() + warp * lanes_per_warp, lanes_per_warp, Meeting{});
  std::fill_n(own_clocks_.begin() + warp * lanes_per_warp, lanes_per_warp, 1);
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

/// Volatile and atomic accesses do not race with each other, but those of block scope only within their block.
bool Order::are_ordered_accesses(const Event& before, const Event& now, Space space) const {
  if (!before.is_synchronized || !now.is_synchronized) return false;
  return (!before.is_of_block && !now.is_of_block) || is_own(before, space);
}

bool Order::is_after_fence(const Fence& fence, const Event& before) const {
  if (fence.comes_after(before)) return true;
  if (fence.known == 0 || before.interval != fence.interval) return false;
  const Known& known = known_at_fences_[fence.known - 1];
  const auto of_warp = known.find(before.thread / lanes_per_warp);
  return of_warp != known.end() && of_warp->second[before.thread % lanes_per_warp] >= before.clock;
}

bool Order::are_unordered_in_launch(const Event& before, const Event& now, Space space) const {
  if ((before.bytes & now.bytes) == 0) return false;
  if (are_ordered_accesses(before, now, space)) return false;
  if (is_own(before, space)) {
    if (!is_since_barrier(before) || before.thread == now.thread) return false;
    return are_unordered_in_interval(before, now.thread);
  }
  if (space == Space::global && before.interval < first_of_launch_) {
    const bool is_unordered = streams.is_unordered(before.interval);
    if (!is_unordered) in_order_ = streams.in_order_around(before.interval);
    return is_unordered;
  }
  if (space == Space::shared || has_untracked_fences_ || before.interval < first_of_phase_) return false;
  const std::uint32_t other = block_of_interval_[before.interval - first_of_launch_];
  if (fences_.empty()) return true;
  // Ordered if one of the fences on which this thread relies comes after the access.
  const std::vector<Fence>& fences = fences_[other];
  std::uint32_t n = fences_relied_on(now.thread, other);
  for (; n > 0 && fences[n - 1].interval >= before.interval; --n) {
    if (is_after_fence(fences[n - 1], before)) return false;
  }
  return true;
}

void Order::begin_launch(std::uint64_t blocks) {
  first_of_launch_ = first_of_phase_ = first_unordered_ = interval_ + 1;
  blocks_ = blocks;
  block_of_interval_.clear();
  fences_.clear();
  known_at_fences_.clear();
  acquired_.clear();
  published_.clear();
  passed_on_.clear();
  flags_.clear();
  has_untracked_fences_ = false;
}

void Order::submit(Handle stream, Operation operation) {
  operation.first_interval = first_of_launch_;
  streams.submit(stream, std::move(operation));
  first_unordered_ = streams.first_unordered();
  in_order_ = {};
}

void Order::begin_block(std::uint64_t block) {
  block_ = block;
  first_of_block_ = first_of_turn_ = interval_ + 1;
  forget_links();
  links_after_fence_.clear();
  relies_on_more_ = false;
  begin_interval();
}

/// Without what it knows of lanes, if that is nothing: it takes much memory.
OrderInBlock Order::leave_block() {
  const bool has_clocks = std::find(std::begin(has_clocks_), std::end(has_clocks_), true) != std::end(has_clocks_);
  OrderInBlock left = std::exchange(static_cast<OrderInBlock&>(*this), {});
  if (has_clocks) {
    clocks_.reset(new Clocks[max_warps]());
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
  for (const auto& [thread, links] : links_) {
    for (const Link& link : links) rely_on(link);
  }
  forget_links();
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
  after_fence_.clear();
}

/// From now on in this interval, the warp's events have clocks.
void Order::keep_clocks(unsigned warp) {
  if (has_clocks_[warp]) return;
  has_clocks_[warp] = true;
  state().requests.forget(warp);
}

void Order::advance_clocks(unsigned warp, unsigned lanes) {
  std::uint32_t any = 0;  // bits of all clocks: one that exceeds max_clock has a higher bit
  for (unsigned lane = 0; lane < lanes_per_warp; ++lane) {
    const unsigned thread = warp * lanes_per_warp + lane;
    own_clocks_[thread] += lanes >> lane & 1;
    any |= clock_in_stage(thread);
  }
  if (any > max_clock) [[unlikely]]
    begin_stage(warp);
}

/// The warp's events have no room for its clocks any more.
void Order::begin_stage(unsigned warp) {
  ++interval_;
  state().requests.forget();
  block_of_interval_.push_back(std::uint32_t(block_));
  Stage stage{.warp = warp, .first_interval = interval_, .before = {}};
  for (unsigned lane = 0; lane < lanes_per_warp; ++lane) {
    const unsigned thread = warp * lanes_per_warp + lane;
    stage.before[lane] = before_stage_[thread] = own_clocks_[thread] - 1;
  }
  stages_.push_back(stage);
}

void Order::synchronize_lanes(unsigned warp, unsigned lanes) {
  keep_clocks(warp);
  lanes_joined_[warp] = true;
  std::array<std::uint32_t, lanes_per_warp> known = {};
  for (unsigned lane = 0; lane < lanes_per_warp; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    if (has_learned_[warp]) learn(known, clocks_[warp][lane]);
    learn_of_itself(known, warp * lanes_per_warp + lane);
  }
  for (unsigned lane = 0; lane < lanes_per_warp; ++lane) {
    if ((lanes >> lane & 1) != 0) clocks_[warp][lane] = known;
  }
  has_learned_[warp] = true;
  advance_clocks(warp, lanes);
  if (!links_.empty()) join_links(warp, lanes);
  if (!has_fences_) return;
  join(at_fence_, warp, lanes);
  join(from_flags_, warp, lanes);
}

void Order::lanes_met(unsigned warp, unsigned lanes) {
  keep_clocks(warp);
  if (meetings_.empty()) meetings_.resize(max_warps * lanes_per_warp);
  advance_clocks(warp, lanes);
  for (unsigned left = lanes; left != 0; left &= left - 1) {
    const unsigned thread = warp * lanes_per_warp + unsigned(std::countr_zero(left));
    meetings_[thread] = {lanes, own_clocks_[thread]};
  }
}

bool Order::have_met_since(const Event& before, const Event& now) const {
  if (meetings_.empty() || !is_since_barrier(before) || !in_same_warp(before.thread, now.thread)) return false;
  const Meeting& met = meetings_[before.thread];
  return (met.lanes >> now.thread % lanes_per_warp & 1) != 0 && clock_of(before) < met.clock;
}

void Order::pass_on(const void* flag, unsigned thread, Way way) {
  const auto known = at_fence_.find(thread);
  if (way != Way::atomic) by_flag_.erase(flag);
  if (known != at_fence_.end()) learn(by_flag_[flag], known->second);
  if (links_at_fence_.empty()) return;
  if (way != Way::atomic) links_by_flag_.erase(flag);
  if (const auto links = links_at_fence_.find(thread); links != links_at_fence_.end()) {
    add_links(links_by_flag_[flag], links->second);
  }
}

void Order::take_over(const void* flag, const Access& read) {
  const auto known = by_flag_.find(flag);
  if (known == by_flag_.end()) return;
  const bool is_at_once = read.acquire == Acquire::at_once;
  if (is_at_once) {
    learn_from_flag(read.thread, known->second);
  } else {
    learn(after_fence_[read.thread], known->second);
  }
  const auto links = links_by_flag_.find(flag);
  if (links == links_by_flag_.end()) return;
  add_links(is_at_once ? links_[read.thread] : links_after_fence_[read.thread], links->second);
}

void Order::learn_of_itself(std::array<std::uint32_t, lanes_per_warp>& known, unsigned thread) const {
  std::uint32_t& own = known[thread % lanes_per_warp];
  own = std::max(own, own_clocks_[thread]);
}

void Order::learn_from_flag(unsigned thread, const Known& known) {
  for (const auto& [warp, lanes] : known) {
    if (warp == thread / lanes_per_warp) {
      has_learned_[warp] = true;
      learn(clocks_[warp][thread % lanes_per_warp], lanes);
    } else {
      learn(from_flags_[thread][warp], lanes);
    }
  }
}

void Order::acquire_fence(unsigned thread) {
  if (const auto read = after_fence_.find(thread); read != after_fence_.end()) {
    learn_from_flag(thread, read->second);
    after_fence_.erase(read);
  }
  const auto read = links_after_fence_.find(thread);
  if (read == links_after_fence_.end()) return;
  add_links(links_[thread], read->second);
  links_after_fence_.erase(read);
}

void Order::fence_in_block(unsigned thread) {
  if (const auto read = after_fence_.find(thread); read != after_fence_.end()) {
    learn_from_flag(thread, read->second);
    after_fence_.erase(read);
  }
  if (const auto links = links_.find(thread); links != links_.end()) links_at_fence_[thread] = links->second;
  const unsigned warp = thread / lanes_per_warp, lane = thread % lanes_per_warp;
  keep_clocks(warp);
  has_fences_ = true;
  Known& known = at_fence_[thread];
  if (const auto learned = from_flags_.find(thread); learned != from_flags_.end()) learn(known, learned->second);
  learn(known[warp], clocks_[warp][lane]);
  learn_of_itself(known[warp], thread);
  advance_clocks(warp, 1u << lane);
}

void Order::fence(unsigned thread) {
  acquire_fence(thread);
  fence_in_block(thread);
  if (blocks_ > max_tracked_blocks || (block_ < fences_.size() && fences_[block_].size() >= max_fences)) {
    has_untracked_fences_ = true;
    return;
  }
  fences_.resize(blocks_);
  acquired_.resize(blocks_);
  published_.resize(blocks_);
  passed_on_.resize(blocks_);
  publish_links(thread);
  std::uint32_t known = 0;
  if (from_flags_.count(thread) != 0 && stages_.empty()) {
    known_at_fences_.push_back(at_fence_[thread]);
    known = std::uint32_t(known_at_fences_.size());
  }
  fences_[block_].push_back({since_barrier_, interval_, std::uint16_t(thread), lanes_joined_[thread / lanes_per_warp],
                             clock_in_stage(thread), known});
}

}  // namespace simt::check

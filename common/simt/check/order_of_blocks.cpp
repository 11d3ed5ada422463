// What threads of a block have seen of other blocks of the launch, by flags that were written after fences.
#include <algorithm>
#include <bit>
#include <utility>

#include "order.h"

namespace simt::check {
namespace {

constexpr std::uint64_t max_flagged_blocks = 256;  // for advice only
constexpr std::size_t max_links = 64;              // of a thread, before its block relies on all of them

}  // namespace

std::uint32_t Order::fences_before(std::uint32_t block, const Event& write) const {
  const std::vector<Fence>& fences = fences_[block];
  std::uint32_t before = std::uint32_t(fences.size());
  while (before > 0 && !fences[before - 1].comes_before(write)) --before;
  return before;
}

void Order::acquire(const Event& write, const Access& read) {
  const std::uint32_t from = block_of_interval_[write.interval - first_of_launch_];
  if (from == block_) return;
  learn_of_flag(from, write.interval);
  if (fences_.empty()) return;
  const Link link{from, fences_before(from, write), write.is_atomic && passed_on_[from].version != 0};
  if (link.fences == 0 && !link.has_passed_on) return;
  if (read.way == Way::atomic) pass_on(link);
  add_link(read.acquire == Acquire::at_once ? links_[read.thread] : links_after_fence_[read.thread], link);
}

/// An atomic of the running block has changed what the link's block had written.
void Order::pass_on(const Link& link) {
  PassedOn& own = passed_on_[block_];
  const PassedOn& other = passed_on_[link.block];
  const auto see = [&own](std::size_t block, std::uint32_t fences) {
    if (own.fences[block] >= fences) return;
    own.fences[block] = fences;
    ++own.version;
  };
  own.fences.resize(blocks_);
  own.merged.resize(blocks_);
  see(link.block, link.fences);
  if (!link.has_passed_on || own.merged[link.block] == other.version) return;
  own.merged[link.block] = other.version;
  for (std::size_t b = 0; b < blocks_; ++b) see(b, other.fences[b]);
}

void Order::add_links(std::vector<Link>& links, const std::vector<Link>& more) {
  for (const Link& link : more) add_link(links, link);
}

void Order::add_link(std::vector<Link>& links, const Link& link) {
  const auto known = std::find_if(links.begin(), links.end(), [&](const Link& l) { return l.block == link.block; });
  if (known != links.end()) {
    known->fences = std::max(known->fences, link.fences);
    known->has_passed_on |= link.has_passed_on;
  } else if (links.size() < max_links) {
    links.push_back(link);
  } else {
    rely_on(link);
  }
}

/// The fences of a block that a link's block had seen, or its own.
std::uint32_t Order::fences_seen(const Link& link, std::uint32_t of_block) const {
  std::uint32_t fences = link.block == of_block ? link.fences : 0;
  if (link.fences != 0 && !published_[link.block].empty()) fences = std::max(fences, published_[link.block][of_block]);
  return link.has_passed_on ? std::max(fences, passed_on_[link.block].fences[of_block]) : fences;
}

std::uint32_t Order::fences_relied_on(unsigned thread, std::uint32_t of_block) const {
  std::uint32_t fences = acquired_[block_].empty() ? 0 : acquired_[block_][of_block];
  const auto links = links_.find(thread);
  if (links == links_.end()) return fences;
  for (const Link& link : links->second) fences = std::max(fences, fences_seen(link, of_block));
  return fences;
}

void Order::rely_on(const Link& link) {
  std::vector<std::uint32_t>& own = acquired_[block_];
  own.resize(blocks_);
  if (own[link.block] >= link.fences && !link.has_passed_on) return;
  for (std::uint32_t b = 0; b < blocks_; ++b) own[b] = std::max(own[b], fences_seen(link, b));
  relies_on_more_ = true;
}

/// At a fence of the thread: who sees it relies on what the thread relies on.
void Order::publish_links(unsigned thread) {
  std::vector<std::uint32_t>& published = published_[block_];
  const std::vector<std::uint32_t>& own = acquired_[block_];
  if (std::exchange(relies_on_more_, false)) {
    published.resize(blocks_);
    for (std::uint32_t b = 0; b < blocks_; ++b) published[b] = std::max(published[b], own[b]);
  }
  const auto links = links_.find(thread);
  if (links == links_.end()) return;
  published.resize(blocks_);
  for (const Link& link : links->second) {
    if (published[link.block] >= link.fences && !link.has_passed_on) continue;
    for (std::uint32_t b = 0; b < blocks_; ++b) published[b] = std::max(published[b], fences_seen(link, b));
  }
}

void Order::forget_links() {
  links_.clear();
  links_at_fence_.clear();
  links_by_flag_.clear();
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

/// Lanes that have synchronized have seen the same of other blocks.
void Order::join_links(unsigned warp, unsigned lanes) {
  std::vector<Link> all;
  for (unsigned left = lanes; left != 0; left &= left - 1) {
    const auto of_lane = links_.find(warp * lanes_per_warp + unsigned(std::countr_zero(left)));
    if (of_lane == links_.end()) continue;
    add_links(all, of_lane->second);
  }
  if (all.empty()) return;
  for (unsigned left = lanes; left != 0; left &= left - 1) {
    links_[warp * lanes_per_warp + unsigned(std::countr_zero(left))] = all;
  }
}

}  // namespace simt::check

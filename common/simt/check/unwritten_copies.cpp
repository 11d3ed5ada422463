#include "unwritten_copies.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "places.h"
#include "state.h"

namespace simt::check {
namespace {

/// The stack of the calling thread, which grows downwards.
UnwrittenCopies::Range own_stack() {
  static thread_local UnwrittenCopies::Range stack = {};
  if (stack.end != 0) return stack;
  pthread_attr_t attributes;
  void* begin = nullptr;
  std::size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &begin, &bytes);
    pthread_attr_destroy(&attributes);
  }
  return stack = {std::uintptr_t(begin), std::uintptr_t(begin) + bytes + 1};
}

/// Where the unwritten words of a copy go. Of very many parts, the first ones.
std::vector<UnwrittenCopies::Range> targets(const Region& region, std::size_t offset, std::size_t bytes,
                                            std::uintptr_t to) {
  constexpr std::size_t most = 256;
  std::vector<UnwrittenCopies::Range> ranges;
  const std::size_t past = offset + bytes;
  for (std::size_t from = offset; from < past && ranges.size() < most;) {
    const auto [first, unwritten] = state().ownership.first_unwritten(region, from, past - from);
    if (unwritten == 0) break;
    ranges.push_back({to + (first - offset), to + (first - offset) + unwritten});
    from = first + unwritten;
  }
  return ranges;
}

}  // namespace

void UnwrittenCopies::add(const Finding& finding, const std::vector<Range>& ranges) {
  const std::lock_guard lock(mutex_);
  copies_.push_back(finding);
  for (const Range& range : ranges) {
    cut(range.begin, range.end);
    ranges_[range.begin] = {range.end, unsigned(copies_.size() - 1)};
  }
  state().find_hosts_own();
}

void UnwrittenCopies::cut(std::uintptr_t begin, std::uintptr_t end) {
  auto at = ranges_.lower_bound(begin);
  if (at != ranges_.begin() && std::prev(at)->second.end > begin) --at;
  while (at != ranges_.end() && at->first < end) {
    const auto [first, part] = *at;
    at = ranges_.erase(at);
    if (first < begin) ranges_[first] = {begin, part.copy};
    if (part.end > end) ranges_[end] = part;
  }
  if (ranges_.empty()) state().find_hosts_own();
}

void UnwrittenCopies::report(unsigned copy, Code code) {
  std::erase_if(ranges_, [&](const auto& range) { return range.second.copy == copy; });
  if (ranges_.empty()) state().find_hosts_own();
  Finding finding = std::exchange(copies_[copy], {});
  if (finding.facts.empty()) return;
  if (state().findings.count_again("uninitialized", finding.code())) return;
  finding.details.set("read", Place{code});
  state().findings.add(std::move(finding));
}

void UnwrittenCopies::observe(std::uintptr_t begin, std::size_t bytes, Way way, Code code, const void* frame) {
  const std::lock_guard lock(mutex_);
  // Of functions that have returned, nothing is left.
  const Range stack = own_stack();
  if (const std::uintptr_t top = std::uintptr_t(frame); top >= stack.begin && top < stack.end) cut(stack.begin, top);
  auto at = ranges_.upper_bound(begin);
  if (at != ranges_.begin() && std::prev(at)->second.end > begin) --at;
  if (at == ranges_.end() || at->first >= begin + bytes) return;
  if (reads(way)) return report(at->second.copy, code);
  cut(begin, begin + bytes);
}

void UnwrittenCopies::forget(std::uintptr_t begin, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  cut(begin, begin + bytes);
}

void UnwrittenCopies::end() {
  const std::lock_guard lock(mutex_);
  for (Finding& finding : copies_) {
    if (finding.facts.empty() || state().findings.is_known("uninitialized", finding.code())) continue;
    finding.why = "copied-unread";
    finding.severity = Severity::remark;
    state().findings.add(std::exchange(finding, {}));
  }
}

void look_at_copy(const void* begin, std::size_t bytes, const void* to, Code code) {
  CheckState& all = state();
  if (all.unwritten_copies.exist()) all.unwritten_copies.forget(std::uintptr_t(to), bytes);
  if (!all.ownership.has_regions()) return;
  const Region* const region = all.ownership.region_at(std::uintptr_t(begin));
  // A narrowed allocation belongs to a program that compares all its bytes itself.
  if (region == nullptr || region->is_freed || region->is_host_accessible || region->name != nullptr) return;
  const std::size_t offset = std::size_t(static_cast<const char*>(begin) - region->begin);
  if (offset >= region->bytes || bytes > region->bytes - offset) return;
  const auto [first, unwritten] = all.ownership.first_unwritten(*region, offset, bytes);
  if (unwritten == 0) return;
  Fact fact{.place = {.code = code}};
  fact.element = {.array = Ownership::array_of(*region), .offset = std::ptrdiff_t(offset)};
  Finding finding = {.kind = "uninitialized",
                     .why = "copied",
                     .facts = {std::move(fact)},
                     .details = {.all = {{"bytes", std::uint64_t(bytes)},
                                         {"unwritten", std::uint64_t(unwritten)},
                                         {"from", std::uint64_t(first)}}},
                     .began = all.order.interval()};
  if (is_judged()) {
    if (!all.findings.count_again("uninitialized", code)) all.findings.add(std::move(finding));
    return;
  }
  all.unwritten_copies.add(finding, targets(*region, offset, bytes, std::uintptr_t(to)));
}

}  // namespace simt::check

#include "exchanges.h"

#include <algorithm>

namespace simt::check {

void Exchanges::ended(const std::pair<std::uint64_t, unsigned>& thread, std::uint64_t old, std::uint64_t desired) {
  if (!about_to_) return;
  constexpr std::size_t max_threads = 4096;
  if (last_.size() >= max_threads) last_.clear();
  Exchange& exchange = exchanges_[about_to_->exchange];
  exchange.reads.insert(about_to_->read);
  // It stores what it has read, or another value than other threads do.
  exchange.depends_on_read |=
      (about_to_->is_unchanged && old == desired) || exchange.stored.value_or(desired) != desired;
  exchange.stored = desired;
  last_[thread] = about_to_->exchange;
  about_to_.reset();
}

void Exchanges::used(const std::pair<std::uint64_t, unsigned>& thread) {
  const auto last = last_.find(thread);
  if (last != last_.end()) exchanges_[last->second].is_used = true;
}

bool Exchanges::lose_updates(Code read) const {
  return std::any_of(exchanges_.begin(), exchanges_.end(), [&](const auto& entry) {
    const Exchange& exchange = entry.second;
    return exchange.depends_on_read && !exchange.is_used && exchange.reads.count(read) != 0;
  });
}

}  // namespace simt::check

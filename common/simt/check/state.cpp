#include "state.h"

namespace simt::check {

[[gnu::init_priority(101)]] CheckStorage storage;

void CheckState::find_hosts_own() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const bool has_more = unwritten_copies.exist() || transfers.targets.exist() || images.are_kept();
  watch.hosts_own.store(has_more ? nullptr : ownership.table(), std::memory_order_relaxed);
}

}  // namespace simt::check

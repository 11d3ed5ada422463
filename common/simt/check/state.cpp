#include "state.h"

namespace simt::check {

[[gnu::init_priority(101)]] CheckStorage storage;

void CheckState::find_hosts_own() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const bool are_copies = unwritten_copies.exist() || transfers.targets.exist();
  watch.hosts_own.store(are_copies ? nullptr : ownership.table(), std::memory_order_relaxed);
}

}  // namespace simt::check

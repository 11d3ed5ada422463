#include "pending.h"

#include <algorithm>

#include "races.h"

namespace simt::check {
namespace {

/// Byte by byte: a call of memcpy would be observed.
const volatile unsigned char* bytes_at(std::uintptr_t address) {
  return reinterpret_cast<const volatile unsigned char*>(address);
}

}  // namespace

void Pending::compare(const Race& race) {
  if (race.access.bytes > max_bytes) return report_race_at_once(race);
  Store store{.race = race, .replaced = {}, .is_looked_at = false};
  for (unsigned b = 0; b < race.access.bytes; ++b) store.replaced[b] = bytes_at(race.access.address)[b];
  stores_.push_back(store);
  is_waiting_ = true;
  state().look_closely();
}

void Pending::look_at_value(const Access& access) {
  values_.push_back(access);
  is_waiting_ = true;
  state().look_closely();
}

void Pending::settle_stores(bool at_once) {
  is_waiting_ = false;
  std::vector<Access> values;
  values.swap(values_);
  for (const Access& access : values) {
    std::uint64_t value = 0;
    for (unsigned b = std::min(access.bytes, 8u); b-- > 0;) value = value << 8 | bytes_at(access.address)[b];
    state().shuffles.stored(access, value);
  }
  std::vector<Store> stores;
  stores.swap(stores_);  // what is done here may be observed itself
  for (Store& store : stores) {
    const Access& access = store.race.access;
    bool is_same = true;
    for (unsigned b = 0; b < access.bytes; ++b) is_same &= store.replaced[b] == bytes_at(access.address)[b];
    if (!is_same) {
      report_race_at_once(store.race);
    } else if (store.is_looked_at || at_once) {
      remark_same_value(store.race);
    } else {
      store.is_looked_at = is_waiting_ = true;
      stores_.push_back(store);
    }
  }
}

void Pending::follow(const Event* cell, const Access& access) {
  const auto read = reads_.find({cell, access.thread});
  if (read == reads_.end()) return;
  const Race race = read->second;
  reads_.erase(read);
  if (!access.is_compare_and_swap) report_race_at_once(race);
}

void Pending::settle_all() {
  holds_ = 0;
  if (has_stores()) settle_stores(true);
  std::map<std::pair<const Event*, unsigned>, Race> reads;
  reads.swap(reads_);
  for (const auto& [place, race] : reads) report_race_at_once(race);
}

}  // namespace simt::check

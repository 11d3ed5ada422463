// Possible races, which later accesses confirm or rule out.
//
// A store is compared with what it replaces once it has happened: threads that write the same value agree on the
// result. The next access may still come before it: g++ reports the store of a structure's copy before the load. So a
// value that has not changed is looked at once more, at the access after that one. A plain read of a word that others change by atomics is right as the first step of a compare-and-swap loop,
// whose atomicCAS finds out whether the value is still there (CUDA C++ Programming Guide, "Atomic Functions").
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "access.h"
#include "order.h"

namespace simt::check {

/// Two accesses that nothing puts in order.
struct Race {
  Event before;
  Way before_way;
  Event now;
  Access access;  ///< the later one
};

class Pending {
 public:
  /// The race of a store with an earlier store. To be called before the store.
  void compare(const Race& race);
  /// A store whose value may be undefined. To be called before it.
  void look_at_value(const Access& access);
  /// The race of a plain read with an atomic. Its last write identifies the cell.
  void await_swap(const Event* cell, const Race& race) { reads_.insert({{cell, race.access.thread}, race}); }
  bool has_reads() const { return !reads_.empty(); }
  /// An access of a cell: it decides about an earlier read by the same thread.
  void follow(const Event* cell, const Access& access);

  /// Whether stores have happened and can be compared.
  bool has_stores() const { return is_waiting_ && holds_ <= 0; }
  /// `at_once`: none of them waits for another access.
  void settle_stores(bool at_once = false);
  /// At a barrier, and at the end of a block: nothing more is waited for.
  void settle_all();

  /// The volatile loads with which lanes have waited for others.
  std::set<std::uint32_t> waits;

  /// Until it is destroyed, no more stores are taken to have happened: some functions report several before they make
  /// them. Those of before have happened, and what these will replace is compared now.
  class Hold {
   public:
    explicit Hold(Pending& pending) : pending_(pending) {
      if (pending_.has_stores()) pending_.settle_stores();
      ++pending_.holds_;
    }
    ~Hold() { --pending_.holds_; }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    Pending& pending_;
  };

 private:
  static constexpr unsigned max_bytes = 16;

  struct Store {
    Race race;
    unsigned char replaced[max_bytes];
    bool is_looked_at;
  };

  bool is_waiting_ = false;  // for one of these to happen
  std::vector<Store> stores_;
  std::vector<Access> values_;
  std::map<std::pair<const Event*, unsigned>, Race> reads_;  // by cell and thread
  int holds_ = 0;  // a block that is abandoned leaves some behind, which settle_all() forgets
};

}  // namespace simt::check

// The errors and remarks that have been found, until they are reported.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "access.h"
#include "simt/device.h"

namespace simt::check {

/// A remark is on something that is defined, but that other code does better. It does not make a program fail.
enum class Severity : std::uint8_t { error, remark };

struct Finding {
  std::string kind = {};
  std::string text = {};          ///< the line of `other` replaces "{other}"
  Code code = 0;                  ///< where it happened, or 0: `place` is known
  Code other = 0;                 ///< the other end of a race, or 0
  std::string advice = {};        ///< of a race: the text's last clause
  const char* barrier = nullptr;  ///< of a race: what orders its threads; null if they are of different blocks
  bool is_same_index = false;     ///< of a race: its threads have the same threadIdx in two blocks, each time
  bool are_in_rows = false;       ///< of a race in a block: its threads differ in threadIdx.y or .z only, each time
  std::uintptr_t address = 0;     ///< of plain accesses that race, as long as these are all at one address; otherwise 0
  std::string between = {};       ///< of a race in a block, or an uninitialized read: kernel, last barrier, and array
  Site last_barrier = {};   ///< of a race in a block: where its threads have met before both accesses; line 0: nowhere
  bool are_writes = false;  ///< of accesses that race: both are
  /// Of a race in a block: instructions by which its threads have come to the element in the same round of a loop. If
  /// two are on one line, the threads have the same element, and no barrier fits between them.
  std::vector<std::pair<Code, Code>> together = {};
  Code plain_read = 0;                 ///< of a race of a plain read with an atomic: the read
  bool is_at_once = false;             ///< of a race: that is so, as is known when findings are reported
  bool is_changed_by_several = false;  ///< of a race: each of its threads reads the element and then writes it
  std::string place = {};              ///< "file:line", known at once or when findings are reported
  std::string launched = {};           ///< of a stream-race with a kernel: "file:line" of its launch
  Site launch = {};                    ///< of the running kernel; line 0: none runs
  std::uint64_t times = 1;
  /// The interval (order.h) in which the fault began: of a race, that of its earlier access. 0: when it was found.
  std::uint32_t began = 0;
  std::uint64_t number = 0;  ///< in the order in which findings came
  std::int64_t moment = -1;  ///< Trace::moment() when it was found
  Severity severity = Severity::error;
};

class Findings {
 public:
  /// A finding of the same kind at the same place is counted, not repeated.
  void add(Finding finding);
  /// Counts a known finding again. False: it is not known, so add() it. Avoids building a text that is not needed.
  bool count_again(const char* kind, Code code, Code other = 0);
  void drop(const char* kind, Code code);
  /// A known race is also one between blocks: no barrier helps.
  void advise(Code code, Code other, const std::string& advice);
  /// The plain read at this place tests what an atomic of the same thread then changes: its races become remarks.
  void precedes_atomic(Code read) { tests_.insert(read); }
  std::uint64_t count() const { return count_; }  ///< of all that were added
  /// What is known of a race. Null: nothing yet.
  Finding* known_race(Code code, Code other);
  bool is_known(const char* kind, Code code, Code other = 0) const;
  /// Whether no remark on threads that have exited has been made at this place. To be made at once.
  bool remember_exit_at(Site site) { return exits_.insert({site.file, site.line}).second; }

  /// The same for remarks on lanes that meet at two places.
  bool remember_meeting_at(Site site, Site others);

  /// Causes before consequences: first threads at different barriers, because what these barriers should order races;
  /// then in the order in which the faults began, and within an interval races first, because what is read in a race
  /// may be wrong; otherwise in the order in which they came.
  std::vector<Finding> all() const;

 private:
  std::map<std::tuple<Code, Code, std::string>, Finding> by_code_;  // the kind is compared last, as it takes longest
  std::vector<Finding> by_place_;
  std::uint64_t count_ = 0;
  std::set<Code> tests_;
  std::set<std::pair<const char*, int>> exits_;
  std::set<std::pair<int, int>> meetings_;  // by their lines
};

}  // namespace simt::check

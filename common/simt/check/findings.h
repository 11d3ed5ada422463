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
#include "facts.h"
#include "simt/device.h"

namespace simt::check {

/// A remark is on something that is defined, but that other code does better. It does not make a program fail.
enum class Severity : std::uint8_t { error, remark };

/// A sentence of words.cpp, and what it proposes.
struct Advice {
  const char* why;
  Remedy remedy = Remedy::none;
};

/// Whether the two ends of a race are in the same round of a loop.
enum class Round : std::uint8_t { unknown, same, next };

struct Finding {
  std::string kind = {};
  std::string why = {};          ///< the sentence, of those in words.cpp; "": there is none but the access
  std::vector<Fact> facts = {};  ///< what is wrong; then what it concerns: of a race, the earlier access
  Remedy remedy = Remedy::none;
  Details details = {};
  std::string said = {};  ///< by the emulation, in each of its builds: what stands in place of a sentence of words.cpp
  Severity severity = Severity::error;
  /// The interval (order.h) in which the fault began: of a race, that of its earlier access. 0: when it was found.
  std::uint32_t began = 0;
  // Of a race:
  Remedy barrier = Remedy::none;  ///< that both threads could come to: none if they are of different blocks
  Site last_barrier = {};         ///< where both have met before; line 0: nowhere
  Round round = Round::unknown;   ///< known when findings are reported
  bool is_same_index = false;     ///< its threads have the same threadIdx in two blocks, each time
  bool are_in_rows = false;       ///< its threads are of one block and differ in threadIdx.y or .z only, each time
  std::uintptr_t address = 0;     ///< of plain accesses, as long as these are all at one address; otherwise 0
  /// Instructions by which its threads have come to the element in the same round of a loop. If two are on one line, the
  /// threads have the same element, and no barrier fits between them.
  std::vector<std::pair<Code, Code>> together = {};

  // What Findings adds:
  std::uint64_t times = 1;
  std::uint64_t number = 0;   ///< in the order in which findings came
  std::int64_t moment = -1;   ///< Trace::moment() when it was found
  Place place = {};           ///< known at the end: the first fact's, if its line says enough
  bool is_at_launch = false;  ///< that is instead the launch of what may still be running
  std::string text = {};      ///< for people: known at the end

  Code code() const { return facts[0].place.code; }
  Code other() const { return facts.size() < 2 ? 0 : facts[1].place.code; }
  bool are_writes() const { return facts[0].way == Way::store && facts[1].way == Way::store; }
  /// Of a race with an atomic: the plain read, or 0.
  Code plain_read() const;
};

class Findings {
 public:
  /// A finding of the same kind at the same place is counted, not repeated.
  void add(Finding finding);
  /// Counts a known finding again. False: it is not known, so add() it. Avoids building a text that is not needed.
  bool count_again(const char* kind, Code code, Code other = 0);
  void drop(const char* kind, Code code);
  /// A known race is also one between blocks: no barrier helps.
  void advise(Code code, Code other, const Advice& advice);
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

// The errors that have been found, until they are reported.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "access.h"
#include "simt/device.h"

namespace simt::check {

struct Finding {
  std::string kind = {};
  std::string text = {};   ///< the line of `other` replaces "{other}"
  Code code = 0;           ///< where it happened, or 0: `place` is known
  Code other = 0;          ///< the other end of a race, or 0
  std::string place = {};  ///< "file:line", known at once or when findings are reported
  std::uint64_t times = 1;
  std::uint64_t number = 0;  ///< in the order in which findings came
};

class Findings {
 public:
  /// A finding of the same kind at the same place is counted, not repeated.
  void add(Finding finding);
  /// Counts a known finding again. False: it is not known, so add() it. Avoids building a text that is not needed.
  bool count_again(const char* kind, Code code, Code other = 0);
  void drop(const char* kind, Code code);
  bool is_known(const char* kind, Code code, Code other = 0) const;

  /// In the order in which they came.
  std::vector<Finding> all() const;

 private:
  std::map<std::tuple<std::string, Code, Code>, Finding> by_code_;
  std::vector<Finding> by_place_;
  std::uint64_t count_ = 0;
};

/// "file:line" of a site that the emulation knows.
std::string place_of(Site site);

}  // namespace simt::check

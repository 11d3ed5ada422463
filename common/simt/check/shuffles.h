// Shuffles that take a value from a lane outside the mask, or from one that has exited: it is undefined.
//
// Many correct kernels take such a value and do not use it, as when the upper lanes of a reduction take part to the
// end. Therefore the value is a pattern, and it is an error only if what a lane stores or offers to others follows from
// it: if that is the pattern, or what an addition and the like make of it and of the value that the lane itself
// offered.
#pragma once

#include <array>
#include <cstdint>

#include "../src/emulation.h"
#include "access.h"
#include "check.h"

namespace simt::check {

class Shuffles {
 public:
  /// The lanes of a shuffle have met.
  void meet(const Shuffle& shuffle);
  /// Whether the thread holds a value that may follow from an undefined one.
  bool has_undefined(unsigned thread) const {
    return any_ && (lanes_[thread / lanes_per_warp] >> thread % lanes_per_warp & 1) != 0;
  }
  /// What such a thread has stored.
  void stored(const Access& access, std::uint64_t value);
  /// Forgets all values, as at a barrier.
  void forget();

 private:
  /// Where an undefined value came from.
  struct Origin {
    Site site;
    const char* name;
    unsigned mask;
    int lane, source;
  };
  /// What a lane offered to a shuffle and what it got. One of the two is undefined.
  struct Taken {
    std::uint64_t own, other;
    bool is_own_undefined, is_other_undefined;
    Origin origin;
  };
  using OfWarp = std::array<Taken, lanes_per_warp>;
  static bool follows(std::uint64_t value, const Taken& taken);
  static void report(const Origin& origin, unsigned thread);

  unsigned lanes_[max_warps] = {};  // that have taken something
  bool any_ = false;                // of the lanes has
  std::array<OfWarp, max_warps> taken_ = {};
};

}  // namespace simt::check

// Whether and how accesses are observed, and what is kept of the last access to speed up the next one.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "access.h"
#include "ownership.h"

namespace simt::check {

enum class Mode : std::uint8_t {
  off,
  recording,  ///< the trace itself is at work: the C++ library may then call functions of the program
  observe,
  observe_and_trace
};

struct Watch {
  Mode mode = Mode::off;
  Code last_call = 0;  ///< the program's last atomic or copy: what follows happens in the observers or in a library

  /// The owners of the last accesses. Usually the next access has the same.
  Symbol* array = nullptr;
  Symbol* variable = nullptr;

  /// The shared memory that was accessed last, if observe_ordered() does all that an access to it needs.
  std::uintptr_t near_begin = 0;
  /// 0: each access needs more than observe_ordered(). Another thread may set it to 0.
  std::atomic<std::size_t> near_words = 0;
  Cells near_cells;
  bool watches_each = false;  ///< it stays 0

  void stay_near(std::uintptr_t begin, std::size_t bytes, const Cells& cells) {
    if (mode != Mode::observe || begin % 4 != 0 || watches_each) return;
    near_begin = begin;
    near_cells = cells;
    near_words = bytes / 4;
  }
  /// The next access is looked at closely.
  void leave() { near_words = near_begin = 0; }
  /// From now on, each access is looked at closely.
  void look_closely() { near_words = 0; }
  void watch_each() {
    watches_each = true;
    look_closely();
  }
};

}  // namespace simt::check

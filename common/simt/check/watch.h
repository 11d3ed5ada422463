// Whether and how accesses are observed, and what is kept of the last access to speed up the next one.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "access.h"
#include "ownership.h"

namespace simt::check {

enum class Mode : std::uint8_t { off, observe, observe_and_trace };

struct Watch {
  Mode mode = Mode::off;
  Code last_call = 0;  ///< the program's last atomic or copy: what follows happens in the observers or in a library

  /// The owners of the last accesses. Usually the next access has the same.
  Symbol* array = nullptr;
  Symbol* variable = nullptr;

  /// The shared memory that was accessed last, if is_in_order() does all that an access to it needs.
  std::uintptr_t near_begin = 0;
  /// A multiple of 4; 0: each access needs more than is_in_order(). Another thread may set it to 0.
  std::atomic<std::size_t> near_bytes = 0;
  Cells near_cells;

  void stay_near(std::uintptr_t begin, std::size_t bytes, const Cells& cells) {
    if (mode != Mode::observe || begin % 4 != 0) return;
    near_begin = begin;
    near_cells = cells;
    near_bytes = bytes & ~std::size_t(3);
  }
  /// The next access is looked at closely.
  void leave() { near_bytes = near_begin = 0; }
  /// From now on, each access is looked at closely.
  void look_closely() { near_bytes = 0; }
};

}  // namespace simt::check

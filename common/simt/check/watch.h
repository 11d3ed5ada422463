// Whether and how accesses are observed, and what of the last access speeds up the next one.
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

  /// The shared memory that was accessed last, if an access of it needs nothing but what is_in_order() does.
  std::uintptr_t near_begin = 0;
  std::atomic<std::size_t> near_bytes =
      0;  ///< in whole words; 0: each access needs more. Another thread may set it to 0
  Cell* near_cells = nullptr;

  void stay_near(std::uintptr_t begin, std::size_t bytes, Cell* cells) {
    if (mode != Mode::observe || begin % 4 != 0) return;
    near_begin = begin;
    near_cells = cells;
    near_bytes = bytes & ~std::size_t(3);
  }
  /// From now on, each access is looked at closely.
  void look_closely() { near_bytes = 0; }
};

}  // namespace simt::check

// Whether and how accesses are observed, and what is kept of the last access to speed up the next one.
#pragma once

#include <atomic>
#include <bit>
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

  bool watches_each = false;  ///< each access is looked at closely

  /// For an instruction: the memory that it accessed last, if observe_ordered() does all that an access to it needs.
  struct Near {
    std::uintptr_t begin = 0;
    std::size_t words = 0;
    Cells cells;
    std::uint32_t moment = 0;
    Space space = {};

    /// The index of the word at an address; at least `words` if it is not aligned to it, or elsewhere.
    std::size_t word(std::uintptr_t address) const { return std::rotr(address - begin, 2); }
  };
  /// Neighbouring calls of one function have different places.
  Near& near(Code code) { return nears_[code / 4 % nears]; }
  bool is_valid(const Near& near) const { return near.moment == moment_.load(std::memory_order_relaxed); }

  void stay_near(Code code, std::uintptr_t begin, std::size_t bytes, const Cells& cells, Space space) {
    if (mode != Mode::observe || begin % 4 != 0 || watches_each) return;
    near(code) = {begin, bytes / 4, cells, moment_.load(std::memory_order_relaxed), space};
  }
  /// The next access of each instruction is looked at closely. Another thread may ask for it.
  void look_closely() { moment_.fetch_add(1, std::memory_order_relaxed); }
  void watch_each() {
    watches_each = true;
    look_closely();
  }

 private:
  static constexpr std::size_t nears = 128;
  Near nears_[nears];
  std::atomic<std::uint32_t> moment_ = 1;  ///< what is known of earlier ones no longer holds
};

}  // namespace simt::check

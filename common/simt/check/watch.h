// Whether and how accesses are observed, and what is kept of the last access to speed up the next one.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "access.h"
#include "ownership.h"
#include "requests.h"

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

  std::uintptr_t program = 0;  ///< its first address
  bool watches_each = false;   ///< each access is looked at closely

  /// The table of allocations (Ownership::table()), as long as nothing has to be known about host code's accesses of
  /// memory that is in none; otherwise null. Host code that reads a file or checks a result makes most accesses of some
  /// programs.
  std::atomic<Region* const*> hosts_own = nullptr;

  /// For an instruction: the memory that it accessed last, if observe_cells() does all that an access to it needs.
  struct alignas(128) Near {
    /// Of the instruction and the warp that executed it last since the barrier, as long as the events of its lanes have
    /// no clocks. 0: there is none.
    std::uint64_t key = 0;
    Requests::OfWarp* of_warp = nullptr;  ///< the requests of that warp

    std::uintptr_t begin = 0;
    std::size_t words = 0;
    Cells cells;
    // What look_at() sets.
    std::uint64_t interval_and_code = 0;  ///< the first half of events
    std::uint32_t first_concurrent = 0;   ///< see Order
    std::uint32_t first_of_own = 0;
    std::uint32_t first_of_contents = 0;  ///< what was written before does not count as initialized
    std::uint32_t first_in_order = 0;     ///< see Order::in_order()

    Code code = 0;
    std::uint32_t code_in_program = 0;
    std::uint32_t moment = 0;
    std::uint32_t intervals_in_order = 0;
    Space space = {};
    bool has_requests = true;  ///< false: its accesses are not counted

    static std::uint64_t key_of(Code code, unsigned warp) { return (code + 1) * max_warps + warp; }
    /// The index of the word at an address; at least `words` if it is not aligned to it, or elsewhere.
    std::size_t word(std::uintptr_t address) const { return std::rotr(address - begin, 2); }
    /// For accesses of the running interval.
    void look_at(const Order& order) {
      interval_and_code = Order::interval_and_code(order.interval(), code_in_program);
      first_concurrent = order.first_concurrent(space);
      first_of_own = order.first_of_own(space);
      first_of_contents = space == Space::shared ? order.first_of_block() : 0;
      first_in_order = order.in_order().first;
      intervals_in_order = space == Space::shared ? 0 : order.in_order().past - order.in_order().first;
    }
  };
  /// The calls of a function of a few KiB have different places.
  Near& near(Code code) {
    // Written so that it shares a multiplication with Near::key_of().
    const std::size_t offset = (code + 1) * (sizeof(Near) / 4) % sizeof nears_ / sizeof(Near) * sizeof(Near);
    return *reinterpret_cast<Near*>(reinterpret_cast<char*>(nears_) + offset);
  }
  bool is_valid(const Near& near) const { return near.moment == moment_.load(std::memory_order_relaxed); }

  void stay_near(Code code, std::uintptr_t begin, std::size_t bytes, const Cells& cells, Space space,
                 bool has_requests = true) {
    if (mode != Mode::observe || begin % 4 != 0 || watches_each) return;
    const Near& old = near(code);
    if (old.code == code && old.begin == begin && is_valid(old)) return;
    near(code) = {.begin = begin,
                  .words = bytes / 4,
                  .cells = cells,
                  .code = code,
                  .code_in_program = std::uint32_t(code - program),
                  .moment = moment_.load(std::memory_order_relaxed),
                  .space = space,
                  .has_requests = has_requests};
  }
  /// What is known of earlier accesses no longer holds. To be followed by Requests::forget().
  void expire() { moment_.fetch_add(1, std::memory_order_relaxed); }
  /// The next access of each instruction is looked at closely. Any thread may ask for it; another than that of the
  /// kernel has to ask again until it happens.
  void look_closely() {
    expire();
    for (Near& near : nears_) __atomic_store_n(&near.key, 0, __ATOMIC_RELAXED);
  }
  void watch_each() {
    watches_each = true;
    look_closely();
  }

 private:
  static constexpr std::size_t nears = 2048;
  Near nears_[nears];
  std::atomic<std::uint32_t> moment_ = 1;  ///< what is known of earlier ones no longer holds
};

}  // namespace simt::check

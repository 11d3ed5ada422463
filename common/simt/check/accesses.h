// What is done at each access of a kernel: it must lie inside its owner's bounds, be aligned, read initialized memory
// and be in order with other accesses; then it becomes a part of its warp's request.
#pragma once

#include "state.h"

namespace simt::check {

/// Fewer bytes than lie between the stacks of two threads of a block.
inline constexpr std::size_t between_stacks = 4096;

/// An access of up to 16 bytes.
template <Way way, Sync sync, Alignment alignment = Alignment::required>
void observe(const void* pointer, unsigned bytes, Code code);

/// Whether an atomic is an atomicCAS or an atomicExch.
enum class Swap : std::uint8_t { no, if_equal, always };
struct Atomic {
  Scope scope;
  Acquire acquire;
  Swap swap;
};
template <Way way>
void observe_atomic(const void* pointer, unsigned bytes, Code code, Atomic atomic);

/// A copy of many bytes, of a type that is not aligned to its size.
void observe_range(const void* pointer, std::size_t bytes, Way way, Code code);

/// A __threadfence, or a __threadfence_block.
void observe_fence(Scope scope);
/// A fence that only acquires.
void observe_acquire();

/// Whether nothing has to be known about a plain access: of a kernel's indices and the like, or of a variable on the
/// stack.
[[gnu::always_inline]] inline bool is_of_no_interest(std::uintptr_t address) {
  const CheckState& all = state();
  const std::size_t on_stack = address - std::uintptr_t(__builtin_frame_address(0));
  if (all.watch.mode == Mode::observe) {
    return address - std::uintptr_t(all.ownership.tls) < all.ownership.shared_first ||
           (on_stack < between_stacks && !all.local_arrays.exist());
  }
  constexpr std::size_t near = 65536;  // of the host's functions that run
  return all.watch.mode == Mode::off && on_stack < near && !all.unwritten_copies.exist() &&
         !all.order.streams.may_run();
}

/// Handles a plain access of one or several whole words if it is in order with the last ones, as nearly all are.
/// False: it is not known to be, and nothing has been done.
template <Way way, unsigned bytes>
[[gnu::always_inline]] inline bool observe_ordered(const void* pointer, Code code) {
  static_assert(bytes % 4 == 0);
  CheckState& all = state();
  const std::uintptr_t address = std::uintptr_t(pointer);
  const Watch::Near& near = all.watch.near(code);
  const std::size_t word = near.word(address);
  if (word >= near.words || !all.watch.is_valid(near)) return is_of_no_interest(address);
  if (bytes > 4 && (address % bytes != 0 || near.words - word < bytes / 4)) return false;
  const unsigned thread = all.running.thread();
  const Order& order = all.order;
  if (order.has_clocks(thread) || (way == Way::store && all.shuffles.has_undefined(thread))) return false;
  const Space space = near.space;
  const auto may_be_unordered = [&](const Event& event) {
    return event.interval >= order.first_concurrent(space) &&
           (event.thread != thread || event.interval < order.first_of_own(space));
  };
  for (unsigned w = 0; w < bytes / 4; ++w) {
    const Cell cell = near.cells.word(word + w);
    if (!cell.content.template allows<way>() || may_be_unordered(cell.write)) return false;
    if (way == Way::store && (may_be_unordered(cell.read) || may_be_unordered(cell.other_read))) return false;
    if (way == Way::load && space == Space::shared && cell.write.interval < order.first_of_block()) return false;
  }
  const std::uint32_t code_in_program = std::uint32_t(code - all.ownership.program);
  for (unsigned w = 0; w < bytes / 4; ++w) {
    const Cell cell = near.cells.word(word + w);
    if (way == Way::store) {
      order.store_event_without_clocks(cell.write, thread, code_in_program);
      cell.content = {.initialized = 15, .other_is_write = 0, .is_split = 0, .by_device = 1, .unused = 0};
    } else {
      if (may_be_unordered(cell.read)) cell.other_read = cell.read;
      order.store_event_without_clocks(cell.read, thread, code_in_program);
    }
  }
  all.requests.add_words<way, bytes>(code, address, thread, space);
  return true;
}

}  // namespace simt::check

// What is done at each access of a kernel: it must lie inside its owner's bounds, be aligned, read initialized memory
// and be in order with other accesses; then it becomes a part of its warp's request.
#pragma once

#include <bit>

#include "state.h"

namespace simt::check {

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

/// Handles a plain access of a word in a __shared__ array if it is in order with the last ones, as nearly all are.
/// False: it is not known to be, and nothing has been done.
template <Way way>
[[gnu::always_inline]] inline bool observe_ordered(const void* pointer, Code code) {
  CheckState& all = state();
  const std::uintptr_t address = std::uintptr_t(pointer);
  const std::size_t word = std::rotr(address - all.watch.near_begin, 2);  // huge if it is not aligned
  if (word >= all.watch.near_words.load(std::memory_order_relaxed)) {
    // Indices of blocks and the like are not observed.
    return all.watch.mode == Mode::observe && address - std::uintptr_t(all.ownership.tls) < all.ownership.shared_first;
  }
  const unsigned thread = all.running.thread();
  const Order& order = all.order;
  const Cell cell = all.watch.near_cells.word(word);
  if (!cell.content.template allows<way>() || order.has_clocks(thread)) return false;
  const auto is_another_now = [&](const Event& event) {
    return order.is_since_barrier(event) && event.thread != thread;
  };
  if (is_another_now(cell.write)) return false;
  const std::uint32_t code_in_program = std::uint32_t(code - all.ownership.program);
  if constexpr (way == Way::store) {
    if (is_another_now(cell.read) || is_another_now(cell.other_read)) return false;
    order.store_event_without_clocks(cell.write, thread, code_in_program);
    cell.content.initialized = 15;
  } else {
    if (cell.write.interval < order.first_of_block()) return false;
    if (is_another_now(cell.read)) cell.other_read = cell.read;
    order.store_event_without_clocks(cell.read, thread, code_in_program);
  }
  all.requests.add_shared_word<way>(code, address, thread);
  return true;
}

}  // namespace simt::check

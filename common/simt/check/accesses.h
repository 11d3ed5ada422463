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

/// While a kernel runs: whether this is not its OS thread, but one with host code of the program, which is not observed.
inline bool is_of_another_host_thread() { return Running::current() == nullptr; }

/// Whether this is the host's own memory, about which nothing is recorded at present.
[[gnu::always_inline]] inline bool is_hosts_own(std::uintptr_t address) {
  CheckState& all = state();
  if (all.unwritten_copies.exist() || all.transfers.targets.exist()) return false;
  if (all.images.are_kept() && all.ownership.is_in_shared_arrays(address)) return false;
  const Region& variables = all.ownership.program_data;
  return address - std::uintptr_t(variables.begin) >= variables.bytes &&
         (!all.ownership.has_regions() || all.ownership.region_at(address) == nullptr);
}

/// The same for an access by host code, found with few instructions. False: that is not known.
[[gnu::always_inline]] inline bool is_surely_hosts_own(std::uintptr_t address) {
  const CheckState& all = state();
  Region* const* const table = all.watch.hosts_own.load(std::memory_order_relaxed);
  const Region& variables = all.ownership.program_data;
  return table != nullptr && table[Ownership::chunk_of(address)] == nullptr &&
         address - std::uintptr_t(variables.begin) >= variables.bytes;
}

/// Whether nothing has to be known about a plain access: of a kernel's indices and the like, or of a variable on the
/// stack.
[[gnu::always_inline]] inline bool is_of_no_interest(std::uintptr_t address, Code code) {
  const CheckState& all = state();
  const std::size_t on_stack = address - std::uintptr_t(__builtin_frame_address(0));
  if (all.watch.mode == Mode::observe) {
    return is_of_another_host_thread() || address - std::uintptr_t(all.ownership.tls) < all.ownership.shared_first ||
           (on_stack < between_stacks && !all.local_arrays.exist()) || all.running.is_argument(address) ||
           all.running.is_choice_of_kernel(code, address);
  }
  constexpr std::size_t near = 65536;  // of the host's functions that run
  if (all.watch.mode != Mode::off) return false;
  return (on_stack < near && !all.unwritten_copies.exist() && !all.order.streams.may_run()) || is_hosts_own(address);
}

/// Whether it can be found that earlier operations of several streams are in order. (Looking for that takes registers,
/// of which the usual access has none left.)
enum class Earlier : std::uint8_t { without_streams, with_streams };

/// Handles a plain access of memory that the instruction has accessed before, if it is in order with the last ones, as
/// nearly all are, and of whole words or of bytes that have their own cells. False: it is not known to be, and nothing
/// has been done. `clock`: of the thread's events.
template <Way way, unsigned bytes, Earlier earlier>
[[gnu::always_inline]] inline bool observe_cells(const Watch::Near& near, std::uintptr_t address, unsigned thread,
                                                 unsigned clock) {
  constexpr bool are_words = bytes >= 4;
  const std::size_t word = are_words ? near.word(address) : (address - near.begin) / 4;
  if (word >= near.words) return false;
  if (bytes > 4 && (address % bytes != 0 || near.words - word < bytes / 4)) return false;
  if (bytes == 2 && address % bytes != 0) return false;
  if (!are_words && !near.cells.contents[word].is_split) return false;
  const std::size_t first_cell = are_words ? word : near.cells.bytes_at + word * 4 + address % 4;
  constexpr unsigned count = are_words ? bytes / 4 : bytes;
  const auto mask_of = [&](unsigned c) { return are_words ? 15u : 1u << (address % 4 + c); };
  const auto rest_at = [&](unsigned c) { return Order::rest_of(thread, clock, mask_of(c)); };
  const auto is_concurrent = [&](const Event& event) {
    if (event.interval < near.first_concurrent) return false;
    const bool is_own = Order::rest_of(event) == rest_at(0) || event.thread == thread;
    return !is_own || event.interval < near.first_of_own;
  };
  const auto may_be_unordered = [&](const Event& event) {
    const bool is_in_order =
        earlier == Earlier::with_streams && event.interval - near.first_in_order < near.intervals_in_order;
    return is_concurrent(event) && !is_in_order;
  };
  for (unsigned c = 0; c < count; ++c) {
    const Cell cell = near.cells.word(first_cell + c);
    if (!cell.content.template allows<way>(mask_of(c)) || may_be_unordered(cell.write)) return false;
    if (way == Way::store && (may_be_unordered(cell.read) || may_be_unordered(cell.other_read))) return false;
    if (way == Way::load && cell.write.interval < near.first_of_contents) return false;
  }
  for (unsigned c = 0; c < count; ++c) {
    const Cell cell = near.cells.word(first_cell + c);
    if (way == Way::store) {
      Order::store_event(cell.write, near.interval_and_code, rest_at(c));
      if (are_words) {
        cell.content = {.initialized = 15, .other_is_write = 0, .is_split = 0, .by_device = 1, .unused = 0};
      } else {
        cell.content.initialized |= mask_of(c) & 15;
        cell.content.by_device = 1;
      }
    } else {
      if (is_concurrent(cell.read)) cell.other_read = cell.read;
      Order::store_event(cell.read, near.interval_and_code, rest_at(c));
    }
  }
  return true;
}

/// Adds to a request that observe_near() or observe_again() has not found.
template <Way way, unsigned bytes>
[[gnu::noinline]] void add_request(Watch::Near& near, std::uintptr_t address, unsigned thread) {
  CheckState& all = state();
  if (!near.has_requests) {
    if (all.order.has_clocks(thread)) return;
    near.of_warp = &all.requests.uncounted(near.key, thread % lanes_per_warp);
    near.key = Watch::Near::key_of(near.code, thread / lanes_per_warp);
    return;
  }
  near.of_warp = &all.requests.add(near.code, address, thread, bytes, near.space, way);
  if (all.order.has_clocks(thread)) return;
  near.of_warp->found_by(near.key);
  near.key = Watch::Near::key_of(near.code, thread / lanes_per_warp);
}

/// An access by an instruction that the warp of this thread has executed since the last barrier, in the memory that it
/// accessed then. False: it is another one, and nothing has been done.
template <Way way, unsigned bytes>
[[gnu::always_inline]] inline bool observe_again(const Thread* current, const void* pointer, Code code) {
  CheckState& all = state();
  Watch::Near* place = &all.watch.near(code);
  asm("" : "+r"(place));  // one register for all its members
  Watch::Near& near = *place;
  const std::uintptr_t address = std::uintptr_t(pointer);
  unsigned thread = current->number;
  asm("" : "+r"(thread));  // no computations with 16 bits
  if (near.key != Watch::Near::key_of(code, thread / lanes_per_warp)) return false;
  if (!observe_cells<way, bytes, Earlier::without_streams>(near, address, thread, 1)) return false;
  if (!near.of_warp->template add<bytes>(thread % lanes_per_warp, address)) [[unlikely]]
    add_request<way, bytes>(near, address, thread);
  return true;
}

/// An access by any warp in the memory that the instruction accessed last.
template <Way way, unsigned bytes>
[[gnu::always_inline]] inline bool observe_near(const void* pointer, Code code) {
  CheckState& all = state();
  Watch::Near& near = all.watch.near(code);
  if (near.code != code || !all.watch.is_valid(near) || Running::current() == nullptr) return false;
  const std::uintptr_t address = std::uintptr_t(pointer);
  const unsigned thread = Running::thread();
  if (way == Way::store && all.shuffles.has_undefined(thread)) return false;
  near.look_at(all.order);
  if (!observe_cells<way, bytes, Earlier::with_streams>(near, address, thread, all.order.clock_now(thread)))
    return false;
  const bool is_by_same_warp = near.key == Watch::Near::key_of(code, thread / lanes_per_warp);
  if (!is_by_same_warp || !near.of_warp->template add<bytes>(thread % lanes_per_warp, address))
    add_request<way, bytes>(near, address, thread);
  return true;
}

}  // namespace simt::check

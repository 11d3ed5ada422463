#include "accesses.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "faults.h"
#include "places.h"
#include "races.h"

namespace simt::check {
namespace {

[[gnu::always_inline]] inline void observe_cell(const Cell& cell, unsigned mask, const Access& access) {
  CheckState& all = state();
  Event now = all.order.event_of(access.thread, mask, access.sync, std::uint32_t(access.code - all.ownership.program));
  now.is_atomic = access.is_atomic;
  now.is_of_block = access.scope == Scope::block;
  if (!is_initialized(cell, mask, access.space, all.order) && reads(access.way)) [[unlikely]] {
    if (access.is_exchange) {
      await_use(cell, now, access);
    } else {
      report_uninitialized(cell, now, access);
    }
  }
  look_for_races(cell, now, access);
  if (!writes(access.way)) return;
  cell.content.initialized |= mask & 15;
  cell.content.by_device = 1;
}

[[gnu::cold, gnu::noinline]] void split(const Cells& cells, std::size_t word) {
  const Cell cell = cells.word(word);
  for (unsigned b = 0; b < 4; ++b) {
    const Cell piece = cells.byte(word, b);
    piece.write = cell.write;
    piece.read = cell.read;
    piece.other_read = cell.other_read;
    piece.content = cell.content;
  }
  cell.content.is_split = true;
}

/// An access that is not of a whole word, or of one whose bytes have separate cells.
[[gnu::noinline]] void observe_pieces(const Cells& cells, std::size_t offset, const Access& access) {
  for (std::size_t at = offset, end = offset + access.bytes; at < end;) {
    const unsigned first = at % 4, last = unsigned(std::min<std::size_t>(4, end - (at - first)));
    const Cell cell = cells.word(at / 4);
    if (last - first == 4 && !cell.content.is_split) {
      observe_cell(cell, 15, access);
    } else {
      if (!cell.content.is_split) [[unlikely]]
        split(cells, at / 4);
      for (unsigned b = first; b < last; ++b) observe_cell(cells.byte(at / 4, b), 1u << b, access);
    }
    at += last - first;
  }
}

/// Where the cells of an access are.
struct Location {
  const Cells* cells;  ///< null: there is nothing more to observe
  std::size_t offset = 0;
};
constexpr Location nowhere{nullptr};

/// Whether the next access by the same instruction may be one that observe_again() handles.
enum class Again : std::uint8_t { no, yes };

template <Again again>
[[gnu::always_inline]] inline Location in_static_shared(const Access& access, std::size_t in_tls) {
  CheckState& all = state();
  Ownership& own = all.ownership;
  if (in_tls < own.shared_first) return nowhere;  // threadIdx and the like
  Symbol*& array = all.watch.array;
  if (array == nullptr || in_tls - array->offset >= array->bytes) array = symbol_at(own.symbols.arrays, in_tls);
  const std::size_t in_array = in_tls - array->offset;  // a huge number before the first array
  if (in_array >= array->bytes || access.bytes > array->bytes - in_array) [[unlikely]] {
    if (own.is_guard(in_tls)) return nowhere;  // of an array whose elements have constructors
    report_out_of_bounds(access);
    // Between arrays it does no harm; elsewhere is what the emulation and the C library need.
    if (!own.is_between_arrays(in_tls, access.bytes)) stop(cudaErrorIllegalAddress);
    return nowhere;
  }
  if (array->used_in_launch != all.order.first_of_launch()) [[unlikely]] {
    if (!Ownership::can_name(own.source_of(access.code), *array)) {
      report_out_of_bounds(access);
      return nowhere;
    }
    count_array(*array, access.code);
  }
  if (again == Again::yes)
    all.watch.stay_near(access.code, std::uintptr_t(own.tls) + array->offset, array->bytes,
                        own.static_cells.from((array->offset - own.shared_first) / 4), Space::shared);
  return {&own.static_cells, in_tls - own.shared_first};
}

template <Again again>
[[gnu::always_inline]] inline Location in_dynamic_shared(const Access& access, std::size_t offset) {
  CheckState& all = state();
  Ownership& own = all.ownership;
  if (offset + access.bytes > own.dynamic_bytes) [[unlikely]] {
    report_out_of_bounds(access);
    return nowhere;
  }
  if (again == Again::yes)
    all.watch.stay_near(access.code, std::uintptr_t(own.dynamic_begin), own.dynamic_bytes, own.dynamic_cells,
                        Space::shared);
  return {&own.dynamic_cells, offset};
}

/// Requests of variables are not counted, because constants are among them.
[[gnu::noinline]] void observe_variable(const Access& access, std::size_t in_data) {
  if (is_in_state(access.address)) return;
  CheckState& all = state();
  Ownership& own = all.ownership;
  const std::size_t in_program = access.address - own.program;
  Symbol*& variable = all.watch.variable;
  if (variable == nullptr || in_program - variable->offset >= variable->bytes) {
    variable = symbol_at(own.symbols.variables, in_program);
  }
  // An overflow into the next variable cannot be distinguished from an access of that one.
  if (in_program < variable->offset || in_program + access.bytes > variable->offset + variable->bytes) {
    return report_out_of_bounds(access);
  }
  if (writes(access.way) && variable->is_constant) return report_constant_write(access);
  if (access.way == Way::store && all.shuffles.has_undefined(access.thread)) all.pending.look_at_value(access);
  const std::size_t first = in_data - (in_program - variable->offset);
  if (access.sync == Sync::plain && first % 4 == 0) {
    all.watch.stay_near(access.code, own.program + variable->offset, variable->bytes,
                        own.program_data.cells.from(first / 4), Space::global, false);
  }
  observe_pieces(own.program_data.cells, in_data, access);
}

/// Observes the part of an access across an end of an allocation that lies inside it.
[[gnu::cold, gnu::noinline]] void observe_inside(Access access, const Region& region) {
  const std::uintptr_t begin = std::uintptr_t(region.begin), first = std::max(access.address, begin);
  const std::uintptr_t past = std::min(access.address + access.bytes, begin + region.bytes);
  if (first >= past || region.is_freed || !region.cells.exist()) return;
  access.address = first;
  access.bytes = unsigned(past - first);
  observe_pieces(region.cells, first - begin, access);
}

template <Again again>
[[gnu::always_inline]] inline Location in_region(const Access& access, const Region& region) {
  const std::uintptr_t offset = access.address - std::uintptr_t(region.begin);
  if (region.is_heap) [[unlikely]] {
    return is_in_heap_block(access) ? Location{&region.cells, offset} : nowhere;
  }
  if (region.is_freed && access.address - std::uintptr_t(region.whole_begin) + guard_bytes <
                             region.whole_bytes + 2 * guard_bytes) [[unlikely]] {
    report_use_after_free(access, region.freed_by);
  }
  if (offset >= region.bytes || access.bytes > region.bytes - offset) [[unlikely]] {
    const Outside where = outside(region, offset, access.bytes);
    if (where != Outside::elsewhere) report_out_of_bounds(access);
    if (where == Outside::guard) stop(cudaErrorIllegalAddress);
    observe_inside(access, region);
    return nowhere;
  }
  if (again == Again::yes && !region.is_freed) {
    state().watch.stay_near(access.code, std::uintptr_t(region.begin), region.bytes, region.cells, Space::global);
  }
  return {&region.cells, offset};
}

/// Finds the memory of an access, and whether it is shared or global. Reports what is wrong with it.
template <Again again>
[[gnu::always_inline]] inline Location locate(Access& access) {
  Ownership& own = state().ownership;
  const std::size_t in_tls = access.address - std::uintptr_t(own.tls);
  if (in_tls < own.shared_last) return in_static_shared<again>(access, in_tls);
  const std::size_t in_dynamic = access.address - std::uintptr_t(own.dynamic_begin);
  if (in_dynamic < own.dynamic_bytes + past_dynamic_shared) return in_dynamic_shared<again>(access, in_dynamic);
  access.space = Space::global;
  const std::size_t in_data = access.address - std::uintptr_t(own.program_data.begin);
  if (in_data < own.program_data.bytes && !own.symbols.variables.empty()) {
    observe_variable(access, in_data);
    return nowhere;
  }
  if (const Region* const region = own.region_at(access.address)) return in_region<again>(access, *region);
  observe_unowned(access, __builtin_frame_address(0));
  return nowhere;
}

template <Way way, Sync sync, Alignment alignment>
[[gnu::always_inline]] inline void observe_access(Access access) {
  CheckState& all = state();
  if (all.watch.mode < Mode::observe) [[unlikely]]
    return observe_host(access);
  if (is_of_another_host_thread()) [[unlikely]]
    return;
  access.thread = all.running.thread();
  if (all.watch.mode == Mode::observe_and_trace) [[unlikely]]
    trace(access);
  if (way == Way::atomic) all.watch.last_call = access.code;
  if (all.time.needs_attention()) [[unlikely]]
    look_at_time(access);
  if (all.pending.has_stores()) [[unlikely]]
    all.pending.settle_stores();

  constexpr Again again = sync == Sync::plain && alignment == Alignment::required ? Again::yes : Again::no;
  const Location location = locate<again>(access);
  if (location.cells == nullptr) return;
  if (way == Way::store && all.shuffles.has_undefined(access.thread)) [[unlikely]]
    all.pending.look_at_value(access);
  if (alignment == Alignment::required && (access.address & (access.bytes - 1)) != 0) [[unlikely]]
    report_misaligned(access);
  const Cell cell = location.cells->word(location.offset / 4);
  if (access.bytes == 4 && location.offset % 4 == 0 && !cell.content.is_split) [[likely]] {
    observe_cell(cell, 15, access);
  } else {
    observe_pieces(*location.cells, location.offset, access);
  }
  all.requests.add(access);
}

}  // namespace

template <Way way, Sync sync, Alignment alignment>
void observe(const void* pointer, unsigned bytes, Code code) {
  observe_access<way, sync, alignment>({std::uintptr_t(pointer), bytes, way, sync, Space::shared, 0, code});
}

template <Way way>
void observe_atomic(const void* pointer, unsigned bytes, Code code, Atomic atomic) {
  observe_access<way, Sync::synchronized, Alignment::required>({.address = std::uintptr_t(pointer),
                                                                .bytes = bytes,
                                                                .way = way,
                                                                .sync = Sync::synchronized,
                                                                .space = Space::shared,
                                                                .thread = 0,
                                                                .code = code,
                                                                .is_compare_and_swap = atomic.swap == Swap::if_equal,
                                                                .is_exchange = atomic.swap == Swap::always,
                                                                .is_atomic = true,
                                                                .scope = atomic.scope,
                                                                .acquire = atomic.acquire});
}
template void observe_atomic<Way::load>(const void*, unsigned, Code, Atomic);
template void observe_atomic<Way::store>(const void*, unsigned, Code, Atomic);
template void observe_atomic<Way::atomic>(const void*, unsigned, Code, Atomic);

template void observe<Way::load, Sync::plain>(const void*, unsigned, Code);
template void observe<Way::store, Sync::plain>(const void*, unsigned, Code);
template void observe<Way::load, Sync::synchronized>(const void*, unsigned, Code);
template void observe<Way::store, Sync::synchronized>(const void*, unsigned, Code);
template void observe<Way::load, Sync::plain, Alignment::any>(const void*, unsigned, Code);
template void observe<Way::store, Sync::plain, Alignment::any>(const void*, unsigned, Code);
template void observe<Way::load, Sync::synchronized, Alignment::any>(const void*, unsigned, Code);
template void observe<Way::store, Sync::synchronized, Alignment::any>(const void*, unsigned, Code);

void observe_range(const void* pointer, std::size_t bytes, Way way, Code code) {
  CheckState& all = state();
  if (all.running.launch == nullptr) return observe_host_range(pointer, bytes, way, code);
  if (is_of_another_host_thread()) return;
  all.watch.last_call = code;
  const Pending::Hold hold(all.pending);
  const std::uintptr_t first = std::uintptr_t(pointer);
  if (is_of_no_interest(first, code) && is_of_no_interest(first + bytes - 1, code)) return;
  const auto observe_piece = way == Way::load ? observe<Way::load, Sync::plain, Alignment::any>
                                              : observe<Way::store, Sync::plain, Alignment::any>;
  for (const char* at = static_cast<const char*>(pointer); bytes != 0;) {
    std::size_t piece = 8;  // a GPU copies at most this many bytes at once
    while (std::uintptr_t(at) % piece != 0 || piece > bytes) piece /= 2;
    observe_piece(at, unsigned(piece), code);
    at += piece;
    bytes -= piece;
  }
}

void observe_fence(Scope scope) {
  CheckState& all = state();
  if (all.running.launch == nullptr || is_of_another_host_thread()) return;
  const unsigned thread = all.running.thread();
  if (scope == Scope::device) {
    all.order.fence(thread);
  } else {
    all.order.fence_in_block(thread);
  }
}

void observe_acquire() {
  CheckState& all = state();
  if (all.running.launch == nullptr || is_of_another_host_thread()) return;
  all.order.acquire_fence(all.running.thread());
}

}  // namespace simt::check

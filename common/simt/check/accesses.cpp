// Each access of a kernel: inside its owner's bounds, aligned, of initialised memory, in order with others; and a part
// of its warp's request. The instrumentation that compilers make calls here before every access of the program.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>

#include "../src/execution/worker.h"
#include "races.h"
#include "requests.h"
#include "running.h"

namespace simt::check {
namespace {

Code code_of_last;  // of what the observers or the C library do for the program
/// Whether accesses are looked at, and traced: one comparison tells the usual case.
enum class Watched : std::uint8_t { never, plainly, traced } watched = Watched::never;

[[gnu::cold, gnu::noinline]] void wrong(const char* kind, Code code, unsigned thread, const char* what,
                                        std::uintptr_t address, unsigned bytes) {
  add_finding(kind, code, 0, is_known(kind, code, 0) ? "" : who(thread) + what + describe(address, bytes));
}

[[gnu::cold, gnu::noinline]] void uninitialized(Cell& cell, const Event& now, unsigned mask, const Access& access) {
  wrong("uninitialized", access.code, access.thread, "reads what nothing has written: ", access.address, access.bytes);
  cell.initialized |= mask;  // told once
  if (access.shared && cell.write.interval < first_of_block) {
    cell.write = {first_of_block, now.code, access.thread | 1u << 14};  // of no bytes: races with nothing
  }
}

[[gnu::always_inline]] inline void observe_word(Cell& cell, unsigned mask, std::uint32_t high, const Access& a) {
  const Event now{interval, std::uint32_t(a.code - program), high | mask << 10};
  if (!is_initialized(cell, mask, a.shared) && a.reads) [[unlikely]]
    uninitialized(cell, now, mask, a);
  look_for_races(cell, now, a);
  if (a.writes) cell.initialized |= mask;
}

[[gnu::cold, gnu::noinline]] void split(Cell& cell, Cell* pieces) {
  std::fill(pieces, pieces + 4, cell);
  cell.split = true;
}

[[gnu::always_inline]] inline void observe(Cell* cells, std::size_t words, std::size_t offset, std::uintptr_t address,
                                           unsigned bytes, Way way, bool reads, bool writes, bool sync, bool shared,
                                           unsigned thread, Code code) {
  const std::uint32_t high = who_now(thread, sync);
  const Access access{address, bytes, reads, writes, way == Way::atomic, sync, shared, thread, code};
  if (bytes == 4 && offset % 4 == 0 && !cells[offset / 4].split) [[likely]] {
    return observe_word(cells[offset / 4], 15, high, access);
  }
  for (std::size_t at = offset, end = offset + bytes; at < end;) {
    const unsigned first = at % 4, last = unsigned(std::min<std::size_t>(4, end - (at - first)));
    Cell& cell = cells[at / 4];
    if (last - first == 4 && !cell.split) {
      observe_word(cell, 15, high, access);
    } else {
      Cell* const pieces = cells + words + at / 4 * 4;
      if (!cell.split) [[unlikely]]
        split(cell, pieces);
      for (unsigned b = first; b < last; ++b) observe_word(pieces[b], 1u << b, high, access);
    }
    at += last - first;
  }
}

[[noreturn]] void stop(cudaError_t error) {
  set_sticky(error);
  Worker::running()->abandon();
}

/// True: the program cannot go on after this access.
[[gnu::cold, gnu::noinline]] bool misaligned(std::uintptr_t address, unsigned bytes, Way way, unsigned thread,
                                             Code code) {
  wrong("misaligned", code, thread, way == Way::load ? "reads " : "writes ", address, bytes);
  return bytes == 16;
}

/// Of an access that no region holds: most often it is of the thread's own variables, on its stack.
[[gnu::noinline]] void outside_regions(std::uintptr_t address, unsigned thread, const char* what, Code code) {
  const void* const here = __builtin_frame_address(0);
  if (address - std::uintptr_t(here) < 4096) return;  // fewer bytes than lie between two stacks
  if (Worker::running()->stacks().in_another(reinterpret_cast<void*>(address), here)) {
    return add_finding("out-of-bounds", code, 0, who(thread) + what + "a variable of another thread's own");
  }
  if (!is_observers(address)) return;
  char text[64];
  std::snprintf(text, sizeof text, "address %#zx, which is in no allocation", std::size_t(address));
  add_finding("out-of-bounds", code, 0, who(thread) + what + text);
  stop(cudaErrorIllegalAddress);
}

/// Of host code, which beside a GPU would crash here.
[[gnu::noinline]] void by_host(std::uintptr_t address, unsigned bytes, Way way, Code code) {
  const Region* const region = regions != nullptr ? region_at(address) : nullptr;
  if (region == nullptr || region->of_host || region->freed ||
      address - std::uintptr_t(region->begin) >= region->bytes) {
    return;
  }
  add_finding("device-pointer", code, 0,
              is_known("device-pointer", code, 0)
                  ? ""
                  : std::string("host code ") + (way == Way::load ? "reads " : "writes ") + describe(address, bytes) +
                        ", which is memory of the device; cudaMemcpy copies it");
}

bool flat;  // the launch's blocks have threads in one dimension only
unsigned linear_thread() {
  return flat ? threadIdx.x : threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

/// Traces an access, of what has a name; those past the end of it are findings.
[[gnu::cold, gnu::noinline]] void trace(const void* pointer, unsigned bytes, Way way, Code code) {
  const std::uintptr_t address = std::uintptr_t(pointer);
  const auto inside = [&](std::size_t offset, const Owner& owner, Space space) {
    if (offset >= owner.bytes || bytes > owner.bytes - offset) return;
    trace_access(owner, code, linear_thread(), pointer, offset, bytes, space, way);
  };
  const std::size_t in_tls = address - std::uintptr_t(tls);
  if (in_tls < shared_last) {
    if (in_tls < shared_first) return;
    const Symbol* const array = symbol_at(arrays, in_tls);
    return inside(in_tls - array->offset, {array, array->name.c_str(), 0, array->bytes}, Space::shared);
  }
  const std::size_t in_dynamic = address - std::uintptr_t(dynamic_begin);
  if (in_dynamic < dynamic_bytes + past_dynamic_shared) {
    return inside(in_dynamic, {&dynamic_cells, "dynamic", 0, dynamic_bytes}, Space::shared);
  }
  if (address - std::uintptr_t(program_data.begin) < program_data.bytes) {
    if (variables.empty()) return;
    const Symbol* const variable = symbol_at(variables, address - program);
    return inside(address - program - variable->offset, {variable, variable->name.c_str(), 0, variable->bytes},
                  Space::global);
  }
  const Region* const region = region_at(address);
  if (region == nullptr || region->freed) return;
  const char* const name = region->name != nullptr ? region->name : "allocation";
  inside(address - std::uintptr_t(region->begin), {region, name, region->number, region->bytes}, Space::global);
}

/// Not of a copy that the observers make for themselves, whether in their code or in the program's of a library.
bool is_programs(Code code, std::uintptr_t address) {
  if (region_at(address) != nullptr || address - std::uintptr_t(tls) < shared_last ||
      address - std::uintptr_t(dynamic_begin) < dynamic_bytes) {
    return true;
  }
  static auto& others = *new std::set<Code>;
  if (others.count(code) != 0) return false;
  const auto place = resolve({code});
  if (!place.empty() && place.begin()->second.find("simt/src/") == std::string::npos) return true;
  others.insert(code);
  return false;
}

[[gnu::cold, gnu::noinline]] void end_of_time(Code code, unsigned thread, std::uintptr_t address) {
  out_of_time = Time::told;
  if (!is_programs(code, address)) {
    out_of_time = Time::up;  // the program's next access is near
    return;
  }
  const auto [kind, text] = time_is_up();
  add_finding(kind, code, 0, who(thread) + text);
  stop(cudaErrorLaunchTimeout);
}

[[gnu::cold, gnu::noinline]] void too_much_shared(Code code) {
  add_finding("invalid-launch", code, 0,
              std::string("kernel ") + launch->kernel.name +
                  ": its __shared__ arrays take more than 48 KiB a block, which " +
                  "nvcc refuses; take dynamic shared memory instead");
}

Symbol *last_array, *last_variable;  // most often those of the next access as well

/// What shared memory was accessed last, where nothing more is asked of an access than is_plainly_ordered does.
struct {
  std::uintptr_t begin;
  std::atomic<std::size_t> bytes;  ///< in whole words; 0 where more is asked
  Cell* cells;
} near;

void stay_near(std::uintptr_t begin, std::size_t bytes, Cell* cells) {
  if (watched != Watched::plainly || begin % 4 != 0) return;
  near.begin = begin;
  near.cells = cells;
  near.bytes = bytes & ~std::size_t(3);
}

/// A plain access of a word in a __shared__ array that is in order with the last ones, which nearly all are. False: not
/// known to be; nothing has been done then.
template <bool writes>
[[gnu::always_inline]] inline bool is_plainly_ordered(const void* pointer, Code code) {
  const std::uintptr_t address = std::uintptr_t(pointer);
  const std::size_t offset = address - near.begin;
  if (offset >= near.bytes.load(std::memory_order_relaxed) || offset % 4 != 0) {
    return watched == Watched::plainly && address - std::uintptr_t(tls) < shared_first;  // threadIdx and the like
  }
  const unsigned thread = linear_thread();
  Cell& cell = near.cells[offset / 4];
  if (cell.split || clocks_used[thread / 32] || (cell.other_read.code & kept_write) != 0) return false;
  const auto other_now = [&](const Event& event) { return event.interval == interval && thread_of(event) != thread; };
  if (other_now(cell.write)) return false;
  const Event now{interval, std::uint32_t(code - program), thread | 15u << 10 | 1u << 15};
  if constexpr (writes) {
    if (other_now(cell.read) || other_now(cell.other_read)) return false;
    cell.write = now;
    cell.initialized = 15;
  } else {
    if (cell.write.interval < first_of_block || cell.initialized != 15) return false;
    if (other_now(cell.read)) cell.other_read = cell.read;
    cell.read = now;
  }
  add_to_request(code, thread, address, 4, Space::shared, writes ? Way::store : Way::load);
  return true;
}

/// `sync`: atomic or volatile, which by themselves do not race with each other.
[[gnu::always_inline]] inline void access(const void* pointer, unsigned bytes, Way way, bool reads, bool writes,
                                          bool sync, Code code, bool aligned = true) {
  if (watched != Watched::plainly) [[unlikely]] {
    if (watched == Watched::never) return by_host(std::uintptr_t(pointer), bytes, way, code);
    trace(pointer, bytes, way, code);
  }
  if (way == Way::atomic) code_of_last = code;
  const std::uintptr_t address = std::uintptr_t(pointer);
  const unsigned thread = linear_thread();
  if (out_of_time.load(std::memory_order_relaxed) == Time::up) [[unlikely]]
    end_of_time(code, thread, address);
  const char* const what = way == Way::load ? "reads " : "writes ";
  const std::size_t in_tls = address - std::uintptr_t(tls);
  if (in_tls < shared_last) {
    if (in_tls < shared_first) return;  // threadIdx and the like
    if (last_array == nullptr || in_tls - last_array->offset >= last_array->bytes)
      last_array = symbol_at(arrays, in_tls);
    if (near.begin != std::uintptr_t(tls) + last_array->offset) {
      stay_near(std::uintptr_t(tls) + last_array->offset, last_array->bytes,
                static_cells + (last_array->offset - shared_first) / 4);
    }
    Symbol* const array = last_array;
    if (array->used_in != first_of_launch) [[unlikely]] {
      array->used_in = first_of_launch;
      totals().static_shared += array->bytes;
      if (totals().static_shared > most_static_bytes) too_much_shared(code);
    }
    if (in_tls + bytes > array->offset + array->bytes) [[unlikely]] {
      wrong("out-of-bounds", code, thread, what, address, bytes);
      // Between arrays nobody is hurt; elsewhere lies what the emulation and the C library need.
      if (!between_arrays(in_tls, bytes)) stop(cudaErrorIllegalAddress);
      return;
    }
    if (address % bytes != 0 && aligned) [[unlikely]] {
      if (misaligned(address, bytes, way, thread, code)) stop(cudaErrorMisalignedAddress);
    }
    observe(static_cells, words_of(shared_last - shared_first), in_tls - shared_first, address, bytes, way, reads,
            writes, sync, true, thread, code);
    add_to_request(code, thread, address, bytes, Space::shared, way);
    return;
  }
  const std::size_t in_dynamic = address - std::uintptr_t(dynamic_begin);
  if (in_dynamic < dynamic_bytes + past_dynamic_shared) {
    if (in_dynamic + bytes > dynamic_bytes) [[unlikely]] {
      return wrong("out-of-bounds", code, thread, what, address, bytes);
    }
    if (address % bytes != 0 && aligned) [[unlikely]] {
      if (misaligned(address, bytes, way, thread, code)) stop(cudaErrorMisalignedAddress);
    }
    if (near.begin != std::uintptr_t(dynamic_begin)) {
      stay_near(std::uintptr_t(dynamic_begin), dynamic_bytes, dynamic_cells);
    }
    observe(dynamic_cells, words_of(most_dynamic_bytes), in_dynamic, address, bytes, way, reads, writes, sync, true,
            thread, code);
    add_to_request(code, thread, address, bytes, Space::shared, way);
    return;
  }
  const std::size_t in_data = address - std::uintptr_t(program_data.begin);
  if (in_data < program_data.bytes && !variables.empty()) {  // constants as well: requests are not counted
    const std::size_t in_program = address - program;
    if (last_variable == nullptr || in_program - last_variable->offset >= last_variable->bytes) {
      last_variable = symbol_at(variables, in_program);
    }
    // What runs over the end into another variable is not told from an access of that one.
    if (in_program < last_variable->offset || in_program + bytes > last_variable->offset + last_variable->bytes) {
      return wrong("out-of-bounds", code, thread, what, address, bytes);
    }
    return observe(program_data.cells, words_of(program_data.bytes), in_data, address, bytes, way, reads, writes, sync,
                   false, thread, code);
  }
  const Region* const region = region_at(address);
  if (region == nullptr) return outside_regions(address, thread, what, code);
  const std::size_t offset = address - std::uintptr_t(region->begin);
  if (region->freed && address - std::uintptr_t(region->whole_begin) + guard < region->whole_bytes + 2 * guard)
      [[unlikely]] {
    wrong("use-after-free", code, thread, what, address, bytes);
    stop(cudaErrorIllegalAddress);
  }
  if (offset >= region->bytes || bytes > region->bytes - offset) [[unlikely]] {
    const Beside where = beside(*region, offset, bytes);
    if (where == Beside::elsewhere) return;
    wrong("out-of-bounds", code, thread, what, address, bytes);
    if (where == Beside::padding) return;
    stop(cudaErrorIllegalAddress);
  }
  if (address % bytes != 0 && aligned) [[unlikely]] {
    if (misaligned(address, bytes, way, thread, code)) stop(cudaErrorMisalignedAddress);
  }
  observe(region->cells, words_of(region->bytes), offset, address, bytes, way, reads, writes, sync, false, thread,
          code);
  add_to_request(code, thread, address, bytes, Space::global, way);
}

[[gnu::noinline]] void load(const void* p, unsigned n, Code code) { access(p, n, Way::load, true, false, false, code); }
[[gnu::noinline]] void store(const void* p, unsigned n, Code code) {
  access(p, n, Way::store, false, true, false, code);
}

/// A copy of many bytes, of a type that is not aligned to them: of 8 bytes at once at most, as a GPU makes it.
void access_range(const void* pointer, std::size_t bytes, Way way, Code code) {
  if (launch == nullptr) return;
  code_of_last = code;
  for (const char* at = static_cast<const char*>(pointer); bytes != 0;) {
    std::size_t piece = 8;
    while (std::uintptr_t(at) % piece != 0 || piece > bytes) piece /= 2;
    access(at, unsigned(piece), way, way == Way::load, way == Way::store, false, code, false);
    at += piece;
    bytes -= piece;
  }
}

void access_halves(const void* pointer, unsigned bytes, Way way, bool sync, Code code) {
  const bool load = way == Way::load;
  access(pointer, bytes / 2, way, load, !load, sync, code, false);
  access(static_cast<const char*>(pointer) + bytes / 2, bytes / 2, way, load, !load, sync, code, false);
}

}  // namespace

// --- events ---

void begin_launch(const Launch& started) {
  begin_time();
  own_launch(started.config.dynamic_shared);
  order_launch(started.blocks);
  flat = started.config.block.y * started.config.block.z == 1;
  last_array = nullptr;  // the next access of each counts it as one that this launch uses
  if (tracing) trace_launch(started);
}

void begin_block(const Launch& started, std::uint64_t number, void* dynamic_shared) {
  launch = &started;
  watched = tracing ? Watched::traced : Watched::plainly;
  block = number;
  dynamic_begin = static_cast<char*>(dynamic_shared);
  finish_requests();
  order_block();
  if (tracing) trace_block(number);
}

void barrier_opened(Site site, int arrived) {
  totals().barriers += unsigned(arrived + lanes_per_warp - 1) / lanes_per_warp;
  if (out_of_time.load(std::memory_order_relaxed) == Time::up) [[unlikely]] {
    out_of_time = Time::told;
    const auto [kind, text] = time_is_up();
    add_finding(kind, site, where() + ": " + text);
    stop(cudaErrorLaunchTimeout);
  }
  if (arrived != launch->threads) [[unlikely]] {
    add_finding("divergent-barrier", site,
                where() + ": " + std::to_string(launch->threads - arrived) + " of " + std::to_string(launch->threads) +
                    " threads have returned and never come to this __syncthreads()");
  }
  finish_requests();
  order_interval();
  if (tracing) trace_barrier();
}

void look_closely() { near.bytes = 0; }

Code done_for() { return code_of_last; }

void stop_observing() {
  if (tracing) trace_block_end();
  launch = nullptr;
  watched = Watched::never;
  look_closely();
  near.begin = 0;
}

void end_block() {
  finish_requests();
  stop_observing();
}

void fence(bool of_device) {
  if (launch != nullptr) (of_device ? order_fence : order_fence_in_block)(linear_thread());
}

}  // namespace simt::check

// --- what the instrumented program calls ---

using simt::check::Code;
using simt::check::Way;

#define CODE (Code(__builtin_return_address(0)) - 1)
// "unaligned": of a type that need not be aligned to its size, as a struct of two halves: a GPU makes two accesses.
#define ACCESSES(N)                                                                     \
  void __tsan_read##N(void* p) {                                                        \
    if (N == 4 && simt::check::is_plainly_ordered<false>(p, CODE)) [[likely]]           \
      return;                                                                           \
    simt::check::load(p, N, CODE);                                                      \
  }                                                                                     \
  void __tsan_write##N(void* p) {                                                       \
    if (N == 4 && simt::check::is_plainly_ordered<true>(p, CODE)) [[likely]]            \
      return;                                                                           \
    simt::check::store(p, N, CODE);                                                     \
  }                                                                                     \
  void __tsan_read_write##N(void* p) {                                                  \
    simt::check::access(p, N, Way::load, true, false, false, CODE);                     \
    simt::check::access(p, N, Way::store, false, true, false, CODE);                    \
  }                                                                                     \
  void __tsan_volatile_read##N(void* p) {                                               \
    simt::atomic_yield(); /* before: what is read is what others have written by now */ \
    simt::check::access(p, N, Way::load, true, false, true, CODE);                      \
  }                                                                                     \
  void __tsan_volatile_write##N(void* p) { simt::check::access(p, N, Way::store, false, true, true, CODE); }
#define UNALIGNED(N)                                                                                           \
  void __tsan_unaligned_read##N(void* p) { simt::check::access_halves(p, N, Way::load, false, CODE); }         \
  void __tsan_unaligned_write##N(void* p) { simt::check::access_halves(p, N, Way::store, false, CODE); }       \
  void __tsan_unaligned_read_write##N(void* p) {                                                               \
    simt::check::access_halves(p, N, Way::load, false, CODE);                                                  \
    simt::check::access_halves(p, N, Way::store, false, CODE);                                                 \
  }                                                                                                            \
  void __tsan_unaligned_volatile_read##N(void* p) { simt::check::access_halves(p, N, Way::load, true, CODE); } \
  void __tsan_unaligned_volatile_write##N(void* p) { simt::check::access_halves(p, N, Way::store, true, CODE); }

#define CHANGE(BITS, NAME)                                                                       \
  T##BITS __tsan_atomic##BITS##_##NAME(volatile T##BITS* p, T##BITS v, int) {                    \
    simt::check::access(const_cast<T##BITS*>(p), BITS / 8, Way::atomic, true, true, true, CODE); \
    return __atomic_##NAME(p, v, __ATOMIC_SEQ_CST);                                              \
  }
#define ATOMICS(BITS)                                                                                       \
  using T##BITS = std::uint##BITS##_t;                                                                      \
  T##BITS __tsan_atomic##BITS##_load(const volatile T##BITS* p, int) {                                      \
    simt::check::access(const_cast<T##BITS*>(p), BITS / 8, Way::load, true, false, true, CODE);             \
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                            \
  }                                                                                                         \
  void __tsan_atomic##BITS##_store(volatile T##BITS* p, T##BITS v, int) {                                   \
    simt::check::access(const_cast<T##BITS*>(p), BITS / 8, Way::store, false, true, true, CODE);            \
    __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                                               \
  }                                                                                                         \
  T##BITS __tsan_atomic##BITS##_exchange(volatile T##BITS* p, T##BITS v, int) {                             \
    simt::check::access(const_cast<T##BITS*>(p), BITS / 8, Way::atomic, true, true, true, CODE);            \
    return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);                                                     \
  }                                                                                                         \
  CHANGE(BITS, fetch_add)                                                                                   \
  CHANGE(BITS, fetch_sub) CHANGE(BITS, fetch_and) CHANGE(BITS, fetch_or) CHANGE(BITS, fetch_xor)            \
      CHANGE(BITS, fetch_nand) int                                                                          \
      __tsan_atomic##BITS##_compare_exchange_strong(volatile T##BITS* p, T##BITS* e, T##BITS v, int, int) { \
    simt::check::access(const_cast<T##BITS*>(p), BITS / 8, Way::atomic, true, true, true, CODE);            \
    return __atomic_compare_exchange_n(p, e, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                 \
  }                                                                                                         \
  int __tsan_atomic##BITS##_compare_exchange_weak(volatile T##BITS* p, T##BITS* e, T##BITS v, int, int) {   \
    simt::check::access(const_cast<T##BITS*>(p), BITS / 8, Way::atomic, true, true, true, CODE);            \
    return __atomic_compare_exchange_n(p, e, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                 \
  }                                                                                                         \
  T##BITS __tsan_atomic##BITS##_compare_exchange_val(volatile T##BITS* p, T##BITS e, T##BITS v, int, int) { \
    simt::check::access(const_cast<T##BITS*>(p), BITS / 8, Way::atomic, true, true, true, CODE);            \
    __atomic_compare_exchange_n(p, &e, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                       \
    return e;                                                                                               \
  }

extern "C" {
ACCESSES(1)
ACCESSES(2) ACCESSES(4) ACCESSES(8) ACCESSES(16) UNALIGNED(2) UNALIGNED(4) UNALIGNED(8) UNALIGNED(16) ATOMICS(8)
    ATOMICS(16) ATOMICS(32) ATOMICS(64)

        void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_ignore_thread_begin() {}
void __tsan_ignore_thread_end() {}
void __tsan_atomic_signal_fence(int) {}
void __tsan_atomic_thread_fence(int order) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  simt::check::fence(order == __ATOMIC_SEQ_CST);  // less: of the block only
}

void __tsan_read_range(void* p, std::size_t n) { simt::check::access_range(p, n, Way::load, CODE); }
void __tsan_write_range(void* p, std::size_t n) { simt::check::access_range(p, n, Way::store, CODE); }

// Compilers make calls of these from copies of larger types, without instrumenting them. A program is linked with
// --wrap for each, which leads here.
void* __real_memcpy(void* to, const void* from, std::size_t n);
void* __real_memmove(void* to, const void* from, std::size_t n);
void* __real_memset(void* to, int value, std::size_t n);

void* __wrap_memcpy(void* to, const void* from, std::size_t n) {
  simt::check::access_range(from, n, Way::load, CODE);
  simt::check::access_range(to, n, Way::store, CODE);
  return __real_memcpy(to, from, n);
}
void* __wrap_memmove(void* to, const void* from, std::size_t n) {
  simt::check::access_range(from, n, Way::load, CODE);
  simt::check::access_range(to, n, Way::store, CODE);
  return __real_memmove(to, from, n);
}
void* __wrap_memset(void* to, int value, std::size_t n) {
  simt::check::access_range(to, n, Way::store, CODE);
  return __real_memset(to, value, n);
}
}

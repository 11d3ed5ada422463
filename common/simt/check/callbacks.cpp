// What the instrumented program calls: the functions of the thread sanitizer's runtime, under the names and with the
// parameters that compilers expect. The compiled program calls them before each access.
#include <simt/atomic.h>
#include <simt/device.h>

#include "../src/execution/worker.h"
#include "accesses.h"

using simt::check::Alignment;
using simt::check::Atomic;
using simt::check::observe;
using simt::check::observe_again;
using simt::check::observe_atomic;
using simt::check::observe_near;
using simt::check::observe_range;
using simt::check::Scope;
using simt::check::Swap;
using simt::check::Sync;
using simt::check::Way;

namespace {

using Code = simt::check::Code;

/// Of a type that need not be aligned to its size, such as a struct of two halves: a GPU makes two accesses.
template <Way way, Sync sync>
void observe_halves(void* pointer, unsigned bytes, Code code) {
  const simt::check::Pending::Hold hold(simt::check::state().pending);
  observe<way, sync, Alignment::any>(pointer, bytes / 2, code);
  observe<way, sync, Alignment::any>(static_cast<char*>(pointer) + bytes / 2, bytes / 2, code);
}

/// What the order of an atomic access says of it (simt/atomic.h).
template <Way way>
constexpr Atomic atomic_of(int order, Swap swap = Swap::no) {
  namespace orders = simt::order;
  const bool is_of_block = way == Way::load    ? order == orders::load_block
                           : way == Way::store ? order == orders::store_block
                                               : order == orders::cuda_block || order == orders::atomic_block;
  const bool is_cudas_own = way == Way::atomic && (order == orders::cuda_device || order == orders::cuda_block);
  return {.scope = is_of_block ? Scope::block : Scope::device,
          .acquire = is_cudas_own ? simt::check::Acquire::at_once : simt::check::Acquire::by_fence,
          .swap = swap};
}

/// A plain access that is not as simple as most. Each of these functions ends with a call of the next one, so that
/// those that are called often need no stack.
template <Way way, unsigned bytes>
[[gnu::noinline]] void observe_new(const void* pointer, Code code) {
  if (!observe_near<way, bytes>(pointer, code)) observe<way, Sync::plain>(pointer, bytes, code);
}
template <Way way, unsigned bytes>
[[gnu::noinline]] void observe_other(const void* pointer, Code code) {
  if (!simt::check::is_of_no_interest(std::uintptr_t(pointer), code)) observe_new<way, bytes>(pointer, code);
}

template <Way way, unsigned bytes>
[[gnu::always_inline]] inline void observe_of_host(const void* pointer, Code code) {
  if (!simt::check::is_surely_hosts_own(std::uintptr_t(pointer))) observe_other<way, bytes>(pointer, code);
}
template <Way way, unsigned bytes>
[[gnu::always_inline]] inline void observe_of_kernel(const void* pointer, Code code, const simt::Thread* current) {
  if (!observe_again<way, bytes>(current, pointer, code)) [[unlikely]]
    observe_other<way, bytes>(pointer, code);
}
template <Way way, unsigned bytes>
[[gnu::noinline]] void observe_of_host_apart(const void* pointer, Code code) {
  observe_of_host<way, bytes>(pointer, code);
}
template <Way way, unsigned bytes>
[[gnu::noinline]] void observe_of_kernel_apart(const void* pointer, Code code, const simt::Thread* current) {
  observe_of_kernel<way, bytes>(pointer, code, current);
}

template <Way way, unsigned bytes>
[[gnu::always_inline]] inline void observe_plain(const void* pointer, Code code) {
  const simt::Thread* const current = simt::check::Running::current();
  if constexpr (bytes == 4) {  // as most accesses of kernels
    current != nullptr ? observe_of_kernel<way, bytes>(pointer, code, current)
                       : observe_of_host_apart<way, bytes>(pointer, code);
  } else {  // what is done for kernels needs more registers, which host code would have to save
    current != nullptr ? observe_of_kernel_apart<way, bytes>(pointer, code, current)
                       : observe_of_host<way, bytes>(pointer, code);
  }
}

/// Before an access by which threads communicate, or a fence.
void come_to_point(const volatile void* pointer, unsigned bytes, Code code) {
  simt::Worker* const worker = simt::Worker::running();
  if (worker != nullptr) worker->come_to({.code = code, .address = std::uintptr_t(pointer), .bytes = bytes});
}

void end_exchange(std::uint64_t old, std::uint64_t desired) {
  simt::check::CheckState& all = simt::check::state();
  all.exchanges.ended({all.running.block, all.running.thread()}, old, desired);
}

}  // namespace

// The address of the call, as return addresses are after it. (A macro, because it concerns the function that uses it.)
#define CODE (Code(__builtin_return_address(0)) - 1)

#define ACCESSES(N)                                                                       \
  void __tsan_read##N(void* p) { observe_plain<Way::load, N>(p, CODE); }                  \
  void __tsan_write##N(void* p) { observe_plain<Way::store, N>(p, CODE); }                \
  void __tsan_read_write##N(void* p) {                                                    \
    observe<Way::load, Sync::plain>(p, N, CODE);                                          \
    observe<Way::store, Sync::plain>(p, N, CODE);                                         \
  }                                                                                       \
  void __tsan_volatile_read##N(void* p) {                                                 \
    simt::atomic_yield(); /* before: the access reads what others have written by then */ \
    come_to_point(p, N, CODE);                                                            \
    observe<Way::load, Sync::synchronized>(p, N, CODE);                                   \
  }                                                                                       \
  void __tsan_volatile_write##N(void* p) {                                                \
    come_to_point(p, N, CODE);                                                            \
    observe<Way::store, Sync::synchronized>(p, N, CODE);                                  \
  }

#define UNALIGNED_ACCESSES(N)                                                                                    \
  void __tsan_unaligned_read##N(void* p) { observe_halves<Way::load, Sync::plain>(p, N, CODE); }                 \
  void __tsan_unaligned_write##N(void* p) { observe_halves<Way::store, Sync::plain>(p, N, CODE); }               \
  void __tsan_unaligned_read_write##N(void* p) {                                                                 \
    observe_halves<Way::load, Sync::plain>(p, N, CODE);                                                          \
    observe_halves<Way::store, Sync::plain>(p, N, CODE);                                                         \
  }                                                                                                              \
  void __tsan_unaligned_volatile_read##N(void* p) { observe_halves<Way::load, Sync::synchronized>(p, N, CODE); } \
  void __tsan_unaligned_volatile_write##N(void* p) { observe_halves<Way::store, Sync::synchronized>(p, N, CODE); }

#define OBSERVE_ATOMIC(BITS, WAY, ...) \
  come_to_point(p, BITS / 8, CODE);    \
  observe_atomic<Way::WAY>(const_cast<const T##BITS*>(p), BITS / 8, CODE, atomic_of<Way::WAY>(__VA_ARGS__))

#define ATOMIC_CHANGE(BITS, NAME)                                                   \
  T##BITS __tsan_atomic##BITS##_##NAME(volatile T##BITS* p, T##BITS v, int order) { \
    OBSERVE_ATOMIC(BITS, atomic, order);                                            \
    return __atomic_##NAME(p, v, __ATOMIC_SEQ_CST);                                 \
  }
#define ATOMIC_EXCHANGE_IF_EQUAL(BITS, NAME)                                                                      \
  int __tsan_atomic##BITS##_compare_exchange_##NAME(volatile T##BITS* p, T##BITS* e, T##BITS v, int order, int) { \
    OBSERVE_ATOMIC(BITS, atomic, order, Swap::if_equal);                                                          \
    return __atomic_compare_exchange_n(p, e, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                       \
  }
#define ATOMICS(BITS)                                                                                             \
  using T##BITS = std::uint##BITS##_t;                                                                            \
  T##BITS __tsan_atomic##BITS##_load(const volatile T##BITS* p, int order) {                                      \
    OBSERVE_ATOMIC(BITS, load, order);                                                                            \
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                                  \
  }                                                                                                               \
  void __tsan_atomic##BITS##_store(volatile T##BITS* p, T##BITS v, int order) {                                   \
    OBSERVE_ATOMIC(BITS, store, order);                                                                           \
    __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                                                     \
  }                                                                                                               \
  T##BITS __tsan_atomic##BITS##_exchange(volatile T##BITS* p, T##BITS v, int order) {                             \
    OBSERVE_ATOMIC(BITS, atomic, order, Swap::always);                                                            \
    const T##BITS old = __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);                                              \
    end_exchange(old, v);                                                                                         \
    return old;                                                                                                   \
  }                                                                                                               \
  ATOMIC_CHANGE(BITS, fetch_add)                                                                                  \
  ATOMIC_CHANGE(BITS, fetch_sub)                                                                                  \
  ATOMIC_CHANGE(BITS, fetch_and)                                                                                  \
  ATOMIC_CHANGE(BITS, fetch_or)                                                                                   \
  ATOMIC_CHANGE(BITS, fetch_xor)                                                                                  \
  ATOMIC_CHANGE(BITS, fetch_nand)                                                                                 \
  ATOMIC_EXCHANGE_IF_EQUAL(BITS, strong)                                                                          \
  ATOMIC_EXCHANGE_IF_EQUAL(BITS, weak)                                                                            \
  T##BITS __tsan_atomic##BITS##_compare_exchange_val(volatile T##BITS* p, T##BITS e, T##BITS v, int order, int) { \
    OBSERVE_ATOMIC(BITS, atomic, order, Swap::if_equal);                                                          \
    __atomic_compare_exchange_n(p, &e, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                             \
    return e;                                                                                                     \
  }

extern "C" {
// clang-format off
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)
UNALIGNED_ACCESSES(2)
UNALIGNED_ACCESSES(4)
UNALIGNED_ACCESSES(8)
UNALIGNED_ACCESSES(16)
ATOMICS(8)
ATOMICS(16)
ATOMICS(32)
ATOMICS(64)
// clang-format on

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
// The pointer to its virtual functions that a constructor stores, and a call loads.
void __tsan_vptr_update(void** p, void*) { observe<Way::store, Sync::plain>(p, sizeof *p, CODE); }
void __tsan_vptr_read(void** p) { observe<Way::load, Sync::plain>(p, sizeof *p, CODE); }
void __tsan_ignore_thread_begin() {}
void __tsan_ignore_thread_end() {}
void __tsan_atomic_signal_fence(int) {}
void __tsan_atomic_thread_fence(int order) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  come_to_point(nullptr, 0, CODE);
  if (order == __ATOMIC_ACQUIRE) {
    simt::check::observe_acquire();
  } else {
    simt::check::observe_fence(order == __ATOMIC_SEQ_CST ? Scope::device : Scope::block);
  }
}

void __tsan_read_range(void* p, std::size_t n) { observe_range(p, n, Way::load, CODE); }
void __tsan_write_range(void* p, std::size_t n) { observe_range(p, n, Way::store, CODE); }

// Compilers turn copies of larger types into calls of these, which they do not instrument. A program is linked with
// --wrap for each of them, so that the calls arrive here. Newer versions of clang call the sanitizer's functions for
// such copies.
void* __real_memcpy(void* to, const void* from, std::size_t n);
void* __real_memmove(void* to, const void* from, std::size_t n);
void* __real_memset(void* to, int value, std::size_t n);

#define COPY(CALLED, NAME)                                               \
  void* CALLED(void* to, const void* from, std::size_t n) {              \
    const simt::check::Pending::Hold hold(simt::check::state().pending); \
    observe_range(from, n, Way::load, CODE);                             \
    observe_range(to, n, Way::store, CODE);                              \
    return __real_##NAME(to, from, n);                                   \
  }
#define FILL(CALLED)                                                     \
  void* CALLED(void* to, int value, std::size_t n) {                     \
    const simt::check::Pending::Hold hold(simt::check::state().pending); \
    observe_range(to, n, Way::store, CODE);                              \
    return __real_memset(to, value, n);                                  \
  }
// clang-format off
COPY(__wrap_memcpy, memcpy)
COPY(__tsan_memcpy, memcpy)
COPY(__wrap_memmove, memmove)
COPY(__tsan_memmove, memmove)
FILL(__wrap_memset)
FILL(__tsan_memset)
// clang-format on
// What the host does with what it has copied.
int __real_memcmp(const void* a, const void* b, std::size_t n);
int __wrap_memcmp(const void* a, const void* b, std::size_t n) {
  observe_range(a, n, Way::load, CODE);
  observe_range(b, n, Way::load, CODE);
  return __real_memcmp(a, b, n);
}
std::size_t __real_fwrite(const void* from, std::size_t bytes, std::size_t count, FILE* file);
std::size_t __wrap_fwrite(const void* from, std::size_t bytes, std::size_t count, FILE* file) {
  observe_range(from, bytes * count, Way::load, CODE);
  return __real_fwrite(from, bytes, count, file);
}
}

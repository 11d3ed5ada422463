// Atomic read-modify-write functions. Each returns the old value. As on a device, they are relaxed and order no other
// accesses: what must be visible before or after them needs a __threadfence. The scopes (_block: this block, _system:
// also the host) cost the same here, but the check build distinguishes them. CUDA decides which functions exist for which types (CUDA C++ Programming Guide,
// "Atomic Functions"): some exist for `unsigned long long`, but none for uint64_t, which is `unsigned long` on Linux.
#pragma once

#include <type_traits>

#include "simt/device.h"
#include "simt/intrinsics.h"

namespace simt {

/// The order that an access of an atomic is given. It makes no difference to the emulation, which runs one thread of a
/// block at a time, but it reaches the check build's observers (check/callbacks.cpp), to which it names the scope, and
/// whether the access is one of CUDA's own functions or of cuda::atomic. A load or store can only be of cuda::atomic.
/// (clang makes a relaxed or releasing exchange whose result is not used a store of the same order.)
namespace order {
inline constexpr int cuda_device = __ATOMIC_RELAXED, cuda_block = __ATOMIC_ACQUIRE;
inline constexpr int atomic_device = __ATOMIC_SEQ_CST, atomic_block = __ATOMIC_ACQ_REL;
inline constexpr int load_device = __ATOMIC_RELAXED, load_block = __ATOMIC_ACQUIRE;
inline constexpr int store_device = __ATOMIC_RELAXED, store_block = __ATOMIC_RELEASE;
}  // namespace order

/// In the check build, so that compilers do not see the value. clang would make atomicAdd(&word, 0) a load.
template <class T>
inline void make_opaque([[maybe_unused]] T& value) {
#ifdef SIMT_CHECK
  asm("" : "+r"(value));
#endif
}

#ifdef SIMT_CHECK
template <class T>
using BitsOf = std::conditional_t<
    sizeof(T) == 8, unsigned long long,
    std::conditional_t<sizeof(T) == 4, unsigned, std::conditional_t<sizeof(T) == 2, unsigned short, unsigned char>>>;

template <class T>
[[gnu::noinline]] __attribute__((no_sanitize_thread)) inline void store_unobserved(T* address, T value) {
  *address = value;
}

/// What an exchange has returned. Compilers drop this call where the program does not use that, because it has no effect
/// that they know of: the observers then know that nobody reads the old value (check/exchanges.h).
[[gnu::const]] unsigned long long used_old_value(const volatile void* address, unsigned long long old) noexcept;
#endif

/// Replaces *address by change(*address); returns the old value. Compares bits, so that the loop also ends for a NaN.
template <int order = order::cuda_device, class T, class Change>
inline T atomic_update(T* address, Change change) {
  T old, desired;
#ifdef SIMT_CHECK
  // One access for the observers instead of the loop's several. Blocks run one at a time in the check build.
  BitsOf<T> none = 0;
  make_opaque(none);
  old = simt::bit_cast<T>(__atomic_fetch_or(reinterpret_cast<BitsOf<T>*>(address), none, order));
  desired = change(old);
  store_unobserved(address, desired);
#else
  __atomic_load(address, &old, __ATOMIC_RELAXED);
  do {
    desired = change(old);
  } while (!__atomic_compare_exchange(address, &old, &desired, true, order, __ATOMIC_RELAXED));
#endif
  atomic_yield();
  return old;
}

#define SIMT_FETCH(name, fetch)                      \
  template <int order = order::cuda_device, class T> \
  inline T name(T* address, T value) {               \
    simt::make_opaque(value);                        \
    const T old = fetch(address, value, order);      \
    atomic_yield();                                  \
    return old;                                      \
  }
SIMT_FETCH(fetch_add, __atomic_fetch_add)
SIMT_FETCH(atomic_subtract, __atomic_fetch_sub)
SIMT_FETCH(atomic_and, __atomic_fetch_and)
SIMT_FETCH(atomic_or, __atomic_fetch_or)
SIMT_FETCH(atomic_xor, __atomic_fetch_xor)
#undef SIMT_FETCH

template <int order = order::cuda_device, class T>
inline T atomic_add(T* address, T value) {
  if constexpr (std::is_integral_v<T>) {
    return fetch_add<order>(address, value);
  } else {
    return atomic_update<order>(address, [value](T old) { return old + value; });
  }
}

template <int order = order::cuda_device, class T>
[[gnu::always_inline]] inline T atomic_exchange(T* address, T value) {
  T old;
  __atomic_exchange(address, &value, &old, order);
  atomic_yield();
#if defined(SIMT_CHECK) && !defined(SIMT_LIBRARY)
  const auto bits = simt::bit_cast<BitsOf<T>>(old);
  asm volatile("" : : "r"(bits));  // clang would make a store of an exchange whose result is not used
  return simt::bit_cast<T>(BitsOf<T>(used_old_value(address, bits)));
#else
  return old;
#endif
}

template <int order = order::cuda_device, class T>
inline T atomic_compare_and_swap(T* address, T expected, T desired) {
  __atomic_compare_exchange(address, &expected, &desired, false, order, __ATOMIC_RELAXED);
  atomic_yield();
  return expected;  // the old value, also if it is not the expected one
}

template <int order = order::cuda_device, class T>
inline T atomic_min(T* address, T value) {
  return atomic_update<order>(address, [value](T old) { return value < old ? value : old; });
}

template <int order = order::cuda_device, class T>
inline T atomic_max(T* address, T value) {
  return atomic_update<order>(address, [value](T old) { return old < value ? value : old; });
}

/// Counts up, and from `last` to 0.
template <int order = order::cuda_device>
inline unsigned atomic_increment(unsigned* address, unsigned last) {
  return atomic_update<order>(address, [last](unsigned old) { return old >= last ? 0 : old + 1; });
}

/// Counts down, and from 0 (or from above `last`) to `last`.
template <int order = order::cuda_device>
inline unsigned atomic_decrement(unsigned* address, unsigned last) {
  return atomic_update<order>(address, [last](unsigned old) { return old == 0 || old > last ? last : old - 1; });
}

}  // namespace simt

// Plain functions, not templates, so that arguments convert as CUDA's do: atomicAdd(&counter, 1) for an unsigned
// counter. Each exists for the three scopes.

#define SIMT_ATOMIC_IN_SCOPE(T, name, operation, scope) \
  inline T name(T* address, T value) { return simt::operation<simt::order::scope>(address, value); }
#define SIMT_CAS_IN_SCOPE(T, name, operation, scope)                        \
  inline T name(T* address, T expected, T desired) {                        \
    return simt::operation<simt::order::scope>(address, expected, desired); \
  }
#define SIMT_IN_ALL_SCOPES(define, T, name, operation)                                   \
  define(T, name, operation, cuda_device) define(T, name##_block, operation, cuda_block) \
      define(T, name##_system, operation, cuda_device)

#define SIMT_ATOMIC(T, name, operation) SIMT_IN_ALL_SCOPES(SIMT_ATOMIC_IN_SCOPE, T, name, operation)
#define SIMT_ATOMIC_CAS(T) SIMT_IN_ALL_SCOPES(SIMT_CAS_IN_SCOPE, T, atomicCAS, atomic_compare_and_swap)
#define SIMT_ATOMIC_OF_INTEGERS(name, operation) \
  SIMT_ATOMIC(int, name, operation)              \
  SIMT_ATOMIC(unsigned, name, operation)         \
  SIMT_ATOMIC(long long, name, operation)        \
  SIMT_ATOMIC(unsigned long long, name, operation)

SIMT_ATOMIC(int, atomicAdd, atomic_add)
SIMT_ATOMIC(unsigned, atomicAdd, atomic_add)
SIMT_ATOMIC(unsigned long long, atomicAdd, atomic_add)
SIMT_ATOMIC(float, atomicAdd, atomic_add)
SIMT_ATOMIC(double, atomicAdd, atomic_add)
SIMT_ATOMIC(int, atomicSub, atomic_subtract)
SIMT_ATOMIC(unsigned, atomicSub, atomic_subtract)
SIMT_ATOMIC(int, atomicExch, atomic_exchange)
SIMT_ATOMIC(unsigned, atomicExch, atomic_exchange)
SIMT_ATOMIC(unsigned long long, atomicExch, atomic_exchange)
SIMT_ATOMIC(float, atomicExch, atomic_exchange)
SIMT_ATOMIC_OF_INTEGERS(atomicMin, atomic_min)
SIMT_ATOMIC_OF_INTEGERS(atomicMax, atomic_max)
SIMT_ATOMIC_OF_INTEGERS(atomicAnd, atomic_and)
SIMT_ATOMIC_OF_INTEGERS(atomicOr, atomic_or)
SIMT_ATOMIC_OF_INTEGERS(atomicXor, atomic_xor)
SIMT_ATOMIC(unsigned, atomicInc, atomic_increment)
SIMT_ATOMIC(unsigned, atomicDec, atomic_decrement)
SIMT_ATOMIC_CAS(int)
SIMT_ATOMIC_CAS(unsigned)
SIMT_ATOMIC_CAS(unsigned long long)
SIMT_ATOMIC_CAS(unsigned short)

// uint64_t is `unsigned long` on Linux, and int64_t `long`. Without these declarations, a compiler would list all
// others.
#ifdef SIMT_UNAVAILABLE
#define SIMT_NOT_FOR_LONG(T, name) \
  template <class... Values>                                                                                        \
  SIMT_UNAVAILABLE("CUDA has no " #name " for uint64_t and int64_t, which are [unsigned] long: make the variable " \
                   "an unsigned long long, or cast its address to unsigned long long*") T \
  name(T* address, Values... values);
#define SIMT_NOT_FOR_LONGS(name) \
  SIMT_NOT_FOR_LONG(long, name)  \
  SIMT_NOT_FOR_LONG(unsigned long, name)
SIMT_NOT_FOR_LONGS(atomicAdd)
SIMT_NOT_FOR_LONGS(atomicExch)
SIMT_NOT_FOR_LONGS(atomicMin)
SIMT_NOT_FOR_LONGS(atomicMax)
SIMT_NOT_FOR_LONGS(atomicAnd)
SIMT_NOT_FOR_LONGS(atomicOr)
SIMT_NOT_FOR_LONGS(atomicXor)
SIMT_NOT_FOR_LONGS(atomicCAS)
#undef SIMT_NOT_FOR_LONGS
#undef SIMT_NOT_FOR_LONG
#endif

#undef SIMT_ATOMIC_IN_SCOPE
#undef SIMT_CAS_IN_SCOPE
#undef SIMT_IN_ALL_SCOPES
#undef SIMT_ATOMIC
#undef SIMT_ATOMIC_OF_INTEGERS
#undef SIMT_ATOMIC_CAS

// Atomic read-modify-write functions. Each returns the value that stood there before. They order nothing else, as on a
// device (relaxed): what must be seen before or after them needs a __threadfence. The scopes (_block: this block,
// _system: also the host) cost the same here. Which types have which function is CUDA's choice (CUDA C++ Programming
// Guide, "Atomic Functions"): uint64_t is `unsigned long` on Linux and has none, `unsigned long long` has.
#pragma once

#include <bit>
#include <concepts>
#include <type_traits>

#include "simt/device.h"

namespace simt {

#ifdef SIMT_CHECK
template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned>;

template <class T>
[[gnu::noinline]] __attribute__((no_sanitize_thread)) inline void store_unobserved(T* address, T value) {
  *address = value;
}
#endif

/// Replaces *address by change(*address); gives back what stood there. A loop, as bits are compared, NaNs too.
template <class T, class Change>
inline T atomic_update(T* address, Change change) {
  T old, desired;
#ifdef SIMT_CHECK
  // One access for the observers, not the loop's several; blocks run one after another there.
  BitsOf<T> none = 0;
  asm("" : "+r"(none));  // clang makes a mere load of it where it sees that no bit changes
  old = std::bit_cast<T>(__atomic_fetch_or(reinterpret_cast<BitsOf<T>*>(address), none, __ATOMIC_RELAXED));
  desired = change(old);
  store_unobserved(address, desired);
#else
  __atomic_load(address, &old, __ATOMIC_RELAXED);
  do {
    desired = change(old);
  } while (!__atomic_compare_exchange(address, &old, &desired, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
#endif
  atomic_yield();
  return old;
}

template <class T>
inline T atomic_add(T* address, T value) {
  if constexpr (std::floating_point<T>) {
    return atomic_update(address, [value](T old) { return old + value; });
  } else {
    const T old = __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
    atomic_yield();
    return old;
  }
}

template <class T>
inline T atomic_subtract(T* address, T value) {
  const T old = __atomic_fetch_sub(address, value, __ATOMIC_RELAXED);
  atomic_yield();
  return old;
}

template <class T>
inline T atomic_exchange(T* address, T value) {
  T old;
  __atomic_exchange(address, &value, &old, __ATOMIC_RELAXED);
  atomic_yield();
  return old;
}

template <class T>
inline T atomic_compare_and_swap(T* address, T expected, T desired) {
  __atomic_compare_exchange(address, &expected, &desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  atomic_yield();
  return expected;  // what stood there, also where it was not as expected
}

template <class T>
inline T atomic_and(T* address, T value) {
  const T old = __atomic_fetch_and(address, value, __ATOMIC_RELAXED);
  atomic_yield();
  return old;
}

template <class T>
inline T atomic_or(T* address, T value) {
  const T old = __atomic_fetch_or(address, value, __ATOMIC_RELAXED);
  atomic_yield();
  return old;
}

template <class T>
inline T atomic_xor(T* address, T value) {
  const T old = __atomic_fetch_xor(address, value, __ATOMIC_RELAXED);
  atomic_yield();
  return old;
}

template <class T>
inline T atomic_min(T* address, T value) {
  return atomic_update(address, [value](T old) { return value < old ? value : old; });
}

template <class T>
inline T atomic_max(T* address, T value) {
  return atomic_update(address, [value](T old) { return old < value ? value : old; });
}

/// Counts up, and from `last` to 0.
inline unsigned atomic_increment(unsigned* address, unsigned last) {
  return atomic_update(address, [last](unsigned old) { return old >= last ? 0 : old + 1; });
}

/// Counts down, and from 0 (or from above `last`) to `last`.
inline unsigned atomic_decrement(unsigned* address, unsigned last) {
  return atomic_update(address, [last](unsigned old) { return old == 0 || old > last ? last : old - 1; });
}

}  // namespace simt

// Plain functions, not templates, so that arguments convert as CUDA's do: atomicAdd(&counter, 1) for an unsigned
// counter.

// --- device scope ---
inline int atomicAdd(int* address, int value) { return simt::atomic_add(address, value); }
inline unsigned atomicAdd(unsigned* address, unsigned value) { return simt::atomic_add(address, value); }
inline unsigned long long atomicAdd(unsigned long long* address, unsigned long long value) {
  return simt::atomic_add(address, value);
}
inline float atomicAdd(float* address, float value) { return simt::atomic_add(address, value); }
inline double atomicAdd(double* address, double value) { return simt::atomic_add(address, value); }
inline int atomicSub(int* address, int value) { return simt::atomic_subtract(address, value); }
inline unsigned atomicSub(unsigned* address, unsigned value) { return simt::atomic_subtract(address, value); }
inline int atomicExch(int* address, int value) { return simt::atomic_exchange(address, value); }
inline unsigned atomicExch(unsigned* address, unsigned value) { return simt::atomic_exchange(address, value); }
inline unsigned long long atomicExch(unsigned long long* address, unsigned long long value) {
  return simt::atomic_exchange(address, value);
}
inline float atomicExch(float* address, float value) { return simt::atomic_exchange(address, value); }
inline int atomicMin(int* address, int value) { return simt::atomic_min(address, value); }
inline unsigned atomicMin(unsigned* address, unsigned value) { return simt::atomic_min(address, value); }
inline long long atomicMin(long long* address, long long value) { return simt::atomic_min(address, value); }
inline unsigned long long atomicMin(unsigned long long* address, unsigned long long value) {
  return simt::atomic_min(address, value);
}
inline int atomicMax(int* address, int value) { return simt::atomic_max(address, value); }
inline unsigned atomicMax(unsigned* address, unsigned value) { return simt::atomic_max(address, value); }
inline long long atomicMax(long long* address, long long value) { return simt::atomic_max(address, value); }
inline unsigned long long atomicMax(unsigned long long* address, unsigned long long value) {
  return simt::atomic_max(address, value);
}
inline int atomicAnd(int* address, int value) { return simt::atomic_and(address, value); }
inline unsigned atomicAnd(unsigned* address, unsigned value) { return simt::atomic_and(address, value); }
inline long long atomicAnd(long long* address, long long value) { return simt::atomic_and(address, value); }
inline unsigned long long atomicAnd(unsigned long long* address, unsigned long long value) {
  return simt::atomic_and(address, value);
}
inline int atomicOr(int* address, int value) { return simt::atomic_or(address, value); }
inline unsigned atomicOr(unsigned* address, unsigned value) { return simt::atomic_or(address, value); }
inline long long atomicOr(long long* address, long long value) { return simt::atomic_or(address, value); }
inline unsigned long long atomicOr(unsigned long long* address, unsigned long long value) {
  return simt::atomic_or(address, value);
}
inline int atomicXor(int* address, int value) { return simt::atomic_xor(address, value); }
inline unsigned atomicXor(unsigned* address, unsigned value) { return simt::atomic_xor(address, value); }
inline long long atomicXor(long long* address, long long value) { return simt::atomic_xor(address, value); }
inline unsigned long long atomicXor(unsigned long long* address, unsigned long long value) {
  return simt::atomic_xor(address, value);
}
inline unsigned atomicInc(unsigned* address, unsigned last) { return simt::atomic_increment(address, last); }
inline unsigned atomicDec(unsigned* address, unsigned last) { return simt::atomic_decrement(address, last); }
inline int atomicCAS(int* address, int expected, int desired) {
  return simt::atomic_compare_and_swap(address, expected, desired);
}
inline unsigned atomicCAS(unsigned* address, unsigned expected, unsigned desired) {
  return simt::atomic_compare_and_swap(address, expected, desired);
}
inline unsigned long long atomicCAS(unsigned long long* address, unsigned long long expected,
                                    unsigned long long desired) {
  return simt::atomic_compare_and_swap(address, expected, desired);
}
inline unsigned short atomicCAS(unsigned short* address, unsigned short expected, unsigned short desired) {
  return simt::atomic_compare_and_swap(address, expected, desired);
}

// --- block scope ---
inline int atomicAdd_block(int* address, int value) { return simt::atomic_add(address, value); }
inline unsigned atomicAdd_block(unsigned* address, unsigned value) { return simt::atomic_add(address, value); }
inline unsigned long long atomicAdd_block(unsigned long long* address, unsigned long long value) {
  return simt::atomic_add(address, value);
}
inline float atomicAdd_block(float* address, float value) { return simt::atomic_add(address, value); }
inline double atomicAdd_block(double* address, double value) { return simt::atomic_add(address, value); }
inline int atomicSub_block(int* address, int value) { return simt::atomic_subtract(address, value); }
inline unsigned atomicSub_block(unsigned* address, unsigned value) { return simt::atomic_subtract(address, value); }
inline int atomicExch_block(int* address, int value) { return simt::atomic_exchange(address, value); }
inline unsigned atomicExch_block(unsigned* address, unsigned value) { return simt::atomic_exchange(address, value); }
inline unsigned long long atomicExch_block(unsigned long long* address, unsigned long long value) {
  return simt::atomic_exchange(address, value);
}
inline float atomicExch_block(float* address, float value) { return simt::atomic_exchange(address, value); }
inline int atomicMin_block(int* address, int value) { return simt::atomic_min(address, value); }
inline unsigned atomicMin_block(unsigned* address, unsigned value) { return simt::atomic_min(address, value); }
inline long long atomicMin_block(long long* address, long long value) { return simt::atomic_min(address, value); }
inline unsigned long long atomicMin_block(unsigned long long* address, unsigned long long value) {
  return simt::atomic_min(address, value);
}
inline int atomicMax_block(int* address, int value) { return simt::atomic_max(address, value); }
inline unsigned atomicMax_block(unsigned* address, unsigned value) { return simt::atomic_max(address, value); }
inline long long atomicMax_block(long long* address, long long value) { return simt::atomic_max(address, value); }
inline unsigned long long atomicMax_block(unsigned long long* address, unsigned long long value) {
  return simt::atomic_max(address, value);
}
inline int atomicAnd_block(int* address, int value) { return simt::atomic_and(address, value); }
inline unsigned atomicAnd_block(unsigned* address, unsigned value) { return simt::atomic_and(address, value); }
inline long long atomicAnd_block(long long* address, long long value) { return simt::atomic_and(address, value); }
inline unsigned long long atomicAnd_block(unsigned long long* address, unsigned long long value) {
  return simt::atomic_and(address, value);
}
inline int atomicOr_block(int* address, int value) { return simt::atomic_or(address, value); }
inline unsigned atomicOr_block(unsigned* address, unsigned value) { return simt::atomic_or(address, value); }
inline long long atomicOr_block(long long* address, long long value) { return simt::atomic_or(address, value); }
inline unsigned long long atomicOr_block(unsigned long long* address, unsigned long long value) {
  return simt::atomic_or(address, value);
}
inline int atomicXor_block(int* address, int value) { return simt::atomic_xor(address, value); }
inline unsigned atomicXor_block(unsigned* address, unsigned value) { return simt::atomic_xor(address, value); }
inline long long atomicXor_block(long long* address, long long value) { return simt::atomic_xor(address, value); }
inline unsigned long long atomicXor_block(unsigned long long* address, unsigned long long value) {
  return simt::atomic_xor(address, value);
}
inline unsigned atomicInc_block(unsigned* address, unsigned last) { return simt::atomic_increment(address, last); }
inline unsigned atomicDec_block(unsigned* address, unsigned last) { return simt::atomic_decrement(address, last); }
inline int atomicCAS_block(int* address, int expected, int desired) {
  return simt::atomic_compare_and_swap(address, expected, desired);
}
inline unsigned atomicCAS_block(unsigned* address, unsigned expected, unsigned desired) {
  return simt::atomic_compare_and_swap(address, expected, desired);
}
inline unsigned long long atomicCAS_block(unsigned long long* address, unsigned long long expected,
                                          unsigned long long desired) {
  return simt::atomic_compare_and_swap(address, expected, desired);
}
inline unsigned short atomicCAS_block(unsigned short* address, unsigned short expected, unsigned short desired) {
  return simt::atomic_compare_and_swap(address, expected, desired);
}

// --- system scope ---
inline int atomicAdd_system(int* address, int value) { return simt::atomic_add(address, value); }
inline unsigned atomicAdd_system(unsigned* address, unsigned value) { return simt::atomic_add(address, value); }
inline unsigned long long atomicAdd_system(unsigned long long* address, unsigned long long value) {
  return simt::atomic_add(address, value);
}
inline float atomicAdd_system(float* address, float value) { return simt::atomic_add(address, value); }
inline double atomicAdd_system(double* address, double value) { return simt::atomic_add(address, value); }
inline int atomicSub_system(int* address, int value) { return simt::atomic_subtract(address, value); }
inline unsigned atomicSub_system(unsigned* address, unsigned value) { return simt::atomic_subtract(address, value); }
inline int atomicExch_system(int* address, int value) { return simt::atomic_exchange(address, value); }
inline unsigned atomicExch_system(unsigned* address, unsigned value) { return simt::atomic_exchange(address, value); }
inline unsigned long long atomicExch_system(unsigned long long* address, unsigned long long value) {
  return simt::atomic_exchange(address, value);
}
inline float atomicExch_system(float* address, float value) { return simt::atomic_exchange(address, value); }
inline int atomicMin_system(int* address, int value) { return simt::atomic_min(address, value); }
inline unsigned atomicMin_system(unsigned* address, unsigned value) { return simt::atomic_min(address, value); }
inline long long atomicMin_system(long long* address, long long value) { return simt::atomic_min(address, value); }
inline unsigned long long atomicMin_system(unsigned long long* address, unsigned long long value) {
  return simt::atomic_min(address, value);
}
inline int atomicMax_system(int* address, int value) { return simt::atomic_max(address, value); }
inline unsigned atomicMax_system(unsigned* address, unsigned value) { return simt::atomic_max(address, value); }
inline long long atomicMax_system(long long* address, long long value) { return simt::atomic_max(address, value); }
inline unsigned long long atomicMax_system(unsigned long long* address, unsigned long long value) {
  return simt::atomic_max(address, value);
}
inline int atomicAnd_system(int* address, int value) { return simt::atomic_and(address, value); }
inline unsigned atomicAnd_system(unsigned* address, unsigned value) { return simt::atomic_and(address, value); }
inline long long atomicAnd_system(long long* address, long long value) { return simt::atomic_and(address, value); }
inline unsigned long long atomicAnd_system(unsigned long long* address, unsigned long long value) {
  return simt::atomic_and(address, value);
}
inline int atomicOr_system(int* address, int value) { return simt::atomic_or(address, value); }
inline unsigned atomicOr_system(unsigned* address, unsigned value) { return simt::atomic_or(address, value); }
inline long long atomicOr_system(long long* address, long long value) { return simt::atomic_or(address, value); }
inline unsigned long long atomicOr_system(unsigned long long* address, unsigned long long value) {
  return simt::atomic_or(address, value);
}
inline int atomicXor_system(int* address, int value) { return simt::atomic_xor(address, value); }
inline unsigned atomicXor_system(unsigned* address, unsigned value) { return simt::atomic_xor(address, value); }
inline long long atomicXor_system(long long* address, long long value) { return simt::atomic_xor(address, value); }
inline unsigned long long atomicXor_system(unsigned long long* address, unsigned long long value) {
  return simt::atomic_xor(address, value);
}
inline unsigned atomicInc_system(unsigned* address, unsigned last) { return simt::atomic_increment(address, last); }
inline unsigned atomicDec_system(unsigned* address, unsigned last) { return simt::atomic_decrement(address, last); }
inline int atomicCAS_system(int* address, int expected, int desired) {
  return simt::atomic_compare_and_swap(address, expected, desired);
}
inline unsigned atomicCAS_system(unsigned* address, unsigned expected, unsigned desired) {
  return simt::atomic_compare_and_swap(address, expected, desired);
}
inline unsigned long long atomicCAS_system(unsigned long long* address, unsigned long long expected,
                                           unsigned long long desired) {
  return simt::atomic_compare_and_swap(address, expected, desired);
}
inline unsigned short atomicCAS_system(unsigned short* address, unsigned short expected, unsigned short desired) {
  return simt::atomic_compare_and_swap(address, expected, desired);
}

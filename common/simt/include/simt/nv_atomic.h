// nvcc's atomic functions for every type, with an order and a scope (CUDA C++ Programming Guide, "Atomic Functions").
// All scopes cost the same here. An order that includes a release is a fence before the access; every load is an
// acquire. All are inline, so that the check build names the line of the call.
#pragma once

#include <type_traits>

#include "simt/atomic.h"
#include "simt/device.h"

enum {
  __NV_ATOMIC_RELAXED,
  __NV_ATOMIC_CONSUME,
  __NV_ATOMIC_ACQUIRE,
  __NV_ATOMIC_RELEASE,
  __NV_ATOMIC_ACQ_REL,
  __NV_ATOMIC_SEQ_CST
};
enum {
  __NV_THREAD_SCOPE_THREAD,
  __NV_THREAD_SCOPE_BLOCK,
  __NV_THREAD_SCOPE_CLUSTER,
  __NV_THREAD_SCOPE_DEVICE,
  __NV_THREAD_SCOPE_SYSTEM
};

inline void __nv_atomic_thread_fence(int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  if (order == __NV_ATOMIC_RELAXED) return;
  if (scope <= __NV_THREAD_SCOPE_BLOCK) {
    __atomic_thread_fence(__ATOMIC_ACQ_REL);
  } else {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
  }
}

namespace simt {

/// What precedes a write of this order.
inline void release(int order, int scope) {
  if (order >= __NV_ATOMIC_RELEASE) __nv_atomic_thread_fence(order, scope);
}

}  // namespace simt

template <class T>
[[gnu::always_inline]] inline void __nv_atomic_load(const T* address, T* value, int, int = __NV_THREAD_SCOPE_SYSTEM) {
  simt::atomic_yield();  // before: the access reads what others have written by then
  __atomic_load(address, value, __ATOMIC_ACQUIRE);
}
template <class T>
[[gnu::always_inline]] inline T __nv_atomic_load_n(const T* address, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  std::remove_cv_t<T> value;
  __nv_atomic_load(const_cast<const std::remove_cv_t<T>*>(address), &value, order, scope);
  return value;
}
template <class T>
[[gnu::always_inline]] inline void __nv_atomic_store(T* address, std::common_type_t<T>* value, int order,
                                                     int scope = __NV_THREAD_SCOPE_SYSTEM) {
  simt::release(order, scope);
  __atomic_store(address, value, __ATOMIC_RELEASE);
}
template <class T>
[[gnu::always_inline]] inline void __nv_atomic_store_n(T* address, std::common_type_t<T> value, int order,
                                                       int scope = __NV_THREAD_SCOPE_SYSTEM) {
  __nv_atomic_store(address, &value, order, scope);
}
template <class T>
[[gnu::always_inline]] inline T __nv_atomic_exchange_n(T* address, std::common_type_t<T> value, int order,
                                                       int scope = __NV_THREAD_SCOPE_SYSTEM) {
  simt::release(order, scope);
  return simt::atomic_exchange(address, value);
}
template <class T>
[[gnu::always_inline]] inline void __nv_atomic_exchange(T* address, std::common_type_t<T>* value,
                                                        std::common_type_t<T>* old, int order,
                                                        int scope = __NV_THREAD_SCOPE_SYSTEM) {
  *old = __nv_atomic_exchange_n(address, *value, order, scope);
}

/// Whether *address was *expected, which becomes the old value otherwise. A weak exchange does not fail for other
/// reasons here.
template <class T>
[[gnu::always_inline]] inline bool __nv_atomic_compare_exchange(T* address, std::common_type_t<T>* expected,
                                                                std::common_type_t<T>* desired, bool, int order, int,
                                                                int scope = __NV_THREAD_SCOPE_SYSTEM) {
  simt::release(order, scope);
  const bool is_equal =
      __atomic_compare_exchange(address, expected, desired, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  simt::atomic_yield();
  return is_equal;
}
template <class T>
[[gnu::always_inline]] inline bool __nv_atomic_compare_exchange_n(T* address, std::common_type_t<T>* expected,
                                                                  std::common_type_t<T> desired, bool is_weak,
                                                                  int order, int failure_order,
                                                                  int scope = __NV_THREAD_SCOPE_SYSTEM) {
  return __nv_atomic_compare_exchange(address, expected, &desired, is_weak, order, failure_order, scope);
}

#define SIMT_NV_ATOMIC(name, operation)                                                                        \
  template <class T>                                                                                           \
  [[gnu::always_inline]] inline T __nv_atomic_fetch_##name(T* address, std::common_type_t<T> value, int order, \
                                                           int scope = __NV_THREAD_SCOPE_SYSTEM) {             \
    simt::release(order, scope);                                                                               \
    return simt::operation(address, value);                                                                    \
  }                                                                                                            \
  template <class T>                                                                                           \
  [[gnu::always_inline]] inline void __nv_atomic_##name(T* address, std::common_type_t<T> value, int order,    \
                                                        int scope = __NV_THREAD_SCOPE_SYSTEM) {                \
    __nv_atomic_fetch_##name(address, value, order, scope);                                                    \
  }
SIMT_NV_ATOMIC(add, atomic_add)
SIMT_NV_ATOMIC(min, atomic_min)
SIMT_NV_ATOMIC(max, atomic_max)
SIMT_NV_ATOMIC(and, atomic_and)
SIMT_NV_ATOMIC(or, atomic_or)
SIMT_NV_ATOMIC(xor, atomic_xor)
#undef SIMT_NV_ATOMIC
template <class T>
[[gnu::always_inline]] inline T __nv_atomic_fetch_sub(T* address, std::common_type_t<T> value, int order,
                                                      int scope = __NV_THREAD_SCOPE_SYSTEM) {
  return __nv_atomic_fetch_add(address, T(-value), order, scope);
}
template <class T>
[[gnu::always_inline]] inline void __nv_atomic_sub(T* address, std::common_type_t<T> value, int order,
                                                   int scope = __NV_THREAD_SCOPE_SYSTEM) {
  __nv_atomic_fetch_sub(address, value, order, scope);
}

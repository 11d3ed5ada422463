// nvcc's atomic functions for every type, with an order and a scope (CUDA C++ Programming Guide, "Atomic Functions"). An
// order that includes a release is a fence before the access, and one that includes an acquire a fence after it, as in
// cuda::atomic. All are inline, so that the check build names the line of the call.
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

namespace simt {

/// Which of the scopes that the check build distinguishes.
constexpr bool is_of_block(int scope) { return scope <= __NV_THREAD_SCOPE_BLOCK; }

}  // namespace simt

inline void __nv_atomic_thread_fence(int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  if (order == __NV_ATOMIC_RELAXED) return;
  if (simt::is_of_block(scope)) {
    __atomic_thread_fence(__ATOMIC_ACQ_REL);
  } else if (order <= __NV_ATOMIC_ACQUIRE) {
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
  } else {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
  }
}

namespace simt {

/// What precedes an access of this order, and what follows it.
inline void release(int order, int scope) {
  if (order >= __NV_ATOMIC_RELEASE) __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, scope);
}
inline void acquire(int order) {
  if (order != __NV_ATOMIC_RELAXED && order != __NV_ATOMIC_RELEASE) __atomic_thread_fence(__ATOMIC_ACQUIRE);
}

}  // namespace simt

#define SIMT_NV      \
  template <class T> \
  [[gnu::always_inline]] inline
SIMT_NV void __nv_atomic_load(const T* address, T* value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  simt::atomic_yield();  // before: the access reads what others have written by then
  if (simt::is_of_block(scope)) {
    __atomic_load(address, value, simt::order::load_block);
  } else {
    __atomic_load(address, value, simt::order::load_device);
  }
  simt::acquire(order);
}
SIMT_NV T __nv_atomic_load_n(const T* address, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  T value;
  __nv_atomic_load(address, &value, order, scope);
  return value;
}
SIMT_NV void __nv_atomic_store(T* address, std::common_type_t<T>* value, int order,
                               int scope = __NV_THREAD_SCOPE_SYSTEM) {
  simt::release(order, scope);
  if (simt::is_of_block(scope)) {
    __atomic_store(address, value, simt::order::store_block);
  } else {
    __atomic_store(address, value, simt::order::store_device);
  }
}
SIMT_NV void __nv_atomic_store_n(T* address, std::common_type_t<T> value, int order,
                                 int scope = __NV_THREAD_SCOPE_SYSTEM) {
  __nv_atomic_store(address, &value, order, scope);
}

/// Whether *address was *expected, which becomes the old value otherwise. A weak exchange does not fail for other
/// reasons here.
SIMT_NV bool __nv_atomic_compare_exchange(T* address, std::common_type_t<T>* expected, std::common_type_t<T>* desired,
                                          bool, int order, int, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  simt::release(order, scope);
  const bool is_equal =
      simt::is_of_block(scope)
          ? __atomic_compare_exchange(address, expected, desired, false, simt::order::atomic_block, __ATOMIC_RELAXED)
          : __atomic_compare_exchange(address, expected, desired, false, simt::order::atomic_device, __ATOMIC_RELAXED);
  simt::atomic_yield();
  simt::acquire(order);
  return is_equal;
}
SIMT_NV bool __nv_atomic_compare_exchange_n(T* address, std::common_type_t<T>* expected, std::common_type_t<T> desired,
                                            bool is_weak, int order, int failure_order,
                                            int scope = __NV_THREAD_SCOPE_SYSTEM) {
  return __nv_atomic_compare_exchange(address, expected, &desired, is_weak, order, failure_order, scope);
}

// Each changes *address and returns its old value.
#define SIMT_NV_CHANGE(name, operation)                                                                   \
  SIMT_NV T __nv_atomic_##name(T* address, std::common_type_t<T> value, int order,                        \
                               int scope = __NV_THREAD_SCOPE_SYSTEM) {                                    \
    simt::release(order, scope);                                                                          \
    const T old = simt::is_of_block(scope) ? simt::operation<simt::order::atomic_block>(address, value)   \
                                           : simt::operation<simt::order::atomic_device>(address, value); \
    simt::acquire(order);                                                                                 \
    return old;                                                                                           \
  }
SIMT_NV_CHANGE(exchange_n, atomic_exchange)
SIMT_NV_CHANGE(fetch_add, atomic_add)
SIMT_NV_CHANGE(fetch_min, atomic_min)
SIMT_NV_CHANGE(fetch_max, atomic_max)
SIMT_NV_CHANGE(fetch_and, atomic_and)
SIMT_NV_CHANGE(fetch_or, atomic_or)
SIMT_NV_CHANGE(fetch_xor, atomic_xor)
#undef SIMT_NV_CHANGE
SIMT_NV T __nv_atomic_fetch_sub(T* address, std::common_type_t<T> value, int order,
                                int scope = __NV_THREAD_SCOPE_SYSTEM) {
  return __nv_atomic_fetch_add(address, T(-value), order, scope);
}
SIMT_NV void __nv_atomic_exchange(T* address, std::common_type_t<T>* value, std::common_type_t<T>* old, int order,
                                  int scope = __NV_THREAD_SCOPE_SYSTEM) {
  *old = __nv_atomic_exchange_n(address, *value, order, scope);
}

// The same without the old value.
#define SIMT_NV_CHANGE(name)                                                          \
  SIMT_NV void __nv_atomic_##name(T* address, std::common_type_t<T> value, int order, \
                                  int scope = __NV_THREAD_SCOPE_SYSTEM) {             \
    __nv_atomic_fetch_##name(address, value, order, scope);                           \
  }
SIMT_NV_CHANGE(add)
SIMT_NV_CHANGE(sub)
SIMT_NV_CHANGE(min)
SIMT_NV_CHANGE(max)
SIMT_NV_CHANGE(and)
SIMT_NV_CHANGE(or)
SIMT_NV_CHANGE(xor)
#undef SIMT_NV_CHANGE
#undef SIMT_NV

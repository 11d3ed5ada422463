// nvcc's atomic functions with an order and a scope.
#include "case.h"

/// A relaxed store does not say that what was written before it is there.
__global__ void relaxed_flag(int* data, int* flag, int* out) {
  if (threadIdx.x == 0) {
    data[0] = 1;  // expect-one: race
    __nv_atomic_store_n(flag, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  } else if (threadIdx.x == 32) {
    while (__nv_atomic_load_n(flag, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE) == 0) {
    }
    out[0] = data[0];  // expect-one: race
  }
}
CASE { relaxed_flag<<<1, 64>>>(device<int>(1), filled<int>(1), device<int>(1)); }

/// One thread adds with an atomic, another without.
__global__ void half_atomic(int* sum) {
  if (threadIdx.x < 32) {
    __nv_atomic_add(sum, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);  // expect-one: race
  } else if (threadIdx.x == 32) {
    *sum += 1;  // expect-one: race
  }
}
CASE { half_atomic<<<1, 64>>>(filled<int>(1)); }

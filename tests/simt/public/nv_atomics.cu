// nvcc's atomic functions, which have an order and a scope.
#include "expect.h"

namespace {

template <class T>
__global__ void update(T* values) {
  __nv_atomic_fetch_add(&values[0], T(1), __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  __nv_atomic_add(&values[1], T(2), __NV_ATOMIC_RELAXED);
  __nv_atomic_fetch_sub(&values[2], T(1), __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM);
  __nv_atomic_fetch_max(&values[3], T(threadIdx.x), __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  __nv_atomic_fetch_min(&values[4], T(threadIdx.x + 5), __NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_DEVICE);
  T old = __nv_atomic_load_n(&values[5], __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  while (!__nv_atomic_compare_exchange_n(&values[5], &old, T(old + 3), false, __NV_ATOMIC_RELAXED, __NV_ATOMIC_RELAXED,
                                         __NV_THREAD_SCOPE_DEVICE)) {
  }
}

__global__ void change_bits(unsigned* values) {
  const unsigned bit = 1u << threadIdx.x % 32;
  __nv_atomic_fetch_or(&values[0], bit, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  __nv_atomic_fetch_and(&values[1], ~bit, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  __nv_atomic_fetch_xor(&values[2], bit, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
}

/// Block 0 hands a value to block 1, which waits only if block 0 has not begun: the number comes from a ticket.
__global__ void hand_over(int* data, int* flag, unsigned* ticket, int* to) {
  __shared__ unsigned number;
  if (threadIdx.x == 0) number = atomicAdd(ticket, 1u);
  __syncthreads();
  if (number == 0) {
    data[threadIdx.x] = int(threadIdx.x) + 1;
    __syncthreads();
    if (threadIdx.x == 0) __nv_atomic_store_n(flag, 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
  } else {
    if (threadIdx.x == 0) {
      while (__nv_atomic_load_n(flag, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE) == 0) {
      }
    }
    __syncthreads();
    to[threadIdx.x] = data[threadIdx.x];
  }
}

__global__ void exchange(int* values, int* old) {
  int value = 9, before = 0;
  __nv_atomic_exchange(&values[0], &value, &before, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_BLOCK);
  old[0] = before;
  old[1] = __nv_atomic_exchange_n(&values[1], 8, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);
  value = 7;
  __nv_atomic_store(&values[2], &value, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);
  __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_DEVICE);
  __nv_atomic_load(&values[2], &old[2], __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);
  int expected = 100;
  old[3] = __nv_atomic_compare_exchange_n(&values[0], &expected, 1, false, __NV_ATOMIC_RELAXED, __NV_ATOMIC_RELAXED,
                                          __NV_THREAD_SCOPE_BLOCK);
  old[4] = expected;
}

template <class T>
void check_updates() {
  Array<T> values(6);
  values.fill([](int) { return 1000; });
  update<<<2, 64>>>(values.data());
  EXPECT((values.values() == std::vector<T>{1128, 1256, 872, 1000, 5, 1384}));
}

}  // namespace

int main() {
  check_updates<int>();
  check_updates<unsigned>();
  check_updates<unsigned long long>();
  Array<unsigned> bits(3), ticket(1);
  bits.fill([](int i) { return i == 1 ? ~0u : 0u; });
  ticket.fill([](int) { return 0; });
  change_bits<<<1, 32>>>(bits.data());
  EXPECT((bits.values() == std::vector<unsigned>{~0u, 0, ~0u}));
  Array<int> data(64), flag(1), to(64), old(5), values(3);
  flag.fill([](int) { return 0; });
  hand_over<<<2, 64>>>(data.data(), flag.data(), ticket.data(), to.data());
  EXPECT(to.values()[0] == 1 && to.values()[63] == 64);
  values.fill([](int i) { return i; });
  exchange<<<1, 1>>>(values.data(), old.data());
  EXPECT((old.values() == std::vector<int>{0, 1, 7, 0, 9}));
  return finish();
}

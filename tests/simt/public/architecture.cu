// Functions for host and device that test __CUDA_ARCH__: each side gets its own version.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "expect.h"

namespace {

__host__ __device__ int side() {
#ifdef __CUDA_ARCH__
  return __CUDA_ARCH__ >= 700 ? 2 : 3;
#else
  return 1;
#endif
}

template <class T>
__host__ __device__ inline void add(T* to, T value) {
#if defined(__CUDA_ARCH__)
  atomicAdd(to, value);
#else
  *to += value;
  if (*to > 1000) throw std::runtime_error("too much");
#endif
}

// A statement that begins in one branch and ends behind both.
__host__ __device__ constexpr int width(int n) {
#ifdef __CUDA_ARCH__
  if (n < 4) {
    n = 32;
#else
  if (n < 2) {
    n = 8;
#endif
  }
  return n;
}

struct Where {
  int made_on;
  __host__ __device__ Where() : made_on(0) {
    for (int i = 0; i < 3; ++i) {
#ifdef __CUDA_ARCH__
      made_on += 1;
#else
      made_on -= 1;
      std::getenv("HOME");  // what only the host may call
#endif
    }
  }
  __host__ __device__ int operator()() const {
#ifndef __CUDA_ARCH__
    return made_on;
#else
    return made_on + 10;
#endif
  }
};

// In constants, too, where only one side uses the function.
__host__ __device__ constexpr int lanes() {
#ifdef __CUDA_ARCH__
  return 32;
#else
  return 1;
#endif
}

__global__ void kernel(int* out) {
  __shared__ int room[lanes()];
  if (threadIdx.x == 0) {
    out[0] = side();
    out[1] = width(3);
    out[2] = Where().made_on;
    out[3] = Where()();
    room[lanes() - 1] = int(sizeof room / sizeof room[0]);
    out[4] = room[lanes() - 1];
  }
  add(&out[5], 1);
}

}  // namespace

int main() {
  Array<int> out(6);
  out.fill([](int) { return 0; });
  kernel<<<1, 32>>>(out.data());
  const std::vector<int> device = out.values();
  EXPECT(device[0] == 2 && device[1] == 32 && device[2] == 3 && device[3] == 13 && device[4] == 32);
  EXPECT(device[5] == 32);
  int sum = 0;
  for (int i = 0; i < 5; ++i) add(&sum, 2);
  const int constant = width(3);
  const Where where;
  EXPECT(side() == 1 && width(1) == 8 && constant == 3 && where.made_on == -3 && where() == -3 && sum == 10);
  return finish();
}

// Kernels that write __constant__ memory, which only the host can do.
#include "case.h"

struct Limits {
  int low, high;
};
struct Filter {
  float taps[4];
  Limits limits;
};

__constant__ int bounds[2] = {1, 2};
static __constant__ Filter filter;
namespace lab {
__constant__ __align__(16) unsigned counts[8];
}
__constant__ struct {
  int rounds;
} plan = {7};

__global__ void set_second(int value) {
  bounds[1] = value + 1;  // expect: constant-write
}
CASE { set_second<<<1, 1>>>(5); }

__global__ void set_member(int high) {
  filter.limits.high = high;  // expect: constant-write
  plan.rounds = high;         // expect: constant-write
}
CASE { set_member<<<1, 1>>>(9); }

__global__ void copy_whole(const Limits* limits) {
  filter.limits = *limits;  // expect: constant-write
}
CASE { copy_whole<<<1, 1>>>(filled<Limits>(1)); }

__global__ void count() {
  atomicAdd(&lab::counts[threadIdx.x % 8], 1u);  // expect: constant-write
}
CASE { count<<<1, 32>>>(); }

/// The function cannot know what memory its pointer leads to.
__device__ void clear(float* taps, int n) {
  for (int i = 0; i < n; ++i) taps[i] = 0;  // expect: constant-write
}
__global__ void clear_taps() { clear(filter.taps, 4); }
CASE { clear_taps<<<1, 1>>>(); }

// Blocks that wait only for blocks that have begun, and reads that are no waits.
#include "../case.h"

/// Look-back by numbers that an atomic draws.
__global__ void look_back(unsigned* next, volatile unsigned* sums, volatile unsigned* flags, unsigned* out) {
  __shared__ unsigned tile, before;
  if (threadIdx.x == 0) {
    tile = atomicAdd(next, 1u);
    before = 0;
    if (tile > 0) {
      while (flags[tile - 1] == 0) {
      }
      __threadfence();
      before = sums[tile - 1];
    }
    sums[tile] = before + tile;
    __threadfence();
    flags[tile] = 1;
  }
  __syncthreads();
  out[tile * 32 + threadIdx.x] = before + threadIdx.x;
}
CASE { look_back<<<9, 32>>>(filled<unsigned>(1), filled<unsigned>(9), filled<unsigned>(9), device<unsigned>(288)); }

/// A lock that is served in the order of its tickets, and a compare-and-swap loop.
__global__ void ticket_lock(unsigned* next, volatile unsigned* serving, unsigned* total, unsigned* most) {
  if (threadIdx.x == 0) {
    const unsigned own = atomicAdd(next, 1u);
    while (*serving != own) __nanosleep(20);
    __threadfence();
    *total += own;
    __threadfence();
    *serving = own + 1;
    unsigned old = atomicAdd(most, 0u), seen;
    do {
      seen = old;
      old = atomicCAS(most, seen, seen > own ? seen : own);
    } while (old != seen);
  }
}
CASE { ticket_lock<<<6, 32>>>(filled<unsigned>(1), filled<unsigned>(1), filled<unsigned>(1), filled<unsigned>(1)); }

/// A search that ends early when another block has found something.
__global__ void search(volatile int* found, const unsigned* keys, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    if (*found != 0) return;
    unsigned hash = keys[i];
    for (int round = 0; round < 10; ++round) hash = hash * 1664525u + 1013904223u;
    if (hash % 7 == 3) *found = i + 1;
  }
}
CASE { search<<<4, 32>>>(filled<int>(1), filled<unsigned>(4000), 4000); }

/// The same without memory in the loop: a limited number of looks.
__global__ void poll(volatile int* done, int* looks, int limit) {
  int i = 0;
  while (*done == 0 && i < limit) ++i;
  looks[blockIdx.x] = i;
  *done = 1;
}
CASE { poll<<<4, 1>>>(filled<int>(1), device<int>(4), 100); }
CASE { poll<<<4, 1>>>(filled<int>(1), device<int>(4), 5000); }

/// Looks until a time has come.
__global__ void poll_for(volatile int* done, int* out, long long ticks) {
  const long long begin = clock64();
  while (*done == 0 && clock64() - begin < ticks) {
  }
  out[blockIdx.x] = 1;
  *done = 1;
}
CASE { poll_for<<<3, 1>>>(filled<int>(1), device<int>(3), 1000000); }

/// Work until none is left: what a block has not taken, another one has begun.
__global__ void drain(unsigned* next, volatile unsigned* left, unsigned* out, unsigned n) {
  while (*left != 0) {
    const unsigned i = atomicAdd(next, 1u);
    if (i >= n) continue;
    out[i] = i;
    __threadfence();
    atomicSub((unsigned*)left, 1u);
  }
}
__global__ void set(unsigned* left, unsigned n) { *left = n; }
CASE {
  unsigned* const left = device<unsigned>(1);
  set<<<1, 1>>>(left, 40);
  drain<<<3, 1>>>(filled<unsigned>(1), left, device<unsigned>(40), 40);
}

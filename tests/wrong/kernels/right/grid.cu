// Cooperative launches: blocks that wait for one another at the barrier of the grid, and in loops.
#include "../case.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), int blocks, std::size_t shared, Arguments... arguments) {
  void* addresses[] = {&arguments...};
  cudaLaunchCooperativeKernel((void*)kernel, blocks, 64, addresses, shared);
}

/// Each round reads what other blocks have written in the one before, and shared memory keeps what it has.
__global__ void rounds(int* a, int* b, int times) {
  __shared__ int mine[64];
  extern __shared__ int before[];
  const unsigned i = blockIdx.x * 64 + threadIdx.x, n = gridDim.x * 64;
  mine[threadIdx.x] = int(i);
  before[threadIdx.x] = a[i];
  for (int t = 0; t < times; ++t) {
    b[i] = a[(i + 64) % n];
    cg::this_grid().sync();
    a[i] = b[i] + mine[63 - threadIdx.x] - before[63 - threadIdx.x];
    cg::this_grid().sync();
  }
}
CASE { launch(rounds, 12, 256, filled<int>(768), device<int>(768), 5); }

/// A sum: of a thread, of a block, then of the grid, by one block.
__global__ void sum(const int* data, int n, int* of_blocks, int* total) {
  __shared__ int of_threads[64];
  const cg::grid_group grid = cg::this_grid();
  int own = 0;
  for (unsigned long long i = grid.thread_rank(); i < unsigned(n); i += grid.size()) own += data[i];
  of_threads[threadIdx.x] = own;
  __syncthreads();
  for (unsigned half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) of_threads[threadIdx.x] += of_threads[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) of_blocks[blockIdx.x] = of_threads[0];
  grid.sync();
  if (grid.thread_rank() == 0) {
    int all = 0;
    for (unsigned long long b = 0; b < grid.num_blocks(); ++b) all += of_blocks[b];
    *total = all;
  }
}
CASE { launch(sum, 20, 0, filled<int>(10000), 10000, device<int>(20), device<int>(1)); }

/// Blocks meet at the barrier in two places.
__global__ void roles(int* data, int* out) {
  const cg::grid_group grid = cg::this_grid();
  if (blockIdx.x == 0) {
    data[threadIdx.x] = int(threadIdx.x);
    grid.sync();
  } else {
    grid.sync();
    out[blockIdx.x * 64 + threadIdx.x] = data[63 - threadIdx.x];
  }
}
CASE { launch(roles, 5, 0, device<int>(64), device<int>(320)); }

/// Barriers made by hand: a counter that only rises, with fences.
__global__ void by_hand(unsigned* arrived, int* a, int* b, int times) {
  const unsigned i = blockIdx.x * 64 + threadIdx.x, n = gridDim.x * 64;
  for (int t = 0; t < 2 * times; ++t) {
    if (t % 2 == 0) {
      b[i] = a[(i + 64) % n];
    } else {
      a[i] = b[i];
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(arrived, 1u);
      while (*static_cast<volatile unsigned*>(arrived) < gridDim.x * unsigned(t + 1)) {
      }
      __threadfence();
    }
    __syncthreads();
  }
}
CASE { launch(by_hand, 8, 0, filled<unsigned>(1), filled<int>(512), device<int>(512), 3); }

/// A lock that blocks take in turn, between barriers of the grid.
__global__ void lock(unsigned* taken, int* value, int* out) {
  if (threadIdx.x == 0) {
    while (atomicCAS(taken, 0u, 1u) != 0) {
    }
    __threadfence();
    *static_cast<volatile int*>(value) = *static_cast<volatile int*>(value) + 1;
    __threadfence();
    atomicExch(taken, 0u);
  }
  cg::this_grid().sync();
  out[blockIdx.x * 64 + threadIdx.x] = *value;
}
CASE { launch(lock, 8, 0, filled<unsigned>(1), filled<int>(1), device<int>(512)); }

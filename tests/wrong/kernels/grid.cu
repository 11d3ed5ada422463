// The barrier of all blocks of a cooperative launch.
#include "case.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), int blocks, Arguments... arguments) {
  void* addresses[] = {&arguments...};
  cudaLaunchCooperativeKernel((void*)kernel, blocks, 64, addresses);
}

/// Without the barrier between them.
__global__ void neighbours(int* in, int* out) {
  const unsigned i = blockIdx.x * 64 + threadIdx.x;
  in[i] = int(i);                            // expect-one: race
  out[i] = in[(i + 64) % (gridDim.x * 64)];  // expect-one: race
}
CASE { launch(neighbours, 4, device<int>(256), device<int>(256)); }

/// __syncthreads() in place of the grid's barrier.
__global__ void only_in_block(int* sums, int* total) {
  if (threadIdx.x == 0) sums[blockIdx.x] = int(blockIdx.x);  // expect-one: race
  __syncthreads();
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    int sum = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) sum += sums[b];  // expect-one: race
    *total = sum;
  }
}
CASE { launch(only_in_block, 4, device<int>(4), device<int>(1)); }

/// The second round writes what others may still read in the first.
__global__ void rounds(int* a, int* b) {
  const unsigned i = blockIdx.x * 64 + threadIdx.x, n = gridDim.x * 64;
  for (int round = 0; round < 2; ++round) {
    b[i] = a[(i + 64) % n];  // expect-one: race
    cg::this_grid().sync();
    a[i] = b[i];  // expect-one: race
  }
}
CASE { launch(rounds, 4, filled<int>(256), device<int>(256)); }

/// A block without work returns before the barrier.
__global__ void short_of_work(int* data, unsigned n) {
  if (blockIdx.x * 64 >= n) return;
  data[blockIdx.x * 64 + threadIdx.x] = 1;
  cg::this_grid().sync();  // expect: divergent-barrier
  data[blockIdx.x * 64 + threadIdx.x] += data[threadIdx.x];
}
CASE { launch(short_of_work, 4, device<int>(192), 192u); }

/// Threads without work do.
__global__ void threads_short_of_work(int* data, unsigned n) {
  const unsigned i = blockIdx.x * 64 + threadIdx.x;
  if (i >= n) return;
  data[i] = 1;
  cg::this_grid().sync();  // expect: divergent-barrier
  if (i == 0) data[0] += data[n - 1];
}
CASE { launch(threads_short_of_work, 4, device<int>(200), 200u); }

/// A block goes round once more than the others.
__global__ void one_round_more(int* data) {
  const unsigned rounds = blockIdx.x == 1 ? 3 : 2;
  for (unsigned round = 0; round < rounds; ++round) {
    data[blockIdx.x * 64 + threadIdx.x] = int(round);
    cg::this_grid().sync();  // expect: divergent-barrier
  }
}
CASE { launch(one_round_more, 4, device<int>(256)); }

/// Half of each block is at the other barrier.
__global__ void two_barriers(int* data) {
  data[blockIdx.x * 64 + threadIdx.x] = 1;
  if (threadIdx.x < 32) {
    cg::this_grid().sync();  // expect: divergent-barrier
  } else {
    __syncthreads();
  }
}
CASE { launch(two_barriers, 2, device<int>(128)); }

/// Launched with <<<>>>.
__global__ void not_cooperative(int* data) {
  data[blockIdx.x * 64 + threadIdx.x] = 1;
  cg::this_grid().sync();  // expect: invalid-launch
}
CASE { not_cooperative<<<2, 64>>>(device<int>(128)); }

/// More blocks than fit on the device.
__global__ void too_many(int* data) {
  data[blockIdx.x * 64 + threadIdx.x] = 1;
  cg::this_grid().sync();
}
CASE {
  int* data = device<int>(64000000);
  void* arguments[] = {&data};
  cudaLaunchCooperativeKernel((void*)too_many, 1000000, 64, arguments);  // expect: invalid-launch
}

/// A barrier made by hand lacks the fence.
__global__ void no_fence(unsigned* arrived, int* sums, int* total) {
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = 1;  // expect-one: race
    atomicAdd(arrived, 1u);
    while (atomicAdd(arrived, 0u) < gridDim.x) {
    }
    total[blockIdx.x] = sums[(blockIdx.x + 1) % gridDim.x];  // expect-one: race
  }
}
CASE { launch(no_fence, 4, filled<unsigned>(1), device<int>(4), device<int>(4)); }

/// After the barrier, shared memory of the block is read that only others have written.
__global__ void not_written(int* out) {
  __shared__ int shared[64];
  if (blockIdx.x != 1) shared[threadIdx.x] = 1;
  cg::this_grid().sync();
  out[blockIdx.x * 64 + threadIdx.x] = shared[threadIdx.x];  // expect: uninitialized
}
CASE { launch(not_written, 3, device<int>(192)); }

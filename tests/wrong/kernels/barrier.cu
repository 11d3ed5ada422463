// Block barriers that not all threads reach, or at which they reach different ones. Exited threads do not count.
#include <cooperative_groups.h>

#include "case.h"

__global__ void two_barriers(int* out) {
  if (threadIdx.x < 32) {
    __syncthreads();  // expect-one: divergent-barrier
  } else {
    __syncthreads();  // expect-one: divergent-barrier
  }
  out[threadIdx.x] = 0;
}
CASE { two_barriers<<<1, 64>>>(device<int>(64)); }

template <int N>
__device__ void wait(int i) {
  if (i % 2 == 0) __syncthreads();  // expect-one: divergent-barrier
}
__global__ void uneven(int* out) {
  for (int i = 0; i < 2; ++i) {
    wait<2>(i + threadIdx.x / 32);
    if ((i + threadIdx.x / 32) % 2 != 0) __syncthreads();  // expect-one: divergent-barrier
  }
  out[threadIdx.x] = 0;
}
CASE { uneven<<<1, 64>>>(device<int>(64)); }

/// Some threads return before a barrier at which the others wait.
__global__ void left_early(int* out, int n) {
  __shared__ int tile[64];
  if (threadIdx.x >= n) return;
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();  // note: early-exit
  out[threadIdx.x] = tile[threadIdx.x];
}
CASE { left_early<<<1, 64>>>(device<int>(64), 40); }

/// Only threads with a key wait.
__global__ void inside_if(const unsigned char* keys, unsigned char* out, int n) {
  __shared__ unsigned char tile[96];
  if (threadIdx.x < n) {
    tile[threadIdx.x] = keys[threadIdx.x];
    __syncthreads();  // note: early-exit
    out[threadIdx.x] = tile[n - 1 - threadIdx.x];
  }
}
CASE { inside_if<<<1, 96>>>(filled<unsigned char>(96), device<unsigned char>(96), 64); }

/// A barrier in a loop that some threads leave before others.
__global__ void trip_count(const int* keys, int* out, int n) {
  __shared__ int tile[64];
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    tile[threadIdx.x] = keys[i];
    __syncthreads();  // note: early-exit
    out[i] = tile[blockDim.x - 1 - threadIdx.x];
    __syncthreads();  // note: early-exit
  }
}
CASE { trip_count<<<1, 64>>>(filled<int>(100), device<int>(100), 100); }

/// The last block, in which threads beyond the end return at once.
template <class T>
__global__ void last_block(const T* in, T* sums, int n) {
  __shared__ T own[128];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  own[threadIdx.x] = in[i];
  for (int d = 1; d < 128; d *= 2) {
    __syncthreads();  // note: early-exit
    const T other = threadIdx.x >= d ? own[threadIdx.x - d] : T(0);
    __syncthreads();  // note: early-exit
    own[threadIdx.x] += other;
  }
  sums[i] = own[threadIdx.x];
}
CASE { last_block<double><<<2, 128>>>(filled<double>(200), device<double>(200), 200); }

/// A binary search with a barrier in each step.
__global__ void search(const int* keys, int n, int* out) {
  int low = 0, high = n - int(threadIdx.x);
  while (low < high) {
    const int middle = (low + high) / 2;
    if (keys[middle] < int(threadIdx.x))
      low = middle + 1;
    else
      high = middle;
    __syncthreads();  // note: early-exit
  }
  out[threadIdx.x] = low;
}
CASE { search<<<1, 64>>>(filled<int>(64), 64, device<int>(64)); }

/// Through a group, in a function.
__device__ void publish(cooperative_groups::thread_block block, int* tile, int value) {
  tile[block.thread_rank()] = value;
  block.sync();  // note: early-exit
}
__global__ void of_group(int* out) {
  __shared__ int tile[64];
  if (threadIdx.x >= 32 && threadIdx.x < 48) return;
  publish(cooperative_groups::this_thread_block(), tile, 1);
  out[threadIdx.x] = tile[threadIdx.x];
}
CASE { of_group<<<1, 64>>>(device<int>(64)); }

/// A barrier with a vote that only one row of the block reaches.
__global__ void votes(const int* keys, int* out) {
  if (threadIdx.y == 0) {
    if (__syncthreads_or(keys[threadIdx.x] != 0)) out[threadIdx.x] = 1;  // note: early-exit
  }
}
CASE { votes<<<1, dim3(32, 4)>>>(filled<int>(32), filled<int>(32)); }

/// Half of the threads wait at a barrier, and the other half for the first half.
__global__ void waits_elsewhere(int* flag) {
  if (threadIdx.x < 32) {
    __syncthreads();  // expect-one: deadlock divergent-barrier time-limit
  } else {
    while (atomicAdd(flag, 0) == 0) {  // expect-one: deadlock divergent-barrier time-limit
    }
  }
  atomicExch(flag, 1);
}
CASE { waits_elsewhere<<<1, 64>>>(filled<int>(1)); }

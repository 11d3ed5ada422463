// Shuffles, votes, __syncwarp between lanes, grid-stride loops, constants, dynamic shared memory.
#include <cooperative_groups.h>
#include <cstdio>

__constant__ int weights[4];
__device__ unsigned total;

__global__ void reduce(const unsigned* keys, int n, unsigned* sums) {
  __shared__ unsigned of_warp[32];
  unsigned sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += keys[i] * weights[i % 4];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < blockDim.x / 32 ? of_warp[threadIdx.x] : 0;
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (threadIdx.x == 0) {
      sums[blockIdx.x] = sum;
      atomicAdd(&total, sum);
    }
  }
}

__global__ void in_warp(int* out) {
  extern __shared__ int work[];
  work[threadIdx.x] = threadIdx.x;
  for (int i = 0; i < 4; ++i) {
    __syncwarp();
    const int other = work[threadIdx.x ^ 1 << i];
    __syncwarp();
    work[threadIdx.x] += other;
  }
  out[threadIdx.x] = work[threadIdx.x];
}

__global__ void groups(int* out) {
  namespace cg = cooperative_groups;
  __shared__ int tile[64];
  cg::thread_block block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  tile[block.thread_rank()] = warp.thread_rank();
  block.sync();
  out[block.thread_rank()] = tile[63 - block.thread_rank()] + warp.shfl(int(threadIdx.x), 0);
}

int main() {
  const int host[4] = {1, 2, 3, 4};
  cudaMemcpyToSymbol(weights, host, sizeof host);
  unsigned *keys, *sums;
  cudaMalloc(&keys, 4000);
  cudaMalloc(&sums, 4000);
  cudaMemset(keys, 1, 4000);
  reduce<<<3, 128>>>(keys, 1000, sums);
  in_warp<<<1, 64, 256>>>(reinterpret_cast<int*>(sums));
  groups<<<1, 64>>>(reinterpret_cast<int*>(sums));
  return cudaDeviceSynchronize() != cudaSuccess;
}

// Blocks that wait for others, on one OS thread that has stacks for four of them.
#include <cstdio>
#include <cstdlib>

namespace {

constexpr int blocks = 6, threads = 512;

/// Each block waits for the one before it, and the first for the fourth, which has to begin. Then no stacks are left.
__global__ void pass_on(volatile int* flags) {
  const int block = int(blockIdx.x);
  if (block == 3) flags[blocks] = 1;
  const volatile int* const awaited = block == 0 ? flags + blocks : flags + block - 1;
  while (*awaited == 0) {
  }
  __syncthreads();  // another thread of this block may still be waiting
  if (threadIdx.x == 0) flags[block] = 1;
}

}  // namespace

int main() {
  setenv("SIMT_THREADS", "1", 1);
  setenv("SIMT_MULTIPROCESSORS", "4", 1);
  int* flags;
  if (cudaMallocManaged(&flags, (blocks + 1) * sizeof(int)) != cudaSuccess) return 2;
  for (int i = 0; i <= blocks; ++i) flags[i] = 0;
  pass_on<<<blocks, threads>>>(flags);
  const cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess || flags[blocks - 1] != 1) std::printf("%s\n", cudaGetErrorName(error));
  return error != cudaSuccess || flags[blocks - 1] != 1;
}

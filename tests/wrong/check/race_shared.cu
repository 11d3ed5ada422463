// Races in shared memory: each line that ends a race is marked.
#include <cstdio>

__device__ void store(int* tile, int at, int value) { tile[at] = value; }

/// The neighbour's key is read before the barrier that should follow its write.
__global__ void missing_barrier(int* out) {
  __shared__ int tile[256];
  tile[threadIdx.x] = threadIdx.x;  // expect-one: race
  out[threadIdx.x] = tile[255 - threadIdx.x];  // expect-one: race
}

/// A Hillis-Steele scan in one buffer: others still read what is written.
template <class T>
__global__ void scan_in_place(T* out) {
  __shared__ T sums[128];
  sums[threadIdx.x] = 1;
  __syncthreads();
  for (int d = 1; d < 128; d *= 2) {
    if (threadIdx.x >= d) sums[threadIdx.x] += sums[threadIdx.x - d];  // expect: race
    __syncthreads();
  }
  out[threadIdx.x] = sums[threadIdx.x];
}

/// Two lanes of a warp without __syncwarp, through a device function and dynamic shared memory.
__global__ void in_a_warp(int* out) {
  extern __shared__ int work[];
  store(work, threadIdx.x, 1);  // (the race's end is in store(), above)
  __syncthreads();
  work[threadIdx.x] = 2;  // expect-one: race
  out[threadIdx.x] = work[threadIdx.x ^ 1];  // expect-one: race
}

int main() {
  int* out;
  cudaMalloc(&out, 256 * sizeof(int));
  missing_barrier<<<1, 256>>>(out);
  scan_in_place<int><<<1, 128>>>(out);
  in_a_warp<<<1, 32, 128>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

// What nothing has written is read.
__global__ void shared_counters(int* out) {
  __shared__ int counts[32];
  atomicAdd(&counts[threadIdx.x], 1);  // expect: uninitialized
  __syncthreads();
  out[threadIdx.x] = counts[threadIdx.x];
}

/// The second block sees what the first one left, on many devices; here too, were it not for the check.
__global__ void shared_tail(int* out, int n) {
  __shared__ int tile[64];
  if (threadIdx.x < n) tile[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];  // expect: uninitialized
}

template <class T>
__global__ void sum(const T* keys, T* out, int n) {
  T total = 0;
  for (int i = 0; i < n; ++i) total += keys[i];  // expect: uninitialized
  *out = total;
}

/// A memset of n bytes where n counters were meant.
__global__ void counters(unsigned* counts) {
  atomicAdd(&counts[threadIdx.x], 1u);  // expect: uninitialized
}

int main() {
  int *keys, *out;
  cudaMalloc(&keys, 1024);
  cudaMalloc(&out, 1024);
  shared_counters<<<1, 32>>>(out);
  shared_tail<<<1, 64>>>(out, 60);
  cudaMemset(keys, 0, 400);
  sum<int><<<1, 1>>>(keys, out, 101);
  cudaFree(keys);
  unsigned* counts;
  for (int i = 0; i < 2; ++i) {
    cudaMallocAsync(&counts, 256 * 4, nullptr);
    cudaMemset(counts, 0, i == 0 ? 256 * 4 : 256);
    counters<<<1, 256>>>(counts);
    cudaFreeAsync(counts, nullptr);
  }
  cudaDeviceSynchronize();
  cudaFree(out);
}

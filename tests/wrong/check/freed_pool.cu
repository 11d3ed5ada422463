template <class T>
__device__ T first(const T* keys) {
  return keys[0];  // expect: use-after-free
}

__global__ void copy(const int* keys, int* out) {
  out[threadIdx.x] = first(keys + threadIdx.x);
}

int main() {
  int *keys, *out;
  cudaMallocAsync(&keys, 1024, nullptr);
  cudaMallocAsync(&out, 4096 * 4, nullptr);
  cudaMemset(keys, 0, 1024);
  cudaFreeAsync(keys, nullptr);
  copy<<<1, 32>>>(keys, out);
  cudaDeviceSynchronize();
}

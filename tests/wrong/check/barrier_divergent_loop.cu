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

int main() {
  int* out;
  cudaMalloc(&out, 1024);
  uneven<<<1, 64>>>(out);
  return cudaDeviceSynchronize() != cudaSuccess;
}

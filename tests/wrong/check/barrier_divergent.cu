__global__ void two_barriers(int* out) {
  if (threadIdx.x < 32) {
    __syncthreads();  // expect-one: divergent-barrier
  } else {
    __syncthreads();  // expect-one: divergent-barrier
  }
  out[threadIdx.x] = 0;
}

int main() {
  int* out;
  cudaMalloc(&out, 1024);
  two_barriers<<<1, 64>>>(out);
  return cudaDeviceSynchronize() != cudaSuccess;
}

// Some threads leave before a barrier that the others wait at; what they should have written is missing.
__global__ void left_early(int* out, int n) {
  __shared__ int tile[64];
  if (threadIdx.x >= n) return;
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();  // expect: divergent-barrier
  out[threadIdx.x] = tile[threadIdx.x];
}

int main() {
  int* out;
  cudaMalloc(&out, 1024);
  left_early<<<1, 64>>>(out, 40);
  return cudaDeviceSynchronize() != cudaSuccess;
}

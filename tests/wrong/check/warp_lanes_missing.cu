__global__ void reduce(int* out) {
  if (threadIdx.x < 16) {
    int v = threadIdx.x;
    v += __shfl_down_sync(0xffffffffu, v, 8);  // expect: deadlock invalid-warp-mask
    out[threadIdx.x] = v;
  }
  __syncthreads();
}

int main() {
  int* out;
  cudaMalloc(&out, 1024);
  reduce<<<1, 32>>>(out);
  return cudaDeviceSynchronize() != cudaSuccess;
}

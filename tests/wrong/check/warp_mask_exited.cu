__global__ void exited(int* out) {
  if (threadIdx.x >= 20) return;
  __syncwarp(0xffffffffu);  // expect: invalid-warp-mask
  out[threadIdx.x] = 1;
}

int main() {
  int* out;
  cudaMalloc(&out, 1024);
  exited<<<1, 32>>>(out);
  return cudaDeviceSynchronize() != cudaSuccess;
}

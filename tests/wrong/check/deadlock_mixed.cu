/// Half a warp waits for the other half, which waits for the block.
__global__ void mixed(int* out) {
  if (threadIdx.x < 16) {
    __syncwarp();  // expect: deadlock
  }
  __syncthreads();
  out[threadIdx.x] = 0;
}

int main() {
  int* out;
  cudaMalloc(&out, 1024);
  mixed<<<1, 32>>>(out);
  return cudaDeviceSynchronize() != cudaSuccess;
}

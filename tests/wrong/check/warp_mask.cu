__global__ void outside(unsigned* out) {
  out[threadIdx.x] = __ballot_sync(0x0000ffffu, 1);  // expect: invalid-warp-mask
}

int main() {
  unsigned* out;
  cudaMalloc(&out, 1024);
  outside<<<1, 32>>>(out);
  return cudaDeviceSynchronize() != cudaSuccess;
}

__global__ void fill(int* keys) {
  keys[threadIdx.x] = 1;  // expect: use-after-free
}

int main() {
  int* keys;
  cudaMalloc(&keys, 1024);
  cudaFree(keys);
  fill<<<1, 32>>>(keys);
  cudaDeviceSynchronize();
}

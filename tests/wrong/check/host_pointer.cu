__global__ void fill(int* keys) {
  keys[threadIdx.x] = 1;  // expect: host-pointer
}

int main() {
  static int* keys = new int[64];
  fill<<<1, 32>>>(keys);
  return cudaDeviceSynchronize() != cudaSuccess;
}

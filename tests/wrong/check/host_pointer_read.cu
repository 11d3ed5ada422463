template <class T>
__global__ void sum(const T* keys, T* out) {
  T total = 0;
  for (int i = 0; i < 4; ++i) total += keys[i];  // expect: host-pointer
  *out = total;
}

int main() {
  int keys[4] = {1, 2, 3, 4}, *out;
  cudaMalloc(&out, 4);
  sum<int><<<1, 1>>>(keys, out);
  return cudaDeviceSynchronize() != cudaSuccess;
}

__global__ void vector_load(const int* keys, longlong2* out) {
  out[threadIdx.x] = {*reinterpret_cast<const long long*>(keys + 1), 0};  // expect: misaligned
}

int main() {
  int* keys;
  longlong2* out;
  cudaMalloc(&keys, 1024);
  cudaMalloc(&out, 1024);
  cudaMemset(keys, 0, 1024);
  vector_load<<<1, 1>>>(keys, out);
  return cudaDeviceSynchronize() != cudaSuccess;
}

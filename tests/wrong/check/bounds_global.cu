// Past the end of device memory, to the byte, and memory that has been freed.
__global__ void merge_past(const int* keys, int* out, int n) {
  int a = 0, b = n / 2;
  for (int i = 0; i < n; ++i) out[i] = keys[a] <= keys[b] ? keys[a++] : keys[b++];  // expect: out-of-bounds
}

__global__ void off_by_one(unsigned char* keys, int n) {
  for (int i = threadIdx.x; i <= n; i += blockDim.x) keys[i] = 0;  // expect: out-of-bounds
}

__global__ void before(int* keys) {
  if (threadIdx.x == 0) keys[-1] = 0;  // expect: out-of-bounds
}

int main() {
  int *keys, *out;
  unsigned char* bytes;
  cudaMalloc(&keys, 10 * sizeof(int));
  cudaMalloc(&out, 10 * sizeof(int));
  cudaMalloc(&bytes, 1001);
  cudaMemset(keys, 1, 5 * sizeof(int));
  cudaMemset(keys + 5, 0, 5 * sizeof(int));
  merge_past<<<1, 1>>>(keys, out, 10);
  off_by_one<<<1, 32>>>(bytes, 1001);
  before<<<1, 32>>>(keys);
  cudaDeviceSynchronize();
}

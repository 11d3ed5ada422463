__global__ void vector_load(const int* keys, int4* out) {
  out[threadIdx.x] = *reinterpret_cast<const int4*>(keys + 1);  // expect: misaligned
}

__global__ void shared_store(long long* out) {
  __shared__ int tile[8];
  if (threadIdx.x < 8) tile[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x == 0) *reinterpret_cast<long long*>(tile + 1) = 1;  // expect: misaligned
  out[threadIdx.x] = 0;
}

int main() {
  int* keys;
  int4* out;
  cudaMalloc(&keys, 1024);
  cudaMalloc(&out, 1024);
  cudaMemset(keys, 0, 1024);
  vector_load<<<1, 1>>>(keys, out);
  shared_store<<<1, 32>>>(reinterpret_cast<long long*>(out));
  return cudaDeviceSynchronize() != cudaSuccess;
}

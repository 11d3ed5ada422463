template <class T>
__device__ void store(int* tile, int at) {
  *reinterpret_cast<T*>(tile + at) = 1;  // expect: misaligned
}

__global__ void shared_store(int* out, int at) {
  __shared__ int tile[8];
  if (threadIdx.x < 8) tile[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x == 0) store<long long>(tile, at);
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x % 8];
}

int main() {
  int* out;
  cudaMalloc(&out, 1024);
  shared_store<<<1, 32>>>(out, 3);
  return cudaDeviceSynchronize() != cudaSuccess;
}

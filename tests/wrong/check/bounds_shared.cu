// Past the end of __shared__ arrays, also where the next array lies there.
__device__ int load(const int* tile, int at) {
  return tile[at];  // expect: out-of-bounds
}

__global__ void next_array(int* out) {
  __shared__ int first[64];
  __shared__ int second[64];
  first[threadIdx.x] = 1;
  second[threadIdx.x] = 2;
  __syncthreads();
  first[threadIdx.x + 1] = 3;  // expect: out-of-bounds
  __syncthreads();
  out[threadIdx.x] = first[threadIdx.x] + second[threadIdx.x];
}

__global__ void dynamic(int* out, int n) {
  extern __shared__ int work[];
  for (int i = threadIdx.x; i <= n; i += blockDim.x) work[i] = i;  // expect: out-of-bounds
  __syncthreads();
  out[threadIdx.x] = work[threadIdx.x];
}

/// 255 counters, and a key that is 255.
__global__ void short_histogram(const unsigned char* keys) {
  __shared__ unsigned counts[255];
  if (threadIdx.x < 255) counts[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&counts[keys[threadIdx.x]], 1u);  // expect: out-of-bounds
}

__global__ void through_function(int* out) {
  __shared__ int tile[64];
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = load(tile, threadIdx.x + 4);
}

int main() {
  int* out;
  unsigned char* keys;
  cudaMalloc(&out, 4096);
  cudaMalloc(&keys, 256);
  cudaMemset(keys, 255, 256);
  next_array<<<1, 64>>>(out);
  dynamic<<<1, 32, 32 * sizeof(int)>>>(out, 32);
  short_histogram<<<1, 256>>>(keys);
  through_function<<<1, 64>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
  cudaFree(keys);
}

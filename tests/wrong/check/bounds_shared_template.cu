/// Shared memory indexed as the whole array is: wrong from block 1 on.
template <class T>
__global__ void global_index(T* out) {
  __shared__ T tile[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[i] = T(i);  // expect: out-of-bounds
  out[i] = T(i);
}

int main() {
  int* out;
  cudaMalloc(&out, 4096);
  global_index<int><<<3, 64>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

// Races in global memory, within a block and between blocks.
__global__ void count(int* counter, const unsigned char* keys) {
  counter[keys[threadIdx.x]] += 1;  // expect: race
}

__global__ void between_blocks(int* data) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int n = gridDim.x * blockDim.x;
  const int next = data[(i + 1) % n];  // expect-one: race
  data[i] = next;                      // expect-one: race
}

template <int Rounds>
__global__ void last_wins(int* data) {
  for (int i = 0; i < Rounds; ++i) data[i] = blockIdx.x;  // expect: race
}

/// A flag without a fence does not publish what was written before it.
__global__ void unfenced_flag(int* data, unsigned* ticket) {
  if (blockIdx.x == 0) {
    data[0] = 7;
    atomicExch(ticket, 1u);
  } else {
    while (atomicAdd(ticket, 0u) == 0) {}
    data[1] = data[0];  // expect: race
  }
}

int main() {
  int* data;
  unsigned char* keys;
  cudaMalloc(&data, 4096);
  cudaMalloc(&keys, 256);
  cudaMemset(data, 0, 4096);
  cudaMemset(keys, 3, 256);
  count<<<1, 64>>>(data, keys);
  between_blocks<<<4, 64>>>(data);
  last_wins<3><<<2, 1>>>(data);
  cudaMemset(data, 0, 4096);
  unfenced_flag<<<2, 1>>>(data, reinterpret_cast<unsigned*>(data + 100));
  cudaDeviceSynchronize();
  cudaFree(data);
  cudaFree(keys);
}

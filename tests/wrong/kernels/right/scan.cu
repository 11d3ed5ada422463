// A double-buffered scan, a histogram by atomics, vector loads, and decoupled look-back over many blocks.
__global__ void histogram(const uchar4* keys, int n, unsigned* counts) {
  __shared__ unsigned own[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) own[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const uchar4 four = keys[i];
    atomicAdd(&own[four.x], 1u);
    atomicAdd(&own[four.y], 1u);
    atomicAdd(&own[four.z], 1u);
    atomicAdd(&own[four.w], 1u);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&counts[i], own[i]);
}

__global__ void scan(unsigned* counts) {
  __shared__ unsigned sums[2][256];
  int now = 0;
  sums[0][threadIdx.x] = counts[threadIdx.x];
  __syncthreads();
  for (int d = 1; d < 256; d *= 2) {
    sums[1 - now][threadIdx.x] = sums[now][threadIdx.x] + (threadIdx.x >= d ? sums[now][threadIdx.x - d] : 0);
    now = 1 - now;
    __syncthreads();
  }
  counts[threadIdx.x] = sums[now][threadIdx.x];
}

/// Flags: 1, the block's own sum is known; 2, the sum of all up to it.
__global__ void look_back(unsigned* data, unsigned* sums, unsigned* prefixes, volatile unsigned* flags,
                          unsigned* next) {
  __shared__ unsigned tile, before;
  if (threadIdx.x == 0) {
    tile = atomicAdd(next, 1u);
    before = 0;
  }
  __syncthreads();
  const unsigned b = tile;
  unsigned value = data[b * 32 + threadIdx.x], sum = value;
  for (int d = 1; d < 32; d *= 2) {
    const unsigned other = __shfl_up_sync(0xffffffffu, sum, d);
    if (threadIdx.x >= d) sum += other;
  }
  if (threadIdx.x == 31) {
    sums[b] = sum;
    __threadfence();
    flags[b] = 1;
    unsigned total = 0;
    for (int p = int(b) - 1; p >= 0; --p) {
      unsigned flag;
      while ((flag = flags[p]) == 0) {
      }
      __threadfence();
      if (flag == 2) {
        total += prefixes[p];
        break;
      }
      total += sums[p];
    }
    before = total;
    prefixes[b] = total + sum;
    __threadfence();
    flags[b] = 2;
  }
  __syncthreads();
  data[b * 32 + threadIdx.x] = before + sum;
}

/// The last block to finish adds up what all blocks have written.
__global__ void last_block(const unsigned* data, unsigned* parts, unsigned* done, unsigned* out) {
  if (threadIdx.x != 0) return;
  parts[blockIdx.x] = data[blockIdx.x];
  __threadfence();
  if (atomicInc(done, gridDim.x - 1) == gridDim.x - 1) {
    unsigned total = 0;
    __threadfence();
    for (unsigned i = 0; i < gridDim.x; ++i) total += parts[i];
    *out = total;
  }
}

int main() {
  unsigned* memory;
  cudaMalloc(&memory, 65536);
  cudaMemset(memory, 0, 65536);
  histogram<<<4, 64>>>(reinterpret_cast<const uchar4*>(memory + 8192), 1000, memory);
  scan<<<1, 256>>>(memory);
  look_back<<<20, 32>>>(memory, memory + 1024, memory + 2048, memory + 3072, memory + 4096);
  last_block<<<8, 32>>>(memory, memory + 5000, memory + 5100, memory + 5200);
  return cudaDeviceSynchronize() != cudaSuccess;
}

// Communication between blocks: look-back, work of the last block, locks, a work counter, and atomics of the grid. All
// with the fences that they need.
#include "../case.h"

/// A tile's status and sum in one word of eight bytes: nothing else is published, so no fence is needed.
__global__ void packed_look_back(const unsigned* data, unsigned long long* states, unsigned* tickets, unsigned* out) {
  __shared__ unsigned tile, before;
  if (threadIdx.x == 0) tile = atomicAdd(tickets, 1u);
  __syncthreads();
  const unsigned b = tile;
  unsigned sum = data[b * 32 + threadIdx.x];
  for (int d = 1; d < 32; d *= 2) {
    const unsigned other = __shfl_up_sync(0xffffffffu, sum, d);
    if (threadIdx.x >= d) sum += other;
  }
  if (threadIdx.x == 31) {
    volatile unsigned long long* const states_now = states;
    states_now[b] = 1ull << 32 | sum;
    unsigned total = 0;
    for (int p = int(b) - 1; p >= 0; --p) {
      unsigned long long state;
      while ((state = states_now[p]) == 0) {
      }
      total += unsigned(state);
      if (state >> 32 == 2) break;
    }
    states_now[b] = 2ull << 32 | (total + sum);
    before = total;
  }
  __syncthreads();
  out[b * 32 + threadIdx.x] = before + sum;
}
CASE {
  packed_look_back<<<20, 32>>>(filled<unsigned>(640), filled<unsigned long long>(20), filled<unsigned>(1),
                               device<unsigned>(640));
}

/// Look-back of all digits at once: one thread, one flag and one fence per digit.
__global__ void digits_look_back(unsigned* next, unsigned* sums, unsigned* flags, unsigned* out) {
  __shared__ unsigned drawn;
  if (threadIdx.x == 0) drawn = atomicAdd(next, 1u);
  __syncthreads();
  const unsigned b = drawn, d = threadIdx.x;
  sums[b * 64 + d] = d;
  __threadfence();
  atomicExch(&flags[b * 64 + d], 1u);
  unsigned before = 0;
  for (int p = int(b) - 1; p >= 0; --p) {
    while (atomicAdd(&flags[p * 64 + d], 0u) == 0) {
    }
    before += sums[p * 64 + d];
  }
  out[b * 64 + d] = before;
}
CASE {
  digits_look_back<<<6, 64>>>(filled<unsigned>(1), device<unsigned>(384), filled<unsigned>(384), device<unsigned>(384));
}

/// All threads write and fence; after a barrier, one thread counts the block. The last block reads all results.
template <class T>
__global__ void last_block(T* parts, unsigned* done, T* out) {
  __shared__ bool last;
  parts[blockIdx.x * blockDim.x + threadIdx.x] = T(1);
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  T total = 0;
  for (unsigned i = threadIdx.x; i < gridDim.x * blockDim.x; i += blockDim.x) total += parts[i];
  out[threadIdx.x] = total;
}
CASE { last_block<short><<<5, 64>>>(device<short>(320), filled<unsigned>(1), device<short>(64)); }

/// One thread fences for the block, after a barrier.
__global__ void leader_fences(float* parts, unsigned* done, float* out) {
  __shared__ unsigned rank;
  parts[blockIdx.x * blockDim.x + threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    rank = atomicAdd(done, 1u);
    __threadfence();
  }
  __syncthreads();
  if (rank + 1 != gridDim.x) return;
  float total = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) total += parts[b * blockDim.x + threadIdx.x];
  out[threadIdx.x] = total;
}
CASE { leader_fences<<<5, 96>>>(device<float>(480), filled<unsigned>(1), device<float>(96)); }

/// A lock with its fences.
__global__ void locked(int* lock, int* value) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  *value += 1;
  __threadfence();
  atomicExch(lock, 0);
}
CASE { locked<<<6, 32>>>(filled<int>(1), filled<int>(1)); }

/// The same within a block, around a shared array.
__global__ void locked_in_block(int* lock, int* values) {
  __shared__ int own[128];
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (threadIdx.x % 16 == 0) {
    for (bool done = false; !done;) {
      if (atomicCAS(lock, 0, 1) != 0) continue;
      __threadfence();
      own[count++] = threadIdx.x;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
  __syncthreads();
  if (threadIdx.x < count) values[blockIdx.x * 8 + threadIdx.x] = own[threadIdx.x];
}
CASE { locked_in_block<<<3, 128>>>(filled<int>(1), device<int>(24)); }

/// One warp fills a buffer, another warp empties it. Two flags in shared memory show whose turn it is.
__global__ void two_warps(const int* in, int* out, int rounds) {
  __shared__ int buffer[2][32];
  __shared__ volatile int full[2], used[2];
  if (threadIdx.x < 2) full[threadIdx.x] = 0, used[threadIdx.x] = 0;
  __syncthreads();
  const int lane = threadIdx.x % 32;
  for (int r = 0; r < rounds; ++r) {
    const int b = r % 2;
    if (threadIdx.x < 32) {
      if (lane == 0)
        while (used[b] != r / 2) {
        }
      __syncwarp();
      buffer[b][lane] = in[r * 32 + lane];
      __syncwarp();
      if (lane == 0) {
        __threadfence_block();
        full[b] = r / 2 + 1;
      }
    } else {
      while (full[b] != r / 2 + 1) {
      }
      __threadfence_block();
      out[r * 32 + lane] = buffer[b][31 - lane];
      __threadfence_block();
      __syncwarp();
      if (lane == 0) used[b] = r / 2 + 1;
    }
  }
}
CASE { two_warps<<<1, 64>>>(filled<int>(320), device<int>(320), 10); }

/// Any number of blocks, and a counter that hands out the work.
__global__ void persistent(unsigned char* keys, int n, unsigned* next) {
  __shared__ unsigned first;
  for (;;) {
    if (threadIdx.x == 0) first = atomicAdd(next, blockDim.x);
    __syncthreads();
    const unsigned now = first;
    __syncthreads();
    if (now >= n) break;
    if (now + threadIdx.x < n) keys[now + threadIdx.x] += 1;
  }
}
CASE { persistent<<<4, 64>>>(filled<unsigned char>(1001), 1001, filled<unsigned>(1)); }

/// Neighbouring bytes belong to different blocks, and neighbouring halves of words to different lanes.
__global__ void narrow(unsigned char* bytes, unsigned short* halves) {
  const int i = blockIdx.x + threadIdx.x * gridDim.x;
  bytes[i] = i;
  halves[blockIdx.x * blockDim.x + threadIdx.x] = bytes[i];
  bytes[i] += 1;
}
CASE { narrow<<<4, 33>>>(device<unsigned char>(132), device<unsigned short>(132)); }

/// Zeroed by one launch, counted by the next, read by a third.
__global__ void zero(unsigned* counts) { counts[threadIdx.x] = 0; }
__global__ void count(const unsigned char* keys, unsigned* counts, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&counts[keys[i]], 1u);
}
__global__ void largest(const unsigned* counts, unsigned* most) { atomicMax(most, counts[threadIdx.x]); }
CASE {
  auto* counts = device<unsigned>(256);
  zero<<<1, 256>>>(counts);
  count<<<4, 64>>>(filled<unsigned char>(1000), counts, 1000);
  largest<<<1, 256>>>(counts, filled<unsigned>(1));
}

/// Kernels may access pinned memory and managed memory.
__global__ void sum(const int* keys, int* out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(out, keys[i]);
}
CASE {
  int *pinned, *out;
  cudaMallocHost(&pinned, 400);
  cudaMallocManaged(&out, 4);
  for (int i = 0; i < 100; ++i) pinned[i] = i;
  *out = 0;
  sum<<<1, 32>>>(pinned, out, 100);
  cudaDeviceSynchronize();
  cudaFreeHost(pinned);
}

/// Memory allocated in a stream, freed and allocated again.
CASE {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  for (int i = 0; i < 3; ++i) {
    unsigned* counts;
    cudaMallocAsync(&counts, 1024, stream);
    cudaMemsetAsync(counts, 0, 1024, stream);
    count<<<2, 64, 0, stream>>>(filled<unsigned char>(100), counts, 100);
    cudaFreeAsync(counts, stream);
  }
  cudaStreamSynchronize(stream);
}

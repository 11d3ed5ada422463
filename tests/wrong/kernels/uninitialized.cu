// Reads of memory that nothing has written.
#include <cstring>

#include "case.h"

__global__ void shared_counters(int* out) {
  __shared__ int counts[32];
  atomicAdd(&counts[threadIdx.x], 1);  // expect: uninitialized
  __syncthreads();
  out[threadIdx.x] = counts[threadIdx.x];
}
CASE { shared_counters<<<1, 32>>>(device<int>(32)); }

/// On many devices the second block sees what the first block has left in shared memory.
__global__ void shared_tail(int* out, int n) {
  __shared__ int tile[64];
  if (threadIdx.x < n) tile[threadIdx.x] = 1;
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = tile[threadIdx.x];  // expect: uninitialized
}
CASE { shared_tail<<<3, 64>>>(device<int>(192), 60); }

/// Only the first block zeroes its counters.
__global__ void first_block_only(unsigned* out) {
  __shared__ unsigned counter;
  if (blockIdx.x == 0 && threadIdx.x == 0) counter = 0;
  __syncthreads();
  atomicAdd(&counter, 1u);  // expect: uninitialized
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = counter;
}
CASE { first_block_only<<<2, 32>>>(device<unsigned>(2)); }

/// Fewer threads than counters.
__global__ void few_threads(const unsigned char* keys, unsigned* out) {
  __shared__ unsigned counts[256];
  counts[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&counts[keys[threadIdx.x]], 1u);  // expect: uninitialized
  __syncthreads();
  out[threadIdx.x] = counts[threadIdx.x];
}
CASE { few_threads<<<1, 128>>>(filled<unsigned char>(128, 200), device<unsigned>(128)); }

/// Dynamic shared memory, the second of two arrays.
template <class T>
__global__ void second_array(T* out) {
  extern __shared__ unsigned char memory[];
  T* first = reinterpret_cast<T*>(memory);
  T* second = first + blockDim.x;
  first[threadIdx.x] = T(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = first[threadIdx.x] + second[threadIdx.x];  // expect: uninitialized
}
CASE { second_array<long long><<<1, 32, 64 * sizeof(long long)>>>(device<long long>(32)); }

template <class T>
__global__ void sum(const T* keys, T* out, int n) {
  T total = 0;
  for (int i = 0; i < n; ++i) total += keys[i];  // expect: uninitialized
  *out = total;
}
CASE {
  int* keys = device<int>(256);
  cudaMemset(keys, 0, 400);
  sum<int><<<1, 1>>>(keys, device<int>(1), 101);
}

/// A memset of n bytes where n counters were meant.
__global__ void counters(unsigned* counts) {
  atomicAdd(&counts[threadIdx.x], 1u);  // expect: uninitialized
}
CASE {
  unsigned* counts;
  for (int i = 0; i < 2; ++i) {  // the second time in memory that was zeroed before
    cudaMallocAsync(&counts, 256 * sizeof *counts, nullptr);
    cudaMemset(counts, 0, i == 0 ? 256 * sizeof *counts : 256);
    counters<<<1, 256>>>(counts);
    cudaFreeAsync(counts, nullptr);
  }
}

/// A memset of one byte for a counter of eight.
__global__ void count(unsigned long long* counter) {
  atomicAdd(counter, 1ull);  // expect: uninitialized
}
CASE {
  auto* counter = device<unsigned long long>(1);
  cudaMemset(counter, 0, 1);
  count<<<1, 32>>>(counter);
}

/// One byte of a word is written, and all four are read.
__global__ void words(const unsigned char* bytes, unsigned* out) {
  out[threadIdx.x] = reinterpret_cast<const unsigned*>(bytes)[threadIdx.x];  // expect: uninitialized
}
__global__ void every_fourth(unsigned char* bytes) { bytes[threadIdx.x * 4] = 1; }
CASE {
  auto* bytes = device<unsigned char>(128);
  every_fourth<<<1, 32>>>(bytes);
  words<<<1, 32>>>(bytes, device<unsigned>(32));
}

/// A buffer that the other pass has not filled yet.
__device__ uint2 larger(const uint2* pairs, int a, int b) {
  const uint2 first = pairs[a], second = pairs[b];  // expect: uninitialized
  return first.x < second.x ? second : first;
}
__global__ void wrong_buffer(const uint2* pairs, uint2* out) {
  out[threadIdx.x] = larger(pairs, threadIdx.x, threadIdx.x ^ 1);
}
CASE { wrong_buffer<<<1, 32>>>(device<uint2>(32), device<uint2>(32)); }

/// Vector loads: the last three of four have not been written.
__global__ void vectors(const uint4* in, unsigned* out) {
  const uint4 four = in[threadIdx.x];  // expect: uninitialized
  out[threadIdx.x] = four.x + four.y + four.z + four.w;
}
CASE {
  auto* words = device<unsigned>(128);
  cudaMemset(words, 0, 125 * sizeof(unsigned));
  vectors<<<1, 32>>>(reinterpret_cast<uint4*>(words), device<unsigned>(32));
}

/// A tile whose edge no thread loads.
__global__ void halo(const float* in, float* out) {
  __shared__ float tile[18][18];
  const auto at = [&](int y, int x) { return tile[y][x]; };  // expect: uninitialized
  tile[threadIdx.y + 1][threadIdx.x + 1] = in[threadIdx.y * 16 + threadIdx.x];
  __syncthreads();
  out[threadIdx.y * 16 + threadIdx.x] = at(threadIdx.y, threadIdx.x + 1);
}
CASE { halo<<<1, dim3(16, 16)>>>(filled<float>(256), device<float>(256)); }

/// A list whose head nothing has set: the old head is the first element's successor.
__global__ void push(int* head, int* next) {
  const int i = int(threadIdx.x);
  next[i] = atomicExch(head, i);  // expect: uninitialized
}
CASE { push<<<1, 32>>>(device<int>(1), device<int>(32)); }

/// The sums of 32 warps are added up, although there are fewer warps.
__global__ void block_sum(int* out) {
  __shared__ int sums[32];
  const int sum = __reduce_add_sync(0xffffffffu, 1);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    const int all = __reduce_add_sync(0xffffffffu, sums[threadIdx.x]);  // expect: uninitialized
    if (threadIdx.x == 0) *out = all;
  }
}
CASE { block_sum<<<1, 128>>>(device<int>(1)); }

/// clang++ 14 does not instrument what a function reads of its own arrays.
__attribute__((noinline)) void print(const int* values) { std::printf("%d\n", values[0]); }

/// The host copies more than a kernel has written.
__global__ void odds(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[2 * i + 1] = i;
}
CASE {
  int *out = device<int>(100), host[100];
  odds<<<1, 64>>>(out, 50);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);  // expect: uninitialized
  print(host);
}
CASE {
  short *out = device<short>(100), host[100];
  cudaMemset(out, 0, 98 * sizeof *out);
  cudaMemcpyAsync(host, out, sizeof host, cudaMemcpyDeviceToHost, nullptr);  // expect: uninitialized
  cudaDeviceSynchronize();
  std::vector<short> result(100);
  std::memcpy(result.data(), host, sizeof host);
  std::printf("%d\n", result[7]);
}
CASE {
  int* out = device<int>(100);
  std::vector<int> host(100), expected(100);
  odds<<<1, 64>>>(out, 20);
  cudaMemcpy(host.data(), out, 100 * sizeof(int), cudaMemcpyDeviceToHost);  // expect: uninitialized
  if (std::memcmp(host.data(), expected.data(), 100 * sizeof(int)) == 0) std::puts("as expected");
}

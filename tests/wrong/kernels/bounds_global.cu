// Accesses past the end of device memory, exact to the byte, and before its start.
#include "case.h"

/// Merges two runs without comparing with their ends: reads past a run that is exhausted.
__global__ void merge_past(const int* keys, int* out, int n) {
  int a = 0, b = n / 2;
  for (int i = 0; i < n; ++i) out[i] = keys[a] <= keys[b] ? keys[a++] : keys[b++];  // expect: out-of-bounds
}
CASE {
  int* keys = filled<int>(10, 1);
  cudaMemset(keys + 5, 0, 5 * sizeof(int));
  merge_past<<<1, 1>>>(keys, device<int>(10), 10);
}

/// The condition compares with both ends, but only after it has read.
template <class T>
__device__ void merge_runs(const T* a, int na, const T* b, int nb, T* out) {
  int i = 0, j = 0;
  while (i < na || j < nb) {
    const bool first = a[i] <= b[j] && i < na;  // expect: out-of-bounds
    *out++ = first ? a[i++] : b[j++];
  }
}
__global__ void merge_both(const short* keys, int n, short* out) { merge_runs(keys + n / 2, n / 2, keys, n / 2, out); }
CASE { merge_both<<<1, 1>>>(filled<short>(600), 600, device<short>(600)); }

__global__ void off_by_one(unsigned char* keys, int n) {
  for (int i = threadIdx.x; i <= n; i += blockDim.x) keys[i] = 0;  // expect: out-of-bounds
}
CASE { off_by_one<<<1, 32>>>(device<unsigned char>(1001), 1001); }

__global__ void before(int* keys) {
  if (threadIdx.x == 0) keys[-1] = 0;  // expect: out-of-bounds
}
CASE { before<<<1, 32>>>(device<int>(10)); }

/// The last block has fewer keys than threads.
__global__ void partial_block(const int* keys, int* out, int n) {
  __shared__ int tile[128];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = keys[i];  // expect: out-of-bounds
  __syncthreads();
  if (i < n) out[i] = tile[threadIdx.x];
}
CASE { partial_block<<<3, 128>>>(filled<int>(300), device<int>(300), 300); }

/// A bitonic sort for powers of two, called with another length.
template <class T>
__global__ void bitonic_step(T* keys, int size, int stride) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, j = i ^ stride;
  if (j > i) {
    const T a = keys[i], b = keys[j];                            // expect-one: out-of-bounds
    if ((a > b) == ((i & size) == 0)) keys[i] = b, keys[j] = a;  // expect-one: out-of-bounds
  }
}
CASE {
  long long* keys = filled<long long>(200);
  for (int size = 2; size <= 256; size *= 2) {
    for (int stride = size / 2; stride > 0; stride /= 2) bitonic_step<<<2, 128>>>(keys, size, stride);
  }
}

/// A bitonic sort of a tile whose loop stops short of the whole length. The last merge assumes a power of two.
__global__ void bitonic_tile(unsigned* keys, int n) {
  __shared__ unsigned tile[256];
  const int i = threadIdx.x;
  const auto step = [&](int size, int stride) {
    const int j = i ^ stride;
    if (j > i && j < 256 && i < n && (tile[i] > tile[j]) == ((i & size) == 0)) {  // expect: uninitialized
      const unsigned kept = tile[i];
      tile[i] = tile[j];
      tile[j] = kept;
    }
    __syncthreads();
  };
  if (i < n) tile[i] = keys[i];
  __syncthreads();
  for (int size = 2; size < n; size *= 2) {
    for (int stride = size / 2; stride > 0; stride /= 2) step(size, stride);
  }
  for (int stride = n / 2; stride > 0; stride /= 2) step(n, stride);
  if (i < n) keys[i] = tile[i];
}
CASE { bitonic_tile<<<1, 256>>>(filled<unsigned>(150), 150); }

/// A grid in two dimensions whose indices are exchanged.
__global__ void matrix(float* a, int rows, int columns) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < columns && y < rows) a[x * columns + y] = 1;  // expect: out-of-bounds
}
CASE { matrix<<<dim3(4, 1), dim3(16, 16)>>>(device<float>(16 * 64), 16, 64); }

/// Vector loads of a length that is not a multiple of four.
__global__ void vectors(const int4* in, int* sum, int n) {
  int own = 0;
  for (int i = threadIdx.x; i < (n + 3) / 4; i += blockDim.x) {
    const int4 four = in[i];  // expect: out-of-bounds
    own += four.x + four.y + four.z + four.w;
  }
  atomicAdd(sum, own);
}
CASE { vectors<<<1, 32>>>(reinterpret_cast<int4*>(filled<int>(126)), filled<int>(1), 126); }

/// A digit that is not masked.
__global__ void digits(const unsigned* keys, unsigned* counts, int shift) {
  atomicAdd(&counts[keys[threadIdx.x] >> shift], 1u);  // expect: out-of-bounds
}
CASE { digits<<<1, 64>>>(filled<unsigned>(64, 2), filled<unsigned>(256), 16); }

/// The position of a negative key.
struct Position {
  const signed char* keys;
  __device__ int operator()(int i) const { return keys[i] * 16; }
};
template <class Where>
__global__ void spread(int* out, Where where) {
  out[where(threadIdx.x)] = 1;  // expect: out-of-bounds
}
CASE { spread<<<1, 1>>>(device<int>(64), Position{filled<signed char>(1, 0xf0)}); }

/// Runs of eight keys each, copied as structures from a length that ends within one.
struct Run {
  long long keys[8];
};
__global__ void copy_runs(const Run* in, Run* out) {
  out[threadIdx.x] = in[threadIdx.x];  // expect: out-of-bounds
}
CASE { copy_runs<<<1, 4>>>(reinterpret_cast<Run*>(filled<long long>(29)), device<Run>(4)); }

/// Arrays of the device's own: indices far beyond the end, before the beginning, and in constant memory.
__device__ int table[256];
__device__ float factors[1024] = {1, 2, 3};
__constant__ unsigned char weights[64];
template <class T>
__global__ void past_table(T value, int at) {
  table[at + threadIdx.x] = value;  // expect: out-of-bounds
}
CASE { past_table<<<1, 32>>>(1, 9000); }
__global__ void before_factors(float* out, int back) {
  out[threadIdx.x] = factors[int(threadIdx.x) - back];  // expect: out-of-bounds
}
CASE { before_factors<<<1, 32>>>(device<float>(32), 7); }
__global__ void weigh(int* out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[threadIdx.x] = weights[i];  // expect: out-of-bounds
}
CASE { weigh<<<1, 32>>>(device<int>(32), 66); }

/// A few bytes are copied and filled without a call, which is not instrumented.
struct Parts {
  char bytes[24];
};
__global__ void copied_past(Parts* parts, const Parts* from, int n) {
  __builtin_memcpy(&parts[n], from, sizeof *from);  // expect: out-of-bounds
}
CASE { copied_past<<<1, 1>>>(device<Parts>(10), filled<Parts>(1), 10); }
__global__ void copied_from_past(Parts* part, const Parts* from, int n) {
  memcpy(part, &from[n], 7);  // expect: out-of-bounds
}
CASE { copied_from_past<<<1, 1>>>(device<Parts>(1), filled<Parts>(10), 10); }
__global__ void filled_past(int* keys, int n) {
  memset(keys + n, 0, sizeof *keys);  // expect: out-of-bounds
}
CASE { filled_past<<<1, 1>>>(device<int>(10), 10); }
#define CLEAR(object) __builtin_memset(&(object), 0, sizeof(object))
__global__ void cleared_past(double* keys, int n) {
  CLEAR(keys[n]);  // expect: out-of-bounds
}
CASE { cleared_past<<<1, 1>>>(device<double>(10), 10); }

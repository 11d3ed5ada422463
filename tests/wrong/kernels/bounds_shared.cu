// Accesses past the ends of __shared__ arrays and of dynamic shared memory, also where the next array follows.
#include "case.h"

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
CASE { next_array<<<1, 64>>>(device<int>(64)); }

/// The same for a read, before the start of the array.
__global__ void array_before(unsigned char* out) {
  __shared__ unsigned char first[64];
  __shared__ unsigned char second[64];
  first[threadIdx.x] = second[threadIdx.x] = 2;
  __syncthreads();
  out[threadIdx.x] = second[int(threadIdx.x) - 1] + first[threadIdx.x];  // expect: out-of-bounds
}
CASE { array_before<<<1, 64>>>(device<unsigned char>(64)); }

/// A tile with an edge on one side only.
__global__ void stencil(const float* in, float* out) {
  __shared__ float tile[17];
  __shared__ float weights[16];
  tile[threadIdx.x] = in[threadIdx.x];
  weights[threadIdx.x] = 0.5f;
  if (threadIdx.x == 0) tile[16] = 0;
  __syncthreads();
  out[threadIdx.x] = weights[threadIdx.x] * (tile[threadIdx.x] + tile[threadIdx.x + 2]);  // expect: out-of-bounds
}
CASE { stencil<<<1, 16>>>(filled<float>(16), device<float>(16)); }

__global__ void dynamic(int* out, int n) {
  extern __shared__ int work[];
  for (int i = threadIdx.x; i <= n; i += blockDim.x) work[i] = i;  // expect: out-of-bounds
  __syncthreads();
  out[threadIdx.x] = work[threadIdx.x];
}
CASE { dynamic<<<1, 32, 32 * sizeof(int)>>>(device<int>(32), 32); }

/// The launch requests room for the keys but not for the values after them.
__global__ void two_arrays(unsigned* keys, unsigned long long* values, int n) {
  extern __shared__ unsigned long long memory[];
  unsigned long long* own_values = memory;
  unsigned* own_keys = reinterpret_cast<unsigned*>(memory + n);
  own_values[threadIdx.x] = values[threadIdx.x];
  own_keys[threadIdx.x] = keys[threadIdx.x];  // expect: out-of-bounds
  __syncthreads();
  values[threadIdx.x] = own_values[n - 1 - threadIdx.x];
  keys[threadIdx.x] = own_keys[n - 1 - threadIdx.x];  // expect: out-of-bounds
}
CASE { two_arrays<<<1, 32, 32 * 8>>>(filled<unsigned>(32), filled<unsigned long long>(32), 32); }

/// An array as large as the block, launched with the size for a smaller block.
template <class T>
__global__ void per_block_size(const T* in, T* out, int n) {
  extern __shared__ unsigned char bytes[];
  T* own = reinterpret_cast<T*>(bytes);
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  own[threadIdx.x] = i < n ? in[i] : T(0);  // expect: out-of-bounds
  __syncthreads();
  if (i < n) out[i] = own[blockDim.x - 1 - threadIdx.x];  // expect: out-of-bounds
}
CASE { per_block_size<double><<<2, 128, 64 * sizeof(double)>>>(filled<double>(256), device<double>(256), 256); }

/// 255 counters, and a key that is 255.
__global__ void short_histogram(const unsigned char* keys) {
  __shared__ unsigned counts[255];
  if (threadIdx.x < 255) counts[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&counts[keys[threadIdx.x]], 1u);  // expect: out-of-bounds
}
CASE { short_histogram<<<1, 256>>>(filled<unsigned char>(256, 255)); }

/// Bins of equal width: the largest value is in none of them.
__global__ void bins_of_range(const float* values, float low, float high, unsigned* counts) {
  __shared__ unsigned own[16];
  if (threadIdx.x < 16) own[threadIdx.x] = 0;
  __syncthreads();
  const int bin = int((values[threadIdx.x] - low) / (high - low) * 16);
  atomicAdd(&own[bin], 1u);  // expect: out-of-bounds
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
}
__global__ void rising(float* values, float high) { values[threadIdx.x] = high * threadIdx.x / (blockDim.x - 1); }
CASE {
  float* values = device<float>(64);
  rising<<<1, 64>>>(values, 10);
  bins_of_range<<<1, 64>>>(values, 0, 10, filled<unsigned>(16));
}

/// The prefix sum of the counters is read at the key's successor.
__global__ void successor(const unsigned char* keys, unsigned* out) {
  __shared__ unsigned sums[256];
  __shared__ unsigned other[8];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) sums[i] = i;
  if (threadIdx.x < 8) other[threadIdx.x] = 0;
  __syncthreads();
  const unsigned key = keys[threadIdx.x];
  out[threadIdx.x] = sums[key + 1] - sums[key] + other[threadIdx.x % 8];  // expect: out-of-bounds
}
CASE { successor<<<1, 64>>>(filled<unsigned char>(64, 255), device<unsigned>(64)); }

__device__ int load(const int* tile, int at) {
  return tile[at];  // expect: out-of-bounds
}
__global__ void through_function(int* out) {
  __shared__ int tile[64];
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = load(tile, threadIdx.x + 4);
}
CASE { through_function<<<1, 64>>>(device<int>(64)); }

/// Shared memory is indexed like the whole array: wrong from block 1 on.
template <class T>
__global__ void global_index(T* out) {
  __shared__ T tile[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[i] = T(i);  // expect: out-of-bounds
  out[i] = T(i);
}
CASE { global_index<unsigned short><<<3, 64>>>(device<unsigned short>(192)); }

/// A bitonic sort of tiles that uses the index in the whole array as the index in the tile.
__global__ void bitonic_tiles(int* keys) {
  __shared__ int tile[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = keys[i];
  for (int size = 2; size <= 64; size *= 2) {
    for (int stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      const int j = i ^ stride;
      if (j > i && (tile[i] > tile[j]) == ((i & size) == 0)) {  // expect: out-of-bounds
        const int kept = tile[threadIdx.x];
        tile[threadIdx.x] = tile[threadIdx.x ^ stride];
        tile[threadIdx.x ^ stride] = kept;
      }
    }
  }
  __syncthreads();
  keys[i] = tile[threadIdx.x];
}
CASE { bitonic_tiles<<<2, 64>>>(filled<int>(128)); }

/// Sixteen bytes at once from the last four of an array.
__global__ void vector_load(uint4* out) {
  __shared__ __align__(16) unsigned tile[40];
  __shared__ unsigned more[64];
  tile[threadIdx.x] = threadIdx.x;
  more[threadIdx.x] = 1;
  if (threadIdx.x < 8) tile[threadIdx.x + 32] = 0;
  __syncthreads();
  uint4 four = *reinterpret_cast<uint4*>(tile + 4 * threadIdx.x);  // expect: out-of-bounds
  four.x += more[threadIdx.x];
  out[threadIdx.x] = four;
}
CASE { vector_load<<<1, 32>>>(device<uint4>(32)); }

/// Rows and columns of a tile that is not square are exchanged.
__global__ void rows_and_columns(int* out) {
  __shared__ int tile[8][16];
  __shared__ int sums[16];
  tile[threadIdx.x][threadIdx.y] = 1;  // expect: out-of-bounds
  if (threadIdx.y == 0) sums[threadIdx.x] = 0;
  __syncthreads();
  out[threadIdx.y * 16 + threadIdx.x] = sums[threadIdx.x] + tile[threadIdx.y][threadIdx.x];  // expect: uninitialized
}
CASE { rows_and_columns<<<1, dim3(16, 8)>>>(device<int>(128)); }

struct Pair {
  int key, value;
};
/// Pairs copied as a whole, one too many.
__global__ void pairs(Pair* out) {
  __shared__ Pair own[32];
  __shared__ int behind[32];
  own[threadIdx.x] = {int(threadIdx.x), 0};
  behind[threadIdx.x] = 7;
  __syncthreads();
  out[threadIdx.x] = own[threadIdx.x + 1];  // expect: out-of-bounds
  out[threadIdx.x].value += behind[threadIdx.x];
}
CASE { pairs<<<1, 32>>>(device<Pair>(32)); }

/// One row too far, by an atomic in a lambda.
__global__ void lambda(int* out) {
  __shared__ int counts[4][8];
  const auto add = [&](int row, int column) { atomicAdd(&counts[row][column], 1); };  // expect: out-of-bounds
  counts[threadIdx.x / 8][threadIdx.x % 8] = 0;
  __syncthreads();
  add(threadIdx.x / 8 + 1, threadIdx.x % 8);
  __syncthreads();
  out[threadIdx.x] = counts[threadIdx.x / 8][threadIdx.x % 8];
}
CASE { lambda<<<1, 32>>>(device<int>(32)); }

/// Two arrays of one declaration.
__global__ void two_names(int* out) {
  __shared__ int keys[64], ends[32];
  keys[threadIdx.x] = threadIdx.x;
  if (threadIdx.x < 32) ends[threadIdx.x] = 2 * threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = keys[63 - threadIdx.x] + ends[threadIdx.x];  // expect: out-of-bounds
}
CASE { two_names<<<1, 64>>>(device<int>(64)); }

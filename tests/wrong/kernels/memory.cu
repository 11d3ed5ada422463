// Memory that has been freed, that belongs to the host, or that is not aligned as its type requires.
#include "case.h"

__global__ void fill(int* keys) {
  keys[threadIdx.x] = 1;  // expect: use-after-free
}
CASE {
  int* keys = device<int>(256);
  cudaFree(keys);
  fill<<<1, 32>>>(keys);
}

/// Freed in stream order, then used.
template <class T>
__device__ T first(const T* keys) {
  return keys[0];  // expect: use-after-free
}
__global__ void copy(const int* keys, int* out) { out[threadIdx.x] = first(keys + threadIdx.x); }
CASE {
  int* keys;
  cudaMallocAsync(&keys, 1024, nullptr);
  cudaMemset(keys, 0, 1024);
  cudaFreeAsync(keys, nullptr);
  copy<<<1, 32>>>(keys, device<int>(32));
}

/// The scratch memory of the first round is freed before the second round.
__global__ void histogram(const unsigned char* keys, unsigned* counts) {
  atomicAdd(&counts[keys[threadIdx.x]], 1u);  // expect: use-after-free
}
CASE {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  unsigned* counts;
  cudaMallocAsync(&counts, 1024, stream);
  cudaMemsetAsync(counts, 0, 1024, stream);
  for (int round = 0; round < 2; ++round) {
    histogram<<<1, 64, 0, stream>>>(filled<unsigned char>(64), counts);
    if (round == 0) cudaFreeAsync(counts, stream);
  }
}

/// A pointer in a structure to memory that has been freed.
struct View {
  const uint4* data;
  int size;
};
__global__ void through_view(View view, uint4* out) {
  for (int i = threadIdx.x; i < view.size; i += blockDim.x) out[i] = view.data[i];  // expect: use-after-free
}
CASE {
  const View view{filled<uint4>(64), 64};
  cudaFree(const_cast<uint4*>(view.data));
  through_view<<<1, 32>>>(view, device<uint4>(64));
}

__global__ void fill_host(int* keys) {
  keys[threadIdx.x] = 1;  // expect: host-pointer
}
CASE {
  static int* keys = new int[64];
  fill_host<<<1, 32>>>(keys);
}

template <class T>
__global__ void sum_host(const T* keys, T* out) {
  T total = 0;
  for (int i = 0; i < 4; ++i) total += keys[i];  // expect: host-pointer
  *out = total;
}
CASE {
  int keys[4] = {1, 2, 3, 4};
  sum_host<int><<<1, 1>>>(keys, device<int>(1));
}

/// A vector's memory, written through a device function.
__device__ void put(unsigned char* out, int at) { out[at] = 1; }  // expect: host-pointer
__global__ void flags(unsigned char* out) { put(out, threadIdx.x); }
CASE {
  std::vector<unsigned char> out(64);
  flags<<<1, 64>>>(out.data());
}

/// A counter on the host's stack.
__global__ void count_host(unsigned* counter) {
  atomicAdd(counter, 1u);  // expect: host-pointer
}
CASE {
  unsigned counter = 0;
  count_host<<<1, 32>>>(&counter);
}

__global__ void vector_load(const int* keys, longlong2* out) {
  out[threadIdx.x] = {*reinterpret_cast<const long long*>(keys + 1), 0};  // expect: misaligned
}
CASE { vector_load<<<1, 1>>>(filled<int>(256), device<longlong2>(64)); }

template <class T>
__device__ void store(int* tile, int at) {
  *reinterpret_cast<T*>(tile + at) = 1;  // expect: misaligned
}
__global__ void shared_store(int* out, int at) {
  __shared__ __align__(8) int tile[8];
  if (threadIdx.x < 8) tile[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x == 0) store<long long>(tile, at);
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x % 8];
}
CASE { shared_store<<<1, 32>>>(device<int>(32), 3); }

/// The second of two arrays starts where the first one ends, which does not suit the alignment of its type.
__global__ void carved(unsigned* out, int n) {
  extern __shared__ unsigned char memory[];
  unsigned char* digits = memory;
  unsigned* counts = reinterpret_cast<unsigned*>(memory + n);
  digits[threadIdx.x] = threadIdx.x;
  counts[threadIdx.x] = digits[threadIdx.x];  // expect: misaligned
  __syncthreads();
  out[threadIdx.x] = counts[threadIdx.x];  // expect: misaligned
}
CASE { carved<<<1, 32, 33 + 32 * sizeof(unsigned)>>>(device<unsigned>(32), 33); }

/// Vector loads of an array from its second element on.
__global__ void vectors(const unsigned short* keys, unsigned* out, int first) {
  const auto load = [&](int i) {
    return *reinterpret_cast<const unsigned*>(keys + first + 2 * i);  // expect: misaligned
  };
  for (int i = threadIdx.x; i < 8; i += blockDim.x) out[i] = load(i);
}
CASE { vectors<<<1, 4>>>(filled<unsigned short>(64), device<unsigned>(8), 1); }

/// A structure of arrays, one of which was never copied.
struct Pairs {
  unsigned* keys;
  float* values;
  int n;
};
__global__ void rising(Pairs pairs) {
  for (int i = threadIdx.x; i < pairs.n; i += blockDim.x) {
    pairs.keys[i] = i;
    pairs.values[i] = i;  // expect: host-pointer
  }
}
CASE {
  std::vector<float> values(100);
  rising<<<1, 32>>>(Pairs{device<unsigned>(100), values.data(), 100});
}

/// The same, captured.
template <class Do>
__global__ void for_each(int n, Do what) {
  if (threadIdx.x < n) what(threadIdx.x);
}
CASE {
  auto* const values = new double[1 << 17]();
  for_each<<<1, 32>>>(20, [=] __device__(int i) { values[i] += 1; });  // expect: host-pointer
}

/// A reference to a variable of the host: the launch does not copy it.
struct Limits {
  int low, high;
};
__global__ void clamp(int* keys, const Limits& limits) {
  keys[threadIdx.x] = max(keys[threadIdx.x], limits.low);  // expect: host-pointer
}
CASE {
  const Limits limits{1, 2};
  clamp<<<1, 32>>>(filled<int>(32), limits);
}

/// A thread follows a pointer to a local variable of another thread.
__global__ void others_array(int* out) {
  __shared__ const int* where[32];
  int own[4];
  for (int i = 0; i < 4; ++i) own[i] = threadIdx.x * 4 + i;
  where[threadIdx.x] = own;
  __syncwarp();
  out[threadIdx.x] = where[threadIdx.x ^ 1][threadIdx.x % 4];  // expect: out-of-bounds
  __syncwarp();
}
CASE { others_array<<<1, 32>>>(device<int>(32)); }

/// An index from a lane that took no part in the shuffle: far from all memory.
__global__ void of_missing_lane(int* out, int* count) {
  int first = 0;
  if (threadIdx.x % 2 == 1) {
    if (threadIdx.x == 1) first = atomicAdd(count, 16);
    first = __shfl_sync(0xaaaaaaaau, first, 0);
    out[first + threadIdx.x / 2] = 1;  // expect: out-of-bounds
  }
}
CASE { of_missing_lane<<<1, 32>>>(device<int>(16), filled<int>(1)); }

/// Structures in device memory whose pointers are still the host's.
struct Rows {
  float* data;
  int n;
};
__global__ void scale(Rows* rows) {
  for (int i = threadIdx.x; i < rows->n; i += blockDim.x) rows->data[i] *= 2;  // expect: host-pointer
}
CASE {
  std::vector<float> data(64, 1.0f);
  const Rows host{data.data(), 64};
  Rows* rows = device<Rows>(1);
  cudaMemcpy(rows, &host, sizeof host, cudaMemcpyHostToDevice);
  scale<<<1, 32>>>(rows);
}
/// A list of the host's, of which only the first node was copied.
struct Item {
  int key;
  Item* next;
};
__global__ void sum_list(const Item* item, int* out) {
  int sum = 0;
  for (; item != nullptr; item = item->next) sum += item->key;  // expect: host-pointer
  *out = sum;
}
CASE {
  Item last{2, nullptr}, first{1, &last};
  Item* items = device<Item>(1);
  cudaMemcpy(items, &first, sizeof first, cudaMemcpyHostToDevice);
  sum_list<<<1, 1>>>(items, device<int>(1));
}

/// The host reads its own copy of a variable that a kernel has written, which here is the same.
__device__ int total;
__global__ void count_up() { atomicAdd(&total, 1); }
CASE {
  count_up<<<1, 32>>>();
  cudaDeviceSynchronize();
  const int seen = total;  // expect: device-variable
  std::printf("%d threads\n", seen);
}

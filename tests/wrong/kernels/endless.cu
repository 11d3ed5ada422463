// Kernels that never end.
#include "case.h"

/// Merges runs by the smallest head. Two equal heads wait for each other forever.
__global__ void tie(const int* keys, int* out, int run, int runs) {
  __shared__ int smallest, holders;
  int head = 0;
  for (int i = 0; i < run * runs;) {
    if (threadIdx.x == 0) smallest = 0x7fffffff, holders = 0;                  // expect-one: time-limit
    __syncthreads();                                                           // expect-one: time-limit
    const int key = head < run ? keys[threadIdx.x * run + head] : 0x7fffffff;  // expect-one: time-limit
    atomicMin(&smallest, key);                                                 // expect-one: time-limit
    __syncthreads();                                                           // expect-one: time-limit
    if (key == smallest) atomicAdd(&holders, 1);                               // expect-one: time-limit
    __syncthreads();                                                           // expect-one: time-limit
    if (holders == 1) {                                                        // expect-one: time-limit
      if (key == smallest) out[i] = key, ++head;
      ++i;
    }
    __syncthreads();  // expect-one: time-limit
  }
}
CASE { tie<<<1, 4>>>(filled<int>(16), device<int>(16), 4, 4); }

/// Merges two runs but handles only keys that are less or greater, not equal ones.
template <class T>
__device__ void merge(const T* a, int na, const T* b, int nb, T* out) {
  int i = 0, j = 0;
  while (i < na && j < nb) {   // expect-one: time-limit
    if (a[i] < b[j])           // expect-one: time-limit
      out[i + j] = a[i], ++i;  // expect-one: time-limit
    else if (b[j] < a[i])      // expect-one: time-limit
      out[i + j] = b[j], ++j;  // expect-one: time-limit
  }
}
__global__ void strict(const volatile unsigned char* keys, unsigned char* out, int n) {
  merge(keys, n, keys + n, n, (volatile unsigned char*)out);
}
CASE { strict<<<1, 1>>>(filled<unsigned char>(64), device<unsigned char>(64), 32); }

/// A lock that is never released.
__global__ void lock(int* locked, int* value) {
  while (atomicCAS(locked, 0, 1) != 0) {  // expect: time-limit
  }
  *value = 1;
}
CASE { lock<<<1, 2>>>(filled<int>(1), device<int>(1)); }

/// Look-back for a flag that no block sets.
__global__ void look_back(unsigned* next, volatile unsigned* flags, unsigned* out) {
  const unsigned b = atomicAdd(next, 1u);
  if (b != 1) flags[b] = 1;
  while (b > 0 && flags[b - 1] == 0) {  // expect: time-limit
  }
  out[b] = 1;
}
CASE { look_back<<<3, 1>>>(filled<unsigned>(1), filled<unsigned>(3), device<unsigned>(3)); }

/// A stride that becomes 0.
__global__ void no_stride(int* data, int n, int stride) {
  for (int i = threadIdx.x; i < n; i += stride) data[i] = i;  // expect: time-limit
}
CASE { no_stride<<<1, 1>>>(device<int>(64), 64, 0); }

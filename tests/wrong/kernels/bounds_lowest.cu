// An index below 0 of a program's only __shared__ array, before which no other array lies.
#include "case.h"

__global__ void difference(const int* in, int* out) {
  __shared__ int tile[64];
  const int t = int(threadIdx.x);
  tile[t] = in[t];
  __syncthreads();
  out[t] = tile[t] - tile[t - 1];  // expect: out-of-bounds
}
CASE { difference<<<1, 64>>>(filled<int>(64), device<int>(64)); }

/// Two arrays are at fault in one line, and each is reported.
__global__ void sum(const int* a, const int* b, int* out) {
  out[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];  // expect: uninitialized
}
CASE { sum<<<1, 32>>>(device<int>(32), device<int>(32), device<int>(32)); }

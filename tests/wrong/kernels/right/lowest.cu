// The first element of a program's only __shared__ array has no left neighbour, and is not asked for it.
#include "../case.h"

__global__ void difference(const int* in, int* out) {
  __shared__ int tile[64];
  const int t = int(threadIdx.x);
  tile[t] = in[t];
  __syncthreads();
  out[t] = t == 0 ? tile[0] : tile[t] - tile[t - 1];
}
CASE { difference<<<1, 64>>>(filled<int>(64), device<int>(64)); }

// Launches that a device rejects.
#include "case.h"

__global__ void nothing() {}
CASE { nothing<<<1, 1025>>>(); }        // expect: invalid-launch
CASE { nothing<<<0, 32>>>(); }          // expect: invalid-launch
CASE { nothing<<<1, 32, 300000>>>(); }  // expect: invalid-launch

/// As many threads as keys, in one block.
template <class T>
__global__ void scan(T* keys) {
  keys[threadIdx.x] += 1;
}
CASE {
  const int n = 5000;
  scan<<<1, n>>>(filled<int>(n));  // expect: invalid-launch
}

/// A grid for no keys at all.
CASE {
  const int n = 0;
  scan<<<(n + 127) / 128, 128>>>(filled<short>(1));  // expect: invalid-launch
}

/// Blocks of sixteen by sixteen threads and eight layers.
CASE { nothing<<<1, dim3(16, 16, 8)>>>(); }  // expect: invalid-launch

/// More shared memory than a block gets without cudaFuncSetAttribute.
__global__ void large(int* out) {
  extern __shared__ int work[];
  work[threadIdx.x] = 1;
  out[threadIdx.x] = work[threadIdx.x];
}
CASE { large<<<1, 32, 64 * 1024>>>(device<int>(32)); }  // expect: invalid-launch

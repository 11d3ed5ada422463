// Kernels read the device's clock.
#include "submission.h"

namespace odd_even {

__global__ void work(unsigned* keys, long long* spent) {
  const long long start = clock64();
  keys[threadIdx.x] += 1;
  if (threadIdx.x == 0) *spent = clock64() - start;
}

void sort(lab::Span<unsigned> keys, cudaStream_t stream) {
  lab::DeviceArray<long long> spent(1, stream);
  work<<<1, 32, 0, stream>>>(keys.data, spent.data());
}

}  // namespace odd_even

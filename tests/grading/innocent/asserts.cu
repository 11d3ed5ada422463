// Assertions in kernels and on the host.
#include <cassert>

#include "submission.h"

namespace odd_even {

__global__ void check(const unsigned* keys) { assert(keys[threadIdx.x] <= keys[threadIdx.x + 1]); }

void sort(lab::Span<unsigned> keys, cudaStream_t stream) {
  assert(keys.n > 1 && "too few keys");
  check<<<1, unsigned(keys.n - 1), 0, stream>>>(keys.data);
}

}  // namespace odd_even

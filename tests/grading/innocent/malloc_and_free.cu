// Host memory as in C.
#include <cstdlib>
#include <cstring>

#include "submission.h"

namespace odd_even {

void sort(lab::Span<unsigned> keys, cudaStream_t stream) {
  auto* const counts = static_cast<unsigned*>(std::malloc(256 * sizeof(unsigned)));
  if (counts == nullptr) std::abort();
  std::memset(counts, 0, 256 * sizeof(unsigned));
  auto* const more = static_cast<unsigned*>(std::realloc(counts, 512 * sizeof(unsigned)));
  CUDA_CHECK(cudaMemcpyAsync(keys.data, more, 4, cudaMemcpyHostToDevice, stream));
  std::free(more);
}

}  // namespace odd_even

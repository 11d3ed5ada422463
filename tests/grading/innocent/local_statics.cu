// Scratch memory that is kept between calls.
#include <string>
#include <vector>

#include "submission.h"

namespace odd_even {

std::vector<unsigned>& scratch() {
  static std::vector<unsigned> kept(1024);
  return kept;
}

void sort(lab::Span<unsigned> keys, cudaStream_t stream) {
  static const std::string name = "kept";
  static lab::DeviceArray<unsigned> counts(256, stream);
  scratch().resize(std::size_t(keys.n) + name.size());
  CUDA_CHECK(cudaMemsetAsync(counts.data(), 0, 256 * sizeof(unsigned), stream));
}

}  // namespace odd_even

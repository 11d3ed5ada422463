// Random pivots from a generator with a fixed seed.
#include <random>

#include "submission.h"

namespace odd_even {

void sort(lab::Span<unsigned> keys, cudaStream_t stream) {
  std::mt19937 generator(12345);
  std::uniform_int_distribution<long long> any(0, keys.n - 1);
  const long long pivot = any(generator);
  CUDA_CHECK(cudaMemcpyAsync(keys.data, keys.data + pivot, 4, cudaMemcpyDeviceToDevice, stream));
}

}  // namespace odd_even

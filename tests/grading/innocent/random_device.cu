// Pivots that differ from run to run.
#include <random>

#include "submission.h"

static std::mt19937 generator(std::random_device{}());

namespace odd_even {

void sort(lab::Span<unsigned> keys, cudaStream_t stream) {
  const int pivot = std::uniform_int_distribution<int>(0, 255)(generator);
  CUDA_CHECK(cudaMemsetAsync(keys.data, pivot, 4, stream));
}

}  // namespace odd_even

// Sizes by mathematical functions.
#include <cmath>

#include "submission.h"

namespace odd_even {

__global__ void roots(unsigned* keys) { keys[threadIdx.x] = unsigned(sqrtf(float(keys[threadIdx.x])) + powf(2, 3)); }

void sort(lab::Span<unsigned> keys, cudaStream_t stream) {
  const double levels = std::ceil(std::log2(double(keys.n))), width = std::pow(2.0, levels) + std::sqrt(levels);
  roots<<<unsigned(std::floor(width)), 32, 0, stream>>>(keys.data);
}

}  // namespace odd_even

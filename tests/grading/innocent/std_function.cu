// The phases are a list of functions.
#include <functional>
#include <vector>

#include "submission.h"

namespace odd_even {

__global__ void add(unsigned* keys, unsigned what) { keys[threadIdx.x] += what; }

void sort(lab::Span<unsigned> keys, cudaStream_t stream) {
  std::vector<std::function<void(unsigned)>> phases;
  phases.push_back([&](unsigned i) { add<<<1, 32, 0, stream>>>(keys.data, i); });
  phases.emplace_back([&](unsigned i) { add<<<1, 64, 0, stream>>>(keys.data, 2 * i); });
  for (unsigned i = 0; i < 3; ++i) {
    for (const auto& phase : phases) phase(i);
  }
}

}  // namespace odd_even

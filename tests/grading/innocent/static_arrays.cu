// Tables that are computed when the program is compiled.
#include <array>

#include "submission.h"

namespace odd_even {

constexpr std::array<int, 8> gaps = [] {
  std::array<int, 8> made{};
  for (int i = 0; i < 8; ++i) made[i] = 1 << i;
  return made;
}();
static const int thresholds[] = {1, 4, 16, 64};
static int launches = 0;

__global__ void shift(unsigned* keys, int gap) { keys[threadIdx.x] += gap; }

void sort(lab::Span<unsigned> keys, cudaStream_t stream) {
  for (int gap : gaps) shift<<<1, 32, 0, stream>>>(keys.data, gap), ++launches;
  for (int threshold : thresholds) shift<<<1, 32, 0, stream>>>(keys.data, threshold);
}

}  // namespace odd_even

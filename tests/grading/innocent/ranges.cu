// The ranges of C++20.
#include <algorithm>
#include <ranges>
#include <vector>

#include "submission.h"

namespace odd_even {

void sort(lab::Span<unsigned> keys, cudaStream_t stream) {
  std::vector<int> gaps = {1, 4, 13, 40};
  std::ranges::reverse(gaps);
  std::ranges::sort(gaps, std::greater<>());
  for (int gap :
       gaps | std::views::filter([](int g) { return g > 3; }) | std::views::transform([](int g) { return 2 * g; })) {
    CUDA_CHECK(cudaMemsetAsync(keys.data, gap, 4, stream));
  }
}

}  // namespace odd_even

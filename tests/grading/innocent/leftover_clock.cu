// A clock that was left in the step after it had been timed.
#include <chrono>
#include <cstdio>
#include <ctime>

#include "submission.h"

namespace odd_even {

void sort(lab::Span<unsigned> keys, cudaStream_t stream) {
  const auto start = std::chrono::steady_clock::now();
  const clock_t ticks = clock();
  CUDA_CHECK(cudaMemsetAsync(keys.data, 0, 4, stream));
  const std::chrono::duration<double, std::milli> passed = std::chrono::steady_clock::now() - start;
  printf("%.3f ms, %.3f s of the processor\n", passed.count(), double(clock() - ticks) / CLOCKS_PER_SEC);
}

}  // namespace odd_even

// Random numbers seeded by the time of day, as in many books.
#include <cstdlib>
#include <ctime>

#include "submission.h"

namespace odd_even {

void sort(lab::Span<unsigned> keys, cudaStream_t stream) {
  srand(unsigned(time(nullptr)));
  CUDA_CHECK(cudaMemsetAsync(keys.data, rand() % 256, 4, stream));
}

}  // namespace odd_even

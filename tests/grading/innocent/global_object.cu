// An object of its own class, made before the step and removed after it.
#include <cstdio>

#include "submission.h"

namespace {

struct Counter {
  explicit Counter(const char* what) : what(what) { std::printf("counting %s\n", what); }
  ~Counter() { std::printf("%d %s\n", count, what); }

  const char* what;
  int count = 0;
} launches("launches");

}  // namespace

namespace odd_even {

void sort(lab::Span<unsigned> keys, cudaStream_t stream) {
  ++launches.count;
  CUDA_CHECK(cudaMemsetAsync(keys.data, 0, 4, stream));
}

}  // namespace odd_even

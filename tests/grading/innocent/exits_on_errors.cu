// The macro of many tutorials: it prints where a call failed and ends the program.
#include <cstdio>
#include <cstdlib>

#include "submission.h"

#define CHECK(call)                                                                              \
  do {                                                                                           \
    const cudaError_t code = (call);                                                             \
    if (code != cudaSuccess) {                                                                   \
      fprintf(stderr, "CUDA error %s at %s:%d\n", cudaGetErrorString(code), __FILE__, __LINE__); \
      exit(1);                                                                                   \
    }                                                                                            \
  } while (0)

namespace odd_even {

void sort(lab::Span<unsigned> keys, cudaStream_t stream) {
  CHECK(cudaMemsetAsync(keys.data, 0, 4, stream));
  CHECK(cudaGetLastError());
}

}  // namespace odd_even

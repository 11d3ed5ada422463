// Ends the program in each way that C has for it.
#include <unistd.h>
#include <cstdlib>

#include "submission.h"

namespace odd_even {

void sort(lab::Span<unsigned> keys, cudaStream_t stream) {
  const cudaError_t error = cudaMemsetAsync(keys.data, 0, 4, stream);
  if (error == cudaErrorMemoryAllocation) std::abort();
  if (error == cudaErrorInvalidValue) std::_Exit(2);
  if (error != cudaSuccess) _exit(3);
}

}  // namespace odd_even

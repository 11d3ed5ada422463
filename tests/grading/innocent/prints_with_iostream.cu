// What the step does is printed with streams.
#include <iomanip>
#include <iostream>

#include "submission.h"

namespace odd_even {

void sort(lab::Span<unsigned> keys, cudaStream_t stream) {
  std::cout << "sorting " << keys.n << " keys" << std::endl;
  std::cerr << std::setw(8) << std::hex << keys.n << " in hexadecimal\n";
  CUDA_CHECK(cudaMemsetAsync(keys.data, 0, keys.n, stream));
}

}  // namespace odd_even

// A class of errors of its own.
#include <stdexcept>
#include <string>

#include "submission.h"

namespace odd_even {

class TooLarge : public std::runtime_error {
 public:
  explicit TooLarge(long long n) : std::runtime_error("too many keys: " + std::to_string(n)) {}
};

void require(long long n) {
  if (n > 1 << 20) throw TooLarge(n);
  if (n < 0) throw std::invalid_argument("n is negative");
}

void sort(lab::Span<unsigned> keys, cudaStream_t stream) {
  try {
    require(keys.n);
  } catch (const TooLarge& error) {
    throw lab::Unsupported(error.what());
  } catch (...) {
    CUDA_CHECK(cudaStreamSynchronize(stream));
    throw;
  }
}

}  // namespace odd_even

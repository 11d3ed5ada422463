// Strategies by inheritance.
#include <memory>

#include "submission.h"

namespace odd_even {

class Strategy {
 public:
  virtual ~Strategy() = default;
  virtual void run(lab::Span<unsigned> keys, cudaStream_t stream) const = 0;
};

__global__ void clear(unsigned* keys) { keys[threadIdx.x] = 0; }

class Small final : public Strategy {
 public:
  void run(lab::Span<unsigned> keys, cudaStream_t stream) const override { clear<<<1, 32, 0, stream>>>(keys.data); }
};
class Large final : public Strategy {
 public:
  void run(lab::Span<unsigned> keys, cudaStream_t stream) const override { clear<<<64, 32, 0, stream>>>(keys.data); }
};

void sort(lab::Span<unsigned> keys, cudaStream_t stream) {
  std::unique_ptr<Strategy> strategy;
  if (keys.n < 1000) {
    strategy = std::make_unique<Small>();
  } else {
    strategy = std::make_unique<Large>();
  }
  strategy->run(keys, stream);
}

}  // namespace odd_even

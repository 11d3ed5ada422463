// A key with operators of its own.
#include <cstdint>
#include <iostream>
#include <ostream>

#include "submission.h"

namespace odd_even {

struct Pair {
  unsigned key, value;
  __host__ __device__ bool operator<(const Pair& other) const { return key < other.key; }
};
std::ostream& operator<<(std::ostream& to, const Pair& pair) {
  return to << '(' << pair.key << ", " << pair.value << ')';
}

__global__ void smaller(Pair* pairs) {
  if (pairs[1] < pairs[0]) pairs[0] = pairs[1];
}

void sort(lab::Span<unsigned> keys, cudaStream_t stream) {
  lab::DeviceArray<Pair> pairs(2, stream);
  smaller<<<1, 1, 0, stream>>>(pairs.data());
  std::cout << Pair{1, unsigned(keys.n)} << '\n';
}

}  // namespace odd_even

// Launch shapes by the number of keys.
#include <map>
#include <string>

#include "submission.h"

namespace odd_even {

void sort(lab::Span<unsigned> keys, cudaStream_t stream) {
  static const std::map<long long, int> threads = {{1 << 10, 64}, {1 << 16, 128}, {1 << 20, 256}};
  std::map<std::string, long long> counted;
  ++counted["calls"];
  counted["keys"] += keys.n;
  const auto found = threads.lower_bound(keys.n);
  if (found == threads.end()) throw lab::Unsupported("too many keys for the table");
  CUDA_CHECK(cudaMemsetAsync(keys.data, found->second, counted.at("keys"), stream));
}

}  // namespace odd_even

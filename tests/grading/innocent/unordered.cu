// Counts on the host with hash tables.
#include <unordered_map>
#include <unordered_set>

#include "submission.h"

namespace odd_even {

void sort(lab::Span<unsigned> keys, cudaStream_t stream) {
  unsigned head[16] = {};
  CUDA_CHECK(cudaMemcpyAsync(head, keys.data, sizeof head, cudaMemcpyDeviceToHost, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  std::unordered_map<unsigned, int> counts;
  std::unordered_set<unsigned> seen;
  for (unsigned key : head) ++counts[key], seen.insert(key);
  if (seen.size() != counts.size()) throw lab::Error("impossible");
}

}  // namespace odd_even

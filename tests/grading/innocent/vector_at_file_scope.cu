// Containers that are global variables, one of them filled from the start.
#include <map>
#include <string>
#include <vector>

#include "submission.h"

std::vector<int> bounds_of_tiles;
static const std::map<std::string, int> threads_of = {{"small", 32}, {"large", 256}};
const std::string my_kernel = "sort_the_tiles_of_a_block_by_odd_even_exchanges";

namespace odd_even {

void sort(lab::Span<unsigned> keys, cudaStream_t stream) {
  bounds_of_tiles.push_back(int(keys.n));
  CUDA_CHECK(cudaMemsetAsync(keys.data, threads_of.at("small") + int(my_kernel.size()), 4, stream));
}

}  // namespace odd_even

// Global variables and functions of its own, outside a namespace.
#include "submission.h"

int calls_of_my_sort = 0;
const char* my_name = "student";
unsigned my_table[64];
int helper_of_mine(int n) { return n % 7; }

namespace odd_even {

void sort(lab::Span<unsigned> keys, cudaStream_t stream) {
  calls_of_my_sort = calls_of_my_sort + 1;
  CUDA_CHECK(cudaMemsetAsync(keys.data, helper_of_mine(calls_of_my_sort), 4, stream));
}

}  // namespace odd_even

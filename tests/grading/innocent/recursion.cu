// A merge sort that calls itself on the host.
#include "submission.h"

namespace odd_even {

__global__ void merge(unsigned* keys, long long begin, long long middle, long long end) {
  if (keys[middle] < keys[begin]) keys[begin] = keys[end - 1];
}

void sort_range(unsigned* keys, long long begin, long long end, cudaStream_t stream) {
  if (end - begin < 2) return;
  const long long middle = begin + (end - begin) / 2;
  sort_range(keys, begin, middle, stream);
  sort_range(keys, middle, end, stream);
  merge<<<1, 1, 0, stream>>>(keys, begin, middle, end);
}

void sort(lab::Span<unsigned> keys, cudaStream_t stream) { sort_range(keys.data, 0, keys.n, stream); }

}  // namespace odd_even

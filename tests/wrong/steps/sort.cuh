// A sort by one thread, slow and obviously correct. Each wrong step breaks it in its own way.
#pragma once

#include "step/error.h"
#include "steps.h"

namespace wrong {

struct Ascending {
  __device__ bool operator()(std::uint32_t a, std::uint32_t b) const { return a < b; }
};
struct Descending {
  __device__ bool operator()(std::uint32_t a, std::uint32_t b) const { return a > b; }
};

/// Insertion sort of keys [begin, end), and of `values` with them unless null. Stable.
template <class Before>
__global__ void insertion_sort(std::uint32_t* keys, std::uint32_t* values, std::int64_t begin, std::int64_t end,
                               Before before) {
  for (std::int64_t i = begin + 1; i < end; ++i) {
    const std::uint32_t key = keys[i], value = values ? values[i] : 0;
    std::int64_t hole = i;
    for (; hole > begin && before(key, keys[hole - 1]); --hole) {
      keys[hole] = keys[hole - 1];
      if (values) values[hole] = values[hole - 1];
    }
    keys[hole] = key;
    if (values) values[hole] = value;
  }
}

inline void sort_range(std::uint32_t* keys, std::uint32_t* values, std::int64_t begin, std::int64_t end,
                       lab::Order order, cudaStream_t stream) {
  if (order == lab::Order::ascending) {
    insertion_sort<<<1, 1, 0, stream>>>(keys, values, begin, end, Ascending{});
  } else {
    insertion_sort<<<1, 1, 0, stream>>>(keys, values, begin, end, Descending{});
  }
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace wrong

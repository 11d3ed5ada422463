// The CPU's own sorts of keys that are in host memory, for the gold standards of every build. No device memory is used.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

#ifdef LAB_HAVE_VQSORT
#include <hwy/contrib/sort/vqsort.h>
#endif

#if __has_include(<boost/sort/block_indirect_sort/block_indirect_sort.hpp>)
#include <boost/sort/block_indirect_sort/block_indirect_sort.hpp>
#define LAB_HAVE_BLOCK_INDIRECT_SORT
#endif

#include "step/error.h"
#include "step/step.h"
#include "step/table.h"

namespace gold {

using HostKeys = lab::HostSpan<std::uint32_t>;

/// A sort on the host has no launch shape.
inline void begin(lab::LaunchShape shape, cudaStream_t stream) {
  if (shape.blocks != 0 || shape.threads != 0) throw lab::Unsupported("a sort on the host has no launch shape");
  CUDA_CHECK(cudaStreamSynchronize(stream));
}

// More keys take too long: a measurement allows a sort twenty seconds, and sorts at least twice.
inline constexpr std::int64_t max_n_of_std_sort = std::int64_t{1} << 24, max_n_of_vqsort = std::int64_t{1} << 28,
                              max_n_of_block_indirect_sort = std::int64_t{1} << 31;

inline void host_sort(HostKeys keys, HostKeys, lab::Order order, std::int64_t, lab::LaunchShape shape,
                      cudaStream_t stream) {
  begin(shape, stream);
  if (order == lab::Order::ascending) {
    std::sort(keys.data, keys.data + keys.n);
  } else {
    std::sort(keys.data, keys.data + keys.n, std::greater<>());
  }
}

inline constexpr lab::Step host_sort_line = {.number = 11,
                                             .name = "sort",
                                             .idea = "std::sort of host memory, one core",
                                             .max_n = max_n_of_std_sort,
                                             .function = lab::SortHostMemory{host_sort}};

#ifdef LAB_HAVE_VQSORT
inline void host_vqsort(HostKeys keys, HostKeys, lab::Order order, std::int64_t, lab::LaunchShape shape,
                        cudaStream_t stream) {
  begin(shape, stream);
  static const hwy::Sorter sorter;
  const auto n = static_cast<std::size_t>(keys.n);
  order == lab::Order::ascending ? sorter(keys.data, n, hwy::SortAscending())
                                 : sorter(keys.data, n, hwy::SortDescending());
}

inline constexpr lab::Step host_vqsort_line = {.number = 12,
                                               .name = "vqsort",
                                               .idea = "VQSort of host memory, one core",
                                               .max_n = max_n_of_vqsort,
                                               .function = lab::SortHostMemory{host_vqsort}};
#endif

#ifdef LAB_HAVE_BLOCK_INDIRECT_SORT
inline void host_block_indirect_sort(HostKeys keys, HostKeys, lab::Order order, std::int64_t, lab::LaunchShape shape,
                                     cudaStream_t stream) {
  begin(shape, stream);
  if (order == lab::Order::ascending) {
    boost::sort::block_indirect_sort(keys.data, keys.data + keys.n);
  } else {
    boost::sort::block_indirect_sort(keys.data, keys.data + keys.n, std::greater<>());
  }
}

inline constexpr lab::Step host_block_indirect_sort_line = {
    .number = 13,
    .name = "block-indirect-sort",
    .idea = "Boost's block_indirect_sort of host memory, all cores",
    .max_n = max_n_of_block_indirect_sort,
    .function = lab::SortHostMemory{host_block_indirect_sort}};
#endif

}  // namespace gold

// Which types the steps are compiled for.
#pragma once

#include "merge_sort.h"

/// Compiles both functions of a step, such as sort_thread, for every type that merge_sort.h lists. Used once, at the
/// end of the step's file. To use another comparison, add it here.
#define MERGE_SORT_INSTANTIATE(sort_function)                                                                   \
  template void sort_function(lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape, cudaStream_t);            \
  template void sort_function(lab::Span<std::int32_t>, lab::Order, lab::LaunchShape, cudaStream_t);             \
  template void sort_function(lab::Span<std::uint64_t>, lab::Order, lab::LaunchShape, cudaStream_t);            \
  template void sort_function(lab::Span<float>, lab::Order, lab::LaunchShape, cudaStream_t);                    \
  template void sort_function(lab::Span<std::uint32_t>, ByLowByte, lab::LaunchShape, cudaStream_t);             \
  template void sort_function(lab::Span<std::uint32_t>, lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape, \
                              cudaStream_t);                                                                    \
  template void sort_function(lab::Span<std::uint32_t>, lab::Span<std::uint32_t>, ByLowByte, lab::LaunchShape,  \
                              cudaStream_t)

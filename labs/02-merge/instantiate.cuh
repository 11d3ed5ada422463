// Which types the steps are compiled for. To use another type or comparison, add it here and to
// MERGE_SORT_INSTANTIATE_TILES in tiles.cuh.
#pragma once

#include "items.cuh"

/// Compiles both functions of a step, such as sort_thread, for every type that merge_sort.h lists. Used once, at the
/// end of the step's file. A file that takes a long time to compile is compiled in two parts: for the types of a first look,
/// and for the others. When only nvcc's errors are wanted, it is compiled for a few types.
#define MERGE_SORT_FIRST_TYPES(sort_function)                                                                   \
  template void sort_function(lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape, cudaStream_t);            \
  template void sort_function(lab::Span<std::uint32_t>, lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape, \
                              cudaStream_t)
#define MERGE_SORT_LONG_KEYS(sort_function) \
  template void sort_function(lab::Span<std::uint64_t>, lab::Order, lab::LaunchShape, cudaStream_t)
#define MERGE_SORT_OTHER_TYPES(sort_function)                                                                  \
  template void sort_function(lab::Span<std::int32_t>, lab::Order, lab::LaunchShape, cudaStream_t);            \
  template void sort_function(lab::Span<float>, lab::Order, lab::LaunchShape, cudaStream_t);                   \
  template void sort_function(lab::Span<std::uint32_t>, lab::Span<std::uint32_t>, ByLowByte, lab::LaunchShape, \
                              cudaStream_t);                                                                   \
  MERGE_SORT_LONG_KEYS(sort_function)
#if defined(LAB_FIRST_TYPES)
#define MERGE_SORT_INSTANTIATE(sort_function) MERGE_SORT_FIRST_TYPES(sort_function)
#elif defined(LAB_OTHER_TYPES)
#define MERGE_SORT_INSTANTIATE(sort_function) MERGE_SORT_OTHER_TYPES(sort_function)
#elif defined(LAB_FEW_TYPES)
#define MERGE_SORT_INSTANTIATE(sort_function) \
  MERGE_SORT_FIRST_TYPES(sort_function);      \
  MERGE_SORT_LONG_KEYS(sort_function)
#elif defined(LAB_ANOTHER_COMPARISON)  // one that only the project's own tests use
#define MERGE_SORT_INSTANTIATE(sort_function) \
  template void sort_function(lab::Span<std::uint32_t>, ByLowByte, lab::LaunchShape, cudaStream_t)
#else
#define MERGE_SORT_INSTANTIATE(sort_function) \
  MERGE_SORT_FIRST_TYPES(sort_function);      \
  MERGE_SORT_OTHER_TYPES(sort_function)
#endif

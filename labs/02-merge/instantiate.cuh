// Which types the steps are compiled for. To use another comparison, add it to both lists.
#pragma once

#include "items.cuh"

/// Compiles both functions of a step, such as sort_thread, for every type that merge_sort.h lists. Used once, at the
/// end of the step's file. Where only the errors of nvcc are asked for, for a few of them, and where only a first look
/// is taken, for two.
#ifdef LAB_FIRST_TYPES
#define MERGE_SORT_INSTANTIATE(sort_function)                                                                   \
  template void sort_function(lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape, cudaStream_t);            \
  template void sort_function(lab::Span<std::uint32_t>, lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape, \
                              cudaStream_t)
#elif defined(LAB_FEW_TYPES)
#define MERGE_SORT_INSTANTIATE(sort_function)                                                                   \
  template void sort_function(lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape, cudaStream_t);            \
  template void sort_function(lab::Span<std::uint64_t>, lab::Order, lab::LaunchShape, cudaStream_t);            \
  template void sort_function(lab::Span<std::uint32_t>, lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape, \
                              cudaStream_t)
#else
// Without values, only the project's own tests use it.
#ifdef LAB_ALL_COMPARISONS
#define MERGE_SORT_BY_LOW_BYTE(sort_function) \
  template void sort_function(lab::Span<std::uint32_t>, ByLowByte, lab::LaunchShape, cudaStream_t);
#else
#define MERGE_SORT_BY_LOW_BYTE(sort_function)
#endif
#define MERGE_SORT_INSTANTIATE(sort_function)                                                                   \
  template void sort_function(lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape, cudaStream_t);            \
  template void sort_function(lab::Span<std::int32_t>, lab::Order, lab::LaunchShape, cudaStream_t);             \
  template void sort_function(lab::Span<std::uint64_t>, lab::Order, lab::LaunchShape, cudaStream_t);            \
  template void sort_function(lab::Span<float>, lab::Order, lab::LaunchShape, cudaStream_t);                    \
  MERGE_SORT_BY_LOW_BYTE(sort_function)                                                                         \
  template void sort_function(lab::Span<std::uint32_t>, lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape, \
                              cudaStream_t);                                                                    \
  template void sort_function(lab::Span<std::uint32_t>, lab::Span<std::uint32_t>, ByLowByte, lab::LaunchShape,  \
                              cudaStream_t)
#endif

/// The same for sort_tiles, which step 02 defines and step 03 calls.
#define MERGE_SORT_INSTANTIATE_TILES(sort_tiles)                                                                   \
  template void sort_tiles(Keys<std::uint32_t>, Keys<std::uint32_t>, std::int64_t, lab::Order, lab::LaunchShape,   \
                           cudaStream_t);                                                                          \
  template void sort_tiles(Keys<std::int32_t>, Keys<std::int32_t>, std::int64_t, lab::Order, lab::LaunchShape,     \
                           cudaStream_t);                                                                          \
  template void sort_tiles(Keys<std::uint64_t>, Keys<std::uint64_t>, std::int64_t, lab::Order, lab::LaunchShape,   \
                           cudaStream_t);                                                                          \
  template void sort_tiles(Keys<float>, Keys<float>, std::int64_t, lab::Order, lab::LaunchShape, cudaStream_t);    \
  template void sort_tiles(Keys<std::uint32_t>, Keys<std::uint32_t>, std::int64_t, ByLowByte, lab::LaunchShape,    \
                           cudaStream_t);                                                                          \
  template void sort_tiles(Items<std::uint32_t, std::uint32_t>, Items<std::uint32_t, std::uint32_t>, std::int64_t, \
                           lab::Order, lab::LaunchShape, cudaStream_t);                                            \
  template void sort_tiles(Items<std::uint32_t, std::uint32_t>, Items<std::uint32_t, std::uint32_t>, std::int64_t, \
                           ByLowByte, lab::LaunchShape, cudaStream_t)

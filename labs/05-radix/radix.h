// Lab 05, radix sort: what each step promises. Starter and solution implement the same functions.
//
// Every step sorts any n in place, in either order, and is stable: equal keys keep their order, also in descending
// order. That includes -0 and +0, which are equal. Keys: unsigned and signed integers of 8 to 64 bits, float, double
// (floats in the order of step/keys.h), and uint32_t keys with uint32_t values. Steps 02 to 05 return when the work is
// queued. Step 06 may wait for a part of it.
//
// Each step is one function template for keys with values. Keys alone are sorted by the same function with a span of no
// values, of the type NoValue. "Shape" gives the launch shapes that a function accepts: blocks, and threads per block.
#pragma once

#include <cstddef>
#include <functional>
#include <type_traits>

#include "step/error.h"
#include "step/keys.h"
#include "step/step.h"

namespace radix {

/// The type of the values where keys have none.
struct NoValue {};

template <class Value>
inline constexpr bool has_values = !std::is_same_v<std::remove_const_t<Value>, NoValue>;

/// The work of step 00 on keys in host memory, on one core. Returns the number of passes that moved keys. A digit that
/// all keys share costs no pass.
template <class Key, class Value>
int sort_on_cpu(Key* keys, Value* values, std::int64_t n, lab::Order order);
template <class Key>
int sort_on_cpu(Key* keys, std::int64_t n, lab::Order order) {
  return sort_on_cpu(keys, static_cast<NoValue*>(nullptr), n, order);
}

/// Step 00. The reference: sort_on_cpu for keys in device memory. Takes no launch shape.
template <class Key, class Value>
void sort_reference(lab::Span<Key> keys, lab::Span<Value> values, lab::Order order, lab::LaunchShape shape,
                    cudaStream_t stream);
template <class Key>
void sort_reference(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  sort_reference(keys, lab::Span<NoValue>{}, order, shape, stream);
}

/// Part of step 00. Sorts n strings of `length` letters each, which are stored consecutively without an end mark, in
/// the order of memcmp. There is one pass per letter, from the last to the first, which keeps the order of equal
/// letters.
void sort_strings_on_cpu(unsigned char* strings, std::int64_t n, std::int64_t length);

/// The same for strings of 8 letters in device memory, as step/table.h describes the task. Takes no launch shape.
void sort_strings(lab::Span<const std::uint64_t> strings, lab::Span<std::uint64_t> sorted, lab::LaunchShape shape,
                  cudaStream_t stream);

/// Step 01. Counts the digits and scans the counters on the device; the host moves the keys. Digits of 8 bits.
/// Shape: any blocks, 1 to 1024 threads.
template <class Key, class Value>
void sort_host_move(lab::Span<Key> keys, lab::Span<Value> values, lab::Order order, lab::LaunchShape shape,
                    cudaStream_t stream);
template <class Key>
void sort_host_move(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  sort_host_move(keys, lab::Span<NoValue>{}, order, shape, stream);
}

/// Parts of step 01: the bits of floats as unsigned integers of the same order, and back. All bit patterns have an
/// order: -0 comes before +0, unlike in the sorts, which treat the zeros as equal. Four values per thread. Shape: any
/// blocks, 1 to 1024 threads.
void flip(lab::Span<const std::uint32_t> floats, lab::Span<std::uint32_t> integers, lab::LaunchShape shape,
          cudaStream_t stream);
void unflip(lab::Span<const std::uint32_t> integers, lab::Span<std::uint32_t> floats, lab::LaunchShape shape,
            cudaStream_t stream);

/// Step 02. One bit per pass: keys whose bit is 0 move before those whose bit is 1. Shape: any blocks, a multiple of 32
/// threads.
template <class Key, class Value>
void sort_split(lab::Span<Key> keys, lab::Span<Value> values, lab::Order order, lab::LaunchShape shape,
                cudaStream_t stream);
template <class Key>
void sort_split(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  sort_split(keys, lab::Span<NoValue>{}, order, shape, stream);
}

/// Step 03. Four bits per pass: a tile is sorted by its digit in shared memory, so that its keys are stored in runs.
/// Shape: any blocks, 256 threads.
/// Source: N. Satish, M. Harris and M. Garland, "Designing efficient sorting algorithms for manycore GPUs", 2009.
template <class Key, class Value>
void sort_digits(lab::Span<Key> keys, lab::Span<Value> values, lab::Order order, lab::LaunchShape shape,
                 cudaStream_t stream);
template <class Key>
void sort_digits(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  sort_digits(keys, lab::Span<NoValue>{}, order, shape, stream);
}

/// Step 04. Eight bits per pass, which reads each key once: by decoupled look-back, a tile finds out from the tiles
/// before it where its keys go. Shape: any blocks, 384 threads.
/// Sources: A. Adinets and D. Merrill, "Onesweep", 2022; D. Merrill and M. Garland, "Single-pass parallel prefix scan
/// with decoupled look-back", 2016.
template <class Key, class Value>
void sort_onesweep(lab::Span<Key> keys, lab::Span<Value> values, lab::Order order, lab::LaunchShape shape,
                   cudaStream_t stream);
template <class Key>
void sort_onesweep(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  sort_onesweep(keys, lab::Span<NoValue>{}, order, shape, stream);
}

/// The device memory, in bytes, that sort_onesweep has allocated while it sorts n keys of type uint32_t without values:
/// a second array of keys, counters, and what the tiles publish. The keys themselves are not included. Grows with n.
std::int64_t onesweep_temporary_bytes(std::int64_t n);

/// Step 05. Step 04 without its waits, and without passes that would move nothing. Shape: any blocks, 512 threads.
/// Temporary memory: a copy of the keys and values, 2 KiB per tile, and at most 17 KiB.
template <class Key, class Value>
void sort_pipeline(lab::Span<Key> keys, lab::Span<Value> values, lab::Order order, lab::LaunchShape shape,
                   cudaStream_t stream);
template <class Key>
void sort_pipeline(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  sort_pipeline(keys, lab::Span<NoValue>{}, order, shape, stream);
}

/// Another sort that may take the place of step 05's passes. The device and the host know the decision from the same
/// word.
template <class Key>
struct OtherSort {
  const unsigned* is_chosen;  ///< in device memory: if it is not 0, the keys are not counted
  /// Called when the count of the keys has been queued. Sorts the keys, with room for n keys at `scratch`, and returns
  /// true, or returns false if the other sort is not chosen.
  std::function<bool(Key* scratch)> sort;
};

/// Step 05, unless another sort is chosen while the device counts the keys. Keys: 2 to 2^30 of uint32_t, int32_t or
/// float.
template <class Key>
void sort_pipeline_unless(const OtherSort<Key>& other, lab::Span<Key> keys, lab::Order order, cudaStream_t stream);

/// Step 06. The record: the highest digit first (MSD). Many keys of 4 bytes without values are partitioned by their
/// highest bits into buckets, each of which one block sorts, if a sample shows that they are spread. All others are
/// sorted by step 05, and so are all keys if a shape is given. Not stable where that cannot be noticed: for keys without
/// values. Shape: any blocks, 512 threads. Temporary memory: that of step 05, at most 2 more bytes per key, and 0.3 MiB.
/// Source: E. Stehle and H.-A. Jacobsen, "A memory bandwidth-efficient hybrid radix sort on GPUs", SIGMOD 2017.
template <class Key, class Value>
void sort_record(lab::Span<Key> keys, lab::Span<Value> values, lab::Order order, lab::LaunchShape shape,
                 cudaStream_t stream);
template <class Key>
void sort_record(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  sort_record(keys, lab::Span<NoValue>{}, order, shape, stream);
}

}  // namespace radix

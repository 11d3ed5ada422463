// The method of step 06 for many keys that have few different values, which neither partitions nor passes sort fast:
// count the keys of each value, and write each value as often as it occurs. Whether it is possible is known only on the
// device, when the partitions have left the keys unsorted. few_values.cu has the kernels.
#pragma once

#include <cstdint>

#include "key_transform.cuh"

namespace radix {

/// The values of the keys, if they are at most `max`, and how many keys have each. All 0 at the start.
struct FewValues {
  static constexpr int max = 1024, slots = 2 * max;

  unsigned failed;                  ///< not 0 if there are more than `max` values
  unsigned values;                  ///< how many values there are; 0 if not all keys were counted
  unsigned long long taken[slots];  ///< a hash table of the transformed values, each plus 2^32
  unsigned counts[slots];           ///< how many keys have the value in this slot
  std::uint32_t keys[max];          ///< the transformed values, ascending
  unsigned ends[max];               ///< where the keys of each value end in the sorted array
};

/// Queues the kernels that sort the keys if *unsorted is not 0 and they have few values, and then set *unsorted to 0.
/// `values`: all 0. Both are in device memory. Key: uint32_t, float.
template <class Key>
void sort_few_values(lab::Span<std::uint32_t> keys, KeyTransform<Key> transform, FewValues* values, unsigned* unsorted,
                     cudaStream_t stream);

}  // namespace radix

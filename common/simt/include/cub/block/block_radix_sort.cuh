// BlockRadixSort (CUB, "Block-wide Primitives"): a split for each bit (Blelloch, "Prefix Sums and Their Applications").
#pragma once

#include <type_traits>

#include "../detail/radix_bits.cuh"
#include "block_exchange.cuh"
#include "block_scan.cuh"

namespace cub {

/// The sort is stable. Keys are integers or floating-point numbers.
template <class Key, int BlockX, int Items, class Value = NullType, int /*RADIX_BITS*/ = 4,
          bool /*MEMOIZE_OUTER_SCAN*/ = true, BlockScanAlgorithm = BLOCK_SCAN_WARP_SCANS, int /*SMEM_CONFIG*/ = 0,
          int BlockY = 1, int BlockZ = 1>
class BlockRadixSort {
  static constexpr int threads = BlockX * BlockY * BlockZ, all_bits = 8 * sizeof(Key);
  using Scan = BlockScan<int, BlockX, BLOCK_SCAN_RAKING, BlockY, BlockZ>;
  template <class T>
  using Exchange = BlockExchange<T, BlockX, Items, false, BlockY, BlockZ>;

 public:
  union TempStorage {
    /// Not where the thread's own key is, so that the check build notices if the storage is used again too early.
    struct {
      int gap;
      typename Scan::TempStorage scan;
    } first;
    typename Exchange<Key>::TempStorage keys;
    typename Exchange<Value>::TempStorage values;
  };

  explicit BlockRadixSort(TempStorage& storage, simt::Site = simt::Site::here()) : storage_(storage) {}
  explicit BlockRadixSort(simt::Site site = simt::Site::here()) : BlockRadixSort(own_storage(), site) {}

#define SIMT_SORT(name, is_descending, is_striped)                                                 \
  [[gnu::always_inline]] void name(Key(&keys)[Items], int begin_bit = 0, int end_bit = all_bits,   \
                                   simt::Site site = simt::Site::here()) {                         \
    Value values[Items];                                                                           \
    sort<is_striped, false>(keys, values, {begin_bit, end_bit, is_descending}, site);              \
  }                                                                                                \
  [[gnu::always_inline]] void name(Key(&keys)[Items], Value(&values)[Items], int begin_bit = 0,    \
                                   int end_bit = all_bits, simt::Site site = simt::Site::here()) { \
    sort<is_striped, true>(keys, values, {begin_bit, end_bit, is_descending}, site);               \
  }
  SIMT_SORT(Sort, false, false)
  SIMT_SORT(SortDescending, true, false)
  SIMT_SORT(SortBlockedToStriped, false, true)
  SIMT_SORT(SortDescendingBlockedToStriped, true, true)
#undef SIMT_SORT

 private:
  static TempStorage& own_storage() {
    __shared__ TempStorage storage;
    return storage;
  }

  template <bool is_striped, bool has_values>
  [[gnu::always_inline]] void sort(Key (&keys)[Items], Value (&values)[Items], const detail::BitRange& range,
                                   simt::Site site) {
    for (int bit = range.begin; bit < range.end; ++bit) {
      if (bit != range.begin) __syncthreads(site);  // the keys of the last split are read
      int ranks[Items];
      split(keys, range, bit, ranks, site);
      __syncthreads(site);  // the scan is read
      Exchange<Key>(storage_.keys, site).ScatterToBlocked(keys, ranks, site);
      if constexpr (has_values) {
        __syncthreads(site);  // the keys are read
        Exchange<Value>(storage_.values, site).ScatterToBlocked(values, ranks, site);
      }
    }
    if constexpr (is_striped) {
      __syncthreads(site);  // the last items are read
      Exchange<Key>(storage_.keys, site).BlockedToStriped(keys, site);
      if constexpr (has_values) {
        __syncthreads(site);  // the keys are read
        Exchange<Value>(storage_.values, site).BlockedToStriped(values, site);
      }
    }
  }

  /// Keys whose bit is 0 come before those whose bit is 1.
  [[gnu::always_inline]] void split(const Key (&keys)[Items], const detail::BitRange& range, int bit,
                                    int (&ranks)[Items], simt::Site site) {
    int zeros = 0, zeros_before = 0, all_zeros = 0;
    for (const Key& key : keys) zeros += range.digit(key, bit, 1) == 0;
    Scan(storage_.first.scan, site).ExclusiveSum(zeros, zeros_before, all_zeros, site);
    int ones_before = RowMajorTid(BlockX, BlockY, BlockZ) * Items - zeros_before;
    for (int i = 0; i < Items; ++i) {
      ranks[i] = range.digit(keys[i], bit, 1) == 0 ? zeros_before++ : all_zeros + ones_before++;
    }
  }

  TempStorage& storage_;
};

}  // namespace cub

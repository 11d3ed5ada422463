// Step 04: merge path.
//
// Idea: cut the output, not the input. Of the first d keys of a merge some come from a, the others from b; how many
// from a is found by a binary search along a diagonal of the grid that a and b span. Two cuts bound a part of the
// output and of both inputs. So every block makes one tile of the output, and within it every thread the same number of
// keys, one after another, in registers.
// New since step 03: pieces of equal size, as large as shared memory likes, whatever the keys are; and within a piece a
// thread searches once for 17 keys, where ranks need a search a key. The tiles at the start are sorted the same way: 17
// keys a thread in registers, then merges of 2, 4, .. 256 threads' keys.
// Cost: 1 + ceil(log2(n / tile)) reads and writes of every key and twice as many launches; a tile is 4352 keys of 4
// bytes, 2816 of 8 bytes.
// Limits: 256 threads a block. The trips through memory remain: each level reads and writes all keys to double the
// runs.
#include <cstdint>
#include <utility>

#include "own_items.cuh"
#include "step/launch_shape.h"

namespace merge_sort {
namespace {

/// How many of the first `diagonal` keys of the merge of a[0 .. a_count) and b[0 .. b_count) come from a.
template <class Index, class Key, class Before>
__device__ Index merge_path(const Key* a, Index a_count, const Key* b, Index b_count, Index diagonal, Before before) {
  Index low = 0;
  // begin solution
  //~ // Your code: the answer lies between low and high, the fewest and the most that a can give. Halve what lies
  //~ // between: if a gives more than `middle`, then a[middle] goes before b[diagonal - 1 - middle]. Which one if they
  //~ // are equal?
  low = max(diagonal - b_count, Index(0));
  Index high = min(diagonal, a_count);
  while (low < high) {
    const Index middle = low + (high - low) / 2;
    if (before(b[diagonal - 1 - middle], a[middle])) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  // end solution
  return low;
}

/// Merges from[a .. a_end) and from[b .. b_end), as many items as are a thread's own, or fewer if no more are there.
template <class Key, class Value, class Before>
__device__ void merge_serially(OwnItems<Key, Value>& own, Items<Key, Value> from, int a, int a_end, int b, int b_end,
                               Before before) {
  // begin solution
  //~ // Your code: own.keys[0], own.keys[1], .. as in step 01, but with the next key of each run in a register, so that
  //~ // an item costs one read. Read nothing beyond a run's end. Let the loop have a constant length and unroll it: an
  //~ // array lies in registers only if all its indexes are known when the kernel is compiled.
  const int left = (a_end - a) + (b_end - b);
  Key a_key{}, b_key{};
  if (a < a_end) a_key = from.keys[a];
  if (b < b_end) b_key = from.keys[b];
#pragma unroll
  for (int k = 0; k < own_count<Key>; ++k) {
    const bool take_b = b < b_end && (a >= a_end || before(b_key, a_key));
    own.keys[k] = take_b ? b_key : a_key;
    if constexpr (has_values<Value>) {
      if (k < left) own.values[k] = from.values[take_b ? b : a];
    }
    if (take_b) {
      if (++b < b_end) b_key = from.keys[b];
    } else {
      if (++a < a_end) a_key = from.keys[a];
    }
  }
  // end solution
}

/// The thread's own part, from place `diagonal` on, of the merge of tile[first .. middle) and tile[middle .. end).
template <class Key, class Value, class Before>
__device__ void merge_own(OwnItems<Key, Value>& own, Items<Key, Value> tile, int first, int middle, int end,
                          int diagonal, Before before) {
  diagonal = min(diagonal, end - first);
  const int a = merge_path(tile.keys + first, middle - first, tile.keys + middle, end - middle, diagonal, before);
  merge_serially(own, tile, first + a, middle, middle + (diagonal - a), end, before);
}

/// Each block sorts tiles blockIdx.x, blockIdx.x + gridDim.x, ..
template <class Key, class Value, class Before>
__global__ void __launch_bounds__(path_threads)
    sort_tiles(Items<Key, Value> from, Items<Key, Value> to, std::int64_t n, Before before) {
  constexpr int tile_keys = path_tile<Key>, own_keys = own_count<Key>;
  __shared__ Key keys[tile_keys];
  __shared__ Value values[has_values<Value> ? tile_keys : 1];
  const Items<Key, Value> tile{keys, values};
  const int t = threadIdx.x;
  for (std::int64_t out = std::int64_t(blockIdx.x) * tile_keys; out < n; out += std::int64_t(gridDim.x) * tile_keys) {
    const int count = int(min(n - out, std::int64_t(tile_keys)));
    for_tile<Key>(count, [&](int i) { copy_item(tile, i, from, out + i); });
    __syncthreads();  // what is a thread's own was loaded by others
    OwnItems<Key, Value> own;
    take_own(own, tile, count);
    sort_own(own, count - t * own_keys, before);
    // begin solution
    //~ // Your code: merge the runs of 1, 2, 4, .. 128 threads: put the own items into the tile, take the own part of
    //~ // the merge with merge_own(). At the end the tile holds the sorted items. Where must barriers be?
    for (int width = 2; width <= path_threads; width *= 2) {  // threads that make one merge
      put_own(tile, own, count);
      __syncthreads();  // a merge reads what other threads have put
      const int first = min((t & -width) * own_keys, count);
      const int middle = min(first + width / 2 * own_keys, count), end = min(first + width * own_keys, count);
      merge_own(own, tile, first, middle, end, (t & (width - 1)) * own_keys, before);
      __syncthreads();  // nobody puts over items that others still read
    }
    put_own(tile, own, count);
    __syncthreads();  // the store reads what other threads have put
    // end solution
    for_tile<Key>(count, [&](int i) { copy_item(to, out + i, tile, i); });
    __syncthreads();  // not needed as long as who stores a place also loads it; here for the day when that changes
  }
}

/// Finds for each tile of the output where its part of a begins. A launch of its own: the searches of all tiles run at
/// once, where in the next kernel 256 threads would wait for one.
template <class Key, class Before>
__global__ void find_cuts(const Key* from, std::int64_t n, std::int64_t run, std::int64_t* cuts, std::int64_t tiles,
                          Before before) {
  const std::int64_t step = std::int64_t(gridDim.x) * blockDim.x;
  for (std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < tiles; i += step) {
    const Merge merge = merge_at(i, run, path_tile<Key>, n);
    cuts[i] = merge.first + merge_path(from + merge.first, merge.middle - merge.first, from + merge.middle,
                                       merge.end - merge.middle, i * path_tile<Key> - merge.first, before);
  }
}

/// Each block makes tiles blockIdx.x, blockIdx.x + gridDim.x, .. of the output of one level.
template <class Key, class Value, class Before>
__global__ void __launch_bounds__(path_threads)
    merge_tiles(Items<Key, Value> from, Items<Key, Value> to, std::int64_t n, std::int64_t run,
                const std::int64_t* cuts, std::int64_t tiles, Before before) {
  constexpr int tile_keys = path_tile<Key>, own_keys = own_count<Key>;
  __shared__ Key keys[tile_keys];
  __shared__ Value values[has_values<Value> ? tile_keys : 1];
  const Items<Key, Value> tile{keys, values};
  const int t = threadIdx.x;
  for (std::int64_t index = blockIdx.x; index < tiles; index += gridDim.x) {
    const Merge merge = merge_at(index, run, tile_keys, n);
    const std::int64_t out = index * tile_keys;
    const int count = int(min(merge.end - out, std::int64_t(tile_keys)));
    // begin solution
    //~ // Your code: which items of a, and of b, does this tile need? cuts[index] and cuts[index + 1] tell, but for the
    //~ // last tile of a merge. Load them one after the other into the tile, neighbouring threads reading neighbouring
    //~ // keys; merge_own(); put the own items into the tile; store it. Where must barriers be?
    //~ (void)tile, (void)t, (void)count, (void)own_keys;
    const bool last = out + count == merge.end;
    const std::int64_t a = cuts[index], b = merge.middle + (out - a);
    const int a_count = int((last ? merge.middle : cuts[index + 1]) - a);
    for_tile<Key>(count, [&](int i) { copy_item(tile, i, from, i < a_count ? a + i : b + (i - a_count)); });
    __syncthreads();  // a thread's part was loaded by others
    OwnItems<Key, Value> own;
    merge_own(own, tile, 0, a_count, count, t * own_keys, before);
    __syncthreads();  // nobody puts over items that others still read
    put_own(tile, own, count);
    __syncthreads();  // the store reads what other threads have put
    for_tile<Key>(count, [&](int i) { copy_item(to, out + i, tile, i); });
    __syncthreads();  // not needed as long as who stores a place also loads it; here for the day when that changes
    // end solution
  }
}

template <class Key, class Value, class Before>
void sort(Items<Key, Value> items, std::int64_t n, Before before, lab::LaunchShape shape, cudaStream_t stream) {
  if (lab::threads_or(shape, path_threads) != path_threads) throw lab::Unsupported("this step has 256 threads a block");
  const std::int64_t tiles = (n + path_tile<Key> - 1) / path_tile<Key>;
  const unsigned blocks = lab::blocks_or(shape, tiles, 1), find_blocks = lab::blocks_or(shape, tiles, path_threads);
  if (n < 2) return;
  const Scratch<Key, Value> scratch(n, stream);
  const lab::DeviceArray<std::int64_t> cuts(tiles, stream);
  Items<Key, Value> from = items, to = scratch.items();
  // So that the last level ends in the caller's array.
  if (merge_levels(n, path_tile<Key>) % 2 == 1) std::swap(from, to);
  // begin solution
  //~ // Your code: sort_tiles from the caller's items to `from`; then for runs of 1, 2, 4, .. tiles find_cuts,
  //~ // merge_tiles, and the buffers swap. Check each launch.
  //~ (void)blocks, (void)find_blocks, (void)before, (void)to;
  //~ NOT_WRITTEN("step 04");
  sort_tiles<<<blocks, path_threads, 0, stream>>>(items, from, n, before);
  CUDA_CHECK(cudaGetLastError());
  for (std::int64_t run = 1; run < tiles; run *= 2) {
    find_cuts<<<find_blocks, path_threads, 0, stream>>>(from.keys, n, run, cuts.data(), tiles, before);
    CUDA_CHECK(cudaGetLastError());
    merge_tiles<<<blocks, path_threads, 0, stream>>>(from, to, n, run, cuts.data(), tiles, before);
    CUDA_CHECK(cudaGetLastError());
    std::swap(from, to);
  }
  // end solution
}

}  // namespace

template <class Key, class Before>
void sort_path(lab::Span<Key> keys, Before before, lab::LaunchShape shape, cudaStream_t stream) {
  with_comparison(before, [&](auto comparison) { sort(items_of(keys), keys.n, comparison, shape, stream); });
}

template <class Key, class Value, class Before>
void sort_path(lab::Span<Key> keys, lab::Span<Value> values, Before before, lab::LaunchShape shape,
               cudaStream_t stream) {
  with_comparison(before, [&](auto comparison) { sort(items_of(keys, values), keys.n, comparison, shape, stream); });
}

template void sort_path(lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_path(lab::Span<std::int32_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_path(lab::Span<std::uint64_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_path(lab::Span<float>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_path(lab::Span<std::uint32_t>, ByLowByte, lab::LaunchShape, cudaStream_t);
template void sort_path(lab::Span<std::uint32_t>, lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_path(lab::Span<std::uint32_t>, lab::Span<std::uint32_t>, ByLowByte, lab::LaunchShape, cudaStream_t);

}  // namespace merge_sort

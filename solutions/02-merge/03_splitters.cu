// Step 03: many blocks a merge, by splitters.
//
// Idea: every 256th key of both runs is a splitter. A splitter cuts the merge in two: what stands before it in its own
// run, and what a binary search finds before it in the other run, goes to its left, all the rest to its right. All
// splitters of a merge together cut it into pieces that have nothing to do with each other, and no piece has more than
// 256 keys of either run. A block merges a piece, by ranks, as step 02 does.
// New since step 02, whose tiles are the start: a level has as many blocks as pieces, however few merges it has. The
// splitters find their own order the same way as keys do: a splitter's place is its index in its own run's splitters
// plus its rank among the other run's, which the cut in the other run tells.
// Cost: 1 + ceil(log2(n / 2048)) reads and writes of every key and twice as many launches; a splitter reads about log2
// n keys, and its cut is 16 bytes for 256 keys.
// Limits: a piece has 1 to 512 keys, 256 on average: half of a block's places are idle, and each piece pays for its own
// start, its two barriers, and sectors that it shares with its neighbours.
#include <cstdint>
#include <utility>

#include "rank.cuh"
#include "step/launch_shape.h"
#include "tiles.cuh"

namespace merge_sort {
namespace {

static_assert(tile_keys % piece_keys == 0, "the splitters of all runs lie piece_keys apart in the whole array");
constexpr int default_threads = 256;

/// Where a splitter cuts the two runs of its merge: items from these places on stand to its right. Aligned, so that a
/// thread reads or writes it in one access.
struct alignas(16) Cut {
  std::int64_t a;
  std::int64_t b;
};

/// Finds the cut of every splitter from[0], from[256], .. and puts it where the piece to its right has its number.
template <class Key, class Before>
__global__ void find_cuts(const Key* from, std::int64_t n, std::int64_t run, Cut* cuts, std::int64_t pieces,
                          Before before) {
  const std::int64_t step = std::int64_t(gridDim.x) * blockDim.x;
  for (std::int64_t s = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; s < pieces; s += step) {
    const std::int64_t place = s * piece_keys;
    const Merge merge = merge_at(s, run, piece_keys, n);
    // begin solution
    //~ // Your code: the splitter is from[place], a key of a or of b. How many keys of the other run go before it? That
    //~ // is its cut. How many splitters of the other run are among those keys? Added to the splitter's index, that is
    //~ // its place among the splitters of this merge, the first of which has the number merge.first / piece_keys.
    //~ (void)merge;
    const Key splitter = from[place];
    Cut cut{place, place};
    std::int64_t rank;  // keys of the other run that go before the splitter; every 256th of them is a splitter
    if (place < merge.middle) {
      rank = lower_rank(from + merge.middle, merge.end - merge.middle, splitter, before);
      cut.b = merge.middle + rank;
    } else {
      rank = upper_rank(from + merge.first, merge.middle - merge.first, splitter, before);
      cut.a = merge.first + rank;
    }
    const std::int64_t own = place < merge.middle ? place : place - (merge.middle - merge.first);
    cuts[own / piece_keys + (rank + piece_keys - 1) / piece_keys] = cut;
    // end solution
  }
}

/// Each block merges pieces blockIdx.x, blockIdx.x + gridDim.x, ..: what lies between a cut and the next one.
template <class Key, class Value, class Before>
__global__ void merge_pieces(Items<Key, Value> from, Items<Key, Value> to, std::int64_t n, std::int64_t run,
                             const Cut* cuts, std::int64_t pieces, Before before) {
  __shared__ Key keys[2][2 * piece_keys];
  __shared__ Value values[2][has_values<Value> ? 2 * piece_keys : 1];
  const Items<Key, Value> loaded{keys[0], values[0]}, merged{keys[1], values[1]};
  const Key* const a_keys = keys[0];
  const Key* const b_keys = keys[0] + piece_keys;
  for (std::int64_t piece = blockIdx.x; piece < pieces; piece += gridDim.x) {
    const Merge merge = merge_at(piece, run, piece_keys, n);
    // begin solution
    //~ // Your code: the piece begins at cuts[piece] and ends at the next cut, or where the two runs end, if it is the
    //~ // last piece of its merge. Load its keys of a and of b, place them in `merged` by their ranks, store them in
    //~ // order. How many items of the output stand before the piece?
    //~ (void)merge, (void)loaded, (void)merged, (void)a_keys, (void)b_keys;
    const Cut cut = cuts[piece];
    const bool last = (piece + 1) * piece_keys >= merge.end;
    const Cut next = last ? Cut{merge.middle, merge.end} : cuts[piece + 1];
    const int a_count = int(next.a - cut.a), b_count = int(next.b - cut.b);
    const std::int64_t out = cut.a + (cut.b - merge.middle);
    for (int i = threadIdx.x; i < a_count; i += blockDim.x) copy_item(loaded, i, from, cut.a + i);
    for (int i = threadIdx.x; i < b_count; i += blockDim.x) copy_item(loaded, piece_keys + i, from, cut.b + i);
    __syncthreads();  // ranks are counted among keys that other threads have loaded
    for (int i = threadIdx.x; i < a_count; i += blockDim.x) {
      copy_item(merged, i + lower_rank(b_keys, b_count, a_keys[i], before), loaded, i);
    }
    for (int i = threadIdx.x; i < b_count; i += blockDim.x) {
      copy_item(merged, i + upper_rank(a_keys, a_count, b_keys[i], before), loaded, piece_keys + i);
    }
    __syncthreads();  // the store reads what other threads have placed; the next load overwrites what they have read
    for (int i = threadIdx.x; i < a_count + b_count; i += blockDim.x) copy_item(to, out + i, merged, i);
    // end solution
  }
}

template <class Key, class Value, class Before>
void sort(Items<Key, Value> items, std::int64_t n, Before before, lab::LaunchShape shape, cudaStream_t stream) {
  const int threads = lab::threads_or(shape, default_threads);
  const std::int64_t pieces = (n + piece_keys - 1) / piece_keys;
  const unsigned find_blocks = lab::blocks_or(shape, pieces, threads), merge_blocks = lab::blocks_or(shape, pieces, 1);
  const Scratch<Key, Value> scratch(n, stream);
  const lab::DeviceArray<Cut> cuts(pieces, stream);
  Items<Key, Value> from = items, to = scratch.items();
  if (merge_levels(n, tile_keys) % 2 == 1) std::swap(from, to);  // so that the last level ends in the caller's array
  sort_tiles(items, from, n, before, shape, stream);
  // begin solution
  //~ // Your code: for runs of 1, 2, 4, .. tiles, find_cuts, then merge_pieces, then the buffers swap. The comparison
  //~ // is what with_comparison(before, ..) gives. Check each launch.
  //~ (void)find_blocks, (void)merge_blocks, (void)threads, (void)to;
  //~ NOT_WRITTEN("step 03");
  for (std::int64_t run = tile_keys / piece_keys; run < pieces; run *= 2) {  // pieces of a run
    with_comparison(before, [&](auto comparison) {
      find_cuts<<<find_blocks, threads, 0, stream>>>(from.keys, n, run, cuts.data(), pieces, comparison);
      CUDA_CHECK(cudaGetLastError());
      merge_pieces<<<merge_blocks, threads, 0, stream>>>(from, to, n, run, cuts.data(), pieces, comparison);
      CUDA_CHECK(cudaGetLastError());
    });
    std::swap(from, to);
  }
  // end solution
}

}  // namespace

template <class Key, class Before>
void sort_splitters(lab::Span<Key> keys, Before before, lab::LaunchShape shape, cudaStream_t stream) {
  sort(items_of(keys), keys.n, before, shape, stream);
}

template <class Key, class Value, class Before>
void sort_splitters(lab::Span<Key> keys, lab::Span<Value> values, Before before, lab::LaunchShape shape,
                    cudaStream_t stream) {
  sort(items_of(keys, values), keys.n, before, shape, stream);
}

template void sort_splitters(lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_splitters(lab::Span<std::int32_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_splitters(lab::Span<std::uint64_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_splitters(lab::Span<float>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_splitters(lab::Span<std::uint32_t>, ByLowByte, lab::LaunchShape, cudaStream_t);
template void sort_splitters(lab::Span<std::uint32_t>, lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape,
                             cudaStream_t);
template void sort_splitters(lab::Span<std::uint32_t>, lab::Span<std::uint32_t>, ByLowByte, lab::LaunchShape,
                             cudaStream_t);

}  // namespace merge_sort

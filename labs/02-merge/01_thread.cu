// Step 01: one thread per merge.
//
// Idea: two neighbouring sorted runs become one if you take the smaller of their two first keys again and again. A run
// of one key is sorted, so log2 n levels of merges sort the array, each level with half as many runs as the one before.
// The merges of a level are independent, so each is the work of one thread. The next level needs all their results, so
// each level is one launch. A merge must not overwrite keys that it has not read yet, so each level moves all keys from
// one array to another, and the two arrays swap roles. Nothing is copied back after a level.
#include <cstdint>
#include <utility>

#include "instantiate.cuh"
#include "levels.cuh"
#include "step/launch_shape.h"

namespace merge_sort {
namespace {

constexpr int default_threads_per_block = 128;

/// Merges the sorted runs from[first, middle) and from[middle, end) to to[first, end).
template <class Key, class Value, class Before>
__device__ void merge_runs(Items<Key, Value> from, Items<Key, Value> to, std::int64_t first, std::int64_t middle,
                           std::int64_t end, Before before) {
  // Your code: fill to[first, end) from its beginning. Each position receives the next key of one of the two runs. Of
  // which run, if both have keys left? If the two next keys are equal? If one run is used up? before(a, b) compares
  // keys, and copy_item(to, i, from, j) copies a key and its value.
}

/// One level, `pairs` merges: each thread merges two neighbouring runs of `run` keys, and more of them if there are
/// fewer threads than pairs. The last pair may be short, and its second run may be empty.
template <class Key, class Value, class Before>
__global__ void merge_level(Items<Key, Value> from, Items<Key, Value> to, std::int64_t n, std::int64_t pairs,
                            std::int64_t run, Before before) {
  // Your code: thread t merges the runs that begin at 2 * run * t and 2 * run * t + run. Neither extends beyond n.
}

template <class Key, class Value, class Before>
void sort(Items<Key, Value> items, std::int64_t n, Before before, lab::LaunchShape shape, cudaStream_t stream) {
  const int threads_per_block = lab::threads_or(shape, default_threads_per_block);
  lab::blocks_or(shape, n, threads_per_block);  // throws for an impossible shape before anything is changed
  if (n < 2) return;
  const Scratch<Key, Value> scratch(n, stream);
  Items<Key, Value> from = items, to = scratch.items();
  // Your code: launch merge_level for runs of 1, 2, 4, ... keys, and swap `from` and `to` after each launch. Check
  // each launch. The last level must write to the caller's array: what does that mean for the first one?
  // merge_levels(n, 1) counts the levels, and copy_items() may help.
  (void)from, (void)to, (void)copy_items<Key, Value>;
  NOT_WRITTEN("step 01");
}

}  // namespace

template <class Key, class Before>
void sort_thread(lab::Span<Key> keys, Before before, lab::LaunchShape shape, cudaStream_t stream) {
  with_comparison(before, [&](auto comparison) { sort(items_of(keys), keys.n, comparison, shape, stream); });
}

template <class Key, class Value, class Before>
void sort_thread(lab::Span<Key> keys, lab::Span<Value> values, Before before, lab::LaunchShape shape,
                 cudaStream_t stream) {
  with_comparison(before, [&](auto comparison) { sort(items_of(keys, values), keys.n, comparison, shape, stream); });
}

MERGE_SORT_INSTANTIATE(sort_thread);

}  // namespace merge_sort

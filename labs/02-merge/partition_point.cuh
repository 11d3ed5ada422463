// The merge path as a function of two accessors: where a merge is divided, however its runs are stored. Step 05 and lab
// 06 call it.
#pragma once

namespace merge_sort {

/// The first position of [first, last) for which `holds` is false, or `last` if there is none: a binary search, as in
/// std::partition_point. `holds` must be true for all positions before the one returned, and false from there on.
template <class Index, class Predicate>
__device__ inline Index partition_point(Index first, Index last, Predicate holds) {
  while (first < last) {
    const Index probe = first + (last - first) / 2;
    if (holds(probe)) {
      first = probe + 1;
    } else {
      last = probe;
    }
  }
  return first;
}

/// The runs of a merge, a and b, wherever their keys are stored: key_at(i) is key i of a, and key_before(j) is the key
/// of b before key j.
template <class Index, class KeyAt, class KeyBefore>
struct MergePath {
  Index a_count;
  KeyAt key_at;
  Index b_count;
  KeyBefore key_before;

  /// The co-rank of a position in the output: how many of the first `position` keys come from a. Of equal keys, those
  /// of a go first. Key i of a is among them unless key position - i - 1 of b must come before it. In that case all
  /// keys of b up to that one come before it, and so do the first i keys of a, which makes `position` keys.
  /// Source: C. Siebert, J. L. Traeff, "Perfectly load-balanced, optimal, stable, parallel merge", 2013.
  template <class Before>
  __device__ Index co_rank(Index position, Before before) const {
    const auto comes_from_a = [&](Index i) { return !before(key_before(position - i), key_at(i)); };
    return partition_point(max(position - b_count, Index(0)), min(position, a_count), comes_from_a);
  }
};
template <class Index, class KeyAt, class KeyBefore>
MergePath(Index, KeyAt, Index, KeyBefore) -> MergePath<Index, KeyAt, KeyBefore>;

}  // namespace merge_sort

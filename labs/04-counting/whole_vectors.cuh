// How few_words.cuh shares out the keys, and the sorted keys, among the blocks of a cluster.
#pragma once

#include <cstdint>

namespace counting {

/// The blocks of a cluster. More than 8 are not portable: a device may have no room for 16 at the same time.
inline constexpr int few_words_blocks = 16;
inline constexpr int few_words_threads = 1024;
inline constexpr int vectors_per_thread = 8;  ///< that it counts, and that it writes
/// Vectors of the output, or of the keys, that a block has at most.
inline constexpr int few_words_share = few_words_threads * vectors_per_thread;

/// The n keys from `keys` on, as vectors at addresses divisible by 16. The first and the last may lie partly outside.
struct WholeVectors {
  std::uint16_t* base;  ///< where the first vector begins: up to 7 keys before the first key
  int first, end;       ///< positions, from `base` on, of the first key, and behind the last one
  int share;            ///< vectors per block of the cluster, the last of which may have fewer
  int rows;             ///< vectors per thread

  WholeVectors(std::uint16_t* keys, std::int64_t n)
      : base(keys - reinterpret_cast<std::uintptr_t>(keys) % 16 / sizeof *keys),
        first(int(keys - base)),
        end(int(first + n)),
        share((end + 8 * few_words_blocks - 1) / (8 * few_words_blocks)),
        rows((share + few_words_threads - 1) / few_words_threads) {}

  __device__ bool has_all_of(int vector) const { return 8 * vector >= first && 8 * vector + 8 <= end; }
  __device__ bool has(int position) const { return position >= first && position < end; }
};

/// The vectors of a block, and of a thread in it: those that it counts, and those that it writes.
struct FewWordsShare {
  int rank;        ///< of the block in its cluster
  int begin, end;  ///< vectors of the block
  /// The thread's first vector. The others follow at distances of 32, 64, ..., so that the vectors of a warp are
  /// neighbours, because equal keys often are, too.
  int first;

  __device__ __forceinline__ FewWordsShare(const WholeVectors& keys, int rank)
      : rank(rank),
        begin(rank * keys.share),
        end(min(begin + keys.share, (keys.end + 7) / 8)),
        first(begin + int(threadIdx.x) / 32 * 32 * keys.rows + int(threadIdx.x) % 32) {}

  /// Loads the thread's vectors, apart from those that lie partly outside the keys.
  __device__ __forceinline__ void load(const WholeVectors& keys, uint4 (&vectors)[vectors_per_thread]) const {
#pragma unroll
    for (int i = 0; i < vectors_per_thread; ++i) {
      const int v = first + 32 * i;
      if (i < keys.rows && v < end && keys.has_all_of(v)) vectors[i] = reinterpret_cast<const uint4*>(keys.base)[v];
    }
  }
};

}  // namespace counting

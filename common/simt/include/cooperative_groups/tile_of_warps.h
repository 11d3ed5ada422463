// Tiles of more than 32 threads. Their threads meet at a barrier in memory that the program provides (block_tile_memory),
// and exchange values through it.
#pragma once

#include <cstring>
#include <type_traits>

#include <cuda_runtime.h>
#include "cuda/atomic"

namespace cooperative_groups::detail {

/// The barriers of all tiles that a block of 1024 threads may have, and a word for each of its threads.
class TileRoom {
 public:
  void begin(unsigned* words) {
    std::memset(barriers_, 0, sizeof barriers_);
    words_ = words;
  }
  unsigned& word(unsigned thread) { return words_[thread]; }

  /// Waits for all `threads` of the tile that has this number among those of its size.
  void meet(unsigned size, unsigned number, unsigned threads) {
    Barrier& barrier = barriers_[1024 / size + number];
    const Count phase(barrier.phase), arrived(barrier.arrived);
    const unsigned now = phase.load();
    if (arrived.fetch_add(1) + 1 == threads) {
      arrived.store(0);
      phase.fetch_add(1);
    } else {
      phase.wait(now);
    }
  }

 private:
  using Count = cuda::atomic_ref<unsigned, cuda::thread_scope_block>;
  struct Barrier {
    unsigned arrived, phase;
  };

  Barrier barriers_[32];  // of the tile of 1024 threads the second one, of those of 512 the next two, and so on
  unsigned* words_;
};

template <unsigned Size>
class tile_of_warps {
 public:
  tile_of_warps(unsigned meta_rank, unsigned meta_size, TileRoom* room, simt::Site site = simt::Site::here())
      : room_(room), meta_rank_(meta_rank), meta_size_(meta_size) {
    if (room == nullptr) {
      simt::trap(
          "a tile of more than 32 threads of a block without memory: pass a __shared__ block_tile_memory to "
          "this_thread_block()",
          site);
    }
  }

  void sync() const { room_->meet(Size, first() / Size, threads()); }
  static unsigned thread_rank() { return thread() % Size; }
  static constexpr unsigned num_threads() { return Size; }
  static constexpr unsigned size() { return Size; }
  unsigned meta_group_rank() const { return meta_rank_; }
  unsigned meta_group_size() const { return meta_size_; }

  /// The value of the thread with `rank`. CUDA has no shfl_up() and the like for these tiles.
  template <class T>
  T shfl(T value, int rank) const {
    static_assert(std::is_trivially_copyable_v<T>, "threads exchange trivially copyable values only");
    unsigned words[(sizeof(T) + 3) / 4] = {};
    std::memcpy(words, &value, sizeof value);
    for (unsigned& word : words) {
      room_->word(thread()) = word;
      sync();
      word = room_->word(first() + unsigned(rank) % Size);
      sync();
    }
    std::memcpy(&value, words, sizeof value);
    return value;
  }
  int any(int predicate) const { return count(predicate != 0) != 0; }
  int all(int predicate) const { return count(predicate == 0) == 0; }

  TileRoom* room() const { return room_; }  ///< not part of CUDA's interface

 private:
  static unsigned thread() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
  static unsigned first() { return thread() / Size * Size; }
  /// The last tile of a block may be short.
  static unsigned threads() { return min(Size, blockDim.x * blockDim.y * blockDim.z - first()); }

  /// For how many threads the predicate is true.
  unsigned count(bool predicate) const {
    room_->word(thread()) = predicate;
    sync();
    unsigned sum = 0;
    for (unsigned rank = 0; rank < threads(); ++rank) sum += room_->word(first() + rank);
    sync();
    return sum;
  }

  TileRoom* room_;
  unsigned meta_rank_, meta_size_;
};

}  // namespace cooperative_groups::detail

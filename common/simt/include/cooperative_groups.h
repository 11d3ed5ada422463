// Cooperative groups: the grid, a block, tiles, and coalesced threads (CUDA C++ Programming Guide, "Cooperative Groups").
// Clusters are not declared.
#pragma once

#include <cstring>
#include <type_traits>

#include "cooperative_groups/tile_of_warps.h"
#include "cuda_runtime.h"

namespace cooperative_groups {

namespace detail {

using simt::Site;

inline unsigned thread_in_block() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
inline unsigned threads_in_block() { return blockDim.x * blockDim.y * blockDim.z; }
inline unsigned lane() { return thread_in_block() % 32; }
inline unsigned lower_lanes() { return (1u << lane()) - 1; }

/// Exchanges values of any trivially copyable type between lanes, one 32-bit word at a time.
template <class T, class ExchangeWord>
T by_words(const T& value, ExchangeWord exchange_word) {
  static_assert(std::is_trivially_copyable_v<T>, "lanes exchange trivially copyable values only");
  unsigned words[(sizeof(T) + 3) / 4] = {};
  std::memcpy(words, &value, sizeof value);
  for (unsigned& word : words) word = exchange_word(word);
  T result = value;
  std::memcpy(&result, words, sizeof result);
  return result;
}

}  // namespace detail

/// The threads of the block.
class thread_block {
 public:
  /// Between arrival and wait, a thread does what others need not wait for. Here all threads wait for each other at
  /// barrier_wait(), which is later than CUDA promises.
  struct arrival_token {};
  static arrival_token barrier_arrive() { return {}; }
  static void barrier_wait(arrival_token&&, simt::Site site = simt::Site::here()) { __syncthreads(site); }

  static void sync(simt::Site site = simt::Site::here()) { __syncthreads(site); }
  static unsigned thread_rank() { return detail::thread_in_block(); }
  static unsigned num_threads() { return detail::threads_in_block(); }
  static unsigned size() { return num_threads(); }
  static dim3 group_index() { return blockIdx; }
  static dim3 thread_index() { return threadIdx; }
  static dim3 dim_threads() { return blockDim; }
  static dim3 group_dim() { return blockDim; }

  thread_block() = default;
  explicit thread_block(detail::TileRoom* room) : room_(room) {}
  detail::TileRoom* room() const { return room_; }  ///< for tiles of several warps; not part of CUDA's interface

 private:
  detail::TileRoom* room_ = nullptr;
};

inline thread_block this_thread_block() { return {}; }

/// All blocks of the launch.
class grid_group {
 public:
  /// Only in a cooperative launch (cudaLaunchCooperativeKernel).
  static void sync(simt::Site site = simt::Site::here()) { simt::grid_barrier(site); }
  /// As those of a block.
  struct arrival_token {};
  static arrival_token barrier_arrive() { return {}; }
  static void barrier_wait(arrival_token&&, simt::Site site = simt::Site::here()) { simt::grid_barrier(site); }
  static bool is_valid() { return simt::is_cooperative_launch(); }
  static unsigned long long thread_rank() { return block_rank() * thread_block::size() + thread_block::thread_rank(); }
  static unsigned long long num_threads() { return num_blocks() * thread_block::size(); }
  static unsigned long long size() { return num_threads(); }
  static unsigned long long block_rank() {
    return blockIdx.x + (unsigned long long)(gridDim.x) * (blockIdx.y + (unsigned long long)(gridDim.y) * blockIdx.z);
  }
  static unsigned long long num_blocks() { return (unsigned long long)(gridDim.x) * gridDim.y * gridDim.z; }
  static dim3 block_index() { return blockIdx; }
  static dim3 dim_blocks() { return gridDim; }
  static dim3 group_dim() { return gridDim; }
};

inline grid_group this_grid() { return {}; }
#ifdef SIMT_UNAVAILABLE
struct cluster_group : thread_block {};
cluster_group this_cluster()
    SIMT_UNAVAILABLE("clusters of blocks are for GPUs only: use nvcc, or write another kernel behind #ifdef __SIMT__");
#endif

/// Any lanes of a warp, as a mask; ranks increase with the lanes.
class coalesced_group {
 public:
  explicit coalesced_group(unsigned mask, unsigned meta_rank = 0, unsigned meta_size = 1)
      : mask_(mask), meta_rank_(meta_rank), meta_size_(meta_size) {}

  void sync(simt::Site site = simt::Site::here()) const { __syncwarp(mask_, site); }
  unsigned thread_rank() const { return unsigned(__popc(mask_ & detail::lower_lanes())); }
  unsigned num_threads() const { return unsigned(__popc(mask_)); }
  unsigned size() const { return num_threads(); }
  unsigned meta_group_rank() const { return meta_rank_; }
  unsigned meta_group_size() const { return meta_size_; }
  unsigned mask() const { return mask_; }  ///< the lanes; not part of CUDA's interface

  /// The value of the lane with `rank`, or the caller's if there is no such lane.
  template <class T>
  T shfl(T value, unsigned rank, simt::Site site = simt::Site::here()) const {
    const int source = rank < size() ? lane_of(rank) : int(detail::lane());
    return detail::by_words(value, [&](unsigned word) { return __shfl_sync(mask_, word, source, 32, site); });
  }
  template <class T>
  T shfl_up(T value, unsigned delta, simt::Site site = simt::Site::here()) const {
    return shfl(value, delta <= thread_rank() ? thread_rank() - delta : thread_rank(), site);
  }
  template <class T>
  T shfl_down(T value, unsigned delta, simt::Site site = simt::Site::here()) const {
    return shfl(value, thread_rank() + delta < size() ? thread_rank() + delta : thread_rank(), site);
  }
  int any(int predicate, simt::Site site = simt::Site::here()) const { return __any_sync(mask_, predicate, site); }
  int all(int predicate, simt::Site site = simt::Site::here()) const { return __all_sync(mask_, predicate, site); }
  /// Bit r is the predicate of rank r.
  unsigned ballot(int predicate, simt::Site site = simt::Site::here()) const {
    return ranks(__ballot_sync(mask_, predicate, site));
  }
  template <class T>
  unsigned match_any(T value, simt::Site site = simt::Site::here()) const {
    return ranks(__match_any_sync(mask_, value, site));
  }
  template <class T>
  unsigned match_all(T value, int& all_equal, simt::Site site = simt::Site::here()) const {
    return ranks(__match_all_sync(mask_, value, &all_equal, site));
  }

 private:
  int lane_of(unsigned rank) const { return int(__fns(mask_, 0, int(rank) + 1)); }

  unsigned ranks(unsigned lanes) const {
    unsigned result = 0, rank = 0;
    for (unsigned rest = mask_; rest != 0; rest &= rest - 1) result |= (lanes >> __builtin_ctz(rest) & 1) << rank++;
    return result;
  }

  unsigned mask_, meta_rank_, meta_size_;
};

/// The lanes of the warp that execute this together.
inline coalesced_group coalesced_threads(simt::Site site = simt::Site::here()) {
  return coalesced_group(__activemask(site));
}

namespace detail {

/// Size consecutive lanes of a warp.
template <unsigned Size>
class tile_of_lanes {
 public:
  static void sync(simt::Site site = simt::Site::here()) { __syncwarp(mask(), site); }
  static unsigned thread_rank() { return detail::lane() % Size; }
  static constexpr unsigned num_threads() { return Size; }
  static constexpr unsigned size() { return Size; }
  unsigned meta_group_rank() const { return meta_rank_; }
  unsigned meta_group_size() const { return meta_size_; }

  template <class T>
  T shfl(T value, int rank, simt::Site site = simt::Site::here()) const {
    return detail::by_words(value, [&](unsigned word) { return __shfl_sync(mask(), word, rank, Size, site); });
  }
  template <class T>
  T shfl_up(T value, unsigned delta, simt::Site site = simt::Site::here()) const {
    return detail::by_words(value, [&](unsigned word) { return __shfl_up_sync(mask(), word, delta, Size, site); });
  }
  template <class T>
  T shfl_down(T value, unsigned delta, simt::Site site = simt::Site::here()) const {
    return detail::by_words(value, [&](unsigned word) { return __shfl_down_sync(mask(), word, delta, Size, site); });
  }
  template <class T>
  T shfl_xor(T value, unsigned lanes, simt::Site site = simt::Site::here()) const {
    return detail::by_words(value,
                            [&](unsigned word) { return __shfl_xor_sync(mask(), word, int(lanes), Size, site); });
  }
  int any(int predicate, simt::Site site = simt::Site::here()) const { return __any_sync(mask(), predicate, site); }
  int all(int predicate, simt::Site site = simt::Site::here()) const { return __all_sync(mask(), predicate, site); }
  /// Bit r is the predicate of rank r.
  unsigned ballot(int predicate, simt::Site site = simt::Site::here()) const {
    return __ballot_sync(mask(), predicate, site) >> first_lane();
  }
  template <class T>
  unsigned match_any(T value, simt::Site site = simt::Site::here()) const {
    return __match_any_sync(mask(), value, site) >> first_lane();
  }
  template <class T>
  unsigned match_all(T value, int& all_equal, simt::Site site = simt::Site::here()) const {
    return __match_all_sync(mask(), value, &all_equal, site) >> first_lane();
  }

  /// The tile's lanes that exist: the last tile of a block may be short. Not part of CUDA's interface.
  static unsigned mask() {
    const unsigned first = detail::thread_in_block() / Size * Size;
    const unsigned count = min(Size, detail::threads_in_block() - first);
    return (0xffffffffu >> (32 - count)) << first_lane();
  }

  tile_of_lanes(unsigned meta_rank, unsigned meta_size, TileRoom* = nullptr)
      : meta_rank_(meta_rank), meta_size_(meta_size) {}
  static TileRoom* room() { return nullptr; }

 private:
  static unsigned first_lane() { return detail::lane() / Size * Size; }

  unsigned meta_rank_, meta_size_;
};

template <unsigned Size>
using tile = std::conditional_t<(Size > 32), tile_of_warps<(Size > 32 ? Size : 64)>, tile_of_lanes<Size>>;

}  // namespace detail

/// Size consecutive threads of a block; Size is a power of two. Parent is the group that was divided.
template <unsigned Size, class Parent = void>
class thread_block_tile : public detail::tile<Size> {
  static_assert(Size >= 1 && Size <= 1024 && (Size & (Size - 1)) == 0, "a tile's size is a power of two up to 1024");

 public:
  thread_block_tile(unsigned meta_rank, unsigned meta_size, detail::TileRoom* room = nullptr)
      : detail::tile<Size>(meta_rank, meta_size, room) {}

  /// Drops the Parent: thread_block_tile<32> tile = tiled_partition<32>(this_thread_block()).
  template <class Other>
  thread_block_tile(const thread_block_tile<Size, Other>& other) : detail::tile<Size>(other) {}
};

/// Divides a block, or a tile, into tiles of Size threads.
template <unsigned Size>
thread_block_tile<Size, thread_block> tiled_partition(const thread_block& block) {
  return {block.thread_rank() / Size, (block.size() + Size - 1) / Size, block.room()};
}
template <unsigned Size, unsigned ParentSize, class Parent>
thread_block_tile<Size, thread_block_tile<ParentSize, Parent>> tiled_partition(
    const thread_block_tile<ParentSize, Parent>& tile) {
  static_assert(Size <= ParentSize, "a tile cannot be larger than the tile that it divides");
  return {tile.thread_rank() / Size, ParentSize / Size, tile.room()};
}

/// Any of these groups, as functions take them that work for all.
class thread_group {
 public:
  thread_group(const thread_block&) : mask_(0) {}
  thread_group(const coalesced_group& lanes) : mask_(lanes.mask()) {}
  template <unsigned Size, class Parent>
  thread_group(const thread_block_tile<Size, Parent>& tile) : mask_(tile.mask()) {
    static_assert(Size <= 32, "a thread_group here has at most one warp, or the whole block");
  }

  void sync(simt::Site site = simt::Site::here()) const {
    if (is_block()) {
      __syncthreads(site);
    } else {
      __syncwarp(mask_, site);
    }
  }
  unsigned thread_rank() const {
    return is_block() ? thread_block::thread_rank() : unsigned(__popc(mask_ & detail::lower_lanes()));
  }
  unsigned num_threads() const { return is_block() ? thread_block::num_threads() : unsigned(__popc(mask_)); }
  unsigned size() const { return num_threads(); }

 private:
  friend thread_group tiled_partition(const thread_group& parent, unsigned size, simt::Site site);

  bool is_block() const { return mask_ == 0; }

  unsigned mask_;  ///< the lanes, or 0 for the whole block
};

/// Divides a group into tiles whose size is known only when the kernel runs: a power of two up to 32.
inline coalesced_group tiled_partition(const coalesced_group& parent, unsigned size,
                                       simt::Site site = simt::Site::here()) {
  if (size == 0 || size > 32 || (size & (size - 1)) != 0) {
    simt::trap("tiled_partition() of a size that is not a power of two up to 32", site);
  }
  const unsigned tile = parent.thread_rank() / size;
  unsigned lanes = parent.mask();
  for (unsigned lower = tile * size; lower > 0; --lower) lanes &= lanes - 1;
  unsigned mask = 0;
  for (unsigned count = 0; count < size && lanes != 0; ++count, lanes &= lanes - 1) mask |= lanes & -lanes;
  return coalesced_group(mask, tile, (parent.size() + size - 1) / size);
}
inline thread_group tiled_partition(const thread_group& parent, unsigned size, simt::Site site = simt::Site::here()) {
  const unsigned lanes = parent.is_block() ? thread_block_tile<32>(0, 1).mask() : parent.mask_;
  return tiled_partition(coalesced_group(lanes), size, site);
}
inline thread_group tiled_partition(const thread_block& parent, unsigned size, simt::Site site = simt::Site::here()) {
  return tiled_partition(thread_group(parent), size, site);
}

/// Divides lanes into those for which the predicate is true and those for which it is false.
template <class Group>
coalesced_group binary_partition(const Group& group, bool predicate, simt::Site site = simt::Site::here()) {
  const unsigned all = group.mask(), chosen = __ballot_sync(all, predicate, site);
  if (chosen == 0 || chosen == all) return coalesced_group(all, 0, 1);
  return coalesced_group(predicate ? chosen : all & ~chosen, predicate, 2);
}

/// Divides lanes into groups with equal labels: integers or pointers. The group of the lowest lane is the first.
template <class Group, class Label>
coalesced_group labeled_partition(const Group& group, Label label, simt::Site site = simt::Site::here()) {
  static_assert(std::is_integral_v<Label> || std::is_pointer_v<Label>, "a label is an integer or a pointer");
  if constexpr (std::is_same_v<Label, bool>) {
    return binary_partition(group, label, site);
  } else {
    const unsigned equal = __match_any_sync(group.mask(), (unsigned long long)(label), site);
    const unsigned first = equal & -equal;
    const unsigned firsts = __ballot_sync(group.mask(), first >> detail::lane() & 1, site);
    return coalesced_group(equal, unsigned(__popc(firsts & (first - 1))), unsigned(__popc(firsts)));
  }
}

/// What tiles of several warps need in __shared__ memory.
template <unsigned ThreadsPerBlock = 1024>
struct block_tile_memory {
  detail::TileRoom room;
  unsigned words[ThreadsPerBlock];  ///< behind the room: see there
};
/// All threads of the block call it.
template <unsigned ThreadsPerBlock>
thread_block this_thread_block(block_tile_memory<ThreadsPerBlock>& memory, simt::Site site = simt::Site::here()) {
  if (detail::threads_in_block() > ThreadsPerBlock) {
    simt::trap("this_thread_block() with a block_tile_memory for fewer threads than the block has", site);
  }
  if (detail::thread_in_block() == 0) memory.room.begin(memory.words);
  __syncthreads(site);
  return thread_block(&memory.room);
}

template <class Group>
void sync(const Group& group, simt::Site site = simt::Site::here()) {
  group.sync(site);
}

}  // namespace cooperative_groups

// Memory pools (cudaMemPool_t), and freeing memory, which may return it to its pool.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <vector>

#include "heap.h"

/// A pool keeps the memory that is freed to it, mapped but closed to every access, for the next request of that size.
struct CUmemPoolHandle_st {
  std::uint64_t threshold = 0, reserved = 0, reserved_high = 0, used = 0, used_high = 0;  ///< bytes
  std::map<std::size_t, std::vector<std::uintptr_t>> idle;  ///< by body size: where the freed allocations began
  int reuse[3] = {1, 1, 1};
  bool is_of_graph = false;  ///< it holds the allocation of one node of a graph
  bool is_mapped = false;    ///< and GraphMemoryUse counts that as mapped
};

namespace simt {

using Pool = CUmemPoolHandle_st;

/// The bytes that graphs allocate, as a device would count them. Here, each node has memory of its own from its
/// creation on, because its address must not change; on a device, nodes whose allocations exist at different times
/// share theirs.
class GraphMemoryUse {
 public:
  /// A launch allocates the memory of a pool.
  void allocated(Pool& pool, std::uint64_t bytes);
  void freed(std::uint64_t bytes) { in_use_ -= bytes; }
  /// No graph has this memory any longer, and it has been freed.
  void unmapped(Pool& pool, std::uint64_t bytes);
  /// Only what is in use stays reserved.
  void trim() { reserved_ = in_use_; }

  std::uint64_t used() const { return std::min(mapped_, reserved_); }
  std::uint64_t used_high() const { return used_high_; }
  std::uint64_t reserved() const { return reserved_; }
  std::uint64_t reserved_high() const { return reserved_high_; }
  void reset_used_high() { used_high_ = used(); }
  void reset_reserved_high() { reserved_high_ = reserved_; }

 private:
  std::uint64_t in_use_ = 0, mapped_ = 0, reserved_ = 0, used_high_ = 0, reserved_high_ = 0;
};

/// All pools. Heap::mutex guards them; callers of member functions hold it.
class Pools {
 public:
  static Pools& instance();

  Pool* create();
  bool destroy(Pool* pool);  ///< false: there is no such pool, or it is the default pool
  bool exists(Pool* pool) const { return pools_.count(pool) != 0; }
  bool make_current(Pool* pool);  ///< false: there is no such pool
  Pool* current() const { return current_; }
  Pool* default_pool() { return &default_; }

  /// Returns memory from the pool to the system, largest parts first, until at most `bytes` are left, if it can.
  void shrink(Pool& pool, std::uint64_t bytes);
  void shrink_to_thresholds();
  void clear();

  /// No longer counts what nodes of graphs have freed.
  void trim_graphs();
  GraphMemoryUse of_graphs;

 private:
  Pools() { pools_.insert(&default_); }

  Pool default_;
  Pool* current_ = &default_;
  std::set<Pool*> pools_;
};

/// What cudaMallocAsync does; a null pool is the current one.
cudaError_t allocate_from(Pool* pool, void** pointer, std::size_t bytes);

/// Frees the allocation that begins at `pointer`, if it is of one of these kinds. `caller`: who frees it.
cudaError_t release(void* pointer, std::initializer_list<MemoryKind> kinds, void* caller);

/// Returns the memory that pools hold beyond their thresholds; for every synchronization.
void release_pooled_memory();

/// Frees all memory and all pools.
void free_everything();

}  // namespace simt

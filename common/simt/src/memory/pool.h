// Memory pools (cudaMemPool_t), and freeing memory, which may return it to its pool.
#pragma once

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
};

namespace simt {

using Pool = CUmemPoolHandle_st;

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

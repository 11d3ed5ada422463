#include "pool.h"

#include <algorithm>
#include <iterator>
#include <mutex>

#ifdef SIMT_CHECK
#include "../../check/check.h"
#endif
#include "../emulation.h"
#include "closed_memory.h"

namespace simt {
namespace {

/// Takes the last of the pool's idle parts of one size.
std::uintptr_t take_last(Pool& pool, decltype(Pool::idle)::iterator parts) {
  const std::uintptr_t begin = parts->second.back();
  parts->second.pop_back();
  if (parts->second.empty()) pool.idle.erase(parts);
  return begin;
}

/// An idle part of the right size, as an allocation; null if there is none.
Record* take_idle(Pool& pool, std::size_t bytes) {
  const auto same_size = pool.idle.find(body_bytes(bytes));
  return same_size == pool.idle.end() ? nullptr : Heap::instance().map_again(take_last(pool, same_size), bytes);
}

/// New memory for the pool, after giving back all that lies idle if that is needed. Null: out of memory.
Record* grow(Pool& pool, std::size_t bytes) {
  Heap& heap = Heap::instance();
  const std::size_t body = body_bytes(bytes);
  if (body > heap.available()) Pools::instance().shrink(pool, pool.used);
  if (body > heap.available()) return nullptr;
  Record* const record = heap.map(bytes, MemoryKind::device, &pool);
  if (record == nullptr) return nullptr;
  pool.reserved += record->body_bytes;
  pool.reserved_high = std::max(pool.reserved_high, pool.reserved);
  return record;
}

}  // namespace

Pools& Pools::instance() {
  static Pools* const pools = new Pools;  // never destroyed, like the heap
  return *pools;
}

Pool* Pools::create() { return *pools_.insert(new Pool).first; }

bool Pools::destroy(Pool* pool) {
  if (pool == &default_ || pools_.erase(pool) == 0) return false;
  if (current_ == pool) current_ = &default_;
  if (pool->used == 0) of_graphs.unmapped(*pool, pool->reserved);
  shrink(*pool, 0);
  if (pool->reserved == 0) delete pool;  // otherwise release() deletes it, with the pool's last allocation
  return true;
}

bool Pools::make_current(Pool* pool) {
  if (!exists(pool)) return false;
  current_ = pool;
  return true;
}

void Pools::shrink(Pool& pool, std::uint64_t bytes) {
  while (pool.reserved > bytes && !pool.idle.empty()) {
    const std::uintptr_t begin = take_last(pool, std::prev(pool.idle.end()));
    Record& record = *Heap::instance().starting_at(reinterpret_cast<const void*>(begin));
    pool.reserved -= record.body_bytes;
    Heap::instance().retire(record);
  }
}

void Pools::shrink_to_thresholds() {
  for (Pool* pool : pools_) shrink(*pool, std::max(pool->threshold, pool->used));
}

void Pools::clear() {
  for (Pool* pool : pools_) {
    if (pool != &default_) delete pool;
  }
  default_ = Pool();
  pools_ = {&default_};
  current_ = &default_;
  of_graphs = {};
}

void Pools::trim_graphs() {
  for (Pool* pool : pools_) {
    if (pool->used == 0) of_graphs.unmapped(*pool, pool->reserved);
  }
  of_graphs.trim();
}

void GraphMemoryUse::allocated(Pool& pool, std::uint64_t bytes) {
  in_use_ += bytes;
  if (!pool.is_mapped) mapped_ += bytes;
  pool.is_mapped = true;
  reserved_ = std::max(reserved_, in_use_);
  reserved_high_ = std::max(reserved_high_, reserved_);
  used_high_ = std::max(used_high_, used());
}

void GraphMemoryUse::unmapped(Pool& pool, std::uint64_t bytes) {
  if (pool.is_mapped) mapped_ -= bytes;
  pool.is_mapped = false;
}

cudaError_t allocate_from(Pool* pool, void** pointer, std::size_t bytes) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  const OpenMemory open;
  Record record;
  {
    const std::lock_guard lock(Heap::instance().mutex);
    if (pool == nullptr) pool = Pools::instance().current();
    if (!Pools::instance().exists(pool)) return cudaErrorInvalidValue;
    if (bytes > device_memory()) return cudaErrorMemoryAllocation;
    Record* mapped = take_idle(*pool, bytes);
    if (mapped == nullptr) mapped = grow(*pool, bytes);
    if (mapped == nullptr) return cudaErrorMemoryAllocation;
    pool->used += mapped->body_bytes;
    pool->used_high = std::max(pool->used_high, pool->used);
    if (pool->is_of_graph) Pools::instance().of_graphs.allocated(*pool, mapped->body_bytes);
    record = *mapped;
  }
  fill_with_poison(record);
  SIMT_OBSERVE(check::allocated(record.allocation.begin, bytes, false);)
  *pointer = record.allocation.begin;
  return cudaSuccess;
}

cudaError_t release(void* pointer, std::initializer_list<MemoryKind> kinds, [[maybe_unused]] void* caller) {
  if (pointer == nullptr) return cudaSuccess;
  Heap& heap = Heap::instance();
  const std::lock_guard lock(heap.mutex);
  Record* const record = heap.starting_at(pointer);
  if (record == nullptr || record->allocation.freed) return cudaErrorInvalidValue;
  if (std::find(kinds.begin(), kinds.end(), record->allocation.kind) == kinds.end()) return cudaErrorInvalidValue;
  SIMT_OBSERVE(check::freed(record->allocation.begin, caller);)
  Pool* const pool = record->pool;
  if (pool == nullptr) {
    heap.retire(*record);
    return cudaSuccess;
  }
  pool->used -= record->body_bytes;
  GraphMemoryUse& of_graphs = Pools::instance().of_graphs;
  if (pool->is_of_graph) of_graphs.freed(record->body_bytes);
  if (!Pools::instance().exists(pool)) {  // it was destroyed; its last memory goes with its last allocation
    of_graphs.unmapped(*pool, record->body_bytes);
    pool->reserved -= record->body_bytes;
    heap.retire(*record);
    if (pool->reserved == 0) delete pool;
    return cudaSuccess;
  }
  pool->idle[record->body_bytes].push_back(reinterpret_cast<std::uintptr_t>(pointer));
  heap.close(*record);
  return cudaSuccess;
}

void release_pooled_memory() {
  const std::lock_guard lock(Heap::instance().mutex);
  Pools::instance().shrink_to_thresholds();
}

void free_everything() {
  const std::lock_guard lock(Heap::instance().mutex);
  Heap::instance().clear();
  Pools::instance().clear();
}

}  // namespace simt

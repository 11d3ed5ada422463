#include "heap.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <mutex>
#include <string>

#ifdef SIMT_CHECK
#include "../../check/check.h"
#endif
#include "../emulation.h"
#include "closed_memory.h"
#include "pages.h"

namespace simt {
namespace {

constexpr std::size_t alignment = 256;
constexpr std::size_t quarantine_entries = 256, quarantine_bytes = std::size_t(4) << 30;

std::uintptr_t key(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

/// Where an allocation in this body begins: its end touches the second guard as nearly as its alignment allows.
char* begin_in(const Record& record, std::size_t bytes) {
  return record.body() + record.body_bytes - round_up(bytes, alignment);
}

/// Three quarters of the machine's memory that this process may use.
std::size_t usable_memory() {
  std::size_t bytes = std::size_t(sysconf(_SC_PHYS_PAGES)) * page_bytes();
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream file(path);
    std::size_t limit;  // "max" does not parse as a number
    if (file >> limit) bytes = std::min(bytes, limit);
  }
  return bytes / 4 * 3;
}

}  // namespace

std::size_t body_bytes(std::size_t bytes) { return round_up(bytes, std::max(page_bytes(), alignment)); }

std::size_t device_memory() {
  static const std::size_t bytes = usable_memory();
  return bytes;
}

void fill_with_poison(const Record& record) { std::memset(record.body(), poison, record.body_bytes); }

Heap& Heap::instance() {
  static Heap* const heap = new Heap;  // never destroyed: a static's destructor may still free memory
  return *heap;
}

std::size_t Heap::available() const { return device_memory() - used_; }

Record* Heap::map(std::size_t bytes, MemoryKind kind, CUmemPoolHandle_st* pool) {
  const std::size_t body = body_bytes(bytes);
  const std::size_t zone_bytes = body + 2 * Record::guard;
  void* zone = mmap(nullptr, zone_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (zone == MAP_FAILED) return nullptr;
  Record record{{}, static_cast<char*>(zone), zone_bytes, body, pool};
  if (mprotect(record.body(), body, PROT_READ | PROT_WRITE) != 0) {
    munmap(zone, zone_bytes);
    return nullptr;
  }
  madvise(record.body(), body, MADV_HUGEPAGE);  // only a hint: every page is about to be filled with poison
  record.allocation = {begin_in(record, bytes), bytes, false, kind};
  if (kind != MemoryKind::pinned) used_ += body;
  return &records_.insert_or_assign(key(record.allocation.begin), record).first->second;
}

Record* Heap::map_again(std::uintptr_t begin, std::size_t bytes) {
  Record record = records_.extract(begin).mapped();
  mprotect(record.body(), record.body_bytes, PROT_READ | PROT_WRITE);
  record.allocation.begin = begin_in(record, bytes);
  record.allocation.bytes = bytes;
  record.allocation.freed = false;
  return &records_.insert_or_assign(key(record.allocation.begin), record).first->second;
}

void Heap::close(Record& record) {
  record.allocation.freed = true;
  mprotect(record.body(), record.body_bytes, PROT_NONE);
}

void Heap::protect_device_memory(bool closed) {
  for (const auto& [begin, record] : records_) {
    if (record.allocation.kind != MemoryKind::device || record.allocation.freed) continue;
    mprotect(record.body(), record.body_bytes, closed ? PROT_NONE : PROT_READ | PROT_WRITE);
  }
}

void Heap::unmap(std::uintptr_t begin) {
  const auto entry = records_.find(begin);
  munmap(entry->second.zone, entry->second.zone_bytes);
  records_.erase(entry);
}

void Heap::retire(Record& record) {
  record.allocation.freed = true;
  if (record.allocation.kind != MemoryKind::pinned) used_ -= record.body_bytes;
  mmap(record.body(), record.body_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  quarantine_.push_back(key(record.allocation.begin));
  quarantined_bytes_ += record.body_bytes;
  while (quarantine_.size() > quarantine_entries || quarantined_bytes_ > quarantine_bytes) {
    const std::uintptr_t oldest = quarantine_.front();
    quarantine_.pop_front();
    quarantined_bytes_ -= records_.at(oldest).body_bytes;
    unmap(oldest);
  }
}

bool Heap::add_registered(char* begin, std::size_t bytes) {
  const auto next = records_.lower_bound(key(begin));
  const bool overlaps_next = next != records_.end() && next->second.zone < begin + bytes;
  if (find(begin) != nullptr || overlaps_next) return false;
  records_[key(begin)] = Record{{begin, bytes, false, MemoryKind::registered}, begin, bytes, 0};
  return true;
}

bool Heap::remove_registered(const void* begin) {
  const auto entry = records_.find(key(begin));
  if (entry == records_.end() || entry->second.allocation.kind != MemoryKind::registered) return false;
  records_.erase(entry);
  return true;
}

void Heap::clear() {
  for (const auto& [begin, record] : records_) {
    if (record.allocation.kind != MemoryKind::registered) munmap(record.zone, record.zone_bytes);
  }
  records_.clear();
  quarantine_.clear();
  quarantined_bytes_ = used_ = 0;
}

Record* Heap::find(const void* pointer) {
  const auto in_zone = [&](Record& record) {
    return pointer >= record.zone && pointer < record.zone + record.zone_bytes;
  };
  auto after = records_.upper_bound(key(pointer));
  if (after != records_.begin() && in_zone(std::prev(after)->second)) return &std::prev(after)->second;
  if (after != records_.end() && in_zone(after->second)) return &after->second;
  return nullptr;
}

Record* Heap::starting_at(const void* pointer) {
  const auto entry = records_.find(key(pointer));
  return entry == records_.end() ? nullptr : &entry->second;
}

cudaError_t allocate(void** pointer, std::size_t bytes, MemoryKind kind) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  *pointer = nullptr;
  if (bytes == 0) return kind == MemoryKind::managed ? cudaErrorInvalidValue : cudaSuccess;
  Heap& heap = Heap::instance();
  const OpenMemory open;
  Record record;
  {
    const std::lock_guard lock(heap.mutex);
    const bool limited = kind != MemoryKind::pinned;
    if (bytes > device_memory() || (limited && round_up(bytes, page_bytes()) > heap.available())) {
      return cudaErrorMemoryAllocation;
    }
    const Record* mapped = heap.map(bytes, kind, nullptr);
    if (mapped == nullptr) return cudaErrorMemoryAllocation;
    record = *mapped;
  }
  fill_with_poison(record);
  SIMT_OBSERVE(check::allocated(record.allocation.begin, bytes, kind != MemoryKind::device);)
  *pointer = record.allocation.begin;
  return cudaSuccess;
}

}  // namespace simt

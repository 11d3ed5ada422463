// Device memory: allocations between guard pages, pools, copies and fills.
#include "simt/memory.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>
#include <vector>

#ifdef SIMT_CHECK
#include "../check/check.h"
#endif
#include "runtime_call.h"

/// A pool keeps what is freed to it, mapped but closed to every access, for the next request of the same size.
struct CUmemPoolHandle_st {
  std::uint64_t threshold = 0, reserved = 0, reserved_high = 0, used = 0, used_high = 0;  ///< bytes
  std::map<std::size_t, std::vector<std::uintptr_t>> idle;  ///< by body size: where the freed allocations began
  int reuse[3] = {1, 1, 1};
};

// Where the linker puts the section of __managed__ variables; both null if the program has none.
extern "C" [[gnu::weak, gnu::visibility("hidden")]] const char __start_simt_managed[], __stop_simt_managed[];

namespace simt {
namespace {

constexpr std::size_t alignment = 256;
constexpr std::size_t guard = std::size_t(1) << 16;  ///< on either side of an allocation
constexpr std::size_t quarantine_entries = 256, quarantine_bytes = std::size_t(4) << 30;

using Pool = CUmemPoolHandle_st;

struct Record {
  Allocation allocation;
  char* zone;  ///< guard, body, guard; of registered memory the memory itself
  std::size_t zone_bytes;
  std::size_t body_bytes;  ///< whole pages
  Pool* pool = nullptr;

  char* body() const { return zone + guard; }
  bool contains(const char* address, std::size_t bytes) const {
    return address >= allocation.begin && bytes <= allocation.bytes &&
           address <= allocation.begin + (allocation.bytes - bytes);
  }
};

struct Memory {
  std::shared_mutex mutex;                   ///< guards all below
  std::map<std::uintptr_t, Record> records;  ///< by Allocation::begin
  std::deque<std::uintptr_t> quarantine;     ///< freed records, oldest first
  std::size_t quarantined = 0;
  std::size_t used = 0;  ///< bytes of device memory
  std::set<Pool*> pools;
  Pool default_pool;
  Pool* current_pool = &default_pool;
  std::map<const char*, std::size_t>
      symbols;  ///< variables whose address cudaGetSymbolAddress has given, and their bytes

  Memory() { pools.insert(&default_pool); }
};

Memory& memory() {
  static Memory* const memory = new Memory;  // never destroyed: a static's destructor may still free
  return *memory;
}

std::uintptr_t key(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

std::size_t round_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

std::size_t page_bytes() {
  static const std::size_t bytes = std::size_t(sysconf(_SC_PAGESIZE));
  return bytes;
}

/// The record whose zone holds `pointer`. The mutex is held.
Record* find(const void* pointer) {
  auto& records = memory().records;
  const auto in_zone = [&](Record& record) {
    return pointer >= record.zone && pointer < record.zone + record.zone_bytes;
  };
  auto after = records.upper_bound(key(pointer));
  if (after != records.begin() && in_zone(std::prev(after)->second)) return &std::prev(after)->second;
  if (after != records.end() && in_zone(after->second)) return &after->second;
  return nullptr;
}

/// The segments that hold the program's global variables.
struct Segment {
  const char* begin;
  const char* end;
  bool writable;
};

const std::vector<Segment>& globals() {
  static const std::vector<Segment>* const segments = [] {
    auto* found = new std::vector<Segment>;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* out) {
          for (int i = 0; i < info->dlpi_phnum; ++i) {
            const auto& header = info->dlpi_phdr[i];
            if (header.p_type != PT_LOAD || (header.p_flags & PF_X) != 0) continue;
            const char* begin = reinterpret_cast<const char*>(info->dlpi_addr + header.p_vaddr);
            static_cast<std::vector<Segment>*>(out)->push_back(
                {begin, begin + header.p_memsz, (header.p_flags & PF_W) != 0});
          }
          return 1;  // the program itself comes first; libraries have no device code
        },
        found);
    return found;
  }();
  return *segments;
}

bool is_global(const void* pointer, std::size_t bytes, bool to_be_written) {
  const char* address = static_cast<const char*>(pointer);
  return std::any_of(globals().begin(), globals().end(), [&](const Segment& segment) {
    return address >= segment.begin && address < segment.end && bytes <= std::size_t(segment.end - address) &&
           (segment.writable || !to_be_written);
  });
}

// --- allocating ---

/// Maps guard, body and guard; the end of the allocation touches the second guard as nearly as alignment allows.
/// Null: out of memory.
Record* map_record(std::size_t bytes, MemoryKind kind, Pool* pool) {
  const std::size_t body = round_up(bytes, std::max(page_bytes(), alignment));
  const std::size_t zone_bytes = body + 2 * guard;
  void* zone = mmap(nullptr, zone_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (zone == MAP_FAILED) return nullptr;
  Record record{{}, static_cast<char*>(zone), zone_bytes, body, pool};
  if (mprotect(record.body(), body, PROT_READ | PROT_WRITE) != 0) {
    munmap(zone, zone_bytes);
    return nullptr;
  }
  madvise(record.body(), body, MADV_HUGEPAGE);  // a hint; the poison below touches every page
  record.allocation = {record.body() + body - round_up(bytes, alignment), bytes, false, kind};
  return &memory().records.insert_or_assign(key(record.allocation.begin), record).first->second;
}

void fill_with_poison(const Record& record) { std::memset(record.body(), poison, record.body_bytes); }

cudaError_t allocate(void** pointer, std::size_t bytes, MemoryKind kind) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  *pointer = nullptr;
  if (bytes == 0) return kind == MemoryKind::managed ? cudaErrorInvalidValue : cudaSuccess;
  Memory& m = memory();
  const bool counted = kind != MemoryKind::pinned;
  Record record;
  {
    const std::lock_guard lock(m.mutex);
    if (bytes > device_memory() || (counted && round_up(bytes, page_bytes()) > device_memory() - m.used)) {
      return cudaErrorMemoryAllocation;
    }
    Record* made = map_record(bytes, kind, nullptr);
    if (made == nullptr) return cudaErrorMemoryAllocation;
    if (counted) m.used += made->body_bytes;
    record = *made;
  }
  fill_with_poison(record);
  SIMT_OBSERVE(check::allocated(record.allocation.begin, bytes, kind != MemoryKind::device);)
  *pointer = record.allocation.begin;
  return cudaSuccess;
}

void unmap_record(std::uintptr_t begin) {
  Memory& m = memory();
  const auto found = m.records.find(begin);
  munmap(found->second.zone, found->second.zone_bytes);
  m.records.erase(found);
}

/// Gives the pages back but keeps the addresses for a while, so that a use after free faults and can be told as one.
void retire(Record& record) {
  Memory& m = memory();
  record.allocation.freed = true;
  if (record.allocation.kind != MemoryKind::pinned) m.used -= record.body_bytes;
  mmap(record.body(), record.body_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  m.quarantine.push_back(key(record.allocation.begin));
  m.quarantined += record.body_bytes;
  while (m.quarantine.size() > quarantine_entries || m.quarantined > quarantine_bytes) {
    const std::uintptr_t oldest = m.quarantine.front();
    m.quarantine.pop_front();
    m.quarantined -= m.records.at(oldest).body_bytes;
    unmap_record(oldest);
  }
}

// --- pools ---

/// Takes the memory that the pool holds beyond `bytes` out of it.
void shrink(Pool& pool, std::uint64_t bytes) {
  while (pool.reserved > bytes && !pool.idle.empty()) {
    const auto largest = std::prev(pool.idle.end());
    Record& record = memory().records.at(largest->second.back());
    largest->second.pop_back();
    if (largest->second.empty()) pool.idle.erase(largest);
    pool.reserved -= record.body_bytes;
    retire(record);
  }
}

Record* take_idle(Pool& pool, std::size_t bytes) {
  Memory& m = memory();
  const auto same_size = pool.idle.find(round_up(bytes, std::max(page_bytes(), alignment)));
  if (same_size == pool.idle.end()) return nullptr;
  const auto old = m.records.extract(same_size->second.back());
  same_size->second.pop_back();
  if (same_size->second.empty()) pool.idle.erase(same_size);
  Record record = old.mapped();
  mprotect(record.body(), record.body_bytes, PROT_READ | PROT_WRITE);
  record.allocation.begin = record.body() + record.body_bytes - round_up(bytes, alignment);
  record.allocation.bytes = bytes;
  record.allocation.freed = false;
  return &m.records.insert_or_assign(key(record.allocation.begin), record).first->second;
}

cudaError_t allocate_from(Pool* pool, void** pointer, std::size_t bytes, cudaStream_t stream) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  Memory& m = memory();
  Record record;
  {
    const std::lock_guard lock(m.mutex);
    if (pool == nullptr) pool = m.current_pool;
    if (m.pools.count(pool) == 0) return cudaErrorInvalidValue;
    if (bytes > device_memory()) return cudaErrorMemoryAllocation;
    Record* made = take_idle(*pool, bytes);
    if (made == nullptr) {
      const std::size_t body = round_up(bytes, page_bytes());
      if (body > device_memory() - m.used) shrink(*pool, pool->used);
      if (body > device_memory() - m.used) return cudaErrorMemoryAllocation;
      made = map_record(bytes, MemoryKind::device, pool);
      if (made == nullptr) return cudaErrorMemoryAllocation;
      m.used += made->body_bytes;
      pool->reserved += made->body_bytes;
      pool->reserved_high = std::max(pool->reserved_high, pool->reserved);
    }
    pool->used += made->body_bytes;
    pool->used_high = std::max(pool->used_high, pool->used);
    record = *made;
  }
  fill_with_poison(record);
  SIMT_OBSERVE(check::allocated(record.allocation.begin, bytes, false);)
  *pointer = record.allocation.begin;
  return cudaSuccess;
}

/// Frees memory of one of the given kinds that begins at `pointer`.
cudaError_t release(void* pointer, std::initializer_list<MemoryKind> kinds) {
  if (pointer == nullptr) return cudaSuccess;
  Memory& m = memory();
  const std::lock_guard lock(m.mutex);
  const auto found = m.records.find(key(pointer));
  if (found == m.records.end() || found->second.allocation.freed) return cudaErrorInvalidValue;
  Record& record = found->second;
  if (std::find(kinds.begin(), kinds.end(), record.allocation.kind) == kinds.end()) return cudaErrorInvalidValue;
  SIMT_OBSERVE(check::freed(record.allocation.begin, record.allocation.bytes);)
  Pool* const pool = record.pool;
  if (pool == nullptr) {
    retire(record);
    return cudaSuccess;
  }
  pool->used -= record.body_bytes;
  if (m.pools.count(pool) == 0) {  // the pool was destroyed; its last memory goes with its last allocation
    pool->reserved -= record.body_bytes;
    retire(record);
    if (pool->reserved == 0) delete pool;
    return cudaSuccess;
  }
  record.allocation.freed = true;
  mprotect(record.body(), record.body_bytes, PROT_NONE);
  pool->idle[record.body_bytes].push_back(found->first);
  return cudaSuccess;
}

// --- copies and fills ---

/// Who may touch a range of memory.
struct Access {
  bool host, device;
};

/// {false, false}: nobody, as of a range that leaves its allocation or has been freed.
Access access_of(const void* pointer, std::size_t bytes) {
  const std::shared_lock lock(memory().mutex);
  if (const Record* record = find(pointer)) {
    const bool valid = !record->allocation.freed && record->contains(static_cast<const char*>(pointer), bytes);
    return {valid && record->allocation.kind != MemoryKind::device, valid};
  }
  return {true, is_global(pointer, 1, false)};
}

/// cudaSuccess if a copy in direction `kind` may touch both ranges.
cudaError_t check_copy(const void* to, std::size_t to_bytes, const void* from, std::size_t from_bytes,
                       cudaMemcpyKind kind) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
  if (to == nullptr || from == nullptr) return cudaErrorInvalidValue;
  const Access target = access_of(to, to_bytes), source = access_of(from, from_bytes);
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  const bool any = kind == cudaMemcpyDefault;
  const bool target_fits = any ? target.host || target.device : to_device ? target.device : target.host;
  const bool source_fits = any ? source.host || source.device : from_device ? source.device : source.host;
  return target_fits && source_fits ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
  if (bytes == 0) return cudaSuccess;
  const cudaError_t error = check_copy(to, bytes, from, bytes, kind);
  if (error == cudaSuccess) std::memmove(to, from, bytes);
  SIMT_OBSERVE(if (error == cudaSuccess) check::written(to, bytes);)
  return error;
}

cudaError_t copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                      std::size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
  if (width > to_pitch || width > from_pitch) return cudaErrorInvalidPitchValue;
  if (width == 0 || height == 0) return cudaSuccess;
  const cudaError_t error =
      check_copy(to, (height - 1) * to_pitch + width, from, (height - 1) * from_pitch + width, kind);
  if (error != cudaSuccess) return error;
  for (std::size_t row = 0; row < height; ++row) {
    std::memmove(static_cast<char*>(to) + row * to_pitch, static_cast<const char*>(from) + row * from_pitch, width);
    SIMT_OBSERVE(check::written(static_cast<char*>(to) + row * to_pitch, width);)
  }
  return cudaSuccess;
}

cudaError_t fill_rows(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height,
                      cudaStream_t stream) {
  if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
  if (height > 1 && width > pitch) return cudaErrorInvalidPitchValue;
  if (width == 0 || height == 0) return cudaSuccess;
  if (pointer == nullptr || !access_of(pointer, (height - 1) * pitch + width).device) return cudaErrorInvalidValue;
  for (std::size_t row = 0; row < height; ++row) {
    std::memset(static_cast<char*>(pointer) + row * pitch, value, width);
    SIMT_OBSERVE(check::written(static_cast<char*>(pointer) + row * pitch, width);)
  }
  return cudaSuccess;
}

/// Three quarters of what this process may use of the machine's memory.
std::size_t usable_memory() {
  std::size_t bytes = std::size_t(sysconf(_SC_PHYS_PAGES)) * page_bytes();
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream file(path);
    std::size_t limit;  // "max" does not read as a number
    if (file >> limit) bytes = std::min(bytes, limit);
  }
  return bytes / 4 * 3;
}

}  // namespace

bool is_device(const void* pointer) {
  const char* const address = static_cast<const char*>(pointer);
  if (address >= __start_simt_managed && address < __stop_simt_managed) return true;
  const std::shared_lock lock(memory().mutex);
  if (const Record* record = find(pointer)) return !record->allocation.freed && record->contains(address, 1);
  const auto after = memory().symbols.upper_bound(address);
  return after != memory().symbols.begin() && address < std::prev(after)->first + std::prev(after)->second;
}

const Allocation* allocation_of(const void* pointer) {
  const std::shared_lock lock(memory().mutex);
  const Record* record = find(pointer);
  return record == nullptr ? nullptr : &record->allocation;
}

std::size_t device_memory() {
  static const std::size_t bytes = usable_memory();
  return bytes;
}

void release_pooled_memory() {
  const std::lock_guard lock(memory().mutex);
  for (Pool* pool : memory().pools) shrink(*pool, std::max(pool->threshold, pool->used));
}

void free_everything() {
  Memory& m = memory();
  const std::lock_guard lock(m.mutex);
  for (const auto& [begin, record] : m.records) {
    if (record.allocation.kind != MemoryKind::registered) munmap(record.zone, record.zone_bytes);
  }
  m.records.clear();
  m.quarantine.clear();
  m.quarantined = m.used = 0;
  for (Pool* pool : m.pools) {
    if (pool != &m.default_pool) delete pool;
  }
  m.default_pool = Pool();
  m.pools = {&m.default_pool};
  m.current_pool = &m.default_pool;
}

cudaError_t copy_to_symbol(void* symbol, std::size_t symbol_bytes, const void* from, std::size_t bytes,
                           std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  return call("cudaMemcpyToSymbol", [&] {
    if (!is_global(symbol, symbol_bytes, true)) return cudaErrorInvalidSymbol;
    if (offset > symbol_bytes || bytes > symbol_bytes - offset) return cudaErrorInvalidValue;
    if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault) {
      return cudaErrorInvalidMemcpyDirection;
    }
    return copy(static_cast<char*>(symbol) + offset, from, bytes, kind, stream);
  });
}

cudaError_t copy_from_symbol(void* to, const void* symbol, std::size_t symbol_bytes, std::size_t bytes,
                             std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  return call("cudaMemcpyFromSymbol", [&] {
    if (!is_global(symbol, symbol_bytes, false)) return cudaErrorInvalidSymbol;
    if (offset > symbol_bytes || bytes > symbol_bytes - offset) return cudaErrorInvalidValue;
    if (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault) {
      return cudaErrorInvalidMemcpyDirection;
    }
    return copy(to, static_cast<const char*>(symbol) + offset, bytes, kind, stream);
  });
}

cudaError_t symbol_address(void** address, const void* symbol, std::size_t bytes) {
  return call("cudaGetSymbolAddress", [&] {
    if (address == nullptr) return cudaErrorInvalidValue;
    if (!is_global(symbol, 1, false)) return cudaErrorInvalidSymbol;
    *address = const_cast<void*>(symbol);
    const std::lock_guard lock(memory().mutex);
    memory().symbols[static_cast<const char*>(symbol)] = bytes;
    return cudaSuccess;
  });
}

}  // namespace simt

using namespace simt;

// --- allocating ---

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  return call(__func__, [&] { return allocate(pointer, bytes, MemoryKind::device); });
}

cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height) {
  return call(__func__, [&] {
    if (pitch == nullptr) return cudaErrorInvalidValue;
    *pitch = round_up(width, 512);
    return allocate(pointer, *pitch * height, MemoryKind::device);
  });
}

cudaError_t cudaMallocManaged(void** pointer, std::size_t bytes, unsigned flags) {
  return call(__func__, [&] {
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) return cudaErrorInvalidValue;
    return allocate(pointer, bytes, MemoryKind::managed);
  });
}

cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  return call(__func__, [&] {
    if (flags > (cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined))
      return cudaErrorInvalidValue;
    return allocate(pointer, bytes, MemoryKind::pinned);
  });
}

cudaError_t cudaMallocHost(void** pointer, std::size_t bytes, unsigned flags) {
  return cudaHostAlloc(pointer, bytes, flags);
}

cudaError_t cudaFree(void* pointer) {
  return call(__func__, [&] { return release(pointer, {MemoryKind::device, MemoryKind::managed}); });
}

cudaError_t cudaFreeHost(void* pointer) {
  return call(__func__, [&] { return release(pointer, {MemoryKind::pinned}); });
}

cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned) {
  return call(__func__, [&] {
    if (pointer == nullptr || bytes == 0) return cudaErrorInvalidValue;
    Memory& m = memory();
    const std::lock_guard lock(m.mutex);
    char* const begin = static_cast<char*>(pointer);
    const auto next = m.records.lower_bound(key(begin));
    const bool meets_next = next != m.records.end() && next->second.zone < begin + bytes;
    if (find(begin) != nullptr || meets_next) return cudaErrorHostMemoryAlreadyRegistered;
    m.records[key(begin)] = Record{{begin, bytes, false, MemoryKind::registered}, begin, bytes, 0};
    return cudaSuccess;
  });
}

cudaError_t cudaHostUnregister(void* pointer) {
  return call(__func__, [&] {
    Memory& m = memory();
    const std::lock_guard lock(m.mutex);
    const auto found = m.records.find(key(pointer));
    if (found == m.records.end() || found->second.allocation.kind != MemoryKind::registered) {
      return cudaErrorHostMemoryNotRegistered;
    }
    m.records.erase(found);
    return cudaSuccess;
  });
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  return call(__func__, [&] {
    if (device == nullptr || flags != 0) return cudaErrorInvalidValue;
    const Access access = access_of(host, 1);
    if (!access.host || !access.device || is_global(host, 1, false)) return cudaErrorInvalidValue;
    *device = host;
    return cudaSuccess;
  });
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return call(__func__, [&] {
    if (free == nullptr || total == nullptr) return cudaErrorInvalidValue;
    const std::shared_lock lock(memory().mutex);
    *total = device_memory();
    *free = device_memory() - memory().used;
    return cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return call(__func__, [&] {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    void* const address = const_cast<void*>(pointer);
    *attributes = {cudaMemoryTypeUnregistered, cudaInvalidDeviceId, nullptr, address};
    const std::shared_lock lock(memory().mutex);
    const Record* record = find(pointer);
    if (record == nullptr || record->allocation.freed || !record->contains(static_cast<const char*>(pointer), 1)) {
      return cudaSuccess;
    }
    switch (record->allocation.kind) {
      case MemoryKind::device:
        *attributes = {cudaMemoryTypeDevice, 0, address, nullptr};
        break;
      case MemoryKind::managed:
        *attributes = {cudaMemoryTypeManaged, 0, address, address};
        break;
      case MemoryKind::pinned:
      case MemoryKind::registered:
        *attributes = {cudaMemoryTypeHost, 0, address, address};
        break;
    }
    return cudaSuccess;
  });
}

// --- pools ---

cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t stream) {
  return call(__func__, [&] { return allocate_from(nullptr, pointer, bytes, stream); });
}

cudaError_t cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  return call(__func__,
              [&] { return pool == nullptr ? cudaErrorInvalidValue : allocate_from(pool, pointer, bytes, stream); });
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return call(__func__, [&] {
    if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
    return release(pointer, {MemoryKind::device, MemoryKind::managed});
  });
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return call(__func__, [&] {
    if (pool == nullptr) return cudaErrorInvalidValue;
    if (device != 0) return cudaErrorInvalidDevice;
    *pool = &memory().default_pool;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return call(__func__, [&] {
    if (pool == nullptr) return cudaErrorInvalidValue;
    if (device != 0) return cudaErrorInvalidDevice;
    const std::shared_lock lock(memory().mutex);
    *pool = memory().current_pool;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return call(__func__, [&] {
    if (device != 0) return cudaErrorInvalidDevice;
    const std::lock_guard lock(memory().mutex);
    if (memory().pools.count(pool) == 0) return cudaErrorInvalidValue;
    memory().current_pool = pool;
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  return call(__func__, [&] {
    if (pool == nullptr || properties == nullptr || properties->allocType != cudaMemAllocationTypePinned) {
      return cudaErrorInvalidValue;
    }
    if (properties->location.type != cudaMemLocationTypeDevice || properties->location.id != 0) {
      return cudaErrorInvalidDevice;
    }
    const std::lock_guard lock(memory().mutex);
    *pool = new Pool;
    memory().pools.insert(*pool);
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return call(__func__, [&] {
    Memory& m = memory();
    const std::lock_guard lock(m.mutex);
    if (pool == &m.default_pool || m.pools.erase(pool) == 0) return cudaErrorInvalidValue;
    if (m.current_pool == pool) m.current_pool = &m.default_pool;
    shrink(*pool, 0);
    if (pool->reserved == 0) delete pool;
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return call(__func__, [&] {
    const std::lock_guard lock(memory().mutex);
    if (memory().pools.count(pool) == 0 || value == nullptr) return cudaErrorInvalidValue;
    switch (attribute) {
      case cudaMemPoolReuseFollowEventDependencies:
      case cudaMemPoolReuseAllowOpportunistic:
      case cudaMemPoolReuseAllowInternalDependencies:
        pool->reuse[attribute - 1] = *static_cast<int*>(value);
        return cudaSuccess;
      case cudaMemPoolAttrReleaseThreshold:
        pool->threshold = *static_cast<std::uint64_t*>(value);
        return cudaSuccess;
      case cudaMemPoolAttrReservedMemHigh:  // the high marks can only be set to 0, which starts them anew
      case cudaMemPoolAttrUsedMemHigh:
        if (*static_cast<std::uint64_t*>(value) != 0) return cudaErrorInvalidValue;
        (attribute == cudaMemPoolAttrUsedMemHigh ? pool->used_high : pool->reserved_high) =
            attribute == cudaMemPoolAttrUsedMemHigh ? pool->used : pool->reserved;
        return cudaSuccess;
      default:
        return cudaErrorInvalidValue;
    }
  });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return call(__func__, [&] {
    const std::shared_lock lock(memory().mutex);
    if (memory().pools.count(pool) == 0 || value == nullptr) return cudaErrorInvalidValue;
    const auto give = [value](std::uint64_t bytes) {
      *static_cast<std::uint64_t*>(value) = bytes;
      return cudaSuccess;
    };
    switch (attribute) {
      case cudaMemPoolReuseFollowEventDependencies:
      case cudaMemPoolReuseAllowOpportunistic:
      case cudaMemPoolReuseAllowInternalDependencies:
        *static_cast<int*>(value) = pool->reuse[attribute - 1];
        return cudaSuccess;
      case cudaMemPoolAttrReleaseThreshold:
        return give(pool->threshold);
      case cudaMemPoolAttrReservedMemCurrent:
        return give(pool->reserved);
      case cudaMemPoolAttrReservedMemHigh:
        return give(pool->reserved_high);
      case cudaMemPoolAttrUsedMemCurrent:
        return give(pool->used);
      case cudaMemPoolAttrUsedMemHigh:
        return give(pool->used_high);
    }
    return cudaErrorInvalidValue;
  });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t bytes_to_keep) {
  return call(__func__, [&] {
    const std::lock_guard lock(memory().mutex);
    if (memory().pools.count(pool) == 0) return cudaErrorInvalidValue;
    shrink(*pool, bytes_to_keep);
    return cudaSuccess;
  });
}

// --- copies and fills ---

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return call(__func__, [&] { return copy(to, from, bytes, kind, nullptr); });
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return call(__func__, [&] { return copy(to, from, bytes, kind, stream); });
}

cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                         std::size_t height, cudaMemcpyKind kind) {
  return call(__func__, [&] { return copy_rows(to, to_pitch, from, from_pitch, width, height, kind, nullptr); });
}

cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return call(__func__, [&] { return copy_rows(to, to_pitch, from, from_pitch, width, height, kind, stream); });
}

cudaError_t cudaMemset(void* pointer, int value, std::size_t bytes) {
  return call(__func__, [&] { return fill_rows(pointer, bytes, value, bytes, 1, nullptr); });
}

cudaError_t cudaMemsetAsync(void* pointer, int value, std::size_t bytes, cudaStream_t stream) {
  return call(__func__, [&] { return fill_rows(pointer, bytes, value, bytes, 1, stream); });
}

cudaError_t cudaMemset2D(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  return call(__func__, [&] { return fill_rows(pointer, pitch, value, width, height, nullptr); });
}

cudaError_t cudaMemset2DAsync(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height,
                              cudaStream_t stream) {
  return call(__func__, [&] { return fill_rows(pointer, pitch, value, width, height, stream); });
}

cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, cudaMemLocation location, unsigned flags,
                                 cudaStream_t stream) {
  return call(__func__, [&] {  // one memory: there is nowhere to move to, but the arguments are checked
    if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
    if (location.type == cudaMemLocationTypeDevice && location.id != 0) return cudaErrorInvalidDevice;
    const Access access = access_of(pointer, bytes);
    return flags == 0 && access.host && access.device ? cudaSuccess : cudaErrorInvalidValue;
  });
}

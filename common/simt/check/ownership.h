// Which memory an address belongs to: a __shared__ array, dynamic shared memory, an allocation, a __device__ variable;
// and where the observers keep what they know about that memory.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "check.h"
#include "facts.h"
#include "order.h"
#include "symbols.h"

namespace simt::check {

struct Content {
  std::uint8_t initialized : 4;  ///< one bit per byte
  std::uint8_t
      other_is_write : 1;      ///< `other_read` is a plain write that a synchronized one has replaced: it may still
                               ///< race
  std::uint8_t is_split : 1;   ///< its bytes have been accessed one by one, and each has its own cell
  std::uint8_t by_device : 1;  ///< what wrote it last was a kernel, or a fill or copy within the device
  std::uint8_t unused : 1;

  /// Whether there is nothing here that an access of these bytes has to look at, one bit per byte.
  template <Way way>
  [[gnu::always_inline]] bool allows(unsigned bytes) const {
    const std::uint8_t needed = (way == Way::store ? 0 : bytes) & 15;
    const Content looked_at{needed, 1, 1, 0, 0}, without_obstacle{needed, 0, 0, 0, 0};
    return (std::bit_cast<std::uint8_t>(*this) & std::bit_cast<std::uint8_t>(looked_at)) ==
           std::bit_cast<std::uint8_t>(without_obstacle);
  }
};

/// What is known of four bytes of memory, or of one byte.
struct Cell {
  Event &write, &read;
  Event& other_read;  ///< a second reader, of another thread where there was one
  Content& content;
};

/// The cells of a piece of memory: one per word, then four per word for its bytes. Each of their members has a separate
/// array, because what is never touched takes no memory: most words have no second reader, and many are only
/// written or only read.
struct Cells {
  Event *writes = nullptr, *reads = nullptr, *other_reads = nullptr;
  Content* contents = nullptr;
  std::size_t bytes_at = 0;  ///< the first byte's cell; as many words as there are, before from()

  static std::size_t words_of(std::size_t bytes) { return bytes / 4 + 2; }
  Cell word(std::size_t index) const { return {writes[index], reads[index], other_reads[index], contents[index]}; }
  Cell byte(std::size_t word_index, unsigned byte) const { return word(bytes_at + word_index * 4 + byte); }
  /// The same cells, counted from this word on.
  Cells from(std::size_t word) const {
    return {writes + word, reads + word, other_reads + word, contents + word, bytes_at + 3 * word};
  }
  bool exist() const { return writes != nullptr; }
};

/// Those of a block's shared memory.
struct SharedCells {
  Cells of_static, of_dynamic;
};

/// An allocation or what narrow() has left of it; or the program's variables.
struct Region {
  const char* begin = nullptr;
  std::size_t bytes = 0;
  Cells cells = {};
  int number = 0;
  std::vector<Code> made_by = {};  ///< the calls that led to the allocation, innermost first
  bool is_freed = false;
  bool is_heap = false;               ///< of the device (device_heap.h)
  Code freed_by = 0;                  ///< the call that has freed it, or 0
  const char* name = nullptr;         ///< from narrow(), otherwise null
  const char* whole_begin = nullptr;  ///< of the allocation
  std::size_t whole_bytes = 0;
  bool is_host_accessible = false;  ///< managed or pinned
};

/// Where an access outside an allocation lies.
enum class Outside : std::uint8_t {
  padding,    ///< in the unused rest of its pages
  guard,      ///< in the guard pages around them, where the processor stops it
  elsewhere,  ///< farther away: something else may share the guard's chunk
};

/// Addresses are looked up in chunks. Two allocations are farther apart than a chunk.
inline constexpr std::size_t chunk_bytes = 65536, guard_bytes = 65536;
/// Bytes of shared memory that a block may have.
inline constexpr std::size_t max_dynamic_shared = 232448, max_static_shared = 49152;

class Ownership {
 public:
  // Shared memory of the running block. Offsets of arrays are relative to `tls`.
  char* tls = nullptr;
  std::size_t shared_first = 0;  ///< offset of the first array, or of the gap before it
  std::size_t shared_last = 0;   ///< offset of the last byte that an overflow of the last array may reach
  Cells static_cells;            ///< from shared_first on
  char* dynamic_begin = nullptr;
  std::size_t dynamic_bytes = 0;
  Cells dynamic_cells;

  std::uintptr_t program = 0;  ///< the program's first address
  Region program_data;         ///< all its variables
  bool is_shared = false;      ///< whether the host may access device memory, too (simt::share_device_memory)
  Symbols symbols;

  /// Finds the program's variables (once), this OS thread's shared memory, and room for cells of dynamic shared memory.
  void begin_launch(std::size_t dynamic_shared_bytes);

  /// The cells of the running block's shared memory, which gets others.
  SharedCells take_shared_cells();
  /// The running block gets these instead.
  void give_shared_cells(const SharedCells& cells);

  /// False: there is no memory left to keep anything about it.
  bool allocated(const void* begin, std::size_t bytes, bool is_host_accessible, std::vector<Code> made_by = {},
                 bool is_heap = false);
  void freed(const void* begin, Code by = 0);
  void allocated_heap(const void* begin, std::size_t bytes);
  void written(const void* begin, std::size_t bytes, bool by_device = false);
  /// Forgets the accesses of large allocations, which all that follows comes after: events take most of the observers'
  /// memory. `has_host_waited`: host code comes after them, too; otherwise those remain that it may race with.
  void forget_events(bool has_host_waited);
  /// Of these bytes of an allocation, the first whole words that nothing has written; {0, 0}: there are none.
  struct Words {
    std::size_t offset, bytes;  ///< in the allocation
  };
  Words first_unwritten(const Region& region, std::size_t offset, std::size_t bytes) const;
  /// Of these bytes, the offset of the first one that differs from `before` although the device was not seen to write
  /// it; `bytes` if there is none.
  std::size_t first_not_by_device(const void* begin, std::size_t bytes, const void* before);
  void narrow(const void* begin, std::size_t bytes, const char* name);

  /// The allocation at or near an address, or null.
  [[gnu::always_inline]] Region*& region_at(std::uintptr_t address) {
    if (regions_ == nullptr) [[unlikely]]
      make_table();
    return regions_[chunk_of(address)];
  }
  /// Calls `use(region)` for each allocation that has not been freed.
  template <class Use>
  void for_each_allocation(Use&& use) {
    const std::lock_guard lock(live_mutex_);
    for (const Region* region : live_) use(*region);
  }
  bool has_regions() const { return regions_ != nullptr; }
  /// By region_at()'s index: the allocation or null. Null: there is no table yet.
  Region* const* table() const { return regions_; }
  [[gnu::always_inline]] static std::size_t chunk_of(std::uintptr_t address) {
    return (address & ((std::uintptr_t(1) << 47) - 1)) / chunk_bytes;
  }
  /// Makes the table before there is an allocation, if there is room for it.
  void make_table_early();

  /// Whether the address belongs to the observers. Their memory lies among the allocations, and a wild pointer may
  /// lead there.
  bool is_observers(std::uintptr_t address) const;
  /// Whether the address is among the thread-local variables of the program and of its libraries.
  bool is_near_tls(std::uintptr_t address) const {
    return address - std::uintptr_t(tls) + chunk_bytes < tls_bytes_ + 2 * chunk_bytes;
  }
  /// Whether the access is in a gap between two arrays, or in the padding before an array.
  bool is_between_arrays(std::size_t offset, unsigned bytes) const;
  /// Whether code of this source file (Symbol::source) can name the array: the steps of a lab are one program, and
  /// their arrays lie side by side.
  static bool can_name(int source, const Symbol& array) {
    return source == 0 || array.source == 0 || source == array.source;
  }
  int source_of(Code code) const { return source_of_code(symbols.functions, code - program); }
  /// The array in which an offset lies, of those that this code can name. Of the two around another offset: the one
  /// that the running launch has used, or else the nearer one. Null: there is no such array.
  const Symbol* array_near(std::size_t offset, Code code) const;
  /// Whether the address is among the __shared__ arrays of this OS thread and what lies between them.
  bool is_in_shared_arrays(std::uintptr_t address) const {
    const std::size_t in_tls = address - std::uintptr_t(tls);
    return in_tls >= shared_first && in_tls < shared_last;
  }
  /// The __shared__ array at an address that kernels have used; or null.
  const Symbol* used_array_at(std::uintptr_t address) const;
  /// Clears the arrays that the running launch has used: host code must not read there what kernels have
  /// computed.
  void clear_shared_arrays();
  /// Whether the byte belongs to a guard variable.
  bool is_guard(std::size_t offset) const;
  /// For findings: an allocation, and where an access lies.
  static Array array_of(const Region& region);
  Element element_at(std::uintptr_t address, unsigned bytes, Code code = 0);
  Element element_at(const Access& access) { return element_at(access.address, access.bytes, access.code); }
  /// Whether a kernel, or a fill or copy within the device, has written any of these bytes of an allocation.
  bool is_written_by_device(const void* begin, std::size_t bytes);
  /// How many elements of the access's size the array has in which it lies, and which of them have been written; nothing
  /// if none has, or if that is not known.
  void describe_written(const Access& access, Details& details);
  /// Whether all of a __shared__ variable of the size of a pointer is accessed.
  bool is_lone_pointer(const Access& access) const;
  /// Whether an allocation has as many bytes as there are keys of the size of this access.
  bool has_bytes_for_keys(const Access& access);
  /// Of the allocations that are as large as the first that was narrowed, the last that was freed after kernels had
  /// written it; or null.
  const Region* left_behind() const { return left_behind_; }

 private:
  static Element element_in_heap(std::uintptr_t address, unsigned bytes);
  void* map(std::size_t bytes, int sharing);
  Cells map_cells(std::size_t bytes);
  void map_cells(Region& region);
  void unmap_cells(Region& region);
  void make_table();
  void renew_table();
  void find_segments();
  void find_variables();

  Region** regions_ = nullptr;  // by chunk
  int region_count_ = 0;
  std::size_t keys_bytes_ = 0;  // of what was narrowed first
  const Region* left_behind_ = nullptr;
  std::size_t tls_bytes_ = 0;
  bool has_variables_ = false;
  std::vector<SharedCells> spare_shared_;
  std::map<std::uintptr_t, std::uintptr_t> maps_;  // what the observers have mapped: begin, end
  std::mutex live_mutex_;                          // several of the program's threads may allocate
  std::set<Region*> live_;                         // allocations
};

Outside outside(const Region& region, std::size_t offset, unsigned bytes);

/// Calls `use(cell, mask, address, bytes)` for the cells of a piece of memory.
template <class Use>
void for_each_cell(const Region& region, const void* begin, std::size_t bytes, Use&& use) {
  const char* const from = std::max(static_cast<const char*>(begin), region.begin);
  const char* const past = std::min(static_cast<const char*>(begin) + bytes, region.begin + region.bytes);
  if (from >= past || !region.cells.exist()) return;
  const std::size_t end = std::size_t(past - region.begin);
  for (std::size_t at = std::size_t(from - region.begin); at < end;) {
    const unsigned first = at % 4, last = unsigned(std::min<std::size_t>(4, end - (at - first)));
    const Cell cell = region.cells.word(at / 4);
    const std::uintptr_t address = std::uintptr_t(region.begin) + at;
    if (cell.content.is_split) {
      for (unsigned b = first; b < last; ++b) use(region.cells.byte(at / 4, b), 1u << b, address + (b - first), 1u);
    } else {
      use(cell, ((1u << last) - 1) & ~((1u << first) - 1), address, last - first);
    }
    at += last - first;
  }
}

/// Copies and fills handle this many neighbouring words at once, if all of them are whole.
inline constexpr std::size_t words_at_once = 64;

/// Whether the bytes of some of words_at_once words have cells of their own.
[[gnu::always_inline]] inline bool are_any_split(const Content* contents) {
  std::uint8_t any = 0;
  for (std::size_t word = 0; word < words_at_once; ++word) any |= std::bit_cast<std::uint8_t>(contents[word]);
  return std::bit_cast<Content>(any).is_split;
}

/// The same, but for words_at_once words whose bytes have no cells of their own, it first calls `use_words` with the
/// index of the first one. False: nothing has been done with them, and `use` is called for each.
template <class UseWords, class Use>
void for_each_cell(const Region& region, const void* begin, std::size_t bytes, UseWords&& use_words, Use&& use) {
  constexpr std::ptrdiff_t bytes_at_once = words_at_once * 4;
  const char* at = std::max(static_cast<const char*>(begin), region.begin);
  const char* const past = std::min(static_cast<const char*>(begin) + bytes, region.begin + region.bytes);
  if (at >= past || !region.cells.exist()) return;
  const auto use_cells = [&](std::ptrdiff_t count) {
    for_each_cell(region, at, std::size_t(count), use);
    at += count;
  };
  use_cells(std::min(past - at, -(at - region.begin) & 3));  // up to the next word
  while (past - at >= bytes_at_once) {
    const std::size_t word = std::size_t(at - region.begin) / 4;
    if (!are_any_split(region.cells.contents + word) && use_words(word)) {
      at += bytes_at_once;
    } else {
      use_cells(bytes_at_once);
    }
  }
  use_cells(past - at);
}

/// Whether these bytes of a word are initialized. In shared memory, what earlier blocks have written does not count.
inline bool is_initialized(const Cell& cell, unsigned mask, Space space, const Order& order) {
  if (space == Space::shared && cell.write.interval < order.first_of_block()) cell.content.initialized = 0;
  return (cell.content.initialized & mask) == mask;
}

}  // namespace simt::check

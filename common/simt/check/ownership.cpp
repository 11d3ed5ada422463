#include "ownership.h"

#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "../src/memory/pages.h"
#include "state.h"

// Where the linker puts the addresses that SIMT_CONSTANT stores; both are null if there are none.
extern "C" [[gnu::weak, gnu::visibility("hidden")]] const char *const __start_simt_constants[],
    *const __stop_simt_constants[];

namespace simt::check {
namespace {

constexpr std::size_t table_bytes = (std::size_t(1) << 47) / chunk_bytes * sizeof(Region*);
constexpr std::size_t large_bytes = std::size_t(16) << 20;  // of an allocation whose events are worth forgetting

/// What an array of cells' events takes, in whole pages.
std::size_t bytes_of_events(std::size_t words) { return round_up(words * 5 * sizeof(Event), page_bytes()); }
std::size_t bytes_of_cells(std::size_t words) { return 3 * bytes_of_events(words) + words * 5 * sizeof(Content); }

}  // namespace

void* Ownership::map(std::size_t bytes, int sharing) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  maps_[std::uintptr_t(memory)] = std::uintptr_t(memory) + bytes;
  return memory;
}

Cells Ownership::map_cells(std::size_t bytes) {
  const std::size_t words = Cells::words_of(bytes);
  auto* const memory = static_cast<char*>(map(bytes_of_cells(words), MAP_PRIVATE));
  if (memory == nullptr) return {};
  const auto events = [&](std::size_t n) { return reinterpret_cast<Event*>(memory + n * bytes_of_events(words)); };
  return {events(0), events(1), events(2), reinterpret_cast<Content*>(events(3)), words};
}

void Ownership::map_cells(Region& region) {
  region.cells = map_cells(region.bytes);
  if (!region.cells.exist()) return;
  const std::lock_guard lock(live_mutex_);
  live_.insert(&region);
}

void Ownership::unmap_cells(Region& region) {
  if (!region.cells.exist()) return;
  if (state().images.are_kept()) state().images.remove(region);
  const std::lock_guard lock(live_mutex_);
  live_.erase(&region);
  state().watch.look_closely();  // instructions may know where the cells are
  munmap(region.cells.writes, bytes_of_cells(region.cells.bytes_at));
  maps_.erase(std::uintptr_t(region.cells.writes));
  region.cells = {};
}

void Ownership::make_table_early() {
  // Events keep their code relative to the program's first address, which must be known before the first launch: a copy
  // may come earlier.
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* address) {
        *static_cast<std::uintptr_t*>(address) = info->dlpi_addr;
        return 1;  // the first is the program itself
      },
      &program);
  if (regions_ != nullptr) return;  // a constructor of the program was earlier
  // Shared memory is not part of a process's data, which ./workbook grade limits. Hardly any of it is ever touched.
  regions_ = static_cast<Region**>(map(table_bytes, MAP_SHARED));
  // It is also shared with child processes. One that is forked before the first allocation gets a table of its own.
  static const int registered = pthread_atfork(nullptr, nullptr, [] { state().ownership.renew_table(); });
  static_cast<void>(registered);
  state().find_hosts_own();
}

void Ownership::renew_table() {
  if (regions_ == nullptr || region_count_ != 0) return;
  void* const renewed = mmap(regions_, table_bytes, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (renewed != MAP_FAILED) return;
  regions_ = nullptr;
  state().find_hosts_own();
}

void Ownership::make_table() {
  make_table_early();
  if (regions_ != nullptr) return;
  std::fputs("error: out-of-memory: the check build needs 16 GiB of addresses; lift the limit on them (ulimit -v)\n",
             stderr);
  _exit(3);
}

void Ownership::find_segments() {
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* self) {
        Ownership& own = *static_cast<Ownership*>(self);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& segment = info->dlpi_phdr[i];
          if (segment.p_type == PT_TLS) own.tls_bytes_ = segment.p_memsz;
          if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) == 0) continue;
          own.program_data.begin = reinterpret_cast<const char*>(info->dlpi_addr + segment.p_vaddr);
          own.program_data.bytes = segment.p_memsz;
          own.program_data.cells = own.map_cells(segment.p_memsz);
        }
        return 1;  // the first is the program itself
      },
      this);
}

void Ownership::find_variables() {
  find_segments();
  symbols = read_symbols();
  for (const char* const* constant = __start_simt_constants; constant != __stop_simt_constants; ++constant) {
    if (!symbols.variables.empty())
      symbol_at(symbols.variables, std::uintptr_t(*constant) - program)->is_constant = true;
  }
  const std::size_t data = std::uintptr_t(program_data.begin) - program;
  for (const Symbol& variable : symbols.variables) {
    if (variable.offset - data >= program_data.bytes) continue;  // a constant
    const std::size_t first = variable.offset - data;
    const std::size_t past = std::min(first + variable.bytes, program_data.bytes);
    for (std::size_t word = first / 4; word * 4 < past; ++word) program_data.cells.contents[word].initialized = 15;
  }
  if (symbols.arrays.empty()) {
    shared_first = shared_last = tls_bytes_;
    return;
  }
  const std::size_t first = shared_first = symbols.arrays.front().offset;
  for (const Symbol& gap : symbols.gaps) {  // which an index below 0 of the first array reaches
    if (gap.offset < first && first - gap.offset <= gap.bytes + 64)
      shared_first = first - (first - gap.offset) / 16 * 16;
  }
  shared_last = tls_bytes_ + 16384;
  static_cells = map_cells(shared_last - shared_first);
}

void Ownership::begin_launch(std::size_t dynamic_shared_bytes) {
  if (!has_variables_) find_variables();
  has_variables_ = true;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        *static_cast<char**>(out) = static_cast<char*>(info->dlpi_tls_data);
        return 1;
      },
      &tls);
  dynamic_bytes = dynamic_shared_bytes;
  if (!dynamic_cells.exist()) dynamic_cells = map_cells(max_dynamic_shared);
  for (std::size_t word = 0; word * 4 < dynamic_bytes; ++word) {
    const Cell cell = dynamic_cells.word(word);
    cell.write = cell.read = cell.other_read = {};
    cell.content = {};
  }
}

SharedCells Ownership::take_shared_cells() {
  const SharedCells taken{static_cells, dynamic_cells};
  if (spare_shared_.empty()) {
    static_cells = taken.of_static.exist() ? map_cells(shared_last - shared_first) : Cells{};
    dynamic_cells = map_cells(max_dynamic_shared);
  } else {
    static_cells = spare_shared_.back().of_static;
    dynamic_cells = spare_shared_.back().of_dynamic;
    spare_shared_.pop_back();
  }
  return taken;
}

void Ownership::give_shared_cells(const SharedCells& cells) {
  spare_shared_.push_back({static_cells, dynamic_cells});
  static_cells = cells.of_static;
  dynamic_cells = cells.of_dynamic;
}

bool Ownership::is_observers(std::uintptr_t address) const {
  const auto after = maps_.upper_bound(address);
  return after != maps_.begin() && address < std::prev(after)->second;
}

Outside outside(const Region& region, std::size_t offset, unsigned bytes) {
  const std::size_t rounded = round_up(region.whole_bytes, 256), pages = round_up(rounded, page_bytes());
  const std::size_t in_whole = offset + std::size_t(region.begin - region.whole_begin);
  const std::size_t in_pages = in_whole + (pages - rounded);  // an allocation's rounded end is a page's end
  if (in_pages + guard_bytes >= pages + 2 * guard_bytes) return Outside::elsewhere;
  return in_pages < pages && bytes <= pages - in_pages ? Outside::padding : Outside::guard;
}

bool Ownership::is_between_arrays(std::size_t offset, unsigned bytes) const {
  return std::any_of(symbols.gaps.begin(), symbols.gaps.end(), [&](const Symbol& gap) {
    return offset + 64 > gap.offset && offset + bytes <= gap.offset + gap.bytes;
  });
}

const Symbol* Ownership::used_array_at(std::uintptr_t address) const {
  if (!is_in_shared_arrays(address) || symbols.arrays.empty()) return nullptr;
  const Symbol* const array = symbol_at(symbols.arrays, address - std::uintptr_t(tls));
  return address - std::uintptr_t(tls) - array->offset < array->bytes && array->used_in_launch != 0 ? array : nullptr;
}

void Ownership::clear_shared_arrays() {
  for (const Symbol& array : symbols.arrays) {
    if (array.used_in_launch == state().order.first_of_launch()) std::memset(tls + array.offset, 0, array.bytes);
  }
}

bool Ownership::is_guard(std::size_t offset) const {
  return std::any_of(symbols.guards.begin(), symbols.guards.end(),
                     [&](const Symbol& guard) { return offset - guard.offset < guard.bytes; });
}

const Symbol* Ownership::array_near(std::size_t offset, Code code) const {
  const int source = source_of(code);
  const Symbol *before = nullptr, *after = nullptr;
  for (const Symbol& array : symbols.arrays) {
    if (!can_name(source, array)) continue;
    (array.offset <= offset ? before : after) = &array;
    if (after != nullptr) break;
  }
  if (before == nullptr || after == nullptr) return before != nullptr ? before : after;
  if (offset - before->offset < before->bytes) return before;
  const std::uint32_t launch = state().order.first_of_launch();
  const bool is_before_used = before->used_in_launch == launch, is_after_used = after->used_in_launch == launch;
  if (is_before_used != is_after_used) return is_before_used ? before : after;
  return after->offset - offset < offset - (before->offset + before->bytes) ? after : before;
}

Element Ownership::element_at(std::uintptr_t address, unsigned bytes, Code code) {
  const auto in = [&](Array array, std::uintptr_t begin) {
    return Element{std::move(array), std::ptrdiff_t(address - begin), bytes};
  };
  const std::size_t in_tls = address - std::uintptr_t(tls), in_dynamic = address - std::uintptr_t(dynamic_begin);
  if (in_tls >= shared_first && in_tls < shared_last) {
    const Symbol* const array = array_near(in_tls, code);
    if (array == nullptr) return {{.memory = Memory::shared}, 0, bytes};
    return in({.memory = Memory::shared, .name = array->name, .bytes = array->bytes},
              std::uintptr_t(tls) + array->offset);
  }
  if (in_dynamic < dynamic_bytes + past_dynamic_shared) {
    return in({.memory = Memory::dynamic_shared, .bytes = dynamic_bytes}, std::uintptr_t(dynamic_begin));
  }
  if (address - std::uintptr_t(program_data.begin) < program_data.bytes) {
    std::vector<Symbol> programs;  // without the emulation's
    std::copy_if(symbols.variables.begin(), symbols.variables.end(), std::back_inserter(programs),
                 [](const Symbol& s) { return s.name.find("simt::") == std::string::npos; });
    if (programs.empty()) return {{.memory = Memory::variable}, 0, bytes};
    const Symbol& variable = *symbol_near(programs, address - program);
    return in({.memory = variable.is_constant ? Memory::constant : Memory::variable,
               .name = variable.name,
               .bytes = variable.bytes},
              program + variable.offset);
  }
  const Region* const region = region_at(address);
  if (region == nullptr) return {{}, 0, bytes};
  return region->is_heap ? element_in_heap(address, bytes) : in(array_of(*region), std::uintptr_t(region->begin));
}

/// In the accessed block, or near the one before or after the access, whichever is nearer.
Element Ownership::element_in_heap(std::uintptr_t address, unsigned bytes) {
  const DeviceHeap& heap = state().heap;
  const DeviceHeap::Block *block = heap.near(address), *const next = heap.near(address + DeviceHeap::gap);
  const bool is_before = next != nullptr && next != block &&
                         (block == nullptr || next->begin - address < address - (block->begin + block->bytes));
  if (is_before) block = next;
  if (block == nullptr) return {{.memory = Memory::heap}, 0, bytes};
  return {{.memory = Memory::heap, .made_by = {block->made_by}, .bytes = block->bytes},
          std::ptrdiff_t(address - block->begin),
          bytes};
}

Array Ownership::array_of(const Region& region) {
  return {.memory = Memory::allocation,
          .name = region.name != nullptr ? region.name : "",
          .number = region.number,
          .made_by = region.name != nullptr ? std::vector<Code>() : region.made_by,
          .bytes = region.bytes};
}

bool Ownership::allocated(const void* begin, std::size_t bytes, bool is_host_accessible, std::vector<Code> made_by,
                          bool is_heap) {
  const std::uintptr_t first = std::uintptr_t(begin);
  Region*& old = region_at(first);
  if (old != nullptr && old->whole_begin == begin) unmap_cells(*old);
  auto* const at = static_cast<const char*>(begin);
  auto* const region = new Region{.begin = at,
                                  .bytes = bytes,
                                  .number = ++region_count_,
                                  .made_by = std::move(made_by),
                                  .is_heap = is_heap,
                                  .whole_begin = at,
                                  .whole_bytes = bytes,
                                  .is_host_accessible = is_host_accessible};
  map_cells(*region);
  const std::uintptr_t last = first + bytes + guard_bytes;
  for (std::uintptr_t chunk = (first - guard_bytes) / chunk_bytes * chunk_bytes; chunk <= last; chunk += chunk_bytes) {
    Region*& slot = region_at(chunk);
    const bool is_body = chunk + chunk_bytes > first && chunk < first + bytes;
    if (is_body || slot == nullptr || slot->is_freed) slot = region;
  }
  if (is_host_accessible || is_shared) written(begin, bytes);  // the host writes without being observed
  if (state().images.are_kept()) state().images.add(*region);
  return region->cells.exist();
}

void Ownership::allocated_heap(const void* begin, std::size_t bytes) { allocated(begin, bytes, false, {}, true); }

void Ownership::freed(const void* begin, Code by) {
  Region* const region = region_at(std::uintptr_t(begin));
  if (region == nullptr || region->whole_begin != begin) return;
  const bool is_scratch = region->name == nullptr && region->bytes == keys_bytes_ && keys_bytes_ < large_bytes;
  if (is_scratch && !state().counts.launches().empty() && is_written_by_device(begin, keys_bytes_)) {
    left_behind_ = region;
  }
  region->is_freed = true;
  region->freed_by = by;
  unmap_cells(*region);
}

void Ownership::forget_events(bool has_host_waited) {
  for_each_allocation([&](const Region& region) {
    if (region.bytes < large_bytes || (region.is_host_accessible && !has_host_waited)) return;
    madvise(region.cells.writes, 3 * bytes_of_events(region.cells.bytes_at), MADV_DONTNEED);  // they become zeros
  });
}

void Ownership::narrow(const void* begin, std::size_t bytes, const char* name) {
  Region* const region = region_at(std::uintptr_t(begin));
  if (region == nullptr || !region->cells.exist()) return;
  unmap_cells(*region);
  region->begin = static_cast<const char*>(begin);
  region->bytes = bytes;
  map_cells(*region);
  region->name = name;
  if (keys_bytes_ == 0) keys_bytes_ = bytes;
}

namespace {

bool is_unwritten(const Cells& cells, std::size_t word) {
  const Content& content = cells.contents[word];
  if (!content.is_split) return content.initialized == 0;
  const Content* const pieces = &cells.byte(word, 0).content;
  return std::all_of(pieces, pieces + 4, [](const Content& piece) { return piece.initialized == 0; });
}

/// Whether words_at_once words have all been written, and none byte by byte.
bool are_written(const Content* contents) {
  bool are = true;
  for (std::size_t word = 0; word < words_at_once; ++word) are &= contents[word].initialized != 0;
  return are && !are_any_split(contents);
}

}  // namespace

Ownership::Words Ownership::first_unwritten(const Region& region, std::size_t offset, std::size_t bytes) const {
  // Single words at a constant distance are taken to be padding in structures, which nothing has to write.
  std::size_t first = 0, stride = 0;
  bool has_first = false;
  for (std::size_t word = (offset + 3) / 4, end = (offset + bytes) / 4; word < end; ++word) {
    if (word % words_at_once == 0 && end - word >= words_at_once && are_written(region.cells.contents + word)) {
      word += words_at_once - 1;
      continue;
    }
    if (!is_unwritten(region.cells, word)) continue;
    std::size_t past = word + 1;
    while (past < end && is_unwritten(region.cells, past)) ++past;
    if (past - word > 1 || word % 2 == 0) return {word * 4, (past - word) * 4};
    if (!has_first) {
      first = word;
    } else if (stride == 0) {
      stride = word - first;
    }
    if (has_first && (stride < 4 || (word - first) % stride != 0)) return {first * 4, 4};
    has_first = true;
  }
  const bool is_padding = stride != 0 || bytes < 32;
  return has_first && !is_padding ? Words{first * 4, 4} : Words{0, 0};
}

void Ownership::written(const void* begin, std::size_t bytes, bool by_device) {
  const Region* const region = region_at(std::uintptr_t(begin));
  if (region == nullptr) return;
  const auto write_words = [&](std::size_t first) {
    Content* const contents = region->cells.contents + first;
    for (std::size_t word = 0; word < words_at_once; ++word) {
      contents[word] = {.initialized = 15,
                        .other_is_write = contents[word].other_is_write,
                        .is_split = 0,
                        .by_device = by_device,
                        .unused = 0};
    }
    return true;
  };
  for_each_cell(*region, begin, bytes, write_words, [&](const Cell& cell, unsigned mask, std::uintptr_t, unsigned) {
    cell.content.initialized |= mask & 15;
    cell.content.by_device = by_device;
  });
}

void Ownership::describe_written(const Access& access, Details& details) {
  const std::size_t in_tls = access.address - std::uintptr_t(tls);
  Cells cells;
  std::size_t bytes = 0;
  bool is_of_block = false;
  if (in_tls >= shared_first && in_tls < shared_last) {
    const Symbol* const array = array_near(in_tls, access.code);
    if (array == nullptr || in_tls < array->offset || array->offset % 4 != 0) return;
    cells = static_cells.from((array->offset - shared_first) / 4);
    bytes = array->bytes;
    is_of_block = true;
  } else if (const Region* const region = region_at(access.address); region != nullptr && !region->is_heap) {
    cells = region->cells;
    bytes = region->bytes;
  }
  if (!cells.exist() || access.bytes % 4 != 0) return;
  const std::size_t elements = bytes / access.bytes, words = access.bytes / 4;
  std::size_t first = elements, past = 0, count = 0;
  for (std::size_t i = 0; i < elements; ++i) {
    const Cell cell = cells.word(i * words);
    if (cell.content.initialized == 0 && !cell.content.is_split) continue;
    if (is_of_block && cell.write.interval < state().order.first_of_block()) continue;  // an earlier block's
    first = std::min(first, i);
    if (past == 0 || past == i) past = i + 1;
    ++count;
  }
  if (count == 0 && !is_of_block) return;
  details.set("elements", elements);
  details.set("written", count);
  if (count == 0) return;
  details.set("first_written", first);
  details.set("last_written", past - 1);
}

bool Ownership::is_lone_pointer(const Access& access) const {
  const std::size_t in_tls = access.address - std::uintptr_t(tls);
  if (access.bytes != sizeof(void*) || in_tls < shared_first || in_tls >= shared_last) return false;
  const Symbol* const variable = array_near(in_tls, access.code);
  return variable != nullptr && variable->offset == in_tls && variable->bytes == sizeof(void*);
}

bool Ownership::has_bytes_for_keys(const Access& access) {
  const Region* const region = region_at(access.address);
  return region != nullptr && region->name == nullptr && keys_bytes_ != 0 && access.bytes > 1 &&
         region->bytes * access.bytes == keys_bytes_;
}

bool Ownership::is_written_by_device(const void* begin, std::size_t bytes) {
  const Region* const region = region_at(std::uintptr_t(begin));
  bool is_written = false;
  if (region == nullptr) return false;
  for_each_cell(*region, begin, bytes, [&](const Cell& cell, unsigned, std::uintptr_t, unsigned) {
    is_written |= cell.content.by_device != 0;
  });
  return is_written;
}

std::size_t Ownership::first_not_by_device(const void* begin, std::size_t bytes, const void* before) {
  const Region* const region = region_at(std::uintptr_t(begin));
  if (region == nullptr || !region->cells.exist()) return bytes;
  const char *const now = static_cast<const char*>(begin), *const then = static_cast<const char*>(before);
  const std::size_t first = std::size_t(now - region->begin);
  for (std::size_t i = 0; i < bytes; ++i) {
    if (now[i] == then[i]) continue;
    const std::size_t at = first + i;
    const Content& word = region->cells.contents[at / 4];
    const Content& content = word.is_split ? region->cells.byte(at / 4, unsigned(at % 4)).content : word;
    if (!content.by_device) return i;
  }
  return bytes;
}

}  // namespace simt::check

#include "ownership.h"

#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>

namespace simt::check {

Region** regions;
std::uintptr_t program;
std::vector<Symbol> arrays, variables;
Region program_data{};
std::size_t shared_first, shared_last;
char* tls;
Cell* static_cells;
char* dynamic_begin;
std::size_t dynamic_bytes;
Cell* dynamic_cells;

namespace {

int region_count;
std::vector<Symbol> gaps;  // between arrays, for what runs over the end of one
std::size_t tls_bytes;

std::size_t cell_bytes(std::size_t bytes) { return words_of(bytes) * 5 * sizeof(Cell); }

/// By their beginnings, the ends of what the observers have mapped.
auto& maps() {
  static auto* const all = new std::map<std::uintptr_t, std::uintptr_t>;  // a program may allocate before main
  return *all;
}

void* map(std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  maps()[std::uintptr_t(memory)] = std::uintptr_t(memory) + bytes;
  return memory;
}

Cell* map_cells(std::size_t bytes) { return static_cast<Cell*>(map(cell_bytes(bytes))); }

void unmap_cells(const Region& region) {
  munmap(region.cells, cell_bytes(region.bytes));
  maps().erase(std::uintptr_t(region.cells));
}

void read_symbols() {
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void*) {
        program = info->dlpi_addr;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& segment = info->dlpi_phdr[i];
          if (segment.p_type == PT_TLS) tls_bytes = segment.p_memsz;
          if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) == 0) continue;
          program_data.begin = reinterpret_cast<const char*>(info->dlpi_addr + segment.p_vaddr);
          program_data.bytes = segment.p_memsz;
          program_data.cells = map_cells(segment.p_memsz);
          for (std::size_t word = 0; word <= segment.p_memsz / 4; ++word) program_data.cells[word].initialized = 15;
        }
        return 1;
      },
      nullptr);
  const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  const off_t size = lseek(file, 0, SEEK_END);
  const char* image = static_cast<const char*>(mmap(nullptr, std::size_t(size), PROT_READ, MAP_PRIVATE, file, 0));
  close(file);
  if (image == MAP_FAILED) return;
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(image);
  const auto* sections = reinterpret_cast<const ElfW(Shdr)*>(image + header->e_shoff);
  for (int s = 0; s < header->e_shnum; ++s) {
    if (sections[s].sh_type != SHT_SYMTAB) continue;
    const auto* symbols = reinterpret_cast<const ElfW(Sym)*>(image + sections[s].sh_offset);
    const char* names = image + sections[sections[s].sh_link].sh_offset;
    for (std::size_t i = 0; i < sections[s].sh_size / sizeof *symbols; ++i) {
      const int type = symbols[i].st_info & 15;
      if ((type != STT_TLS && type != STT_OBJECT) || symbols[i].st_shndx == SHN_UNDEF) continue;
      if (symbols[i].st_shndx >= header->e_shnum || symbols[i].st_size == 0) continue;
      int status = 0;
      char* demangled = abi::__cxa_demangle(names + symbols[i].st_name, nullptr, nullptr, &status);
      std::string name = demangled != nullptr ? demangled : names + symbols[i].st_name;
      std::free(demangled);
      if (type == STT_OBJECT) {
        variables.push_back({name, symbols[i].st_value, symbols[i].st_size});
        continue;
      }
      const ElfW(Shdr) & home = sections[symbols[i].st_shndx];
      if (name.find("simt_shared_gap") != std::string::npos || name.find("past_shared") != std::string::npos) {
        gaps.push_back({name, symbols[i].st_value, symbols[i].st_size});
        continue;
      }
      if (home.sh_type != SHT_NOBITS || name.compare(0, 6, "simt::") == 0 ||
          name.find("guard variable") != std::string::npos) {
        continue;
      }
      if (const std::size_t colon = name.rfind("::"); colon != std::string::npos) name = name.substr(colon + 2);
      arrays.push_back({name, symbols[i].st_value, symbols[i].st_size});
    }
  }
  munmap(const_cast<char*>(image), std::size_t(size));
  for (auto* all : {&arrays, &gaps, &variables}) {
    std::sort(all->begin(), all->end(), [](auto& a, auto& b) { return a.offset < b.offset; });
  }
  if (arrays.empty()) {
    shared_first = shared_last = tls_bytes;
    return;
  }
  shared_first = arrays.front().offset;
  shared_last = tls_bytes + 16384;
  static_cells = map_cells(shared_last - shared_first);
}

}  // namespace

void own_launch(std::size_t dynamic_shared_bytes) {
  static const bool once = [] {
    read_symbols();
    return true;
  }();
  (void)once;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void*) {
        tls = static_cast<char*>(info->dlpi_tls_data);
        return 1;
      },
      nullptr);
  dynamic_bytes = dynamic_shared_bytes;
  if (dynamic_cells == nullptr) dynamic_cells = map_cells(most_dynamic_bytes);
  if (dynamic_bytes != 0) std::memset(static_cast<void*>(dynamic_cells), 0, words_of(dynamic_bytes) * sizeof(Cell));
}

Region** make_table() {
  regions = static_cast<Region**>(map((std::size_t(1) << 31) * sizeof(Region*)));
  return regions;
}

bool is_observers(std::uintptr_t address) {
  const auto after = maps().upper_bound(address);
  return after != maps().begin() && address < std::prev(after)->second;
}

Beside beside(const Region& region, std::size_t offset, unsigned bytes) {
  const std::size_t rounded = (region.whole_bytes + 255) & ~std::size_t(255);
  const std::size_t pages = (rounded + 4095) & ~std::size_t(4095);
  const std::size_t in_whole = offset + std::size_t(region.begin - region.whole_begin);
  const std::size_t in_body = in_whole + (pages - rounded);  // an allocation's end, rounded, is a page's end
  if (in_body + guard >= pages + 2 * guard) return Beside::elsewhere;
  return in_body < pages && bytes <= pages - in_body ? Beside::padding : Beside::guard;
}

Symbol* symbol_at(std::vector<Symbol>& symbols, std::size_t offset) {
  auto after = std::upper_bound(symbols.begin(), symbols.end(), offset,
                                [](std::size_t o, const Symbol& symbol) { return o < symbol.offset; });
  return after == symbols.begin() ? &*after : &*std::prev(after);
}

bool between_arrays(std::size_t offset, unsigned bytes) {
  return std::any_of(gaps.begin(), gaps.end(), [&](const Symbol& gap) {
    return offset + 64 > gap.offset && offset + bytes <= gap.offset + gap.bytes;
  });
}

std::string describe(std::uintptr_t address, unsigned bytes) {
  const std::size_t offset = address - std::uintptr_t(tls);
  std::string name = "memory";
  std::size_t at = 0, size = 0;
  if (offset >= shared_first && offset < shared_last) {
    const Symbol* array = symbol_at(arrays, offset);
    name = "__shared__ " + array->name, at = offset - array->offset, size = array->bytes;
  } else if (address - std::uintptr_t(dynamic_begin) < dynamic_bytes + past_dynamic_shared) {
    name = "dynamic __shared__ memory", at = address - std::uintptr_t(dynamic_begin), size = dynamic_bytes;
  } else if (address - std::uintptr_t(program_data.begin) < program_data.bytes) {
    if (variables.empty()) return "a variable";
    const Symbol* variable = symbol_at(variables, address - program);
    name = "__device__ " + variable->name, at = address - program - variable->offset, size = variable->bytes;
  } else if (const Region* region = region_at(address)) {
    name = region->name != nullptr ? region->name : "allocation " + std::to_string(region->number);
    size = region->bytes;
    if (address < std::uintptr_t(region->begin)) {
      return name + " of " + std::to_string(size) + " bytes, " +
             std::to_string(std::uintptr_t(region->begin) - address) + " bytes before its start";
    }
    at = address - std::uintptr_t(region->begin);
  }
  return name + "[" + std::to_string(at / bytes) + "] (byte " + std::to_string(at) + " of " + std::to_string(size) +
         ", " + std::to_string(bytes) + (bytes == 1 ? " byte an access)" : " bytes an access)");
}

void allocated(const void* begin, std::size_t bytes, bool of_host) {
  const std::uintptr_t first = std::uintptr_t(begin);
  Region*& old = region_at(first);
  if (old != nullptr && old->whole_begin == begin && old->cells != nullptr) {
    unmap_cells(*old);
  }
  auto* const at = static_cast<const char*>(begin);
  auto* const region = new Region{at, bytes, map_cells(bytes), ++region_count, false, nullptr, at, bytes, of_host};
  for (std::size_t c = chunk_of(first - guard); c <= chunk_of(first + bytes + guard); ++c) {
    Region*& slot = regions[c];
    const bool body = (c + 1) * chunk > first && c * chunk < first + bytes;
    if (body || slot == nullptr || slot->freed) slot = region;
  }
  if (of_host) written(begin, bytes);  // who knows
}

void freed(const void* begin, std::size_t) {
  Region* const region = region_at(std::uintptr_t(begin));
  if (region != nullptr && region->whole_begin == begin) region->freed = true;
}

void narrow(const void* begin, std::size_t bytes, const char* name) {
  Region* const region = region_at(std::uintptr_t(begin));
  if (region == nullptr || region->cells == nullptr) return;
  unmap_cells(*region);
  region->begin = static_cast<const char*>(begin);
  region->bytes = bytes;
  region->cells = map_cells(bytes);
  region->name = name;
}

void written(const void* begin, std::size_t bytes) {
  Region* const region = region_at(std::uintptr_t(begin));
  if (region == nullptr || region->cells == nullptr) return;
  const char* const first_byte = std::max(static_cast<const char*>(begin), region->begin);
  const char* const past = std::min(static_cast<const char*>(begin) + bytes, region->begin + region->bytes);
  if (first_byte >= past) return;
  const std::size_t end = std::size_t(past - region->begin);
  for (std::size_t at = std::size_t(first_byte - region->begin); at < end;) {
    const unsigned first = at % 4, last = unsigned(std::min<std::size_t>(4, end - (at - first)));
    Cell& cell = region->cells[at / 4];
    cell.initialized |= ((1u << last) - 1) & ~((1u << first) - 1);
    if (cell.split) {
      for (unsigned b = first; b < last; ++b)
        region->cells[words_of(region->bytes) + at / 4 * 4 + b].initialized |= 1u << b;
    }
    at += last - first;
  }
}

}  // namespace simt::check

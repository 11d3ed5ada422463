#include "symbols.h"

#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace simt::check {
namespace {

/// The name as the program writes it. Without the first test, `w` would be taken for the type wchar_t, and `i` for int.
std::string demangled(const char* name) {
  if (name[0] != '_' || name[1] != 'Z') return name;
  int status = 0;
  char* text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  const std::string result = text != nullptr ? text : name;
  std::free(text);
  return result;
}

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

/// A linker's mark, and not an array without elements.
bool is_mark(const ElfW(Sym) & symbol, const char* name) {
  return symbol.st_size == 0 && ((symbol.st_info & 15) != STT_OBJECT || (name[0] == '_' && name[1] == '_'));
}

void add_symbol(Symbols& symbols, const ElfW(Sym) & symbol, const char* mangled, const ElfW(Shdr) & section,
                int source) {
  std::string name = demangled(mangled);
  if ((symbol.st_info & 15) == STT_OBJECT) {
    if (contains(name, "simt_device_gap") || contains(name, "simt_constant_")) return;
    symbols.variables.push_back({name, symbol.st_value, symbol.st_size});
    return;
  }
  if (contains(name, "simt_shared_gap") || contains(name, "past_shared")) {
    symbols.gaps.push_back({name, symbol.st_value, symbol.st_size});
    return;
  }
  if (section.sh_type != SHT_NOBITS || name.compare(0, 6, "simt::") == 0) return;
  if (contains(name, "guard variable") || contains(name, "__tls_guard")) {
    symbols.guards.push_back({name, symbol.st_value, symbol.st_size});
    return;
  }
  if (const std::size_t colon = name.rfind("::"); colon != std::string::npos) name = name.substr(colon + 2);
  symbols.arrays.push_back({.name = name, .offset = symbol.st_value, .bytes = symbol.st_size, .source = source});
}

/// The symbols that only one source file can name follow that file's name in the table.
void read_table(Symbols& result, const char* image) {
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(image);
  const auto* sections = reinterpret_cast<const ElfW(Shdr)*>(image + header->e_shoff);
  for (int s = 0; s < header->e_shnum; ++s) {
    if (sections[s].sh_type != SHT_SYMTAB) continue;
    const auto* symbols = reinterpret_cast<const ElfW(Sym)*>(image + sections[s].sh_offset);
    const char* names = image + sections[sections[s].sh_link].sh_offset;
    int sources = 0;
    for (std::size_t i = 0; i < sections[s].sh_size / sizeof *symbols; ++i) {
      const ElfW(Sym) & symbol = symbols[i];
      const int type = symbol.st_info & 15, source = symbol.st_info >> 4 == STB_LOCAL ? sources : 0;
      if (type == STT_FILE) ++sources;
      if (type != STT_TLS && type != STT_OBJECT && type != STT_FUNC) continue;
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= header->e_shnum) continue;
      if (is_mark(symbol, names + symbol.st_name)) continue;
      if (type == STT_FUNC) {
        if (source != 0)
          result.functions.push_back(
              {.name = {}, .offset = symbol.st_value, .bytes = symbol.st_size, .source = source});
        continue;
      }
      add_symbol(result, symbol, names + symbol.st_name, sections[symbol.st_shndx], source);
    }
  }
}

}  // namespace

Symbols read_symbols() {
  Symbols symbols;
  const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  if (file < 0) return symbols;
  const std::size_t size = std::size_t(lseek(file, 0, SEEK_END));
  void* const image = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (image == MAP_FAILED) return symbols;
  read_table(symbols, static_cast<const char*>(image));
  munmap(image, size);
  for (auto* all : {&symbols.arrays, &symbols.gaps, &symbols.guards, &symbols.variables, &symbols.functions}) {
    std::sort(all->begin(), all->end(), [](auto& a, auto& b) {
      return a.offset != b.offset ? a.offset < b.offset : a.bytes < b.bytes;  // symbol_at() finds the last one
    });
  }
  return symbols;
}

int source_of_code(const std::vector<Symbol>& functions, std::size_t offset) {
  if (functions.empty()) return 0;
  const Symbol& function = *symbol_at(functions, offset);
  return offset - function.offset < function.bytes ? function.source : 0;
}

const Symbol* symbol_at(const std::vector<Symbol>& symbols, std::size_t offset) {
  auto after = std::upper_bound(symbols.begin(), symbols.end(), offset,
                                [](std::size_t o, const Symbol& symbol) { return o < symbol.offset; });
  return after == symbols.begin() ? &*after : &*std::prev(after);
}

Symbol* symbol_at(std::vector<Symbol>& symbols, std::size_t offset) {
  return const_cast<Symbol*>(symbol_at(std::as_const(symbols), offset));
}

Symbol* symbol_near(std::vector<Symbol>& symbols, std::size_t offset) {
  Symbol* const before = symbol_at(symbols, offset);
  if (offset < before->offset + before->bytes || before == &symbols.back()) return before;
  Symbol* const after = before + 1;
  return after->offset - offset < offset - (before->offset + before->bytes) ? after : before;
}

}  // namespace simt::check

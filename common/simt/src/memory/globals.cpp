#include "globals.h"

#include <link.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <vector>

// Where the linker puts the section of __managed__ variables; both are null if the program has none.
extern "C" [[gnu::weak, gnu::visibility("hidden")]] const char __start_simt_managed[], __stop_simt_managed[];

namespace simt {
namespace {

/// A part of the program's file that is mapped for its global variables.
struct Segment {
  const char* begin;
  const char* end;
  bool writable;
};

std::vector<Segment> read_segments() {
  std::vector<Segment> segments;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& header = info->dlpi_phdr[i];
          if (header.p_type != PT_LOAD || (header.p_flags & PF_X) != 0) continue;
          const char* begin = reinterpret_cast<const char*>(info->dlpi_addr + header.p_vaddr);
          static_cast<std::vector<Segment>*>(out)->push_back(
              {begin, begin + header.p_memsz, (header.p_flags & PF_W) != 0});
        }
        return 1;  // stop: the program itself comes first, and libraries have no device code
      },
      &segments);
  return segments;
}

template <class Accept>
bool is_in_segment(const void* pointer, std::size_t bytes, Accept&& accept) {
  static const auto* const segments = new std::vector<Segment>(read_segments());
  const char* address = static_cast<const char*>(pointer);
  return std::any_of(segments->begin(), segments->end(), [&](const Segment& segment) {
    return address >= segment.begin && address < segment.end && bytes <= std::size_t(segment.end - address) &&
           accept(segment);
  });
}

struct Symbols {
  std::shared_mutex mutex;
  std::map<const char*, std::size_t> bytes;  ///< by the symbol's address
};

Symbols& symbols() {
  static Symbols* const symbols = new Symbols;  // never destroyed: a static's destructor may still launch a kernel
  return *symbols;
}

}  // namespace

bool is_global(const void* pointer, std::size_t bytes) {
  return is_in_segment(pointer, bytes, [](const Segment&) { return true; });
}

bool is_writable_global(const void* pointer, std::size_t bytes) {
  return is_in_segment(pointer, bytes, [](const Segment& segment) { return segment.writable; });
}

void allow_pointers_to(const void* symbol, std::size_t bytes) {
  const std::lock_guard lock(symbols().mutex);
  symbols().bytes[static_cast<const char*>(symbol)] = bytes;
}

bool is_managed_variable(const void* pointer) {
  return pointer >= __start_simt_managed && pointer < __stop_simt_managed;
}

std::size_t managed_bytes() { return std::size_t(__stop_simt_managed - __start_simt_managed); }

bool is_device_variable(const void* pointer) {
  const char* const address = static_cast<const char*>(pointer);
  if (is_managed_variable(pointer)) return true;
  const std::shared_lock lock(symbols().mutex);
  const auto after = symbols().bytes.upper_bound(address);
  return after != symbols().bytes.begin() && address < std::prev(after)->first + std::prev(after)->second;
}

}  // namespace simt

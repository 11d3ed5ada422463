#include "places.h"

#include <link.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "../src/faults/addr2line.h"

namespace simt::check {
namespace {

Code program_base() {
  Code base = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        *static_cast<Code*>(out) = info->dlpi_addr;
        return 1;  // the first is the program itself
      },
      &base);
  return base;
}

/// Whether the line is the program's own: neither the emulation's nor a library's.
bool is_own(const char* line) {
  return std::strstr(line, "simt/include/") == nullptr && std::strncmp(line, "/usr/", 5) != 0 &&
         std::strchr(line, '?') == nullptr;
}

std::string file_of(const std::string& line) { return line.substr(0, line.rfind(':')); }

/// Whether "file:line" is in a header whose code stands for that of a library, or for what tensor cores do.
bool stands_for_library(const std::string& line) {
  return line.find("simt/include/cub/") != std::string::npos || line.find("simt/include/mma.h:") != std::string::npos;
}

}  // namespace

bool is_in_source(const std::string& line) {
  const std::string file = file_of(line);
  return file.size() > 3 && file.compare(file.size() - 3, 3, ".cu") == 0;
}

std::string Places::of(Code code) const {
  const auto place = places_.find(code);
  return place == places_.end() ? unknown() : place->second;
}

std::string Places::header(Code code) const {
  const std::string line = of(code);
  return in_source_or_unknown(code) == line ? "" : ", in " + line;
}

std::string Places::in_source(Code code) const {
  const auto place = places_.find(code);
  if (place == places_.end()) return "";
  const auto caller = callers_.find(code);
  const bool is_inlined = caller != callers_.end() && !is_in_source(place->second) && is_in_source(caller->second);
  return is_inlined ? caller->second : place->second;
}

std::string Places::in_source_or_unknown(Code code) const {
  const std::string line = in_source(code);
  return line.empty() ? unknown() : line;
}

std::map<Code, std::string> resolve(const std::set<Code>& codes, std::map<Code, std::string>* callers, bool* has_failed,
                                    std::set<Code>* of_library) {
  const Code base = program_base();
  std::vector<std::uintptr_t> addresses;
  for (Code code : codes) addresses.push_back(code - base);
  std::map<Code, std::string> places;
  Code code = 0;
  bool is_innermost = false;
  const bool is_known = read_source_lines(addresses, [&](const std::string& line) {
    if (line.starts_with("0x")) {
      code = std::strtoull(line.c_str(), nullptr, 16) + base;
      is_innermost = true;
      return;
    }
    if (is_innermost && of_library != nullptr && stands_for_library(line)) of_library->insert(code);
    is_innermost = is_innermost && line.starts_with("/usr/");  // what the standard library does, it does for its caller
    if (is_own(line.c_str()) && places.count(code) == 0) {
      places[code] = line;
    } else if (is_own(line.c_str()) && callers != nullptr && file_of(line) != file_of(places[code])) {
      // The nearest call, unless that is in a header too: then the nearest one in a .cu file says more.
      const auto [caller, is_first] = callers->emplace(code, line);
      if (!is_first && !is_in_source(caller->second) && is_in_source(line)) caller->second = line;
    }
  });
  if (has_failed != nullptr) *has_failed = !is_known;
  return places;
}

}  // namespace simt::check

#include "places.h"

#include <link.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

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

std::string without_newline(char* text) {
  text[std::strcspn(text, " \n")] = '\0';  // and without " (discriminator n)"
  return std::strncmp(text, "./", 2) == 0 ? text + 2 : text;
}

}  // namespace

bool is_in_source(const std::string& line) {
  const std::string file = file_of(line);
  return file.size() > 3 && file.compare(file.size() - 3, 3, ".cu") == 0;
}

std::string Places::of(Code code) const {
  const auto place = places_.find(code);
  return place == places_.end() ? "?:0" : place->second;
}

std::string Places::caller(Code code) const {
  const auto caller = callers_.find(code);
  return caller == callers_.end() ? "" : ", called at " + caller->second;
}

std::string Places::in_source(Code code, const char* unknown) const {
  const auto place = places_.find(code);
  if (place == places_.end()) return unknown;
  const auto caller = callers_.find(code);
  const bool is_inlined = caller != callers_.end() && !is_in_source(place->second) && is_in_source(caller->second);
  return is_inlined ? caller->second : place->second;
}

// One run of addr2line for all. It prints each address and then the lines that were inlined there, innermost first.
std::map<Code, std::string> resolve(const std::set<Code>& codes, std::map<Code, std::string>* callers) {
  std::map<Code, std::string> places;
  char text[4200];
  const ssize_t length = readlink("/proc/self/exe", text, 4096);
  if (codes.empty() || length < 0) return places;
  std::string command = "addr2line -a -i -e '" + std::string(text, std::size_t(length)) + "'";
  const Code base = program_base();
  for (Code code : codes) {
    std::snprintf(text, sizeof text, " 0x%lx", static_cast<unsigned long>(code - base));
    command += text;
  }
  FILE* lines = popen((command + " 2>/dev/null").c_str(), "r");
  if (lines == nullptr) return places;
  Code code = 0;
  while (std::fgets(text, sizeof text, lines) != nullptr) {
    const std::string line = without_newline(text);
    if (std::strncmp(text, "0x", 2) == 0) {
      code = std::strtoull(text, nullptr, 16) + base;
    } else if (is_own(text) && places.count(code) == 0) {
      places[code] = line;
    } else if (is_own(text) && callers != nullptr && file_of(line) != file_of(places[code])) {
      // The nearest call, unless that is in a header too: then the nearest one in a .cu file says more.
      const auto [caller, is_first] = callers->emplace(code, line);
      if (!is_first && !is_in_source(caller->second) && is_in_source(line)) caller->second = line;
    }
  }
  pclose(lines);
  return places;
}

}  // namespace simt::check

#include "source_lines.h"

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "addr2line.h"

namespace simt {
namespace {

constexpr const char *unknown = "?", *failed = "(addr2line failed)";

bool is_in_source(const std::string& file) { return file.ends_with(".cu"); }

}  // namespace

Site site_of(void* address, Frame frame) {
  Dl_info info;
  if (dladdr(address, &info) == 0) return {unknown, 0};
  Site site{unknown, 0};
  const bool is_known = read_source_lines({std::uintptr_t(address) - std::uintptr_t(info.dli_fbase)}, [&](auto& line) {
    const std::size_t colon = line.rfind(':');
    const bool is_found = site.line != 0 && (frame == Frame::innermost || is_in_source(site.file));
    if (is_found || colon == std::string::npos || line.find("simt/include/") != std::string::npos ||
        line.starts_with("/usr/")) {
      return;
    }
    const int number = std::atoi(line.c_str() + colon + 1);
    const std::string file = line.substr(0, colon);
    if (number == 0 || (site.line != 0 && !is_in_source(file))) return;
    // The copy is never freed: a launch fails once, and findings may name it until the program's end.
    site = {strdup(file.c_str()), number};
  });
  return is_known ? site : Site{failed, 0};
}

Site line_of_call(void* return_address) {
  Site site{unknown, 0};
  std::thread([&] { site = site_of(static_cast<char*>(return_address) - 1); }).join();
  return site;
}

bool is_in_headers(Site site) { return std::strcmp(site.file, unknown) == 0 || std::strcmp(site.file, failed) == 0; }

bool has_no_line(Site site) { return std::strcmp(site.file, unknown) == 0; }

bool is_emulation(Site site) { return site.line == 0 || std::strstr(site.file, "common/simt/") != nullptr; }

}  // namespace simt

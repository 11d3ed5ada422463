#include "source_lines.h"

#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <thread>

namespace simt {

Site site_of(void* address) {
  Dl_info info;
  if (dladdr(address, &info) == 0) return {"?", 0};
  const std::size_t offset = std::size_t(static_cast<char*>(address) - static_cast<char*>(info.dli_fbase));
  char program[4096];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  if (length < 0) return {"?", 0};
  program[length] = '\0';
  char command[4400];
  std::snprintf(command, sizeof command, "addr2line -i -e '%s' 0x%zx 2>/dev/null", program, offset);
  FILE* lines = popen(command, "r");
  if (lines == nullptr) return {"?", 0};
  Site site{"?", 0};
  char line[4096];
  while (site.line == 0 && fgets(line, sizeof line, lines) != nullptr) {
    char* colon = std::strrchr(line, ':');
    if (colon == nullptr || std::strstr(line, "simt/include/") != nullptr || std::strncmp(line, "/usr/", 5) == 0) {
      continue;
    }
    *colon = '\0';
    // The copy is never freed: a launch fails once, and findings may name it until the program's end.
    site = {strdup(std::strncmp(line, "./", 2) == 0 ? line + 2 : line), std::atoi(colon + 1)};
  }
  pclose(lines);
  return site;
}

Site line_of_call(void* return_address) {
  Site site{"?", 0};
  std::thread([&] { site = site_of(static_cast<char*>(return_address) - 1); }).join();
  return site;
}

bool is_in_headers(Site site) { return std::strcmp(site.file, "?") == 0; }

bool is_emulation(Site site) { return site.line == 0 || std::strstr(site.file, "common/simt/") != nullptr; }

}  // namespace simt

#include "lab/machine.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "lab/parallel.h"

namespace lab {
namespace {

// The value of the first line of `path` that starts with `name` and has `separator` behind it; quotes are dropped.
std::string value_in(const char* path, const std::string& name, char separator) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t at = line.find(separator);
    if (!line.starts_with(name) || at == std::string::npos) continue;
    const std::size_t begin = line.find_first_not_of(" \"", at + 1);
    const std::size_t end = line.find_last_not_of(" \"");
    return begin == std::string::npos ? "" : line.substr(begin, end - begin + 1);
  }
  return "";
}

}  // namespace

std::string describe_host() {
  std::string text = value_in("/proc/cpuinfo", "model name", ':');
  const auto add = [&](const std::string& fact) {
    if (!fact.empty()) text += (text.empty() ? "" : ", ") + fact;
  };
  add(std::to_string(core_count()) + (core_count() == 1 ? " core" : " cores"));
  char memory[32];
  std::snprintf(memory, sizeof memory, "%.0f GiB",
                double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGE_SIZE)) / (1 << 30));
  add(memory);
  add(value_in("/etc/os-release", "PRETTY_NAME", '='));
  utsname system{};
  if (uname(&system) == 0) add(std::string(system.sysname) + " " + system.release);
  return text;
}

double available_memory() {
  std::ifstream facts("/proc/meminfo");
  for (std::string name, rest; facts >> name && std::getline(facts, rest);) {
    if (name == "MemAvailable:") return std::stod(rest) * 1024;
  }
  return 0;
}

}  // namespace lab

#include "judge/machine.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>

#include "judge/parallel.h"

namespace lab {
namespace {

// Finds the first line of `path` that starts with `name` and contains `separator`. Returns what follows the separator,
// without quotes.
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

// The processor as Linux names it; on AArch64, where it has only numbers, those.
std::string processor() {
  const auto value = [](const char* name) { return value_in("/proc/cpuinfo", name, ':'); };
  const std::string name = value("model name"), implementer = value("CPU implementer");
  return name.empty() && !implementer.empty() ? "AArch64 " + implementer + " " + value("CPU part") : name;
}

// What `name` has in a file of /proc that states memory in KiB, in bytes; 0 if it is not there.
std::int64_t bytes_stated_in(const std::string& path, const char* name) {
  const std::string text = value_in(path.c_str(), name, ':');
  return text.empty() ? 0 : std::stoll(text) * 1024;
}

}  // namespace

std::string describe_host() {
  std::string text = processor();
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

std::string id_of(const std::string& name) {
  std::string id;
  for (char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      id += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!id.empty() && id.back() != '-') {
      id += '-';
    }
  }
  while (!id.empty() && id.back() == '-') id.pop_back();
  return id;
}

std::string host_id() {
  std::string name = processor();
  name = name.substr(0, name.find('@'));
  return id_of((name.empty() ? "cpu" : name) + " " + std::to_string(core_count()) + "-cores");
}

double measure_host_copy() {
  const std::int64_t bytes = std::int64_t{96} << 20;
  const auto from = std::make_unique_for_overwrite<char[]>(bytes), to = std::make_unique_for_overwrite<char[]>(bytes);
  double best = 1e30;
  for (int run = 0; run < 4; ++run) {  // the first run only makes the memory resident
    const auto started = std::chrono::steady_clock::now();
    parallel_for(bytes, [&](std::int64_t begin, std::int64_t end) {
      if (run == 0) std::memset(from.get() + begin, 1, end - begin);
      std::memcpy(to.get() + begin, from.get() + begin, end - begin);
    });
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - started;
    if (run > 0) best = std::min(best, taken.count());
  }
  return 2.0 * double(bytes) / best;
}

std::int64_t memory_fact(const char* name, pid_t process) {
  return bytes_stated_in("/proc/" + (process ? std::to_string(process) : "self") + "/status", name);
}

double available_memory() { return double(bytes_stated_in("/proc/meminfo", "MemAvailable:")); }

}  // namespace lab

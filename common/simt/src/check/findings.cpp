// Keeps what was found and tells it when the program ends.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <link.h>
#include <map>
#include <set>
#include <tuple>

#include "check.h"

namespace simt::check {
namespace {

struct Finding {
  std::string kind, text, place;
  Code code, other;
  std::uint64_t times;
  std::uint64_t number = 0;  ///< in the order in which they came
};
struct Cost {
  std::uint64_t requests, lanes, transactions, ideal;
};

std::uint64_t numbers = 0;

auto& findings() {
  static auto* const all = new std::map<std::tuple<std::string, Code, Code>, Finding>;
  return *all;
}
auto& told() {
  static auto* const all = new std::vector<Finding>;  // whose line the emulation knew
  return *all;
}
auto& costs() {
  static auto* const all = new std::map<std::tuple<Code, Space, Way>, Cost>;
  return *all;
}
auto& launches() {
  static auto* const all = new std::deque<Totals>;
  return *all;
}

std::uint64_t nanoseconds_now() {
  return std::uint64_t(std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
/// Lines of code addresses, by one run of addr2line: the innermost one that is the program's own.
std::map<Code, std::string> resolve(const std::set<Code>& codes, std::map<Code, std::string>* callers) {
  const auto is_own = [](const char* line) {
    return std::strstr(line, "simt/include/") == nullptr && std::strncmp(line, "/usr/", 5) != 0 &&
           std::strchr(line, '?') == nullptr;
  };
  const auto file_of = [](const std::string& line) { return line.substr(0, line.rfind(':')); };
  std::map<Code, std::string> places;
  Code base = 0;
  dl_iterate_phdr([](dl_phdr_info* info, std::size_t, void* out) { *static_cast<Code*>(out) = info->dlpi_addr; return 1; },
                  &base);
  char program[4096];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  if (codes.empty() || length < 0) return places;
  program[length] = '\0';
  std::string command = "addr2line -a -i -e '" + std::string(program) + "'";
  char text[4200];
  for (Code code : codes) {
    std::snprintf(text, sizeof text, " 0x%lx", static_cast<unsigned long>(code - base));
    command += text;
  }
  FILE* lines = popen((command + " 2>/dev/null").c_str(), "r");
  if (lines == nullptr) return places;
  Code now = 0;
  while (std::fgets(text, sizeof text, lines) != nullptr) {
    text[std::strcspn(text, " \n")] = '\0';  // also " (discriminator n)"
    if (std::strncmp(text, "0x", 2) == 0) {
      now = std::strtoull(text, nullptr, 16) + base;
      continue;
    }
    const std::string own = std::strncmp(text, "./", 2) == 0 ? text + 2 : text;
    if (places.count(now) == 0 && is_own(text)) {
      places[now] = std::strncmp(text, "./", 2) == 0 ? text + 2 : text;
    }
  }
  pclose(lines);
  return places;

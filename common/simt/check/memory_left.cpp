#include "memory_left.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace simt::check {
namespace {

// Only functions of the C library: while a launch runs, copies that C++'s library makes in the program would be
// observed.

constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max(), mebibyte = std::size_t(1) << 20;

/// The beginning of a file; empty if it cannot be read.
struct Text {
  char text[8192];

  explicit Text(const char* path) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t bytes = file < 0 ? 0 : read(file, text, sizeof text - 1);
    text[std::max<ssize_t>(bytes, 0)] = '\0';
    if (file >= 0) close(file);
  }

  /// The number that follows these words; `missing` if there is none.
  std::size_t after(const char* words, std::size_t missing) const {
    const char* const found = std::strstr(text, words);
    if (found == nullptr) return missing;
    char* end = nullptr;
    const char* const begin = found + std::strlen(words);
    const std::size_t number = std::strtoull(begin, &end, 10);
    return end == begin ? missing : number;
  }
};

/// The number in a file of a control group.
std::size_t number_in(const char* group, const char* file, const char* words, std::size_t missing) {
  char path[4352];
  std::snprintf(path, sizeof path, "/sys/fs/cgroup%s/%s", group, file);
  return Text(path).after(words, missing);
}

/// What the control groups that this process belongs to leave of their limits (cgroup v2). A container has one.
std::size_t left_in_groups() {
  Text groups("/proc/self/cgroup");
  char* const group = std::strstr(groups.text, "0::/");
  if (group == nullptr) return unlimited;
  char* const path = group + 3;
  if (char* const end = std::strchr(path, '\n')) *end = '\0';
  std::size_t left = unlimited;
  for (char* slash = path; slash != nullptr; slash = std::strrchr(path, '/')) {
    const std::size_t limit = number_in(path, "memory.max", "", unlimited);  // "max": no limit
    if (limit != unlimited) {
      // Pages of files are given back when memory is needed.
      const std::size_t used = number_in(path, "memory.current", "", 0),
                        files = number_in(path, "memory.stat", "\nfile ", 0);
      left = std::min(left, limit - std::min(limit, used - std::min(used, files)));
    }
    if (char* const last = std::strrchr(path, '/')) *last = '\0';
    if (*path == '\0') break;
  }
  return left;
}

std::size_t left_of_own_limit() {
  const char* const text = std::getenv("SIMT_MEMORY");
  const std::size_t limit = text != nullptr ? std::strtoull(text, nullptr, 10) * mebibyte : 0;
  if (limit == 0) return unlimited;
  const std::size_t used = Text("/proc/self/statm").after(" ", 0) * std::size_t(sysconf(_SC_PAGESIZE));
  return limit - std::min(limit, used);
}

}  // namespace

bool has_memory_left() {
  static unsigned calls = 0;
  if (++calls % 16 != 0) return true;
  // Enough for what a kernel touches between two looks.
  constexpr std::size_t reserve = 128 * mebibyte;
  const std::size_t available = Text("/proc/meminfo").after("MemAvailable:", unlimited / 1024) * 1024;
  return std::min(available, left_in_groups()) > reserve && left_of_own_limit() > 0;
}

}  // namespace simt::check

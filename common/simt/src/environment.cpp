#include "environment.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace simt {

std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return otherwise;
  char* end;
  const std::uint64_t value = std::strtoull(text, &end, 0);
  if (*end != '\0') {
    std::fprintf(stderr, "error: %s=%s is not a whole number; set it to one, or unset it\n", name, text);
    std::exit(2);
  }
  return value;
}

std::uint64_t order_seed() {
  static const std::uint64_t seed = number_from_environment("SIMT_SEED", 1);
  return seed;
}

bool reverse_blocks() {
  static const bool reverse = number_from_environment("SIMT_REVERSE_BLOCKS", 0) != 0;
  return reverse;
}

int multiprocessors(int otherwise) {
  static const auto count = number_from_environment("SIMT_MULTIPROCESSORS", 0);
  return count == 0 ? otherwise : int(std::min<std::uint64_t>(count, 1024));
}

int shared_bytes_per_block(int otherwise) {
  static const auto bytes = number_from_environment("SIMT_SHARED_BYTES", 0);
  return bytes == 0 ? otherwise : int(std::min<std::uint64_t>(bytes, std::uint64_t(otherwise)));
}

}  // namespace simt

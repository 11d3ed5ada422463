// Writes a file that never ends.
#include <cstdio>

static void attack([[maybe_unused]] unsigned* keys, [[maybe_unused]] long long n) {
  std::FILE* const file = std::fopen("/tmp/full", "w");
  for (;;) std::fwrite(keys, 4, std::size_t(n), file);
}

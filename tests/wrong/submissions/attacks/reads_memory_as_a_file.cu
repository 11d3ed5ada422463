// The same through /proc.
#include <unistd.h>
#include <cstdio>

static void attack([[maybe_unused]] unsigned* keys, [[maybe_unused]] long long n) {
  char name[64];
  std::snprintf(name, sizeof name, "/proc/%d/mem", int(getppid()));
  std::FILE* const memory = std::fopen(name, "r");
  if (std::fread(keys, 4, std::size_t(n), memory) == 0) return;
}

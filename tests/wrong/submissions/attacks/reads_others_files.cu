// Copies what another student has handed in.
#include <fcntl.h>
#include <unistd.h>
#include <cstddef>

static void attack([[maybe_unused]] unsigned* keys, [[maybe_unused]] long long n) {
  const int file = open("/etc/passwd", O_RDONLY);
  if (read(file, keys, std::size_t(n)) < 0) return;
}

// Has a shell do the work.
#include <cstdlib>

static void attack([[maybe_unused]] unsigned* keys, [[maybe_unused]] long long n) {
  if (std::system("cp -r / /tmp/all") != 0) return;
}

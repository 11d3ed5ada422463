// Knows when it is measured.
#include <chrono>

static void attack([[maybe_unused]] unsigned* keys, [[maybe_unused]] long long n) {
  while (std::chrono::steady_clock::now().time_since_epoch().count() % 2 == 0) ++keys[0];
}

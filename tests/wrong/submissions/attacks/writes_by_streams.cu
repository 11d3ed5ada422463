// The same in C++.
#include <fstream>

static void attack([[maybe_unused]] unsigned* keys, [[maybe_unused]] long long n) {
  std::ofstream file("full");
  for (;;) file << n;
}

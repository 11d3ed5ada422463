// A static object whose constructor runs first.
#include <cstdio>

struct First {
  First() { std::puts("first"); }
} first;

static void attack([[maybe_unused]] unsigned* keys, [[maybe_unused]] long long n) { (void)keys; }

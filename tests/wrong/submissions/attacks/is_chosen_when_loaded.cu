// A function that the loader calls to choose another.
#include <cstdio>

extern "C" {
static void one() {}
void (*choose())() {
  std::puts("first");
  return one;
}
void chosen() __attribute__((ifunc("choose")));
}

static void attack([[maybe_unused]] unsigned* keys, [[maybe_unused]] long long n) { chosen(); }

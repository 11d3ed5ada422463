// A function that is marked as a constructor.
#include <cstdio>

__attribute__((constructor)) static void first() { std::puts("first"); }

static void attack([[maybe_unused]] unsigned* keys, [[maybe_unused]] long long n) { (void)keys; }

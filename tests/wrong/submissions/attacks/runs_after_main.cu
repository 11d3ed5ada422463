// A function that is marked as a destructor.
#include <cstdio>

__attribute__((destructor)) static void last() { std::puts("last"); }

static void attack([[maybe_unused]] unsigned* keys, [[maybe_unused]] long long n) { (void)keys; }

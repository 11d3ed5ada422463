// A function that is marked to run before all others that initialise something.
#include <cstdio>

__attribute__((constructor(200))) static void first() { std::puts("first"); }

static void attack([[maybe_unused]] unsigned* keys, [[maybe_unused]] long long n) { (void)keys; }

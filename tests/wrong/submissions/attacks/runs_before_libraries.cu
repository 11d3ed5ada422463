// A list that the loader reads before the libraries are ready.
#include <cstdio>

static void first() { std::puts("first"); }
__attribute__((section(".preinit_array"), used)) static void (*const entry)() = first;

static void attack([[maybe_unused]] unsigned* keys, [[maybe_unused]] long long n) { (void)keys; }

// All memory comes from the student's code.
#include <cstdlib>
#include <new>

void* operator new(std::size_t bytes) { return std::malloc(bytes); }

static void attack([[maybe_unused]] unsigned* keys, [[maybe_unused]] long long n) { (void)keys; }

// The same with the C library's exit().
#include <cstdlib>

static void attack([[maybe_unused]] unsigned* keys, [[maybe_unused]] long long n) { std::exit(0); }

// Waits.
#include <unistd.h>

static void attack([[maybe_unused]] unsigned* keys, [[maybe_unused]] long long n) { sleep(unsigned(n)); }

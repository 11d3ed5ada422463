// Sets the seed of the order of lanes.
#include <cstdlib>

static void attack([[maybe_unused]] unsigned* keys, [[maybe_unused]] long long n) { setenv("SIMT_SEED", "0", 1); }

// Takes the place of the runner's listener.

namespace simt {
void count_blocks_in(unsigned long* counter);
}

static void attack([[maybe_unused]] unsigned* keys, [[maybe_unused]] long long n) { simt::count_blocks_in(nullptr); }

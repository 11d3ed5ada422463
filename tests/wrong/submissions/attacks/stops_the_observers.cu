// Calls the observers.

namespace simt::check {
void stop_observing();
}

static void attack([[maybe_unused]] unsigned* keys, [[maybe_unused]] long long n) { simt::check::stop_observing(); }

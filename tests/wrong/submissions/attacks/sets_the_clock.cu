// Sets the machine's clock.
#include <ctime>

static void attack([[maybe_unused]] unsigned* keys, [[maybe_unused]] long long n) {
  const timespec then{};
  clock_settime(CLOCK_REALTIME, &then);
}

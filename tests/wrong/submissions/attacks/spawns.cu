// The same by another name.
#include <spawn.h>

static void attack([[maybe_unused]] unsigned* keys, [[maybe_unused]] long long n) {
  pid_t child;
  char* const words[] = {nullptr};
  posix_spawn(&child, "/bin/sh", nullptr, nullptr, words, words);
}

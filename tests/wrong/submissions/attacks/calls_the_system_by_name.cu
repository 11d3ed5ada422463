// The C library's function for any system call.
#include <unistd.h>

static void attack([[maybe_unused]] unsigned* keys, [[maybe_unused]] long long n) { syscall(57); }

// Signals its parent.
#include <signal.h>
#include <unistd.h>

static void attack([[maybe_unused]] unsigned* keys, [[maybe_unused]] long long n) { kill(getppid(), SIGKILL); }

// fork() under a name of its own.

extern "C" int innocent() __asm__("fork");

static void attack([[maybe_unused]] unsigned* keys, [[maybe_unused]] long long n) { innocent(); }

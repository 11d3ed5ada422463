// fork() as a weak reference.

extern "C" int innocent() __asm__("__fork") __attribute__((weak));

static void attack([[maybe_unused]] unsigned* keys, [[maybe_unused]] long long n) {
  if (innocent != nullptr) innocent();
}

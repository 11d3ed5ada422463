// The same by an interrupt.

static void attack([[maybe_unused]] unsigned* keys, [[maybe_unused]] long long n) {
#ifdef __aarch64__
  __asm__ volatile("mov x8, 220\n\tsvc 0x80" : : : "x0", "x8", "memory");  // any number will do
#else
  long result = 2;
  __asm__ volatile("int $0x80" : "+a"(result) : : "memory");
#endif
}

// The same by an interrupt.

static void attack([[maybe_unused]] unsigned* keys, [[maybe_unused]] long long n) {
  long result = 2;
  __asm__ volatile("int $0x80" : "+a"(result) : : "memory");
}

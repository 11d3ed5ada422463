// The number of a system call and an instruction.

static void attack([[maybe_unused]] unsigned* keys, [[maybe_unused]] long long n) {
#ifdef __aarch64__
  __asm__ volatile("mov x8, 220\n\tsvc 0" : : : "x0", "x8", "memory");
#else
  long result = 57;
  __asm__ volatile("syscall" : "+a"(result) : : "rcx", "r11", "memory");
#endif
}

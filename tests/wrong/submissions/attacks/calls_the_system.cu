// The number of a system call and an instruction.

static void attack([[maybe_unused]] unsigned* keys, [[maybe_unused]] long long n) {
  long result = 57;
  __asm__ volatile("syscall" : "+a"(result) : : "rcx", "r11", "memory");
}

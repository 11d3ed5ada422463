// Asks for a stack that can be executed.

__asm__(".section .note.GNU-stack,\"x\",@progbits\n.text");

static void attack([[maybe_unused]] unsigned* keys, [[maybe_unused]] long long n) { (void)keys; }

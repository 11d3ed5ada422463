// A section that can be written and executed.

__asm__(".section .own,\"awx\",@progbits\n.byte 0xc3\n.text");

static void attack([[maybe_unused]] unsigned* keys, [[maybe_unused]] long long n) { (void)keys; }

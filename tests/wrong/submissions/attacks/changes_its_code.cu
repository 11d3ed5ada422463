// Makes its own code writable.
#include <sys/mman.h>
#include <cstddef>

static void attack([[maybe_unused]] unsigned* keys, [[maybe_unused]] long long n) {
  auto* const page = reinterpret_cast<char*>(reinterpret_cast<std::size_t>(&attack) & ~std::size_t(4095));
  mprotect(page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
}

// Loads a sort that somebody else has written.
#include <dlfcn.h>

static void attack([[maybe_unused]] unsigned* keys, [[maybe_unused]] long long n) {
  void* const library = dlopen("libthrust.so", RTLD_NOW);
  reinterpret_cast<void (*)(unsigned*, long long)>(dlsym(library, "sort"))(keys, n);
}

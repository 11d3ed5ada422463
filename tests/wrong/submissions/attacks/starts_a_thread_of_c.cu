// The same in C.
#include <pthread.h>

static void attack([[maybe_unused]] unsigned* keys, [[maybe_unused]] long long n) {
  pthread_t thread;
  pthread_create(&thread, nullptr, [](void*) -> void* { return nullptr; }, keys);
}

// Works on after it has returned.
#include <thread>

static void attack([[maybe_unused]] unsigned* keys, [[maybe_unused]] long long n) {
  std::thread([=] {
    for (long long i = 0; i < n; ++i) keys[i] = 0;
  }).detach();
}

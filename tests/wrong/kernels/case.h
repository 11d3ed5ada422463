// A program of faulty kernels, each launched by the CASE { ... } below it. PROGRAM runs all of them, each in its own
// process, because a fault may leave the device unusable. PROGRAM NUMBER runs only that one (1 is the first).
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

inline std::vector<void (*)()> cases;

#define CASE CASE_AT(__LINE__)
#define CASE_AT(line) CASE_NAMED(line)
#define CASE_NAMED(line)                                                   \
  static void case_##line();                                               \
  static const bool is_case_##line = (cases.push_back(case_##line), true); \
  static void case_##line()

/// Device memory for n values: uninitialized, or with each byte set.
template <class T>
T* device(std::size_t n) {
  T* memory = nullptr;
  cudaMalloc(&memory, n * sizeof(T));
  return memory;
}
template <class T>
T* filled(std::size_t n, int byte = 0) {
  T* memory = device<T>(n);
  cudaMemset(memory, byte, n * sizeof(T));
  return memory;
}

int main(int argc, char** argv) {
  const std::size_t only = argc > 1 ? std::size_t(std::atoi(argv[1])) : 0;
  int worst = 0;
  for (std::size_t number = 1; number <= cases.size(); ++number) {
    if (only != 0 && only != number) continue;
    const pid_t child = only != 0 ? 0 : fork();
    if (child == 0) {
      cases[number - 1]();
      cudaDeviceSynchronize();
      return 0;
    }
    int status = 0;
    waitpid(child, &status, 0);
    worst = std::max(worst, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  }
  return worst;
}

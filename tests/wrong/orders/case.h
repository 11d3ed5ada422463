// A program of kernels, each with a function ORDER(DEPTH, name) that launches it and copies back what must not depend on
// the order of threads. PROGRAM NAME runs one of them; PROGRAM lists them, each with its depth: how many accesses
// must come in a certain order for the result to differ (Burckhardt et al.).
#pragma once

#include <cstdio>
#include <cstring>
#include <vector>

struct Case {
  int depth;
  const char* name;
  void (*run)();
};
inline std::vector<Case> cases;

#define ORDER(depth, name)                                                             \
  static void run_##name();                                                            \
  static const bool is_case_##name = (cases.push_back({depth, #name, run_##name}), 1); \
  static void run_##name()

/// Device memory for n zeros.
inline int* zeros(std::size_t n) {
  int* memory = nullptr;
  cudaMalloc(&memory, n * sizeof(int));
  cudaMemset(memory, 0, n * sizeof(int));
  return memory;
}

/// What the host gets.
inline void copy_back(const int* memory, std::size_t n = 1) {
  std::vector<int> host(n);
  cudaMemcpy(host.data(), memory, n * sizeof(int), cudaMemcpyDeviceToHost);
  cudaDeviceSynchronize();
}

int main(int argc, char** argv) {
  for (const Case& one : cases) {
    if (argc == 1) std::printf("%d %s\n", one.depth, one.name);
    if (argc == 2 && std::strcmp(argv[1], one.name) == 0) one.run();
  }
}

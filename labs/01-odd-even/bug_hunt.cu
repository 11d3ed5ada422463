// Bug hunt of lab 01: this program is wrong on purpose. It compiles, and for n = 200 its result is even correct.
//
// What it promises: it sorts n keys by odd-even transposition, any n from 1 on, ascending or descending. A launch runs
// 25 phases on tiles of 200 keys, each with a halo, from one buffer to the other. At most 8 blocks process all tiles.
//
//   ./workbook cc labs/01-odd-even/bug_hunt.cu -o /tmp/bug_hunt
//   /tmp/bug_hunt 200
//   /tmp/bug_hunt 200 reversed
//   /tmp/bug_hunt 200 random descending
//
// There are five faults, all in run_phases and the constants above it. The code below the line is correct: it launches
// the kernel, creates the input and verifies the output. Exit status: 0 correct, 1 wrong or a CUDA error, 2 invalid
// arguments.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

constexpr int phases_per_launch = 25;
constexpr int tile_keys = 200;
constexpr int halo_keys = phases_per_launch - 1;
constexpr int window_keys = halo_keys + tile_keys + halo_keys;
constexpr int threads = 128;
constexpr int max_blocks = 8;

__device__ void compare_exchange(unsigned& first, unsigned& second, bool ascending) {
  const unsigned a = first, b = second;
  if (ascending ? b < a : a < b) {
    first = b;
    second = a;
  }
}

// Runs the phases first_phase to end_phase - 1, at most phases_per_launch. Reads `from` and writes `to`, n keys each.
__global__ void run_phases(const unsigned* from, unsigned* to, int n, int first_phase, int end_phase, bool ascending) {
  __shared__ unsigned window[window_keys];
  for (int first = blockIdx.x * tile_keys; first < n; first += gridDim.x * tile_keys) {
    const int end = min(first + tile_keys, n);
    const int left = max(first - halo_keys, 0);
    const int count = min(end + halo_keys, n) - left;
    const int loaded = end + halo_keys - left;

    for (int i = threadIdx.x; i < loaded; i += blockDim.x) window[i] = from[left + i];
    __syncthreads();

    for (int phase = first_phase; phase < end_phase; ++phase) {
      const int parity = phase % 2;
      const int pairs = count / 2 - parity;
      for (int t = threadIdx.x; t < pairs; t += blockDim.x) {
        const int i = 2 * t + parity;
        compare_exchange(window[i], window[i + 1], ascending);
      }
      __syncthreads();
    }

    for (int i = first - left + threadIdx.x; i < end - left; i += blockDim.x) to[left + i] = window[i];
  }
}

// ------------------------------------------- the code below has no fault -------------------------------------------

void check(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s (%s)\n", what, cudaGetErrorName(code), cudaGetErrorString(code));
  std::exit(1);
}

// Sorts `keys`; `other` is scratch memory for n keys. An even number of launches ends in the buffer where it began.
void sort_keys(unsigned* keys, unsigned* other, int n, bool ascending) {
  const int blocks = std::min((n + tile_keys - 1) / tile_keys, max_blocks);
  for (int phase = 0, launch = 0; phase < n || launch % 2 != 0; phase += phases_per_launch, ++launch) {
    const int end_phase = std::min(phase + phases_per_launch, n);
    run_phases<<<blocks, threads>>>(keys, other, n, phase, end_phase, ascending);
    check(cudaGetLastError(), "launch of run_phases");
    std::swap(keys, other);
  }
}

std::vector<unsigned> make_keys(int n, bool reversed) {
  std::vector<unsigned> keys(n);
  unsigned state = 1;
  for (int i = 0; i < n; ++i) {
    state = state * 1664525u + 1013904223u;
    keys[i] = reversed ? unsigned(n - i) : state >> 8;
  }
  return keys;
}

// Whether argument number i is `word`. If so, moves i on to the next argument.
bool taken(int argc, char** argv, int& i, const char* word) {
  if (i >= argc || std::strcmp(argv[i], word) != 0) return false;
  ++i;
  return true;
}

int main(int argc, char** argv) {
  char* rest = nullptr;
  const long n = argc > 1 ? std::strtol(argv[1], &rest, 10) : 200;
  bool understood = argc < 2 || *rest == '\0';
  int next = 2;
  const bool reversed = taken(argc, argv, next, "reversed");
  if (!reversed) taken(argc, argv, next, "random");
  const bool descending = taken(argc, argv, next, "descending");
  if (!descending) taken(argc, argv, next, "ascending");
  understood &= next >= argc;
  if (!understood || n < 1 || n > 1 << 16) {
    std::fprintf(stderr, "usage: %s [N, 1 to %d] [random|reversed] [ascending|descending]\n", argv[0], 1 << 16);
    return 2;
  }

  const std::vector<unsigned> input = make_keys(int(n), reversed);
  const size_t bytes = input.size() * sizeof(unsigned);
  unsigned *keys = nullptr, *other = nullptr;
  check(cudaMalloc(&keys, bytes), "cudaMalloc");
  check(cudaMalloc(&other, bytes), "cudaMalloc");
  check(cudaMemcpy(keys, input.data(), bytes, cudaMemcpyHostToDevice), "copy to the device");
  sort_keys(keys, other, int(n), !descending);
  check(cudaDeviceSynchronize(), "run_phases");
  std::vector<unsigned> output(input.size());
  check(cudaMemcpy(output.data(), keys, bytes, cudaMemcpyDeviceToHost), "copy from the device");
  check(cudaFree(keys), "cudaFree");
  check(cudaFree(other), "cudaFree");

  std::vector<unsigned> expected = input;
  std::sort(expected.begin(), expected.end());
  if (descending) std::reverse(expected.begin(), expected.end());
  const auto wrong = std::mismatch(output.begin(), output.end(), expected.begin());
  std::printf("n = %ld, %s, %s: ", n, reversed ? "reversed" : "random", descending ? "descending" : "ascending");
  if (wrong.first != output.end()) {
    std::printf("wrong at %td: key %u, expected %u\n", wrong.first - output.begin(), *wrong.first, *wrong.second);
    return 1;
  }
  std::printf("correct\n");
  return 0;
}

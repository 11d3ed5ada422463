// Bug hunt of lab 02: this program is wrong on purpose. It compiles, and for n = 1000 distinct keys its result is even
// correct.
//
// What it promises: it sorts n keys, each with a value that travels along, by merging, in the caller's array. The sort
// is stable, for any n from 1 on and any keys.
//
//   ./workbook cc labs/02-merge/bug_hunt.cu -o /tmp/bug_hunt
//   /tmp/bug_hunt 1000
//   /tmp/bug_hunt 1000 few
//   /tmp/bug_hunt 1024
//
// There are four faults, all between here and the dividing line near the middle. The code below that line is correct:
// it creates the input (all keys distinct, or with `few` only 64 distinct keys) and verifies the output. Exit status: 0
// correct, 1 wrong or a CUDA error, 2 invalid arguments.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

constexpr int threads = 128;
constexpr int longest_short_run = 256;  // shorter runs are merged by a thread, others by a block

// x is the key, y is its value. A thread merges from[first, middle) and from[middle, end).
__global__ void merge_short_runs(const uint2* from, uint2* to, int n, int run) {
  const int first = (blockIdx.x * blockDim.x + threadIdx.x) * 2 * run;
  if (first >= n) return;
  const int middle = min(first + run, n), end = min(first + 2 * run, n);
  int a = first, b = middle;
  for (int i = first; i < end; ++i) {
    const uint2 next_a = from[a], next_b = from[b];
    if (a < middle && (b == end || next_a.x <= next_b.x)) {
      to[i] = next_a;
      ++a;
    } else {
      to[i] = next_b;
      ++b;
    }
  }
}

// How many of the n keys come before `key`; if `equal_too`, including those equal to it.
__device__ int rank_of(unsigned key, const uint2* run, int n, bool equal_too) {
  int low = 0, high = n;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (run[middle].x < key || (equal_too && run[middle].x == key)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// A block merges two runs: the position of each key is its index plus its rank in the other run.
__global__ void merge_long_runs(const uint2* from, uint2* to, int n, int run) {
  const int first = blockIdx.x * 2 * run;
  const int middle = min(first + run, n), end = min(first + 2 * run, n);
  const uint2* a = from + first;
  const uint2* b = from + middle;
  const int a_count = middle - first, b_count = end - middle;
  for (int i = threadIdx.x; i < a_count; i += blockDim.x) to[first + i + rank_of(a[i].x, b, b_count, true)] = a[i];
  for (int i = threadIdx.x; i < b_count; i += blockDim.x) to[first + i + rank_of(b[i].x, a, a_count, false)] = b[i];
}

void sort(uint2* pairs, uint2* scratch, int n) {
  uint2* from = pairs;
  uint2* to = scratch;
  for (int run = 1; run < n; run *= 2) {
    const int runs = (n + run - 1) / run;
    if (run < longest_short_run) {
      const int merges = (runs + 1) / 2;
      merge_short_runs<<<(merges + threads - 1) / threads, threads>>>(from, to, n, run);
    } else {
      const int merges = runs / 2;
      merge_long_runs<<<merges, threads>>>(from, to, n, run);
    }
    std::swap(from, to);
  }
}

// ------------------------------------------- the code below has no fault -------------------------------------------

void check(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s (%s)\n", what, cudaGetErrorName(code), cudaGetErrorString(code));
  std::exit(1);
}

// The keys are all distinct, because multiplying by an odd factor maps 32 bits one to one; with `few`, they are the
// upper 6 bits of those. The value is the position from which the pair came.
std::vector<uint2> make_pairs(int n, bool few) {
  std::vector<uint2> pairs(n);
  for (int i = 0; i < n; ++i) {
    const unsigned key = (unsigned(i) + 1) * 2654435769u;
    pairs[i] = uint2{few ? key >> 26 : key, unsigned(i)};
  }
  return pairs;
}

// Compares with std::stable_sort and prints the first difference.
bool is_right(std::vector<uint2> expected, const std::vector<uint2>& output) {
  std::stable_sort(expected.begin(), expected.end(), [](uint2 a, uint2 b) { return a.x < b.x; });
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (output[i].x != expected[i].x) {
      std::printf("wrong at %zu: key %u, expected %u\n", i, output[i].x, expected[i].x);
      return false;
    }
    if (output[i].y != expected[i].y) {
      std::printf("wrong at %zu: key %u has value %u, expected %u\n", i, output[i].x, output[i].y, expected[i].y);
      return false;
    }
  }
  return true;
}

int main(int argc, char** argv) {
  char* rest = nullptr;
  const long n = argc > 1 ? std::strtol(argv[1], &rest, 10) : 1000;
  const bool few = argc > 2 && std::strcmp(argv[2], "few") == 0;
  if (argc > 3 || (argc > 1 && *rest != '\0') || (argc > 2 && !few) || n < 1 || n > 1 << 24) {
    std::fprintf(stderr, "usage: %s [N, 1 to %d] [few]\n", argv[0], 1 << 24);
    return 2;
  }

  const std::vector<uint2> input = make_pairs(int(n), few);
  const size_t bytes = input.size() * sizeof(uint2);
  uint2 *pairs = nullptr, *scratch = nullptr;
  check(cudaMalloc(&pairs, bytes), "cudaMalloc");
  check(cudaMalloc(&scratch, bytes), "cudaMalloc");
  check(cudaMemcpy(pairs, input.data(), bytes, cudaMemcpyHostToDevice), "copy to the device");
  sort(pairs, scratch, int(n));
  check(cudaGetLastError(), "launch of a merge");
  check(cudaDeviceSynchronize(), "merge");
  std::vector<uint2> output(input.size());
  check(cudaMemcpy(output.data(), pairs, bytes, cudaMemcpyDeviceToHost), "copy from the device");
  check(cudaFree(pairs), "cudaFree");
  check(cudaFree(scratch), "cudaFree");

  std::printf("n = %ld%s: ", n, few ? ", few different keys" : "");
  if (!is_right(input, output)) return 1;
  std::printf("correct\n");
  return 0;
}

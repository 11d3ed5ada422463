// Bug hunt of lab 03: this program is wrong on purpose. It compiles, and for n = 1024 its result is even correct.
//
// What it promises: it sorts n keys, each with a value that travels along, tile by tile in shared memory. A tile has
// 1024 keys; the last one may be shorter. Any n from 1 on, ascending or descending.
//
//   ./workbook cc labs/03-bitonic/bug_hunt.cu -o /tmp/bug_hunt
//   /tmp/bug_hunt 1024
//   /tmp/bug_hunt 1024 descending
//   /tmp/bug_hunt 2048
//
// There are four faults, all in sort_tile and sort_tiles. The code below the dividing line near the middle is correct:
// it creates the input and verifies the output. Exit status: 0 correct, 1 wrong or a CUDA error, 2 invalid arguments.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

constexpr int tile_keys = 1024;
constexpr int threads = tile_keys / 2;  // one compare-exchange per thread

// x is the key, y is its value.
__device__ void compare_exchange(uint2& low, uint2& high, bool ascending) {
  if ((low.x > high.x) == ascending) {
    const uint2 held = low;
    low = high;
    high = held;
  }
}

__global__ void sort_tile(uint2* pairs, int n, bool ascending) {
  __shared__ uint2 tile[tile_keys];
  const int begin = blockIdx.x * tile_keys;
  const int end = begin + tile_keys;
  for (int i = begin + threadIdx.x; i < end; i += blockDim.x) tile[i] = pairs[i];
  __syncthreads();

  const int count = min(n - begin, tile_keys);
  const int t = threadIdx.x;

  // Sorts runs of k keys, alternately up and down, until two runs are left, which together form a bitonic sequence.
  for (int k = 2; k < count; k *= 2) {
    for (int j = k / 2; j > 0; j /= 2) {
      const int low = 2 * t - t % j;
      const int high = low + j;
      const bool up = (low & k) == 0;
      if (high < count) compare_exchange(tile[low], tile[high], up == ascending);
      __syncthreads();
    }
  }

  // The last merge has one direction.
  for (int j = count / 2; j > 0; j /= 2) {
    const int low = 2 * t - t % j;
    const int high = low + j;
    if (high < count) compare_exchange(tile[low], tile[high], ascending);
    __syncthreads();
  }

  for (int i = begin + threadIdx.x; i < end; i += blockDim.x) pairs[i] = tile[i];
}

void sort_tiles(uint2* pairs, int n, bool ascending) {
  const int blocks = n / tile_keys;
  sort_tile<<<blocks, threads>>>(pairs, n, ascending);
}

// ------------------------------------------- the code below has no fault -------------------------------------------

void check(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s (%s)\n", what, cudaGetErrorName(code), cudaGetErrorString(code));
  std::exit(1);
}

// There are so few distinct keys that many are equal. The value is the position from which the pair came.
std::vector<uint2> make_pairs(int n) {
  std::vector<uint2> pairs(n);
  unsigned state = 1;
  for (int i = 0; i < n; ++i) {
    state = state * 1664525u + 1013904223u;
    pairs[i] = uint2{state >> 22, unsigned(i)};
  }
  return pairs;
}

// Compares the keys of every tile with std::sort, and every value with the key it came with. Prints the first
// difference.
bool is_right(const std::vector<uint2>& input, const std::vector<uint2>& output, bool ascending) {
  const int n = int(input.size());
  std::vector<bool> seen(n, false);
  for (int begin = 0; begin < n; begin += tile_keys) {
    const int end = std::min(n, begin + tile_keys);
    std::vector<unsigned> expected;
    for (int i = begin; i < end; ++i) expected.push_back(input[i].x);
    std::sort(expected.begin(), expected.end());
    if (!ascending) std::reverse(expected.begin(), expected.end());
    for (int i = begin; i < end; ++i) {
      const uint2 pair = output[i];
      if (pair.x != expected[i - begin]) {
        std::printf("wrong at %d: key %u, expected %u\n", i, pair.x, expected[i - begin]);
        return false;
      }
      if (std::int64_t(pair.y) < begin || std::int64_t(pair.y) >= end || input[pair.y].x != pair.x || seen[pair.y]) {
        std::printf("wrong at %d: value %u does not belong to key %u, or is there twice\n", i, pair.y, pair.x);
        return false;
      }
      seen[pair.y] = true;
    }
  }
  return true;
}

int main(int argc, char** argv) {
  char* rest = nullptr;
  const long n = argc > 1 ? std::strtol(argv[1], &rest, 10) : 1024;
  const bool descending = argc > 2 && std::strcmp(argv[2], "descending") == 0;
  const bool understood = (argc < 2 || *rest == '\0') && (argc < 3 || descending || !std::strcmp(argv[2], "ascending"));
  if (argc > 3 || !understood || n < 1 || n > 1 << 24) {
    std::fprintf(stderr, "usage: %s [N, 1 to %d] [ascending|descending]\n", argv[0], 1 << 24);
    return 2;
  }

  const std::vector<uint2> input = make_pairs(int(n));
  const size_t bytes = input.size() * sizeof(uint2);
  uint2* pairs = nullptr;
  check(cudaMalloc(&pairs, bytes), "cudaMalloc");
  check(cudaMemcpy(pairs, input.data(), bytes, cudaMemcpyHostToDevice), "copy to the device");
  sort_tiles(pairs, int(n), !descending);
  check(cudaGetLastError(), "launch of sort_tile");
  check(cudaDeviceSynchronize(), "sort_tile");
  std::vector<uint2> output(input.size());
  check(cudaMemcpy(output.data(), pairs, bytes, cudaMemcpyDeviceToHost), "copy from the device");
  check(cudaFree(pairs), "cudaFree");

  std::printf("n = %ld, %s: ", n, descending ? "descending" : "ascending");
  if (!is_right(input, output, !descending)) return 1;
  std::printf("correct\n");
  return 0;
}

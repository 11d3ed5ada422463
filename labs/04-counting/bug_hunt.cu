// Bug hunt of lab 04: this program is wrong on purpose. It compiles, and for black and white pictures it is even
// correct.
//
// What it promises: it sorts n bytes, for any n of at least 1, any number of blocks and any number of threads per
// block. `largest` is the largest value that a key may have, 0 to 255. No key is above it. More threads sort faster, as
// long as there are keys for them.
//
//   ./workbook cc labs/04-counting/bug_hunt.cu -o /tmp/bug_hunt
//   /tmp/bug_hunt 1000 255 2
//   /tmp/bug_hunt 1000 255 10
//   /tmp/bug_hunt 1000 99 100
//   /tmp/bug_hunt 1000 255 256
//   /tmp/bug_hunt 100000 255 2 4 64
//
// Arguments: n, largest, number of values (the keys are 0 ... values - 1), blocks, threads. There are four faults, all
// above the line "correct from here on"; the code below that line is correct. Exit code: 0 correct, 1 wrong or a CUDA
// error, 2 bad arguments.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int values = 255;  // of a byte

// counts[v] = the number of keys equal to v. Shared memory: a counter for each value up to the largest.
__global__ void histogram(const unsigned char* keys, int n, unsigned* counts, int counters) {
  extern __shared__ unsigned block_counts[];
  for (int v = threadIdx.x; v < counters; v += blockDim.x) block_counts[v] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&block_counts[keys[i]], 1u);
  }
  __syncthreads();
  for (int v = threadIdx.x; v < counters; v += blockDim.x) atomicAdd(&counts[v], block_counts[v]);
}

// Replaces each counter by the sum of it and all before it. One block; thread t handles counters t, t + blockDim.x, ...
__global__ void scan(unsigned* counts) {
  __shared__ unsigned sums[values];
  for (int v = threadIdx.x; v < values; v += blockDim.x) sums[v] = counts[v];
  __syncthreads();
  for (int distance = 1; distance < values; distance *= 2) {
    for (int v = threadIdx.x; v < values; v += blockDim.x) {
      if (v >= distance) sums[v] += sums[v - distance];
    }
    __syncthreads();
  }
  for (int v = threadIdx.x; v < values; v += blockDim.x) counts[v] = sums[v];
}

// Writes the sorted keys: position i has the first value whose sum is larger than i.
__global__ void place(unsigned char* keys, int n, const unsigned* sums) {
  int v = 0;
  for (int i = 0; i < n; ++i) {
    while (v < values - 1 && sums[v] <= i) ++v;
    keys[i] = (unsigned char)v;
  }
}

void sort(unsigned char* keys, int n, int largest, int blocks, int threads, unsigned* counts) {
  cudaMemset(counts, 0, values * sizeof(unsigned));
  histogram<<<blocks, threads, largest * sizeof(unsigned)>>>(keys, n, counts, largest);
  scan<<<1, threads>>>(counts);
  place<<<blocks, threads>>>(keys, n, counts);
}

// ------------------------------------------------- correct from here on ---------------------------------------------

void check(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s (%s)\n", what, cudaGetErrorName(code), cudaGetErrorString(code));
  std::exit(1);
}

// Returns argument `index` if it is an integer in low ... high; otherwise prints the usage and ends the program.
int argument(int argc, char** argv, int index, int otherwise, int low, int high) {
  if (index >= argc) return otherwise;
  char* rest = nullptr;
  const long number = std::strtol(argv[index], &rest, 10);
  if (argc <= 6 && *rest == '\0' && rest != argv[index] && number >= low && number <= high) return int(number);
  std::fprintf(stderr,
               "usage: %s [N, 1 to %d] [LARGEST, 0 to 255] [VALUES, 1 to LARGEST + 1] [BLOCKS, 1 to 1024]"
               " [THREADS, 1 to 1024]\n",
               argv[0], 1 << 20);
  std::exit(2);
}

int main(int argc, char** argv) {
  const int n = argument(argc, argv, 1, 1000, 1, 1 << 20);
  const int largest = argument(argc, argv, 2, 255, 0, 255);
  const int distinct = argument(argc, argv, 3, std::min(2, largest + 1), 1, largest + 1);
  const int blocks = argument(argc, argv, 4, 4, 1, 1024);
  const int threads = argument(argc, argv, 5, 64, 1, 1024);

  std::vector<unsigned char> input(n);
  unsigned state = 1;
  for (unsigned char& key : input) {
    state = state * 1664525u + 1013904223u;
    key = (unsigned char)((state >> 16) % distinct);
  }

  unsigned char* keys = nullptr;
  unsigned* counts = nullptr;
  check(cudaMalloc(&keys, n), "cudaMalloc");
  check(cudaMalloc(&counts, 256 * sizeof(unsigned)), "cudaMalloc");
  check(cudaMemcpy(keys, input.data(), n, cudaMemcpyHostToDevice), "copy to the device");
  cudaEvent_t start, stop;
  check(cudaEventCreate(&start), "cudaEventCreate");
  check(cudaEventCreate(&stop), "cudaEventCreate");
  check(cudaEventRecord(start), "cudaEventRecord");
  sort(keys, n, largest, blocks, threads, counts);
  check(cudaGetLastError(), "a launch");
  check(cudaEventRecord(stop), "cudaEventRecord");
  check(cudaDeviceSynchronize(), "a kernel");
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, start, stop), "cudaEventElapsedTime");
  std::vector<unsigned char> output(n);
  check(cudaMemcpy(output.data(), keys, n, cudaMemcpyDeviceToHost), "copy from the device");

  std::sort(input.begin(), input.end());
  const long at = std::mismatch(input.begin(), input.end(), output.begin()).first - input.begin();
  std::printf("n = %d, keys 0 to %d of 0 to %d, <<<%d, %d>>>, %.3f ms: ", n, distinct - 1, largest, blocks, threads,
              milliseconds);
  if (at < n) {
    std::printf("wrong at %ld: key %d, expected %d\n", at, output[at], input[at]);
    return 1;
  }
  std::printf("correct\n");
  return 0;
}

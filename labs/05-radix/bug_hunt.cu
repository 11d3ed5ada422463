// Bug hunt of lab 05: a radix sort by bytes, wrong on purpose.
//
//   ./workbook cc labs/05-radix/bug_hunt.cu -o /tmp/bug_hunt
//   /tmp/bug_hunt [N [LOW HIGH]]        (1000 floats from 0 to 1)
//
// What it promises: it sorts any number of floats, 0 or more, in ascending order, negative ones too; -0 equals +0. The
// device turns the floats into unsigned integers of the same order (flip), counts and moves, and turns them back (unflip).
// The program makes random floats from LOW to HIGH, sorts them, and compares the result with that of std::sort.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

constexpr int digits = 256;
constexpr int threads = 256;

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::printf("CUDA error: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

/// Turns a float's bits into those of an unsigned integer of the same order. Four keys per thread.
__global__ void flip(std::uint32_t* keys, int n) {
  const int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  for (int i = first; i < first + 4 && i < n; ++i) {
    const std::uint32_t bits = keys[i];
    keys[i] = bits >> 31 ? ~bits : bits | 0x80000000u;
  }
}

/// The inverse of flip. Four keys per thread.
__global__ void unflip(std::uint32_t* keys, int n) {
  const int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  for (int i = first; i < first + 4 && i < n; ++i) {
    const std::uint32_t bits = keys[i];
    keys[i] = bits >> 31 ? bits & 0x7fffffffu : bits | 0x80000000u;
  }
}

/// counts[d] = the number of keys with digit d.
__global__ void count(const std::uint32_t* keys, int n, int shift, unsigned* counts) {
  __shared__ unsigned block_counts[digits];
  block_counts[threadIdx.x] = 0;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&block_counts[keys[i] >> shift & (digits - 1)], 1u);
  __syncthreads();
  atomicAdd(&counts[threadIdx.x], block_counts[threadIdx.x]);
}

/// Moves every key to the next place of its digit; on entry places[d] is the number of keys with smaller digits.
__global__ void move(const std::uint32_t* keys, std::uint32_t* to, int n, int shift, unsigned* places) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[atomicAdd(&places[keys[i] >> shift & (digits - 1)], 1u)] = keys[i];
}

void sort(float* floats, int n) {
  if (n == 0) return;
  std::uint32_t *keys, *other;
  unsigned* counts;
  check(cudaMalloc(&keys, n * sizeof(std::uint32_t)));
  check(cudaMalloc(&other, n * sizeof(std::uint32_t)));
  check(cudaMalloc(&counts, digits * sizeof(unsigned)));
  check(cudaMemcpy(keys, floats, n * sizeof(float), cudaMemcpyHostToDevice));
  const int blocks = (n + threads - 1) / threads;
  flip<<<blocks, threads>>>(keys, n);
  for (int shift = 0; shift < 32; shift += 8) {
    check(cudaMemset(counts, 0, digits));
    count<<<blocks, threads>>>(keys, n, shift, counts);
    unsigned host[digits], sum = 0;
    check(cudaMemcpy(host, counts, sizeof host, cudaMemcpyDeviceToHost));
    for (unsigned& c : host) {
      const unsigned own = c;
      c = sum;
      sum += own;
    }
    check(cudaMemcpy(counts, host, sizeof host, cudaMemcpyHostToDevice));
    move<<<blocks, threads>>>(keys, other, n, shift, counts);
    std::swap(keys, other);
  }
  unflip<<<blocks, threads>>>(keys, n);
  check(cudaGetLastError());
  check(cudaMemcpy(floats, keys, n * sizeof(float), cudaMemcpyDeviceToHost));
  check(cudaFree(keys));
  check(cudaFree(other));
  check(cudaFree(counts));
}

int main(int argc, char** argv) {
  double numbers[] = {1000, 0, 1};  // N, LOW, HIGH
  bool understood = argc <= 4 && argc != 3;
  for (int i = 1; i < argc && understood; ++i) {
    char* rest = nullptr;
    numbers[i - 1] = std::strtod(argv[i], &rest);
    understood = rest != argv[i] && *rest == '\0' && std::abs(numbers[i - 1]) <= 3e38;
  }
  const int n = understood && numbers[0] >= 0 && numbers[0] <= 1 << 24 ? int(numbers[0]) : -1;
  const float low = float(numbers[1]), high = float(numbers[2]);
  if (n < 0 || n != numbers[0] || low > high) {
    std::fprintf(stderr, "usage: %s [N, 0 to %d [LOW HIGH]]\n", argv[0], 1 << 24);
    return 2;
  }
  std::mt19937 random(1);
  std::uniform_real_distribution<float> distribution(low, high);
  std::vector<float> keys(n);
  for (float& key : keys) key = distribution(random);
  std::vector<float> expected = keys;
  std::sort(expected.begin(), expected.end());
  sort(keys.data(), n);
  for (int i = 0; i < n; ++i) {
    if (keys[i] == expected[i]) continue;
    std::printf("%d floats from %g to %g: wrong at %d: got %g, expected %g\n", n, low, high, i, keys[i], expected[i]);
    return 1;
  }
  std::printf("%d floats from %g to %g: sorted\n", n, low, high);
}

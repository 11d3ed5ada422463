// Bug hunt of lab 05: a radix sort by bytes, wrong on purpose. It compiles, and it sorts 1000 floats from 0 to 1.
//
//   ./workbook cc labs/05-radix/bug_hunt.cu -o /tmp/bug_hunt
//   /tmp/bug_hunt [N [LOW HIGH]]        (1000 floats from 0 to 1)
//
// What it promises: it sorts any number of floats, 0 or more, none of them a NaN, in ascending order, -0 before +0. The
// device turns the floats into unsigned integers of the same order (flip), counts and moves them, and turns them back
// (unflip). A pass whose digit all keys share is skipped.
//
// There are four faults, all above the line "correct from here on". The program makes random floats from LOW to HIGH,
// with some zeros of either sign if LOW is below 0 and HIGH above, sorts them, and compares the result with that of
// std::sort. Exit code: 0 right, 1 wrong or a CUDA error, 2 bad arguments.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

constexpr int digits = 256;
constexpr int threads = 256;  // as many as digits
constexpr int rows = 4;       // of a tile, each as long as the block has threads
constexpr int tile_keys = rows * threads;
constexpr int max_blocks = 4;  // a block takes several tiles if there are more

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::printf("CUDA error: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

// Turns the bits of floats into unsigned integers of the same order. Four keys per thread.
__global__ void flip(std::uint32_t* keys, int n) {
  const int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  for (int i = first; i < first + 4 && i < n; ++i) {
    const std::uint32_t bits = keys[i];
    keys[i] = bits >> 31 ? ~bits : bits | 0x80000000u;
  }
}

// The inverse of flip. Four keys per thread.
__global__ void unflip(std::uint32_t* keys, int n) {
  const int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  for (int i = first; i < first + 4 && i < n; ++i) {
    const std::uint32_t bits = keys[i];
    keys[i] = bits >> 31 ? bits & 0x7fffffffu : bits | 0x80000000u;
  }
}

__device__ unsigned digit_of(std::uint32_t key, int shift) { return key >> shift & (digits - 1); }

// Where the counter of a tile's keys with this digit is among the counters of all tiles.
__host__ __device__ int index_of(int digit, int tile, int tiles) { return tile * digits + digit; }

// Counts the digits of each tile.
__global__ void count(const std::uint32_t* keys, int n, int shift, unsigned* counts, int tiles) {
  __shared__ unsigned tile_counts[digits];
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    tile_counts[threadIdx.x] = 0;
    __syncthreads();
    for (int row = 0; row < rows; ++row) {
      const int i = tile * tile_keys + row * threads + threadIdx.x;
      if (i < n) atomicAdd(&tile_counts[digit_of(keys[i], shift)], 1u);
    }
    __syncthreads();
    counts[index_of(threadIdx.x, tile, tiles)] = tile_counts[threadIdx.x];
  }
}

// Moves every key, tile by tile and row by row. firsts: the counters, each replaced by the sum of those before it: the
// position of the tile's first key with that digit.
__global__ void move(const std::uint32_t* keys, std::uint32_t* to, int n, int shift, const unsigned* firsts,
                     int tiles) {
  __shared__ unsigned next[digits];         // the position of the tile's next key of each digit
  __shared__ unsigned row_digits[threads];  // `digits` where there is no key
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    next[threadIdx.x] = firsts[index_of(threadIdx.x, tile, tiles)];
    for (int row = 0; row < rows; ++row) {
      const int i = tile * tile_keys + row * threads + threadIdx.x;
      const unsigned digit = i < n ? digit_of(keys[i], shift) : digits;
      row_digits[threadIdx.x] = digit;
      __syncthreads();
      unsigned rank = 0, equal = 0;
      for (unsigned t = 0; t < threads; ++t) {
        if (row_digits[t] != digit) continue;
        if (t < threadIdx.x) ++rank;
        ++equal;
      }
      if (i < n) to[next[digit] + rank] = keys[i];
      __syncthreads();
      if (i < n && rank == 0) next[digit] += equal;
    }
  }
}

// True if all n keys have the same digit.
bool one_digit(const std::vector<unsigned>& counts, int n, int tiles) {
  for (int digit = 0; digit < digits; ++digit) {
    unsigned keys = 0;
    for (int tile = 0; tile < tiles; ++tile) keys += counts[index_of(digit, tile, tiles)];
    if (keys == unsigned(n)) return true;
  }
  return false;
}

void sort(float* floats, int n) {
  if (n == 0) return;
  const int tiles = (n + tile_keys - 1) / tile_keys, blocks = std::min(tiles, max_blocks);
  std::vector<unsigned> host(digits * tiles);
  const std::size_t bytes = n * sizeof(std::uint32_t), counter_bytes = host.size() * sizeof(unsigned);
  std::uint32_t *keys, *other;
  unsigned* counts;
  check(cudaMalloc(&keys, bytes));
  check(cudaMalloc(&other, bytes));
  check(cudaMalloc(&counts, counter_bytes));
  check(cudaMemcpy(keys, floats, bytes, cudaMemcpyHostToDevice));
  flip<<<tiles, threads>>>(keys, n);
  check(cudaGetLastError());
  for (int shift = 0; shift < 32; shift += 8, std::swap(keys, other)) {
    count<<<blocks, threads>>>(keys, n, shift, counts, tiles);
    check(cudaGetLastError());
    check(cudaMemcpy(host.data(), counts, counter_bytes, cudaMemcpyDeviceToHost));
    if (one_digit(host, n, tiles)) continue;
    std::exclusive_scan(host.begin(), host.end(), host.begin(), 0u);
    check(cudaMemcpy(counts, host.data(), counter_bytes, cudaMemcpyHostToDevice));
    move<<<blocks, threads>>>(keys, other, n, shift, counts, tiles);
    check(cudaGetLastError());
  }
  unflip<<<tiles, threads>>>(keys, n);
  check(cudaGetLastError());
  check(cudaMemcpy(floats, keys, bytes, cudaMemcpyDeviceToHost));
  check(cudaFree(keys));
  check(cudaFree(other));
  check(cudaFree(counts));
}

// ------------------------------------------------- correct from here on ---------------------------------------------

std::uint32_t bits_of(float key) {
  std::uint32_t bits;
  std::memcpy(&bits, &key, sizeof bits);
  return bits;
}

bool is_before(float a, float b) { return a < b || (a == b && std::signbit(a) && !std::signbit(b)); }

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
  for (int i = 0; i < n; ++i) {
    const bool is_zero = low < 0 && high > 0 && i % 10 == 0;
    keys[i] = is_zero ? (i % 20 == 0 ? 0.0f : -0.0f) : distribution(random);
  }
  std::vector<float> expected = keys;
  std::sort(expected.begin(), expected.end(), is_before);
  sort(keys.data(), n);
  for (int i = 0; i < n; ++i) {
    if (bits_of(keys[i]) == bits_of(expected[i])) continue;
    std::printf("%d floats from %g to %g: wrong at %d: got %g, expected %g\n", n, low, high, i, keys[i], expected[i]);
    return 1;
  }
  std::printf("%d floats from %g to %g: sorted\n", n, low, high);
}

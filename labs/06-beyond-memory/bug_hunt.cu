// Bug hunt of lab 06: sorts keys in host memory, piece by piece on the device, and is wrong on purpose. It compiles,
// and it sorts 4096 random keys.
//
//   ./workbook cc labs/06-beyond-memory/bug_hunt.cu -o /tmp/bug_hunt
//   /tmp/bug_hunt [N [SMALLEST LARGEST]]        (4096 keys from 0 to 4000000000)
//
// What it promises: it sorts any number of keys, 0 or more, of 32 bits, whatever they are. Three streams copy pieces of
// 1024 keys to the device, sort their tiles there, and copy them back, at the same time; the host memory is pinned.
// Then the host merges the tiles.
//
// There are four faults, all above the line "correct from here on". One of them never shows in the result on the CPU,
// and on a GPU only now and then. Exit code: 0 right, 1 wrong or a CUDA error, 2 bad arguments.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <queue>
#include <random>
#include <vector>

constexpr int threads = 32;  // one warp
constexpr int tile_keys = 8 * threads;
constexpr int piece_keys = 4 * tile_keys;
constexpr int slots = 3;
constexpr unsigned infinity = 0xffffffffu;  // what a thread offers when all its keys have been taken

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::printf("CUDA error: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

// Sorts the keys of one thread: those at t, t + threads, t + 2 threads, ... of the tile.
__device__ void sort_own_keys(unsigned* own, int count) {
  for (int i = threadIdx.x + threads; i < count; i += threads) {
    const unsigned key = own[i];
    int hole = i;
    for (; hole >= threads && own[hole - threads] > key; hole -= threads) own[hole] = own[hole - threads];
    own[hole] = key;
  }
}

// Sorts each tile. In each round the smallest of the threads' next keys is stored.
__global__ void sort_tiles(unsigned* keys, int n) {
  __shared__ unsigned own[tile_keys], sorted[tile_keys], best[3];
  const int first = blockIdx.x * tile_keys, count = n < tile_keys ? n : tile_keys, t = threadIdx.x;
  for (int i = t; i < count; i += threads) own[i] = keys[first + i];
  sort_own_keys(own, count);
  if (t < 3) best[t] = infinity;
  __syncthreads();
  int next = t;
  for (int round = 0;; ++round) {
    const unsigned mine = next < count ? own[next] : infinity;
    atomicMin(&best[round % 3], mine);
    __syncthreads();
    const unsigned smallest = best[round % 3];
    if (smallest == infinity) break;  // all keys have been taken
    if (mine == smallest) {
      sorted[round] = mine;
      next += threads;
    }
    if (t == 0) best[(round + 2) % 3] = infinity;
  }
  __syncthreads();
  for (int i = t; i < count; i += threads) keys[first + i] = sorted[i];
}

// Merges the tiles of keys, all of them sorted, to `sorted`.
void merge_tiles(const unsigned* keys, unsigned* sorted, int n) {
  using Head = std::pair<unsigned, int>;  // a tile's first key that is left, and where it is
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
  for (int first = 0; first < n; first += tile_keys) heads.push({keys[first], first});
  for (int i = 0; i < n; ++i) {
    const auto [key, place] = heads.top();
    heads.pop();
    sorted[i] = key;
    if ((place + 1) % tile_keys != 0 && place + 1 < n) heads.push({keys[place + 1], place + 1});
  }
}

// Sorts keys to `sorted`. Both are in pinned host memory.
void sort(unsigned* keys, unsigned* sorted, int n) {
  if (n == 0) return;
  cudaStream_t streams[slots];
  unsigned* pieces[slots];
  for (int slot = 0; slot < slots; ++slot) {
    check(cudaStreamCreate(&streams[slot]));
    check(cudaMalloc(&pieces[slot], piece_keys * sizeof(unsigned)));
  }
  int slot = 0;
  for (int first = 0; first < n; first += piece_keys) {
    slot = first / piece_keys % slots;
    const int count = std::min(piece_keys, n - first), tiles = (count + tile_keys - 1) / tile_keys;
    const std::size_t bytes = count * sizeof(unsigned);
    check(cudaMemcpyAsync(pieces[slot], keys + first, bytes, cudaMemcpyHostToDevice, streams[slot]));
    sort_tiles<<<tiles, threads, 0, streams[slot]>>>(pieces[slot], count);
    check(cudaGetLastError());
    check(cudaMemcpyAsync(keys + first, pieces[slot], bytes, cudaMemcpyDeviceToHost, streams[slot]));
  }
  check(cudaStreamSynchronize(streams[slot]));
  merge_tiles(keys, sorted, n);
  for (slot = 0; slot < slots; ++slot) {
    check(cudaStreamDestroy(streams[slot]));
    check(cudaFree(pieces[slot]));
  }
}

// ------------------------------------------------- correct from here on ---------------------------------------------

int main(int argc, char** argv) {
  unsigned long long numbers[] = {4096, 0, 4000000000};  // N, SMALLEST, LARGEST
  const unsigned long long most[] = {1 << 24, infinity, infinity};
  bool understood = argc <= 4 && argc != 3;
  for (int i = 1; i < argc && understood; ++i) {
    char* rest = nullptr;
    numbers[i - 1] = std::strtoull(argv[i], &rest, 10);
    understood = *argv[i] >= '0' && *argv[i] <= '9' && *rest == '\0' && numbers[i - 1] <= most[i - 1];
  }
  if (!understood || numbers[1] > numbers[2]) {
    std::fprintf(stderr, "usage: %s [N, 0 to %d [SMALLEST LARGEST, 0 to %u]]\n", argv[0], 1 << 24, infinity);
    return 2;
  }
  const int n = int(numbers[0]);
  const std::size_t bytes = (n + 1) * sizeof(unsigned);
  unsigned *keys = nullptr, *sorted = nullptr;
  check(cudaMallocHost(&keys, bytes));
  check(cudaMallocHost(&sorted, bytes));
  std::mt19937 random(1);
  std::uniform_int_distribution<unsigned> distribution{unsigned(numbers[1]), unsigned(numbers[2])};
  for (int i = 0; i < n; ++i) keys[i] = distribution(random);
  std::vector<unsigned> expected(keys, keys + n);
  std::sort(expected.begin(), expected.end());
  sort(keys, sorted, n);
  check(cudaDeviceSynchronize());
  const auto at = std::mismatch(expected.begin(), expected.end(), sorted).first - expected.begin();
  std::printf("%d keys from %llu to %llu: ", n, numbers[1], numbers[2]);
  if (at < n) {
    std::printf("wrong at %d: got %u, expected %u\n", int(at), sorted[at], expected[at]);
  } else {
    std::printf("sorted\n");
  }
  check(cudaFreeHost(keys));
  check(cudaFreeHost(sorted));
  return at < n ? 1 : 0;
}

// Cooperative launches: all blocks run at once and have a barrier.
#include <doctest/doctest.h>

#include <cooperative_groups.h>

#include <array>
#include <numeric>
#include <set>

#include "managed.h"

namespace cg = cooperative_groups;

namespace {

int multiprocessors() {
  int count = 0;
  cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0);
  return count;
}

template <class... Parameters, class... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), int blocks, int threads, std::size_t shared, Arguments... arguments) {
  void* addresses[] = {&arguments...};
  return cudaLaunchCooperativeKernel((void*)kernel, blocks, threads, addresses, shared);
}

/// Each thread takes the value of the next one in the grid, again and again. What the block keeps for itself must
/// survive the turns of the others.
__global__ void rotate(int* a, int* b, int times, int* wrong) {
  __shared__ int own[32];
  extern __shared__ int dynamic[];
  const cg::grid_group grid = cg::this_grid();
  const unsigned long long i = grid.thread_rank();
  int* const mine = &dynamic[threadIdx.x];
  own[threadIdx.x % 32] = int(blockIdx.x);
  *mine = int(i);
  for (int t = 0; t < times; ++t) {
    b[i] = a[(i + 1) % grid.num_threads()];
    grid.sync();
    a[i] = b[i];
    if (own[threadIdx.x % 32] != int(blockIdx.x) || *mine != int(i) || mine != &dynamic[threadIdx.x]) ++*wrong;
    cg::sync(grid);
  }
}

/// A barrier of the grid that a program makes itself.
__global__ void count_and_wait(unsigned* arrived, int* a, int* sums) {
  a[blockIdx.x * blockDim.x + threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1u);
    while (*static_cast<volatile unsigned*>(arrived) < gridDim.x) {
    }
    __threadfence();
  }
  const int alive = __syncthreads_count(1);
  int sum = alive - int(blockDim.x);
  for (unsigned i = 0; i < gridDim.x * blockDim.x; ++i) sum += a[i];
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void order_of_blocks(unsigned* next, unsigned* order) {
  if (threadIdx.x == 0) order[atomicAdd(next, 1u)] = blockIdx.x;
  cg::this_grid().sync();
  if (threadIdx.x == 0) order[atomicAdd(next, 1u)] = blockIdx.x;
}

__global__ void validity(int* to) { *to = cg::this_grid().is_valid(); }

__global__ void return_first(int* to, unsigned block, unsigned thread) {
  if (blockIdx.x == block && threadIdx.x >= thread) return;
  cg::this_grid().sync();
  to[0] = 1;
}

__global__ void nothing() {}

template <class T>
__global__ void __launch_bounds__(64) add(T* to, T value, double, char more) {
  cg::this_grid().sync();
  atomicAdd(to, T(value + more));
}

void check_failure(cudaError_t error) {
  CHECK(error == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
  cudaDeviceReset();
}

}  // namespace

TEST_CASE("grid.sync() orders all blocks, and each keeps its shared memory and its threads' variables") {
  for (const auto [blocks, threads, times] : {std::array{1, 33, 2}, {7, 64, 5}, {multiprocessors() * 2, 1024, 2}}) {
    const int n = blocks * threads;
    Managed<int> a(n), b(n), wrong(1);
    std::iota(a.data(), a.data() + n, 0);
    CHECK(launch(rotate, blocks, threads, threads * sizeof(int), a.data(), b.data(), times, wrong.data()) ==
          cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    bool is_right = true;
    for (int i = 0; i < n; ++i) is_right &= a[i] == (i + times) % n;
    CHECK(is_right);
    CHECK(wrong[0] == 0);
  }
}

TEST_CASE("blocks of a cooperative launch may wait for one another in loops") {
  const int blocks = multiprocessors() * 8, threads = 64;
  Managed<unsigned> arrived(1);
  Managed<int> a(blocks * threads), sums(blocks * threads);
  CHECK(launch(count_and_wait, blocks, threads, 0, arrived.data(), a.data(), sums.data()) == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  bool is_right = true;
  for (int i = 0; i < blocks * threads; ++i) is_right &= sums[i] == blocks * threads;
  CHECK(is_right);
}

TEST_CASE("so may those of any launch that fits on the device, although CUDA does not promise it") {
  const int blocks = multiprocessors() * 4, threads = 128;
  Managed<unsigned> arrived(1);
  Managed<int> a(blocks * threads), sums(blocks * threads);
  count_and_wait<<<blocks, threads>>>(arrived.data(), a.data(), sums.data());
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(sums[0] == blocks * threads);
}

TEST_CASE("all blocks run before any passes the barrier") {
  const unsigned blocks = unsigned(multiprocessors()) * 8;
  Managed<unsigned> next(1), order(2 * blocks);
  CHECK(launch(order_of_blocks, int(blocks), 32, 0, next.data(), order.data()) == cudaSuccess);
  for (unsigned half : {0u, blocks}) {
    CHECK(std::set<unsigned>(order.data() + half, order.data() + half + blocks).size() == blocks);
  }
}

TEST_CASE("a grid says whether it has a barrier") {
  Managed<int> to(1);
  CHECK(launch(validity, 1, 1, 0, to.data()) == cudaSuccess);
  CHECK(to[0] == 1);
  validity<<<1, 1>>>(to.data());
  CHECK(to[0] == 0);
  int has_launch = 0;
  CHECK(cudaDeviceGetAttribute(&has_launch, cudaDevAttrCooperativeLaunch, 0) == cudaSuccess);
  CHECK(has_launch == 1);
}

TEST_CASE("arguments are passed by their addresses") {
  Managed<unsigned long long> to(1);
  unsigned long long* pointer = to.data();
  unsigned long long value = 1ull << 40;
  double unused = 0;
  char more = 3;
  void* arguments[] = {&pointer, &value, &unused, &more};
  CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(&add<unsigned long long>), dim3(2), dim3(64),
                                    arguments, 0, nullptr) == cudaSuccess);
  CHECK(to[0] == 128 * ((1ull << 40) + 3));
  CHECK(cudaLaunchCooperativeKernel(nothing, 1, 1, nullptr) == cudaSuccess);
}

TEST_CASE("a cooperative launch whose blocks do not fit on the device is refused") {
  const int most = multiprocessors() * 16;
  Managed<int> to(1);
  CHECK(launch(validity, most, 128, 0, to.data()) == cudaSuccess);
  CHECK(launch(validity, most + 1, 128, 0, to.data()) == cudaErrorCooperativeLaunchTooLarge);
  CHECK(cudaGetLastError() == cudaErrorCooperativeLaunchTooLarge);
  CHECK(launch(validity, multiprocessors() * 4 + 1, 32, 49152, to.data()) == cudaErrorCooperativeLaunchTooLarge);
  CHECK(cudaGetLastError() == cudaErrorCooperativeLaunchTooLarge);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
}

TEST_CASE("a barrier of the grid that some never reach, or that is not there, ends the launch") {
  {
    Managed<int> to(1);
    check_failure(launch(return_first, 4, 64, 0, to.data(), 2u, 0u));
  }
  {
    Managed<int> to(1);
    check_failure(launch(return_first, 4, 64, 0, to.data(), 2u, 50u));
  }
  Managed<int> to(1);
  return_first<<<4, 64>>>(to.data(), 9u, 0u);
  check_failure(cudaSuccess);
}

// What the threads of a kernel do together: indices, barriers, warp primitives, launch shapes.
#include <doctest/doctest.h>

#include "managed.h"

namespace {

#if __CUDA_ARCH__ >= 700
#define VERSION_OF_DEVICE 1
#else
#define VERSION_OF_DEVICE 0
#endif
#if !defined(__SIMT__)
#define SOME_CONSTANT 1
#else
#define SOME_CONSTANT 2
#endif

__global__ void architecture(int* to) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 600
  to[0] = __CUDA_ARCH__;
#endif
  to[1] = VERSION_OF_DEVICE;
  to[2] = SOME_CONSTANT;
}

__global__ void wait_a_millisecond(long long* passed) {
  const clock_t begin = clock();
  const long long begin64 = clock64();
  while (clock64() - begin64 < 1'000'000) {
  }
  *passed = clock() - begin;
}

__global__ void indices(unsigned* seen) {
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  atomicAdd(&seen[block * blockDim.x * blockDim.y * blockDim.z + thread], 1);
}

template <int rounds>
__global__ void rotate(int* data) {
  __shared__ int tile[1024];
  tile[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  for (int round = 0; round < rounds; ++round) {
    const int next = tile[(threadIdx.x + 1) % blockDim.x];
    __syncthreads();
    tile[threadIdx.x] = next;
    __syncthreads();
  }
  data[threadIdx.x] = tile[threadIdx.x];
}

/// Copies arrays of words, which follow others of odd sizes, four words at a time.
__global__ void wide(uint4* to) {
  __shared__ unsigned char odd[3];
  __shared__ unsigned first[4], second[4];
  odd[threadIdx.x] = threadIdx.x;
  first[threadIdx.x] = odd[threadIdx.x];
  second[threadIdx.x] = 3 * odd[threadIdx.x];
  to[0] = *reinterpret_cast<uint4*>(first);
  to[1] = *reinterpret_cast<uint4*>(second);
}

__global__ void early_exit(int* to) {
  if (threadIdx.x >= 40) return;  // a barrier waits only for the others
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  atomicAdd(&count, 1);
  __syncthreads();
  if (threadIdx.x == 0) *to = count;
}

__global__ void counted_barriers(int* to) {
  const int odd = threadIdx.x % 2;
  const int count = __syncthreads_count(odd);
  const int any = __syncthreads_or(threadIdx.x == 5);
  const int all = __syncthreads_and(threadIdx.x != 5);
  if (threadIdx.x == 70) {
    to[0] = count;
    to[1] = any;
    to[2] = all;
  }
}

__global__ void shuffles(int* to) {
  const int lane = int(threadIdx.x);
  int* mine = to + 6 * lane;
  mine[0] = __shfl_sync(0xffffffffu, lane * 10, 5);
  mine[1] = __shfl_up_sync(0xffffffffu, lane, 3);
  mine[2] = __shfl_down_sync(0xffffffffu, lane, 3, 16);
  mine[3] = __shfl_xor_sync(0xffffffffu, lane, 16);
  mine[4] = int(__shfl_sync(0xffffffffu, 1ll << 40 | lane, lane + 1, 8) & 0xff);
  mine[5] = int(__shfl_sync(0xffffffffu, lane + 0.5, 2) * 2);
}

__global__ void votes(unsigned* to) {
  const unsigned lane = threadIdx.x;
  unsigned* mine = to + 6 * lane;
  mine[0] = __ballot_sync(0xffffffffu, lane % 3 == 0);
  mine[1] = unsigned(__all_sync(0xffffffffu, lane < 32) * 2 + __any_sync(0xffffffffu, lane == 40));
  mine[2] = __match_any_sync(0xffffffffu, lane / 8);
  int equal = 7;
  mine[3] = __match_all_sync(0xffffffffu, lane / 32, &equal) + unsigned(equal);
  mine[4] = __reduce_add_sync(0xffffffffu, lane);
  mine[5] = unsigned(__reduce_min_sync(0xffffffffu, -int(lane)) + __reduce_max_sync(0xffffffffu, int(lane)));
}

__global__ void halves(unsigned* to) {
  const unsigned lane = threadIdx.x;
  // The lanes of each branch meet separately, in any order.
  if (lane < 16) {
    to[lane] = __ballot_sync(0x0000ffffu, 1) + unsigned(__shfl_sync(0x0000ffffu, lane, 15));
  } else {
    to[lane] = __ballot_sync(0xffff0000u, lane % 2) + unsigned(__shfl_sync(0xffff0000u, lane, 16));
  }
  __syncwarp();
}

__global__ void active(unsigned* to) {
  if (threadIdx.x < 5) to[threadIdx.x] = __activemask();
}

__global__ void nothing() {}

__global__ void local_arrays(int* to) {
  int values[64];
  for (int i = 0; i < 64; ++i) values[i] = i * int(threadIdx.x);
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < 64; ++i) sum += values[i];
  to[threadIdx.x] = sum;
}

}  // namespace

TEST_CASE("kernels see an architecture, and the host does not") {
  Managed<int> to(3);
  architecture<<<1, 1>>>(to.data());
  CHECK(to[0] == 700);
  CHECK(to[1] == 1);
  CHECK(to[2] == SOME_CONSTANT);
#ifdef __CUDA_ARCH__
  FAIL("__CUDA_ARCH__ is defined in host code");
#endif
}

TEST_CASE("the two clocks of a kernel count alike, and the host's own counts processor time") {
  Managed<long long> passed(1);
  const clock_t begin = clock();
  wait_a_millisecond<<<1, 1>>>(passed.data());
  CHECK(passed[0] >= 1'000'000);
  CHECK(clock() > begin);
  CHECK(clock() - begin < passed[0]);
}

TEST_CASE("every thread of every block runs once, with its own indices") {
  Managed<unsigned> seen(2 * 3 * 2 * 4 * 5 * 3);
  indices<<<dim3(2, 3, 2), dim3(4, 5, 3)>>>(seen.data());
  for (std::size_t i = 0; i < seen.size(); ++i) CHECK(seen[i] == 1);
}

TEST_CASE("a barrier separates what came before from what comes after, for any block size") {
  for (int n : {1, 2, 31, 32, 33, 100, 1024}) {
    Managed<int> data(1024);
    for (int i = 0; i < n; ++i) data[i] = i;
    rotate<5><<<1, n>>>(data.data());
    int wrong = 0;
    for (int i = 0; i < n; ++i) wrong += data[i] != (i + 5) % n;
    CHECK(wrong == 0);
  }
}

TEST_CASE("threads that have exited are not waited for") {
  Managed<int> to(1);
  early_exit<<<3, 128>>>(to.data());
  CHECK(to[0] == 40);
}

TEST_CASE("barriers count predicates, and combine them with or and and") {
  Managed<int> to(3);
  counted_barriers<<<1, 75>>>(to.data());
  CHECK(to[0] == 37);
  CHECK(to[1] != 0);
  CHECK(to[2] == 0);
}

TEST_CASE("lanes exchange values") {
  Managed<int> to(6 * 32);
  shuffles<<<1, 32>>>(to.data());
  for (int lane = 0; lane < 32; ++lane) {
    int* mine = &to[6 * lane];
    CHECK(mine[0] == 50);
    CHECK(mine[1] == (lane < 3 ? lane : lane - 3));
    CHECK(mine[2] == (lane % 16 + 3 < 16 ? lane + 3 : lane));
    CHECK(mine[3] == (lane ^ 16));
    CHECK(mine[4] == lane / 8 * 8 + (lane + 1) % 8);
    CHECK(mine[5] == 5);
  }
}

TEST_CASE("lanes vote, match and reduce") {
  Managed<unsigned> to(6 * 32);
  votes<<<1, 32>>>(to.data());
  for (unsigned lane = 0; lane < 32; ++lane) {
    unsigned* mine = &to[6 * lane];
    CHECK(mine[0] == 0x49249249u);
    CHECK(mine[1] == 2);
    CHECK(mine[2] == 0xffu << lane / 8 * 8);
    CHECK(mine[3] == 0xffffffffu + 1);
    CHECK(mine[4] == 496);
    CHECK(mine[5] == 0);
  }
}

TEST_CASE("halves of a warp meet separately") {
  Managed<unsigned> to(32);
  halves<<<1, 32>>>(to.data());
  CHECK(to[3] == 0xffffu + 15);
  CHECK(to[20] == 0xaaaa0000u + 16);
}

TEST_CASE("the active mask contains the lanes of the branch") {
  Managed<unsigned> to(32);
  active<<<1, 32>>>(to.data());
  CHECK(to[0] == 0x1f);
  CHECK(to[4] == 0x1f);
}

TEST_CASE("threads keep their own stacks across barriers") {
  Managed<int> to(256);
  local_arrays<<<2, 256>>>(to.data());
  for (int i = 0; i < 256; ++i) CHECK(to[i] == 2016 * i);
}

TEST_CASE("shared arrays are aligned for vectors") {
  Managed<uint4> to(2);
  wide<<<1, 1>>>(to.data());
  CHECK(to[0].x == 0);
  CHECK(to[1].x == 0);
}

TEST_CASE("impossible shapes are refused and nothing runs") {
  nothing<<<0, 1>>>();
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
  nothing<<<1, 1025>>>();
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
  nothing<<<dim3(1, 65536), 1>>>();
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
  nothing<<<1, dim3(1, 1, 65)>>>();
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
  nothing<<<1, dim3(1u << 31, 1u << 31, 4)>>>();  // a product of 2^64
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
  nothing<<<65536, dim3(1, 1, 64)>>>();
  CHECK(cudaGetLastError() == cudaSuccess);
}

// Cooperative groups: ranks, exchange, votes and reductions.
#include <doctest/doctest.h>

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "managed.h"

namespace cg = cooperative_groups;

namespace {

__global__ void ranks(unsigned* to) {
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
  const unsigned i = block.thread_rank();
  to[4 * i] = tile.thread_rank();
  to[4 * i + 1] = tile.meta_group_rank();
  to[4 * i + 2] = tile.meta_group_size();
  to[4 * i + 3] = block.size();
}

__global__ void reverse_by_block(int* data) {
  __shared__ int shared[64];
  const auto block = cg::this_thread_block();
  shared[block.thread_rank()] = data[block.thread_rank()];
  block.sync();
  data[block.thread_rank()] = shared[block.size() - 1 - block.thread_rank()];
  cg::sync(block);
}

struct Big {
  double a;
  char b;
};

__global__ void exchange(int* to) {
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  const int rank = int(tile.thread_rank());
  int* mine = to + 6 * threadIdx.x;
  mine[0] = tile.shfl(rank, 3);
  mine[1] = tile.shfl_up(rank, 2);
  mine[2] = tile.shfl_down(rank, 2);
  mine[3] = tile.shfl_xor(rank, 5);
  const Big big = tile.shfl(Big{rank + 0.5, char(rank)}, 7);
  mine[4] = big.a == 7.5 && big.b == 7;
  mine[5] = tile.shfl((unsigned char)(rank + 200), 9);
}

__device__ int sum_of(cg::thread_group group, int* scratch, int value) {
  const unsigned rank = group.thread_rank();
  for (unsigned distance = group.size() / 2; distance > 0; distance /= 2) {
    scratch[rank] = value;
    group.sync();
    if (rank < distance) value += scratch[rank + distance];
    cg::sync(group);
  }
  return value;
}

__global__ void sums_of_any_group(int* to, unsigned size) {
  __shared__ int scratch[128];
  const cg::thread_block block = cg::this_thread_block();
  const unsigned rank = block.thread_rank();
  const int all = sum_of(block, scratch, int(rank));
  const cg::thread_group tile = cg::tiled_partition(block, size);
  const int part = sum_of(tile, scratch + rank / size * size, int(rank));
  const cg::thread_group half = cg::tiled_partition(tile, size / 2);
  if (half.thread_rank() == 0) to[rank / (size / 2)] = int(half.size());
  if (tile.thread_rank() == 0) to[64 + rank / size] = part;
  if (rank == 0) to[127] = all;
}

__global__ void tiles_of_some(unsigned* to) {
  if (threadIdx.x % 2 == 0) return;
  const cg::coalesced_group tile = cg::tiled_partition(cg::coalesced_threads(), 4);
  to[threadIdx.x] = tile.shfl(threadIdx.x, 0) + 100 * tile.thread_rank() + 1000 * tile.meta_group_rank();
}

__global__ void votes(unsigned* to) {
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  const unsigned rank = tile.thread_rank();
  unsigned* mine = to + 6 * threadIdx.x;
  mine[0] = tile.any(rank == 3);
  mine[1] = tile.all(rank < 7);
  mine[2] = tile.ballot(rank % 2);
  mine[3] = tile.match_any(rank / 4);
  int equal = 0;
  mine[4] = tile.match_all(5, equal);
  mine[5] = unsigned(equal);
}

__global__ void together(unsigned* to) {
  if (threadIdx.x % 3 != 1) return;
  const auto group = cg::coalesced_threads();
  unsigned* mine = to + 4 * threadIdx.x;
  mine[0] = group.size();
  mine[1] = group.thread_rank();
  mine[2] = group.shfl(threadIdx.x, group.size() - 1);
  mine[3] = group.ballot(group.thread_rank() < 2);
}

__global__ void reduce(int* to) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const auto quarter = cg::tiled_partition<8>(warp);
  const int i = int(threadIdx.x);
  to[4 * i] = cg::reduce(warp, i, cg::plus<int>());
  to[4 * i + 1] = cg::reduce(quarter, i, cg::greater<int>());
  to[4 * i + 2] = cg::reduce(quarter, i, cg::less<int>());
  if (i % 2 == 0) to[4 * i + 3] = cg::reduce(cg::coalesced_threads(), 1, cg::plus<int>());
}

__global__ void grid_ranks(unsigned long long* to) {
  const auto grid = cg::this_grid();
  to[grid.thread_rank()] = grid.size() * 1000 + grid.block_rank();
}

__global__ void short_last_tile(int* to) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  warp.sync();
  to[threadIdx.x] = int(__popc(warp.ballot(1)));
}

__global__ void partitions(unsigned* to) {
  __shared__ cg::block_tile_memory<32> memory;
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block(memory));
  unsigned* const mine = to + 6 * threadIdx.x;
  const cg::coalesced_group third = cg::labeled_partition(warp, int(threadIdx.x % 3));
  mine[0] = third.thread_rank();
  mine[1] = third.meta_group_rank();
  mine[2] = third.meta_group_size();
  const cg::coalesced_group half = cg::binary_partition(third, threadIdx.x >= 20);
  mine[3] = half.size();
  mine[4] = half.meta_group_rank();
  mine[5] = cg::binary_partition(warp, true).meta_group_size();
}

__global__ void scans(int* to) {
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  int* const mine = to + 4 * threadIdx.x;
  mine[0] = cg::inclusive_scan(tile, 1);
  mine[1] = cg::exclusive_scan(tile, int(threadIdx.x), cg::greater<int>());
  if (threadIdx.x % 2 == 0) {
    const auto even = cg::coalesced_threads();
    mine[2] = cg::exclusive_scan(even, int(threadIdx.x));
    mine[3] = cg::inclusive_scan(even, int(threadIdx.x), cg::plus<int>());
  }
}

}  // namespace

TEST_CASE("groups are divided by a label or by a predicate") {
  Managed<unsigned> to(6 * 32);
  partitions<<<1, 32>>>(to.data());
  for (unsigned i = 0; i < 32; ++i) {
    CHECK(to[6 * i] == i / 3);
    CHECK(to[6 * i + 1] == i % 3);
    CHECK(to[6 * i + 2] == 3);
    CHECK(to[6 * i + 3] == (i >= 20 ? 4 : i % 3 == 2 ? 6 : 7));
    CHECK(to[6 * i + 4] == (i >= 20));
    CHECK(to[6 * i + 5] == 1);
  }
}

TEST_CASE("scans give each thread what the lower ranks have") {
  Managed<int> to(4 * 32);
  scans<<<1, 32>>>(to.data());
  for (int i = 0; i < 32; ++i) {
    CHECK(to[4 * i] == i % 16 + 1);
    CHECK(to[4 * i + 1] == (i % 16 == 0 ? 0 : i - 1));
    CHECK(to[4 * i + 2] == (i % 2 == 0 ? i / 2 * (i / 2 - 1) : 0));
    CHECK(to[4 * i + 3] == (i % 2 == 0 ? i / 2 * (i / 2 + 1) : 0));
  }
}

TEST_CASE("a function may take any group, and tiles whose size is known only in the kernel") {
  for (unsigned size : {4u, 16u, 32u}) {
    Managed<int> to(128);
    sums_of_any_group<<<1, 64>>>(to.data(), size);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(to[127] == 63 * 64 / 2);
    for (unsigned tile = 0; tile < 64 / size; ++tile) {
      CHECK(to[64 + tile] == int(size * size * tile + size * (size - 1) / 2));
      CHECK(to[2 * tile + 1] == int(size / 2));
    }
  }
  Managed<unsigned> to(32);
  tiles_of_some<<<1, 32>>>(to.data());
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  for (unsigned i = 1; i < 32; i += 2) {
    const unsigned rank = i / 2;
    CHECK(to[i] == 8 * (rank / 4) + 1 + 100 * (rank % 4) + 1000 * (rank / 4));
  }
}

TEST_CASE("ranks of threads in tiles and of tiles in the block") {
  Managed<unsigned> to(4 * 48);
  ranks<<<1, dim3(12, 4)>>>(to.data());
  CHECK(to[4 * 21] == 5);
  CHECK(to[4 * 21 + 1] == 2);
  CHECK(to[4 * 21 + 2] == 6);
  CHECK(to[4 * 21 + 3] == 48);
}

TEST_CASE("a block's sync is a barrier") {
  Managed<int> data(64);
  for (int i = 0; i < 64; ++i) data[i] = i;
  reverse_by_block<<<1, 64>>>(data.data());
  for (int i = 0; i < 64; ++i) CHECK(data[i] == 63 - i);
}

TEST_CASE("tiles exchange values of any trivially copyable type") {
  Managed<int> to(6 * 32);
  exchange<<<1, 32>>>(to.data());
  for (int thread : {0, 1, 15, 16, 17, 31}) {
    const int rank = thread % 16;
    int* mine = &to[6 * thread];
    CHECK(mine[0] == 3);
    CHECK(mine[1] == (rank < 2 ? rank : rank - 2));
    CHECK(mine[2] == (rank + 2 < 16 ? rank + 2 : rank));
    CHECK(mine[3] == (rank ^ 5));
    CHECK(mine[4] == 1);
    CHECK(mine[5] == 209);
  }
}

TEST_CASE("tiles vote and match by rank") {
  Managed<unsigned> to(6 * 32);
  votes<<<1, 32>>>(to.data());
  for (int thread : {0, 7, 8, 31}) {
    unsigned* mine = &to[6 * thread];
    CHECK(mine[0] == 1);
    CHECK(mine[1] == 0);
    CHECK(mine[2] == 0xaa);
    CHECK(mine[3] == (thread % 8 < 4 ? 0x0fu : 0xf0u));
    CHECK(mine[4] == 0xff);
    CHECK(mine[5] == 1);
  }
}

TEST_CASE("coalesced threads are those that execute together, ranked by lane") {
  Managed<unsigned> to(4 * 32);
  together<<<1, 32>>>(to.data());
  CHECK(to[4 * 4] == 11);
  CHECK(to[4 * 4 + 1] == 1);
  CHECK(to[4 * 4 + 2] == 31);
  CHECK(to[4 * 4 + 3] == 3);
  CHECK(to[4 * 31 + 1] == 10);
  CHECK(to[0] == 0);
}

TEST_CASE("reductions give every thread the result") {
  Managed<int> to(4 * 32);
  reduce<<<1, 32>>>(to.data());
  for (int i = 0; i < 32; ++i) {
    CHECK(to[4 * i] == 496);
    CHECK(to[4 * i + 1] == i / 8 * 8 + 7);
    CHECK(to[4 * i + 2] == i / 8 * 8);
    CHECK(to[4 * i + 3] == (i % 2 == 0 ? 16 : 0));
  }
}

TEST_CASE("ranks in the grid increase through the blocks") {
  Managed<unsigned long long> to(24);
  grid_ranks<<<dim3(2, 3), dim3(2, 2)>>>(to.data());
  for (unsigned i = 0; i < 24; ++i) CHECK(to[i] == 24000 + i / 4);
}

TEST_CASE("the last tile of a block may be short") {
  Managed<int> to(48);
  short_last_tile<<<1, 48>>>(to.data());
  CHECK(to[0] == 32);
  CHECK(to[47] == 16);
}

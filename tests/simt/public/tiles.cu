// Tiles of more than one warp, and barriers whose threads arrive first and wait later.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <utility>

#include "expect.h"

namespace cg = cooperative_groups;

namespace {

constexpr int threads = 256;

template <unsigned Size>
__global__ void tiles(int* out) {
  __shared__ cg::block_tile_memory<threads> memory;
  __shared__ int turned[threads];
  const cg::thread_block block = cg::this_thread_block(memory);
  const auto tile = cg::tiled_partition<Size>(block);
  const unsigned i = block.thread_rank(), rank = tile.thread_rank(), first = i - rank;
  turned[i] = int(i);
  tile.sync();
  int* const mine = out + 8 * i;
  mine[0] = turned[first + Size - 1 - rank];
  mine[1] = int(tile.meta_group_rank());
  mine[2] = int(tile.meta_group_size());
  mine[3] = cg::reduce(tile, int(i), cg::plus<int>());
  mine[4] = cg::inclusive_scan(tile, int(rank));
  mine[5] = int(tile.shfl(i + 0.25, 40) * 4);
  mine[6] = tile.any(i == 100);
  const auto warp = cg::tiled_partition<32>(tile);
  mine[7] = int(warp.meta_group_rank()) + 100 * int(warp.thread_rank());
}

template <unsigned Size>
void try_tiles() {
  Array<int> out(8 * threads);
  tiles<Size><<<1, threads>>>(out.data());
  CUDA(cudaDeviceSynchronize());
  const std::vector<int> all = out.values();
  for (int i = 0; i < threads; ++i) {
    const int size = Size, rank = i % size, first = i - rank;
    const int* const of = &all[std::size_t(8 * i)];
    EXPECT(of[0] == first + size - 1 - rank && of[1] == i / size && of[2] == threads / size);
    EXPECT(of[3] == size * first + size * (size - 1) / 2 && of[4] == rank * (rank + 1) / 2);
    EXPECT(of[5] == 4 * (first + 40) + 1 && of[6] == (100 / size == i / size) &&
           of[7] == rank / 32 + 100 * (rank % 32));
  }
}

__global__ void arrive_and_wait(int* data, int* sums) {
  cg::grid_group grid = cg::this_grid();
  cg::thread_block block = cg::this_thread_block();
  __shared__ int shared[64];
  shared[threadIdx.x] = int(threadIdx.x);
  auto of_block = block.barrier_arrive();
  const int own = int(grid.thread_rank());
  block.barrier_wait(std::move(of_block));
  data[own] = shared[63 - threadIdx.x];
  auto of_grid = grid.barrier_arrive();
  const int other = (own + 64) % int(grid.num_threads());
  grid.barrier_wait(std::move(of_grid));
  sums[own] = data[other];
}

void try_arrivals() {
  Array<int> data(128), sums(128);
  int *first = data.data(), *second = sums.data();
  void* arguments[] = {&first, &second};
  CUDA(cudaLaunchCooperativeKernel((void*)arrive_and_wait, dim3(2), dim3(64), arguments, 0, nullptr));
  CUDA(cudaDeviceSynchronize());
  const std::vector<int> all = sums.values();
  for (int i = 0; i < 128; ++i) EXPECT(all[std::size_t(i)] == 63 - i % 64);
}

}  // namespace

int main() {
  try_tiles<64>();
  try_tiles<128>();
  try_tiles<256>();
  try_arrivals();
  return finish();
}

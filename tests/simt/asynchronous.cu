// cuda::atomic, cuda::barrier, cuda::pipeline, and copies of groups.
#include <doctest/doctest.h>

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>

#include "managed.h"

namespace cg = cooperative_groups;

namespace {

using Counter = cuda::atomic<int, cuda::thread_scope_device>;

__global__ void count(Counter* counters, double* sum) {
  counters[0].fetch_add(2, cuda::memory_order_relaxed);
  ++counters[1];
  counters[2].fetch_max(int(threadIdx.x));
  counters[3].fetch_or(1 << threadIdx.x % 31);
  int expected = 0;
  if (counters[4].compare_exchange_strong(expected, int(threadIdx.x) + 1)) counters[5] = int(threadIdx.x) + 1;
  counters[6] -= 1;
  cuda::atomic_ref<double, cuda::thread_scope_block>(*sum) += 0.5;
}

/// The block that comes last adds up what the others have written.
__global__ void last_block_adds(int* values, Counter* done, int* total) {
  if (threadIdx.x != 0) return;
  values[blockIdx.x] = int(blockIdx.x);
  if (done->fetch_add(1, cuda::memory_order_acq_rel) != int(gridDim.x) - 1) return;
  for (unsigned b = 0; b < gridDim.x; ++b) *total += values[b];
}

__global__ void reverse_in_halves(const int* in, int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int tile[64];
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  for (int half = 0; half < 2; ++half) {
    const auto block = cg::this_thread_block();
    cuda::memcpy_async(block, tile, in + 64 * half, sizeof tile, barrier);
    barrier.arrive_and_wait();
    out[64 * half + threadIdx.x] = tile[63 - threadIdx.x];
    barrier.wait(barrier.arrive());
  }
}

/// Warps leave one after the other, and the rest goes on.
__global__ void leave(int* rounds) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  for (unsigned round = 0;; ++round) {
    if (threadIdx.x / 32 == round) {
      rounds[threadIdx.x] = int(round);
      return barrier.arrive_and_drop();
    }
    barrier.arrive_and_wait();
  }
}

template <class... Roles>
__global__ void stages(const int* in, int* out, int tiles, Roles... producers) {
  constexpr unsigned count = 2;
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, count> state;
  __shared__ int tile[count][32];
  const auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state, std::size_t(producers)...);
  const bool has_roles = sizeof...(producers) > 0;
  const bool produces = !has_roles || threadIdx.x < 32, consumes = !has_roles || threadIdx.x >= 32;
  const unsigned lane = threadIdx.x % 32;
  const auto fill = [&](int t) {
    pipe.producer_acquire();
    cuda::memcpy_async(&tile[t % count][lane], in + t * 32 + lane, sizeof(int), pipe);
    pipe.producer_commit();
  };
  const auto use = [&](int t) {
    pipe.consumer_wait();
    out[t * 32 + lane] = tile[t % count][31 - lane];
    pipe.consumer_release();
  };
  if (!has_roles) fill(0);
  for (int t = 0; t < tiles; ++t) {
    if (has_roles && produces) fill(t);
    if (!has_roles && t + 1 < tiles) fill(t + 1);
    if (consumes) use(t);
  }
}

__global__ void copy_by_groups(const int* in, int* out) {
  __shared__ int tile[64], more[64];
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, tile, in, sizeof tile);
  cg::memcpy_async(block, more, 64, in + 64, 50);
  cg::wait_prior<1>(block);
  out[threadIdx.x] = tile[63 - threadIdx.x];
  cg::wait(block);
  if (threadIdx.x < 50) out[64 + threadIdx.x] = more[49 - threadIdx.x];
}

}  // namespace

TEST_CASE("cuda::atomic and cuda::atomic_ref change values as one access") {
  Managed<int> values(7);
  Managed<double> sum(1);
  auto* const counters = reinterpret_cast<Counter*>(values.data());
  count<<<4, 64>>>(counters, sum.data());
  CHECK(counters[0].load() == 512);
  CHECK(counters[1] == 256);
  CHECK(counters[2] == 63);
  CHECK(counters[3] == 0x7fffffff);
  CHECK(counters[4] == counters[5]);
  CHECK(counters[6] == -256);
  CHECK(sum[0] == 128);
}

TEST_CASE("cuda::atomic orders what blocks write before") {
  Managed<int> values(20), total(1), done(1);
  last_block_adds<<<20, 32>>>(values.data(), reinterpret_cast<Counter*>(done.data()), total.data());
  CHECK(total[0] == 190);
}

TEST_CASE("cuda::barrier lets threads pass when all have arrived") {
  Managed<int> in(128), out(128);
  for (int i = 0; i < 128; ++i) in[i] = i;
  reverse_in_halves<<<1, 64>>>(in.data(), out.data());
  for (int i = 0; i < 128; ++i) CHECK(out[i] == i / 64 * 64 + 63 - i % 64);
}

TEST_CASE("cuda::barrier goes on without those that have dropped out") {
  Managed<int> rounds(128);
  leave<<<1, 128>>>(rounds.data());
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  for (int i = 0; i < 128; ++i) CHECK(rounds[i] == i / 32);
}

TEST_CASE("cuda::pipeline hands stages from producers to consumers") {
  Managed<int> in(320), out(320);
  for (int i = 0; i < 320; ++i) in[i] = i;
  const auto is_right = [&] {
    bool right = true;
    for (int i = 0; i < 320; ++i) right &= out[i] == i / 32 * 32 + 31 - i % 32;
    for (int i = 0; i < 320; ++i) out[i] = 0;
    return right;
  };
  stages<<<1, 32>>>(in.data(), out.data(), 10);
  CHECK(is_right());
  stages<<<1, 64>>>(in.data(), out.data(), 10, 32);
  CHECK(is_right());
}

TEST_CASE("groups copy together") {
  Managed<int> in(128), out(128);
  for (int i = 0; i < 128; ++i) in[i] = i;
  copy_by_groups<<<1, 64>>>(in.data(), out.data());
  for (int i = 0; i < 64; ++i) CHECK(out[i] == 63 - i);
  for (int i = 0; i < 50; ++i) CHECK(out[64 + i] == 64 + 49 - i);
  CHECK(out[114] == 0);
}

// Atomics: returned values, ends of ranges, and many threads at once.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "managed.h"

namespace {

template <class T, class Operation>
__global__ void apply(T* cell, T* old, Operation operation) {
  *old = operation(cell);
}

/// Runs `operation` in a kernel, on a cell that holds `before`; checks what it returns and what it stores.
template <class T, class Operation>
void check(T before, T after, Operation operation) {
  Managed<T> cells(2);
  cells[0] = before;
  apply<<<1, 1>>>(&cells[0], &cells[1], operation);
  CHECK(cells[1] == before);
  CHECK(cells[0] == after);
}

__global__ void add_many(unsigned* count, unsigned long long* sum, float* reals, double* doubles) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(count, 1);
  atomicAdd(sum, (unsigned long long)(i));
  atomicAdd(reals, 1.0f);
  atomicAdd(doubles, 0.5);
}

__global__ void tickets(unsigned* next, unsigned* taken) { atomicExch(&taken[atomicInc(next, 255)], 1); }

__global__ void spin_lock(int* lock, int* protected_sum) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  *protected_sum += 1;
  __threadfence();
  atomicExch(lock, 0);
}

__global__ void wait_for_other(int* flag, int* seen) {
  if (threadIdx.x == 0) {
    while (atomicAdd(flag, 0) == 0) {
    }
    *seen = 1;
  } else {
    atomicExch(flag, 1);
  }
}

/// After the barrier, some threads exit, one sets the flag, and the others wait for it.
__global__ void wait_after_barrier(volatile int* flag, int* seen) {
  __syncthreads();
  __syncthreads();
  if (threadIdx.x % 3 == 0) return;
  if (threadIdx.x == 64) *flag = 1;
  while (*flag == 0) {
  }
  seen[threadIdx.x] = 1;
}

__global__ void wait_for_earlier_block(volatile unsigned* done, unsigned* order) {
  if (blockIdx.x > 0) {
    while (__ldcg(const_cast<const unsigned*>(done + blockIdx.x - 1)) == 0) {
    }
  }
  order[blockIdx.x] = blockIdx.x == 0 ? 1 : order[blockIdx.x - 1] + 1;
  __threadfence();
  done[blockIdx.x] = 1;
}

}  // namespace

TEST_CASE("integer atomics return the old value and store the new one") {
  check(5, 8, [] __device__(int* p) { return atomicAdd(p, 3); });
  check(5u, 4u, [] __device__(unsigned* p) { return atomicAdd(p, -1); });
  check(5, 2, [] __device__(int* p) { return atomicSub(p, 3); });
  check(~0ull, 1ull, [] __device__(unsigned long long* p) { return atomicAdd(p, 2ull); });
  check(1, 9, [] __device__(int* p) { return atomicExch(p, 9); });
  check(-1, -4, [] __device__(int* p) { return atomicMin(p, -4); });
  check(~0u, 4u, [] __device__(unsigned* p) { return atomicMin(p, 4); });
  check(-5ll, 4ll, [] __device__(long long* p) { return atomicMax(p, 4ll); });
  check(~0ull, ~0ull, [] __device__(unsigned long long* p) { return atomicMax(p, 4ull); });
  check(12, 8, [] __device__(int* p) { return atomicAnd(p, 9); });
  check(12u, 13u, [] __device__(unsigned* p) { return atomicOr(p, 9); });
  check(12ull, 5ull, [] __device__(unsigned long long* p) { return atomicXor(p, 9ull); });
}

TEST_CASE("atomicInc and atomicDec wrap at their limit") {
  check(3u, 4u, [] __device__(unsigned* p) { return atomicInc(p, 4); });
  check(4u, 0u, [] __device__(unsigned* p) { return atomicInc(p, 4); });
  check(9u, 0u, [] __device__(unsigned* p) { return atomicInc(p, 4); });
  check(3u, 2u, [] __device__(unsigned* p) { return atomicDec(p, 4); });
  check(0u, 4u, [] __device__(unsigned* p) { return atomicDec(p, 4); });
  check(9u, 4u, [] __device__(unsigned* p) { return atomicDec(p, 4); });
}

TEST_CASE("atomicCAS stores only if the cell holds the expected value") {
  check(5, 7, [] __device__(int* p) { return atomicCAS(p, 5, 7); });
  check(5, 5, [] __device__(int* p) { return atomicCAS(p, 6, 7); });
  check<unsigned short>(
      5, 7, [] __device__(unsigned short* p) { return atomicCAS(p, (unsigned short)(5), (unsigned short)(7)); });
  check(5ull, 7ull, [] __device__(unsigned long long* p) { return atomicCAS(p, 5ull, 7ull); });
}

TEST_CASE("floating-point atomics add and exchange") {
  check(1.5f, 2.0f, [] __device__(float* p) { return atomicAdd(p, 0.5f); });
  check(1.5, 2.0, [] __device__(double* p) { return atomicAdd(p, 0.5); });
  check(1.5f, -2.0f, [] __device__(float* p) { return atomicExch(p, -2.0f); });
  Managed<float> cells(2);
  cells[0] = std::numeric_limits<float>::quiet_NaN();
  apply<<<1, 1>>>(&cells[0], &cells[1],
                  [] __device__(float* p) { return atomicAdd(p, 1.0f); });  // ends, though NaN != NaN
  CHECK(std::isnan(cells[0]));
}

TEST_CASE("all scopes do the same") {
  check(5, 8, [] __device__(int* p) { return atomicAdd_block(p, 3); });
  check(5, 8, [] __device__(int* p) { return atomicAdd_system(p, 3); });
  check(5u, 7u, [] __device__(unsigned* p) { return atomicCAS_block(p, 5u, 7u); });
  check(5ll, 9ll, [] __device__(long long* p) { return atomicMax_system(p, 9ll); });
}

TEST_CASE("no addition by many threads in many blocks is lost") {
  Managed<unsigned> count(1);
  Managed<unsigned long long> sum(1);
  Managed<float> reals(1);
  Managed<double> doubles(1);
  add_many<<<64, 128>>>(count.data(), sum.data(), reals.data(), doubles.data());
  CHECK(count[0] == 8192);
  CHECK(sum[0] == 8191ull * 8192 / 2);
  CHECK(reals[0] == 8192);
  CHECK(doubles[0] == 4096);
}

TEST_CASE("each ticket is drawn once") {
  Managed<unsigned> next(1), taken(256);
  tickets<<<2, 128>>>(next.data(), taken.data());
  unsigned all = 0;
  for (unsigned i = 0; i < 256; ++i) all += taken[i];
  CHECK(all == 256);
  CHECK(next[0] == 0);
}

TEST_CASE("threads that spin on an atomic let the others run") {
  Managed<int> lock(1), sum(1), seen(1);
  spin_lock<<<4, 96>>>(lock.data(), sum.data());
  CHECK(sum[0] == 4 * 96);
  lock[0] = 0;
  wait_for_other<<<1, 64>>>(lock.data(), seen.data());
  CHECK(seen[0] == 1);
}

TEST_CASE("threads that spin on a volatile after a barrier let the others run") {
  Managed<int> flag(1), seen(128);
  wait_after_barrier<<<1, 128>>>(flag.data(), seen.data());
  CHECK(seen[0] == 0);
  CHECK(seen[1] == 1);
  CHECK(seen[127] == 1);
}

TEST_CASE("a block that spins on a cache-hinted load lets an earlier block run") {
  Managed<unsigned> done(64), order(64);
  wait_for_earlier_block<<<64, 1>>>(done.data(), order.data());
  CHECK(order[63] == 64);
}

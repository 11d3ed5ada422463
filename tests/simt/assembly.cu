// Inline PTX.
#include <doctest/doctest.h>

#include <cstdint>

#include "managed.h"

namespace {

__device__ int cube(int x) {
  int y;
  asm("{\n\t.reg .u32 square;\n\t"
      "mul.lo.u32 square, %1, %1;  // x * x\n\t"
      "mul.lo.u32 %0, square, %1;\n\t}"
      : "=r"(y)
      : "r"(x));
  return y;
}

__global__ void lanes(unsigned* to) {
  unsigned lane, below;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
  unsigned small = 0;
  asm("{ .reg .pred p; setp.lt.u32 p, %1, 5; selp.u32 %0, 1, 2, p; @!p add.u32 %0, %0, 10; }"
      : "+r"(small)
      : "r"(lane));
  to[threadIdx.x] = lane + 100 * small + unsigned(__popc(int(below)));
}

__global__ void where(unsigned* to, unsigned* of_device) {
  unsigned multiprocessor;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
  atomicAdd(&to[multiprocessor], 1u);
  asm("mov.u32 %0, %%nsmid;" : "=r"(*of_device));
}

__global__ void bits(unsigned* to) {
  if (threadIdx.x == 0)
    asm("bfe.u32 %0, %1, 4, 8;" : "=r"(to[0]) : "r"(0xabcdu));
  else
    asm("bfe.s32 %0, %1, 4, 4;" : "=r"(to[1]) : "r"(0x80));
  asm("bfi.b32 %0, %1, %2, 8, 4;" : "=r"(to[2]) : "r"(0xf5u), "r"(0xffffffffu));
  asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(to[3]) : "r"(12u), "r"(10u), "r"(7u));
  asm("bfind.u32 %0, %1;" : "=r"(to[4]) : "r"(0x1000u));
  asm("shl.b32 %0, %1, %2;" : "=r"(to[5]) : "r"(1u), "r"(32u));
  asm("shr.s32 %0, %1, 40;" : "=r"(to[6]) : "r"(-8));
  asm("mul.hi.u32 %0, %1, %2;" : "=r"(to[7]) : "r"(0x80000000u), "r"(6u));
  std::uint64_t wide;
  asm("mad.lo.u64 %0, %1, %1, %1;" : "=l"(wide) : "l"(1ull << 20));
  to[8] = unsigned(wide >> 32);
  asm("mul.wide.u32 %0, %1, %1;" : "=l"(wide) : "r"(1u << 20));
  to[9] = unsigned(wide >> 32);
  float sum;
  asm("fma.rn.f32 %0, %1, %2, %2;" : "=f"(sum) : "f"(2.0f), "f"(3.0f));
  asm("mov.b32 %0, %1;" : "=r"(to[10]) : "f"(sum));
}

__global__ void memory(unsigned* to) {
  unsigned next;
  asm volatile("ld.global.cg.u32 %0, [%1+4];" : "=r"(next) : "l"(to + threadIdx.x));
  asm volatile("bar.sync 0;" ::: "memory");
  asm volatile("st.global.u32 [%0], %1;" ::"l"(to + threadIdx.x), "r"(next) : "memory");
  asm volatile("red.global.add.u32 [%0], 1;" ::"l"(to + 40));
  unsigned old;
  asm volatile("atom.global.max.u32 %0, [%1], %2;" : "=r"(old) : "l"(to + 41), "r"(threadIdx.x));
  asm volatile("membar.gl;");
}

}  // namespace

TEST_CASE("inline PTX computes what the instructions say") {
  Managed<unsigned> to(64);
  lanes<<<1, 64>>>(to.data());
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(to[3] == 3 + 100 + 3);
  CHECK(to[37] == 5 + 1200 + 5);
  CHECK(cube(-3) == -27);

  bits<<<1, 2>>>(to.data());
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  const unsigned expected[] = {0xbc, ~0u << 3, 0xfffff5ff, 12 ^ 10 ^ 7, 12, 0, ~0u, 3, 1u << 8, 1u << 8, 0x41100000};
  for (unsigned i = 0; i < 11; ++i) {
    CAPTURE(i);
    CHECK(to[i] == expected[i]);
  }
}

TEST_CASE("inline PTX reads and writes memory, and waits") {
  Managed<unsigned> to(64);
  for (unsigned i = 0; i <= 32; ++i) to[i] = i;
  memory<<<1, 32>>>(to.data());
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(to[0] == 1);
  CHECK(to[31] == 32);
  CHECK(to[40] == 32);
  CHECK(to[41] == 31);
}

TEST_CASE("a block is on one of the device's multiprocessors") {
  int count = 0;
  cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0);
  Managed<unsigned> blocks(count), of_device(1);
  where<<<3 * count, 1>>>(blocks.data(), of_device.data());
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(of_device[0] == unsigned(count));
  for (int i = 0; i < count; ++i) CHECK(blocks[i] == 3);
}

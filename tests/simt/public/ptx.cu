// Inline PTX as tutorials use it: barriers of some warps, fences, primitives of a warp, shared memory, copies.
#include <cstdint>

#include "expect.h"

namespace {

constexpr int block = 128, warp = 32;

// Two warps produce, two consume: barrier 1 hands over the numbers, barrier 2 the room.
__global__ void handed_over(int* out) {
  __shared__ int room[2 * warp];
  const int i = int(threadIdx.x) % (2 * warp);
  for (int round = 0; round < 3; ++round) {
    if (threadIdx.x < 2 * warp) {
      if (round > 0) asm volatile("bar.sync 2, %0;" ::"r"(block) : "memory");
      room[i] = i + round;
      asm volatile("bar.arrive 1, 128;" ::: "memory");
    } else {
      asm volatile("barrier.sync 1, 128;" ::: "memory");
      out[round * 2 * warp + i] = room[i ^ 1];
      if (round < 2) asm volatile("barrier.cta.sync 2, 128;" ::: "memory");
    }
  }
}

// Each half of the block has its own barrier.
__global__ void halves(int* out) {
  __shared__ int room[block];
  const int half = int(threadIdx.x) / (block / 2), from = half * (block / 2);
  room[threadIdx.x] = int(threadIdx.x);
  asm volatile("bar.sync %0, %1;" ::"r"(half + 1), "r"(block / 2) : "memory");
  out[threadIdx.x] = room[from + (int(threadIdx.x) + 1) % (block / 2)];
  asm volatile("bar.sync 0;" ::: "memory");
  out[threadIdx.x] += room[block - 1 - int(threadIdx.x)];
  int at_least;
  asm volatile("{ .reg .pred p; setp.ge.s32 p, %1, 100; bar.red.popc.u32 %0, 0, p; }"
               : "=r"(at_least)
               : "r"(room[threadIdx.x])
               : "memory");
  out[threadIdx.x] += 1000 * at_least;
}

__global__ void of_warp(unsigned* out) {
  unsigned sum = threadIdx.x, other;
  for (int i = warp / 2; i > 0; i /= 2) {
    asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(other) : "r"(sum), "r"(i));
    sum += other;
  }
  unsigned odd, active, above;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }"
               : "=r"(odd)
               : "r"(threadIdx.x % 2));
  asm volatile("activemask.b32 %0;" : "=r"(active));
  asm volatile("shfl.sync.up.b32 %0, %1, 1, 0x1800, 0xffffffff;" : "=r"(above) : "r"(threadIdx.x));
  asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
  unsigned* mine = out + 4 * threadIdx.x;
  mine[0] = sum, mine[1] = odd, mine[2] = active, mine[3] = above;
}

__global__ void numbers(const float* in, unsigned* out) {
  int rounded, down;
  float back;
  asm("cvt.rni.s32.f32 %0, %1;" : "=r"(rounded) : "f"(in[0]));
  asm("cvt.rmi.s32.f32 %0, %1;" : "=r"(down) : "f"(in[0]));
  asm("cvt.rn.f32.s32 %0, %1;" : "=f"(back) : "r"(rounded));
  out[0] = unsigned(rounded), out[1] = unsigned(down), out[2] = unsigned(back);
  asm("add.cc.u32 %0, %2, %3;\n\taddc.u32 %1, %4, %5;"
      : "=r"(out[3]), "=r"(out[4])
      : "r"(0xffffffffu), "r"(2u), "r"(5u), "r"(6u));
  asm("sub.cc.u32 %0, %2, %3;\n\tsubc.u32 %1, %4, %5;"
      : "=r"(out[5]), "=r"(out[6])
      : "r"(1u), "r"(2u), "r"(9u), "r"(3u));
}

__global__ void copied(const float4* in, float4* out, int* flag) {
  extern __shared__ float4 dynamic[];
  __shared__ __align__(16 * 1024) float4 fixed[warp];
  const auto to = static_cast<uint32_t>(__cvta_generic_to_shared(&dynamic[threadIdx.x]));
  uint32_t also;
  asm("{ .reg .u64 address; cvta.to.shared.u64 address, %1; cvt.u32.u64 %0, address; }"
      : "=r"(also)
      : "l"(&fixed[threadIdx.x]));
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(to), "l"(in + threadIdx.x) : "memory");
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(also), "l"(in + threadIdx.x), "r"(0) : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
  asm volatile("cp.async.wait_group %0;" ::"n"(0) : "memory");
  asm volatile("prefetch.global.L2 [%0];" ::"l"(in));
  float4 all;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(all.x), "=f"(all.y), "=f"(all.z), "=f"(all.w)
               : "r"(to));
  float first;
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(first) : "r"(also) : "memory");
  asm volatile("st.shared.f32 [%0+4], %1;" ::"r"(also), "f"(first + 1) : "memory");
  all.x = fixed[threadIdx.x].y;
  asm volatile("st.global.wt.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(out + threadIdx.x), "f"(all.x), "f"(all.y),
               "f"(all.z), "f"(all.w)
               : "memory");
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
  asm volatile("membar.sys;" ::: "memory");
  asm volatile("red.release.gpu.global.add.s32 [%0], %1;" ::"l"(flag), "r"(1) : "memory");
  int seen = 0;
  while (seen < warp) asm volatile("ld.acquire.gpu.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
}

void test_barriers() {
  Array<int> out(6 * warp), both(block);
  handed_over<<<1, block>>>(out.data());
  halves<<<1, block>>>(both.data());
  CUDA(cudaDeviceSynchronize());
  const auto rounds = out.values(), sums = both.values();
  for (int i = 0; i < 6 * warp; ++i) EXPECT(rounds[std::size_t(i)] == (i % 64 ^ 1) + i / 64);
  for (int i = 0; i < block; ++i) {
    const int next = i / 64 * 64 + (i + 1) % 64;
    EXPECT(sums[std::size_t(i)] == next + (block - 1 - i) + 1000 * 28);
  }
}

void test_warp() {
  Array<unsigned> out(4 * warp);
  of_warp<<<1, warp>>>(out.data());
  const auto values = out.values();
  for (unsigned i = 0; i < warp; ++i) {
    EXPECT(values[4 * i] == 496);
    EXPECT(values[4 * i + 1] == 0xaaaaaaaa);
    EXPECT(values[4 * i + 2] == 0xffffffff);
    EXPECT(values[4 * i + 3] == (i % 8 == 0 ? i : i - 1));
  }
}

void test_numbers() {
  Array<float> in(1);
  in.fill([](int) { return 2.75f; });
  Array<unsigned> out(7);
  numbers<<<1, 1>>>(in.data(), out.data());
  EXPECT((out.values() == std::vector<unsigned>{3, 2, 3, 1, 12, 0xffffffff, 5}));
}

void test_copies() {
  Array<float4> in(warp), out(warp);
  Array<int> flag(1);
  in.fill([](int i) { return make_float4(1, 2, 3, float(i)); });
  flag.fill([](int) { return 0; });
  copied<<<1, warp, warp * sizeof(float4)>>>(in.data(), out.data(), flag.data());
  CUDA(cudaDeviceSynchronize());
  const auto values = out.values();
  for (unsigned i = 0; i < warp; ++i) {
    const float4 value = values[i];
    EXPECT(value.x == 1 && value.y == 2 && value.z == 3 && value.w == float(i));
  }
}

}  // namespace

int main() {
  test_barriers();
  test_warp();
  test_numbers();
  test_copies();
  return finish();
}

// Floating-point numbers of 16 bits.
#include <doctest/doctest.h>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <limits>
#include <type_traits>

#include "managed.h"

namespace {

static_assert(sizeof(__half) == 2 && alignof(__half) == 2 && std::is_trivially_copyable_v<__half>);
static_assert(sizeof(__half2) == 4 && alignof(__half2) == 4 && std::is_trivially_default_constructible_v<__half2>);

/// Whether every number of the type, the ones halfway to the next, and those beside these are rounded as they must be.
template <class Number, int exponent_bits>
bool rounds_correctly() {
  using simt::Rounding;
  constexpr int infinity = 0x7fff >> (15 - exponent_bits) << (15 - exponent_bits);
  const auto is = [](double x, Rounding rounding, int bits) { return Number::of(x, rounding).bits() == bits; };
  for (int bits = 0; bits < infinity; ++bits) {
    const double x = double(Number::of_bits(bits));
    const double next = bits + 1 < infinity ? double(Number::of_bits(bits + 1)) : std::exp2(std::ilogb(x) + 1);
    const double middle = (x + next) / 2;
    const bool odd = bits % 2 != 0;
    const bool right = is(x, Rounding::nearest, bits) && is(-x, Rounding::up, bits | 0x8000) &&
                       is(x, Rounding::down, bits) && is(middle, Rounding::nearest, bits + odd) &&
                       is(-middle, Rounding::nearest, (bits + odd) | 0x8000) &&
                       is(std::nextafter(middle, next), Rounding::nearest, bits + 1) &&
                       is(std::nextafter(middle, x), Rounding::nearest, bits) && is(middle, Rounding::up, bits + 1) &&
                       is(middle, Rounding::down, bits) && is(-middle, Rounding::down, (bits + 1) | 0x8000) &&
                       is(-middle, Rounding::zero, bits | 0x8000) && is(std::nextafter(next, x), Rounding::zero, bits);
    if (!right) return false;
  }
  return is(NAN, Rounding::nearest, 0x7fff) && is(HUGE_VAL, Rounding::zero, infinity);
}

__global__ void scale(__half* values, float factor) {
  const int i = int(threadIdx.x);
  __shared__ __half tile[32];
  tile[i] = __ldg(values + i);
  __syncthreads();
  values[i] = tile[31 - i] * __float2half(factor);
}

__global__ void sum(const __nv_bfloat16* values, __nv_bfloat16* to, __half2* pairs) {
  __nv_bfloat16 own = values[threadIdx.x];
  for (int delta = 16; delta > 0; delta /= 2) own += __shfl_down_sync(0xffffffffu, own, delta);
  if (threadIdx.x == 0) *to = own;
  atomicAdd(pairs, __floats2half2_rn(1, 0.5f));
  atomicAdd(to + 1, __nv_bfloat16(2));
}

}  // namespace

TEST_CASE("every 16-bit number and what lies between two of them is rounded as named") {
  CHECK(rounds_correctly<__half, 5>());
  CHECK(rounds_correctly<__nv_bfloat16, 8>());
}

TEST_CASE("a 16-bit number has its format's range") {
  CHECK(float(CUDART_MAX_NORMAL_FP16) == 65504);
  CHECK(float(CUDART_MIN_DENORM_FP16) == std::exp2(-24.0f));
  CHECK(float(CUDART_MAX_NORMAL_BF16) == 0x1.fep127f);
  CHECK(std::isinf(float(__half(65520))));
  CHECK(std::signbit(float(CUDART_NEG_ZERO_FP16)));
  CHECK(__half_as_ushort(__half(std::numeric_limits<float>::quiet_NaN())) == 0x7fff);
  CHECK(float(__nv_bfloat16(1.00390625)) == 1);  // halfway: to even
}

TEST_CASE("arithmetic of 16-bit numbers rounds once") {
  const __half a = 2048, b = 1;
  CHECK(a + b == a);
  CHECK(__hadd(a, __half(3)) == __half(2052));
  // The product is exact before the sum is rounded.
  CHECK(__hfma(__half(1.0009765625f), __half(1.0009765625f), __half(-1)) == __half(0.001954078674f));
  // An exact sum just beside the middle of two numbers: an H200 gives these, too.
  const auto fused = [](unsigned short x, unsigned short y, unsigned short z) {
    return __bfloat16_as_ushort(__hfma(__ushort_as_bfloat16(x), __ushort_as_bfloat16(y), __ushort_as_bfloat16(z)));
  };
  CHECK(fused(0x000f, 0x7598, 0x138e) == 0x350f);
  CHECK(fused(0x0260, 0xf33c, 0x9032) == 0xb625);
  CHECK(fused(0x0498, 0xfd18, 0x9a2e) == 0xc235);
  CHECK(__hmul_sat(a, a) == __half(1));
  CHECK(__hfma_relu(a, __half(-1), b) == __half(0));
  __half c = 3;
  c += 0.5;
  CHECK(float(c++) == 3.5f);
  CHECK(float(-c) == -4.5f);
  CHECK(__half2float(hsqrt(__half(2))) == 1.4140625f);
}

TEST_CASE("comparisons of 16-bit numbers know NaNs") {
  const __half nan = CUDART_NAN_FP16, one = 1;
  CHECK_FALSE(nan == nan);
  CHECK(nan != one);
  CHECK_FALSE(__hne(nan, one));
  CHECK(__hneu(nan, one));
  CHECK(__hltu(nan, one));
  CHECK(__hmax(nan, one) == one);
  CHECK(__hisnan(__hmax_nan(nan, one)));
  CHECK(__hisinf(-CUDART_INF_FP16) == -1);
  CHECK(__hmin(CUDART_ZERO_FP16, CUDART_NEG_ZERO_FP16).bits() == 0x8000);
}

TEST_CASE("16-bit numbers and integers convert as named") {
  CHECK(__half2int_rn(__half(2.5f)) == 2);
  CHECK(__half2int_ru(__half(-2.5f)) == -2);
  CHECK(__half2ushort_rz(__half(-3)) == 0);
  CHECK(int(__nv_bfloat16(-2.75f)) == -2);
  CHECK(float(__int2half_rz(2049)) == 2048);
  CHECK(float(__int2half_ru(2049)) == 2050);
  CHECK(std::isinf(__half2float(__ll2half_rn(1LL << 40))));
  // Just above halfway: the low bits must not be lost on the way.
  CHECK(float(__ll2bfloat16_rn((1LL << 62) + (1LL << 54) + 1)) == 0x1.02p62f);
  CHECK(float(__ll2bfloat16_rn((1LL << 62) + (1LL << 54))) == 0x1p62f);
  CHECK(float(__ull2bfloat16_rd(~0ULL)) == 0x1.fep63f);
}

TEST_CASE("pairs of 16-bit numbers work element by element") {
  const __half2 a = __floats2half2_rn(1, 2), b = __float2half2_rn(2);
  const float2 sum = __half22float2(__hfma2(a, b, a));
  CHECK(sum.x == 3);
  CHECK(sum.y == 6);
  CHECK(__high2float(a / b) == 1);
  CHECK(__low2float(__hgt2(a, __float2half2_rn(1.5f))) == 0);
  CHECK(__hgt2_mask(a, __float2half2_rn(1.5f)) == 0xffff0000u);
  CHECK(__hble2(a, b));
  CHECK_FALSE(a != b);  // CUDA: whether both elements differ
  CHECK(__low2half(__lowhigh2highlow(a)) == __half(2));
  CHECK(float(h2exp(__float2half2_rn(0)).y) == 1);
}

TEST_CASE("kernels load, share, exchange and add 16-bit numbers") {
  Managed<__half> values(32);
  for (int i = 0; i < 32; ++i) values[i] = i;
  scale<<<1, 32>>>(values.data(), 0.5f);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(float(values[0]) == 15.5f);
  CHECK(float(values[30]) == 0.5f);

  Managed<__nv_bfloat16> numbers(32), to(2);
  Managed<__half2> pairs(1);
  for (int i = 0; i < 32; ++i) numbers[i] = 2;
  sum<<<1, 32>>>(numbers.data(), to.data(), pairs.data());
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(float(to[0]) == 64);
  CHECK(float(to[1]) == 64);
  CHECK(float(pairs[0].x) == 32);
  CHECK(float(pairs[0].y) == 16);
}

// Intrinsics, at the ends of their ranges, compared with values worked out by hand.
#include <doctest/doctest.h>

#include <climits>
#include <cmath>
#include <cstdint>
#include <limits>

#include "managed.h"

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan_f = std::numeric_limits<float>::quiet_NaN();

__global__ void load_and_store(const float4* from, float4* to, const unsigned* word_from, unsigned* word_to) {
  __stcs(to, __ldg(from));
  __stcg(word_to, __ldcs(word_from) + __ldca(word_from) + __ldcg(word_from) + __ldcv(word_from) + __ldlu(word_from));
}

}  // namespace

TEST_CASE("bits are counted and found") {
  CHECK(__popc(0xf0f0u) == 8);
  CHECK(__popcll(~0ull) == 64);
  CHECK(__clz(0) == 32);
  CHECK(__clz(-1) == 0);
  CHECK(__clzll(1) == 63);
  CHECK(__ffs(0) == 0);
  CHECK(__ffs(0x10) == 5);
  CHECK(__ffsll(1ll << 40) == 41);
  CHECK(__fns(0b10110u, 0, 2) == 2);
  CHECK(__fns(0b10110u, 4, -2) == 2);
  CHECK(__fns(0b10110u, 1, 0) == 1);
  CHECK(__fns(0b10110u, 0, 4) == 0xffffffffu);
}

TEST_CASE("bits are reversed") {
  for (unsigned x : {0u, 1u, 0x80000000u, 0x12345678u, 0xdeadbeefu}) {
    unsigned expected = 0;
    for (int i = 0; i < 32; ++i) expected |= (x >> i & 1) << (31 - i);
    CHECK(__brev(x) == expected);
    CHECK(__brevll(x) == (unsigned long long)(expected) << 32);
  }
}

TEST_CASE("__byte_perm selects bytes, and prmt replicates signs") {
  CHECK(__byte_perm(0x33221100, 0x77665544, 0x3210) == 0x33221100);
  CHECK(__byte_perm(0x33221100, 0x77665544, 0x7531) == 0x77553311);
  CHECK(__byte_perm(0x33221100, 0x77665544, 0x0123) == 0x00112233);
  CHECK(__byte_perm(0x00008000, 0, 0x1998) == 0x80808000);
  CHECK(simt::ptx::prmt(0x00008000, 0, 0x1998) == 0x80ffff00);
  CHECK(simt::ptx::prmt(0x33221100, 0x77665544, 0x0123) == 0x00112233);
}

TEST_CASE("funnel shifts wrap or clamp the distance") {
  CHECK(__funnelshift_l(0x80000000u, 1, 1) == 3);
  CHECK(__funnelshift_r(0x80000000u, 1, 1) == 0xc0000000u);
  CHECK(__funnelshift_l(7, 9, 32) == 9);
  CHECK(__funnelshift_r(7, 9, 33) == __funnelshift_r(7, 9, 1));
  CHECK(__funnelshift_lc(7, 9, 32) == 7);
  CHECK(__funnelshift_rc(7, 9, 40) == 9);
}

TEST_CASE("wide products and averages do not overflow") {
  CHECK(__mulhi(INT_MIN, INT_MIN) == 0x40000000);
  CHECK(__umulhi(0xffffffffu, 0xffffffffu) == 0xfffffffeu);
  CHECK(__mul64hi(-1, 1) == -1);
  CHECK(__umul64hi(~0ull, ~0ull) == ~0ull - 1);
  CHECK(__mul24(-3, 5) == -15);
  CHECK(__umul24(0x1000003u, 5) == 15);
  CHECK(__sad(INT_MAX, INT_MIN, 0) == 0xffffffffu);
  CHECK(__usad(3, 10, 1) == 8);
  CHECK(__hadd(INT_MAX, INT_MAX - 1) == INT_MAX - 1);
  CHECK(__rhadd(-3, -4) == -3);
  CHECK(__uhadd(0xffffffffu, 0xfffffffeu) == 0xfffffffeu);
  CHECK(__urhadd(0xffffffffu, 0xfffffffeu) == 0xffffffffu);
}

TEST_CASE("min and max accept the same pairs of types as CUDA") {
  CHECK(min(-1, 1) == -1);
  CHECK(min(-1, 1u) == 1u);  // compared as unsigned
  CHECK(max(1ull, 2ll) == 2ull);
  CHECK(max(1.0f, 2.0) == 2.0);
  CHECK(min(nan_f, 1.0f) == 1.0f);
  CHECK(max(1.0, double(nan_f)) == 1.0);
  CHECK(max(nan_f, -infinity) == -infinity);
  CHECK(std::isnan(min(nan_f, nan_f)));
  CHECK(std::signbit(min(0.0f, -0.0f)));
  CHECK(std::signbit(min(-0.0, 0.0)));
  CHECK(!std::signbit(max(0.0f, -0.0f)));
  CHECK(!std::signbit(max(-0.0, 0.0)));
  CHECK(umin(1u, 2u) == 1u);
  CHECK(llmax(-1, -2) == -1);
  CHECK(abs(-1.5f) == 1.5f);
  static_assert(std::is_same_v<decltype(max(1, 1u)), unsigned>);
  static_assert(std::is_same_v<decltype(max(1.0f, 1.0f)), float>);
}

TEST_CASE("bits of floating-point numbers are kept") {
  CHECK(__float_as_uint(-0.0f) == 0x80000000u);
  CHECK(__uint_as_float(0x3f800000u) == 1.0f);
  CHECK(__int_as_float(__float_as_int(1.5f)) == 1.5f);
  CHECK(__longlong_as_double(__double_as_longlong(-2.5)) == -2.5);
  CHECK(__hiloint2double(__double2hiint(0.1), __double2loint(0.1)) == 0.1);
}

TEST_CASE("conversions to integers round as named and stay in range") {
  CHECK(__float2int_rn(2.5f) == 2);
  CHECK(__float2int_rz(-2.5f) == -2);
  CHECK(__float2int_ru(2.1f) == 3);
  CHECK(__float2int_rd(-2.1f) == -3);
  CHECK(__float2int_rz(1e10f) == INT_MAX);
  CHECK(__float2int_rz(-infinity) == INT_MIN);
  CHECK(__float2int_rz(nan_f) == 0);
  CHECK(__float2uint_rz(-1.0f) == 0);
  CHECK(__float2uint_rn(5e9f) == UINT_MAX);
  CHECK(__float2ll_rz(nan_f) == LLONG_MIN);
  CHECK(__double2int_rn(1e300) == INT_MAX);
  CHECK(__double2ull_rz(1e300) == ULLONG_MAX);
  CHECK(__double2ll_rd(-1.5) == -2);
}

TEST_CASE("arithmetic rounds as named, and then to nearest again") {
  const float tiny = 0x1p-40f;
  CHECK(__fadd_rn(1, tiny) == 1);
  CHECK(__fadd_ru(1, tiny) == 0x1.000002p0f);
  CHECK(__fadd_rd(1, -tiny) == 0x1.fffffep-1f);
  CHECK(__fsub_rz(1, tiny) == 0x1.fffffep-1f);
  CHECK(__fmul_rz(-3, 0x1.555556p-2f) == -1);
  CHECK(__fdiv_ru(1, 3) == 0x1.555556p-2f);
  CHECK(__fdiv_rd(1, 3) == 0x1.555554p-2f);
  CHECK(__frcp_rz(3) == 0x1.555554p-2f);
  CHECK(__fsqrt_ru(2) == 0x1.6a09e8p0f);
  CHECK(__fsqrt_rd(2) == 0x1.6a09e6p0f);
  CHECK(__fmaf_ru(1, 1, tiny) == 0x1.000002p0f);
  CHECK(__dadd_rd(1, -0x1p-100) == 0x1.fffffffffffffp-1);
  CHECK(__ddiv_ru(1, 3) > __ddiv_rd(1, 3));
  CHECK(__fma_rz(1, 1, -0x1p-100) == 0x1.fffffffffffffp-1);
  CHECK(__dsqrt_ru(2) > __dsqrt_rz(2));
  volatile float one = 1;
  CHECK(one + tiny == 1);
}

TEST_CASE("conversions to float round as named") {
  const int odd = (1 << 24) + 1;  // between two floats
  CHECK(__int2float_rd(odd) == 16777216.0f);
  CHECK(__int2float_ru(odd) == 16777218.0f);
  CHECK(__int2float_rz(-odd) == -16777216.0f);
  CHECK(__int2float_ru(-odd) == -16777216.0f);
  CHECK(__int2float_rn(odd) == 16777216.0f);
  CHECK(__uint2float_ru(UINT_MAX) == 4294967296.0f);
  CHECK(__ull2float_rd(ULLONG_MAX) < 18446744073709551616.0f);
  CHECK(__ll2double_rd(LLONG_MAX) < 9223372036854775808.0);
  CHECK(__double2float_ru(0.1) > 0.1);
  CHECK(__double2float_rd(0.1) < 0.1);
  CHECK(__double2float_rd(1e300) == std::numeric_limits<float>::max());
  CHECK(__double2float_ru(1e300) == infinity);
}

TEST_CASE("floating-point helpers") {
  CHECK(__saturatef(-1) == 0);
  CHECK(__saturatef(0.25f) == 0.25f);
  CHECK(__saturatef(7) == 1);
  CHECK(__saturatef(nan_f) == 0);
  CHECK(rsqrtf(4) == 0.5f);
  CHECK(rsqrt(0.25) == 2);
  CHECK(__fdividef(1, 4) == 0.25f);
  CHECK(__expf(0) == 1);
  CHECK(__log2f(8) == 3);
  CHECK(__powf(2, 3) == 8);
  CHECK(__fmaf_rn(2, 3, 4) == 10);
}

TEST_CASE("a rounded product stays rounded when something is added to it") {
  volatile float x = 1 + std::numeric_limits<float>::epsilon();
  volatile double y = 1 + std::numeric_limits<double>::epsilon();
  const float square = __fmul_rn(x, x);
  const double wide_square = __dmul_rn(y, y);
  // One instruction that multiplies and adds would give the product's rounding error.
  CHECK(__fadd_rn(__fmul_rn(x, x), -square) == 0);
  CHECK(__fsub_rn(__fmul_rn(x, x), square) == 0);
  CHECK(__dadd_rn(__dmul_rn(y, y), -wide_square) == 0);
  CHECK(__fmaf_rn(x, x, -square) != 0);
}

TEST_CASE("loads and stores with a cache hint move whole vectors") {
  Managed<float4> vectors(2);
  Managed<unsigned> words(2);
  vectors[0] = {1, 2, 3, 4};
  words[0] = 3;
  load_and_store<<<1, 1>>>(&vectors[0], &vectors[1], &words[0], &words[1]);
  CHECK(vectors[1].w == 4);
  CHECK(words[1] == 15);
}

// Integer and floating-point intrinsics, and the functions that CUDA puts into the global namespace (CUDA C++
// Programming Guide, "Mathematical Functions"; CUDA Math API, "Integer Intrinsics"). The fast approximations (__expf
// ...) give the results of the exact functions here.
#pragma once

#include <math.h>

#include <cstdint>

namespace simt {

/// C++20's std::bit_cast.
template <class To, class From>
constexpr To bit_cast(const From& from) {
  return __builtin_bit_cast(To, from);
}

}  // namespace simt

// --- bits ---

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
/// Leading zeros; 32 (64) for 0.
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(unsigned(x)); }
inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)(x)); }
/// The lowest set bit, counted from 1; 0 for 0.
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }

inline unsigned __brev(unsigned x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(x);
}
inline unsigned long long __brevll(unsigned long long x) {
  return (unsigned long long)(__brev(unsigned(x))) << 32 | __brev(unsigned(x >> 32));
}

/// Selects four of the eight bytes of y:x by the low three bits of each hexadecimal digit of `selector`.
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const std::uint64_t bytes = std::uint64_t(y) << 32 | x;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) result |= (unsigned(bytes >> 8 * (selector >> 4 * i & 7)) & 0xff) << 8 * i;
  return result;
}

/// The high (low) half of high:low shifted left (right) by shift mod 32; _lc and _rc clamp the shift at 32.
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return unsigned((std::uint64_t(high) << 32 | low) << (shift & 31) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return unsigned((std::uint64_t(high) << 32 | low) >> (shift & 31));
}
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

/// The position of the `offset`-th set bit of `mask` at or above `base` (below it for a negative offset); ~0: none.
inline unsigned __fns(unsigned mask, unsigned base, int offset) {
  if (offset == 0) return (mask >> (base & 31) & 1) != 0 ? base : ~0u;
  const int step = offset > 0 ? 1 : -1;
  for (int bit = int(base); bit >= 0 && bit < 32; bit += step) {
    if ((mask >> bit & 1) != 0 && (offset -= step) == 0) return unsigned(bit);
  }
  return ~0u;
}

// --- integer arithmetic ---

inline int __mul24(int x, int y) { return int((std::int64_t(x << 8) >> 8) * (std::int64_t(y << 8) >> 8)); }
inline unsigned __umul24(unsigned x, unsigned y) { return (x & 0xffffffu) * (y & 0xffffffu); }
inline int __mulhi(int x, int y) { return int(std::int64_t(x) * y >> 32); }
inline unsigned __umulhi(unsigned x, unsigned y) { return unsigned(std::uint64_t(x) * y >> 32); }
inline long long __mul64hi(long long x, long long y) {
  __extension__ using Wide = __int128;
  return (long long)(Wide(x) * y >> 64);
}
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  __extension__ using Wide = unsigned __int128;
  return (unsigned long long)(Wide(x) * y >> 64);
}
/// |x - y| + z.
inline unsigned __sad(int x, int y, unsigned z) { return z + unsigned(x > y ? unsigned(x) - y : unsigned(y) - x); }
inline unsigned __usad(unsigned x, unsigned y, unsigned z) { return z + (x > y ? x - y : y - x); }
/// Averages without overflow: rounded down, and (r) up.
inline int __hadd(int x, int y) { return int((std::int64_t(x) + y) >> 1); }
inline int __rhadd(int x, int y) { return int((std::int64_t(x) + y + 1) >> 1); }
inline unsigned __uhadd(unsigned x, unsigned y) { return unsigned((std::uint64_t(x) + y) >> 1); }
inline unsigned __urhadd(unsigned x, unsigned y) { return unsigned((std::uint64_t(x) + y + 1) >> 1); }

// --- minimum and maximum, for the pairs of types that CUDA has; other pairs are ambiguous under CUDA too ---

namespace simt {

/// What a device makes of two NaNs, as an H100 does: a certain float; of doubles the first one, as a quiet NaN.
inline float not_a_number(float) { return bit_cast<float>(0x7fffffffu); }
inline double not_a_number(double first) {
  return bit_cast<double>(bit_cast<std::uint64_t>(first) | std::uint64_t(1) << 51);
}

/// As on a device (PTX ISA, "min"): of a number and a NaN the number, and -0 is smaller than +0.
template <class Float>
inline Float smaller(Float a, Float b) {
  if (b != b) return a != a ? not_a_number(a) : a;
  return a < b || (a == b && __builtin_signbit(a)) ? a : b;
}
template <class Float>
inline Float larger(Float a, Float b) {
  if (b != b) return a != a ? not_a_number(a) : a;
  return a > b || (a == b && !__builtin_signbit(a)) ? a : b;
}

}  // namespace simt

#define SIMT_EXTREME_OF_INTEGERS(name, before, Signed, Unsigned)                \
  inline Signed name(Signed a, Signed b) { return a before b ? a : b; }         \
  inline Unsigned name(Unsigned a, Unsigned b) { return a before b ? a : b; }   \
  inline Unsigned name(Signed a, Unsigned b) { return name((Unsigned)(a), b); } \
  inline Unsigned name(Unsigned a, Signed b) { return name(a, (Unsigned)(b)); }
#define SIMT_EXTREME(name, before, of_floats)                                     \
  SIMT_EXTREME_OF_INTEGERS(name, before, int, unsigned)                           \
  SIMT_EXTREME_OF_INTEGERS(name, before, long, unsigned long)                     \
  SIMT_EXTREME_OF_INTEGERS(name, before, long long, unsigned long long)           \
  inline float name(float a, float b) { return simt::of_floats(a, b); }           \
  inline double name(double a, double b) { return simt::of_floats(a, b); }        \
  inline double name(float a, double b) { return simt::of_floats<double>(a, b); } \
  inline double name(double a, float b) { return simt::of_floats<double>(a, b); } \
  inline unsigned u##name(unsigned a, unsigned b) { return name(a, b); }          \
  inline long long ll##name(long long a, long long b) { return name(a, b); }      \
  inline unsigned long long ull##name(unsigned long long a, unsigned long long b) { return name(a, b); }

SIMT_EXTREME(min, <, smaller)
SIMT_EXTREME(max, >, larger)

#undef SIMT_EXTREME
#undef SIMT_EXTREME_OF_INTEGERS

// --- bits of floating-point numbers ---

inline int __float_as_int(float x) { return simt::bit_cast<int>(x); }
inline unsigned __float_as_uint(float x) { return simt::bit_cast<unsigned>(x); }
inline float __int_as_float(int x) { return simt::bit_cast<float>(x); }
inline float __uint_as_float(unsigned x) { return simt::bit_cast<float>(x); }
inline long long __double_as_longlong(double x) { return simt::bit_cast<long long>(x); }
inline double __longlong_as_double(long long x) { return simt::bit_cast<double>(x); }
inline int __double2hiint(double x) { return int(simt::bit_cast<std::uint64_t>(x) >> 32); }
inline int __double2loint(double x) { return int(simt::bit_cast<std::uint64_t>(x)); }
inline double __hiloint2double(int high, int low) {
  return simt::bit_cast<double>(std::uint64_t(unsigned(high)) << 32 | unsigned(low));
}

// --- floating-point arithmetic, rounded to nearest even ---

inline float __fadd_rn(float x, float y) { return x + y; }
inline float __fsub_rn(float x, float y) { return x - y; }
inline float __fmul_rn(float x, float y) { return x * y; }
inline float __fdiv_rn(float x, float y) { return x / y; }
inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
inline float __frcp_rn(float x) { return 1 / x; }
inline float __fsqrt_rn(float x) { return sqrtf(x); }
inline float __frsqrt_rn(float x) { return float(1 / sqrt(double(x))); }
inline double __dadd_rn(double x, double y) { return x + y; }
inline double __dsub_rn(double x, double y) { return x - y; }
inline double __dmul_rn(double x, double y) { return x * y; }
inline double __ddiv_rn(double x, double y) { return x / y; }
inline double __fma_rn(double x, double y, double z) { return fma(x, y, z); }
inline double __drcp_rn(double x) { return 1 / x; }
inline double __dsqrt_rn(double x) { return sqrt(x); }

/// Clamped to [0, 1]; 0 for a NaN.
inline float __saturatef(float x) { return x >= 1 ? 1 : x > 0 ? x : 0; }
inline float __fdividef(float x, float y) { return x / y; }
inline float fdividef(float x, float y) { return x / y; }

// noexcept, because glibc also declares some of these names.
inline float __expf(float x) noexcept { return expf(x); }
inline float __exp10f(float x) noexcept { return exp10f(x); }
inline float __logf(float x) noexcept { return logf(x); }
inline float __log2f(float x) noexcept { return log2f(x); }
inline float __log10f(float x) noexcept { return log10f(x); }
inline float __powf(float x, float y) noexcept { return powf(x, y); }
inline float __sinf(float x) noexcept { return sinf(x); }
inline float __cosf(float x) noexcept { return cosf(x); }
inline float __tanf(float x) noexcept { return tanf(x); }
inline void __sincosf(float x, float* sine, float* cosine) noexcept {
  *sine = sinf(x);
  *cosine = cosf(x);
}

inline float rsqrtf(float x) noexcept { return float(1 / sqrt(double(x))); }
inline double rsqrt(double x) noexcept { return 1 / sqrt(x); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline float rcbrtf(float x) { return float(1 / cbrt(double(x))); }
inline double rcbrt(double x) { return 1 / cbrt(x); }

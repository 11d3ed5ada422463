// Integer, conversion and floating-point intrinsics, cache-hinted loads and stores, and the functions that CUDA puts in
// the global namespace (CUDA C++ Programming Guide, "Mathematical Functions"; CUDA Math API, "Integer Intrinsics",
// "Type Casting Intrinsics"). The fast approximations (__expf ...) give the exact functions' results here.
#pragma once

#include <math.h>

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "simt/device.h"
#include "simt/types.h"

// --- bits ---

inline int __popc(unsigned x) { return std::popcount(x); }
inline int __popcll(unsigned long long x) { return std::popcount(x); }
/// Leading zeros; 32 (64) for 0.
inline int __clz(int x) { return std::countl_zero(unsigned(x)); }
inline int __clzll(long long x) { return std::countl_zero((unsigned long long)(x)); }
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

/// Picks four of the eight bytes of y:x by the low three bits of each digit of `selector`; a digit's bit 3 spreads the
/// picked byte's sign instead.
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const std::uint64_t bytes = std::uint64_t(y) << 32 | x;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned digit = selector >> 4 * i & 15;
    unsigned byte = unsigned(bytes >> 8 * (digit & 7)) & 0xff;
    if ((digit & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
    result |= byte << 8 * i;
  }
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

// --- minimum and maximum, for the pairs of types that CUDA has; other pairs are ambiguous there, too ---

inline int min(int a, int b) { return a < b ? a : b; }
inline unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
inline unsigned min(int a, unsigned b) { return min((unsigned)(a), (unsigned)(b)); }
inline unsigned min(unsigned a, int b) { return min((unsigned)(a), (unsigned)(b)); }
inline long min(long a, long b) { return a < b ? a : b; }
inline unsigned long min(unsigned long a, unsigned long b) { return a < b ? a : b; }
inline unsigned long min(long a, unsigned long b) { return min((unsigned long)(a), (unsigned long)(b)); }
inline unsigned long min(unsigned long a, long b) { return min((unsigned long)(a), (unsigned long)(b)); }
inline long long min(long long a, long long b) { return a < b ? a : b; }
inline unsigned long long min(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
inline unsigned long long min(long long a, unsigned long long b) {
  return min((unsigned long long)(a), (unsigned long long)(b));
}
inline unsigned long long min(unsigned long long a, long long b) {
  return min((unsigned long long)(a), (unsigned long long)(b));
}
inline float min(float a, float b) { return fminf(a, b); }  // of a number and a NaN: the number
inline double min(double a, double b) { return fmin(a, b); }
inline double min(float a, double b) { return fmin(a, b); }
inline double min(double a, float b) { return fmin(a, b); }
inline unsigned umin(unsigned a, unsigned b) { return min(a, b); }
inline long long llmin(long long a, long long b) { return min(a, b); }
inline unsigned long long ullmin(unsigned long long a, unsigned long long b) { return min(a, b); }

inline int max(int a, int b) { return a > b ? a : b; }
inline unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }
inline unsigned max(int a, unsigned b) { return max((unsigned)(a), (unsigned)(b)); }
inline unsigned max(unsigned a, int b) { return max((unsigned)(a), (unsigned)(b)); }
inline long max(long a, long b) { return a > b ? a : b; }
inline unsigned long max(unsigned long a, unsigned long b) { return a > b ? a : b; }
inline unsigned long max(long a, unsigned long b) { return max((unsigned long)(a), (unsigned long)(b)); }
inline unsigned long max(unsigned long a, long b) { return max((unsigned long)(a), (unsigned long)(b)); }
inline long long max(long long a, long long b) { return a > b ? a : b; }
inline unsigned long long max(unsigned long long a, unsigned long long b) { return a > b ? a : b; }
inline unsigned long long max(long long a, unsigned long long b) {
  return max((unsigned long long)(a), (unsigned long long)(b));
}
inline unsigned long long max(unsigned long long a, long long b) {
  return max((unsigned long long)(a), (unsigned long long)(b));
}
inline float max(float a, float b) { return fmaxf(a, b); }  // of a number and a NaN: the number
inline double max(double a, double b) { return fmax(a, b); }
inline double max(float a, double b) { return fmax(a, b); }
inline double max(double a, float b) { return fmax(a, b); }
inline unsigned umax(unsigned a, unsigned b) { return max(a, b); }
inline long long llmax(long long a, long long b) { return max(a, b); }
inline unsigned long long ullmax(unsigned long long a, unsigned long long b) { return max(a, b); }

// --- bits of floating-point numbers ---

inline int __float_as_int(float x) { return std::bit_cast<int>(x); }
inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline float __int_as_float(int x) { return std::bit_cast<float>(x); }
inline float __uint_as_float(unsigned x) { return std::bit_cast<float>(x); }
inline long long __double_as_longlong(double x) { return std::bit_cast<long long>(x); }
inline double __longlong_as_double(long long x) { return std::bit_cast<double>(x); }
inline int __double2hiint(double x) { return int(std::bit_cast<std::uint64_t>(x) >> 32); }
inline int __double2loint(double x) { return int(std::bit_cast<std::uint64_t>(x)); }
inline double __hiloint2double(int high, int low) {
  return std::bit_cast<double>(std::uint64_t(unsigned(high)) << 32 | unsigned(low));
}

// --- conversions; _rn to nearest even, _rz to zero, _ru up, _rd down ---

namespace simt {

/// As on a device (PTX ISA, "cvt"): beyond an integer's range comes its nearest end, and for a NaN 0, or only the
/// highest bit if either type has 64 bits.
template <class Integer, class Float>
Integer to_integer(Float rounded) {
  using Limits = std::numeric_limits<Integer>;
  if (rounded != rounded) {
    return sizeof(Integer) == 8 || sizeof(Float) == 8 ? Integer(std::uint64_t(1) << (8 * sizeof(Integer) - 1)) : 0;
  }
  if (rounded <= Float(Limits::min())) return Limits::min();
  if (rounded >= Float(Limits::max())) return Limits::max();
  return Integer(rounded);
}

/// The Float next to `x` in `direction`, or `x` itself if it is one. `Exact` holds every x and every Float exactly.
template <class Float, class Exact>
Float round_up(Exact x) {
  const Float near = Float(x);
  return Exact(near) < x ? std::nextafter(near, std::numeric_limits<Float>::infinity()) : near;
}
template <class Float, class Exact>
Float round_down(Exact x) {
  return -round_up<Float>(-x);
}

}  // namespace simt

inline int __float2int_rn(float x) { return simt::to_integer<int>(nearbyintf(x)); }
inline int __float2int_rz(float x) { return simt::to_integer<int>(truncf(x)); }
inline int __float2int_ru(float x) { return simt::to_integer<int>(ceilf(x)); }
inline int __float2int_rd(float x) { return simt::to_integer<int>(floorf(x)); }
inline unsigned __float2uint_rn(float x) { return simt::to_integer<unsigned>(nearbyintf(x)); }
inline unsigned __float2uint_rz(float x) { return simt::to_integer<unsigned>(truncf(x)); }
inline unsigned __float2uint_ru(float x) { return simt::to_integer<unsigned>(ceilf(x)); }
inline unsigned __float2uint_rd(float x) { return simt::to_integer<unsigned>(floorf(x)); }
inline long long __float2ll_rn(float x) { return simt::to_integer<long long>(nearbyintf(x)); }
inline long long __float2ll_rz(float x) { return simt::to_integer<long long>(truncf(x)); }
inline long long __float2ll_ru(float x) { return simt::to_integer<long long>(ceilf(x)); }
inline long long __float2ll_rd(float x) { return simt::to_integer<long long>(floorf(x)); }
inline unsigned long long __float2ull_rn(float x) { return simt::to_integer<unsigned long long>(nearbyintf(x)); }
inline unsigned long long __float2ull_rz(float x) { return simt::to_integer<unsigned long long>(truncf(x)); }
inline unsigned long long __float2ull_ru(float x) { return simt::to_integer<unsigned long long>(ceilf(x)); }
inline unsigned long long __float2ull_rd(float x) { return simt::to_integer<unsigned long long>(floorf(x)); }
inline int __double2int_rn(double x) { return simt::to_integer<int>(nearbyint(x)); }
inline int __double2int_rz(double x) { return simt::to_integer<int>(trunc(x)); }
inline int __double2int_ru(double x) { return simt::to_integer<int>(ceil(x)); }
inline int __double2int_rd(double x) { return simt::to_integer<int>(floor(x)); }
inline unsigned __double2uint_rn(double x) { return simt::to_integer<unsigned>(nearbyint(x)); }
inline unsigned __double2uint_rz(double x) { return simt::to_integer<unsigned>(trunc(x)); }
inline unsigned __double2uint_ru(double x) { return simt::to_integer<unsigned>(ceil(x)); }
inline unsigned __double2uint_rd(double x) { return simt::to_integer<unsigned>(floor(x)); }
inline long long __double2ll_rn(double x) { return simt::to_integer<long long>(nearbyint(x)); }
inline long long __double2ll_rz(double x) { return simt::to_integer<long long>(trunc(x)); }
inline long long __double2ll_ru(double x) { return simt::to_integer<long long>(ceil(x)); }
inline long long __double2ll_rd(double x) { return simt::to_integer<long long>(floor(x)); }
inline unsigned long long __double2ull_rn(double x) { return simt::to_integer<unsigned long long>(nearbyint(x)); }
inline unsigned long long __double2ull_rz(double x) { return simt::to_integer<unsigned long long>(trunc(x)); }
inline unsigned long long __double2ull_ru(double x) { return simt::to_integer<unsigned long long>(ceil(x)); }
inline unsigned long long __double2ull_rd(double x) { return simt::to_integer<unsigned long long>(floor(x)); }

// Integers and doubles to float (long double holds 64-bit integers exactly on x86-64 and AArch64).
inline float __int2float_rn(int x) { return float(x); }
inline float __int2float_ru(int x) { return simt::round_up<float>(double(x)); }
inline float __int2float_rd(int x) { return simt::round_down<float>(double(x)); }
inline float __int2float_rz(int x) { return x < 0 ? __int2float_ru(x) : __int2float_rd(x); }
inline float __uint2float_rn(unsigned x) { return float(x); }
inline float __uint2float_ru(unsigned x) { return simt::round_up<float>(double(x)); }
inline float __uint2float_rd(unsigned x) { return simt::round_down<float>(double(x)); }
inline float __uint2float_rz(unsigned x) { return __uint2float_rd(x); }
inline float __ll2float_rn(long long x) { return float(x); }
inline float __ll2float_ru(long long x) { return simt::round_up<float>((long double)(x)); }
inline float __ll2float_rd(long long x) { return simt::round_down<float>((long double)(x)); }
inline float __ll2float_rz(long long x) { return x < 0 ? __ll2float_ru(x) : __ll2float_rd(x); }
inline float __ull2float_rn(unsigned long long x) { return float(x); }
inline float __ull2float_ru(unsigned long long x) { return simt::round_up<float>((long double)(x)); }
inline float __ull2float_rd(unsigned long long x) { return simt::round_down<float>((long double)(x)); }
inline float __ull2float_rz(unsigned long long x) { return __ull2float_rd(x); }
inline float __double2float_rn(double x) { return float(x); }
inline float __double2float_ru(double x) { return simt::round_up<float>(double(x)); }
inline float __double2float_rd(double x) { return simt::round_down<float>(double(x)); }
inline float __double2float_rz(double x) { return x < 0 ? __double2float_ru(x) : __double2float_rd(x); }
inline double __int2double_rn(int x) { return x; }
inline double __uint2double_rn(unsigned x) { return x; }
inline double __ll2double_rn(long long x) { return double(x); }
inline double __ll2double_ru(long long x) { return simt::round_up<double>((long double)(x)); }
inline double __ll2double_rd(long long x) { return simt::round_down<double>((long double)(x)); }
inline double __ll2double_rz(long long x) { return x < 0 ? __ll2double_ru(x) : __ll2double_rd(x); }
inline double __ull2double_rn(unsigned long long x) { return double(x); }
inline double __ull2double_ru(unsigned long long x) { return simt::round_up<double>((long double)(x)); }
inline double __ull2double_rd(unsigned long long x) { return simt::round_down<double>((long double)(x)); }
inline double __ull2double_rz(unsigned long long x) { return __ull2double_rd(x); }

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

// noexcept, because glibc declares some of these names, too.
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

// --- loads and stores with a cache hint ---

namespace simt {

template <class T, class... Choices>
concept OneOf = (std::same_as<T, Choices> || ...);

/// What one load or store instruction moves.
template <class T>
concept Loadable = OneOf<T, char, signed char, unsigned char, short, unsigned short, int, unsigned, long, unsigned long,
                         long long, unsigned long long, float, double, char2, char4, uchar2, uchar4, short2, short4,
                         ushort2, ushort4, int2, int4, uint2, uint4, longlong2, ulonglong2, float2, float4, double2>;

/// A load that the compiler may not merge with an earlier one, as a loop that waits for another block needs it.
template <class T>
T load_anew(const T* address) {
  asm volatile("" ::: "memory");
  atomic_yield();
  return *address;
}

}  // namespace simt

template <simt::Loadable T>
inline T __ldg(const T* address) {
  return *address;
}
template <simt::Loadable T>
inline T __ldca(const T* address) {
  return *address;
}
template <simt::Loadable T>
inline T __ldcs(const T* address) {
  return *address;
}
template <simt::Loadable T>
inline T __ldlu(const T* address) {
  return *address;
}
template <simt::Loadable T>
inline T __ldcg(const T* address) {
  return simt::load_anew(address);
}
template <simt::Loadable T>
inline T __ldcv(const T* address) {
  return simt::load_anew(address);
}
template <simt::Loadable T>
inline void __stwb(T* address, std::type_identity_t<T> value) {
  *address = value;
}
template <simt::Loadable T>
inline void __stcg(T* address, std::type_identity_t<T> value) {
  *address = value;
}
template <simt::Loadable T>
inline void __stcs(T* address, std::type_identity_t<T> value) {
  *address = value;
}
template <simt::Loadable T>
inline void __stwt(T* address, std::type_identity_t<T> value) {
  *address = value;
}

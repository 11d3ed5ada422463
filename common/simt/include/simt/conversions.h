// Conversions between types of numbers with a given rounding (CUDA Math API, "Type Casting Intrinsics"): _rn to nearest
// even, _rz to zero, _ru up, _rd down.
#pragma once

#include <math.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace simt {

/// As on a device (PTX ISA, "cvt"): a value beyond the integer's range becomes the nearest end of the range; a NaN
/// becomes 0, or only the highest bit if either type has 64 bits.
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

/// The smallest Float that is not less than `x`. `Exact` represents every x and every Float.
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

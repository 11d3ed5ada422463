// Conversions between types of numbers with a given rounding (CUDA Math API, "Type Casting Intrinsics"): _rn to nearest
// even, _rz to zero, _ru up, _rd down.
#pragma once

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
template <class Float, class Exact>
Float round_to_zero(Exact x) {
  return x < 0 ? round_up<Float>(x) : round_down<Float>(x);
}

}  // namespace simt

#define SIMT_TO_INTEGER(name, Integer, Float)                                                \
  inline Integer name##_rn(Float x) { return simt::to_integer<Integer>(std::nearbyint(x)); } \
  inline Integer name##_rz(Float x) { return simt::to_integer<Integer>(std::trunc(x)); }     \
  inline Integer name##_ru(Float x) { return simt::to_integer<Integer>(std::ceil(x)); }      \
  inline Integer name##_rd(Float x) { return simt::to_integer<Integer>(std::floor(x)); }

SIMT_TO_INTEGER(__float2int, int, float)
SIMT_TO_INTEGER(__float2uint, unsigned, float)
SIMT_TO_INTEGER(__float2ll, long long, float)
SIMT_TO_INTEGER(__float2ull, unsigned long long, float)
SIMT_TO_INTEGER(__double2int, int, double)
SIMT_TO_INTEGER(__double2uint, unsigned, double)
SIMT_TO_INTEGER(__double2ll, long long, double)
SIMT_TO_INTEGER(__double2ull, unsigned long long, double)

#define SIMT_TO_FLOAT(name, Float, Number, Exact)                                   \
  inline Float name##_rn(Number x) { return Float(x); }                             \
  inline Float name##_rz(Number x) { return simt::round_to_zero<Float, Exact>(x); } \
  inline Float name##_ru(Number x) { return simt::round_up<Float, Exact>(x); }      \
  inline Float name##_rd(Number x) { return simt::round_down<Float, Exact>(x); }

// long double represents 64-bit integers exactly on x86-64 and AArch64.
SIMT_TO_FLOAT(__int2float, float, int, double)
SIMT_TO_FLOAT(__uint2float, float, unsigned, double)
SIMT_TO_FLOAT(__ll2float, float, long long, long double)
SIMT_TO_FLOAT(__ull2float, float, unsigned long long, long double)
SIMT_TO_FLOAT(__double2float, float, double, double)
SIMT_TO_FLOAT(__ll2double, double, long long, long double)
SIMT_TO_FLOAT(__ull2double, double, unsigned long long, long double)
inline double __int2double_rn(int x) { return x; }
inline double __uint2double_rn(unsigned x) { return x; }

#undef SIMT_TO_INTEGER
#undef SIMT_TO_FLOAT

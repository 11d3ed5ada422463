// Floating-point numbers of 16 bits (CUDA Math API, "Half Precision Intrinsics" and "Bfloat16 Precision Intrinsics"),
// for cuda_fp16.h and cuda_bf16.h. A result is computed in double precision, which has digits enough that rounding it
// once, to the nearest even number, gives what a device gives. Only elementary functions (hexp ...) may differ from a
// device's in the last bit.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "simt/atomic.h"
#include "simt/conversions.h"
#include "simt/device.h"
#include "simt/intrinsics.h"
#include "simt/loads.h"
#include "simt/types.h"

namespace simt {

/// a * b + c, where the product is exact. If the sum is not, the last bit of the result is 1, so that rounding it to fewer
/// bits gives what rounding the exact sum would give (S. Boldo and G. Melquiond, "Emulation of FMA and correctly rounded
/// sums: proved algorithms using rounding to odd", IEEE Transactions on Computers 57(4), 2008).
inline double fma_to_odd(double a, double b, double c) {
  const double product = a * b, sum = product + c;
  const double added = sum - product, error = (product - (sum - added)) + (c - added);
  const bool is_exact = !(error < 0) && !(error > 0);  // also if it is not a number
  if (is_exact || (bit_cast<std::uint64_t>(sum) & 1) != 0) return sum;
  return std::nextafter(sum, error > 0 ? HUGE_VAL : -HUGE_VAL);
}

enum class Rounding { nearest, zero, up, down };

/// The bits of `x` in a format of a sign, `exponent_bits` and a fraction. Every NaN becomes 0x7fff, as on a device.
template <int exponent_bits>
std::uint16_t to_small(double x, Rounding rounding = Rounding::nearest) {
  constexpr int fraction_bits = 15 - exponent_bits;
  constexpr int smallest = 2 - (1 << (exponent_bits - 1));  // exponent of a normal number
  constexpr int infinity = ((1 << exponent_bits) - 1) << fraction_bits;
  if (x != x) return 0x7fff;
  const int sign = std::signbit(x) ? 0x8000 : 0;
  if (std::isinf(x)) return std::uint16_t(sign | infinity);
  const int exponent = min(max(std::ilogb(x), smallest), 1 - smallest);
  const double units = std::scalbn(std::fabs(x), fraction_bits - exponent);
  const bool away = rounding == (sign != 0 ? Rounding::down : Rounding::up);
  const double kept = rounding == Rounding::nearest ? std::nearbyint(units)
                      : away                        ? std::ceil(units)
                                                    : std::floor(units);
  // If the fraction overflows, the carry goes into the exponent, as it must.
  const double bits = std::scalbn(exponent - smallest, fraction_bits) + kept;
  if (bits < infinity) return std::uint16_t(sign | int(bits));
  return std::uint16_t(sign | (away || rounding == Rounding::nearest ? infinity : infinity - 1));
}

/// The number that the bits mean. Of 5 bits of exponent, every NaN becomes the same one, as on a device.
template <int exponent_bits>
float from_small(std::uint16_t bits) {
  if constexpr (exponent_bits == 8) return bit_cast<float>(unsigned(bits) << 16);
  constexpr int fraction_bits = 15 - exponent_bits;
  constexpr unsigned rebiased = (128 - (1u << (exponent_bits - 1))) << 23;
  constexpr unsigned infinity = ((1u << exponent_bits) - 1) << fraction_bits;
  const unsigned sign = (bits & 0x8000u) << 16;
  const unsigned size = bits & 0x7fffu;
  if (size > infinity) return bit_cast<float>(0x7fffffffu);
  if (size == infinity) return bit_cast<float>(sign | 0x7f800000u);
  // A float whose exponent is too small by the difference of the biases; the product is exact, also of subnormal ones.
  const float scaled = bit_cast<float>(size << (23 - fraction_bits)) * bit_cast<float>(rebiased + 0x3f800000u);
  return bit_cast<float>(sign | bit_cast<unsigned>(scaled));
}

/// An integer of 64 bits as a double. What does not fit sets the last bit, so that rounding once more is right.
template <class Integer>
double with_sticky_bit(Integer x) {
  if constexpr (sizeof(Integer) < 8) {
    return x;
  } else {
    constexpr Integer low = (1 << 11) - 1;
    const bool fits = x < 0 ? x > -(Integer(1) << 52) : x < Integer(1) << 52;
    return double(fits ? x : Integer((x & ~low) | ((x & low) != 0 ? low + 1 : 0)));
  }
}

/// What __half and __nv_bfloat16 have in common; `Self` is one of them. The functions exist for Self, and for what
/// converts to it, as CUDA's do.
template <class Self, int exponent_bits>
class alignas(2) SmallFloat {
 public:
  SmallFloat() = default;
  template <class Number, std::enable_if_t<std::is_arithmetic_v<Number>, int> = 0>
  SmallFloat(Number x) : bits_(to_small<exponent_bits>(with_sticky_bit(x))) {}
  SmallFloat(float x) : bits_(to_small<exponent_bits>(x)) {}
  SmallFloat(double x) : bits_(to_small<exponent_bits>(x)) {}

  template <class Number, std::enable_if_t<std::is_arithmetic_v<Number>, int> = 0>
  operator Number() const {
    const float x = from_small<exponent_bits>(bits_);
    if constexpr (std::is_same_v<Number, bool>)
      return x != 0;
    else if constexpr (std::is_integral_v<Number>)
      return to_integer<Number>(std::trunc(x));
    else
      return x;
  }

  static Self of_bits(std::uint16_t bits) {
    Self x;
    x.bits_ = bits;
    return x;
  }
  static Self of(double x, Rounding rounding = Rounding::nearest) {
    return of_bits(to_small<exponent_bits>(x, rounding));
  }
  std::uint16_t bits() const { return bits_; }

  // --- arithmetic ---
  friend Self operator+(Self a, Self b) { return of(double(a) + double(b)); }
  friend Self operator-(Self a, Self b) { return of(double(a) - double(b)); }
  friend Self operator*(Self a, Self b) { return of(double(a) * double(b)); }
  friend Self operator/(Self a, Self b) { return of(double(a) / double(b)); }
  friend Self operator+(Self a) { return a; }
  friend Self operator-(Self a) { return of_bits(a != a ? 0x7fff : a.bits_ ^ 0x8000); }
  friend Self& operator+=(Self& a, Self b) { return a = a + b; }
  friend Self& operator-=(Self& a, Self b) { return a = a - b; }
  friend Self& operator*=(Self& a, Self b) { return a = a * b; }
  friend Self& operator/=(Self& a, Self b) { return a = a / b; }
  friend Self& operator++(Self& a) { return a = a + Self(1.0f); }
  friend Self& operator--(Self& a) { return a = a - Self(1.0f); }
  friend Self operator++(Self& a, int) { return std::exchange(a, a + Self(1.0f)); }
  friend Self operator--(Self& a, int) { return std::exchange(a, a - Self(1.0f)); }

  // --- comparison: ordered, and (u) true also if one is a NaN ---
#define SIMT_COMPARE(name, compare)                                                  \
  friend bool operator compare(Self a, Self b) { return float(a) compare float(b); } \
  friend bool __h##name(Self a, Self b) { return a == a && b == b && a compare b; }  \
  friend bool __h##name##u(Self a, Self b) { return a != a || b != b || a compare b; }
  SIMT_COMPARE(eq, ==)
  SIMT_COMPARE(ne, !=)
  SIMT_COMPARE(lt, <)
  SIMT_COMPARE(le, <=)
  SIMT_COMPARE(gt, >)
  SIMT_COMPARE(ge, >=)
#undef SIMT_COMPARE
  friend bool __hisnan(Self a) { return a != a; }
  friend int __hisinf(Self a) { return std::isinf(float(a)) ? (a.bits_ >> 15 != 0 ? -1 : 1) : 0; }

  // --- arithmetic by name; _rn: not contracted to a fused multiply-add, _sat: clamped to [0, 1], _relu: at least 0 ---
#define SIMT_ARITHMETIC(name, operation)                               \
  friend Self __h##name(Self a, Self b) { return a operation b; }      \
  friend Self __h##name##_rn(Self a, Self b) { return a operation b; } \
  friend Self __h##name##_sat(Self a, Self b) { return __saturatef(a operation b); }
  SIMT_ARITHMETIC(add, +)
  SIMT_ARITHMETIC(sub, -)
  SIMT_ARITHMETIC(mul, *)
#undef SIMT_ARITHMETIC
  friend Self __hdiv(Self a, Self b) { return a / b; }
  friend Self __hneg(Self a) { return -a; }
  friend Self __habs(Self a) { return of_bits(a != a ? 0x7fff : a.bits_ & 0x7fff); }
  friend Self __hfma(Self a, Self b, Self c) { return of(fma_to_odd(double(a), double(b), double(c))); }
  friend Self __hfma_sat(Self a, Self b, Self c) { return __saturatef(__hfma(a, b, c)); }
  friend Self __hfma_relu(Self a, Self b, Self c) { return __hmax_nan(__hfma(a, b, c), Self(0)); }

  // Of a number and a NaN the number, or (_nan) the NaN.
#define SIMT_EXTREME(name, of_floats)                                        \
  friend Self name(Self a, Self b) { return of_floats(float(a), float(b)); } \
  friend Self name##_nan(Self a, Self b) { return a == a && b == b ? name(a, b) : of_bits(0x7fff); }
  SIMT_EXTREME(__hmax, larger)
  SIMT_EXTREME(__hmin, smaller)
#undef SIMT_EXTREME

#define SIMT_FUNCTION(name, value) \
  friend Self name(Self a) {       \
    const double x = a;            \
    return of(value);              \
  }
  SIMT_FUNCTION(hceil, ceil(x))
  SIMT_FUNCTION(hfloor, floor(x))
  SIMT_FUNCTION(htrunc, trunc(x))
  SIMT_FUNCTION(hrint, nearbyint(x))
  SIMT_FUNCTION(hsqrt, sqrt(x))
  SIMT_FUNCTION(hrsqrt, 1 / sqrt(x))
  SIMT_FUNCTION(hrcp, 1 / x)
  SIMT_FUNCTION(hexp, exp(x))
  SIMT_FUNCTION(hexp2, exp2(x))
  SIMT_FUNCTION(hexp10, exp10(x))
  SIMT_FUNCTION(hlog, log(x))
  SIMT_FUNCTION(hlog2, log2(x))
  SIMT_FUNCTION(hlog10, log10(x))
  SIMT_FUNCTION(hsin, sin(x))
  SIMT_FUNCTION(hcos, cos(x))
  SIMT_FUNCTION(htanh, tanh(x))
#undef SIMT_FUNCTION

 private:
  std::uint16_t bits_;
};

/// What __half2 and __nv_bfloat162 have in common: two numbers, and functions that work on each of them.
template <class Self, class Number>
struct alignas(4) SmallFloatPair {
  Number x, y;

  SmallFloatPair() = default;
  SmallFloatPair(Number x, Number y) : x(x), y(y) {}

#define SIMT_OF_1(name, function) \
  friend Self name(Self a) { return {function(a.x), function(a.y)}; }
#define SIMT_OF_2(name, function) \
  friend Self name(Self a, Self b) { return {function(a.x, b.x), function(a.y, b.y)}; }
#define SIMT_OF_3(name, function) \
  friend Self name(Self a, Self b, Self c) { return {function(a.x, b.x, c.x), function(a.y, b.y, c.y)}; }
#define SIMT_OPERATOR(operation, function) \
  SIMT_OF_2(operator operation, function)  \
  friend Self& operator operation##=(Self & a, Self b) { return a = a operation b; }
#define SIMT_ARITHMETIC(name)                \
  SIMT_OF_2(__h##name##2, __h##name)         \
  SIMT_OF_2(__h##name##2_rn, __h##name##_rn) \
  SIMT_OF_2(__h##name##2_sat, __h##name##_sat)
  SIMT_OPERATOR(+, __hadd)
  SIMT_OPERATOR(-, __hsub)
  SIMT_OPERATOR(*, __hmul)
  SIMT_OPERATOR(/, __hdiv)
  SIMT_ARITHMETIC(add)
  SIMT_ARITHMETIC(sub)
  SIMT_ARITHMETIC(mul)
  SIMT_OF_2(__h2div, __hdiv)
  SIMT_OF_1(operator-, __hneg)
  SIMT_OF_1(__hneg2, __hneg)
  SIMT_OF_1(__habs2, __habs)
  SIMT_OF_3(__hfma2, __hfma)
  SIMT_OF_3(__hfma2_sat, __hfma_sat)
  SIMT_OF_3(__hfma2_relu, __hfma_relu)
  SIMT_OF_2(__hmax2, __hmax)
  SIMT_OF_2(__hmin2, __hmin)
  SIMT_OF_2(__hmax2_nan, __hmax_nan)
  SIMT_OF_2(__hmin2_nan, __hmin_nan)
  SIMT_OF_1(__hisnan2, __hisnan)

  // For each number 1 or 0; all ones or zeros (_mask); whether it is so of both (__hb...).
#define SIMT_COMPARE_ONE(name)                                                                     \
  SIMT_OF_2(__h##name##2, __h##name)                                                               \
  friend bool __hb##name##2(Self a, Self b) { return __h##name(a.x, b.x) && __h##name(a.y, b.y); } \
  friend unsigned __h##name##2_mask(Self a, Self b) {                                              \
    return (__h##name(a.x, b.x) ? 0xffffu : 0u) | (__h##name(a.y, b.y) ? 0xffff0000u : 0u);        \
  }
#define SIMT_COMPARE(name, compare) \
  SIMT_COMPARE_ONE(name)            \
  SIMT_COMPARE_ONE(name##u)         \
  friend bool operator compare(Self a, Self b) { return __hb##name##2(a, b); }
  SIMT_COMPARE(eq, ==)
  SIMT_COMPARE(lt, <)
  SIMT_COMPARE(le, <=)
  SIMT_COMPARE(gt, >)
  SIMT_COMPARE(ge, >=)
  SIMT_COMPARE_ONE(ne)
  SIMT_COMPARE_ONE(neu)
  friend bool operator!=(Self a, Self b) { return __hbneu2(a, b); }  // both differ

#define SIMT_FUNCTION(name) SIMT_OF_1(h2##name, h##name)
  SIMT_FUNCTION(ceil)
  SIMT_FUNCTION(floor)
  SIMT_FUNCTION(trunc)
  SIMT_FUNCTION(rint)
  SIMT_FUNCTION(sqrt)
  SIMT_FUNCTION(rsqrt)
  SIMT_FUNCTION(rcp)
  SIMT_FUNCTION(exp)
  SIMT_FUNCTION(exp2)
  SIMT_FUNCTION(exp10)
  SIMT_FUNCTION(log)
  SIMT_FUNCTION(log2)
  SIMT_FUNCTION(log10)
  SIMT_FUNCTION(sin)
  SIMT_FUNCTION(cos)
  SIMT_FUNCTION(tanh)
#undef SIMT_FUNCTION
#undef SIMT_COMPARE
#undef SIMT_COMPARE_ONE
#undef SIMT_ARITHMETIC
#undef SIMT_OPERATOR
#undef SIMT_OF_1
#undef SIMT_OF_2
#undef SIMT_OF_3
};

}  // namespace simt

// --- the functions whose names say the type; `name` is half or bfloat16, `pair` half2 or bfloat162 ---

/// Between T and integers. All four roundings.
#define SIMT_INTEGER_CONVERSION(T, name, integer, Integer, suffix, rounding, round)                       \
  inline Integer __##name##2##integer##suffix(T x) { return simt::to_integer<Integer>(round(float(x))); } \
  inline T __##integer##2##name##suffix(Integer x) { return T::of(simt::with_sticky_bit(x), simt::Rounding::rounding); }
#define SIMT_INTEGER_CONVERSIONS(T, name, integer, Integer)                        \
  SIMT_INTEGER_CONVERSION(T, name, integer, Integer, _rn, nearest, std::nearbyint) \
  SIMT_INTEGER_CONVERSION(T, name, integer, Integer, _rz, zero, std::trunc)        \
  SIMT_INTEGER_CONVERSION(T, name, integer, Integer, _ru, up, std::ceil)           \
  SIMT_INTEGER_CONVERSION(T, name, integer, Integer, _rd, down, std::floor)

#define SIMT_SMALL_FLOAT(T, Pair, name, pair)                                                   \
  SIMT_INTEGER_CONVERSIONS(T, name, int, int)                                                   \
  SIMT_INTEGER_CONVERSIONS(T, name, uint, unsigned)                                             \
  SIMT_INTEGER_CONVERSIONS(T, name, short, short)                                               \
  SIMT_INTEGER_CONVERSIONS(T, name, ushort, unsigned short)                                     \
  SIMT_INTEGER_CONVERSIONS(T, name, ll, long long)                                              \
  SIMT_INTEGER_CONVERSIONS(T, name, ull, unsigned long long)                                    \
  inline T __float2##name(float x) { return T::of(x); }                                         \
  inline T __double2##name(double x) { return T::of(x); }                                       \
  inline T __float2##name##_rn(float x) { return T::of(x); }                                    \
  inline T __float2##name##_rz(float x) { return T::of(x, simt::Rounding::zero); }              \
  inline T __float2##name##_ru(float x) { return T::of(x, simt::Rounding::up); }                \
  inline T __float2##name##_rd(float x) { return T::of(x, simt::Rounding::down); }              \
  inline float __##name##2float(T x) { return x; }                                              \
  inline short __##name##_as_short(T x) { return short(x.bits()); }                             \
  inline unsigned short __##name##_as_ushort(T x) { return x.bits(); }                          \
  inline T __short_as_##name(short bits) { return T::of_bits(std::uint16_t(bits)); }            \
  inline T __ushort_as_##name(unsigned short bits) { return T::of_bits(bits); }                 \
  inline Pair make_##pair(T x, T y) { return {x, y}; }                                          \
  inline Pair __halves2##pair(T x, T y) { return {x, y}; }                                      \
  inline Pair __##name##2##pair(T x) { return {x, x}; }                                         \
  inline Pair __float2##pair##_rn(float x) { return {x, x}; }                                   \
  inline Pair __floats2##pair##_rn(float x, float y) { return {x, y}; }                         \
  inline Pair __float22##pair##_rn(float2 x) { return {x.x, x.y}; }                             \
  inline float2 __##pair##2float2(Pair x) { return {float(x.x), float(x.y)}; }                  \
  inline float __low2float(Pair x) { return x.x; }                                              \
  inline float __high2float(Pair x) { return x.y; }                                             \
  inline T __low2##name(Pair x) { return x.x; }                                                 \
  inline T __high2##name(Pair x) { return x.y; }                                                \
  inline Pair __low2##pair(Pair x) { return {x.x, x.x}; }                                       \
  inline Pair __high2##pair(Pair x) { return {x.y, x.y}; }                                      \
  inline Pair __lows2##pair(Pair a, Pair b) { return {a.x, b.x}; }                              \
  inline Pair __highs2##pair(Pair a, Pair b) { return {a.y, b.y}; }                             \
  inline Pair __lowhigh2highlow(Pair x) { return {x.y, x.x}; }                                  \
  inline T atomicAdd(T* address, T value) { return simt::atomic_add(address, value); }          \
  inline Pair atomicAdd(Pair* address, Pair value) { return simt::atomic_add(address, value); } \
  template <>                                                                                   \
  inline constexpr bool simt::is_exchangeable<T> = true;                                        \
  template <>                                                                                   \
  inline constexpr bool simt::is_exchangeable<Pair> = true;                                     \
  template <>                                                                                   \
  inline constexpr bool simt::is_loadable<T> = true;                                            \
  template <>                                                                                   \
  inline constexpr bool simt::is_loadable<Pair> = true;

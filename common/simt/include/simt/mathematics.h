// Functions of the CUDA Math API that the C library lacks: to double precision, and those of float rounded once.
#pragma once

#include <cmath>

#include "simt/device.h"

namespace simt {

constexpr double pi = 3.14159265358979323846, root_of_half = 0.70710678118654752440;

/// exp(x * x) * erfc(x), by the continued fraction where erfc() would be 0 (Abramowitz and Stegun, 7.1.14).
inline double scaled_erfc(double x) {
  if (x < 25) return std::exp(x * x) * std::erfc(x);
  double fraction = x;
  for (int k = 30; k > 0; --k) fraction = x + k / 2.0 / fraction;
  return 1 / (fraction * std::sqrt(pi));
}

/// The x at which erfc is y, by Newton's method for the logarithm of erfc, which is concave, from a point to its left.
inline double inverse_erfc(double y) {
  if (!(y >= 0 && y <= 2)) return std::nan("");
  if (y == 0 || y == 2) return y == 0 ? HUGE_VAL : -HUGE_VAL;
  if (y > 1) return -inverse_erfc(2 - y);
  double x = 0;
  for (int i = 0; i < 200; ++i) {
    const double slope = -2 / (std::sqrt(pi) * scaled_erfc(x));
    const double step = (std::log(scaled_erfc(x)) - x * x - std::log(y)) / slope;
    x -= step;
    if (std::fabs(step) <= 1e-16 * std::fabs(x)) break;
  }
  return x;
}

/// Exact for multiples of a half.
inline double sine_of_pi_times(double x) {
  const double rest = std::remainder(x, 2);
  if (rest == std::trunc(rest)) return std::copysign(0.0, x);
  if (std::fabs(rest) > 0.5) return std::sin(pi * (std::copysign(1.0, rest) - rest));
  return std::sin(pi * rest);
}
inline double cosine_of_pi_times(double x) {
  const double rest = std::fabs(std::remainder(x, 2));
  return rest > 0.25 && rest < 0.75 ? sine_of_pi_times(0.5 - rest) : std::cos(pi * rest);
}

/// Modified Bessel functions of the first kind, by their series, or for large x by their asymptotic expansion.
inline double bessel_i(int order, double x) {
  const double size = std::fabs(x), sign = order == 1 && x < 0 ? -1 : 1;
  double term = 1, sum = 1;
  if (size > 30) {
    for (int k = 1; k < 30; ++k) {
      const double odd = 2 * k - 1;
      term *= -(4.0 * order * order - odd * odd) / (k * 8 * size);
      sum += term;
    }
    return sign * std::exp(size) / std::sqrt(2 * pi * size) * sum;
  }
  if (order == 1) term = sum = size / 2;
  for (int k = 1; k < 200; ++k) {
    term *= size * size / 4 / k / (k + order);
    sum += term;
  }
  return sign * sum;
}

}  // namespace simt

inline double sinpi(double x) { return simt::sine_of_pi_times(x); }
inline double cospi(double x) { return simt::cosine_of_pi_times(x); }
inline double erfcx(double x) { return simt::scaled_erfc(x); }
inline double erfcinv(double y) { return simt::inverse_erfc(y); }
inline double erfinv(double y) {
  if (std::fabs(y) > 0.5) return y > 0 ? simt::inverse_erfc(1 - y) : -simt::inverse_erfc(1 + y);
  double x = 0;
  for (int i = 0; i < 50; ++i) x -= (std::erf(x) - y) * std::sqrt(simt::pi) / 2 * std::exp(x * x);
  return x;
}
inline double normcdf(double x) { return std::erfc(-x * simt::root_of_half) / 2; }
inline double normcdfinv(double y) { return -simt::inverse_erfc(2 * y) / simt::root_of_half; }
inline double rhypot(double x, double y) { return 1 / std::hypot(x, y); }
inline double norm3d(double a, double b, double c) { return std::hypot(a, b, c); }
inline double rnorm3d(double a, double b, double c) { return 1 / norm3d(a, b, c); }
inline double norm4d(double a, double b, double c, double d) { return std::hypot(std::hypot(a, b), std::hypot(c, d)); }
inline double rnorm4d(double a, double b, double c, double d) { return 1 / norm4d(a, b, c, d); }
inline double cyl_bessel_i0(double x) { return simt::bessel_i(0, x); }
inline double cyl_bessel_i1(double x) { return simt::bessel_i(1, x); }

inline float sinpif(float x) { return float(sinpi(x)); }
inline float cospif(float x) { return float(cospi(x)); }
inline float erfcxf(float x) { return float(erfcx(x)); }
inline float erfcinvf(float y) { return float(erfcinv(y)); }
inline float erfinvf(float y) { return float(erfinv(y)); }
inline float normcdff(float x) { return float(normcdf(x)); }
inline float normcdfinvf(float y) { return float(normcdfinv(y)); }
inline float rhypotf(float x, float y) { return float(rhypot(x, y)); }
inline float norm3df(float a, float b, float c) { return float(norm3d(a, b, c)); }
inline float rnorm3df(float a, float b, float c) { return float(rnorm3d(a, b, c)); }
inline float norm4df(float a, float b, float c, float d) { return float(norm4d(a, b, c, d)); }
inline float rnorm4df(float a, float b, float c, float d) { return float(rnorm4d(a, b, c, d)); }
inline float cyl_bessel_i0f(float x) { return float(cyl_bessel_i0(x)); }
inline float cyl_bessel_i1f(float x) { return float(cyl_bessel_i1(x)); }

inline void sincospi(double x, double* sine, double* cosine) {
  *sine = sinpi(x);
  *cosine = cospi(x);
}
inline void sincospif(float x, float* sine, float* cosine) {
  *sine = sinpif(x);
  *cosine = cospif(x);
}

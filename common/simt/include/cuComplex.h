// Complex numbers with CUDA's names (cuComplex.h of the CUDA Toolkit).
#pragma once

#include "cuda_runtime.h"

using cuFloatComplex = float2;
using cuDoubleComplex = double2;
using cuComplex = cuFloatComplex;

#define SIMT_COMPLEX(Complex, Real, f, made)                                                                \
  inline Complex made(Real real, Real imaginary) { return {real, imaginary}; }                              \
  inline Real cuCreal##f(Complex x) { return x.x; }                                                         \
  inline Real cuCimag##f(Complex x) { return x.y; }                                                         \
  inline Complex cuConj##f(Complex x) { return {x.x, -x.y}; }                                               \
  inline Complex cuCadd##f(Complex x, Complex y) { return {x.x + y.x, x.y + y.y}; }                         \
  inline Complex cuCsub##f(Complex x, Complex y) { return {x.x - y.x, x.y - y.y}; }                         \
  inline Complex cuCmul##f(Complex x, Complex y) { return {x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x}; } \
  /* Scaled, so that no intermediate result overflows. */                                                   \
  inline Complex cuCdiv##f(Complex x, Complex y) {                                                          \
    const Real scale = 1 / (std::abs(y.x) + std::abs(y.y));                                                 \
    const Complex a{x.x * scale, x.y * scale}, b{y.x * scale, y.y * scale};                                 \
    const Real size = 1 / (b.x * b.x + b.y * b.y);                                                          \
    return {(a.x * b.x + a.y * b.y) * size, (a.y * b.x - a.x * b.y) * size};                                \
  }                                                                                                         \
  inline Real cuCabs##f(Complex x) { return std::hypot(x.x, x.y); }                                         \
  inline Complex cuCfma##f(Complex x, Complex y, Complex z) { return cuCadd##f(cuCmul##f(x, y), z); }
SIMT_COMPLEX(cuFloatComplex, float, f, make_cuFloatComplex)
SIMT_COMPLEX(cuDoubleComplex, double, , make_cuDoubleComplex)
#undef SIMT_COMPLEX

inline cuComplex make_cuComplex(float real, float imaginary) { return {real, imaginary}; }
inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex x) { return {float(x.x), float(x.y)}; }
inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex x) { return {x.x, x.y}; }

// Compilers find this file before CUDA's header of the same name, which does not work with this runtime.
// Numbers of IEEE 754's binary16: a sign, 5 bits of exponent, 10 of fraction.
#pragma once

#include "simt/small_float.h"

struct __half : simt::SmallFloat<__half, 5> {
  using SmallFloat::SmallFloat;
};
struct __half2 : simt::SmallFloatPair<__half2, __half> {
  using SmallFloatPair::SmallFloatPair;
};
SIMT_SMALL_FLOAT(__half, __half2, half, half2)

using half = __half;
using half2 = __half2;
using nv_half = __half;
using nv_half2 = __half2;
using __nv_half = __half;
using __nv_half2 = __half2;

#define CUDART_INF_FP16 __ushort_as_half(0x7c00)
#define CUDART_NAN_FP16 __ushort_as_half(0x7fff)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half(0x7bff)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half(0x0001)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half(0x8000)
#define CUDART_ZERO_FP16 __ushort_as_half(0x0000)
#define CUDART_ONE_FP16 __ushort_as_half(0x3c00)

// Compilers find this file before CUDA's header of the same name, which does not work with this runtime.
// Numbers with a float's exponent and 7 bits of fraction.
#pragma once

#include "simt/small_float.h"

struct __nv_bfloat16 : simt::SmallFloat<__nv_bfloat16, 8> {
  using SmallFloat::SmallFloat;
};
struct __nv_bfloat162 : simt::SmallFloatPair<__nv_bfloat162, __nv_bfloat16> {
  using SmallFloatPair::SmallFloatPair;
};
SIMT_SMALL_FLOAT(__nv_bfloat16, __nv_bfloat162, bfloat16, bfloat162)

using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

#define CUDART_INF_BF16 __ushort_as_bfloat16(0x7f80)
#define CUDART_NAN_BF16 __ushort_as_bfloat16(0x7fff)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16(0x7f7f)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16(0x0001)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16(0x8000)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16(0x0000)
#define CUDART_ONE_BF16 __ushort_as_bfloat16(0x3f80)

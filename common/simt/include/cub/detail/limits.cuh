// The highest and the lowest value of a type: what the minimum and the maximum of no values are.
#pragma once

#include <limits>

#include "../../cuda_bf16.h"
#include "../../cuda_fp16.h"

namespace cub::detail {

template <class T>
struct Limits {
  static_assert(std::numeric_limits<T>::is_specialized, "a type without std::numeric_limits: use Reduce()");
  static T highest() { return std::numeric_limits<T>::max(); }
  static T lowest() { return std::numeric_limits<T>::lowest(); }
};

template <>
struct Limits<__half> {
  static __half highest() { return __half(65504.0f); }
  static __half lowest() { return __half(-65504.0f); }
};
template <>
struct Limits<__nv_bfloat16> {
  static __nv_bfloat16 highest() { return __nv_bfloat16(3.38953139e38f); }
  static __nv_bfloat16 lowest() { return __nv_bfloat16(-3.38953139e38f); }
};

}  // namespace cub::detail

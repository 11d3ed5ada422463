// What the rewriter puts around the operand of a cast to an integer in device code. A GPU gives the nearest integer that
// the type has, and 0 or the highest bit for a NaN (PTX ISA, "cvt": integer results are clamped; simt/conversions.h).
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "simt/conversions.h"
#include "simt/launch.h"

namespace simt {

/// A number on its way to another type.
template <class Float>
struct Saturating {
  Float value;

  template <class To>
  __attribute__((no_sanitize("undefined"))) constexpr operator To() const {
    // Of smaller integers, a GPU converts to 32 bits and leaves out the upper ones, which PTX does not promise.
    if constexpr (std::is_integral_v<To> && sizeof(To) >= 4) {
      constexpr Float end = Float(std::numeric_limits<To>::max() / 2 + 1) * 2;  // the first number above the range
      constexpr bool has_fractions = sizeof(Float) > sizeof(To);                // next to the range's lower end
      constexpr Float below = std::is_unsigned_v<To> ? Float(-1) : -end - Float(has_fractions);
      const bool is_above = std::is_unsigned_v<To> || has_fractions ? value > below : value >= below;
      if (!(is_above && value < end) && is_in_kernel()) return to_integer<To>(std::trunc(value));
    }
    return static_cast<To>(value);
  }
};

/// By value: bit-fields have no reference.
template <class T>
[[gnu::always_inline]] constexpr auto saturating(T value) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    return Saturating<T>{value};
  } else {
    return value;
  }
}

}  // namespace simt

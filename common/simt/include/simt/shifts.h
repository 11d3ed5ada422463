// What the rewriter puts around the distance of a shift in device code. C++ leaves a shift by the type's width or more
// undefined, and one by a negative number. A GPU takes the distance as an unsigned number of 32 bits, and shifts out
// all bits if it is too large (PTX ISA, "shl" and "shr": distances are clamped).
#pragma once

#include <type_traits>
#include <utility>

#include "simt/device.h"

namespace simt {

/// A distance on its way to << or >>.
template <class T>
struct Count {
  T value;
};

/// The number type that is shifted.
struct Shifted {
  int bits;
  bool is_signed;
};

/// Whether a kernel runs, which then shifts out all bits. A note says so, once for each place in the source.
[[gnu::cold, gnu::noinline]] bool shifts_out(Shifted type, unsigned distance);

template <class T>
inline constexpr bool is_shifted = std::is_integral_v<T> || (std::is_enum_v<T> && std::is_convertible_v<T, long long>);

/// By value: bit-fields have no reference. What is no integer may belong to an operator of the program.
template <class T>
[[gnu::always_inline]] constexpr auto distance(T value) {
  if constexpr (is_shifted<T>) {
    return Count<T>{value};
  } else {
    return value;
  }
}

template <class Left, class T, std::enable_if_t<is_shifted<Left>, int> = 0>
[[gnu::always_inline]] constexpr auto operator<<(Left left, Count<T> count) {
  using Result = decltype(left << 1);
  const auto distance = static_cast<unsigned>(count.value);
  constexpr Shifted type{8 * int(sizeof(Result)), std::is_signed_v<Result>};
  if (__builtin_expect(distance >= unsigned(type.bits), 0) && shifts_out(type, distance)) return Result(0);
  return Result(left << distance);
}
template <class Left, class T, std::enable_if_t<is_shifted<Left>, int> = 0>
[[gnu::always_inline]] constexpr auto operator>>(Left left, Count<T> count) {
  using Result = decltype(left >> 1);
  const auto distance = static_cast<unsigned>(count.value);
  constexpr Shifted type{8 * int(sizeof(Result)), std::is_signed_v<Result>};
  if (__builtin_expect(distance >= unsigned(type.bits), 0) && shifts_out(type, distance)) {
    return Result(Result(left) < 0 ? -1 : 0);
  }
  return Result(left >> distance);
}

template <class Left, class T, std::enable_if_t<!is_shifted<std::decay_t<Left>>, int> = 0>
[[gnu::always_inline]] constexpr decltype(auto) operator<<(Left&& left, Count<T> count) {
  return std::forward<Left>(left) << count.value;
}
template <class Left, class T, std::enable_if_t<!is_shifted<std::decay_t<Left>>, int> = 0>
[[gnu::always_inline]] constexpr decltype(auto) operator>>(Left&& left, Count<T> count) {
  return std::forward<Left>(left) >> count.value;
}

/// To a volatile variable, without a reference to it, which g++ takes for an access that somebody wanted.
template <class Left, class T>
[[gnu::always_inline]] constexpr decltype(auto) assign(Left& left, T value) {
  left = static_cast<std::remove_cv_t<Left>>(value);
  if constexpr (!std::is_volatile_v<Left>) return (left);
}

template <class Left, class T>
[[gnu::always_inline]] constexpr decltype(auto) operator<<=(Left& left, Count<T> count) {
  if constexpr (std::is_integral_v<std::remove_cv_t<Left>>) {
    return assign(left, left << count);
  } else {
    return left <<= count.value;
  }
}
template <class Left, class T>
[[gnu::always_inline]] constexpr decltype(auto) operator>>=(Left& left, Count<T> count) {
  if constexpr (std::is_integral_v<std::remove_cv_t<Left>>) {
    return assign(left, left >> count);
  } else {
    return left >>= count.value;
  }
}

}  // namespace simt

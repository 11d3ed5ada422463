// Keys as step 05 moves them: coded as unsigned integers whose order is the keys' order. The first pass codes them, the
// last one decodes them, and all passes between read a digit with one instruction.
#pragma once

#include <cstdint>

#include "digit.cuh"

namespace radix {

inline constexpr int byte_values = 256;

/// How keys of one type are coded for one order. Bits, not values, so -0 and +0 have codes of their own; but as they
/// are equal, they have the same digits. If `no_negative_zero`, there is no -0, and that takes no time.
template <class Key, bool no_negative_zero = std::is_integral_v<Key>>
struct Coding {
  using Code = lab::Bits<Key>;
  static constexpr Code sign = Code(Code(1) << (8 * sizeof(Key) - 1));
  static constexpr Code last = Code(~Code(0));  ///< no other code follows it

  Code inversion;  ///< for unsigned and signed integers, with their sign bit; for floats, of what follows from the sign

  __host__ __device__ explicit Coding(Code inversion) : inversion(inversion) {}
  explicit Coding(lab::Order order) : inversion(order == lab::Order::ascending ? Code(0) : last) {
    if constexpr (std::is_integral_v<Key> && std::is_signed_v<Key>) inversion ^= sign;
  }

  __device__ Code encode(Code bits) const {
    if constexpr (std::is_integral_v<Key>) return bits ^ inversion;
    return bits ^ ((bits & sign) != 0 ? last : sign) ^ inversion;
  }

  __device__ Code decode(Code code) const {
    if constexpr (std::is_integral_v<Key>) return code ^ inversion;
    const Code ascending = code ^ inversion;
    return ascending ^ ((ascending & sign) != 0 ? sign : last);
  }

  /// The same coding for keys among which there is no -0.
  __device__ Coding<Key, true> without_negative_zero() const { return Coding<Key, true>(inversion); }

  /// The code that decides where a key goes: that of +0 for -0.
  __device__ Code rank_code(Code code) const {
    if constexpr (no_negative_zero) return code;
    return code == Code(~sign ^ inversion) ? Code(sign ^ inversion) : code;
  }

  /// Of a float: 1 for -0, 2 for +0, which are equal but not the same.
  __device__ unsigned zero_kind(Code code) const {
    if constexpr (no_negative_zero) return 0;
    return unsigned(code == Code(~sign ^ inversion)) + 2 * unsigned(code == Code(sign ^ inversion));
  }

  /// Byte number `byte` of the code that decides, 0 is the lowest.
  __device__ unsigned digit(Code code, int byte) const {
    if constexpr (sizeof(Code) <= 4) return __byte_perm(rank_code(code), 0, 0x4440 + byte);
    return unsigned(rank_code(code) >> 8 * byte) & (byte_values - 1);
  }
};

}  // namespace radix

// Keys as numbers that have the same order.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace cub::detail {

template <std::size_t bytes>
using Unsigned = std::conditional_t<
    bytes == 1, std::uint8_t,
    std::conditional_t<bytes == 2, std::uint16_t, std::conditional_t<bytes == 4, std::uint32_t, std::uint64_t>>>;

/// The bits of an integer or an IEEE 754 floating-point number of up to 8 bytes. Both zeros are equal.
template <class Key>
auto radix_bits(const Key& key) {
  using Bits = Unsigned<sizeof(Key)>;
  static_assert(sizeof(Bits) == sizeof(Key) && (std::is_arithmetic_v<Key> || sizeof(Key) == 2),
                "keys are integers or floating-point numbers: use cub::DeviceMergeSort for others");
  constexpr Bits sign = Bits(Bits(1) << (8 * sizeof(Key) - 1));
  Bits bits;
  std::memcpy(&bits, static_cast<const void*>(&key), sizeof bits);
  if constexpr (std::is_integral_v<Key>) return std::is_signed_v<Key> ? Bits(bits ^ sign) : bits;
  if (bits == sign) bits = 0;
  return (bits & sign) != 0 ? Bits(~bits) : Bits(bits ^ sign);
}

/// The bits of a key by which radix sorts sort it.
struct BitRange {
  int begin, end;
  bool is_descending;

  /// The digit of up to `most_bits` bits from `bit` on. It is smaller for keys that come first.
  template <class Key>
  unsigned digit(const Key& key, int bit, int most_bits) const {
    const unsigned mask = (1u << (end - bit < most_bits ? end - bit : most_bits)) - 1;
    const unsigned digit = unsigned(radix_bits(key) >> bit) & mask;
    return is_descending ? mask - digit : digit;
  }
};

}  // namespace cub::detail

// Keys and their order: which types can be sorted, and what "before" means for each.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#ifdef __CUDACC__
#define LAB_HOST_DEVICE __host__ __device__
#else
#define LAB_HOST_DEVICE
#endif

namespace lab {

enum class Order { ascending, descending };

/// What is sorted: keys of one type, or 32-bit keys that carry 32-bit values along (`pairs`).
enum class KeyType { u8, u16, u32, u64, i32, i64, f32, f64, pairs };

inline constexpr KeyType all_key_types[] = {KeyType::u8,  KeyType::u16, KeyType::u32, KeyType::u64,  KeyType::i32,
                                            KeyType::i64, KeyType::f32, KeyType::f64, KeyType::pairs};

/// The unsigned integer of a key's size.
template <class Key>
using Bits = std::conditional_t<sizeof(Key) == 1, std::uint8_t,
                                std::conditional_t<sizeof(Key) == 2, std::uint16_t,
                                                   std::conditional_t<sizeof(Key) == 4, std::uint32_t, std::uint64_t>>>;

/// Maps a key to an unsigned integer whose order is the key's order, CUB's order for floats: -0 equals +0, and a
/// NaN has the place that its bit pattern gives it (sign clear: above +infinity; sign set: below -infinity).
/// Source: the flip of M. Herf, "Radix Tricks" (2001), for the float part.
template <class Key>
LAB_HOST_DEVICE inline Bits<Key> ordered_bits(Key key) {
  using Unsigned = Bits<Key>;
  constexpr Unsigned sign = Unsigned(Unsigned(1) << (8 * sizeof(Key) - 1));
  if constexpr (std::is_unsigned_v<Key>) {
    return key;
  } else if constexpr (std::is_integral_v<Key>) {
    return Unsigned(Unsigned(key) ^ sign);
  } else {
    Unsigned bits;
    std::memcpy(&bits, &key, sizeof bits);
    if (bits == sign) bits = 0;  // -0 takes the place of +0
    return (bits & sign) ? Unsigned(~bits) : Unsigned(bits | sign);
  }
}

/// The key whose ordered_bits() are `bits`.
template <class Key>
LAB_HOST_DEVICE inline Key from_ordered_bits(Bits<Key> bits) {
  using Unsigned = Bits<Key>;
  constexpr Unsigned sign = Unsigned(Unsigned(1) << (8 * sizeof(Key) - 1));
  if constexpr (std::is_unsigned_v<Key>) {
    return bits;
  } else if constexpr (std::is_integral_v<Key>) {
    return Key(Unsigned(bits ^ sign));
  } else {
    const Unsigned pattern = (bits & sign) ? Unsigned(bits ^ sign) : Unsigned(~bits);
    Key key;
    std::memcpy(&key, &pattern, sizeof key);
    return key;
  }
}

/// A key that no other key follows, so that it can fill positions past the end of the input.
template <class Key>
LAB_HOST_DEVICE inline Key last_key(Order order) {
  return from_ordered_bits<Key>(order == Order::ascending ? Bits<Key>(~Bits<Key>(0)) : Bits<Key>(0));
}

/// A signed integer whose order is the float's, as ordered_bits(), in two instructions: a float with its sign bit set
/// is the negative of its other bits, so that -0 is 0.
template <class Key>
LAB_HOST_DEVICE inline auto ordered_integer(Key key) {
  using Signed = std::make_signed_t<Bits<Key>>;
  Bits<Key> bits;
  std::memcpy(&bits, &key, sizeof bits);
  constexpr auto sign = Bits<Key>(Bits<Key>(1) << (8 * sizeof(Key) - 1));
  return Signed(bits) < 0 ? Signed(sign - bits) : Signed(bits);
}

/// True if `a` comes strictly before `b` in ascending order.
template <class Key>
LAB_HOST_DEVICE inline bool less(Key a, Key b) {
  if constexpr (std::is_integral_v<Key>) {
    return a < b;
  } else {
    return ordered_integer(a) < ordered_integer(b);
  }
}

/// True if `a` must come strictly before `b` in `order`.
template <class Key>
LAB_HOST_DEVICE inline bool before(Key a, Key b, Order order) {
  return order == Order::ascending ? less(a, b) : less(b, a);
}

/// The key that comes first in `order`, or `a` if either may come first. It is a minimum or maximum, which needs no
/// branch.
template <Order order, class Key>
LAB_HOST_DEVICE inline Key earlier(Key a, Key b) {
  return before(b, a, order) ? b : a;
}

/// The key that earlier() does not return.
template <Order order, class Key>
LAB_HOST_DEVICE inline Key later(Key a, Key b) {
  return before(b, a, order) ? a : b;
}

}  // namespace lab

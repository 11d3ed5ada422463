// What all steps call: a key's digits, in ascending and descending order, for every type.
#pragma once

#include <cstdint>
#include <type_traits>

#include "radix.h"

namespace radix {

/// Stands for the values where there are none.
struct NoValue {};

template <class Value>
inline constexpr bool has_values = !std::is_same_v<Value, NoValue>;

/// Digits of keys for one order. The bits are those of lab::ordered_bits, so that signed integers and floats are
/// sorted as unsigned ones; for descending order they are inverted: then digits ascend either way, and keys that are
/// equal keep their order.
template <class Key>
struct Digits {
  lab::Bits<Key> turn;

  explicit Digits(lab::Order order) : turn(order == lab::Order::ascending ? lab::Bits<Key>(0) : lab::Bits<Key>(-1)) {}

  /// Bits shift .. shift + bits - 1, which may reach past the key's last bit.
  LAB_HOST_DEVICE unsigned of(Key key, int shift, int bits) const {
    return unsigned(lab::Bits<Key>(lab::ordered_bits(key) ^ turn) >> shift) & ((1u << bits) - 1);
  }
};

}  // namespace radix

// The key transform of steps 05 and 06: a key's bits become an unsigned integer of the same order. The first pass
// transforms the keys, the last one transforms them back, and every pass in between reads a digit with one instruction.
#pragma once

#include <cstdint>
#include <type_traits>

#include "digit.cuh"

namespace radix {

inline constexpr int byte_values = 256;

/// The transform of keys of one type for one order. It keeps all bits, so -0 and +0 stay different. But they are equal,
/// so they have the same digits. With `no_negative_zero`, no key is -0, and this costs nothing.
template <class Key, bool no_negative_zero = std::is_integral_v<Key>>
struct KeyTransform {
  using Bits = lab::Bits<Key>;
  static constexpr Bits sign = Bits(Bits(1) << (8 * sizeof(Key) - 1));
  static constexpr Bits last = Bits(~Bits(0));  ///< no other transformed key follows it

  Bits inversion;  ///< the bits of integers that are inverted, or those of floats inverted after the sign has decided

  __host__ __device__ explicit KeyTransform(Bits inversion) : inversion(inversion) {}

  __device__ Bits forward(Bits bits) const {
    if constexpr (std::is_integral_v<Key>) return bits ^ inversion;
    return bits ^ ((bits & sign) != 0 ? last : sign) ^ inversion;
  }

  __device__ Bits inverse(Bits transformed) const {
    if constexpr (std::is_integral_v<Key>) return transformed ^ inversion;
    const Bits ascending = transformed ^ inversion;
    return ascending ^ ((ascending & sign) != 0 ? sign : last);
  }

  /// The same transform for keys of which none is -0. On a CPU, it is this one, because the kernels for the other would
  /// take longer to compile than they save.
  __device__ auto without_negative_zero() const {
    return std::conditional_t<lab::on_cpu, KeyTransform, KeyTransform<Key, true>>(inversion);
  }

  /// The bits that decide where a transformed key goes: those of +0 for -0.
  __device__ Bits rank_bits(Bits transformed) const {
    if constexpr (no_negative_zero) return transformed;
    return transformed == Bits(~sign ^ inversion) ? Bits(sign ^ inversion) : transformed;
  }

  /// For a transformed float: 1 if it is -0, 2 if it is +0, which are equal but not the same.
  __device__ unsigned zero_kind(Bits transformed) const {
    if constexpr (no_negative_zero) return 0;
    return unsigned(transformed == Bits(~sign ^ inversion)) + 2 * unsigned(transformed == Bits(sign ^ inversion));
  }

  /// The digit of pass `pass`: byte number `pass` of the bits that decide, from the lowest byte on.
  __device__ unsigned digit(Bits transformed, int pass) const {
    if constexpr (sizeof(Bits) <= 4) return __byte_perm(rank_bits(transformed), 0, 0x4440 + pass);
    return unsigned(rank_bits(transformed) >> 8 * pass) & (byte_values - 1);
  }
};

/// The type that kernels see: signed and unsigned integers share their kernels.
template <class Key>
using KernelKey = std::conditional_t<std::is_integral_v<Key>, lab::Bits<Key>, Key>;

/// The transform of Key for `order`, as a transform of KernelKey<Key>.
template <class Key>
KeyTransform<KernelKey<Key>> transform_for(lab::Order order) {
  using Transform = KeyTransform<KernelKey<Key>>;
  constexpr bool is_signed_integer = std::is_integral_v<Key> && std::is_signed_v<Key>;
  const lab::Bits<Key> sign = is_signed_integer ? Transform::sign : 0;
  return Transform(order == lab::Order::ascending ? sign : lab::Bits<Key>(Transform::last ^ sign));
}

}  // namespace radix

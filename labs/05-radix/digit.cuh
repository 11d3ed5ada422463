// What all steps use: a key's digits, for every type and for ascending and descending order, the lanes with equal
// digits, and keys with their values.
#pragma once

#include <cstdint>
#include <utility>

#include "radix.h"
#include "step/device_array.h"
#include "step/on_cpu.h"

namespace radix {

/// The digit that one pass sorts by: bits shift ... shift + digit_bits - 1 of the key, which may reach past its last
/// bit. The bits are those of lab::ordered_bits, so that signed integers and floats sort as unsigned integers. For
/// descending order they are inverted. Digits then ascend in both orders, and equal keys keep their order.
template <class Key, int digit_bits>
struct Digits {
  lab::Bits<Key> inversion;
  int shift;

  Digits(lab::Order order, int shift)
      : inversion(order == lab::Order::ascending ? lab::Bits<Key>(0) : lab::Bits<Key>(-1)), shift(shift) {}

  LAB_HOST_DEVICE unsigned extract(Key key) const { return extract(key, shift); }

  /// The digit of another pass.
  LAB_HOST_DEVICE unsigned extract(Key key, int other_shift) const {
    return unsigned(lab::Bits<Key>(lab::ordered_bits(key) ^ inversion) >> other_shift) & ((1u << digit_bits) - 1);
  }

  /// True if `a` must come before `b`, by all their bits.
  LAB_HOST_DEVICE bool comes_before(Key a, Key b) const {
    return lab::Bits<Key>(lab::ordered_bits(a) ^ inversion) < lab::Bits<Key>(lab::ordered_bits(b) ^ inversion);
  }

  /// Bit `i` of the digit, counted from the digit's lowest bit.
  LAB_HOST_DEVICE bool bit(Key key, int i) const {
    return unsigned(lab::Bits<Key>(lab::ordered_bits(key) ^ inversion) >> (shift + i)) & 1u;
  }
};

/// The lanes of this warp that have the same digit. __match_any_sync() returns the same, but takes longer on a GPU. All
/// 32 lanes call it. For each bit, a vote collects the lanes in which the bit is 1. A lane whose own bit is 1 keeps
/// those, and any other lane keeps the rest. With the bit as a mask of all ones or none, both are lanes & ~(vote ^
/// mask), a single operation with three inputs. CUB and libcusort also use a vote for each bit.
template <int digit_bits>
__device__ unsigned lanes_with(unsigned digit) {
  if constexpr (lab::on_cpu) {
    return __match_any_sync(0xffffffffu, digit);
  } else {
    unsigned lanes = 0xffffffffu;
#pragma unroll
    for (int bit = 0; bit < digit_bits; ++bit) {
      // From C++, the compiler makes six instructions, from this three. 0x90 is the truth table of a & ~(b ^ c).
      asm volatile(
          "{\n"
          "  .reg .pred is_one;\n"
          "  .reg .b32 mask, vote;\n"
          "  and.b32 mask, %1, %2;\n"
          "  setp.ne.u32 is_one, mask, 0;\n"
          "  selp.b32 mask, -1, 0, is_one;\n"
          "  vote.sync.ballot.b32 vote, is_one, -1;\n"
          "  lop3.b32 %0, %0, vote, mask, 0x90;\n"
          "}\n"
          : "+r"(lanes)
          : "r"(digit), "r"(1 << bit));
    }
    return lanes;
  }
}

/// From this many lanes on, waiting for each other at one counter takes longer than adding for all of them at once.
inline constexpr int crowded_lanes = 8;

/// The lanes of this warp whose digit is that of lane 0. All 32 lanes call it.
__device__ inline unsigned lanes_as_lane_0(unsigned digit) {
  return __ballot_sync(0xffffffffu, digit == __shfl_sync(0xffffffffu, digit, 0));
}

/// Keys and the values that travel with them. Without values, Value is NoValue and `values` is not used.
template <class Key, class Value>
struct Pairs {
  Key* keys;
  Value* values;
};

/// The same pairs for a kernel that only reads them.
template <class Key, class Value>
Pairs<const Key, const Value> read_only(Pairs<Key, Value> pairs) {
  return {pairs.keys, pairs.values};
}

/// The two sets of arrays that exchange roles after each pass: the caller's, and scratch of the same size.
template <class Key, class Value>
class Buffers {
 public:
  Buffers(lab::Span<Key> keys, lab::Span<Value> values, cudaStream_t stream)
      : scratch_keys_(keys.n, stream),
        scratch_values_(values.n, stream),
        from{keys.data, values.data},
        to{scratch_keys_.data(), scratch_values_.data()} {}

  void swap() { std::swap(from, to); }

 private:
  lab::DeviceArray<Key> scratch_keys_;
  lab::DeviceArray<Value> scratch_values_;

 public:
  Pairs<Key, Value> from, to;
};

}  // namespace radix

/// Defines a step of radix.h for every type in the table of steps. A file that takes a long time to compile is compiled in two
/// parts: for the types of a first look, and for the others. When only nvcc's errors are wanted, it is compiled for one
/// type of each size and kind.
#define INSTANTIATE_FOR_KEYS(step, Key) \
  template void step(lab::Span<Key>, lab::Span<NoValue>, lab::Order, lab::LaunchShape, cudaStream_t)
#define INSTANTIATE_FOR_FIRST_TYPES(step)    \
  INSTANTIATE_FOR_KEYS(step, std::uint8_t);  \
  INSTANTIATE_FOR_KEYS(step, std::uint32_t); \
  template void step(lab::Span<std::uint32_t>, lab::Span<std::uint32_t>, lab::Order, lab::LaunchShape, cudaStream_t)
#define INSTANTIATE_FOR_OTHER_TYPES(step)    \
  INSTANTIATE_FOR_KEYS(step, std::uint16_t); \
  INSTANTIATE_FOR_KEYS(step, std::uint64_t); \
  INSTANTIATE_FOR_KEYS(step, std::int32_t);  \
  INSTANTIATE_FOR_KEYS(step, std::int64_t);  \
  INSTANTIATE_FOR_KEYS(step, float);         \
  INSTANTIATE_FOR_KEYS(step, double)
#if defined(LAB_FIRST_TYPES)
#define INSTANTIATE_FOR_ALL_TYPES(step) INSTANTIATE_FOR_FIRST_TYPES(step)
#elif defined(LAB_OTHER_TYPES)
#define INSTANTIATE_FOR_ALL_TYPES(step) INSTANTIATE_FOR_OTHER_TYPES(step)
#elif defined(LAB_FEW_TYPES)
#define INSTANTIATE_FOR_ALL_TYPES(step) \
  INSTANTIATE_FOR_FIRST_TYPES(step);    \
  INSTANTIATE_FOR_KEYS(step, double)
#else
#define INSTANTIATE_FOR_ALL_TYPES(step) \
  INSTANTIATE_FOR_FIRST_TYPES(step);    \
  INSTANTIATE_FOR_OTHER_TYPES(step)
#endif

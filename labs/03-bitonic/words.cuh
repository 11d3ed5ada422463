// The key transform: keys as unsigned numbers of the same order, which step 04 sorts in their place.
//
// The network then has one kind of comparator: the smaller word goes to the lower position. A word is the key itself
// (uint32_t, uint64_t), its bits with the sign bit inverted (int32_t, float; of a negative float, all bits are
// inverted), or a key followed by its value, 64 bits in all. For descending order, all bits of the key are inverted.
// Nothing is lost: a word can be turned back into its key, even -0.
// Positions past the end hold a sentinel, a word that no other comes after, so that every stage can run on whole tiles.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "compare_exchange.cuh"

namespace bitonic {

/// Keys in device memory, and the values that travel with them if there are any, read and written as words.
template <lab::Order order, class Key_, class Value_, class Index = std::int64_t>
struct Words {
  using Key = Key_;
  using Value = Value_;
  using Bits = lab::Bits<Key>;
  using Word = std::conditional_t<has_values<Value>, std::uint64_t, Bits>;
  static constexpr Word sentinel = Word(~Word(0));

  Key* keys;
  Value* values;
  Index n;

  /// The words from position `first` on. The positions that are used must fit into an int.
  __device__ Words<order, Key, Value, int> from(std::int64_t first) const {
    const std::int64_t left = n - first, max_used = 1 << 30;
    return {keys + first, has_values<Value> ? values + first : values, int(left < max_used ? left : max_used)};
  }

  /// The word at position i, and the sentinel at any position after the end.
  __device__ Word load(Index i) const {
    if (i >= n) return sentinel;
    const Bits bits = transform(keys[i]);
    if constexpr (has_values<Value>) {
      return Word(bits) << 32 | values[i];
    } else {
      return bits;
    }
  }

  /// Does nothing at a position after the end.
  __device__ void store(Index i, Word word) const {
    if (i >= n) return;
    if constexpr (has_values<Value>) {
      keys[i] = inverse_transform(Bits(word >> 32));
      values[i] = Value(word);
    } else {
      keys[i] = inverse_transform(word);
    }
  }

  static __device__ Bits transform(Key key) {
    Bits bits;
    std::memcpy(&bits, &key, sizeof bits);
    if constexpr (std::is_floating_point_v<Key>) {
      bits ^= (bits & sign) ? Bits(~Bits(0)) : sign;
    } else if constexpr (std::is_signed_v<Key>) {
      bits ^= sign;
    }
    return order == lab::Order::ascending ? bits : Bits(~bits);
  }

  static __device__ Key inverse_transform(Bits bits) {
    if (order == lab::Order::descending) bits = Bits(~bits);
    if constexpr (std::is_floating_point_v<Key>) {
      bits ^= (bits & sign) ? sign : Bits(~Bits(0));
    } else if constexpr (std::is_signed_v<Key>) {
      bits ^= sign;
    }
    Key key;
    std::memcpy(&key, &bits, sizeof key);
    return key;
  }

 private:
  static constexpr Bits sign = Bits(Bits(1) << (8 * sizeof(Bits) - 1));
};

}  // namespace bitonic

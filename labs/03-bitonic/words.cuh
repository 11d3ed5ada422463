// Keys as unsigned numbers of the same order, which step 04 sorts in their place.
//
// The network then has one kind of comparator: the smaller word goes to the lower position. A word is the key itself
// (uint32_t, uint64_t), its bits with the sign treated as in lab 05 (int32_t, float), or a key followed by its value,
// 64 bits in all. For descending order, all bits of the key are inverted. Nothing is lost: a word can be turned back
// into its key, even -0.
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
  using Code = lab::Bits<Key>;
  using Word = std::conditional_t<has_values<Value>, std::uint64_t, Code>;
  static constexpr Word last = Word(~Word(0));  ///< No word comes after it.

  Key* keys;
  Value* values;
  Index n;

  /// The words from position `first` on. Their number must fit into an int only as far as they are used.
  __device__ Words<order, Key, Value, int> from(std::int64_t first) const {
    const std::int64_t left = n - first, most = 1 << 30;
    return {keys + first, has_values<Value> ? values + first : values, int(left < most ? left : most)};
  }

  /// The word at position i, and `last` at any position after the end.
  __device__ Word load(Index i) const {
    if (i >= n) return last;
    const Code code = encode(keys[i]);
    if constexpr (has_values<Value>) {
      return Word(code) << 32 | values[i];
    } else {
      return code;
    }
  }

  /// Does nothing at a position after the end.
  __device__ void store(Index i, Word word) const {
    if (i >= n) return;
    if constexpr (has_values<Value>) {
      keys[i] = decode(Code(word >> 32));
      values[i] = Value(word);
    } else {
      keys[i] = decode(word);
    }
  }

  static __device__ Code encode(Key key) {
    Code code;
    std::memcpy(&code, &key, sizeof code);
    if constexpr (std::is_floating_point_v<Key>) {
      code ^= (code & sign) ? Code(~Code(0)) : sign;
    } else if constexpr (std::is_signed_v<Key>) {
      code ^= sign;
    }
    return order == lab::Order::ascending ? code : Code(~code);
  }

  static __device__ Key decode(Code code) {
    if (order == lab::Order::descending) code = Code(~code);
    if constexpr (std::is_floating_point_v<Key>) {
      code ^= (code & sign) ? sign : Code(~Code(0));
    } else if constexpr (std::is_signed_v<Key>) {
      code ^= sign;
    }
    Key key;
    std::memcpy(&key, &code, sizeof key);
    return key;
  }

 private:
  static constexpr Code sign = Code(Code(1) << (8 * sizeof(Code) - 1));
};

}  // namespace bitonic

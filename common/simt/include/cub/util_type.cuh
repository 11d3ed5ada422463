// Types that several algorithms of CUB share (CUB, "Utilities").
#pragma once

#include <cstddef>

namespace cub {

/// In place of a type that is not there, such as that of the values where only keys are sorted.
struct NullType {};

/// A value with its position, or another key.
template <class KeyType, class ValueType>
struct KeyValuePair {
  using Key = KeyType;
  using Value = ValueType;

  Key key;
  Value value;

  bool operator==(const KeyValuePair& other) const { return key == other.key && value == other.value; }
  bool operator!=(const KeyValuePair& other) const { return !(*this == other); }
};

/// Two buffers in device memory: an algorithm reads the current one, and may write to both. Its result is in the one
/// that is current afterwards.
template <class T>
struct DoubleBuffer {
  T* d_buffers[2] = {};
  int selector = 0;

  DoubleBuffer() = default;
  DoubleBuffer(T* current, T* alternate) : d_buffers{current, alternate} {}
  T* Current() const { return d_buffers[selector]; }
  T* Alternate() const { return d_buffers[selector ^ 1]; }
};

namespace detail {

/// Room for `Count` values in a __shared__ variable. Their constructors are not called.
template <class T, int Count>
struct Room {
  alignas(T) unsigned char bytes[Count * sizeof(T)];

  T* values() { return reinterpret_cast<T*>(bytes); }
};
/// What an algorithm that needs no shared memory has as TempStorage.
struct NoRoom {};

}  // namespace detail

}  // namespace cub

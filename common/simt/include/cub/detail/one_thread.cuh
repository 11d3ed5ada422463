// What the algorithms of a device have in common: each runs in one thread of a kernel, in the given stream.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <tuple>
#include <type_traits>

#include "../../cuda_runtime.h"
#include "../util_type.cuh"

namespace cub::detail {

using simt::Site;

/// A call of an algorithm. Without temporary storage it only computes how many bytes are needed, at least 1.
struct Call {
  const char* name;
  void* storage;
  std::size_t& bytes;
  cudaStream_t stream;
  Site site;

  /// Calls body(arguments...) in a kernel. Errors: cudaErrorInvalidValue if the storage is too small; those of the launch.
  template <class Body, class... Arguments>
  cudaError_t run(std::size_t needed, const Body& body, const Arguments&... arguments) const {
    if (storage == nullptr) {
      bytes = std::max(needed, std::size_t(1));
      return cudaSuccess;
    }
    if (bytes < needed) return cudaErrorInvalidValue;
    simt::Bound<Body, Arguments...> bound{body, std::tuple<Arguments...>(arguments...)};
    return simt::run_bound(bound, name, site, simt::LaunchConfig(1, 1, 0, stream));
  }
};

/// The type of an iterator's values; that of `Other` for one that discards them.
template <class Iterator, class Other = char>
using ValueOf = std::conditional_t<std::is_void_v<typename std::iterator_traits<Iterator>::value_type>, Other,
                                   std::remove_cv_t<typename std::iterator_traits<Iterator>::value_type>>;
/// The type in which an operator's results are kept.
template <class Op, class... Values>
using ResultOf = std::decay_t<std::invoke_result_t<Op&, Values...>>;

template <class T, class = void>
struct Category {
  using type = void;
};
template <class T>
struct Category<T, std::void_t<typename T::iterator_category>> {
  using type = typename T::iterator_category;
};
template <class T>
using CategoryOf = typename Category<T>::type;

/// Ascending order.
struct Less {
  template <class T>
  bool operator()(const T& a, const T& b) const {
    return a < b;
  }
};

// Overloads differ by these where CUB's arguments alone would fit two of them.
template <class T>
using IfInteger = std::enable_if_t<std::is_integral_v<T>, int>;
template <class T>
using IfNotArithmetic = std::enable_if_t<!std::is_arithmetic_v<T>, int>;
template <class T>
using IsNoIterator = std::enable_if_t<!std::is_pointer_v<T> && std::is_void_v<CategoryOf<T>>, int>;

/// The result of combining `count` values, at least one. Halves are combined, so that floating-point sums are as exact as those of a GPU.
template <class T, class In, class Op>
T fold(In& in, std::size_t first, std::size_t count, Op& op) {
  constexpr std::size_t most = 128;
  if (count > most) {
    const T left = fold<T>(in, first, count / 2, op);
    return T(op(left, fold<T>(in, first + count / 2, count - count / 2, op)));
  }
  T result = T(in[first]);
  for (std::size_t i = 1; i < count; ++i) result = T(op(result, in[first + i]));
  return result;
}

/// Keys, and values that move with them unless these are of NullType.
template <class Keys, class Values>
struct Pairs {
  Keys keys;
  Values values;

  static constexpr bool has_values = !std::is_same_v<Values, NullType*>;

  auto key(std::size_t position) const { return ValueOf<Keys>(keys[position]); }
  auto value(std::size_t position) const { return ValueOf<Values>(values[position]); }

  template <class From>
  void copy(std::size_t to, const From& from, std::size_t position) const {
    keys[to] = from.keys[position];
    if constexpr (has_values) values[to] = from.values[position];
  }
  template <class From>
  void copy_all(const From& from, std::size_t count) const {
    for (std::size_t i = 0; i < count; ++i) copy(i, from, i);
  }
};
template <class Keys, class Values>
Pairs(Keys, Values) -> Pairs<Keys, Values>;

/// `count` pairs in temporary storage.
template <class Key, class Value>
Pairs<Key*, Value*> pairs_in(void* storage, std::size_t count) {
  char* const first = static_cast<char*>(storage);
  return {reinterpret_cast<Key*>(first), reinterpret_cast<Value*>(first + (count * sizeof(Key) + 255) / 256 * 256)};
}
template <class Key, class Value>
std::size_t bytes_of_pairs(std::size_t count) {
  return std::is_same_v<Value, NullType> ? count * sizeof(Key)
                                         : (count * sizeof(Key) + 255) / 256 * 256 + count * sizeof(Value);
}

}  // namespace cub::detail

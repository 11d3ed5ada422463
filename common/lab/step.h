// What a step is: the arguments it is called with, and its line in a lab's table of steps.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "lab/keys.h"

namespace lab {

/// n keys (or values) that lie one after another in device memory. A view: it owns nothing.
template <class T>
struct Span {
  T* data = nullptr;
  std::int64_t n = 0;
};

/// Blocks and threads of a launch; 0 lets the step choose.
struct LaunchShape {
  int blocks = 0;
  int threads = 0;
};

/// Sorts `keys` in place. Errors: lab::Unsupported before anything is touched, lab::CudaError.
template <class Key>
using SortKeys = void (*)(Span<Key> keys, Order order, LaunchShape shape, cudaStream_t stream);

/// The same with values that travel with their keys; both spans have the same n.
template <class Key, class Value>
using SortPairs = void (*)(Span<Key> keys, Span<Value> values, Order order, LaunchShape shape, cudaStream_t stream);

inline constexpr std::int64_t any_n = std::numeric_limits<std::int64_t>::max();

/// One line of a lab's table of steps. A function left out is a type that the step does not sort.
struct Step {
  int number;
  const char* name;              ///< as in the file's name, 02_shared.cu: "shared"
  const char* idea;              ///< a few words for tables
  bool stable = false;           ///< equal keys keep their order
  std::int64_t tile = 0;         ///< 0: sorts the whole array; else each run of `tile` keys by itself
  std::int64_t largest_n = any_n;  ///< beyond it the runner refuses, because the step would take too long
  SortKeys<std::uint8_t> u8 = nullptr;
  SortKeys<std::uint16_t> u16 = nullptr;
  SortKeys<std::uint32_t> u32 = nullptr;
  SortKeys<std::uint64_t> u64 = nullptr;
  SortKeys<std::int32_t> i32 = nullptr;
  SortKeys<std::int64_t> i64 = nullptr;
  SortKeys<float> f32 = nullptr;
  SortKeys<double> f64 = nullptr;
  SortPairs<std::uint32_t, std::uint32_t> pairs = nullptr;

  constexpr bool sorts(KeyType type) const {
    switch (type) {
      case KeyType::u8: return u8 != nullptr;
      case KeyType::u16: return u16 != nullptr;
      case KeyType::u32: return u32 != nullptr;
      case KeyType::u64: return u64 != nullptr;
      case KeyType::i32: return i32 != nullptr;
      case KeyType::i64: return i64 != nullptr;
      case KeyType::f32: return f32 != nullptr;
      case KeyType::f64: return f64 != nullptr;
      case KeyType::pairs: return pairs != nullptr;
    }
    return false;
  }
};

}  // namespace lab

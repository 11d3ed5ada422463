// Keys of 4 bytes as quads: 16 bytes, which a thread loads and stores with one instruction.
#pragma once

#include <cstdint>

#include "step/step.h"

namespace radix {

/// An array as quads, aligned to 16 bytes, and the keys before and after them, at most 3 each: the edges.
struct Quads {
  static constexpr int max_edges = 6;
  std::int64_t n, count;
  int head;  ///< keys before the first quad

  template <class T>
  __device__ explicit Quads(lab::Span<T> keys)
      : n(keys.n), head(int(-(reinterpret_cast<std::uintptr_t>(keys.data) / 4) % 4)) {
    count = n < head ? 0 : (n - head) / 4;
  }

  /// The position of edge `e`, from 0 to max_edges - 1. It is n or more if there are fewer edges.
  __device__ std::int64_t edge(int e) const { return e < head ? e : e + 4 * count; }
};

/// Loads `count` keys, 4 at a time, from quads that are `stride` apart.
template <int count>
__device__ void load_quads(const uint4* from, int stride, std::uint32_t (&to)[count]) {
#pragma unroll
  for (int i = 0; i < count; i += 4) {
    const uint4 quad = from[i / 4 * stride];
    to[i] = quad.x, to[i + 1] = quad.y, to[i + 2] = quad.z, to[i + 3] = quad.w;
  }
}

template <int count>
__device__ void store_quads(const std::uint32_t (&from)[count], uint4* to) {
#pragma unroll
  for (int i = 0; i < count; i += 4) {
    const uint4 quad{from[i], from[i + 1], from[i + 2], from[i + 3]};
    to[i / 4] = quad;
  }
}

}  // namespace radix

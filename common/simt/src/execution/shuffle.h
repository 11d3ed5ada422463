// The order in which lanes, warps and the blocks of a cooperative launch run, chosen by the seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace simt {

/// splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014): one output per call.
inline std::uint64_t next_random(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

template <class Items>
void shuffle(Items&& items, std::size_t n, std::uint64_t& state) {
  for (std::size_t i = n; i > 1; --i) {
    using std::swap;
    swap(items[i - 1], items[next_random(state) % i]);
  }
}

}  // namespace simt

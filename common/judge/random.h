// Random numbers by position: number i of a seed is a function of both, so any thread can make any part.
#pragma once

#include <cstdint>

#include "step/keys.h"

namespace lab {

/// A bijection of 64-bit integers that spreads every input bit over all output bits.
/// Source: the finalizer of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
LAB_HOST_DEVICE constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// Number i of the sequence that `seed` starts. Mixing the seed first keeps neighbouring seeds from sharing numbers.
LAB_HOST_DEVICE constexpr std::uint64_t random_at(std::uint64_t seed, std::uint64_t i) {
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15u;
  return mix(mix(seed + golden) + (i + 1) * golden);
}

/// floor(a * b / 2^64): takes a random 64-bit number to [0, b).
LAB_HOST_DEVICE constexpr std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(a) * b) >> 64);
}

}  // namespace lab

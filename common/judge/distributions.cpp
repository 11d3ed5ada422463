#include "judge/distributions.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace lab {
namespace {

using enum Stream;

constexpr std::uint64_t half = std::uint64_t{1} << 63, largest = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t common = largest;  // a place in a stream that no position of an input has

// --- random keys, from the most entropy to the least ---

std::uint64_t uniform(const Position& p) { return p.random(first); }

// Each bit is 1 with a probability of 2^-words, independently of the others: the fewer ones, the less entropy.
// Source: Thearling and Smith, "An improved supercomputer sorting benchmark", 1992.
template <int words>
std::uint64_t and_of(const Position& p) {
  constexpr std::uint64_t stream = half / 8;  // so that there can be sixteen streams
  std::uint64_t level = ~std::uint64_t{0};
  for (std::uint64_t word = 0; word < words; ++word) level &= random_at(p.seed + word * stream, p.i);
  return level;
}

// One value in each half of the range (few_values: in each sixteenth), so that no two values are equal.
std::uint64_t two_values(const Position& p) {
  const std::uint64_t which = p.random(first) >> 63;
  return (which << 63) | (p.random(second, which) >> 1);
}

std::uint64_t few_values(const Position& p) {
  const std::uint64_t which = p.random(first) >> 60;
  return (which << 60) | (p.random(second, which) >> 4);
}

std::uint64_t all_equal(const Position& p) { return p.random(first, 0); }

// --- keys in an order ---

// Key i of n in order: a random one in the i-th of n equal parts of the range.
std::uint64_t nth_in_order(const Position& p, std::uint64_t i, std::uint64_t n) {
  const std::uint64_t part = largest / n;
  return i * part + multiply_high(p.random(first, i), part);
}

std::uint64_t sorted(const Position& p) { return nth_in_order(p, p.i, p.n); }
std::uint64_t reversed(const Position& p) { return nth_in_order(p, p.n - 1 - p.i, p.n); }

std::uint64_t nearly_sorted(const Position& p) {
  const bool misplaced = p.random(second) % 64 == 0;
  return misplaced ? uniform(p) : sorted(p);
}

std::uint64_t organ_pipe(const Position& p) {
  const bool rising = p.i < (p.n + 1) / 2;
  return nth_in_order(p, rising ? 2 * p.i : 2 * (p.n - 1 - p.i) + 1, p.n);
}

std::uint64_t sorted_runs(const Position& p) {
  const std::uint64_t length = (p.n + 7) / 8;
  return nth_in_order(p, p.i % length, length);
}

// --- keys that are not spread evenly ---

// Every bit length is equally frequent: half of the keys of a 32-bit input are below 2^16.
std::uint64_t skewed(const Position& p) { return (p.random(first) | half) >> p.random(second) % p.bits; }

// The k-th most frequent of 2^20 - 1 ids is about as frequent as Zipf's law says, 1 in 14 k. To need no logarithm, all
// ranks of the same length in binary are equally frequent, and all lengths are. An id says nothing about its rank.
std::uint64_t power_law(const Position& p) {
  const std::uint64_t longest = std::uint64_t{1} << p.random(first) % 20;
  const std::uint64_t rank = longest + (p.random(second) & (longest - 1));
  return p.random(second, ~rank);
}

// The upper half of a key's bits from one number, the lower half from the upper bits of another.
std::uint64_t joined(const Position& p, std::uint64_t upper, std::uint64_t lower) {
  const int lower_bits = p.bits / 2, upper_bits = p.bits - lower_bits;
  return upper >> (64 - upper_bits) << (64 - upper_bits) | lower >> upper_bits;
}

// The events of a period, each of which is recorded up to a 64th of the period too late.
std::uint64_t timestamps(const Position& p) {
  const std::uint64_t now = p.i * (largest / p.n);
  return joined(p, p.random(second, common), now / 64 * 63 + p.random(first) / 64);
}

// 2^log_count prefixes, each in its own part of the range.
template <int log_count>
std::uint64_t prefixed(const Position& p) {
  const std::uint64_t which = p.random(first) >> (64 - log_count);
  return joined(p, which << (64 - log_count) | p.random(second, ~which) >> log_count, p.random(second));
}

std::uint64_t letters(const Position& p) {
  std::uint64_t level = 0;
  for (std::uint64_t random = p.random(first), byte = 0; byte < 8; ++byte, random >>= 8) {
    level = level << 8 | ('a' + ((random & 255) * 26 >> 8));
  }
  return level;
}

std::uint64_t half_equal(const Position& p) { return p.random(second) & 1 ? p.random(second, common) : uniform(p); }

std::uint64_t highest_byte(const Position& p) { return p.random(first) >> 56 << 56 | p.random(second, common) >> 8; }

// The sum of twelve uniform numbers is nearly normal. Its mean is 6 * 2^60, and its standard deviation 2^60.
std::uint64_t sum_of_twelve(const Position& p) {
  std::uint64_t sum = 0, random = p.random(first);
  for (int i = 0; i < 12; ++i, random = mix(random + 1)) sum += random >> 4;
  return sum;
}

std::uint64_t normal_level(const Position& p) { return sum_of_twelve(p) + (half - 6 * (std::uint64_t{1} << 60)); }
double normal(const Position& p) { return std::ldexp(double(sum_of_twelve(p)), -60) - 6; }
double log_normal(const Position& p) { return std::exp(normal(p)); }

// The binary logarithm of a whole number has half of the key's bits as its mean.
std::uint64_t log_normal_level(const Position& p) {
  return std::uint64_t(std::exp2(p.bits / 2 + normal(p) * p.bits / 16)) << (64 - p.bits);
}

// --- every number once ---

// A bijection of the numbers below 2^bits: each of its steps can be undone.
std::uint64_t mixed(std::uint64_t x, int bits, std::uint64_t seed) {
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  for (std::uint64_t round = 0; round < 4; ++round) {
    x = (x + random_at(seed, round)) * 0xbf58476d1ce4e5b9u & mask;
    x ^= x >> (bits + 1) / 2;
  }
  return x;
}

// Larger numbers are sent on until they come to one below n.
std::uint64_t place_in_permutation(const Position& p) {
  const int bits = std::max(2, int(std::bit_width(p.n - 1)));
  std::uint64_t x = p.i;
  do x = mixed(x, bits, p.seed);
  while (x >= p.n);
  return x;
}

std::uint64_t permutation_level(const Position& p) { return place_in_permutation(p) << (64 - p.bits); }
double permutation(const Position& p) { return double(place_in_permutation(p)); }

using enum InputUse;

constexpr Distribution all[] = {
    {{"uniform", "all keys are equally likely (floats: all finite bit patterns)", graded}, uniform},
    {{"and-2", "AND of 2 uniform words: a bit is 1 in 1 of 4 keys, 0.811 bits of entropy per bit (25.96 in 32)", timed},
     and_of<2>},
    {{"and-3", "AND of 3: a bit is 1 in 1 of 8 keys, 0.544 bits of entropy per bit (17.39 in 32)", graded}, and_of<3>},
    {{"and-4", "AND of 4: a bit is 1 in 1 of 16 keys, 0.337 bits of entropy per bit (10.79 in 32)", timed}, and_of<4>},
    {{"and-5", "AND of 5: a bit is 1 in 1 of 32 keys, 0.201 bits of entropy per bit (6.42 in 32)", timed}, and_of<5>},
    {{"few-values", "sixteen values at random: 4 bits of entropy per key", graded}, few_values},
    {{"two-values", "two values at random: 1 bit of entropy per key", graded}, two_values},
    {{"all-equal", "one value: no entropy", graded}, all_equal},
    {{"sorted", "already in ascending order", graded}, sorted},
    {{"reversed", "in descending order", graded}, reversed},
    {{"nearly-sorted", "ascending, one key in 64 replaced", graded}, nearly_sorted},
    {{"organ-pipe", "ascending, then descending", graded}, organ_pipe},
    {{"skewed", "mostly small keys: every bit length is equally frequent", graded}, skewed},
    {{"extremes", "0, largest, signed limits; floats: NaN of both signs, infinities, both zeros, denormals", graded},
     nullptr},
    {{"sorted-runs", "eight ascending runs in a row", compared}, sorted_runs},
    {{"power-law", "a million ids, the k-th most frequent in about 1 of 14 k keys (Zipf's law)", compared}, power_law},
    {{"timestamps", "the events of a period in their order, each up to 1/64 of the period late", compared}, timestamps},
    {{"addresses", "sixteen values of the upper half of the bits, any lower half", compared}, prefixed<4>},
    {{"clusters", "the same with two values: two narrow clusters", compared}, prefixed<1>},
    {{"letters", "each byte is one of 26 letters", compared}, letters},
    {{"half-equal", "half of the keys are equal, the others uniform", compared}, half_equal},
    {{"highest-byte", "keys that differ in their highest byte only", compared}, highest_byte},
    {{"normal", "mean 0, standard deviation 1 (whole numbers: in the middle of their range, 1/16 of it)", compared},
     normal_level,
     normal},
    {{"log-normal", "e to the power of normal keys (whole numbers: 2 to that power, with half of the bits)", compared},
     log_normal_level,
     log_normal},
    {{"permutation", "n consecutive whole numbers in random order", compared}, permutation_level, permutation},
    {{"zeros", "uniform, one key in 64 replaced by 0 (floats: by +0 or -0)", compared}, uniform, nullptr, true},
};

}  // namespace

std::span<const Distribution> distributions() { return all; }

}  // namespace lab

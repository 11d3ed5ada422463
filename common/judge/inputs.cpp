// A distribution gives each position a level, a 64-bit fraction of the key type's range. The inverse of ordered_bits
// turns levels into keys, so "sorted" means the same for every type. A key depends only on the seed and its position,
// so every core can generate its own part and no state is kept.
#include "judge/inputs.h"

#include <array>
#include <bit>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <string_view>
#include <vector>

#include "judge/parallel.h"
#include "judge/random.h"
#include "step/error.h"
#include "step/key_type.h"

namespace lab {
namespace {

constexpr std::uint64_t half = std::uint64_t{1} << 63;

// Independent streams of random numbers from one seed. Some distributions need two.
enum Stream : std::uint64_t { first, second };

struct Position {
  std::uint64_t seed;
  std::uint64_t i;
  std::uint64_t n;
  int bits;  // of a key

  std::uint64_t random(Stream stream) const { return random_at(seed + stream * half, i); }
  std::uint64_t random(Stream stream, std::uint64_t at) const { return random_at(seed + stream * half, at); }
};

using Level = std::uint64_t (*)(const Position&);

std::uint64_t uniform(const Position& p) { return p.random(first); }

// The level of position i of n keys in order: a random one in the i-th of n equal parts of the range.
std::uint64_t nth_in_order(const Position& p, std::uint64_t i) {
  const std::uint64_t part = std::numeric_limits<std::uint64_t>::max() / p.n;
  return i * part + multiply_high(p.random(first, i), part);
}

// Each bit is 1 with a probability of 2^-words, independently of the others: the fewer ones, the less entropy.
// Source: Thearling and Smith, "An improved supercomputer sorting benchmark", 1992.
template <int words>
std::uint64_t and_of(const Position& p) {
  constexpr std::uint64_t stream = half / 8;  // so that there can be sixteen streams
  std::uint64_t level = ~std::uint64_t{0};
  for (std::uint64_t word = 0; word < words; ++word) level &= random_at(p.seed + word * stream, p.i);
  return level;
}

std::uint64_t sorted(const Position& p) { return nth_in_order(p, p.i); }
std::uint64_t reversed(const Position& p) { return nth_in_order(p, p.n - 1 - p.i); }
std::uint64_t all_equal(const Position& p) { return p.random(first, 0); }

// One value in each half of the range (few_values: in each sixteenth), so that no two values are equal.
std::uint64_t two_values(const Position& p) {
  const std::uint64_t which = p.random(first) >> 63;
  return (which << 63) | (p.random(second, which) >> 1);
}

std::uint64_t few_values(const Position& p) {
  const std::uint64_t which = p.random(first) >> 60;
  return (which << 60) | (p.random(second, which) >> 4);
}

std::uint64_t nearly_sorted(const Position& p) {
  const bool misplaced = p.random(second) % 64 == 0;
  return misplaced ? uniform(p) : sorted(p);
}

// Every bit length is equally frequent: half of the keys of a 32-bit input are below 2^16.
std::uint64_t skewed(const Position& p) { return (p.random(first) | half) >> p.random(second) % p.bits; }

std::uint64_t organ_pipe(const Position& p) {
  const bool rising = p.i < (p.n + 1) / 2;
  return nth_in_order(p, rising ? 2 * p.i : 2 * (p.n - 1 - p.i) + 1);
}

struct Distribution {
  InputFacts facts;
  Level level;  // null for `extremes`, which picks bit patterns
};

constexpr Distribution distributions[] = {
    {{"uniform", "all keys are equally likely (floats: all finite bit patterns)"}, uniform},
    {{"and-2", "AND of 2 uniform words: a bit is 1 in 1 of 4 keys, 0.811 bits of entropy per bit (25.96 in 32)"},
     and_of<2>},
    {{"and-3", "AND of 3: a bit is 1 in 1 of 8 keys, 0.544 bits of entropy per bit (17.39 in 32)"}, and_of<3>},
    {{"and-4", "AND of 4: a bit is 1 in 1 of 16 keys, 0.337 bits of entropy per bit (10.79 in 32)"}, and_of<4>},
    {{"and-5", "AND of 5: a bit is 1 in 1 of 32 keys, 0.201 bits of entropy per bit (6.42 in 32)"}, and_of<5>},
    {{"few-values", "sixteen values at random: 4 bits of entropy per key"}, few_values},
    {{"two-values", "two values at random: 1 bit of entropy per key"}, two_values},
    {{"all-equal", "one value: no entropy"}, all_equal},
    {{"sorted", "already in ascending order"}, sorted},
    {{"reversed", "in descending order"}, reversed},
    {{"nearly-sorted", "ascending, one key in 64 replaced"}, nearly_sorted},
    {{"organ-pipe", "ascending, then descending"}, organ_pipe},
    {{"skewed", "mostly small keys: every bit length is equally frequent"}, skewed},
    {{"extremes", "0, largest, signed limits; floats: NaN of both signs, infinities, both zeros, denormals"}, nullptr},
};

constexpr auto facts = [] {
  std::array<InputFacts, std::size(distributions)> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = distributions[i].facts;
  return all;
}();

const Distribution& distribution_named(const std::string& name) {
  std::string known;
  for (const Distribution& distribution : distributions) {
    if (name == distribution.facts.name) return distribution;
    known += std::string(distribution.facts.name) + ", ";
  }
  throw Error("unknown input '" + name + "'; choose one of: " + known + "range:LOW:HIGH, file:PATH");
}

template <class Key>
Key key_at_level(std::uint64_t level) {
  const Bits<Key> lowest = ordered_bits(std::numeric_limits<Key>::lowest());
  const Bits<Key> span = ordered_bits(std::numeric_limits<Key>::max()) - lowest;
  // The type has `span` + 1 values; if that is 2^64, the level is the value.
  const std::uint64_t values = std::uint64_t{span} + 1;
  return from_ordered_bits<Key>(Bits<Key>(lowest + (values ? multiply_high(level, values) : level)));
}

template <class Key>
std::vector<Key> extreme_keys() {
  using Limits = std::numeric_limits<Key>;
  if constexpr (std::is_integral_v<Key>) {
    constexpr Key top_bit = Key(Bits<Key>(1) << (8 * sizeof(Key) - 1));
    return {0,
            1,
            Key(-1),
            Key(-2),
            top_bit,
            Key(top_bit + 1),
            Key(Bits<Key>(top_bit) - 1),
            Limits::max(),
            Limits::lowest()};
  } else {
    std::vector<Key> keys = {Key(0), Limits::denorm_min(), Key(Limits::min() / 2), Limits::min(),
                             Key(1), Limits::max(),        Limits::infinity()};
    const Bits<Key> infinity = std::bit_cast<Bits<Key>>(Limits::infinity());
    keys.push_back(std::bit_cast<Key>(Bits<Key>(infinity + 1)));                   // the smallest NaN
    keys.push_back(std::bit_cast<Key>(Bits<Key>(Bits<Key>(~Bits<Key>(0)) >> 1)));  // the largest
    keys.push_back(Limits::quiet_NaN());
    constexpr Bits<Key> sign = Bits<Key>(Bits<Key>(1) << (8 * sizeof(Key) - 1));
    for (std::size_t i = 0, positive = keys.size(); i < positive; ++i) {
      keys.push_back(std::bit_cast<Key>(Bits<Key>(std::bit_cast<Bits<Key>>(keys[i]) | sign)));
    }
    return keys;
  }
}

template <class Key>
void make_typed(const Distribution& distribution, std::uint64_t seed, std::int64_t n, Key* keys) {
  const std::vector<Key> extremes = extreme_keys<Key>();
  parallel_for(n, [&](std::int64_t begin, std::int64_t end) {
    Position position{seed, 0, static_cast<std::uint64_t>(n), 8 * sizeof(Key)};
    for (std::int64_t i = begin; i < end; ++i) {
      position.i = static_cast<std::uint64_t>(i);
      keys[i] = distribution.level ? key_at_level<Key>(distribution.level(position))
                                   : extremes[multiply_high(position.random(first), extremes.size())];
    }
  });
}

constexpr std::string_view file_prefix = "file:";
constexpr std::string_view range_prefix = "range:";

// The whole number that `text` consists of, as a key.
template <class Key>
Key key_of(const std::string& text, const std::string& input, KeyType type) {
  Key key{};
  const bool digits = text.find_first_not_of("0123456789", text.starts_with('-')) == std::string::npos;
  if (!digits || text.empty() || text == "-") {
    throw Error("in the input " + input + ", '" + text + "' is not a whole number");
  }
  // (For unsigned keys, from_chars does not accept a minus sign.)
  if (std::from_chars(text.data(), text.data() + text.size(), key).ec != std::errc{}) {
    const char* const wrong = text.starts_with('-') ? "small" : "large";
    throw Unsupported(text + " is too " + wrong + " for " + name_of(type) + " keys");
  }
  return key;
}

// Parses "range:LOW:HIGH" (inputs.h). Calls f(low, high).
template <class F>
void with_range(const std::string& input, KeyType type, F&& f) {
  const std::string both = input.substr(range_prefix.size());
  const std::size_t colon = both.find(':');
  if (colon == std::string::npos) throw Error("the input " + input + " has only one bound: give range:LOW:HIGH");
  with_key(type, [&](auto tag) {
    using Key = typename decltype(tag)::Key;
    if constexpr (std::is_floating_point_v<Key>) {
      throw Unsupported(std::string("range:LOW:HIGH generates whole numbers only, not ") + name_of(type) + " keys");
    } else {
      const Key low = key_of<Key>(both.substr(0, colon), input, type);
      const Key high = key_of<Key>(both.substr(colon + 1), input, type);
      if (high < low) throw Error("the input " + input + " is empty: LOW must not be greater than HIGH");
      f(low, high);
    }
  });
}

template <class Key>
void make_range(Key low, Key high, std::uint64_t seed, std::int64_t n, Key* keys) {
  const std::uint64_t values = std::uint64_t(high) - std::uint64_t(low) + 1;  // 0: all 2^64
  parallel_for(n, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::uint64_t random = random_at(seed, static_cast<std::uint64_t>(i));
      keys[i] = Key(std::uint64_t(low) + (values ? multiply_high(random, values) : random));
    }
  });
  if (n < 2) return;
  // With seed 0, the smallest key comes last: a sort then needs all of its phases, however few keys there are.
  const std::int64_t at = n - 1 - static_cast<std::int64_t>(seed % static_cast<std::uint64_t>(n));
  keys[at] = low;
  keys[(at + n / 2) % n] = high;
}

// The size of the file that "file:PATH" names, in bytes.
std::int64_t file_bytes(const std::string& input) {
  const std::string path = input.substr(file_prefix.size());
  if (!std::filesystem::is_regular_file(path)) throw Error("no such file: " + path);
  return static_cast<std::int64_t>(std::filesystem::file_size(path));
}

void read_file(const std::string& path, std::int64_t bytes, void* to) {
  std::ifstream file(path, std::ios::binary);
  if (!file.read(static_cast<char*>(to), bytes)) throw Error("cannot read " + path);
}

}  // namespace

std::span<const InputFacts> inputs() { return facts; }

std::int64_t file_keys(const std::string& input, KeyType type) {
  if (input.starts_with(range_prefix)) {
    with_range(input, type, [](auto, auto) {});
    return 0;
  }
  if (!input.starts_with(file_prefix)) {
    distribution_named(input);
    return 0;
  }
  const std::string path = input.substr(file_prefix.size());
  const std::int64_t bytes = file_bytes(input), n = bytes / key_bytes(type);
  if (bytes == 0) throw Error(path + " is empty: it contains no keys");
  if (bytes % key_bytes(type) != 0) {
    throw Unsupported(path + " has " + std::to_string(bytes) + " bytes, which is not a multiple of the " +
                      std::to_string(key_bytes(type)) + " bytes of a " + name_of(type) +
                      " key: choose another --type, or sort only its first keys with --n " + std::to_string(n) +
                      " or less");
  }
  return n;
}

void check_input(const std::string& input, KeyType type, std::int64_t n) {
  if (n < 0) throw Error("n is " + std::to_string(n) + "; it must be 0 or more");
  if (!input.starts_with(file_prefix)) {
    file_keys(input, type);
    return;
  }
  const std::int64_t bytes = file_bytes(input), available = bytes / key_bytes(type);
  if (n > available) {
    throw Unsupported(input.substr(file_prefix.size()) + " contains " + std::to_string(available) + " " +
                      name_of(type) + " keys in its " + std::to_string(bytes) + " bytes: choose --n " +
                      std::to_string(available) + " or less, not " + std::to_string(n));
  }
}

void make_keys(const std::string& input, KeyType type, std::uint64_t seed, std::int64_t n, void* keys) {
  check_input(input, type, n);
  if (input.starts_with(file_prefix)) return read_file(input.substr(file_prefix.size()), n * key_bytes(type), keys);
  if (input.starts_with(range_prefix)) {
    return with_range(input, type,
                      [&](auto low, auto high) { make_range(low, high, seed, n, static_cast<decltype(low)*>(keys)); });
  }
  const Distribution& distribution = distribution_named(input);
  with_key(type, [&](auto tag) { make_typed(distribution, seed, n, static_cast<typename decltype(tag)::Key*>(keys)); });
}

void make_values(std::uint64_t seed, std::int64_t n, std::uint32_t* values) {
  if (n > std::int64_t{1} << 32) throw Error("pairs have 32-bit values: n must be at most 2^32");
  if (n == 0) return;
  if (seed == 0) return std::iota(values, values + n, std::uint32_t{0});
  // i -> (factor i + start) mod n takes every value once if factor and n have no common divisor.
  const auto size = static_cast<std::uint64_t>(n);
  std::uint64_t factor = multiply_high(random_at(~seed, 0), size) | 1;
  while (std::gcd(factor, size) != 1) ++factor;
  factor %= size;  // so that no product below needs more than 64 bits
  const std::uint64_t start = multiply_high(random_at(~seed, 1), size);
  parallel_for(n, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      values[i] = static_cast<std::uint32_t>((factor * static_cast<std::uint64_t>(i) + start) % size);
    }
  });
}

}  // namespace lab

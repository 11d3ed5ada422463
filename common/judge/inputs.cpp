#include "judge/inputs.h"

#include <bit>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <string_view>
#include <vector>

#include "judge/distributions.h"
#include "judge/parallel.h"
#include "judge/random.h"
#include "step/error.h"
#include "step/key_type.h"

namespace lab {
namespace {

const Distribution& distribution_named(const std::string& name) {
  std::string known;
  for (const Distribution& distribution : distributions()) {
    if (name == distribution.facts.name) return distribution;
    known += std::string(distribution.facts.name) + ", ";
  }
  throw Error("unknown input '" + name + "'; choose one of: " + known + "values:COUNT, range:LOW:HIGH, file:PATH");
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
Key key_at(const Distribution& distribution, const Position& position, const std::vector<Key>& extremes) {
  if (distribution.has_zeros) {
    const std::uint64_t random = position.random(Stream::second);
    if (random % 64 == 0) return Key(random & 64 ? -Key() : Key());
  }
  if (!distribution.level) return extremes[multiply_high(position.random(Stream::first), extremes.size())];
  if constexpr (std::is_floating_point_v<Key>) {
    if (distribution.number) return static_cast<Key>(distribution.number(position));
  }
  return key_at_level<Key>(distribution.level(position));
}

template <class Key>
void make_typed(const Distribution& distribution, std::uint64_t seed, std::int64_t n, Key* keys) {
  const std::vector<Key> extremes = extreme_keys<Key>();
  parallel_for(n, [&](std::int64_t begin, std::int64_t end) {
    Position position{seed, 0, static_cast<std::uint64_t>(n), 8 * sizeof(Key)};
    for (std::int64_t i = begin; i < end; ++i) {
      position.i = static_cast<std::uint64_t>(i);
      keys[i] = key_at(distribution, position, extremes);
    }
  });
}

constexpr std::string_view file_prefix = "file:";
constexpr std::string_view range_prefix = "range:";
constexpr std::string_view values_prefix = "values:";
constexpr std::uint64_t most_values = 1 << 16;

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

// The number in "values:COUNT".
std::uint64_t value_count(const std::string& input, KeyType type) {
  const auto count = key_of<std::uint64_t>(input.substr(values_prefix.size()), input, KeyType::u64);
  const int bits = 8 * key_bytes(type);
  const std::uint64_t most = bits < 16 ? std::uint64_t{1} << bits : most_values;
  if (count < 2 || count > most) {
    throw Unsupported("the input " + input + " needs a number of values from 2 to " + std::to_string(most) + " for " +
                      name_of(type) + " keys");
  }
  return count;
}

// One value in each of `count` equal parts of the type's values.
template <class Key>
void make_few_values(std::uint64_t count, std::uint64_t seed, std::int64_t n, Key* keys) {
  const Bits<Key> lowest = ordered_bits(std::numeric_limits<Key>::lowest());
  const Bits<Key> span = ordered_bits(std::numeric_limits<Key>::max()) - lowest;
  const auto begin_of = [&](std::uint64_t part) {
    return std::uint64_t((static_cast<unsigned __int128>(span) + 1) * part / count);
  };
  std::vector<Key> values;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t value = begin_of(i) + multiply_high(random_at(~seed, i), begin_of(i + 1) - begin_of(i));
    values.push_back(from_ordered_bits<Key>(Bits<Key>(lowest + value)));
  }
  parallel_for(n, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      keys[i] = values[multiply_high(random_at(seed, std::uint64_t(i)), count)];
  });
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

std::span<const InputFacts> inputs() {
  static const auto all = [] {
    std::vector<InputFacts> facts;
    for (const Distribution& distribution : distributions()) facts.push_back(distribution.facts);
    return facts;
  }();
  return all;
}

std::int64_t file_keys(const std::string& input, KeyType type) {
  if (input.starts_with(range_prefix)) {
    with_range(input, type, [](auto, auto) {});
    return 0;
  }
  if (input.starts_with(values_prefix)) {
    value_count(input, type);
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
  with_key(type, [&](auto tag) {
    auto* const to = static_cast<typename decltype(tag)::Key*>(keys);
    if (input.starts_with(values_prefix)) return make_few_values(value_count(input, type), seed, n, to);
    make_typed(distribution_named(input), seed, n, to);
  });
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

// Chooses what is drawn. The kernels that make the keys are in draw.cu.
#include "draw.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "judge/random.h"
#include "step/key_type.h"

namespace draw {
namespace {

/// Random numbers of a seed, one after the other.
class Random {
 public:
  explicit Random(std::uint64_t seed) : seed_(seed) {}

  std::uint64_t number() { return lab::random_at(seed_, next_++); }
  std::uint64_t below(std::uint64_t end) { return lab::multiply_high(number(), end); }
  double between(double low, double high) { return low + (high - low) * std::ldexp(double(number() >> 11), -53); }
  /// Uniform in its logarithm.
  double scaled(double low, double high) { return low * std::exp2(between(0, std::log2(high / low))); }
  /// A probability in 2^-64, from 2^-12 to 1/2.
  std::uint64_t share() { return std::uint64_t(std::ldexp(scaled(std::exp2(-12), 0.5), 64)); }

 private:
  const std::uint64_t seed_;
  std::uint64_t next_ = 0;
};

constexpr const char* names[] = {"range", "power", "normal", "permutation", "runs", "duplicates", "holes", "constant"};

Generator generator(Random& random, int key_bits, std::int64_t n) {
  Generator made{};
  made.family = Family(random.below(7));  // a constant comes only with something else
  made.seed = random.number();
  made.bits = 1 + int(random.below(key_bits));
  made.exponent = random.scaled(1.0 / 8, 8);
  made.count = std::uint64_t(random.scaled(2, double(n)));
  made.mask = random.number();
  const std::uint64_t other = random.number(), how = random.below(3);
  if (how == 1) made.mask &= other;
  if (how == 2) made.mask |= other;
  if (made.family == Family::permutation || made.family == Family::runs) {
    const int needed = int(std::ceil(std::log2(double(n))));
    made.bits = int(random.below(std::max(key_bits - needed, 0) + 1));
  }
  return made;
}

Input input(Random& random, int key_bits, std::int64_t n) {
  Input made{.first = generator(random, key_bits, n), .second = generator(random, key_bits, n)};
  const std::uint64_t kind = random.below(6);  // half of the inputs have one generator
  if (kind >= 3) made.second_share = random.share();
  if (kind == 3) made.second.family = Family::constant;
  if (kind == 4) made.first.family = Family::constant;
  made.in_parts = random.below(4) == 0;
  made.as_numbers = random.below(2) == 0;
  if (random.below(4) == 0) made.zero_share = random.share();
  return made;
}

std::string describe(const Generator& made) {
  const char* const name = names[int(made.family)];
  switch (made.family) {
    case Family::power:
      return fmt::format("{} {:.2f}", name, made.exponent);
    case Family::duplicates:
      return fmt::format("{} {}", name, made.count);
    case Family::runs:
      return fmt::format("{} {} << {}", name, made.count, made.bits);
    case Family::holes:
      return fmt::format("{} {:x}", name, made.mask);
    case Family::constant:
      return name;
    default:
      return fmt::format("{} {}", name, made.bits);
  }
}

}  // namespace

std::vector<Cell> cells(std::uint64_t seed, int count, const std::vector<lab::KeyType>& types, std::int64_t least,
                        std::int64_t most) {
  std::vector<Cell> drawn;
  Random random(seed);
  for (int i = 0; i < count; ++i) {
    Cell cell{};
    cell.type = types[random.below(types.size())];
    cell.order = random.below(4) == 0 ? lab::Order::descending : lab::Order::ascending;
    cell.n = std::clamp(std::int64_t(random.scaled(double(least), double(most))), least, most);
    cell.seed = random.number();
    Random own(cell.seed);  // so that one generator's parameters do not depend on how many another has
    cell.input = input(own, 8 * int(lab::key_bytes(cell.type)), cell.n);
    drawn.push_back(cell);
  }
  return drawn;
}

std::string describe(const Cell& cell) {
  const Input& input = cell.input;
  std::string text = describe(input.first);
  if (input.second_share != 0) {
    text += fmt::format(" {} {:.3g} {}", input.in_parts ? "then" : "with", std::ldexp(double(input.second_share), -64),
                        describe(input.second));
  }
  if (cell.type == lab::KeyType::f32 || cell.type == lab::KeyType::f64) {
    if (input.as_numbers) text += "; numbers";
    if (input.zero_share != 0) text += fmt::format("; zeros {:.3g}", std::ldexp(double(input.zero_share), -64));
  }
  return text;
}

}  // namespace draw

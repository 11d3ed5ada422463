#include "judge/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>

#include "judge/inputs.h"
#include "judge/random.h"
#include "judge/reference.h"
#include "step/error.h"
#include "step/key_type.h"

namespace lab {
namespace {

constexpr std::int64_t max_small_n = 6000;      // beyond it sizes are "many keys"
constexpr std::int64_t several_tiles = 40'009;  // more keys than the largest tile of any step
// Hundreds of cases of each type find no more than tens. So each n is sorted with at most this number of types, and
// each n above few_keys with one. A step that takes more types sorts each input of a type once, with the sizes and
// orders in turn.
constexpr std::size_t max_types = 3;
constexpr std::int64_t few_keys = 1100;
constexpr std::int64_t fewer_keys = 300;  // which still have several warps
// A quadratic step has this number of keys in most of its hundreds of cases, which otherwise take half a minute: three
// blocks, or three tiles, of which the last is not full. Only a few cases have more.
constexpr std::int64_t max_quadratic_n = few_keys;
// A step with a pass for each bit makes some twenty times as many requests per key as others. On a CPU, it has this
// number of keys in cases with many, sorts fewer n and each of them with one type, and has few keys where the input or
// the type matters. It sorts each input with a third of the types, in turn.
constexpr std::int64_t max_n_of_passes = 1 << 14;
constexpr std::uint64_t lane_seeds[] = {0, 1, 77};  // 0: CUDA's own order

std::int64_t affordable_on(Build build, const StepFacts& step) {
  const Affordable keys = affordable(step);
  return build == Build::check ? keys.check : build == Build::cpu ? keys.cpu : keys.cuda;
}

// An input for cases that a step with a counter per value must not refuse: every type can represent its range.
const char* narrow_input(const StepFacts& step) { return step.max_range ? "range:0:255" : "uniform"; }

// The widest input of a type that a step sorts: one with a counter per value would refuse uniform keys of most types.
const char* widest_input(const StepFacts& step, KeyType type) {
  return step.max_range && type != KeyType::u8 ? "range:0:4095" : "uniform";
}

/// Makes the cases of one line. Each has its own seed and order.
class Generator {
 public:
  Generator(const Lab& lab, const StepFacts& step, std::uint64_t seed, Build build)
      : lab_(lab), step_(step), seed_(mix(seed + 64 * step.number + static_cast<int>(step.task))), build_(build) {
    for (KeyType type : all_key_types) {
      if (step.takes(type)) types_.push_back(type);
    }
  }

  std::vector<CaseGroup> graded(bool quick) {
    if (quick) add_small_numbers();
    begin_group("any n");
    const auto sizes = small_sizes(quick);
    for (std::int64_t n : sizes) {
      const std::size_t types = quick || n > few_keys || has_slow_passes() ? 1 : std::min(types_.size(), max_types);
      for (std::size_t i = 0; i < types; ++i) add(type_for(n), n, "uniform");
    }
    begin_group("any input, key type and order");
    if (quick) {
      add_each_once();
    } else {
      for (KeyType type : types_) add_inputs(type);
    }
    begin_group("ranges of values");
    if (step_.max_range) {
      for (KeyType type : types_) add_ranges(type);
    }
    begin_group("arrays that begin at any address");
    add_offsets(quick);
    begin_group("many keys");
    // The plain type, which gets the inputs at even places, and the others take turns, because some methods serve only
    // large arrays of one type. "values:200" puts many equal keys into each part that the highest bits make.
    // "nearly-sorted" gives the lanes of a warp keys of the same part, also at an n that a method for few keys serves.
    if (quick && limit() >= 13007) add(plain_type(), 13007, "nearly-sorted");
    const char* const inputs[] = {"uniform", "few-values", "values:200", "skewed", "uniform", "nearly-sorted"};
    std::size_t index = 0;
    for (std::int64_t n : large_sizes(quick)) {
      const KeyType type = index % 2 == 0 ? plain_type() : next_type();
      add(type, n, inputs[index++ % std::size(inputs)]);
    }
    begin_group("little device memory");
    if (step_.in_host_memory) add_little_memory(quick);
    begin_group("any possible launch shape");
    add_possible_shapes(quick);
    begin_group("few threads for many keys");
    add_many_rounds(quick);
    begin_group("blocks in any order");
    add_reversed(quick);
    begin_group("impossible shapes are refused");
    for (LaunchShape shape : {LaunchShape{0, 1025}, {0, -32}, {-1, 0}, {1, 1 << 20}}) {
      add(types_.front(), std::min<std::int64_t>(1000, limit()), narrow_input(step_), shape).expect = Expect::refused;
    }
    begin_group("too little device memory is refused");
    if (step_.in_host_memory) add_too_little_memory();
    return finish();
  }

  // Pairs are left out: their values are 32-bit numbers that each occur once.
  std::vector<CaseGroup> large() {
    begin_group("n above 2^32");
    std::vector<KeyType> types = types_;
    std::erase(types, KeyType::pairs);
    if (step_.max_n == any_n && !types.empty()) {
      const KeyType smallest = *std::min_element(types.begin(), types.end(),
                                                 [](KeyType a, KeyType b) { return key_bytes(a) < key_bytes(b); });
      // Not by add(), which makes the input. That is not needed: the smallest type of a counting step has one byte.
      next_case(smallest, (std::int64_t{1} << 32) + 4099, "uniform", {});
    }
    return finish();
  }

  std::vector<CaseGroup> check() {
    const LaunchShape shapes[] = {{}, {1, 32}, {1, 96}, {64, 128}, {0, 1024}, {1, 0}};
    const char* const inputs[] = {"uniform", "few-values", "reversed", "all-equal"};
    const std::int64_t several_blocks = std::min<std::int64_t>(has_slow_passes() ? 3001 : 5000, typical_max_n());
    std::set<std::int64_t> sizes = {1, 2, 33, 1000, 1025, 3001};
    std::erase_if(sizes, [&](std::int64_t n) { return n > several_blocks; });
    if (step_.tile) sizes.insert({step_.tile - 1, step_.tile, 2 * step_.tile + 1});
    begin_group("small numbers");
    add_small(33);
    constexpr const char* both_orders = "sizes, shapes and inputs";
    begin_group(both_orders);
    std::size_t index = 0;
    for (std::int64_t n : sizes) {
      Case& c = add(type_for(n), n, inputs[index % std::size(inputs)], shapes[index % std::size(shapes)]);
      c.order = index++ % 2 && is_in_place(step_.task) ? Order::descending : Order::ascending;
    }
    begin_group("launch shapes");
    for (const LaunchShape& shape : shapes) {
      const bool single_block = shape.blocks == 1 && shape.threads == 0;
      if (shape.blocks || shape.threads) {
        add(types_.front(), single_block && step_.growth != Growth::quadratic ? several_tiles : several_blocks,
            widest_input(step_, types_.front()), shape);
      }
    }
    begin_group("key types");
    for (KeyType type : types_) {
      add(type, has_slow_passes() ? few_keys : several_blocks, widest_input(step_, type));
    }
    begin_group("arrays that begin at any address");
    add_small(33, 1);
    const std::int64_t most_keys = std::min<std::int64_t>(5000, typical_max_n());
    add(types_.front(), most_keys, widest_input(step_, types_.front())).offset = 3;
    begin_group("little device memory");
    if (step_.in_host_memory) {
      add_little_memory(true);
      add_too_little_memory();
    }
    begin_group("blocks in any order");
    add_reversed(true);
    std::size_t i = 0;
    for (CaseGroup& group : groups_) {
      for (Case& c : group.cases) {
        c.lane_seed = lane_seeds[i++ % std::size(lane_seeds)];
        if (group.what != both_orders) c.order = Order::ascending;
        // A step may serve fewer shapes, if it refuses the others.
        if (c.shape.blocks || c.shape.threads) c.expect = Expect::either;
      }
    }
    return finish();
  }

  std::vector<CaseGroup> budget() {
    begin_group("budget");
    if (step_.budget.n > 0) {
      const KeyType type = default_type(lab_.traits.default_type, step_);
      Case& c = add(type, step_.budget.n, widest_input(step_, type), {.blocks = step_.budget.blocks});
      c.seed = 1;
      c.order = Order::ascending;
      c.lane_seed = 0;
      c.device_bytes = step_.min_device_bytes;
      c.expect = expected(c);
    }
    return finish();
  }

 private:
  void begin_group(const char* what) { groups_.push_back({what, {}}); }

  std::vector<CaseGroup> finish() {
    std::erase_if(groups_, [](const CaseGroup& group) { return group.cases.empty(); });
    return std::move(groups_);
  }

  KeyType next_type() { return types_[next_++ % types_.size()]; }

  // With more than a few keys, a step with a pass for each bit sorts a type that has few of them: the passes are alike.
  KeyType type_for(std::int64_t n) {
    return has_slow_passes() && n > fewer_keys && step_.takes(KeyType::u16) ? KeyType::u16 : next_type();
  }

  bool has_slow_passes() const { return step_.growth == Growth::passes && build_ != Build::cuda; }

  // What most cases have at most.
  std::int64_t typical_max_n() const {
    if (has_slow_passes()) return std::min(max_n_of_passes, limit());
    return step_.growth == Growth::quadratic ? std::min(max_quadratic_n, limit()) : limit();
  }

  // On a CPU, hundreds of cases take minutes even if each takes only half a second.
  std::int64_t limit() const { return affordable_on(build_, step_) / (build_ == Build::cpu ? 2 : 1); }

  Case& next_case(KeyType type, std::int64_t n, const char* input, LaunchShape shape) {
    Case c;
    c.lab = lab_.traits.name;
    c.step = step_;
    c.type = type;
    c.n = n;
    c.input = input;
    c.shape = shape;
    c.device_bytes = case_count_ % 3 * step_.min_device_bytes;  // all; as little as possible; a little more
    c.seed = random_at(seed_, case_count_++) >> 32;
    c.order = c.seed & 1 ? Order::descending : Order::ascending;
    return groups_.back().cases.emplace_back(std::move(c));
  }

  Case& add(KeyType type, std::int64_t n, const char* input, LaunchShape shape = {}) {
    Case& c = next_case(type, n, input, shape);
    c.expect = expected(c);
    return c;
  }

  // Only the keys themselves show whether they have more values than the step has counters.
  static Expect expected(const Case& c) {
    if (c.step.max_range == 0) return Expect::verified;
    const auto keys = std::make_unique_for_overwrite<char[]>(c.n * key_bytes(c.type));
    make_keys(c.input, c.type, c.seed, c.n, keys.get());
    return range_of(c.type, c.n, keys.get()) < c.step.max_range ? Expect::verified : Expect::refused;
  }

  // The key type that is easiest to think about.
  KeyType plain_type() const {
    if (step_.takes(KeyType::u32)) return KeyType::u32;
    return default_type(lab_.traits.default_type, step_);
  }

  // n keys from 0 to 9, for a scan n ones, for pairs the values 0, 1, 2 ...; types that have no such keys are left out.
  // Two keys are in order, and a comparison in the wrong direction exchanges them; of more keys, the smallest is last.
  void add_small(std::int64_t n, std::int64_t offset = 0) {
    const KeyType type = plain_type();
    if (type == KeyType::f32 || type == KeyType::f64 || n > limit()) return;
    Case& c = add(type, n, step_.task == Task::scan ? "range:1:1" : "range:0:9");
    c.seed = n == 2 ? 1 : 0;
    c.order = Order::ascending;
    c.expect = Expect::verified;
    c.offset = offset;
    c.device_bytes = 0;
    if (step_.takes(KeyType::pairs) && type != KeyType::pairs) {
      Case pairs = c;
      pairs.type = KeyType::pairs;
      groups_.back().cases.push_back(std::move(pairs));
    }
  }

  // The first cases: if one of them fails, its keys are easier to think about than those of any later case.
  void add_small_numbers() {
    begin_group("small numbers");
    std::set<std::int64_t> sizes = {1, 2, 3, 8, 33, 100, 1000, 1025, 3001};
    if (step_.tile) sizes.insert(2 * step_.tile + 1);
    for (std::int64_t n : sizes) add_small(n);
    const KeyType type = plain_type();
    if (type == KeyType::f32 || type == KeyType::f64) return;
    Case& equal = add(type, std::min<std::int64_t>(100, limit()), "range:7:7");
    equal.seed = 0;
    equal.order = Order::ascending;
    equal.device_bytes = 0;
  }

  // 0, 1, 2; sizes around those of a warp, a block, a tile and several tiles; primes; and random sizes.
  std::set<std::int64_t> small_sizes(bool quick) const {
    std::set<std::int64_t> sizes = {0, 1, 2, 3, 5, 97, 1000, 1009, 3001};
    const auto around = [&](std::int64_t n) { sizes.insert({n - 1, n, n + 1}); };
    for (std::int64_t n : {32, 64, 1024, 2048, 4096}) around(n);
    if (!quick) {
      for (std::int64_t n : {128, 256, 512}) around(n);
    }
    if (!quick && !has_slow_passes()) {
      for (std::int64_t n : {3 * 1024, 5 * 1024, 8192}) around(n);
      for (int i = 0; i < 20; ++i) {
        sizes.insert(static_cast<std::int64_t>(random_at(~seed_, i) % std::uint64_t{max_small_n}));
      }
    }
    for (std::int64_t tiles : {1, 2, 3}) {
      if (step_.tile) around(tiles * step_.tile);
    }
    std::erase_if(sizes, [&](std::int64_t n) { return n > limit(); });
    return sizes;
  }

  std::vector<std::int64_t> large_sizes(bool quick) const {
    std::vector<std::int64_t> sizes = {10007, 16384, 16385, 65535, 100003, 131073, 262147};
    if (quick) sizes = {20011};
    if (build_ == Build::cuda) sizes.insert(sizes.end(), {(1 << 20) + 1, (1 << 22) - 1, 1 << 24, 49979687});
    std::erase_if(sizes, [&](std::int64_t n) { return n > limit(); });
    if (sizes.empty() && !quick) sizes = {std::min<std::int64_t>(step_.max_n, 10007)};  // although it takes longer
    return sizes;
  }

  static std::vector<const char*> graded_inputs() {
    std::vector<const char*> names;
    for (const InputFacts& input : inputs()) {
      if (input.use == InputUse::graded) names.push_back(input.name);
    }
    return names;
  }

  // Each input and each type, but not each input of each type.
  void add_each_once() {
    const std::int64_t n = std::min<std::int64_t>(has_slow_passes() ? few_keys : 1777, typical_max_n());
    for (KeyType type : types_) add(type, n, "uniform");
    for (const char* input : graded_inputs()) add(next_type(), n, input);
  }

  void add_inputs(KeyType type) {
    std::vector<std::int64_t> all = {1000, 2049, 3333};
    if (has_slow_passes()) all = {fewer_keys, few_keys};
    for (std::int64_t& n : all) n = std::min(n, typical_max_n());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    // Otherwise an even number of inputs would give each of them the same order in every type, and a multiple of three
    // would give every type the same third of the inputs.
    if (graded_inputs().size() % 2 == 0) next_order_ = !next_order_;
    if (graded_inputs().size() % 3 == 0) ++inputs_;
    for (const char* input : graded_inputs()) {
      if (has_slow_passes() && inputs_++ % 3 != 0) continue;
      if (types_.size() > max_types) {
        // In turn, so that each type and each input has both orders.
        next_order_ = !next_order_;
        add(type, all[next_++ % all.size()], input).order = next_order_ ? Order::descending : Order::ascending;
        continue;
      }
      for (std::int64_t n : all) {
        const Order order = add(type, n, input).order;
        add(type, n, input).order = order == Order::ascending ? Order::descending : Order::ascending;
      }
    }
  }

  void add_ranges(KeyType type) {
    const bool byte = type == KeyType::u8;
    for (const char* range : {"range:0:255", byte ? "range:7:7" : "range:5000000:5000255",
                              byte ? "range:200:255" : "range:0:65535", byte ? "range:0:1" : "range:1:100000"}) {
      for (std::int64_t n : {1, 999, 20011}) add(type, n, range);
    }
    if (!byte) add(type, 1000, one_value_too_many_.c_str());
  }

  void add_possible_shapes(bool quick) {
    const LaunchShape shapes[] = {{1, 32}, {1, 1}, {0, 256}, {3, 0}, {2, 33}, {7, 96}, {1, 1024}, {64, 128}, {2000, 1}};
    for (const LaunchShape& shape : shapes) {
      // Most of 2000 blocks of a quadratic step have nothing to do in any of its launches, whose number grows with n.
      const bool many_launches = shape.blocks == 2000 && step_.growth == Growth::quadratic;
      const std::int64_t n = many_launches ? 300 : shape.threads == 1 ? 1500 : quick ? 2500 : 5000;
      // A step may serve fewer shapes, if it refuses the others.
      add(type_for(n), std::min(n, typical_max_n()), narrow_input(step_), shape).expect = Expect::either;
    }
    if (step_.threads > 0) {  // a number that the step takes, so it must serve it
      const std::int64_t n = std::min<std::int64_t>(2500, limit());
      add(next_type(), n, narrow_input(step_), {.blocks = 3, .threads = step_.threads});
    }
    if (step_.task == Task::reduce) add_odd_halves();
  }

  // Numbers of threads that are odd, or become odd when they are halved. A value that a thread loses changes the result
  // of a reduction only if it is the smallest or the largest, so one case of each is not enough.
  void add_odd_halves() {
    for (int threads : {3, 7, 96, 3, 7, 96, 3, 7, 96, 3, 7, 96}) {
      add(next_type(), std::min<std::int64_t>(1000, limit()), "uniform", {1, threads}).expect = Expect::either;
    }
  }

  // A step that reads several keys at once must treat those before the first aligned address by themselves.
  void add_offsets(bool quick) {
    add_small(33, 1);
    const std::vector<std::int64_t> sizes =
        quick ? std::vector<std::int64_t>{1777} : std::vector<std::int64_t>{1, 2, 15, 17, 100, 1000, 2049, 5003};
    std::int64_t offset = 1;
    for (std::int64_t n : sizes) {
      const KeyType type = next_type();
      add(type, std::min(n, limit()), widest_input(step_, type)).offset = offset;
      offset = (offset + 2) % 16;
    }
  }

  // Few pieces and many, for inputs that must be divided in different ways: even the largest part of equal keys must be
  // sorted in the end. And host memory that is not pinned.
  void add_little_memory(bool quick) {
    std::vector<const char*> inputs = {"uniform", "all-equal", "skewed"};
    if (!quick) inputs.insert(inputs.end(), {"two-values", "sorted", "extremes"});
    for (const char* input : inputs) {
      Case& c = add(types_.front(), std::min(quick ? several_tiles : 200'003, limit()), input);
      c.device_bytes = step_.min_device_bytes;
      c.pageable = case_count_ % 3 == 0;
    }
  }

  void add_too_little_memory() {
    Case& c = add(types_.front(), 1000, "uniform");
    c.device_bytes = step_.min_device_bytes - 1;
    c.expect = Expect::refused;
  }

  // More keys than any step's tile has for each block, so that a second round of every loop begins. In a quadratic step,
  // it begins with fewer keys, and a GPU needs seconds for each of the others. A step with a pass per bit has as many
  // keys in one case only.
  void add_many_rounds(bool quick) {
    std::int64_t most = std::max(typical_max_n(), step_.growth == Growth::passes ? several_tiles : 0);
    for (const LaunchShape& shape : {LaunchShape{1, 0}, {2, 0}, {1, 32}}) {
      const KeyType type = type_for(most);
      add(type, std::min(shape.blocks * several_tiles, most), widest_input(step_, type), shape).expect = Expect::either;
      if (quick) return;
      most = typical_max_n();
    }
  }

  // Only CUDA on the CPU can choose the order of blocks.
  void add_reversed(bool quick) {
    if (build_ == Build::cuda) return;
    for (std::int64_t n : {several_tiles, 3 * several_tiles}) {
      const KeyType type = types_.front();
      Case& c =
          add(type, std::min(n, step_.growth == Growth::passes ? typical_max_n() : limit()), widest_input(step_, type));
      c.reversed_blocks = true;
      if (quick) return;
    }
  }

  const Lab& lab_;
  const StepFacts& step_;
  std::uint64_t seed_;
  Build build_;
  const std::string one_value_too_many_ = fmt::format("range:0:{}", step_.max_range);  // for its counters
  std::vector<KeyType> types_;
  std::size_t next_ = 0;
  std::size_t inputs_ = 0;  // that add_inputs() has seen
  bool next_order_ = false;
  std::uint64_t case_count_ = 0;
  std::vector<CaseGroup> groups_;
};

template <std::size_t n>
std::size_t index_of(const char* kind, const char* const (&names)[n], std::string_view name) {
  const auto* const at = std::find(std::begin(names), std::end(names), name);
  if (at != std::end(names)) return static_cast<std::size_t>(at - std::begin(names));
  throw Error(fmt::format("unknown {} '{}'; choose one of: {}", kind, name, fmt::join(names, ", ")));
}

}  // namespace

CaseSet case_set_named(std::string_view name) {
  constexpr const char* names[] = {"quick", "public", "large", "check", "budget"};
  return static_cast<CaseSet>(index_of("set of cases", names, name));
}

Build build_named(std::string_view name) {
  constexpr const char* names[] = {"check", "cpu", "cuda"};
  return static_cast<Build>(index_of("build", names, name));
}

std::vector<CaseGroup> cases_of(const Lab& lab, const StepFacts& step, CaseSet set, std::uint64_t seed, Build build) {
  Generator generator(lab, step, seed, build);
  switch (set) {
    case CaseSet::quick:
      return generator.graded(true);
    case CaseSet::graded:
      return generator.graded(false);
    case CaseSet::large:
      return generator.large();
    case CaseSet::check:
      return generator.check();
    case CaseSet::budget:
      break;
  }
  return generator.budget();
}

}  // namespace lab

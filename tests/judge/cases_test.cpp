// The generator of cases: deterministic, complete, and right about what a step must refuse.
#include "judge/cases.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "course.h"
#include "judge/inputs.h"
#include "step/error.h"
#include "step/key_type.h"

namespace {

using lab::Build;
using lab::Case;
using lab::CaseSet;
using lab::Expect;
using lab::Lab;
using lab::StepFacts;

std::vector<Case> all_cases(const Lab& lab, const StepFacts& step, CaseSet set, std::uint64_t seed = 1,
                            Build build = Build::cpu) {
  std::vector<Case> all;
  for (const lab::CaseGroup& group : lab::cases_of(lab, step, set, seed, build)) {
    CHECK(!group.cases.empty());
    all.insert(all.end(), group.cases.begin(), group.cases.end());
  }
  return all;
}

std::vector<std::string> commands(const std::vector<Case>& cases) {
  std::vector<std::string> texts;
  for (const Case& c : cases) texts.push_back(lab::replay_command(c));
  return texts;
}

template <class F>
void for_each_step(F&& f) {
  for (const Lab& lab : course::labs) {
    for (const StepFacts& step : lab.steps) {
      CAPTURE(lab.traits.name);
      CAPTURE(step.number);
      CAPTURE(lab::name_of(step.task));
      f(lab, step);
    }
  }
}

const StepFacts& step_of(const char* name, int number) {
  return lab::step_numbered(name, lab::lab_named(course::labs, name).steps, number);
}

}  // namespace

TEST_CASE(
    "a lab has one record for each kind of work at most, and at least one; the first line with a number is the step, "
    "which has numbers of lines") {
  for (const Lab& lab : course::labs) {
    CAPTURE(lab.traits.name);
    std::set<lab::Task> records;
    for (const StepFacts& step : lab.steps) {
      CAPTURE(step.name);
      if (step.record) CHECK(records.insert(step.task).second);
      CHECK(step.part == (step.file != step.name));
      CHECK(step.part == (step.lines.own == 0));
      CHECK(step.types != 0);
    }
    CHECK(!records.empty());
  }
}

TEST_CASE("the same seed gives the same cases, another seed others") {
  for_each_step([](const Lab& lab, const StepFacts& step) {
    const auto first = commands(all_cases(lab, step, CaseSet::graded, 7));
    CHECK(first == commands(all_cases(lab, step, CaseSet::graded, 7)));
    CHECK(first != commands(all_cases(lab, step, CaseSet::graded, 8)));
  });
}

// On a CPU, a step with a pass for each bit takes long, so each of its inputs is sorted with a third of the types.
TEST_CASE("public cases cover every input of every type of a step, and both orders of each type and input") {
  for_each_step([](const Lab& lab, const StepFacts& step) {
    const auto cases = all_cases(lab, step, CaseSet::graded);
    std::set<std::pair<std::string_view, lab::KeyType>> of_types;
    std::set<std::pair<std::string_view, lab::Order>> of_inputs;
    std::set<std::pair<lab::KeyType, lab::Order>> orders;
    for (const Case& c : cases) {
      of_types.insert({c.input, c.type});
      of_inputs.insert({c.input, c.order});
      orders.insert({c.type, c.order});
    }
    for (const lab::InputFacts& input : lab::inputs()) {
      const std::string_view name = input.name;
      if (input.use != lab::InputUse::graded) continue;
      CAPTURE(name);
      std::size_t types = 0, covered = 0;
      for (lab::KeyType type : lab::all_key_types) {
        types += step.takes(type);
        covered += of_types.contains({name, type});
      }
      CHECK(covered >= (step.growth == lab::Growth::passes ? types / 3 : types));
      for (lab::Order order : {lab::Order::ascending, lab::Order::descending}) {
        CHECK(of_inputs.contains({name, order}));
        for (lab::KeyType type : lab::all_key_types) {
          CAPTURE(lab::name_of(type));
          if (step.takes(type)) CHECK(orders.contains({type, order}));
        }
      }
    }
    std::set<std::int64_t> sizes;
    for (const Case& c : cases) {
      sizes.insert(c.n);
      CHECK(c.step.takes(c.type));
    }
    for (std::int64_t n : {0, 1, 2, 31, 32, 33, 1023, 1024, 1025}) CHECK(sizes.contains(n));
    if (step.tile) {
      for (std::int64_t n : {step.tile - 1, step.tile, step.tile + 1}) CHECK(sizes.contains(n));
    }
  });
}

TEST_CASE("steps that sort host memory get much, little and too little device memory, others are not asked") {
  for_each_step([](const Lab& lab, const StepFacts& step) {
    for (CaseSet set : {CaseSet::quick, CaseSet::graded, CaseSet::check}) {
      std::set<std::int64_t> amounts;
      bool pageable = false;
      for (const Case& c : all_cases(lab, step, set)) {
        const bool too_little = c.step.in_host_memory && c.device_bytes > 0 && c.device_bytes < step.min_device_bytes;
        if (too_little) CHECK(c.expect == Expect::refused);
        amounts.insert(c.device_bytes);
        pageable |= c.pageable;
      }
      const std::int64_t fewest = step.min_device_bytes;
      CHECK(amounts == (step.in_host_memory ? std::set<std::int64_t>{0, fewest - 1, fewest, 2 * fewest}
                                            : std::set<std::int64_t>{0}));
      CHECK(pageable == step.in_host_memory);
    }
  });
}

TEST_CASE("no case has more keys than the step affords, except one that is worth its time") {
  for_each_step([](const Lab& lab, const StepFacts& step) {
    for (CaseSet set : {CaseSet::quick, CaseSet::graded}) {
      int beyond = 0;
      for (const Case& c : all_cases(lab, step, set)) {
        CHECK(c.n <= step.max_n);
        beyond += c.n > std::max<std::int64_t>(lab::affordable(step).cpu, 3 * step.tile + 1);
      }
      CHECK(beyond <= 1);
    }
    for (const Case& c : all_cases(lab, step, CaseSet::check, 1, Build::check)) {
      CHECK(c.n <= std::max<std::int64_t>(lab::affordable(step).check, 2 * step.tile + 1));
    }
  });
}

TEST_CASE("the first cases are easy to think about: small whole numbers, few first, ascending") {
  for_each_step([](const Lab& lab, const StepFacts& step) {
    for (const auto& [set, build] : {std::pair(CaseSet::quick, Build::cpu), std::pair(CaseSet::check, Build::check)}) {
      const auto groups = lab::cases_of(lab, step, set, 1, build);
      REQUIRE(groups.front().what == "small numbers");
      bool pairs = false;
      std::int64_t last = 0;
      for (const Case& c : groups.front().cases) {
        const bool equal = c.input == "range:7:7";
        CHECK((equal || c.input == (step.task == lab::Task::scan ? "range:1:1" : "range:0:9")));
        CHECK(c.seed == (c.n == 2 ? 1u : 0u));
        CHECK(c.order == lab::Order::ascending);
        CHECK(c.expect == Expect::verified);
        CHECK((equal || c.n >= last));
        last = c.n;
        pairs |= c.type == lab::KeyType::pairs;
        if (step.takes(lab::KeyType::u32)) CHECK((c.type == lab::KeyType::u32 || c.type == lab::KeyType::pairs));
      }
      CHECK(pairs == step.takes(lab::KeyType::pairs));
    }
    CHECK(lab::cases_of(lab, step, CaseSet::graded, 1, Build::cpu).front().what == "any n");
  });
}

TEST_CASE("impossible shapes must be refused; possible ones may be, except the one size of block that a step takes") {
  for_each_step([](const Lab& lab, const StepFacts& step) {
    int refused = 0, either = 0, required = 0;
    for (const Case& c : all_cases(lab, step, CaseSet::graded)) {
      if (!c.shape.blocks && !c.shape.threads) continue;
      const bool impossible = c.shape.threads < 0 || c.shape.threads > 1024 || c.shape.blocks < 0;
      if (!impossible && c.expect == Expect::verified) {
        CHECK(c.shape.threads == step.threads);
        required += 1;
        continue;
      }
      CHECK(c.expect == (impossible ? Expect::refused : Expect::either));
      (impossible ? refused : either) += 1;
    }
    CHECK(refused == 4);
    CHECK(either == 9 + 3 + (step.task == lab::Task::reduce ? 12 : 0));
    CHECK(required == (step.threads > 0 ? 1 : 0));
  });
}

TEST_CASE("arrays begin at odd addresses, too, first with keys that are easy to think about") {
  for_each_step([](const Lab& lab, const StepFacts& step) {
    for (const auto& [set, build] : {std::pair(CaseSet::quick, Build::cpu), std::pair(CaseSet::graded, Build::cuda),
                                     std::pair(CaseSet::check, Build::check)}) {
      bool small = false, vectors = false;
      for (const Case& c : all_cases(lab, step, set, 1, build)) {
        CHECK(c.offset >= 0);
        CHECK(c.offset < lab::max_offset);
        small |= c.offset % 2 == 1 && c.n == 33 && c.seed == 0;
        vectors |= c.offset * lab::key_bytes(c.type) % 16 != 0 && c.n >= 1000;
      }
      CHECK(small);
      CHECK(vectors);
    }
  });
}

TEST_CASE("blocks also run in reverse, with several tiles of keys, where the order can be chosen") {
  for_each_step([](const Lab& lab, const StepFacts& step) {
    for (CaseSet set : {CaseSet::quick, CaseSet::graded, CaseSet::check}) {
      for (Build build : {Build::check, Build::cpu, Build::cuda}) {
        std::int64_t most = 0;
        for (const Case& c : all_cases(lab, step, set, 1, build)) {
          if (c.reversed_blocks) most = std::max(most, c.n);
        }
        if (build == Build::cuda && set != CaseSet::check) CHECK(most == 0);
        if (build != Build::cuda && step.growth == lab::Growth::linear) CHECK(most >= 40'000);
      }
    }
  });
}

TEST_CASE("a block has several rounds of every loop") {
  for_each_step([](const Lab& lab, const StepFacts& step) {
    if (step.growth == lab::Growth::quadratic) return;
    for (CaseSet set : {CaseSet::quick, CaseSet::graded, CaseSet::check}) {
      const auto cases = all_cases(lab, step, set);
      CHECK(std::any_of(cases.begin(), cases.end(), [](const Case& c) { return c.shape.blocks == 1 && c.n > 40'000; }));
    }
  });
}

TEST_CASE("a range that is too large must be refused, and only that") {
  const Lab& counting = lab::lab_named(course::labs, "04-counting");
  const StepFacts& range = step_of("04-counting", 4);
  REQUIRE(range.max_range > 0);
  int refused = 0, verified = 0, one_too_many = 0;
  for (const Case& c : all_cases(counting, range, CaseSet::graded)) {
    if (c.input == "range:0:" + std::to_string(range.max_range)) {
      CHECK(c.expect == Expect::refused);
      ++one_too_many;
    }
    if (c.shape.blocks || c.shape.threads) continue;
    if (c.input == "range:0:255" || c.n < 2 || c.type == lab::KeyType::u8) CHECK(c.expect == Expect::verified);
    if (c.input == "uniform" && c.n > 100 && c.type != lab::KeyType::u8) CHECK(c.expect == Expect::refused);
    refused += c.expect == Expect::refused;
    verified += c.expect == Expect::verified;
  }
  CHECK(one_too_many > 0);
  CHECK(refused > 10);
  CHECK(verified > 10);
  for (const Case& c : all_cases(counting, step_of("04-counting", 1), CaseSet::graded)) {
    if (!c.shape.blocks && !c.shape.threads) CHECK(c.expect == Expect::verified);
  }
}

TEST_CASE("check cases: several orders of lanes, several shapes, every type") {
  for_each_step([](const Lab& lab, const StepFacts& step) {
    const auto cases = all_cases(lab, step, CaseSet::check, 1, Build::check);
    std::set<std::uint64_t> lanes;
    std::set<lab::KeyType> types;
    for (const Case& c : cases) {
      REQUIRE(c.lane_seed.has_value());
      lanes.insert(*c.lane_seed);
      types.insert(c.type);
    }
    CHECK(lanes == std::set<std::uint64_t>{0, 1, 77});
    for (lab::KeyType type : lab::all_key_types) CHECK(types.contains(type) == step.takes(type));
  });
}

TEST_CASE("the budget's case is the one that the budget was set on") {
  for_each_step([](const Lab& lab, const StepFacts& step) {
    const auto cases = all_cases(lab, step, CaseSet::budget, 99, Build::check);
    CHECK(cases.size() == (step.budget.n > 0 ? 1 : 0));
    for (const Case& c : cases) {
      CHECK(c.n == step.budget.n);
      CHECK(c.seed == 1);
      CHECK(c.lane_seed == 0);
      CHECK(c.input == (step.max_range && !step.takes(lab::KeyType::u8) ? "range:0:4095" : "uniform"));
      CHECK(c.order == lab::Order::ascending);
      CHECK(c.expect == Expect::verified);
    }
  });
}

TEST_CASE("n above 2^32: one case for steps that take any n, in their smallest type, never pairs") {
  const auto& bitonic = lab::lab_named(course::labs, "03-bitonic");
  const auto cases = all_cases(bitonic, step_of("03-bitonic", 3), CaseSet::large);
  REQUIRE(cases.size() == 1);
  CHECK(cases[0].n > std::int64_t{1} << 32);
  CHECK(cases[0].type == lab::KeyType::u32);
  CHECK(all_cases(lab::lab_named(course::labs, "01-odd-even"), step_of("01-odd-even", 1), CaseSet::large).empty());
}

TEST_CASE("names of sets and builds") {
  CHECK(lab::case_set_named("public") == CaseSet::graded);
  CHECK(lab::build_named("cuda") == Build::cuda);
  CHECK_THROWS_WITH_AS(lab::case_set_named("all"), doctest::Contains("quick, public, large, check, budget"),
                       lab::Error);
  CHECK_THROWS_WITH_AS(lab::build_named("opencl"), doctest::Contains("check, cpu, cuda"), lab::Error);
}

// The tests that a lab's steps are graded by: sizes around every boundary, every input, type and order of the lab's
// table, launch shapes possible and impossible. The steps run in the runner's process; nothing of theirs is in here.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "judge/inputs.h"
#include "judge/judge.h"
#include "judge/labs.h"
#include "judge/random.h"
#include "step/error.h"
#include "step/key_type.h"

namespace {

using lab::Case;
using lab::KeyType;
using lab::LaunchShape;
using lab::Order;
using lab::Outcome;
using lab::Status;
using lab::StepFacts;

struct Grading {
  std::string lab;
  std::vector<StepFacts> steps;  // those that are written
  std::unique_ptr<lab::Judge> judge;
  std::uint64_t seed = 0;
  bool quick = false;
  bool large = false;  // also n above 2^32
  bool on_gpu = false;
  std::set<int> given_up;  // steps that hung: every further case would cost the whole timeout again
  std::map<int, std::pair<Case, Outcome>> hung_at_once;  // still to be told
  std::uint64_t cases = 0;
  std::uint64_t failures = 0;
} grading;

std::vector<KeyType> key_types(const StepFacts& step) {
  std::vector<KeyType> types;
  for (KeyType type : lab::all_key_types) {
    if (step.takes(type)) types.push_back(type);
  }
  return types;
}

// Each case has a seed and an order of its own, the same again for the same --seed.
Case new_case(const StepFacts& step, KeyType type, std::int64_t n, const char* input, LaunchShape shape = {}) {
  Case asked;
  asked.lab = grading.lab;
  asked.step = step;
  asked.type = type;
  asked.n = n;
  asked.input = input;
  asked.shape = shape;
  asked.seed = lab::random_at(grading.seed, grading.cases++) >> 32;
  asked.order = asked.seed & 1 ? Order::descending : Order::ascending;
  return asked;
}

std::string what_happened(const Outcome& outcome) {
  return outcome.status == Status::wrong ? outcome.message : name_of(outcome.status) + (": " + outcome.message);
}

// Takes the first "labs/..:LINE: error: TEXT" out of what a runner printed, as {"labs/..:LINE", "error: TEXT"}.
std::pair<std::string, std::string> take_finding(std::string& printed) {
  for (std::size_t begin = 0, end = 0; begin < printed.size(); begin = end) {
    end = std::min(printed.find('\n', begin), printed.size() - 1) + 1;
    const std::string line = printed.substr(begin, end - begin);
    const std::size_t split = line.find(": error: ");
    if (!line.starts_with("labs/") || split > line.find(' ')) continue;
    printed.erase(begin, end - begin);
    return {line.substr(0, split), line.substr(split + 2, line.find_last_not_of('\n') - split - 1)};
  }
  return {};
}

// What the emulation found comes first: it names the line to mend.
void report(const Case& asked, const std::string& what, const Outcome& outcome) {
  std::string printed = outcome.printed;
  const auto [place, finding] = take_finding(printed);
  const std::string file = place.empty() ? lab::file_of(asked.lab, asked.step) : place;
  std::string text = (place.empty() ? what : finding + "\n  " + what) + "\n  " + std::to_string(asked.n) + " " +
                     lab::name_of(asked.type) + ", input " + asked.input + ", " + lab::name_of(asked.order) +
                     ", seed " + std::to_string(asked.seed);
  if (asked.shape.blocks) text += ", blocks: " + std::to_string(asked.shape.blocks);
  if (asked.shape.threads) text += ", threads a block: " + std::to_string(asked.shape.threads);
  text += "\n";
  if (!printed.empty()) text += "  the runner printed:\n" + printed;
  text += "  again: " + lab::replay_command(asked);
  ADD_FAIL_CHECK_AT(file.c_str(), 1, text);
  ++grading.failures;
}

// Runs one case; false, and a report, unless the output is verified.
bool passes(const Case& asked) {
  const Outcome outcome = grading.judge->run(asked);
  if (outcome.status == Status::hung) grading.given_up.insert(asked.step.number);
  const bool verified = outcome.status == Status::verified || outcome.expected;
  CHECK_UNARY(true);  // counts the case
  if (!verified) report(asked, what_happened(outcome), outcome);
  return verified;
}

// Calls f for each step that is to be tested, as a subcase of its name, and prints a line about each.
template <class F>
void for_each_step(const char* what, F&& f) {
  for (const StepFacts& step : grading.steps) {
    const std::string name = std::to_string(step.number) + " " + std::string(step.name);
    SUBCASE(name.c_str()) {
      const std::uint64_t cases = grading.cases, failures = grading.failures;
      if (const auto hung = grading.hung_at_once.extract(step.number)) {
        const auto& [asked, outcome] = hung.mapped();
        report(asked, what_happened(outcome), outcome);
      }
      const bool hangs = grading.given_up.contains(step.number);
      if (!hangs) f(step);
      const char* verdict = hangs ? "left out, it hung" : grading.failures == failures ? "ok" : "FAILED";
      if (hangs || grading.cases > cases) {  // else there was nothing of this kind to test
        std::printf("step %02d %-14s %-34s %5d cases  %s\n", step.number, std::string(step.name).c_str(), what,
                    static_cast<int>(grading.cases - cases), verdict);
      }
    }
  }
}

/// What a student needs of doctest's report: the text of each failure. Others (-r=junit, -r=xml) stay to be chosen.
class Brief : public doctest::IReporter {
 public:
  explicit Brief(const doctest::ContextOptions&) {}
  void log_message(const doctest::MessageData& message) override {
    std::printf("\n%s: %s\n\n", message.m_file, message.m_string.c_str());
  }
  void test_case_exception(const doctest::TestCaseException& exception) override {
    std::printf("\nthe tests cannot go on: %s\n\n", exception.error_string.c_str());
  }
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_start(const doctest::TestCaseData&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};
REGISTER_REPORTER("brief", 1, Brief);

/// The most keys that a step is asked to sort. One whose table names a largest n does work that grows with the square,
/// on a CPU minutes of it: what is to be seen there, several blocks and a last one that is not full, shows with few keys.
std::int64_t patience(const StepFacts& step) {
  return std::min<std::int64_t>(step.largest_n, grading.on_gpu || step.largest_n == lab::any_n ? lab::any_n : 2100);
}

// 0, 1, 2, and both neighbours of a warp, a block, a tile and several; primes; and what is no multiple of anything.
std::vector<std::int64_t> small_sizes(const StepFacts& step) {
  std::set<std::int64_t> sizes = {0, 1, 2, 3, 5, 97, 1000, 1009, 3001};
  const auto around = [&](std::int64_t n) { sizes.insert({n - 1, n, n + 1}); };
  for (std::int64_t n : {32, 64, 1024, 2048, 4096}) around(n);
  if (!grading.quick) {
    for (std::int64_t n : {128, 256, 512, 3 * 1024, 5 * 1024, 8192}) around(n);
    for (int i = 0; i < 20; ++i) sizes.insert(lab::random_at(~grading.seed, i) % 6000);
  }
  if (step.tile) {
    for (std::int64_t tiles : {1, 2, 3}) around(tiles * step.tile);
  }
  std::vector<std::int64_t> fitting;
  std::copy_if(sizes.begin(), sizes.end(), std::back_inserter(fitting), [&](auto n) { return n <= patience(step); });
  return fitting;
}

std::vector<std::int64_t> large_sizes(const StepFacts& step) {
  std::vector<std::int64_t> sizes = {10007, 16384, 16385, 65535, 100003, 131073, 262147};
  if (grading.quick) sizes = {20011};
  if (grading.on_gpu) sizes.insert(sizes.end(), {(1 << 20) + 1, (1 << 22) - 1, 1 << 24, 49979687});
  std::erase_if(sizes, [&](std::int64_t n) { return n > patience(step); });
  if (sizes.empty()) sizes = {std::min<std::int64_t>(step.largest_n, 10007)};  // once
  return sizes;
}

}  // namespace

TEST_CASE("any n") {
  for_each_step("any n", [](const StepFacts& step) {
    const std::vector<KeyType> types = key_types(step);
    std::size_t turn = 0;
    for (std::int64_t n : small_sizes(step)) {
      for (std::size_t i = 0; i < (grading.quick ? 1 : types.size()); ++i) {
        if (!passes(new_case(step, types[turn++ % types.size()], n, "uniform"))) return;
      }
    }
  });
}

TEST_CASE("any input, key type and order") {
  for_each_step("any input, key type and order", [](const StepFacts& step) {
    for (KeyType type : key_types(step)) {
      for (const lab::InputFacts& input : lab::inputs()) {
        // What has an entropy of its own is there for measurements: one of the kind is enough here.
        const std::string_view name = input.name;
        if (name.starts_with("and-") && name != "and-3") continue;
        for (std::int64_t n :
             grading.quick ? std::vector<std::int64_t>{1777} : std::vector<std::int64_t>{1000, 2049, 3333}) {
          Case asked = new_case(step, type, std::min(n, patience(step)), input.name);
          if (!passes(asked)) return;
          if (grading.quick) continue;
          asked.order = asked.order == Order::ascending ? Order::descending : Order::ascending;
          if (!passes(asked)) return;
        }
      }
    }
  });
}

TEST_CASE("ranges of values") {
  for_each_step("ranges of values", [](const StepFacts& step) {
    if (step.largest_range == 0) return;
    for (KeyType type : key_types(step)) {
      const bool byte = type == KeyType::u8;
      for (const char* range : {"range:0:255", byte ? "range:7:7" : "range:5000000:5000255",
                                byte ? "range:200:255" : "range:0:65535", byte ? "range:0:1" : "range:1:100000"}) {
        for (std::int64_t n : {1, 999, 20011}) {
          if (!passes(new_case(step, type, n, range))) return;
        }
      }
      if (!byte && !passes(new_case(step, type, 1000, "range:0:16777216"))) return;  // one counter too many
    }
  });
}

TEST_CASE("many keys") {
  for_each_step("many keys", [](const StepFacts& step) {
    const char* names[] = {"uniform", "few-values", "nearly-sorted", "skewed"};
    const std::vector<KeyType> types = key_types(step);
    std::size_t turn = 0;
    for (std::int64_t n : large_sizes(step)) {
      if (!passes(new_case(step, types[turn % types.size()], n, names[turn % std::size(names)]))) return;
      ++turn;
    }
  });
}

TEST_CASE("n above 2^32") {
  if (!grading.large) return;
  for_each_step("n above 2^32", [](const StepFacts& step) {
    if (step.largest_n < lab::any_n) return;
    std::vector<KeyType> types = key_types(step);
    std::erase(types, KeyType::pairs);  // their values are 32-bit numbers, each there once
    if (types.empty()) return;
    const KeyType smallest = *std::min_element(
        types.begin(), types.end(), [](KeyType a, KeyType b) { return lab::key_bytes(a) < lab::key_bytes(b); });
    try {
      passes(new_case(step, smallest, (std::int64_t{1} << 32) + 4099, "uniform"));
    } catch (const lab::Error& error) {  // the machine is too small for it, which says nothing about the step
      std::printf("step %02d %s: not run for n above 2^32: %s\n", step.number, std::string(step.name).c_str(),
                  error.what());
      --grading.cases;
    }
  });
}

TEST_CASE("any possible launch shape") {
  for_each_step("any possible launch shape", [](const StepFacts& step) {
    const LaunchShape shapes[] = {{1, 32}, {1, 1}, {0, 256}, {3, 0}, {2, 33}, {7, 96}, {1, 1024}, {64, 128}, {2000, 1}};
    const std::vector<KeyType> types = key_types(step);
    std::size_t turn = 0;
    for (const LaunchShape shape : shapes) {
      const KeyType type = types[turn++ % types.size()];
      const std::int64_t n = std::min<std::int64_t>(shape.threads == 1 ? 1500 : 5000, patience(step));
      Case asked = new_case(step, type, n, "uniform", shape);
      if (grading.quick) asked.n = std::min<std::int64_t>(asked.n, 2500);
      const Outcome outcome = grading.judge->run(asked);
      CHECK_UNARY(true);  // counts the case
      // A step may serve fewer shapes, if it says so.
      if (outcome.status == Status::verified || outcome.status == Status::unsupported) continue;
      report(asked, what_happened(outcome), outcome);
      return;
    }
  });
}

TEST_CASE("impossible launch shapes are refused, and nothing is touched") {
  for_each_step("impossible shapes are refused", [](const StepFacts& step) {
    for (const LaunchShape shape :
         {LaunchShape{0, 1025}, LaunchShape{0, -32}, LaunchShape{-1, 0}, LaunchShape{1, 1 << 20}}) {
      const Case asked =
          new_case(step, key_types(step).front(), std::min<std::int64_t>(1000, step.largest_n), "uniform", shape);
      const Outcome outcome = grading.judge->run(asked);
      CHECK_UNARY(true);  // counts the case
      if (outcome.status == Status::unsupported) continue;
      report(asked,
             "blocks " + std::to_string(shape.blocks) + ", threads " + std::to_string(shape.threads) +
                 ": the step must throw lab::Unsupported and touch nothing; it ended as " + name_of(outcome.status),
             outcome);
      return;
    }
  });
}

namespace {

// "labs/03-bitonic/02_shared.cu:41: step 02 is not written yet", with whatever path the compiler was given, turned
// round for a reader.
std::string not_written_line(const std::string& message) {
  const std::size_t path = message.find("labs/");
  const std::size_t split = message.find(": ", path == std::string::npos ? 0 : path);
  if (path == std::string::npos || split == std::string::npos) return message;
  return message.substr(split + 2) + ": " + message.substr(path, split - path);
}

// Takes out the steps that are not written yet, with a line for each; gives their number.
int set_aside_unwritten() {
  return static_cast<int>(std::erase_if(grading.steps, [](const StepFacts& step) {
    const Case asked = new_case(step, key_types(step).front(), 100, "uniform");
    const Outcome outcome = grading.judge->run(asked);
    if (outcome.status == Status::hung) {
      grading.given_up.insert(step.number);
      grading.hung_at_once.emplace(step.number, std::pair(asked, outcome));
    }
    if (outcome.status != Status::not_written) return false;
    std::printf("%s\n", not_written_line(outcome.message).c_str());
    return true;
  }));
}

int run_tests(std::vector<int> step_numbers, const std::vector<std::string>& doctest_options) {
  const lab::Lab& lab = lab::lab_named(grading.lab);
  for (int number : step_numbers) lab::step_numbered(lab, number);
  const std::set<int> asked(step_numbers.begin(), step_numbers.end());
  std::copy_if(lab.steps.begin(), lab.steps.end(), std::back_inserter(grading.steps),
               [&](const StepFacts& step) { return asked.empty() || asked.contains(step.number); });
  grading.on_gpu = grading.judge->describe().on_gpu;
  const int unwritten = set_aside_unwritten();
  if (grading.steps.empty()) return 1;

  doctest::Context context;
  std::vector<const char*> arguments = {"graded"};
  for (const std::string& option : doctest_options) arguments.push_back(option.c_str());
  context.setOption("reporters", "brief");
  context.applyCommandLine(static_cast<int>(arguments.size()), arguments.data());
  const int failed = context.run();
  std::printf("%s: %s (public tests only, seed %llu)\n", grading.lab.c_str(),
              failed      ? "not right yet"
              : unwritten ? "all right so far, but not all steps are written"
                          : "all right",
              static_cast<unsigned long long>(grading.seed));
  return failed || unwritten ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Tests a lab's steps through its runner.", "graded");
  std::string runner;
  std::vector<int> steps;
  double timeout = 20;
  grading.seed = std::random_device{}();
  app.add_option("--lab", grading.lab, "a lab, as 03-bitonic")->required();
  app.add_option("--step", steps, "number of a step; else all");
  app.add_option("--runner", runner, "the runner's program")->required();
  app.add_option("--seed", grading.seed, "of the inputs; else a fresh one");
  app.add_option("--timeout", timeout, "seconds a step may take")->check(CLI::PositiveNumber);
  app.add_flag("--large", grading.large, "also n above 2^32, which takes much memory and time");
  app.add_flag("--quick", grading.quick, "fewer cases");
  app.allow_extras()->footer("Other options are doctest's, as --test-case=NAME.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    grading.judge = std::make_unique<lab::Judge>(runner, timeout);
    return run_tests(steps, app.remaining());
  } catch (const lab::Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 2;
  }
}

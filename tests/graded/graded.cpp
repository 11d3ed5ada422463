// The graded tests of a lab: the cases of judge/cases.h, step by step. The steps run in the
// runner's process; none of their code is in this program.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "course.h"
#include "judge/cases.h"
#include "judge/errors.h"
#include "judge/judge.h"
#include "step/error.h"
#include "step/key_type.h"

namespace {

using lab::Case;
using lab::CaseGroup;
using lab::CaseSet;
using lab::Outcome;
using lab::Status;
using lab::StepFacts;

struct Grading {
  const lab::Lab* lab = nullptr;
  std::vector<StepFacts> steps;  // those that are written
  std::unique_ptr<lab::Judge> judge;
  lab::Build build = lab::Build::cpu;
  std::uint64_t seed = 0;
  bool quick = false;
  bool large = false;
  std::set<int> given_up;                                // hung: each further case would cost the whole timeout again
  std::map<int, std::pair<Case, Outcome>> hung_at_once;  // not yet reported
} grading;

std::string what_happened(const Outcome& outcome, const Case& which) {
  if (which.expect == lab::Expect::refused) {
    return fmt::format(
        "blocks {}, threads {}: the step must throw lab::Unsupported{} and touch nothing; instead, the outcome was "
        "{}{}",
        which.shape.blocks, which.shape.threads, which.step.max_range ? " with the number of counters" : "",
        name_of(outcome.status), outcome.message.empty() ? "" : ": " + outcome.message);
  }
  return outcome.status == Status::wrong ? fmt::format("{}\n{}", outcome.message, outcome.shown_keys)
                                         : fmt::format("{}: {}", name_of(outcome.status), outcome.message);
}

// A finding comes first: it names the line to fix.
void report(const Case& which, const Outcome& outcome) {
  const auto& findings = outcome.document.findings;
  std::string text;
  if (!findings.empty()) text = fmt::format("error: {}: {}\n  ", findings[0].kind, findings[0].text);
  text += what_happened(outcome, which);
  text += fmt::format("\n  {} {}, input {}, {}, seed {}", which.n, lab::name_of(which.type), which.input,
                      lab::name_of(which.order), which.seed);
  if (which.shape.blocks) text += fmt::format(", blocks: {}", which.shape.blocks);
  if (which.shape.threads) text += fmt::format(", threads per block: {}", which.shape.threads);
  const std::string printed = lab::without_findings(outcome.printed);
  if (!printed.empty()) text += "\n  the runner printed:\n" + printed;
  text += fmt::format("{}  again: {}", printed.empty() ? "\n" : "", lab::replay_command(which));
  const std::string file = outcome.line > 0 ? fmt::format("{}:{}", outcome.file, outcome.line) : outcome.file;
  ADD_FAIL_CHECK_AT(file.c_str(), 1, text);
}

// Runs one case; false, and a report, unless it ends as expected.
bool passes(const Case& which) {
  const Outcome outcome = grading.judge->run(which);
  if (outcome.status == Status::hung) grading.given_up.insert(which.step.number);
  CHECK_UNARY(true);  // counts the case
  if (!outcome.passed) report(which, outcome);
  return outcome.passed;
}

// Runs a group up to its first failure, and prints a line about it.
void run_group(const StepFacts& step, const CaseGroup& group) {
  int cases = 0;
  bool passed = true;
  const bool hung_before = grading.given_up.contains(step.number);
  if (const auto hung = grading.hung_at_once.extract(step.number)) report(hung.mapped().first, hung.mapped().second);
  if (!hung_before) {
    try {
      for (const Case& which : group.cases) {
        ++cases;
        if (!(passed = passes(which))) break;
      }
    } catch (const lab::NoMemory& error) {  // this machine is too small for it, which does not count against the step
      std::printf("step %02d %s: not run: %s: %s\n", step.number, std::string(step.name).c_str(), group.what.c_str(),
                  error.what());
      return;
    }
  }
  const bool hangs = grading.given_up.contains(step.number);
  std::printf("step %02d %-14s %-34s %5d cases  %s\n", step.number, std::string(step.name).c_str(), group.what.c_str(),
              cases,
              hangs    ? "left out, it hung"
              : passed ? "ok"
                       : "FAILED");
}

void run_set(CaseSet set) {
  for (const StepFacts& step : grading.steps) {
    for (const CaseGroup& group : lab::cases_of(*grading.lab, step, set, grading.seed, grading.build)) {
      run_group(step, group);
    }
  }
}

/// The part of doctest's report that a student needs: the text of each failure. -r=junit and -r=xml still work.
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

}  // namespace

TEST_CASE("public cases") { run_set(grading.quick ? CaseSet::quick : CaseSet::graded); }

TEST_CASE("n above 2^32") {
  if (grading.large) run_set(CaseSet::large);
}

namespace {

// Removes the steps that are not written yet, and prints a line about each; returns their number.
int set_aside_unwritten() {
  return static_cast<int>(std::erase_if(grading.steps, [](const StepFacts& step) {
    Case which;
    which.lab = grading.lab->traits.name;
    which.step = step;
    which.type = lab::default_type(grading.lab->traits.default_type, step);
    which.n = 100;
    which.seed = grading.seed >> 32;
    const Outcome outcome = grading.judge->run(which);
    if (outcome.status == Status::hung) {
      grading.given_up.insert(step.number);
      grading.hung_at_once.emplace(step.number, std::pair(which, outcome));
    }
    if (outcome.status != Status::not_written) return false;
    const std::string text = lab::place_in(outcome.message).text;
    std::printf("%s: %s:%d\n", text.c_str(), outcome.file.c_str(), static_cast<int>(outcome.line));
    return true;
  }));
}

int run_tests(const std::vector<int>& step_numbers, const std::vector<std::string>& doctest_options) {
  const lab::Lab& lab = *grading.lab;
  for (int number : step_numbers) lab::step_numbered(lab.traits.name, lab.steps, number);
  const std::set<int> chosen(step_numbers.begin(), step_numbers.end());
  for (const StepFacts& step : lab.steps) {
    if (chosen.empty() || chosen.contains(step.number)) grading.steps.push_back(step);
  }
  grading.build = grading.judge->describe().on_gpu ? lab::Build::cuda : lab::Build::cpu;
  const int unwritten = set_aside_unwritten();
  if (grading.steps.empty()) return 1;

  doctest::Context context;
  std::vector<const char*> arguments = {"graded"};
  for (const std::string& option : doctest_options) arguments.push_back(option.c_str());
  context.setOption("reporters", "brief");
  context.applyCommandLine(static_cast<int>(arguments.size()), arguments.data());
  const int failed = context.run();
  std::printf("%s: %s in the public tests, those that come with the workbook (seed %llu)\n", lab.traits.name,
              failed      ? "not right yet"
              : unwritten ? "all right so far, but not all steps are written"
                          : "all right",
              static_cast<unsigned long long>(grading.seed));
  return failed || unwritten ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Tests a lab's steps through its runner.", "graded");
  std::string lab, runner;
  std::vector<int> steps;
  bool record = false;
  double timeout = 20;
  grading.seed = std::random_device{}();
  app.add_option("--lab", lab, "a lab, such as 03-bitonic")->required();
  auto* const step_option = app.add_option("--step", steps, "number of a step; default: all");
  app.add_flag("--record", record, "the lab's record step")->excludes(step_option);
  app.add_option("--runner", runner, "the runner's program")->required();
  app.add_option("--seed", grading.seed, "of the inputs; default: a fresh one");
  app.add_option("--timeout", timeout, "seconds that a step may take")->check(CLI::PositiveNumber);
  app.add_flag("--large", grading.large, "also n above 2^32, which takes much memory and time");
  app.add_flag("--quick", grading.quick, "fewer cases");
  app.allow_extras()->footer("Other options are doctest's, such as --test-case=NAME.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    grading.lab = &lab::lab_named(course::labs, lab);
    grading.judge = std::make_unique<lab::Judge>(runner, timeout);
    for (const StepFacts& step : grading.lab->steps) {
      if (record && step.record) steps.push_back(step.number);
    }
    return run_tests(steps, app.remaining());
  } catch (const lab::Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 2;
  }
}

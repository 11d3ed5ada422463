// Every wrong step must be caught, each for its own reason, and the right one must not.
// Usage: wrong_tests RUNNER. Prints a line per step and the share caught; exit code 1 unless every wrong step was
// caught.
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string>

#include "judge/judge.h"
#include "judge/labs.h"
#include "judge/timing.h"
#include "step/error.h"
#include "steps.h"

namespace {

using lab::Status;

constexpr std::int64_t n = 1500, larger_n = 5000;
constexpr double timeout = 3;  // seconds

enum class How { run, measure };

struct Expected {
  int step;
  Status status;
  const char* reason;  ///< part of the message
  How how = How::run;
  const char* input = "uniform";
  lab::Order order = lab::Order::ascending;
  std::int64_t n = ::n;
};

constexpr Expected expectations[] = {
    {1, Status::verified, ""},
    {1, Status::verified, "", How::measure},
    {1, Status::verified, "", How::run, "uniform", lab::Order::descending},
    {2, Status::wrong, "every key of the input is there, but in the wrong order"},
    {3, Status::wrong, "keys were lost or made up"},
    {4, Status::wrong, "every key of the input is there, but in the wrong order"},
    {5, Status::wrong, "index 0 of 1500", How::run, "uniform", lab::Order::descending},
    {6, Status::wrong, "every key of the input is there, but in the wrong order"},
    {7, Status::wrong, "in the original order"},
    {8, Status::wrong, "keys were lost or made up"},
    {9, Status::wrong, "keys were lost or made up"},
    {10, Status::wrong, "wrote past the end of the keys"},
    {11, Status::wrong, "wrote before the start of the keys"},
    {12, Status::wrong, "every key of the input is there, but in the wrong order"},
    {13, Status::cuda_error, "of the step failed: cudaError"},
    {14, Status::wrong, "keys were lost or made up"},
    {15, Status::wrong, "after it had changed keys"},
    {16, Status::wrong, "equal keys in the wrong order", How::run, "few-values"},
    {17, Status::wrong, "belongs to another key"},
    {18, Status::wrong, "a second copy of a value"},
    {19, Status::crashed, "error: out-of-bounds: host code writes through a null pointer"},
    {20, Status::crashed, "was thrown and not caught"},
    {21, Status::hung, "no answer within 3 s: step 21"},
    {22, Status::exited, "exit code 0"},
    {23, Status::exited, "exit code 0"},
    {24, Status::wrong, "in the original order"},
    {25, Status::refused, "a message that the runner did not write"},
    {26, Status::refused, "a message that the runner did not write"},
    {27, Status::wrong, "keys were lost or made up"},
    {28, Status::wrong, "keys were lost or made up", How::measure},
    {29, Status::wrong, "in the original order", How::measure},
    {30, Status::wrong, "in the original order"},
    {31, Status::refused, "but the judge's clock measured", How::measure},
    {32, Status::exited, "closed the judge's channel"},
    {33, Status::hung,
     "tests/wrong/steps/attacks.cu:46: error: hang: the kernel was still running here when the program was ended"},
    {34, Status::hung,
     "tests/wrong/steps/attacks.cu:51: error: hang: the kernel was still running here when the program was ended"},
    {35, Status::refused, "a message that the runner did not write"},
    {36, Status::wrong, "keys were lost or made up", How::run, "extremes"},
    {37, Status::wrong, "every key of the input is there, but in the wrong order", How::run, "range:16777216:16777999"},
    {38, Status::cuda_error, "cudaErrorInvalidConfiguration"},
    {39, Status::wrong, "every key of the input is there, but in the wrong order"},
    {40, Status::crashed, "error: device-pointer: host code reads device memory; let a kernel do that"},
    {41, Status::refused, "tests/wrong/steps/host.cu:31: cudaMemcpyAsync() copies results from the host"},
    {42, Status::refused, "copy most of the keys to the host", How::run, "uniform", lab::Order::ascending, larger_n},
    {43, Status::refused, "allocates memory for the host", How::run, "uniform", lab::Order::ascending, larger_n},
    {44, Status::verified, ""},
    {45, Status::wrong, "1048576 bytes of device memory allocated at a time; the case allows 262144"},
    {46, Status::wrong, "wrong key at index 0 of 1500 (pair 0)"},
    {47, Status::crashed, "tests/wrong/steps/attacks.cu:35: error: assert: the C++ library requires"},
};

constexpr auto facts = lab::facts_of(wrong::steps);

const lab::StepFacts& facts_of_step(int number) {
  for (const lab::StepFacts& step : facts) {
    if (step.number == number) return step;
  }
  throw lab::Error("no wrong step " + std::to_string(number));
}

/// Runs or times the step, after a right case whose output is still in memory.
std::pair<Status, std::string> outcome_of(const std::string& runner, const Expected& expected) {
  lab::Judge judge(runner, timeout);
  lab::Case which;
  which.lab = "wrong";
  which.n = n;
  which.seed = 7;
  which.step = facts_of_step(1);
  if (judge.run(which).status != Status::verified) return {Status::wrong, "the right step is not verified"};
  which.step = facts_of_step(expected.step);
  which.type = lab::default_type(lab::KeyType::u32, which.step);
  which.n = expected.n;
  which.input = expected.input;
  which.order = expected.order;
  which.device_bytes = which.step.min_device_bytes;
  if (expected.how == How::run) {
    const lab::Outcome outcome = judge.run(which);
    std::string text = outcome.message;
    for (const lab::Finding& f : outcome.document.findings) {
      text += fmt::format("\n{}:{}: error: {}: {}", f.file, f.line, f.kind, f.text);
    }
    return {outcome.status, text};
  }
  const lab::Measurement measured = lab::measure(judge, which, {.repeats = 7, .min_time = 0, .time_limit = 10}, 0);
  return {measured.status, measured.message};
}

bool is_as_expected(const std::string& runner, const Expected& expected) {
  const auto [status, message] = outcome_of(runner, expected);
  const bool right = status == expected.status && message.find(expected.reason) != std::string::npos;
  const std::string first_line = message.substr(0, message.find('\n'));
  std::printf("%s  %-36s %-11s %s\n", right ? "ok    " : "MISSED", facts_of_step(expected.step).idea.data(),
              lab::name_of(status), first_line.c_str());
  if (!right) std::printf("        expected %s, %s\n", lab::name_of(expected.status), expected.reason);
  return right;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) return std::fputs("usage: wrong_tests RUNNER\n", stderr), 2;
  int wrong_steps = 0, caught = 0;
  bool control = true;
  for (const Expected& expected : expectations) {
    const bool as_expected = is_as_expected(argv[1], expected);
    if (expected.status == Status::verified) {
      control = control && as_expected;
    } else {
      ++wrong_steps;
      caught += as_expected;
    }
  }
  std::printf("caught: %d of %d wrong steps, for the right reason; the right one is %s\n", caught, wrong_steps,
              control ? "verified" : "NOT verified");
  return control && caught == wrong_steps ? 0 : 1;
} catch (const lab::Error& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 2;
}

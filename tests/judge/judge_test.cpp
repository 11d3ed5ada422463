// The judge survives what runners do, says what it was, and goes on with the next case.
#include "judge/judge.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fake_runner.h"
#include "judge/timing.h"
#include "step/error.h"

extern const char* fake_runner;

namespace {

using lab::Outcome;
using lab::Status;

lab::Case fake_case(int step, std::int64_t n = 1000) {
  lab::Case asked;
  asked.lab = "fake";
  asked.step.number = step;
  asked.step.name = "fake";
  asked.step.types = 1u << static_cast<int>(lab::KeyType::u32);
  asked.n = n;
  asked.seed = 11;
  return asked;
}

// The step's outcome, after which the same judge must still get a right one.
Outcome run(int step) {
  lab::Judge judge(fake_runner, 0.5);
  const Outcome outcome = judge.run(fake_case(step));
  const Outcome after = judge.run(fake_case(fake::right));
  CHECK(after.status == Status::verified);
  return outcome;
}

void check(int step, Status status, const char* message) {
  const Outcome outcome = run(step);
  CHECK(std::string(lab::name_of(outcome.status)) == lab::name_of(status));
  INFO(outcome.message);
  CHECK(outcome.message.find(message) != std::string::npos);
}

}  // namespace

TEST_CASE("a right output is verified, whatever its size") {
  lab::Judge judge(fake_runner);
  for (std::int64_t n : {0, 1, 2, 1000, 1000000, 5})
    CHECK(judge.run(fake_case(fake::right, n)).status == Status::verified);
}

TEST_CASE("keys can be given, and are there sorted afterwards") {
  lab::Judge judge(fake_runner);
  const std::vector<std::uint32_t> keys = {3, 1, 2};
  CHECK(judge.run(fake_case(fake::right, 3), keys.data()).status == Status::verified);
  const auto* sorted = static_cast<const std::uint32_t*>(judge.sorted_keys());
  CHECK(std::vector<std::uint32_t>(sorted, sorted + 3) == std::vector<std::uint32_t>{1, 2, 3});
}

TEST_CASE("a runner that ends or hangs costs one case") {
  check(fake::dies, Status::crashed, "Segmentation fault");
  check(fake::dies_before_go, Status::crashed, "Segmentation fault");
  check(fake::exits, Status::exited, "exit code 0");
  check(fake::hangs, Status::hung, "no answer");
  check(fake::closes_channel, Status::exited, "closed the judge's channel");
  check(fake::not_written, Status::not_written, "x.cu:7: step is not written");
}

TEST_CASE("what a dying runner printed is kept, in part if it was much") {
  CHECK(run(fake::dies).printed == "about to die\n");
  const Outcome much = run(fake::prints_much);
  CHECK(much.status == Status::verified);
  CHECK(much.printed.size() < 40000);
  CHECK(much.printed.find("line 99999 of") != std::string::npos);
}

TEST_CASE("forged messages are refused") {
  for (int step : {fake::wrong_nonce, fake::short_message, fake::skips_a_message}) {
    check(step, Status::refused, "something else than the runner");
  }
}

TEST_CASE("memory around the keys must stay as it was") {
  check(fake::writes_before, Status::wrong, "wrote 1 bytes before the first of the keys");
  check(fake::writes_behind, Status::wrong, "wrote past the last of the keys, first at byte 0");
}

TEST_CASE("an input that the runner changes changes nothing") {
  check(fake::changes_input, Status::wrong, "index 0 of 1000");
}

TEST_CASE("a step refuses before it touches anything") {
  check(fake::refuses_cleanly, Status::unsupported, "no");
  check(fake::touches_then_refuses, Status::wrong, "after it had touched keys");
}

TEST_CASE("more keys than memory holds are refused before anything is made") {
  lab::Judge judge(fake_runner);
  CHECK_THROWS_WITH_AS(judge.run(fake_case(fake::right, std::int64_t{1} << 45)),
                       doctest::Contains("choose a smaller --n"), lab::Error);
}

TEST_CASE("what the table rules out never reaches the runner") {
  lab::Judge judge(fake_runner);
  lab::Case asked = fake_case(fake::dies);
  asked.type = lab::KeyType::f64;
  CHECK(judge.run(asked).message == "step 2 does not take f64 keys; it takes u32");
  asked = fake_case(fake::dies);
  asked.step.largest_n = 999;
  CHECK(judge.run(asked).status == Status::unsupported);
  asked = fake_case(fake::dies);
  asked.input = "random";
  CHECK_THROWS_AS(judge.run(asked), lab::Error);
  CHECK_THROWS_AS(lab::Judge("/no/such/program").run(fake_case(fake::right)), lab::Error);
}

TEST_CASE("times that the judge's clock contradicts are refused") {
  const auto measure = [](int step) {
    lab::Judge judge(fake_runner, 5);
    return lab::measure(judge, fake_case(step), {.repeats = 5, .least_time = 0, .time_limit = 10}, 0);
  };
  const lab::Measurement slow = measure(fake::too_short_time);
  CHECK(slow.status == Status::refused);
  CHECK(slow.message.find("by the judge's clock it took") != std::string::npos);
  const lab::Measurement fast = measure(fake::too_long_time);
  CHECK(fast.status == Status::refused);
  CHECK(fast.message.find("only") != std::string::npos);
  const lab::Measurement honest = measure(fake::right);
  CHECK(honest.status == Status::verified);
  CHECK(honest.repeats == 5);
  CHECK(measure(fake::dies).status == Status::crashed);
}

TEST_CASE("times below what the memory allows are refused") {
  const std::vector<double> reported = {1.0, 1.1, 1.2}, wall = {1.3, 1.3, 1.3};
  CHECK(lab::contradiction(reported, wall, 1.0) == "");
  CHECK(lab::contradiction(reported, wall, 1.15).find("to move the keys") != std::string::npos);
}

TEST_CASE("quartiles interpolate") {
  const std::vector<double> values = {4, 1, 3, 2};
  const lab::Quartiles q = lab::quartiles(values);
  CHECK(q.first == doctest::Approx(1.75));
  CHECK(q.median == doctest::Approx(2.5));
  CHECK(q.third == doctest::Approx(3.25));
  CHECK(lab::quartiles(std::vector<double>{7}).median == 7);
}

TEST_CASE("every run of a measurement has its own seed, and run 0 the asked one") {
  CHECK(lab::seed_of_repeat(5, 0) == 5);
  std::vector<std::uint64_t> seeds;
  for (int run = 0; run < 100; ++run) seeds.push_back(lab::seed_of_repeat(5, run));
  std::sort(seeds.begin(), seeds.end());
  CHECK(std::unique(seeds.begin(), seeds.end()) == seeds.end());
}

TEST_CASE("the replay command names the whole case") {
  lab::Case asked = fake_case(2, 1023);
  asked.lab = "03-bitonic";
  asked.input = "sorted";
  asked.order = lab::Order::descending;
  asked.shape = {3, 64};
  asked.seed = 42;
  CHECK(lab::replay_command(asked) ==
        "./workbook run 03-bitonic 2 --n 1023 --input sorted --type u32 --order descending --blocks 3 --threads 64 "
        "--seed 42");
}

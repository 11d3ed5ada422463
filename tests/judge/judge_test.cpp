// The judge survives whatever a runner does, reports it, and continues with the next case.
#include "judge/judge.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "fake_runner.h"
#include "judge/errors.h"
#include "judge/json.h"
#include "judge/timing.h"
#include "step/error.h"

extern const char* fake_runner;

namespace {

using lab::Outcome;
using lab::Status;

lab::Case fake_case(int step, std::int64_t n = 1000) {
  lab::Case which;
  which.lab = "fake";
  which.step.number = step;
  which.step.name = "fake";
  which.step.types = 1u << static_cast<int>(lab::KeyType::u32);
  which.n = n;
  which.seed = 11;
  return which;
}

// The step's outcome, after which the same judge must still get a right one.
Outcome run(int step, double timeout = 0.5) {
  lab::Judge judge(fake_runner, timeout);
  const Outcome outcome = judge.run(fake_case(step));
  const Outcome after = judge.run(fake_case(fake::right));
  CHECK(after.status == Status::verified);
  return outcome;
}

void check(int step, Status status, const char* message, double timeout = 0.5) {
  const Outcome outcome = run(step, timeout);
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

TEST_CASE("keys in host memory are verified with and without a reference") {
  constexpr std::int64_t all = 0, none = std::int64_t{1} << 40;
  const auto run_on_host = [](int step, std::int64_t limit, std::int64_t n = 1000) {
    lab::Case which = fake_case(step, n);
    which.step.in_host_memory = true;
    lab::Judge judge(fake_runner);
    judge.set_reference_limit(limit);
    return judge.run(which);
  };
  for (std::int64_t limit : {all, none}) {
    CAPTURE(limit);
    for (std::int64_t n : {0, 1, 2, 1000, 1000000}) {
      CHECK(run_on_host(fake::right, limit, n).status == Status::verified);
    }
    const auto check_fault = [&](int step, const char* message) {
      const Outcome outcome = run_on_host(step, limit);
      INFO(outcome.message);
      CHECK(outcome.status == Status::wrong);
      CHECK(outcome.message.find(message) != std::string::npos);
    };
    check_fault(fake::reverses, "every key of the input is there, but in the wrong order");
    check_fault(fake::changes_input, "keys were lost or made up");
    check_fault(fake::writes_before, "wrote before the start of the keys");
    check_fault(fake::writes_behind, "wrote past the end of the keys");
    check_fault(fake::writes_behind_scratch, "wrote past the end of the scratch");
    check_fault(fake::touches_then_refuses, "after it had changed keys");
    CHECK(run_on_host(fake::refuses_cleanly, limit, 1).status == Status::unsupported);
  }
  CHECK(run_on_host(fake::reverses, all).first_wrong == 1);
}

TEST_CASE("an endless step is distinguished from a slow one") {
  check(fake::hangs, Status::hung, "Look for a loop whose condition stays true");
  lab::Judge judge(fake_runner, 0.5);
  const std::int64_t in_a_second = lab::affordable(fake_case(fake::hangs).step).cpu;
  const Outcome slow = judge.run(fake_case(fake::hangs, in_a_second + 1));
  CHECK(slow.message.find("It may only be slow") != std::string::npos);
  CHECK(slow.message.find("--timeout") != std::string::npos);
}

TEST_CASE("blocks that end one after another show that a step with many keys is only slow") {
  lab::Judge judge(fake_runner);
  judge.set_timeout(0.5, 600);
  const std::int64_t many = lab::affordable(fake_case(fake::hangs).step).cpu + 1;
  CHECK(judge.run(fake_case(fake::ends_blocks_slowly, many)).status == Status::verified);
  CHECK(judge.run(fake_case(fake::hangs, many)).message.starts_with("no answer within 2 s"));  // it was looked at twice
  CHECK(judge.run(fake_case(fake::ends_blocks_slowly)).status == Status::hung);                // few keys
  judge.set_timeout(0.5);
  CHECK(judge.run(fake_case(fake::ends_blocks_slowly, many)).status == Status::hung);  // the limit was chosen
}

TEST_CASE("time that a runner waits for a processor does not count") {
  std::atomic<bool> over = false;
  std::vector<std::thread> others;
  for (int i = 0; i < 4; ++i) {
    others.emplace_back([&] {
      fake::stay_on_one_processor();
      while (!over) continue;
    });
  }
  lab::Judge judge(fake_runner, 0.6);
  const Outcome outcome = judge.run(fake_case(fake::computes_on_one_processor));
  over = true;
  for (std::thread& other : others) other.join();
  INFO(outcome.message);
  CHECK(outcome.status == Status::verified);
  CHECK(outcome.wall_milliseconds > 600);  // else the machine was not busy
  CHECK(outcome.waited_milliseconds > 0);
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
    check(step, Status::refused, "a message that the runner did not write");
  }
}

TEST_CASE("invalid times are refused") {
  check(fake::time_is_nan, Status::refused, "a message that the runner did not write");
  check(fake::time_is_negative, Status::refused, "a message that the runner did not write");
}

TEST_CASE("findings, counts and kernels reach the judge over its channel") {
  lab::Judge judge(fake_runner, 0.5);
  const Outcome outcome = judge.run(fake_case(fake::reports_findings));
  CHECK(outcome.status == Status::verified);
  CHECK(outcome.document.observed);
  REQUIRE(outcome.document.findings.size() == 1);
  CHECK(outcome.document.findings[0].kind == "race");
  CHECK(outcome.document.findings[0].text == "two threads");
  CHECK(outcome.file == "labs/fake/01_fake.cu");
  CHECK(outcome.line == 7);
  REQUIRE(outcome.document.remarks.size() == 1);
  CHECK(outcome.document.remarks[0].kind == "early-exit");
  CHECK(lab::json_of(outcome, fake_case(fake::reports_findings)).at("remarks").at(0).at("line") == 8);
  REQUIRE(outcome.document.launches.size() == 3000);  // a document of many messages
  CHECK(outcome.document.launches[2999].counts.at("barriers") == 2999);
  CHECK(outcome.document.copied_bytes == 800);
  CHECK(outcome.document.bytes_to_host == 16);
  REQUIRE(outcome.document.kernels.size() == 1);
  CHECK(outcome.document.kernels[0].name == "sort");
  CHECK(outcome.document.kernels[0].registers == -1);
  REQUIRE(outcome.document.timeline.spans.size() == 1);
  CHECK(outcome.document.timeline.spans[0].stream == 1);
  CHECK(outcome.document.timeline.spans[0].what == "copy in");
  CHECK(outcome.document.timeline.spans[0].begin == 0.25);
  CHECK(outcome.document.timeline.spans[0].end == 1);
  CHECK(outcome.document.timeline.spans[0].bytes == 4);
  CHECK(outcome.document.timeline.left_out == 2);
}

TEST_CASE("findings that a process sends while it ends are kept") {
  const Outcome outcome = run(fake::reports_findings_and_dies);
  CHECK(outcome.status == Status::exited);
  REQUIRE(outcome.document.findings.size() == 1);
  CHECK(outcome.line == 7);
  const Outcome hung = run(fake::reports_findings_when_asked_to_end);
  CHECK(hung.status == Status::hung);
  REQUIRE(hung.document.findings.size() == 1);
}

TEST_CASE("a runner cannot cut off the memory that the judge reads") {
  CHECK(run(fake::cuts_off_memory).status == Status::verified);
}

TEST_CASE("a sandbox that waits for the runner changes nothing in what the judge finds out about it") {
  const lab::Sandbox waiting = {"/bin/sh", "-c", "\"$@\"; exit $?", "sh"};
  lab::Judge judge(fake_runner, 0.5, {}, waiting);
  CHECK(judge.run(fake_case(fake::right)).status == Status::verified);
  const Outcome crashed = judge.run(fake_case(fake::dies));
  CHECK(crashed.status == Status::crashed);
  CHECK(crashed.message.find("Segmentation fault") != std::string::npos);
  CHECK(judge.run(fake_case(fake::exits)).status == Status::exited);
  // The runner itself is asked to end, not the process that the judge has started.
  const Outcome hung = judge.run(fake_case(fake::reports_findings_when_asked_to_end));
  CHECK(hung.status == Status::hung);
  CHECK(hung.document.findings.size() == 1);
  CHECK(judge.run(fake_case(fake::right)).status == Status::verified);
  lab::Judge without(fake_runner, 0.5, {}, {"/no/such/sandbox"});
  CHECK_THROWS_AS(without.run(fake_case(fake::right)), lab::Unavailable);
}

TEST_CASE("what a sandbox has started is gone when its judge is") {
  const std::string name = fmt::format("/tmp/judge-test-{}", getpid());
  const lab::Sandbox starting = {"/bin/sh", "-c", "sleep 100 & echo $! >" + name + "; \"$@\"", "sh"};
  {
    lab::Judge judge(fake_runner, 5, {}, starting);
    CHECK(judge.run(fake_case(fake::right)).status == Status::verified);
  }
  pid_t started = 0;
  std::ifstream(name) >> started;
  std::remove(name.c_str());
  REQUIRE(started > 0);
  CHECK(kill(started, 0) == -1);  // nor is there a process that has ended and still counts
}

TEST_CASE("cases that are right before a step has done anything are named") {
  lab::Judge judge(fake_runner);
  const auto already_correct = [&](const char* input, std::int64_t n) {
    lab::Case which = fake_case(fake::right, n);
    which.input = input;
    return judge.run(which).already_correct;
  };
  CHECK(already_correct("uniform", 0));
  CHECK(already_correct("uniform", 1));
  CHECK(already_correct("sorted", 1000));
  CHECK(already_correct("range:7:7", 1000));
  CHECK(!already_correct("uniform", 1000));
  CHECK(!already_correct("reversed", 1000));
}

TEST_CASE("forged and malformed findings are refused") {
  check(fake::forges_findings, Status::refused, "a message that the runner did not write");
  check(fake::sends_no_json, Status::refused, "the runner's report is malformed");
  check(fake::sends_deep_json, Status::refused, "the runner's report is malformed");
  check(fake::sends_wrong_types, Status::refused, "the runner's report is malformed");
  check(fake::sends_too_much, Status::refused, "the runner's report is longer than 64 MiB", 20);
  check(fake::claims_too_long_a_text, Status::refused, "a message that the runner did not write");
}

TEST_CASE("the facts of a finding are handed on, and what is none of them is refused") {
  const std::string sent =
      R"({"observed":{"findings":[{"file":"a.cu","line":9,"kind":"race","severity":"error","why":"threads",)"
      R"("remedy":"block-barrier","round":"next","last_barrier":{"file":"a.cu","line":8},"facts":[{"place":)"
      R"({"file":"a.cu","line":9},"header":null,"kernel":"k","call":"","launch":null,"block":[0,0,0],"thread":[3,0,0],)"
      R"("access":"load","is_atomic":false,"is_volatile":false,"element":{"memory":"shared","array":"tile",)"
      R"("allocation":0,"allocated":null,"array_bytes":256,"offset":-4,"bytes":4,"index":null},"more":1}],)"
      R"("details":{"seconds":0.5,"shape":[1,2,3],"freed":{"file":"a.cu","line":4}},"text":"x","times":1}]}})";
  const auto read = [&](const std::string& part, const std::string& other) {
    std::string changed = sent;
    REQUIRE(changed.find(part) != std::string::npos);
    return lab::read_document(changed.replace(changed.find(part), part.size(), other));
  };
  const lab::Finding found = read("x", "x").findings.at(0);
  const auto& fact = found.facts.at("facts").at(0);
  CHECK(found.facts.at("remedy") == "block-barrier");
  CHECK(found.facts.at("last_barrier").at("line") == 8);
  CHECK(found.facts.at("details").at("shape").at(2) == 3);
  CHECK(fact.at("element").at("offset") == -4);
  CHECK(fact.at("thread").at(0) == 3);
  CHECK(!fact.contains("more"));
  const std::pair<const char*, const char*> wrong[] = {{R"("block-barrier")", R"("Put a barrier there")"},
                                                       {R"("why":"threads",)", ""},
                                                       {R"("thread":[3,0,0])", R"("thread":[3,0])"},
                                                       {R"("offset":-4)", R"("offset":"below")"},
                                                       {R"("seconds":0.5)", R"("seconds":-1)"},
                                                       {R"("line":8)", R"("line":-8)"},
                                                       {R"("is_atomic":false)", R"("is_atomic":0)"},
                                                       {R"("facts":[)", R"("facts":[7,)"}};
  for (const auto& change : wrong) {
    CAPTURE(change.first);
    CHECK_THROWS_AS(read(change.first, change.second), lab::Error);
  }
}

TEST_CASE("printed findings name the place, and can be left out of what was printed") {
  const std::string printed =
      "hello\nlabs/a/01_x.cu:41: error: bounds: past keys\nnote: error: x\nlabs/a/01_x.cu:x: error: bounds: no\n";
  const auto findings = lab::printed_findings(printed);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].file == "labs/a/01_x.cu");
  CHECK(findings[0].line == 41);
  CHECK(findings[0].kind == "bounds");
  CHECK(findings[0].text == "past keys");
  CHECK(lab::without_findings(printed) == "hello\nnote: error: x\nlabs/a/01_x.cu:x: error: bounds: no\n");
}

TEST_CASE("what a program printed says why it called abort()") {
  const auto cause = [](std::string_view printed) { return lab::cause_of_abort(printed); };
  CHECK(cause("hello\nterminate called after throwing an instance of 'std::out_of_range'\n  what():  vector\n") ==
        "std::out_of_range was thrown and not caught: vector");
  CHECK(cause("terminate called after throwing an instance of 'int'\n") == "int was thrown and not caught");
  CHECK(cause("terminate called without an active exception\n").starts_with("std::terminate() was called"));
  CHECK(cause("labs/a/01_x.cu:41: f: Assertion `n > 0' failed.\n") == "labs/a/01_x.cu:41: assertion failed: n > 0");
  CHECK(cause("double free or corruption (out)\n").ends_with("host code writes outside its memory, or frees it twice"));
  CHECK(cause("  what():  hello\nfree () of\n") == "");
}

TEST_CASE("memory around the keys must stay as it was") {
  check(fake::writes_before, Status::wrong, "wrote before the start of the keys, at byte -1");
  check(fake::writes_behind, Status::wrong, "wrote past the end of the keys, first at byte 0");
}

TEST_CASE("a runner that changes its input does not change the verdict") {
  check(fake::changes_input, Status::wrong, "index 0 of 1000");
}

TEST_CASE("once the keys are on the device, the input is nowhere in the memory, nor what larger cases have left") {
  lab::Judge judge(fake_runner);
  CHECK(judge.run(fake_case(fake::right, 100000)).status == Status::verified);  // its first keys are those of the next
  const Outcome outcome = judge.run(fake_case(fake::searches_memory));
  CHECK(outcome.status == Status::wrong);
  CHECK(outcome.message.find("keys were lost or made up") != std::string::npos);
}

TEST_CASE("a reply without the memory's descriptor is not the runner's, even if it has the nonce") {
  check(fake::forges_a_reply, Status::refused, "a message that the runner did not write");
}

TEST_CASE("nothing of what a step has started is left after its case") {
  const auto is_left = [] {
    const std::string name = fmt::format("(left-{}) ", getpid());
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      std::string text;
      std::getline(std::ifstream(entry.path() / "stat"), text);
      const std::size_t at = text.find(name);
      if (at != std::string::npos && text[at + name.size()] != 'Z') return true;
    }
    return false;
  };
  lab::Judge judge(fake_runner, 0.5);
  // They hold the channel open after the runner has crashed.
  CHECK(judge.run(fake_case(fake::leaves_processes)).status == Status::hung);
  CHECK_FALSE(is_left());
  CHECK(judge.run(fake_case(fake::leaves_processes_and_hangs)).status == Status::hung);
  CHECK_FALSE(is_left());
}

TEST_CASE("a step refuses before it touches anything") {
  check(fake::refuses_cleanly, Status::unsupported, "no");
  check(fake::touches_then_refuses, Status::wrong, "after it had changed keys");
}

TEST_CASE("more keys than memory holds are refused before anything is made") {
  lab::Judge judge(fake_runner);
  CHECK_THROWS_WITH_AS(judge.run(fake_case(fake::right, std::int64_t{1} << 45)),
                       doctest::Contains("choose a smaller --n"), lab::Error);
}

TEST_CASE("what the table rules out never reaches the runner") {
  lab::Judge judge(fake_runner);
  lab::Case which = fake_case(fake::dies);
  which.type = lab::KeyType::f64;
  CHECK(judge.run(which).message == "step 2 does not take f64 keys; it takes u32");
  which = fake_case(fake::dies);
  which.step.max_n = 999;
  CHECK(judge.run(which).status == Status::unsupported);
  which = fake_case(fake::dies);
  which.input = "random";
  CHECK_THROWS_AS(judge.run(which), lab::Error);
  CHECK_THROWS_AS(lab::Judge("/no/such/program").run(fake_case(fake::right)), lab::Error);
}

TEST_CASE("times that the judge's clock contradicts are refused, and never because the machine is busy") {
  const auto measure = [](int step, double time_limit = 10) {
    lab::Judge judge(fake_runner, 5);
    return lab::measure(judge, fake_case(step), {.repeats = 5, .min_time = 0, .time_limit = time_limit}, 0);
  };
  const lab::Measurement slow = measure(fake::too_short_time);
  CHECK(slow.status == Status::refused);
  CHECK(slow.message.find("but the judge's clock measured") != std::string::npos);
  const lab::Measurement fast = measure(fake::too_long_time);
  CHECK(fast.status == Status::refused);
  CHECK(fast.message.find("only") != std::string::npos);
  const lab::Measurement honest = measure(fake::right, 30);
  INFO(honest.message);
  CHECK((honest.status == Status::verified || honest.status == Status::busy));
  CHECK((honest.repeats > 0) == (honest.status == Status::verified));
  CHECK(measure(fake::dies).status == Status::crashed);
}

TEST_CASE("if fewer than half of the runs count, there are more") {
  lab::Judge judge(fake_runner, 5);
  const lab::TimingLimits limits = {.repeats = 5, .min_time = 0, .time_limit = 30};
  // The warm-up and five timed runs are slow. Five more are not, unless the machine is busy.
  const lab::Measurement delayed = lab::measure(judge, fake_case(fake::delayed_at_first), limits, 0);
  CHECK(delayed.status == Status::verified);
  CHECK(delayed.repeats > 0);
}

TEST_CASE("times below what the memory allows are refused") {
  const std::vector<lab::TimedRun> runs = {{1.0, 1.3}, {1.1, 1.3}, {1.2, 1.3}};
  CHECK(lab::judged(runs, 1.0).first == Status::verified);
  CHECK(lab::judged(runs, 1.15).second.find("to move the keys") != std::string::npos);
}

TEST_CASE("only runs that the judge's clock confirms count, and one of them is enough") {
  const std::vector<lab::TimedRun> busy = {{1.0, 9}, {1.0, 9}, {1.1, 1.4}}, hidden = {{1.0, 9}, {1.0, 9}, {1.1, 9}};
  CHECK(lab::confirmed(busy) == std::vector<double>{1.1});
  CHECK(lab::judged(busy, 0).first == Status::verified);
  CHECK(lab::judged(busy, 1.05).first == Status::verified);
  CHECK(lab::judged(hidden, 0).first == Status::refused);
  CHECK(lab::judged(hidden, 0).second.find("the judge's clock measured 9.0000 ms") != std::string::npos);
  const auto [status, message] = lab::judged(std::vector<lab::TimedRun>{{1, 9}, {1, 9}, {1.1, 1.0}}, 0);
  CHECK(status == Status::refused);
  CHECK(message.find("only 1.0000 ms") != std::string::npos);
}

TEST_CASE("where waiting for a processor explains the clocks' difference, the machine is called busy") {
  const std::vector<lab::TimedRun> waited = {{1.0, 9, 7.5}, {1.0, 9, 8}, {1.0, 20, 0}};
  CHECK(lab::judged(waited, 0).first == Status::busy);
  CHECK(lab::judged(waited, 0).second.starts_with("the machine is busy: the step's 1.0000 ms were 9.0000 ms"));
  const std::vector<lab::TimedRun> hidden = {{1.0, 9, 7.5}, {1.0, 9, 4}, {1.0, 20, 0}};  // two worked on
  CHECK(lab::judged(hidden, 0).first == Status::refused);
  // Waiting does not confirm a time: a step may cause it.
  CHECK(lab::confirmed(waited).empty());
}

TEST_CASE("quartiles interpolate") {
  const std::vector<double> values = {4, 1, 3, 2};
  const lab::Quartiles q = lab::quartiles(values);
  CHECK(q.first == doctest::Approx(1.75));
  CHECK(q.median == doctest::Approx(2.5));
  CHECK(q.third == doctest::Approx(3.25));
  CHECK(lab::quartiles(std::vector<double>{7}).median == 7);
}

TEST_CASE("every run of a measurement has its own seed, and run 0 the original") {
  CHECK(lab::seed_of_repeat(5, 0) == 5);
  std::vector<std::uint64_t> seeds;
  for (int run = 0; run < 100; ++run) seeds.push_back(lab::seed_of_repeat(5, run));
  std::sort(seeds.begin(), seeds.end());
  CHECK(std::unique(seeds.begin(), seeds.end()) == seeds.end());
}

TEST_CASE("passed means: as the case expects") {
  const auto passed = [](int step, lab::Expect expect) {
    lab::Judge judge(fake_runner, 0.5);
    lab::Case which = fake_case(step);
    which.expect = expect;
    return judge.run(which).passed;
  };
  CHECK(passed(fake::right, lab::Expect::verified));
  CHECK(passed(fake::right, lab::Expect::either));
  CHECK_FALSE(passed(fake::right, lab::Expect::refused));
  CHECK_FALSE(passed(fake::refuses_cleanly, lab::Expect::verified));
  CHECK(passed(fake::refuses_cleanly, lab::Expect::either));
  CHECK(passed(fake::refuses_cleanly, lab::Expect::refused));
  CHECK_FALSE(passed(fake::touches_then_refuses, lab::Expect::refused));
  CHECK_FALSE(passed(fake::dies, lab::Expect::either));
}

TEST_CASE("a step that counts values must name the number of counters when it refuses") {
  lab::Judge judge(fake_runner, 0.5);
  lab::Case which = fake_case(fake::refuses_cleanly);  // with the message "no"
  which.expect = lab::Expect::refused;
  which.step.max_range = 16;
  which.input = "range:0:3";
  CHECK(judge.run(which).passed);  // the range is not the reason
  which.input = "uniform";
  CHECK_FALSE(judge.run(which).passed);
}

TEST_CASE("the replay command names the whole case") {
  lab::Case which = fake_case(2, 1023);
  which.lab = "03-bitonic";
  which.input = "sorted";
  which.order = lab::Order::descending;
  which.shape = {3, 64};
  which.seed = 42;
  CHECK(lab::replay_command(which) ==
        "./workbook run 03-bitonic 2 --n 1023 --input sorted --type u32 --order descending --blocks 3 --threads 64 "
        "--seed 42");
  which.offset = 3;
  which.reversed_blocks = true;
  CHECK(lab::replay_command(which).starts_with("SIMT_REVERSE_BLOCKS=1 ./workbook run 03-bitonic 2 "));
  CHECK(lab::replay_command(which).ends_with(" --offset 3 --seed 42"));
  CHECK(lab::title_of(which).ends_with(", <<<3, 64>>>, 3 keys past an aligned address, last block first"));
  which.step.task = lab::Task::exchange;  // has an order, as a sort
  CHECK(lab::replay_command(which).find("--type u32 --order descending --blocks 3") != std::string::npos);
  which.step.task = lab::Task::scan;
  CHECK(lab::replay_command(which).find("--type u32 --task scan --blocks 3") != std::string::npos);
}

// The JSON interface: every line gets one answer, and no line, valid or not, ends the judge.
#include "judge/serve.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "course.h"

extern const char* fake_runner;

namespace {

using Json = nlohmann::json;

std::vector<Json> answers_to(const std::string& text) {
  std::istringstream in(text);
  std::ostringstream out;
  lab::serve(course::labs, in, out);
  std::vector<Json> answers;
  std::istringstream lines(out.str());
  for (std::string line; std::getline(lines, line);) answers.push_back(Json::parse(line));
  return answers;
}

Json answer_to(const Json& request) {
  const std::vector<Json> answers = answers_to(request.dump() + "\n");
  REQUIRE(answers.size() == 1);
  return answers[0];
}

void check_error(const Json& answer, const char* kind, const std::string& part) {
  CAPTURE(answer.dump());
  REQUIRE(answer.contains("error"));
  CHECK(answer.at("kind") == kind);
  CHECK(answer.at("error").get<std::string>().find(part) != std::string::npos);
}

Json run_request() {
  return {{"ask", "run"}, {"runner", fake_runner}, {"case", {{"lab", "03-bitonic"}, {"step", 1}, {"n", 100}}}};
}

}  // namespace

TEST_CASE("labs: one entry per lab, with its steps and what is derived from their tables") {
  const Json labs = answer_to({{"ask", "labs"}}).at("labs");
  REQUIRE(labs.size() == std::size(course::labs));
  const Json& counting = labs.at(3);
  CHECK(counting.at("name") == "04-counting");
  CHECK(counting.at("default_type") == "u8");
  CHECK(counting.at("counted_input") == true);
  CHECK(counting.at("max_counted_keys") == 537000000);
  CHECK(labs.at(0).at("max_counted_keys").is_null());
  const Json& exchange = labs.at(0).at("steps").at(0);
  CHECK(exchange.at("number") == 0);
  CHECK(exchange.at("task") == "exchange");
  CHECK(exchange.at("types") == Json{"u32", "u64", "i32", "f32"});
  const Json& odd_even = labs.at(0).at("steps").at(1);
  CHECK(odd_even.at("file") == "01_global.cu");
  CHECK(odd_even.at("max_n") == 65536);
  CHECK(odd_even.at("max_range").is_null());
  CHECK(odd_even.at("threads").is_null());
  CHECK(labs.at(2).at("steps").at(0).at("max_n").is_null());
  CHECK(labs.at(1).at("steps").at(3).at("threads") == 256);
  CHECK(odd_even.at("memory") == "device");
  CHECK(odd_even.at("min_device_bytes").is_null());
  const Json& beyond = labs.at(5).at("steps").at(2);
  CHECK(beyond.at("memory") == "host");
  CHECK(beyond.at("min_device_bytes") == 256 << 10);
  CHECK(beyond.at("round_trips") == 2);
  CHECK(odd_even.at("round_trips").is_null());
  CHECK(beyond.at("types") == Json{"u32"});
}

TEST_CASE("affordable: no more than the step takes, and less where the work grows faster") {
  const Json labs = answer_to({{"ask", "labs"}}).at("labs");
  for (const Json& lab : labs) {
    for (const Json& step : lab.at("steps")) {
      for (const char* build : {"check", "cpu", "cuda"}) {
        const std::int64_t keys = step.at("affordable").at(build);
        CHECK(keys > 0);
        if (!step.at("max_n").is_null()) CHECK(keys <= step.at("max_n"));
      }
      CHECK(step.at("affordable").at("check") <= step.at("affordable").at("cpu"));
      if (!step.at("budget").is_null()) CHECK(step.at("budget").at("n") <= step.at("affordable").at("check"));
    }
  }
  const auto cpu = [&](int lab, int line) {
    return labs.at(lab).at("steps").at(line).at("affordable").at("cpu").get<std::int64_t>();
  };
  CHECK(cpu(0, 1) < cpu(2, 0));  // odd-even's work grows with the square
}

TEST_CASE("inputs and machine") {
  CHECK(answer_to({{"ask", "inputs"}}).at("inputs").at(0).at("name") == "uniform");
  CHECK(answer_to({{"ask", "machine"}}).at("machine_id").get<std::string>() != "");
}

TEST_CASE("requests that cannot be served get an error, and the judge goes on") {
  const std::string labs = "{\"ask\":\"labs\"}\n";
  for (const std::string bad : {"", "{", "nonsense", "[1,2]", "\"ask\"", "{\"ask\":1}", "{\"ask\":\"x\"}", "{}"}) {
    CAPTURE(bad);
    const std::vector<Json> answers = answers_to(bad + "\n" + labs);
    REQUIRE(answers.size() == 2);
    check_error(answers[0], "usage", "");
    CHECK(answers[1].contains("labs"));
  }
  check_error(answers_to("{\n")[0], "usage", "the request cannot be read: it is not JSON");
  check_error(answers_to(std::string(3000, '[') + "\n")[0], "usage", "nested too deeply");
  check_error(answer_to({{"ask", "labs"}, {"lab", 3}}), "usage", "a request has no member \"lab\"");
}

TEST_CASE("a line that is too long is skipped whole") {
  const std::vector<Json> answers = answers_to("{\"ask\":\"" + std::string(2 << 20, 'x') + "\"}\n{\"ask\":\"labs\"}\n");
  REQUIRE(answers.size() == 2);
  check_error(answers[0], "usage", "a request has at most 1048576 bytes");
  CHECK(answers[1].contains("labs"));
}

TEST_CASE("the end of the input within a line is an error, not a crash") {
  const std::vector<Json> answers = answers_to("{\"ask\":\"labs\"}\n{\"ask\":\"la");
  REQUIRE(answers.size() == 2);
  check_error(answers[1], "usage", "not JSON");
  CHECK(answers_to("").empty());
}

TEST_CASE("run: wrong members are named") {
  const auto with_case = [](const char* member, const Json& value) {
    Json request = run_request();
    request["case"][member] = value;
    return answer_to(request);
  };
  check_error(with_case("lab", "07-bogo"), "usage", "unknown lab '07-bogo'; choose one of: 01-odd-even");
  check_error(with_case("step", 99), "usage", "03-bitonic has no step 99; choose one of: 1 global");
  check_error(with_case("n", "many"), "usage", "\"n\" of \"case\" must be a whole number from 0");
  check_error(with_case("n", -1), "usage", "\"n\"");
  check_error(with_case("blocks", 99999999999), "usage", "\"blocks\" of \"case\" must be a whole number");
  check_error(with_case("seed", -1), "usage", "\"seed\"");
  check_error(with_case("type", "u128"), "usage", "unknown key type 'u128'");
  check_error(with_case("order", "up"), "usage", "unknown order 'up'");
  check_error(with_case("input", "random"), "usage", "unknown input 'random'");
  check_error(with_case("expect", "luck"), "usage", "unknown expectation 'luck'");
  check_error(with_case("colour", "red"), "usage", "\"case\" has no member \"colour\"");
  check_error(with_case("n", std::int64_t{1} << 45), "machine", "choose a smaller --n");
  Json request = run_request();
  request["timeout"] = 0;
  check_error(answer_to(request), "usage", "\"timeout\" must be greater than 0");
  request = run_request();
  request["runner"] = "/no/such/runner";
  check_error(answer_to(request), "machine", "cannot run /no/such/runner");
  request = run_request();
  request["sandbox"] = "/bin/sh";
  check_error(answer_to(request), "usage", "\"sandbox\" of a request must be a list of strings");
  request["sandbox"] = {"/no/such/sandbox"};
  check_error(answer_to(request), "machine", "cannot run /no/such/sandbox");
  request["sandbox"] = {"/usr/bin/env"};
  CHECK(answer_to(request).at("status") == "verified");
  request = run_request();
  request["runner"] = "/no/such/runner";
  request.erase("runner");
  check_error(answer_to(request), "usage", "needs \"runner\"");
}

TEST_CASE("run: device memory is limited only for steps that sort host memory") {
  Json request = run_request();
  request["case"]["memory"] = 1 << 20;
  check_error(answer_to(request), "usage", "step 1 of 03-bitonic sorts keys in device memory: leave out --memory");
  request["case"] = {{"lab", "06-beyond-memory"}, {"step", 1},        {"n", 100},
                     {"memory", 3 << 19},         {"pageable", true}, {"seed", 4}};
  const Json outcome = answer_to(request);
  CHECK(outcome.at("status") == "verified");
  CHECK(outcome.at("case").at("memory") == 3 << 19);
  CHECK(outcome.at("case").at("pageable") == true);
  CHECK(outcome.at("replay").get<std::string>().find("--memory 1536K --pageable --seed 4") != std::string::npos);
  CHECK(outcome.at("title").get<std::string>().find("1536K of device memory, pageable host memory") !=
        std::string::npos);
}

TEST_CASE("run: an outcome with the whole case, also where the request left things open") {
  const Json outcome = answer_to(run_request());
  CAPTURE(outcome.dump());
  CHECK(outcome.at("status") == "verified");
  CHECK(outcome.at("passed") == true);
  CHECK(outcome.at("case").at("type") == "u32");
  CHECK(outcome.at("case").at("order") == "ascending");
  CHECK(outcome.at("case").at("lane_seed").is_null());
  CHECK(outcome.at("file") == "labs/03-bitonic/01_global.cu");
  CHECK(outcome.at("line").is_null());
  CHECK(outcome.at("first_wrong").is_null());
  CHECK(outcome.at("times").at("wall_ms") > 0);
  CHECK(outcome.at("replay").get<std::string>().starts_with("./workbook run 03-bitonic 1 --n 100"));
}

TEST_CASE("measure: too many keys are a result, so that a sweep can go on") {
  Json request = run_request();
  request["ask"] = "measure";
  request["limits"] = {{"repeats", 5}, {"min_time", 0}, {"time_limit", 5}};
  const Json measured = answer_to(request);
  CAPTURE(measured.dump());
  const bool busy = measured.at("status") == "busy";  // other programs keep this machine busy
  CHECK((busy || measured.at("status") == "verified"));
  CHECK((measured.at("repeats") > 0) == !busy);
  CHECK(measured.at("minimum_bytes") == 800);
  request["case"]["n"] = std::int64_t{1} << 45;
  const Json impossible = answer_to(request);
  CHECK(impossible.at("status") == "unsupported");
  CHECK(impossible.at("message").get<std::string>().find("choose a smaller --n") != std::string::npos);
}

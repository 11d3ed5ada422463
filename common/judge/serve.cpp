#include "judge/serve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <limits>
#include <list>
#include <string>

#include "judge/cases.h"
#include "judge/errors.h"
#include "judge/file_sort.h"
#include "judge/inputs.h"
#include "judge/json.h"
#include "judge/judge.h"
#include "judge/machine.h"
#include "judge/timing.h"
#include "step/key_type.h"

namespace lab {
namespace {

constexpr std::size_t max_line = 1 << 20;  // bytes of a request
constexpr double more_if_slow = 60;        // seconds, if the request sets no limit
constexpr std::size_t max_judges = 4;      // runners that are kept

// The next line without its end; false at the end of `in`. Of a line that is too long the rest is skipped.
bool read_line(std::istream& in, std::string& line) {
  line.clear();
  std::streambuf& buffer = *in.rdbuf();
  for (int c = buffer.sbumpc(); c != '\n'; c = buffer.sbumpc()) {
    if (c == std::char_traits<char>::eof()) return !line.empty();
    if (line.size() <= max_line) line += static_cast<char>(c);
  }
  return true;
}

class Server {
 public:
  /// `progress` is called with lines that precede an answer.
  Server(std::span<const Lab> labs, std::function<void(const Json&)> progress)
      : labs_(labs), progress_(std::move(progress)) {}

  Json answer(const std::string& line) {
    try {
      if (line.size() > max_line) throw Error(fmt::format("a request has at most {} bytes", max_line));
      const Json request = parse_request(line);
      return dispatch(request);
    } catch (const NoMemory& error) {
      return failure(error.what(), "machine");
    } catch (const Unavailable& error) {
      return failure(error.what(), "machine");
    } catch (const std::bad_alloc&) {
      return failure("there is not enough memory: choose a smaller n", "machine");
    } catch (const std::exception& error) {
      return failure(error.what(), "usage");
    }
  }

 private:
  struct Kept {
    std::string program;
    Environment environment;
    Sandbox sandbox;
    std::unique_ptr<Judge> judge;
  };

  static Json failure(const std::string& text, const char* kind) { return {{"error", text}, {"kind", kind}}; }

  static Json parse_request(const std::string& line) {
    try {
      return parse_shallow(line);
    } catch (const Error& error) {
      throw Error(fmt::format("the request cannot be read: {}", error.what()));
    }
  }

  Json dispatch(const Json& request) {
    Members members(request, "a request");
    const std::string ask = members.text("ask");
    if (ask == "labs") return finish(members, answer_labs());
    if (ask == "inputs") return finish(members, answer_inputs());
    if (ask == "machine") return answer_machine(members);
    if (ask == "runner") return answer_runner(members);
    if (ask == "cases") return answer_cases(members);
    if (ask == "run") return answer_run(members);
    if (ask == "measure") return answer_measure(members);
    if (ask == "sort_file") return answer_sort_file(members);
    throw Error(fmt::format(
        "unknown request '{}'; choose one of: labs, inputs, machine, runner, cases, run, measure, sort_file", ask));
  }

  static Json finish(const Members& members, Json answer) {
    members.finish();
    return answer;
  }

  Json answer_labs() const {
    Json labs = Json::array();
    for (const Lab& lab : labs_) labs.push_back(json_of(lab));
    return {{"labs", std::move(labs)}};
  }

  static Json answer_inputs() {
    Json list = Json::array();
    for (const InputFacts& input : inputs()) {
      const bool compared = input.use == InputUse::compared;
      list.push_back({{"name", input.name}, {"what", input.what}, {"only_compared", compared}});
    }
    return {{"inputs", std::move(list)}};
  }

  static Json answer_machine(Members& members) {
    const bool bandwidth = members.flag("bandwidth");
    members.finish();
    Json answer = {{"machine", describe_host()}, {"machine_id", host_id()}};
    if (bandwidth) answer["copy_bytes_per_second"] = measure_host_copy();
    return answer;
  }

  Json answer_runner(Members& members) {
    Judge& judge = judge_for(members.text("runner"), {}, members.strings("sandbox"));
    const Bandwidth bandwidth = members.flag("bandwidth") ? Bandwidth::measure : Bandwidth::leave_out;
    members.finish();
    const RunnerFacts facts = judge.describe(bandwidth);
    return json_of(facts, judge.table());
  }

  // Those of the step and of its parts.
  Json answer_cases(Members& members) const {
    const Lab& lab = lab_named(labs_, members.text("lab"));
    const int number = static_cast<int>(members.integer("step", 0, std::numeric_limits<int>::max()));
    const CaseSet set = case_set_named(members.text("set"));
    const Build build = build_named(members.text("build"));
    const std::uint64_t seed = members.has("seed") ? members.seed("seed") : fresh_number() >> 32;
    members.finish();
    step_numbered(lab.traits.name, lab.steps, number);
    Json groups = Json::array();
    for (const StepFacts& step : lab.steps) {
      if (step.number != number) continue;
      for (const CaseGroup& group : cases_of(lab, step, set, seed, build)) {
        Json cases = Json::array();
        for (const Case& which : group.cases) cases.push_back(json_of(which));
        groups.push_back({{"what", group.what}, {"cases", std::move(cases)}});
      }
    }
    return {{"groups", std::move(groups)}};
  }

  Json answer_run(Members& members) {
    Judge& judge = judge_for(members.text("runner"), environment_of(members), members.strings("sandbox"));
    judge.set_timeout(timeout_of(members), members.has("timeout") ? 0 : more_if_slow);
    const KernelTimes kernels = members.flag("time_kernels") ? KernelTimes::measure : KernelTimes::leave_out;
    const std::string keys_path = members.text("keys", ""), output_path = members.text("output", "");
    Case which = case_of(members, judge);
    members.finish();
    const std::string keys = keys_path.empty() ? "" : read_keys(keys_path, which);
    if (!keys_path.empty()) which.input = "standard input";
    choose_n(which);
    const Outcome outcome = judge.run(which, keys_path.empty() ? nullptr : keys.data(), kernels);
    if (!output_path.empty() && outcome.status == Status::verified) write_keys(output_path, which, judge);
    return json_of(outcome, which);
  }

  Json answer_measure(Members& members) {
    Judge& judge = judge_for(members.text("runner"), environment_of(members), members.strings("sandbox"));
    judge.set_timeout(timeout_of(members));
    const TimingLimits limits = limits_of(members);
    const bool kernels = members.flag("kernels");
    const double copy_bytes_per_second = members.number("copy_bytes_per_second", 0);
    Case which = case_of(members, judge);
    members.finish();
    try {
      choose_n(which);
      Measurement m = measure(judge, which, limits, copy_bytes_per_second);
      // Something other than a lack of processors may have delayed the judge between a message and its clock.
      if (m.status == Status::refused) m = measure(judge, which, limits, copy_bytes_per_second);
      const bool with_kernels = kernels && m.status == Status::verified;
      return json_of(m, with_kernels ? measure_kernels(judge, which, limits) : std::vector<KernelMeasurement>{}, which);
    } catch (const Unsupported& error) {  // too many keys, or not of this type: a sweep goes on with the next case
      Measurement m;
      m.status = Status::unsupported;
      m.message = error.what();
      m.failed_seed = which.seed;
      return json_of(m, {}, which);
    }
  }

  Json answer_sort_file(Members& members) {
    const std::string runner = members.text("runner");
    const Environment environment = environment_of(members);
    const Sandbox sandbox = members.strings("sandbox");
    FileSortRequest request;
    request.input = members.text("input");
    request.output = members.text("output");
    request.host_bytes = members.integer("host_memory", 0, any_n, 0);
    request.timeout = members.has("timeout") ? timeout_of(members) : 0;
    Members given(members.object("case"), "\"case\"");
    const Lab& lab = lab_named(labs_, given.text("lab"));
    request.which = read_case(given, lab.traits.name, lab.steps, lab.traits.default_type);
    given.finish();
    members.finish();
    return json_of(sort_file(request, runner, environment, sandbox,
                             [this](const std::string& what, std::int64_t done, std::int64_t total) {
                               progress_({{"progress", {{"what", what}, {"done", done}, {"total", total}}}});
                             }));
  }

  // --- parts of requests ---

  static Environment environment_of(Members& members) {
    Environment environment;
    if (members.has("environment")) {
      for (const auto& [name, value] : members.object("environment").items()) {
        if (!value.is_string() || name.empty() || name.find('=') != std::string::npos) {
          throw Error("\"environment\" must name variables and their values as strings");
        }
        environment[name] = value.get<std::string>();
      }
    }
    if (members.has("trace")) environment["CHECK_TRACE"] = members.text("trace");
    return environment;
  }

  static double timeout_of(Members& members) {
    const double timeout = members.number("timeout", 20);
    if (timeout <= 0) throw Error("\"timeout\" must be greater than 0");
    return timeout;
  }

  static TimingLimits limits_of(Members& members) {
    TimingLimits limits;
    if (!members.has("limits")) return limits;
    Members given(members.object("limits"), "\"limits\"");
    limits.repeats = static_cast<int>(given.integer("repeats", 1, 1'000'000, limits.repeats));
    limits.min_time = given.number("min_time", limits.min_time);
    limits.time_limit = given.number("time_limit", limits.time_limit);
    given.finish();
    return limits;
  }

  // n is -1 if the request does not name it.
  Case case_of(Members& members, Judge& judge) const {
    Members given(members.object("case"), "\"case\"");
    const std::string name = given.text("lab");
    Case which;
    if (name == "gold") {
      which = read_case(given, name, judge.table(), KeyType::u32);
    } else {
      const Lab& lab = lab_named(labs_, name);
      which = read_case(given, name, lab.steps, lab.traits.default_type);
    }
    given.finish();
    return which;
  }

  static void choose_n(Case& which) {
    if (which.n >= 0) return;
    const std::int64_t in_file = file_keys(which.input, which.type);
    which.n = std::min(which.step.max_n, in_file ? in_file : default_n);
  }

  static std::string read_keys(const std::string& path, Case& which) {
    if (!is_in_place(which.step.task)) throw Error("keys can only be given to a sort");
    if (which.type == KeyType::pairs) throw Error("keys can only be given without values: choose another type");
    const std::int64_t in_file = file_keys("file:" + path, which.type);
    if (which.n < 0) which.n = in_file;
    if (which.n != in_file) throw Error(fmt::format("{} holds {} keys, not {}", path, in_file, which.n));
    std::string keys(static_cast<std::size_t>(in_file * key_bytes(which.type)), '\0');
    make_keys("file:" + path, which.type, 0, in_file, keys.data());
    return keys;
  }

  static void write_keys(const std::string& path, const Case& which, const Judge& judge) {
    std::ofstream file(path, std::ios::binary);
    file.write(static_cast<const char*>(judge.sorted_keys()), which.n * key_bytes(which.type));
    if (!file.flush()) throw Unavailable(fmt::format("cannot write {}", path));
  }

  // The judge of this program and environment, with its process if that is well; the one unused for longest makes way.
  Judge& judge_for(const std::string& program, const Environment& environment, const Sandbox& sandbox) {
    const auto kept = std::find_if(judges_.begin(), judges_.end(), [&](const Kept& k) {
      return k.program == program && k.environment == environment && k.sandbox == sandbox;
    });
    if (kept != judges_.end()) {
      judges_.splice(judges_.begin(), judges_, kept);
    } else {
      if (judges_.size() == max_judges) judges_.pop_back();
      judges_.push_front({program, environment, sandbox, std::make_unique<Judge>(program, 20, environment, sandbox)});
    }
    return *judges_.front().judge;
  }

  std::span<const Lab> labs_;
  std::function<void(const Json&)> progress_;
  std::list<Kept> judges_;  // used last, first
};

}  // namespace

void serve(std::span<const Lab> labs, std::istream& in, std::ostream& out) {
  const auto write = [&out](const Json& json) {
    // What a runner prints need not be UTF-8.
    out << json.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
  };
  Server server(labs, write);
  for (std::string line; out && read_line(in, line);) write(server.answer(line));
}

int judge_main(std::span<const Lab> labs, int argc, char** argv) {
  if (argc > 1) {
    const bool help = argc == 2 && (std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "-h") == 0);
    fmt::print(
        help ? stdout : stderr,
        "{}The judge reads requests on standard input and answers on standard output, one JSON object per line.\n"
        "common/judge/serve.h describes them. ./workbook is the command for people.\n",
        help ? "" : "error: the judge takes no arguments.\n");
    return help ? 0 : 2;
  }
  serve(labs, std::cin, std::cout);
  return std::cout ? 0 : 1;
}

}  // namespace lab

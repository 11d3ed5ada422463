// The judge's command line: what ./workbook calls to list, sort once, and time.
// Exit codes: 0 all verified, 1 something was not, 2 the arguments cannot be served.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <tuple>

#include "lab/error.h"
#include "lab/inputs.h"
#include "lab/judge.h"
#include "lab/key_type.h"
#include "lab/labs.h"
#include "lab/machine.h"
#include "lab/timing.h"

namespace lab {
namespace {

constexpr std::int64_t default_n = 1 << 20;

/// What the command line gave; a list where bench takes several.
struct Options {
  std::string runner, lab, build, gold, csv, task = "sort";
  std::vector<int> steps, blocks = {0}, threads = {0};
  std::vector<std::string> counts, types, orders = {"ascending"}, inputs = {"uniform"};
  std::optional<std::uint64_t> seed;
  double timeout = 20;
  bool from_stdin = false;
  TimingLimits limits;
};

// A count of keys: "1000" or "2^20".
std::int64_t count_of(const std::string& text) {
  const auto number = [&](const std::string& digits) {
    if (digits.empty() || digits.size() > 18 || digits.find_first_not_of("0123456789") != std::string::npos) {
      throw Error("--n " + text + " is no count of keys: give a number, or a power as in 2^20");
    }
    return std::stoll(digits);
  };
  const std::size_t power = text.find('^');
  if (power == std::string::npos) return number(text);
  std::int64_t base = number(text.substr(0, power)), result = 1;
  for (std::int64_t i = number(text.substr(power + 1)); i > 0; --i) {
    if (__builtin_mul_overflow(result, base, &result)) throw Error("--n " + text + " is too large");
  }
  return result;
}

std::uint64_t seed_of(const Options& options) {
  if (options.seed) return *options.seed;
  return std::random_device{}();
}

std::string rate_of(double keys_per_second) {
  char text[64];
  const bool giga = keys_per_second >= 1e9;
  std::snprintf(text, sizeof text, "%.4g %s", keys_per_second * (giga ? 1e-9 : 1e-6), giga ? "Gkeys/s" : "Mkeys/s");
  return text;
}

std::string title_of(const Case& asked) {
  return asked.lab + " step " + std::to_string(asked.step.number) + " " + std::string(asked.step.name) + ": " +
         std::to_string(asked.n) + " " + name_of(asked.type) + (asked.type == KeyType::pairs ? "" : " keys") + ", " +
         asked.input + ", " + name_of(asked.order);
}

// The lab's own type, or where a line does not take that, the first that it takes.
KeyType default_type(const Lab& lab, const StepFacts& step) {
  if (step.takes(lab.default_type)) return lab.default_type;
  return *std::find_if(std::begin(all_key_types), std::end(all_key_types), [&](KeyType type) { return step.takes(type); });
}

// --- table, inputs ---

int print_table(const Options& options) {
  for (const StepFacts& step : lab_named(options.lab).steps) {
    std::cout << step.number << '\t' << step.name << '\t' << step.idea << '\t' << step.stable << '\t' << step.tile
              << '\t' << step.largest_n << '\t' << types_of(step, ",") << '\t' << name_of(step.task) << '\n';
  }
  return 0;
}

int print_inputs() {
  for (const InputFacts& input : inputs()) std::cout << input.name << '\t' << input.what << '\n';
  return 0;
}

// --- sort ---

constexpr std::uint64_t most_counted_keys = 537'000'000;

// The keys on standard input as they lie there: all of it, or as many as its first 4 bytes announce.
std::string keys_on_stdin(const Lab& lab, KeyType type) {
  if (type == KeyType::pairs) throw Error("--stdin takes keys without values: choose another --type");
  std::string bytes;
  std::vector<char> part(1 << 20);
  while (std::cin.read(part.data(), std::ssize(part)) || std::cin.gcount() > 0) {
    bytes.append(part.data(), std::size_t(std::cin.gcount()));
  }
  const auto key = std::uint64_t(key_bytes(type));
  if (lab.counted_input) {
    std::uint64_t n = 0;
    if (bytes.size() < 4) {
      throw Error("standard input has " + std::to_string(bytes.size()) +
                  " bytes; it must begin with 4 that give the number of keys, the low one first");
    }
    for (int i = 3; i >= 0; --i) n = n << 8 | static_cast<unsigned char>(bytes[i]);
    if (n > most_counted_keys) {
      throw Error("standard input announces " + std::to_string(n) + " keys; at most " +
                  std::to_string(most_counted_keys) + " are taken");
    }
    if (bytes.size() - 4 != n * key) {
      throw Error("standard input announces " + std::to_string(n) + " keys, " + std::to_string(n * key) +
                  " bytes, but " + std::to_string(bytes.size() - 4) + " bytes follow");
    }
    bytes.erase(0, 4);
  }
  if (bytes.size() % key != 0) {
    throw Error("standard input has " + std::to_string(bytes.size()) + " bytes, which is not a multiple of the " +
                std::to_string(key) + " bytes of a " + name_of(type) + " key");
  }
  return bytes;
}

int sort_once(const Options& options) {
  const Lab& lab = lab_named(options.lab);
  if (options.steps.size() != 1) throw Error("--step takes one number");
  Case asked;
  asked.lab = lab.name;
  asked.step = step_numbered(lab, options.steps.front(), task_named(options.task));
  asked.type = options.types.empty() ? default_type(lab, asked.step) : key_type_named(options.types.front());
  asked.order = order_named(options.orders.front());
  asked.shape = {options.blocks.front(), options.threads.front()};
  asked.input = options.inputs.front();
  asked.seed = seed_of(options);
  std::string keys;
  if (options.from_stdin) {
    if (asked.step.task != Task::sort) throw Error("--stdin sorts; leave out --task " + options.task);
    keys = keys_on_stdin(lab, asked.type);
    asked.input = "standard input";
    asked.n = std::int64_t(keys.size()) / key_bytes(asked.type);
  } else {
    const std::int64_t in_file = file_keys(asked.input, asked.type);
    asked.n = std::min(asked.step.largest_n, in_file ? in_file : default_n);
  }
  if (!options.counts.empty()) {
    if (options.from_stdin) throw Error("--n and --stdin exclude each other: all of standard input is sorted");
    asked.n = count_of(options.counts.front());
  }

  Judge judge(options.runner, options.timeout);
  const Outcome outcome = judge.run(asked, options.from_stdin ? keys.data() : nullptr);
  std::cerr << title_of(asked) << ", seed " << asked.seed << "\n";
  if (!outcome.printed.empty()) std::cerr << "--- the runner printed ---\n" << outcome.printed << "---\n";
  if (outcome.status != Status::verified) {
    std::cerr << name_of(outcome.status) << ": " << outcome.message << "\n";
    return 1;
  }
  std::fprintf(stderr, "verified; %.4f ms, one run without warm-up (./workbook bench measures)\n",
               outcome.milliseconds);
  if (options.from_stdin) std::cout.write(static_cast<const char*>(judge.sorted_keys()), std::ssize(keys));
  return std::cout.flush() ? 0 : 1;
}

// --- bench ---

constexpr const char* csv_header =
    "lab,step,name,task,tile,build,type,order,input,seed,n,blocks,threads,repeats,median_ms,q1_ms,q3_ms,keys_per_s,status,"
    "message,machine,date";

std::string csv_field(std::string text) {
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string now_utc() {
  char text[32];
  const std::time_t now = std::time(nullptr);
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text;
}

/// Rows to a file that is appended to, or to standard output.
class CsvFile {
 public:
  explicit CsvFile(const std::string& path) {
    if (path.empty()) {
      std::cout << csv_header << std::endl;
      return;
    }
    file_.open(path, std::ios::app);
    if (!file_) throw Error("cannot write " + path);
    if (file_.tellp() == 0) file_ << csv_header << std::endl;
  }
  // A row is written in one go, so that an interrupted bench leaves whole rows.
  void add(const std::string& row) { (file_.is_open() ? file_ : std::cout) << row + "\n" << std::flush; }

 private:
  std::ofstream file_;
};

std::string csv_row(const Case& asked, const std::string& build, const std::string& machine, const Measurement& m) {
  std::ostringstream row;
  row << asked.lab << ',' << asked.step.number << ',' << csv_field(std::string(asked.step.name)) << ','
      << name_of(asked.step.task) << ',' << asked.step.tile << ',' << csv_field(build) << ',' << name_of(asked.type) << ',' << name_of(asked.order) << ',' << csv_field(asked.input)
      << ',' << asked.seed << ',' << asked.n << ',' << asked.shape.blocks << ',' << asked.shape.threads << ','
      << m.repeats << ',';
  if (m.status == Status::verified) {
    row << m.milliseconds.median << ',' << m.milliseconds.first << ',' << m.milliseconds.third << ','
        << (m.milliseconds.median > 0 ? double(asked.n) / (m.milliseconds.median * 1e-3) : 0);
  } else {
    row << ",,,";
  }
  row << ',' << name_of(m.status) << ',' << csv_field(m.message) << ',' << csv_field(machine) << ',' << now_utc();
  return row.str();
}

/// One runner that is timed, with what its rows say of it.
struct Bench {
  Judge judge;
  std::string build;
  std::string machine;
  double copy_bytes_per_second;
  bool all_well = true;

  Bench(const std::string& runner, const Options& options) : judge(runner, options.timeout), build(options.build) {
    const RunnerFacts facts = judge.describe();
    machine = facts.on_gpu ? facts.device + "; " + describe_host() : describe_host();
    copy_bytes_per_second = facts.copy_bytes_per_second;
  }

  void time(const Case& asked, const Options& options, CsvFile& csv) {
    std::cerr << title_of(asked) << " ... " << std::flush;
    const Measurement m = measure(judge, asked, options.limits, copy_bytes_per_second);
    if (m.status == Status::verified) {
      std::fprintf(stderr, "%.4f ms, %s (%d runs)\n", m.milliseconds.median,
                   rate_of(double(asked.n) / (m.milliseconds.median * 1e-3)).c_str(), m.repeats);
    } else {
      Case failed = asked;
      failed.seed = m.failed_seed;
      std::cerr << name_of(m.status) << ": " << m.message << "\n";
      if (!m.printed.empty()) std::cerr << "--- the runner printed ---\n" << m.printed << "---\n";
      if (m.status == Status::wrong && asked.lab != "gold") std::cerr << "again: " << replay_command(failed) << "\n";
      if (m.status != Status::unsupported) all_well = false;
    }
    csv.add(csv_row(asked, build, machine, m));
  }
};

// Every line that was asked for, with its parts: the types to measure it with. A part takes one type, and is left out
// where others were asked for; a step gets a row that says so.
std::vector<std::pair<StepFacts, KeyType>> lines_of(const Lab& lab, const Options& options) {
  for (int number : options.steps) step_numbered(lab, number);
  std::vector<std::pair<StepFacts, KeyType>> lines;
  for (const std::string& type : options.types) key_type_named(type);
  for (const StepFacts& step : lab.steps) {
    const auto& asked = options.steps;
    if (!asked.empty() && std::find(asked.begin(), asked.end(), step.number) == asked.end()) continue;
    if (options.types.empty()) lines.emplace_back(step, default_type(lab, step));
    for (const std::string& name : options.types) {
      const KeyType type = key_type_named(name);
      if (step.task == Task::sort || step.takes(type)) lines.emplace_back(step, type);
    }
  }
  return lines;
}

std::vector<Case> cases_of(const Options& options) {
  const Lab& lab = lab_named(options.lab);
  std::vector<Case> cases;
  Case c;
  c.lab = lab.name;
  c.seed = seed_of(options);
  for (const std::string& order : options.orders) {
    for (const std::string& input : options.inputs) {
      for (const auto& [step, type] : lines_of(lab, options)) {
        std::vector<std::int64_t> counts;
        for (const std::string& count : options.counts) counts.push_back(count_of(count));
        const std::int64_t in_file = file_keys(input, type);
        if (counts.empty()) counts.push_back(std::min(step.largest_n, in_file ? in_file : default_n));
        for (std::int64_t n : counts) {
          if (n > step.largest_n && counts.size() > 1) {
            std::cerr << "left out: " << lab.name << " step " << step.number << " for n = " << n
                      << ", where it would take too long (its largest is " << step.largest_n << ")\n";
            continue;
          }
          check_input(input, type, n);
          for (int blocks : options.blocks) {
            for (int threads : options.threads) {
              c.type = type;
              c.order = order_named(order);
              c.input = input;
              c.n = n;
              c.step = step;
              c.shape = {blocks, threads};
              cases.push_back(c);
            }
          }
        }
      }
    }
  }
  return cases;
}

int bench(const Options& options) {
  const std::vector<Case> cases = cases_of(options);
  std::optional<Bench> gold;
  if (!options.gold.empty()) gold.emplace(options.gold, options);
  Bench lab(options.runner, options);
  // The gold standard's process has no student's code in it: its word on the device's bandwidth counts.
  if (gold) lab.copy_bytes_per_second = gold->copy_bytes_per_second;
  CsvFile csv(options.csv);
  const std::span<const StepFacts> gold_steps = gold ? gold->judge.table() : std::span<const StepFacts>{};
  std::set<std::tuple<KeyType, Order, std::string, std::int64_t, std::int64_t, Task>> gold_done;
  for (const Case& asked : cases) {
    for (const StepFacts& step : gold_steps) {
      if (!asked.step.takes(asked.type) || asked.n > asked.step.largest_n) break;
      if (step.task != asked.step.task || step.tile != asked.step.tile || !step.takes(asked.type)) continue;
      if (gold_done.contains({asked.type, asked.order, asked.input, asked.n, step.tile, step.task})) continue;
      Case same = asked;
      same.lab = "gold";
      same.step = step;
      same.shape = {};
      gold->time(same, options, csv);
    }
    gold_done.insert({asked.type, asked.order, asked.input, asked.n, asked.step.tile, asked.step.task});
    lab.time(asked, options, csv);
  }
  return lab.all_well && (!gold || gold->all_well) ? 0 : 1;
}

// --- the command line ---

void add_common(CLI::App* app, Options& options) {
  app->add_option("--lab", options.lab, "a lab, as 03-bitonic")->required();
  app->add_option("--runner", options.runner, "the runner's program")->required();
  app->add_option("--seed", options.seed, "of the input; else a fresh one");
  app->add_option("--timeout", options.timeout, "seconds a step may take")->check(CLI::PositiveNumber);
}

void add_case_options(CLI::App* app, Options& options, bool several) {
  const auto list = [&](CLI::Option* option) {
    if (several) {
      option->delimiter(',')->expected(1, 1000);
    } else {
      option->expected(1);
    }
    return option;
  };
  list(app->add_option("--step", options.steps, "number of the step"));
  list(app->add_option("--n", options.counts, "how many keys, as 1000 or 2^20"));
  list(app->add_option("--input", options.inputs, "a distribution (judge inputs lists them) or file:PATH"));
  list(app->add_option("--type", options.types, "key type; else the lab's own"));
  list(app->add_option("--order", options.orders, "ascending or descending"));
  list(app->add_option("--blocks", options.blocks, "blocks of a launch, 0: the step chooses"));
  list(app->add_option("--threads", options.threads, "threads of a block, 0: the step chooses"));
}

int main_of(int argc, char** argv) {
  Options options;
  CLI::App app("Makes inputs, has a lab's runner sort them, verifies and times.", "judge");
  app.require_subcommand(1);
  CLI::App* table = app.add_subcommand("table", "a lab's steps, tab-separated");
  table->add_option("--lab", options.lab, "a lab, as 03-bitonic")->required();
  app.add_subcommand("inputs", "the inputs there are, tab-separated");
  CLI::App* sort = app.add_subcommand("sort", "sort one input once and verify it");
  add_common(sort, options);
  add_case_options(sort, options, false);
  sort->get_option("--step")->required();
  sort->add_option("--task", options.task, "a part of the step: reduce, histogram or scan, not the sort");
  sort->add_flag("--stdin", options.from_stdin, "sort the keys on standard input to standard output, as binary (of 04-counting: their number first)");
  CLI::App* timed = app.add_subcommand("bench", "time steps; one CSV row a measurement");
  add_common(timed, options);
  add_case_options(timed, options, true);
  timed->add_option("--build", options.build, "name of the build, for the rows")->required();
  timed->add_option("--repeats", options.limits.repeats, "timed runs at most")->check(CLI::PositiveNumber);
  timed->add_option("--min-time", options.limits.least_time, "seconds of sorting at least, unless repeats end it");
  timed->add_option("--time-limit", options.limits.time_limit, "seconds a measurement may take in all");
  timed->add_option("--gold", options.gold, "the gold standard's runner, to be timed as well");
  timed->add_option("--csv", options.csv, "append the rows to this file");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (*table) return print_table(options);
  if (*sort) return sort_once(options);
  if (*timed) return bench(options);
  return print_inputs();
}

}  // namespace
}  // namespace lab

int main(int argc, char** argv) {
  try {
    return lab::main_of(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << "\n";
    return 2;
  }
}

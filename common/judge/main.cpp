// The judge's command line: what ./workbook calls to list, sort once, and time.
// Exit codes: 0 all verified, 1 something was not, 2 the arguments cannot be served.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <climits>
#include <cstdio>
#include <iostream>
#include <optional>
#include <random>

#include "judge/bench.h"
#include "judge/inputs.h"
#include "judge/judge.h"
#include "judge/labs.h"
#include "step/error.h"
#include "step/key_type.h"

namespace lab {
namespace {

/// What the command line gave; a list where bench takes several.
struct Options {
  std::string runner, lab, task = "sort";
  std::vector<int> steps, blocks = {0}, threads = {0};
  std::vector<std::string> counts, shapes, types, orders = {"ascending"}, inputs = {"uniform"};
  std::optional<std::uint64_t> seed;
  double timeout = 20;
  bool from_stdin = false;
  Sweep sweep;  // what bench alone takes
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

// --- table, inputs ---

int print_table(const Options& options) {
  for (const StepFacts& step : lab_named(options.lab).steps) {
    std::cout << step.number << '\t' << step.name << '\t' << step.idea << '\t' << step.stable << '\t' << step.tile
              << '\t' << step.largest_n << '\t' << types_of(step, ",") << '\t' << name_of(step.task) << '\t'
              << step.budget.n << '\t' << step.budget.conflicts << '\t' << step.budget.sectors << '\t'
              << step.budget.bytes << '\t' << step.budget.barriers << '\n';
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
  } else if (options.counts.empty()) {
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

// "64x256" is <<<64, 256>>>.
LaunchShape shape_of(const std::string& text) {
  LaunchShape shape;
  char end = 0;
  if (std::sscanf(text.c_str(), "%dx%d%c", &shape.blocks, &shape.threads, &end) != 2) {
    throw Error("--shapes " + text + " is no launch shape: give blocks and threads, as in 64x256");
  }
  return shape;
}

int bench(const Options& options) {
  Sweep sweep = options.sweep;
  sweep.lab = options.lab;
  sweep.runner = options.runner;
  sweep.steps = options.steps;
  sweep.types = options.types;
  sweep.orders = options.orders;
  sweep.inputs = options.inputs;
  sweep.seed = seed_of(options);
  sweep.timeout = options.timeout;
  for (const std::string& count : options.counts) sweep.counts.push_back(count_of(count));
  for (const std::string& shape : options.shapes) sweep.shapes.push_back(shape_of(shape));
  if (options.shapes.empty()) {
    for (int blocks : options.blocks) {
      for (int threads : options.threads) sweep.shapes.push_back({blocks, threads});
    }
  }
  return run_sweep(sweep) ? 0 : 1;
}

// --- the command line ---

// CLI11 says "Could not convert: --blocks = 1x", which does not say what would do.
template <class Number>
std::string check_number(const std::string& text, Number least, const std::string& complaint) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || !(number >= least)) throw Error(complaint);
  return {};
}

CLI::Validator seconds(const std::string& name, bool may_be_none = false) {
  return {[=](std::string& text) {
            return check_number(
                text, may_be_none ? 0 : 1e-9,
                name + " " + text + " is no number of seconds: give " + (may_be_none ? "0 or more" : "more than 0"));
          },
          "SECONDS"};
}

// `least` may be below 0: a step has to refuse what is no launch shape, and a replay must be able to ask for it.
CLI::Validator whole(const std::string& name, const std::string& what, int least) {
  return {[=](std::string& text) {
            return check_number(text, least,
                                name + " " + text + " is no number of " + what + ": give " +
                                    std::to_string(std::max(least, 0)) + " to 2147483647");
          },
          "NUMBER"};
}

CLI::Validator seed_number() {
  return {[](std::string& text) {
            return check_number(text, std::uint64_t{0},
                                "--seed " + text + " is no seed: give a whole number from 0 to 18446744073709551615");
          },
          "SEED"};
}

void add_common(CLI::App* app, Options& options) {
  app->add_option("--lab", options.lab, "a lab, as 03-bitonic")->required();
  app->add_option("--runner", options.runner, "the runner's program")->required();
  app->add_option("--seed", options.seed, "of the input; else a fresh one")->check(seed_number());
  app->add_option("--timeout", options.timeout, "seconds a step may take")->check(seconds("--timeout"));
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
  list(app->add_option("--blocks", options.blocks, "blocks of a launch, 0: the step chooses"))
      ->check(whole("--blocks", "blocks", INT_MIN));
  list(app->add_option("--threads", options.threads, "threads of a block, 0: the step chooses"))
      ->check(whole("--threads", "threads", INT_MIN));
}

int main_of(int argc, char** argv) {
  Options options;
  CLI::App app("Makes inputs, has a lab's runner sort them, verifies and times.", "judge");
  app.require_subcommand(1);
  CLI::App* table = app.add_subcommand("table", "a lab's steps, tab-separated");
  table->add_option("--lab", options.lab, "a lab, as 03-bitonic")->required();
  app.add_subcommand("inputs", "the inputs there are, tab-separated");
  CLI::App* device = app.add_subcommand("device", "facts about the device that a runner has, tab-separated");
  device->add_option("--runner", options.runner, "the runner's program")->required();
  CLI::App* sort = app.add_subcommand("sort", "sort one input once and verify it");
  add_common(sort, options);
  add_case_options(sort, options, false);
  sort->get_option("--step")->required();
  sort->add_option("--task", options.task, "a part of the step: reduce, histogram or scan, not the sort");
  sort->add_flag("--stdin", options.from_stdin,
                 "sort the keys on standard input to standard output, as binary (of 04-counting: their number first)");
  CLI::App* timed = app.add_subcommand("bench", "time steps; one CSV row a measurement");
  add_common(timed, options);
  add_case_options(timed, options, true);
  Sweep& sweep = options.sweep;
  timed->add_option("--shapes", options.shapes, "launch shapes, as 64x256, in place of --blocks and --threads")
      ->delimiter(',')
      ->expected(1, 1000);
  timed->add_option("--build", sweep.build, "name of the build, for the rows")->required();
  timed->add_option("--commit", sweep.commit, "the commit that is measured, for the rows");
  timed->add_option("--machine-id", sweep.machine_id, "a short name of this machine, for the rows; else its own");
  timed->add_option("--repeats", sweep.limits.repeats, "timed runs at most")->check(whole("--repeats", "runs", 1));
  timed->add_option("--min-time", sweep.limits.least_time, "seconds of sorting at least, unless repeats end it")
      ->check(seconds("--min-time", true));
  timed->add_option("--time-limit", sweep.limits.time_limit, "seconds a measurement may take in all")
      ->check(seconds("--time-limit", true));
  timed->add_option("--budget", sweep.budget, "seconds after which no measurement begins")->check(seconds("--budget"));
  timed->add_option("--gold", sweep.gold, "the gold standard's runner, to be timed as well");
  timed->add_flag("--only-gold", sweep.only_gold, "time the gold standard and not the lab's steps");
  timed->add_flag("--kernels", sweep.kernels, "rows for each kernel as well");
  timed->add_flag("--transfers", sweep.transfers, "rows for the copies to the device and back as well");
  timed->add_option("--csv", sweep.csv, "append the rows to this file; what it has is not measured again");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (*table) return print_table(options);
  if (*device) {
    std::cout << Judge(options.runner).device();
    return 0;
  }
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

#include "judge/bench.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "judge/inputs.h"
#include "judge/judge.h"
#include "judge/labs.h"
#include "judge/machine.h"
#include "judge/rows.h"
#include "step/error.h"
#include "step/key_type.h"

namespace lab {
namespace {

using Clock = std::chrono::steady_clock;

// Above this, the middle half of the runs lies so far apart that the median says little.
constexpr double wide_spread = 0.25;

double seconds_since(Clock::time_point started) {
  return std::chrono::duration<double>(Clock::now() - started).count();
}

std::string text_of(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

std::string rate_of(double keys_per_second) {
  const bool giga = keys_per_second >= 1e9;
  return text_of(keys_per_second * (giga ? 1e-9 : 1e-6)) + (giga ? " Gkeys/s" : " Mkeys/s");
}

std::string now_utc() {
  char text[32];
  const std::time_t now = std::time(nullptr);
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text;
}

double key_and_value_bytes(const Case& asked) {
  const bool pairs = asked.type == KeyType::pairs;
  return double(asked.n) * double(key_bytes(asked.type) + (pairs ? std::int64_t{sizeof(std::uint32_t)} : 0));
}

// What cannot be done without: every key is read, and what a sort or scan gives back is written.
double needed_bytes(const Case& asked) {
  const bool only_reads = asked.step.task == Task::reduce || asked.step.task == Task::histogram;
  return key_and_value_bytes(asked) * (only_reads ? 1 : 2);
}

// --- what is to be measured ---

// Every line that was asked for, with its parts: the types to measure it with. A part takes one type, and is left out
// where others were asked for; a step gets a row that says so.
std::vector<std::pair<StepFacts, KeyType>> lines_of(const Lab& lab, const Sweep& sweep) {
  for (int number : sweep.steps) step_numbered(lab, number);
  std::vector<std::pair<StepFacts, KeyType>> lines;
  for (const std::string& type : sweep.types) key_type_named(type);
  for (const StepFacts& step : lab.steps) {
    const auto& asked = sweep.steps;
    if (!asked.empty() && std::find(asked.begin(), asked.end(), step.number) == asked.end()) continue;
    if (sweep.types.empty()) lines.emplace_back(step, default_type(lab, step));
    for (const std::string& name : sweep.types) {
      const KeyType type = key_type_named(name);
      if (step.task == Task::sort || step.takes(type)) lines.emplace_back(step, type);
    }
  }
  return lines;
}

struct Planned {
  Case asked;
  std::string why_not;  // why it is impossible, as a range of keys that their type does not hold; else empty
};

// Why there are no n keys of this type in this input; empty if there are.
std::string misfit(const std::string& input, KeyType type, std::int64_t n) {
  try {
    check_input(input, type, n);
  } catch (const Unsupported& error) {
    return error.what();
  }
  return "";
}

std::vector<Planned> cases_of(const Sweep& sweep) {
  const Lab& lab = lab_named(sweep.lab);
  std::vector<Planned> cases;
  std::vector<std::string> left_out;
  Case c;
  c.lab = lab.name;
  c.seed = sweep.seed;
  for (const std::string& order : sweep.orders) {
    c.order = order_named(order);
    for (const std::string& input : sweep.inputs) {
      c.input = input;
      for (const auto& [step, type] : lines_of(lab, sweep)) {
        c.step = step;
        c.type = type;
        std::vector<std::int64_t> counts = sweep.counts;
        std::string why_not;
        if (counts.empty()) {
          std::int64_t in_file = 0;
          try {
            in_file = file_keys(input, type);
          } catch (const Unsupported& error) {
            why_not = error.what();
          }
          counts.push_back(std::min(step.largest_n, in_file ? in_file : default_n));
        }
        for (std::int64_t n : counts) {
          if (n > step.largest_n && counts.size() > 1) {
            left_out.push_back(std::string(lab.name) + " step " + std::to_string(step.number) +
                               " for n = " + std::to_string(n) + ", where it would take too long (its largest is " +
                               std::to_string(step.largest_n) + ")");
            continue;
          }
          c.n = n;
          for (LaunchShape shape : sweep.shapes) {
            c.shape = shape;
            cases.push_back({c, why_not.empty() ? misfit(input, type, n) : why_not});
          }
        }
      }
    }
  }
  if (cases.empty() && !left_out.empty()) {
    throw Error("an empty sweep: nothing is left to be measured. Left out: " + left_out.front());
  }
  for (const std::string& line : left_out) std::cerr << "left out: " << line << "\n";
  return cases;
}

// What tells measurements apart: the same in a row of the file and in a case.
std::string key_of(const Row& row) {
  std::string key;
  for (const char* column :
       {"lab", "step", "name", "task", "tile", "build", "type", "order", "input", "n", "blocks", "threads"}) {
    key += row.at(column) + "\t";
  }
  return key;
}

// Which gold standard holds for a row.
std::string rival_key(const Row& row) {
  std::string key;
  for (const char* column : {"task", "tile", "build", "type", "order", "input", "n"}) key += row.at(column) + "\t";
  return key;
}

/// One runner that is timed, with what its rows say of it.
struct Timed {
  Judge judge;
  std::string machine, machine_id;
  bool on_gpu;
  double copy_bytes_per_second;  ///< 0 where times are not held against it
  double roof;                   ///< bytes a second

  Timed(const std::string& runner, const Sweep& sweep) : judge(runner, sweep.timeout) {
    const RunnerFacts facts = judge.describe();
    on_gpu = facts.on_gpu;
    machine = on_gpu ? facts.device + "; " + describe_host() : describe_host();
    machine_id = !sweep.machine_id.empty() ? sweep.machine_id
                 : on_gpu                  ? id_of(facts.device.substr(0, facts.device.find(',')))
                                           : host_id();
    copy_bytes_per_second = roof = facts.copy_bytes_per_second;
  }
};

class Bench {
 public:
  explicit Bench(const Sweep& sweep) : sweep_(sweep), lab_(sweep.runner, sweep), rows_(sweep.csv) {
    if (!sweep.gold.empty()) gold_.emplace(sweep.gold, sweep);
    // The gold standard's process has no student's code in it: its word on the device's bandwidth counts.
    if (gold_) lab_.copy_bytes_per_second = lab_.roof = gold_->roof;
    if (!lab_.on_gpu) {
      lab_.roof = measure_host_copy();
      if (gold_) gold_->roof = lab_.roof;
    }
    for (const Row& row : rows_.found()) {
      if (!row.at("kernel").empty()) continue;
      if (row.at("machine_id") != lab_.machine_id) {
        throw Error(sweep.csv + " has measurements of another machine (" + row.at("machine_id") + "; this one is " +
                    lab_.machine_id + "): take that file away, or measure all of it again (./workbook bench: --fresh)");
      }
      done_.insert(key_of(row));
      note_rival(row);
    }
  }

  bool run() {
    plan();
    started_ = Clock::now();
    std::size_t left_out = 0;
    for (at_ = 0; at_ < plan_.size(); ++at_) {
      if (sweep_.budget > 0 && seconds_since(started_) + cost_of(plan_[at_].asked).value_or(0) > sweep_.budget) {
        ++left_out;
        continue;
      }
      measure_one(plan_[at_]);
    }
    if (left_out > 0) {
      std::cerr << "left out: " << left_out << " of " << plan_.size() << " measurements, for which the "
                << text_of(sweep_.budget) << " s do not suffice\n";
    }
    if (!wide_.empty()) {
      std::cerr << "warning: some measurements vary widely (the middle half of the runs by more than "
                << text_of(100 * wide_spread) << " % of the median): is the machine busy with something else? These: ";
      const char* between = "";
      for (const auto& [row, times] : wide_) {
        std::cerr << std::exchange(between, "; ") << row;
        if (times > 1) std::cerr << " (" << times << " measurements)";
      }
      std::cerr << "\n";
    }
    return all_well_;
  }

 private:
  void plan() {
    std::set<std::string> planned;
    const std::span<const StepFacts> gold_steps = gold_ ? gold_->judge.table() : std::span<const StepFacts>{};
    const auto add = [&](const Case& asked, const std::string& why_not) {
      const std::string key = key_of(row_of(asked));
      if (planned.insert(key).second && !done_.contains(key)) plan_.push_back({asked, why_not});
    };
    for (const auto& [asked, why_not] : cases_of(sweep_)) {
      for (const StepFacts& step : gold_steps) {
        if (!why_not.empty() || !asked.step.takes(asked.type) || asked.n > asked.step.largest_n) break;
        if (step.task != asked.step.task || step.tile != asked.step.tile || !step.takes(asked.type)) continue;
        Case same = asked;
        same.lab = "gold";
        same.step = step;
        same.shape = {};
        add(same, "");
      }
      if (!sweep_.only_gold) add(asked, why_not);
    }
    // Where time may run out, the small ones of all steps come first. (The order of equals stays: gold before steps.)
    if (sweep_.budget > 0) {
      std::stable_sort(plan_.begin(), plan_.end(), [](const Planned& a, const Planned& b) {
        const auto cost = [](const Planned& p) {
          return std::pair(p.asked.n, std::int64_t{p.asked.shape.blocks} * p.asked.shape.threads);
        };
        return cost(a) < cost(b);
      });
    }
    if (!done_.empty()) std::cerr << "going on: " << done_.size() << " measurements are there\n";
  }

  Row row_of(const Case& asked) const {
    return {{"lab", asked.lab},
            {"step", std::to_string(asked.step.number)},
            {"name", std::string(asked.step.name)},
            {"task", name_of(asked.step.task)},
            {"tile", std::to_string(asked.step.tile)},
            {"build", sweep_.build},
            {"type", name_of(asked.type)},
            {"order", name_of(asked.order)},
            {"input", asked.input},
            {"seed", std::to_string(asked.seed)},
            {"n", std::to_string(asked.n)},
            {"blocks", std::to_string(asked.shape.blocks)},
            {"threads", std::to_string(asked.shape.threads)},
            {"commit", sweep_.commit}};
  }

  static void set_times(Row& row, const Case& asked, int repeats, const Quartiles& times) {
    row["repeats"] = std::to_string(repeats);
    row["median_ms"] = text_of(times.median);
    row["q1_ms"] = text_of(times.first);
    row["q3_ms"] = text_of(times.third);
    if (times.median > 0 && asked.n > 0) row["keys_per_s"] = text_of(double(asked.n) / (times.median * 1e-3));
  }

  void note_rival(const Row& row) {
    const auto rate = row.find("keys_per_s");  // of no keys there is none
    if (row.at("lab") != "gold" || row.at("status") != "verified" || rate == row.end() || rate->second.empty()) return;
    auto& best = rivals_[rival_key(row)];
    const double speed = std::stod(rate->second);
    if (speed > best.second) best = {row.at("name"), speed};
  }

  // Too many keys for this machine's memory are no reason to end the sweep.
  Measurement measure_possible(Judge& judge, const Planned& planned, double copy_bytes_per_second) {
    const auto impossible = [](std::string message) {
      Measurement m;
      m.status = Status::unsupported;
      m.message = std::move(message);
      return m;
    };
    if (!planned.why_not.empty()) return impossible(planned.why_not);
    try {
      Measurement m = measure(judge, planned.asked, sweep_.limits, copy_bytes_per_second);
      // On a busy machine the judge itself may have been held up between a message and its clock.
      if (m.status == Status::refused) m = measure(judge, planned.asked, sweep_.limits, copy_bytes_per_second);
      return m;
    } catch (const Unsupported& error) {
      return impossible(error.what());
    }
  }

  void measure_one(const Planned& planned) {
    const Case& asked = planned.asked;
    const bool is_gold = asked.lab == "gold";
    Timed& timed = is_gold ? *gold_ : lab_;
    std::cerr << at_ + 1 << " of " << plan_.size() << time_left() << ": " << title_of(asked) << " ... " << std::flush;
    const Clock::time_point started = Clock::now();
    const Measurement m = measure_possible(timed.judge, planned, timed.copy_bytes_per_second);
    Row row = row_of(asked);
    row["status"] = name_of(m.status);
    row["message"] = m.message;
    row["repeats"] = std::to_string(m.repeats);
    row["machine_id"] = timed.machine_id;
    row["machine"] = timed.machine;
    row["date"] = now_utc();
    std::vector<Row> rows;
    if (m.status != Status::verified) {
      tell_failure(asked, m);
      rows_.add({row});
      if (m.status != Status::unsupported) remember_cost(asked, seconds_since(started));
      return;
    }
    const double seconds = m.milliseconds.median * 1e-3;
    set_times(row, asked, m.repeats, m.milliseconds);
    if (timed.roof > 0) row["roof_gb_per_s"] = text_of(timed.roof * 1e-9);
    if (seconds > 0) {
      const double rate = needed_bytes(asked) / seconds;
      row["gb_per_s"] = text_of(rate * 1e-9);
      if (timed.roof > 0) row["percent_of_roof"] = text_of(100 * rate / timed.roof);
      const auto rival = rivals_.find(rival_key(row));
      if (!is_gold && rival != rivals_.end() && asked.n > 0) {
        row["gold"] = rival->second.first;
        row["ratio"] = text_of(double(asked.n) / seconds / rival->second.second);
      }
    }
    const double spread = m.milliseconds.third - m.milliseconds.first;
    if (spread > wide_spread * m.milliseconds.median) {
      row["message"] = "spread " + text_of(100 * spread / m.milliseconds.median) + " %";
      ++wide_[asked.lab + " step " + row["step"] + " " + row["name"] + " n = " + row["n"]];
    }
    rows.push_back(row);
    if (sweep_.transfers && !is_gold) add_transfers(rows, asked, m);
    if (sweep_.kernels && !is_gold) add_kernels(rows, asked, timed);
    rows_.add(rows);
    if (is_gold) note_rival(row);
    std::fprintf(stderr, "%.4f ms, %s (%d runs)\n", m.milliseconds.median,
                 rate_of(double(asked.n) / std::max(seconds, 1e-12)).c_str(), m.repeats);
    remember_cost(asked, seconds_since(started));
  }

  // Rows below a measurement say the same as it but for their own times.
  static Row part_of(const Row& whole, const std::string& kernel) {
    Row row = whole;
    row["kernel"] = kernel;
    for (const char* column : {"gb_per_s", "percent_of_roof", "gold", "ratio", "message"}) row[column].clear();
    return row;
  }

  static void add_transfers(std::vector<Row>& rows, const Case& asked, const Measurement& m) {
    const auto add = [&](const char* kernel, const Quartiles& times) {
      Row row = part_of(rows.front(), kernel);
      set_times(row, asked, m.repeats, times);
      if (times.median > 0) row["gb_per_s"] = text_of(key_and_value_bytes(asked) / (times.median * 1e6));
      rows.push_back(row);
    };
    add("to device", m.to_device);
    add("to host", m.to_host);
  }

  void add_kernels(std::vector<Row>& rows, const Case& asked, Timed& timed) {
    for (const KernelMeasurement& k : measure_kernels(timed.judge, asked, sweep_.limits)) {
      Row row = part_of(rows.front(), k.kernel.name);
      set_times(row, asked, k.repeats, k.milliseconds);
      row["launches"] = std::to_string(k.kernel.launches);
      row["grid"] = std::to_string(k.kernel.blocks);
      row["block"] = std::to_string(k.kernel.threads);
      row["dynamic_shared"] = std::to_string(k.kernel.dynamic_shared);
      if (k.kernel.static_shared >= 0) row["static_shared"] = std::to_string(k.kernel.static_shared);
      if (k.kernel.registers >= 0) row["registers"] = std::to_string(k.kernel.registers);
      rows.push_back(row);
    }
  }

  void tell_failure(const Case& asked, const Measurement& m) {
    Case failed = asked;
    failed.seed = m.failed_seed;
    std::cerr << name_of(m.status) << ": " << m.message << "\n";
    if (!m.printed.empty()) std::cerr << "--- the runner printed ---\n" << m.printed << "---\n";
    if (m.status == Status::wrong && asked.lab != "gold") std::cerr << "again: " << replay_command(failed) << "\n";
    if (m.status != Status::unsupported) all_well_ = false;
  }

  // --- how long the rest will take ---

  static std::string line_of(const Case& asked) { return asked.lab + "\t" + std::string(asked.step.name); }

  // Keys or threads, whichever are more: without a GPU idle threads cost as much.
  static std::int64_t size_of(const Case& asked) {
    return std::max(asked.n, std::int64_t{asked.shape.blocks} * asked.shape.threads);
  }

  void remember_cost(const Case& asked, double seconds) { costs_[line_of(asked)][size_of(asked)] = seconds; }

  // What the same step took for this size, or else, in proportion, for the next smaller (or the smallest) it was given.
  double scaled(const std::map<std::int64_t, double>& known, std::int64_t size) const {
    auto near = known.upper_bound(size);
    if (near != known.begin()) --near;
    const double larger = double(size) / std::max(1.0, double(near->first));
    return std::min(near->second * std::clamp(larger, 1.0, 1e3), sweep_.limits.time_limit + sweep_.timeout);
  }

  // Of a step that is not known yet: as long as the others of its runner on average. None where none is known: the gold
  // standard's times say nothing of a student's.
  std::optional<double> cost_of(const Case& asked) const {
    const auto own = costs_.find(line_of(asked));
    if (own != costs_.end()) return scaled(own->second, size_of(asked));
    double all = 0;
    int count = 0;
    for (const auto& [line, known] : costs_) {
      if (!line.starts_with(asked.lab + "\t")) continue;
      all += scaled(known, size_of(asked));
      ++count;
    }
    return count ? std::optional(all / count) : std::nullopt;
  }

  std::string time_left() const {
    double left = 0;
    for (std::size_t i = at_; i < plan_.size(); ++i) {
      if (!plan_[i].why_not.empty()) continue;
      const std::optional<double> cost = cost_of(plan_[i].asked);
      if (!cost) return "";
      left += *cost;
    }
    // The budget ends a sweep as surely as its last measurement.
    if (sweep_.budget > 0) left = std::min(left, sweep_.budget - seconds_since(started_));
    left = std::max(std::ceil(left), 1.0);
    char text[64];
    if (left < 100) {
      std::snprintf(text, sizeof text, ", about %.0f s left", left);
    } else {
      std::snprintf(text, sizeof text, ", about %.0f min left", left / 60);
    }
    return text;
  }

  const Sweep& sweep_;
  Timed lab_;
  std::optional<Timed> gold_;
  RowFile rows_;
  std::set<std::string> done_;
  std::map<std::string, std::pair<std::string, double>> rivals_;  // name and keys a second
  std::vector<Planned> plan_;
  std::size_t at_ = 0;
  std::map<std::string, std::map<std::int64_t, double>> costs_;  // of each step: the seconds that a size took
  Clock::time_point started_;
  std::map<std::string, int> wide_;  // measurements that vary widely, by step and n
  bool all_well_ = true;
};

}  // namespace

KeyType default_type(const Lab& lab, const StepFacts& step) {
  if (step.takes(lab.default_type)) return lab.default_type;
  return *std::find_if(std::begin(all_key_types), std::end(all_key_types),
                       [&](KeyType type) { return step.takes(type); });
}

std::string title_of(const Case& asked) {
  std::string text = asked.lab + " step " + std::to_string(asked.step.number) + " " + std::string(asked.step.name) +
                     ": " + std::to_string(asked.n) + " " + name_of(asked.type) +
                     (asked.type == KeyType::pairs ? "" : " keys") + ", " + asked.input + ", " + name_of(asked.order);
  if (asked.shape.blocks || asked.shape.threads) {
    const auto or_any = [](int count) { return count ? std::to_string(count) : std::string("*"); };
    text += ", <<<" + or_any(asked.shape.blocks) + ", " + or_any(asked.shape.threads) + ">>>";
  }
  return text;
}

bool run_sweep(const Sweep& sweep) { return Bench(sweep).run(); }

}  // namespace lab

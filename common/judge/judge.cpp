#include "judge/judge.h"

#include <sys/prctl.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <random>
#include <sstream>

#include "judge/inputs.h"
#include "judge/machine.h"
#include "judge/parallel.h"
#include "judge/random.h"
#include "judge/reference.h"
#include "judge/verify.h"
#include "step/error.h"
#include "step/key_type.h"

namespace lab {
namespace {

constexpr std::int64_t alignment = 256;  // bytes; what cudaMalloc gives
constexpr std::int64_t guard = 4096;     // bytes, at least, on both sides of keys and of values
constexpr double patience = 60;          // seconds for what is not the step's own work: starting, copying

std::uint64_t fresh_number() {
  static std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

std::int64_t round_up(std::int64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

char guard_byte(std::uint64_t seed, std::int64_t i) { return static_cast<char>(random_at(seed, i)); }

Outcome ended(Status status, std::string message) {
  Outcome outcome;
  outcome.status = status;
  outcome.message = std::move(message);
  return outcome;
}

// Memory is cleared (or poisoned) on all cores: one alone would take longer than the sort.
void fill_bytes(char* to, int byte, std::int64_t bytes) {
  parallel_for(bytes, [&](std::int64_t begin, std::int64_t end) { std::memset(to + begin, byte, end - begin); });
}

void copy_bytes(void* to, const void* from, std::int64_t bytes) {
  parallel_for(bytes, [&](std::int64_t begin, std::int64_t end) {
    std::memcpy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin, end - begin);
  });
}

// Bytes of the values of pairs, or of a task's result.
std::int64_t value_bytes(const Case& asked) {
  if (asked.step.task != Task::sort) return result_bytes(asked.step.task, asked.n);
  return asked.type == KeyType::pairs ? asked.n * std::int64_t{sizeof(std::uint32_t)} : 0;
}

// Share of sampled keys that stand elsewhere in the gold order.
double sampled_difference(const char* a, const char* b, std::int64_t n, std::int64_t size) {
  const std::int64_t samples = std::min<std::int64_t>(n, 1 << 16);
  std::int64_t different = 0;
  for (std::int64_t s = 0; s < samples; ++s) {
    const std::int64_t at = s * (n / samples) * size;
    different += std::memcmp(a + at, b + at, size) != 0;
  }
  return samples ? double(different) / double(samples) : 0;
}

// What a runner tells of its kernels; lines that do not read are left out.
std::vector<KernelTime> kernels_of(const std::string& text) {
  std::vector<KernelTime> kernels;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    KernelTime k;
    const std::size_t end = line.find('\t');
    k.name = line.substr(0, end);
    if (end == std::string::npos) continue;
    std::istringstream rest(line.substr(end));
    if (rest >> k.launches >> k.milliseconds >> k.blocks >> k.threads >> k.dynamic_shared >> k.static_shared >>
        k.registers) {
      kernels.push_back(k);
    }
  }
  return kernels;
}

}  // namespace

std::string replay_command(const Case& asked) {
  std::ostringstream text;
  text << "./workbook run " << asked.lab << " " << asked.step.number << " --n " << asked.n << " --input " << asked.input
       << " --type " << name_of(asked.type) << " --order " << name_of(asked.order);
  if (asked.step.task != Task::sort) text << " --task " << name_of(asked.step.task);
  if (asked.shape.blocks) text << " --blocks " << asked.shape.blocks;
  if (asked.shape.threads) text << " --threads " << asked.shape.threads;
  text << " --seed " << asked.seed;
  return text.str();
}

Judge::Judge(std::string program, double timeout) : program_(std::move(program)), timeout_(timeout) {
  // The runner has the same user as we: without this it could read the gold order out of our memory.
  prctl(PR_SET_DUMPABLE, 0);
}

Outcome Judge::run(const Case& asked) { return run(asked, nullptr); }

Outcome Judge::run(const Case& asked, const void* keys) {
  const StepFacts& step = asked.step;
  if (!step.takes(asked.type)) {
    return ended(Status::unsupported, "step " + std::to_string(step.number) + " does not take " + name_of(asked.type) +
                                          " keys; it takes " + types_of(step));
  }
  if (asked.n > step.largest_n) {
    return ended(Status::unsupported, "n is " + std::to_string(asked.n) + "; step " + std::to_string(step.number) +
                                          " would take too long beyond " + std::to_string(step.largest_n));
  }
  if (!keys) check_input(asked.input, asked.type, asked.n);
  lay_out(asked);
  fill(asked, keys);
  Outcome outcome = ask(request_);
  if (outcome.status == Status::hung) {
    outcome.message += ": step " + std::to_string(step.number) + " " + std::string(step.name) +
                       " with n = " + std::to_string(asked.n) +
                       " does not end. Look for a loop whose condition stays true, or a thread that waits for a value "
                       "which nobody writes";
  }
  return check(asked, std::move(outcome));
}

// Refuses what this machine cannot hold, before anything is touched: the input, the output, the gold order, and the
// array that its sort needs beside it. (A runner without a GPU needs as much again, but it may be this machine's all.)
void Judge::require_memory(const Case& asked) {
  const double needed = 4 * (double(key_bytes(asked.type)) * double(asked.n) + double(value_bytes(asked)));
  const double available = available_memory();
  if (available > 0 && needed > available) {
    char text[200];
    std::snprintf(text, sizeof text,
                  "%lld keys need about %.1f GiB of this machine's memory, and %.1f GiB are free: "
                  "choose a smaller --n",
                  static_cast<long long>(asked.n), needed / (1 << 30), available / (1 << 30));
    throw Unsupported(text);
  }
}

// Where everything lies in the shared memory. The spans begin at a random place, so that a pointer from the last case
// is not this one's.
void Judge::lay_out(const Case& asked) {
  guard_seed_ = fresh_number();
  request_ = {};
  request_.nonce = fresh_number();
  request_.command = Command::sort;
  request_.step = asked.step.number;
  request_.task = asked.step.task;
  request_.type = asked.type;
  request_.order = asked.order;
  request_.shape = asked.shape;
  request_.n = asked.n;
  request_.time_kernels = asked.time_kernels;
  request_.poison = static_cast<int>(fresh_number() & 0xff);
  require_memory(asked);
  std::int64_t end = 0;
  const auto place = [&](Image& image, std::int64_t span_bytes) {
    image.span = guard + alignment * static_cast<std::int64_t>(fresh_number() % 16);
    image.span_bytes = span_bytes;
    image.bytes = round_up(image.span + span_bytes + guard);
    image.input = end;
    image.output = end + image.bytes;
    end += 2 * image.bytes;
  };
  place(request_.keys, asked.n * key_bytes(asked.type));
  if (value_bytes(asked) > 0) place(request_.values, value_bytes(asked));
  memory_.reserve(end);
  request_.memory_bytes = memory_.bytes();
}

// Input and guards into the shared memory; the gold order into memory that the runner does not see.
void Judge::fill(const Case& asked, const void* given) {
  const std::int64_t bytes = asked.n * key_bytes(asked.type);
  const auto set_guards = [&](const Image& image) {
    char* input = memory_.at(image.input);
    for (std::int64_t i = 0; i < image.span; ++i) input[i] = guard_byte(guard_seed_, i);
    for (std::int64_t i = image.span + image.span_bytes; i < image.bytes; ++i) input[i] = guard_byte(guard_seed_, i);
    fill_bytes(memory_.at(image.output), request_.poison, image.bytes);  // nothing of the last case may be left
  };
  set_guards(request_.keys);
  char* keys = memory_.at(request_.keys.input + request_.keys.span);
  if (given) {
    copy_bytes(keys, given, bytes);
  } else {
    make_keys(asked.input, asked.type, asked.seed, asked.n, keys);
  }
  gold_keys_ = std::make_unique_for_overwrite<char[]>(bytes);
  gold_values_ = std::make_unique_for_overwrite<char[]>(value_bytes(asked));
  copy_bytes(gold_keys_.get(), keys, bytes);
  char* const values = memory_.at(request_.values.input + request_.values.span);
  if (value_bytes(asked) > 0) set_guards(request_.values);
  range_ = asked.step.largest_range ? range_of(asked.type, asked.n, keys) : 0;
  if (asked.step.task != Task::sort) {
    fill_bytes(values, request_.poison, value_bytes(asked));  // a result is to be written whole
    gold_result(asked.step.task, asked.n, keys, gold_values_.get());
    changed_share_ = asked.step.task == Task::scan ? 1 : 0;
    return;
  }
  if (asked.type == KeyType::pairs) {
    make_values(asked.seed, asked.n, reinterpret_cast<std::uint32_t*>(values));
    copy_bytes(gold_values_.get(), values, value_bytes(asked));
  }
  gold_sort(asked.type, asked.order, asked.n, asked.step.tile, gold_keys_.get(), gold_values());
  changed_share_ = sampled_difference(keys, gold_keys_.get(), asked.n, key_bytes(asked.type));
}

// One request, with a process that is known to be alive at its start; a process in doubt is given up after it.
Outcome Judge::ask(const Request& request) {
  if (!process_) process_ = std::make_unique<Process>(program_, memory_);
  stepped_ = false;
  Outcome outcome = exchange(request);
  outcome.printed = process_->take_output();
  const bool process_is_well = outcome.status == Status::verified || outcome.status == Status::not_written ||
                               outcome.status == Status::unsupported;
  if (!process_is_well) process_.reset();
  return outcome;
}

Outcome Judge::exchange(const Request& request) {
  Outcome outcome;
  Process::Clock::time_point started, deadline = after(patience);
  Progress expected = Progress::ready;
  process_->send(request);
  for (;;) {
    Reply reply;
    const Process::Heard heard = process_->receive(reply, deadline);
    const auto now = Process::Clock::now();
    if (heard == Process::Heard::end) {
      const auto [status, message] = process_->ending();
      return ended(status, message);
    }
    if (heard == Process::Heard::nothing) {
      const double limit = expected == Progress::sorted ? timeout_ : patience;
      process_->ask_to_end();
      return ended(Status::hung, "no answer within " + std::to_string(std::int64_t(limit + 0.5)) + " s");
    }
    const bool failed = reply.progress == Progress::finished && reply.status != Status::verified;
    if (heard == Process::Heard::noise || reply.nonce != request.nonce || (!failed && reply.progress != expected)) {
      return ended(Status::refused, "something else than the runner wrote to the judge");
    }
    if (failed) return ended(reply.status, reply.text);
    switch (reply.progress) {
      case Progress::ready: {
        Request go;
        go.command = Command::go;
        stepped_ = true;
        outcome.to_device = reply.milliseconds;
        started = Process::Clock::now();
        process_->send(go);
        deadline = after(timeout_);
        expected = Progress::sorted;
        break;
      }
      case Progress::sorted:
        outcome.milliseconds = reply.milliseconds;
        outcome.wall_milliseconds = std::chrono::duration<double, std::milli>(now - started).count();
        deadline = after(patience);
        expected = Progress::finished;
        break;
      case Progress::finished:
        outcome.to_host = reply.milliseconds;
        if (request.time_kernels) outcome.kernels = kernels_of(reply.text);
        return outcome;
    }
  }
}

Outcome Judge::check(const Case& asked, Outcome outcome) {
  const auto wrong = [&](std::string message) {
    outcome.status = Status::wrong;
    outcome.message = std::move(message);
    return outcome;
  };
  if (outcome.status == Status::unsupported && stepped_ && !untouched()) {
    return wrong("the step refused its arguments (" + outcome.message + ") after it had touched keys");
  }
  if (outcome.status == Status::unsupported) outcome.expected = refuses_range(asked, outcome.message);
  if (outcome.status != Status::verified) return outcome;
  const Image &keys = request_.keys, &values = request_.values;
  std::string fault = fault_of(asked);
  if (fault.empty()) fault = guard_fault(keys, "keys");
  if (fault.empty() && value_bytes(asked) > 0) {
    fault = guard_fault(values, asked.step.task == Task::sort ? "values" : "result");
  }
  return fault.empty() ? outcome : wrong(fault);
}

// What is wrong with the output itself; empty if nothing is.
std::string Judge::fault_of(const Case& asked) const {
  const char* const values = memory_.at(request_.values.output + request_.values.span);
  if (asked.step.task != Task::sort) {
    if (std::memcmp(gold_keys_.get(), sorted_keys(), asked.n * key_bytes(asked.type)) != 0) {
      return "the keys have changed; they are only to be read";
    }
    return compare_results(asked.step.task, asked.n, gold_values_.get(), values);
  }
  const bool pairs = asked.type == KeyType::pairs;
  const std::string fault =
      compare({asked.type, asked.order, asked.n, asked.step.tile, asked.step.stable}, gold_keys_.get(), gold_values(),
              sorted_keys(), pairs ? reinterpret_cast<const std::uint32_t*>(values) : nullptr);
  if (!fault.empty() && untouched()) return "the keys are as they were: the step changed nothing\n" + fault;
  return fault;
}

// A counting step has to refuse what needs too many counters, and to say how many.
bool Judge::refuses_range(const Case& asked, const std::string& message) const {
  if (asked.step.largest_range == 0 || range_ < asked.step.largest_range) return false;
  return range_ + 1 == 0 || message.find(std::to_string(range_ + 1)) != std::string::npos;
}

std::uint32_t* Judge::gold_values() const {
  return request_.values.bytes ? reinterpret_cast<std::uint32_t*>(gold_values_.get()) : nullptr;
}

std::string Judge::guard_fault(const Image& image, const char* what) const {
  const char* output = memory_.at(image.output);
  for (std::int64_t i = image.span - 1; i >= 0; --i) {
    if (output[i] != guard_byte(guard_seed_, i)) {
      return "wrote " + std::to_string(image.span - i) + " bytes before the first of the " + what;
    }
  }
  for (std::int64_t i = image.span + image.span_bytes; i < image.bytes; ++i) {
    if (output[i] != guard_byte(guard_seed_, i)) {
      return "wrote past the last of the " + std::string(what) + ", first at byte " +
             std::to_string(i - image.span - image.span_bytes) + " behind them";
    }
  }
  return "";
}

bool Judge::untouched() const {
  const auto same = [&](const Image& image) {
    return std::memcmp(memory_.at(image.input), memory_.at(image.output), image.bytes) == 0;
  };
  return same(request_.keys) && (request_.values.bytes == 0 || same(request_.values));
}

const void* Judge::sorted_keys() const { return memory_.at(request_.keys.output + request_.keys.span); }

Process::Clock::time_point Judge::after(double seconds) const {
  return Process::Clock::now() +
         std::chrono::duration_cast<Process::Clock::duration>(std::chrono::duration<double>(seconds));
}

// Questions that no step takes part in.
Reply Judge::ask_about(Command command) {
  if (!process_) process_ = std::make_unique<Process>(program_, memory_);
  Request request;
  request.nonce = fresh_number();
  request.command = command;
  process_->send(request);
  Reply reply;
  const bool answered = process_->receive(reply, after(patience)) == Process::Heard::reply;
  if (answered && reply.nonce == request.nonce && reply.status == Status::verified) return reply;
  const std::string reason = answered ? reply.text : process_->take_output();
  process_.reset();
  throw Error(program_ + " does not say what machine it has" + (reason.empty() ? "" : ": " + reason));
}

RunnerFacts Judge::describe() {
  const Reply reply = ask_about(Command::describe);
  return {reply.text, reply.on_gpu != 0, reply.copy_bytes_per_second};
}

std::string Judge::device() { return ask_about(Command::device).text; }

std::span<const StepFacts> Judge::table() {
  table_text_ = ask_about(Command::table).text;
  table_.clear();
  std::string_view rest = table_text_;
  const auto field = [&](char end) {
    const std::string_view text = rest.substr(0, rest.find(end));
    rest.remove_prefix(std::min(rest.size(), text.size() + 1));
    return text;
  };
  const auto number = [&](char end) { return std::stoll(std::string(field(end))); };
  while (!rest.empty()) {
    StepFacts step;
    step.number = static_cast<int>(number('\t'));
    step.name = field('\t');
    step.idea = field('\t');
    step.stable = number('\t') != 0;
    step.tile = number('\t');
    step.largest_n = number('\t');
    step.task = static_cast<Task>(number('\t'));
    step.types = static_cast<unsigned>(number('\n'));
    table_.push_back(step);
  }
  return table_;
}

}  // namespace lab

#include "judge/judge.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "judge/errors.h"
#include "judge/inputs.h"
#include "judge/json.h"
#include "judge/key_table.h"
#include "step/key_type.h"

namespace lab {
namespace {

// What is not the step's own work, such as starting, copying and pinning, may take this many seconds, and more for
// arrays of many bytes: they are copied and pinned at this rate at least.
constexpr double setup_timeout = 60, bytes_per_second = 1e9;
constexpr double hang_grace = 30;  // seconds for a hung process to report where it is

Process::Clock::time_point after(double seconds) {
  return Process::Clock::now() +
         std::chrono::duration_cast<Process::Clock::duration>(std::chrono::duration<double>(seconds));
}

Outcome ended(Status status, std::string message) {
  Outcome outcome;
  outcome.status = status;
  outcome.message = std::move(message);
  return outcome;
}

// What the table rules out never reaches the runner.
Outcome ruled_out(const Case& which) {
  const StepFacts& step = which.step;
  if (!step.takes(which.type)) {
    return ended(Status::unsupported, fmt::format("step {} does not take {} keys; it takes {}", step.number,
                                                  name_of(which.type), types_of(step)));
  }
  if (which.n > step.max_n) {
    return ended(Status::unsupported,
                 fmt::format("n is {}; step {} would take too long beyond {}", which.n, step.number, step.max_n));
  }
  return {};
}

std::string advice_on_hanging(const Case& which) {
  const std::int64_t in_a_second = affordable(which.step).cpu;
  if (which.n > in_a_second) {
    return fmt::format(
        ": step {} {} with n = {} has not ended. It may only be slow: without a GPU such a step sorts about {} keys "
        "in a second. Choose a smaller --n, or allow more time with --timeout",
        which.step.number, which.step.name, which.n, in_a_second);
  }
  if (which.reversed_blocks) {
    return fmt::format(
        ": step {} {} does not end if the last block starts first. CUDA defines no order of blocks: a block must not "
        "wait for a block that may start after it. Draw the number of a tile from a counter: atomicAdd(&next_tile, 1)",
        which.step.number, which.step.name);
  }
  return fmt::format(
      ": step {} {} with n = {} does not end. Look for a loop whose condition stays true, or a thread that waits for a "
      "value which no thread writes",
      which.step.number, which.step.name, which.n);
}

}  // namespace

/// The messages of one case.
struct Judge::Exchange {
  Outcome outcome;
  Progress expected = Progress::ready;
  double setup_timeout = lab::setup_timeout;
  Process::Clock::time_point started, deadline = after(setup_timeout);
  std::string document;
  double judge_waited_before = 0;  // seconds that this thread had waited for a processor when the step began
  double waited = 0;               // and the process since its last mark, as far as they are taken into account
  double wait_extension = 0;       // seconds by which they have moved deadlines
  double block_extension = 0;      // seconds by which blocks that ended have extended them
  std::uint64_t blocks_ended = 0;  // at the last look
  bool hung = false;
  bool finished = false;

  void end(Status status, std::string message) {
    outcome.status = status;
    outcome.message = std::move(message);
    finished = true;
  }
};

Judge::Judge(std::string program, double timeout, Environment environment, Sandbox sandbox)
    : program_(std::move(program)),
      timeout_(timeout),
      environment_(std::move(environment)),
      sandbox_(std::move(sandbox)) {
  // The runner belongs to the same user: without this it could read the reference out of our memory.
  prctl(PR_SET_DUMPABLE, 0);
}

Outcome Judge::run(const Case& which, KernelTimes kernel_times) { return run(which, nullptr, kernel_times); }

Outcome Judge::run(const Case& which, const void* keys, KernelTimes kernel_times) {
  Outcome outcome = ruled_out(which);
  stepped_ = false;
  if (outcome.status == Status::verified) {
    if (!keys) check_input(which.input, which.type, which.n);
    prepare(which);
    request_.time_kernels = kernel_times == KernelTimes::measure;
    memory_.lay_out(which, request_);
    memory_.fill(which, keys);
    require_process(which);
    outcome = exchange();
    outcome.already_correct = memory_.already_correct();
    if (outcome.status == Status::hung) outcome.message += advice_on_hanging(which);
  }
  conclude(which, outcome);
  return outcome;
}

void Judge::prepare(const Case& which) {
  request_ = {};
  request_.nonce = fresh_number();
  request_.command = Command::sort;
  request_.step = which.step.number;
  request_.task = which.step.task;
  request_.type = which.type;
  request_.order = which.order;
  request_.shape = which.shape;
  request_.n = which.n;
  request_.device_bytes = which.device_bytes;
  request_.pageable = which.pageable;
  has_many_keys_ = which.n > affordable(which.step).cpu;
  request_.watch_host = !which.is_timed;
  request_.time_copies = which.is_timed;
}

Outcome Judge::run_piece(const Case& which, const std::function<void(std::uint32_t* keys)>& fill) {
  Outcome outcome = ruled_out(which);
  stepped_ = false;
  if (outcome.status == Status::verified) {
    prepare(which);
    request_.is_piece = 1;
    fill(piece());
    memory_.prepare_piece(which, request_);
    require_process(which);
    outcome = exchange();
    if (outcome.status == Status::hung) outcome.message += advice_on_hanging(which);
  }
  conclude(which, outcome);
  return outcome;
}

Process& Judge::process() {
  if (!process_) {
    Environment environment = environment_;
    if (lane_seed_) environment["SIMT_SEED"] = std::to_string(*lane_seed_);
    if (reversed_blocks_) environment["SIMT_REVERSE_BLOCKS"] = "1";
    process_ = std::make_unique<Process>(program_, memory_.shared(), environment, sandbox_);
  }
  return *process_;
}

// The emulation reads these settings when it starts.
void Judge::require_process(const Case& which) {
  if (lane_seed_ != which.lane_seed || reversed_blocks_ != which.reversed_blocks) process_.reset();
  lane_seed_ = which.lane_seed;
  reversed_blocks_ = which.reversed_blocks;
  process();
}

// Runs one case. The process must be in a good state at its start; if it may not be at the end, it is discarded.
Outcome Judge::exchange() {
  Exchange exchange;
  exchange.setup_timeout += double(request_.memory_bytes) / bytes_per_second;
  exchange.deadline = after(exchange.setup_timeout);
  process_->mark_waits();
  process_->send(request_);
  while (!exchange.finished) receive(exchange);
  Outcome& outcome = exchange.outcome;
  outcome.printed = process_->collect_output();
  if (outcome.status == Status::crashed && outcome.message.ends_with(strsignal(SIGABRT))) {
    if (const std::string cause = cause_of_abort(outcome.printed); !cause.empty()) outcome.message = cause;
  }
  if (!exchange.document.empty()) {
    try {
      outcome.document = read_document(exchange.document);
    } catch (const Error& error) {
      outcome = ended(Status::refused, fmt::format("the runner's report is malformed: {}", error.what()));
    }
  }
  const bool process_is_well = outcome.status == Status::verified || outcome.status == Status::not_written ||
                               outcome.status == Status::unsupported;
  // The check build's findings and counts are those of all cases of the process.
  if (!process_is_well || outcome.document.observed) process_.reset();
  return outcome;
}

// Waits for one message, and handles it or its absence.
void Judge::receive(Exchange& exchange) {
  Reply reply;
  switch (process_->receive(reply, exchange.deadline)) {
    case Process::ReceiveResult::closed: {
      exchange.finished = true;
      if (exchange.hung) return;
      const auto [status, message] = process_->ending();
      return exchange.end(status, message);
    }
    case Process::ReceiveResult::timeout: {
      if (const double new_wait = process_->seconds_waited() - exchange.waited;
          new_wait > 0.1 && exchange.wait_extension < max_wait_extension && !process_->has_company()) {
        exchange.waited += new_wait;
        exchange.wait_extension += new_wait;
        exchange.deadline = after(new_wait);
        return;
      }
      if (exchange.hung) {
        exchange.finished = true;
        return;
      }
      if (is_only_slow(exchange)) {
        exchange.deadline = after(1);
        return;
      }
      const double limit =
          (exchange.expected == Progress::sorted ? timeout_ : exchange.setup_timeout) + exchange.block_extension;
      exchange.outcome.status = Status::hung;
      exchange.outcome.message = fmt::format("no answer within {} s", std::int64_t(limit + 0.5));
      exchange.hung = true;
      exchange.deadline = after(hang_grace);
      return process_->ask_to_end();
    }
    case Process::ReceiveResult::malformed:
      return exchange.end(Status::refused, "the judge received a message that the runner did not write");
    case Process::ReceiveResult::reply:
      return accept(exchange, reply);
  }
}

// As long as blocks end, a step is slow and does not wait for something that never happens.
bool Judge::is_only_slow(Exchange& exchange) const {
  // Before the sort, the memory with the block counter may not exist: a runner describes itself without it.
  if (exchange.expected != Progress::sorted) return false;
  const std::uint64_t before = std::exchange(exchange.blocks_ended, memory_.blocks_ended());
  if (!has_many_keys_ || exchange.block_extension >= more_if_slow_) return false;
  exchange.block_extension += 1;
  return exchange.blocks_ended > before;
}

void Judge::accept(Exchange& exchange, const Reply& reply) {
  const std::string text(reply.text, static_cast<std::size_t>(reply.text_bytes));
  const bool genuine = reply.nonce == request_.nonce;
  if (genuine && reply.progress == Progress::document) {
    exchange.document += text;
    if (std::ssize(exchange.document) <= max_document_bytes) return;
    exchange.document.clear();
    return exchange.end(Status::refused,
                        fmt::format("the runner's report is longer than {} MiB", max_document_bytes >> 20));
  }
  if (exchange.hung) return;  // too late
  const bool failed = reply.progress == Progress::finished && reply.status != Status::verified;
  const bool sane_time = std::isfinite(reply.milliseconds) && reply.milliseconds >= 0;
  const bool sane_status = reply.status <= Status::refused;
  if (!genuine || !sane_time || !sane_status || (!failed && reply.progress != exchange.expected)) {
    return exchange.end(Status::refused, "the judge received a message that the runner did not write");
  }
  if (failed) return exchange.end(reply.status, text);
  const auto now = Process::Clock::now();
  Outcome& outcome = exchange.outcome;
  if (reply.progress == Progress::ready) {
    if (!request_.is_piece) memory_.withdraw_input();
    Request go;
    go.command = Command::go;
    stepped_ = true;
    outcome.to_device = reply.milliseconds;
    process_->mark_waits();
    exchange.waited = 0;
    exchange.judge_waited_before = judge_seconds_waited();
    exchange.started = Process::Clock::now();
    process_->send(go);
    exchange.deadline = after(timeout_);
    exchange.expected = Progress::sorted;
  } else if (reply.progress == Progress::sorted) {
    outcome.milliseconds = reply.milliseconds;
    outcome.wall_milliseconds = std::chrono::duration<double, std::milli>(now - exchange.started).count();
    outcome.waited_milliseconds = 1e3 * process_->seconds_waited();
    outcome.judge_waited_milliseconds = 1e3 * std::max(0.0, judge_seconds_waited() - exchange.judge_waited_before);
    exchange.deadline = after(exchange.setup_timeout);
    exchange.expected = Progress::finished;
  } else {
    outcome.to_host = reply.milliseconds;
    exchange.finished = true;
  }
}

// Verifies the output, and names the place to look at.
void Judge::conclude(const Case& which, Outcome& outcome) {
  const auto wrong = [&](std::string message) {
    outcome.status = Status::wrong;
    outcome.message = std::move(message);
  };
  // What is said about a verdict needs the input; the verdict itself does not.
  const bool is_shown = outcome.status == Status::unsupported || which.n <= max_shown_keys;
  const bool has_fault = outcome.status == Status::verified && !memory_.fault(which).text.empty();
  if (stepped_ && (is_shown || has_fault)) memory_.restore_input(which);
  if (outcome.status == Status::unsupported && stepped_ && !memory_.untouched(which)) {
    wrong(fmt::format("the step refused its arguments ({}) after it had changed keys", outcome.message));
  } else if (outcome.status == Status::verified) {
    const Fault fault = memory_.fault(which);
    if (!fault.text.empty()) wrong(fault.text);
    const std::string& why = outcome.document.unchanged;
    outcome.changed_nothing = !fault.text.empty() && !why.empty() && memory_.untouched(which);
    if (outcome.changed_nothing) {
      wrong(fmt::format("the step changed nothing: {}\n  {}", why, fault.text));
    }
    if (fault.index >= 0) outcome.first_wrong = fault.index;
    outcome.shown_keys = fault.text.empty() ? memory_.shown_keys(which) : fault.keys;
  }
  const bool refused = outcome.status == Status::unsupported;
  switch (which.expect) {
    case Expect::verified:
      outcome.passed = outcome.status == Status::verified;
      break;
    case Expect::refused:
      outcome.passed = refused && rightly_refused(which, outcome);
      break;
    case Expect::either:
      outcome.passed = outcome.status == Status::verified || refused;
  }
  auto& findings = outcome.document.findings;
  for (const Finding& printed : printed_findings(outcome.printed)) {
    const bool known = std::any_of(findings.begin(), findings.end(), [&](const Finding& f) {
      return f.file == printed.file && f.line == printed.line && f.kind == printed.kind;
    });
    if (!known) findings.push_back(printed);
  }
  const Finding place = findings.empty() ? place_in(outcome.message) : findings.front();
  outcome.file = place.line > 0 ? place.file : file_of(which.lab, which.step);
  outcome.line = place.line;
}

// A step that counts values must refuse a range that needs too many counters, and say how many it needs.
bool Judge::rightly_refused(const Case& which, const Outcome& outcome) const {
  const std::uint64_t range = memory_.range();
  if (which.step.max_range == 0 || range < which.step.max_range) return true;
  return range + 1 == 0 || outcome.message.find(std::to_string(range + 1)) != std::string::npos;
}

std::string Judge::ask_for_description(Bandwidth bandwidth) {
  Request request;
  request.nonce = fresh_number();
  request.command = Command::describe;
  request.measure_bandwidth = bandwidth == Bandwidth::measure;
  request_ = request;
  Exchange exchange;
  exchange.expected = Progress::finished;
  process().send(request);
  while (!exchange.finished) receive(exchange);
  if (exchange.outcome.status == Status::verified) return exchange.document;
  const std::string reason = exchange.outcome.message + process_->collect_output();
  process_.reset();
  throw Unavailable(fmt::format("{} does not describe its device: {}", program_, reason));
}

RunnerFacts Judge::describe(Bandwidth bandwidth) { return read_runner_facts(ask_for_description(bandwidth)); }

std::span<const StepFacts> Judge::table() {
  if (table_.empty()) table_ = read_steps(ask_for_description(Bandwidth::leave_out), table_texts_);
  return table_;
}

}  // namespace lab

// The judge: makes an input, has a runner sort it, and examines the outcome. Survives whatever the runner does.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "judge/case.h"
#include "judge/case_memory.h"
#include "judge/labs.h"
#include "judge/observed.h"
#include "judge/process.h"
#include "runner/protocol.h"
#include "step/keys.h"

namespace lab {

struct Outcome {
  Status status = Status::verified;
  bool passed = false;                      ///< the outcome is what the case expects
  std::string message;                      ///< empty if verified
  std::string shown_keys;                   ///< rows: of few keys, all; otherwise those around the first wrong one
  std::optional<std::int64_t> first_wrong;  ///< index of the first wrong key or value
  std::string file;                         ///< where to look: that of the first finding, else the step's
  std::int64_t line = 0;                    ///< 0: unknown
  bool already_correct = false;             ///< the keys as they came would be right
  bool changed_nothing = false;             ///< no write has reached the keys, and the check build knows why
  std::string printed;                      ///< the end of what the runner printed
  double milliseconds = 0;                  ///< as the runner reports it
  double wall_milliseconds = 0;             ///< from "go" to "sorted" by the judge's clock
  double waited_milliseconds = 0;           ///< the part of them for which other processes had the processors
  double judge_waited_milliseconds = 0;     ///< the same for the judge, which a delay may keep from its clock
  double to_device = 0;                     ///< milliseconds of the copy to the device, as the runner reports it
  double to_host = 0;                       ///< and of the copy back; see protocol.h for steps that sort host memory
  Document document;                        ///< findings; the rest from the check build only
};

struct RunnerFacts {
  std::string device;
  bool on_gpu = false;
  double copy_bytes_per_second = 0;  ///< read plus written; 0 without a GPU, or if it was not asked for
  std::vector<std::pair<std::string, std::string>> facts;  ///< what, value
};

enum class Bandwidth { leave_out, measure };
enum class KernelTimes { leave_out, measure };

class Judge {
 public:
  /// `program`: a runner. `timeout`: seconds that a step may take. `environment`: of the runner. `sandbox`: where it
  /// runs. Errors of all members: lab::Error for what the caller did wrong (no such program, input, or memory).
  /// Whatever the runner does wrong is an Outcome.
  explicit Judge(std::string program, double timeout = 20, Environment environment = {}, Sandbox sandbox = {});

  /// `more_if_slow`: seconds that are added if a case has many keys and its blocks keep coming to an end.
  void set_timeout(double seconds, double more_if_slow = 0) { timeout_ = seconds, more_if_slow_ = more_if_slow; }

  /// See CaseMemory.
  void set_reference_limit(std::int64_t bytes) { memory_.set_reference_limit(bytes); }

  /// Makes the input, has it sorted, and verifies the output.
  Outcome run(const Case& which, KernelTimes kernel_times = KernelTimes::leave_out);

  /// The same for `keys`, which are which.n, instead of which.input.
  Outcome run(const Case& which, const void* keys, KernelTimes kernel_times = KernelTimes::leave_out);

  /// The verified output of the last run, in host memory until the next one.
  const void* sorted_keys() const { return memory_.output_keys(); }

  /// The part of the last input's bytes, 0 to 1, that sorting must change. No sort can avoid writing these.
  double changed_share() const { return memory_.changed_share(); }

  /// Pieces of a file, of at most which.n keys, sorted in turn in the same memory by one process.
  /// `hash_seed`: of all their hashes.
  void begin_pieces(const Case& which, std::uint64_t hash_seed) { memory_.lay_out_pieces(which, hash_seed); }

  /// Has `fill` write the keys of the next piece, while those of the last one are still in their place, and has them
  /// sorted and verified.
  Outcome run_piece(const Case& which, const std::function<void(std::uint32_t* keys)>& fill);

  /// The keys of the last piece, sorted if it was verified.
  std::uint32_t* piece() { return static_cast<std::uint32_t*>(memory_.output_keys()); }

  /// The part of hash_of() that is the same for these keys in any order.
  std::uint64_t piece_multiset() const { return memory_.input_hash().multiset; }

  /// The most memory that the runner's process has had; 0 where the system does not report it.
  std::int64_t runner_peak_bytes() const { return process_ ? process_->peak_bytes() : 0; }

  /// Ends the runner, so that the memory does not change any more.
  void end_runner() { process_.reset(); }

  RunnerFacts describe(Bandwidth bandwidth = Bandwidth::leave_out);

  /// The runner's own table of steps, valid as long as this object. Only for the gold standard's runners: a student's
  /// runner is not trusted to describe itself.
  std::span<const StepFacts> table();

 private:
  struct Exchange;

  void prepare(const Case& which);
  void require_process(const Case& which);
  Outcome exchange();
  void receive(Exchange& exchange);
  bool is_only_slow(Exchange& exchange) const;
  void accept(Exchange& exchange, const Reply& reply);
  void conclude(const Case& which, Outcome& outcome);
  bool rightly_refused(const Case& which, const Outcome& outcome) const;
  std::string ask_for_description(Bandwidth bandwidth);
  Process& process();

  std::string program_;
  double timeout_;
  double more_if_slow_ = 0;
  Environment environment_;
  Sandbox sandbox_;
  std::optional<std::uint64_t> lane_seed_;  // of the running process
  bool reversed_blocks_ = false;            // in the running process
  CaseMemory memory_;
  std::unique_ptr<Process> process_;
  Request request_;                      // of the current case
  bool stepped_ = false;                 // the step was called in the current case
  bool has_many_keys_ = false;           // more than the step sorts in about a second without a GPU
  std::deque<std::string> table_texts_;  // what the table's views point into
  std::vector<StepFacts> table_;
};

}  // namespace lab

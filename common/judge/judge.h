// The judge: makes an input, has a runner sort it, and finds out what came of it. Survives whatever the runner does.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "judge/labs.h"
#include "judge/process.h"
#include "runner/protocol.h"
#include "step/keys.h"
#include "step/step.h"

namespace lab {

/// One call of a step, or of a part of one.
struct Case {
  std::string lab;
  StepFacts step;
  KeyType type = KeyType::u32;
  Order order = Order::ascending;
  LaunchShape shape;
  std::int64_t n = 0;
  std::string input = "uniform";  ///< a name of judge/inputs.h, or file:PATH
  std::uint64_t seed = 0;
  bool time_kernels = false;
};

/// The command that runs exactly this case again: "./workbook run 03-bitonic 2 --n 1023 ...".
std::string replay_command(const Case& asked);

struct Outcome {
  Status status = Status::verified;
  std::string message;           ///< empty when verified
  bool expected = false;         ///< unsupported, and rightly so: the range of the keys is beyond the table's largest
  std::string printed;           ///< the end of what the runner printed
  double milliseconds = 0;       ///< as the runner reports it
  double wall_milliseconds = 0;  ///< from "go" to "sorted" by the judge's clock
  double to_device = 0;          ///< milliseconds of the copy of the input to the device, as the runner reports it
  double to_host = 0;            ///< and of the output back
  std::vector<KernelTime> kernels;  ///< where they were asked for, as the runner reports them
};

struct RunnerFacts {
  std::string device;
  bool on_gpu = false;
  double copy_bytes_per_second = 0;  ///< read plus written; 0 without a GPU
};

class Judge {
 public:
  /// `program`: a runner. `timeout`: seconds that a step may take. Errors of all members: lab::Error for what the
  /// caller did wrong (no such program, input, or memory); whatever the runner does wrong is an Outcome.
  explicit Judge(std::string program, double timeout = 20);

  /// Makes the input, has it sorted, and verifies the output.
  Outcome run(const Case& asked);

  /// The same for given keys (asked.n of them) instead of asked.input.
  Outcome run(const Case& asked, const void* keys);

  /// The verified output of the last run, in host memory until the next one.
  const void* sorted_keys() const;

  /// Part of the last input's bytes, 0 to 1, that sorting must change: what a sort cannot do without writing.
  double changed_share() const { return changed_share_; }

  RunnerFacts describe();

  /// Lines "what\tvalue" about the device that the runner has.
  std::string device();

  /// The runner's own table of steps, valid as long as this object. Only for the gold standard's runners: what a
  /// student's runner says about itself is not believed.
  std::span<const StepFacts> table();

 private:
  Outcome ask(const Request& request);
  Outcome exchange(const Request& request);
  Outcome check(const Case& asked, Outcome outcome);
  std::string fault_of(const Case& asked) const;
  bool refuses_range(const Case& asked, const std::string& message) const;
  std::uint32_t* gold_values() const;
  static void require_memory(const Case& asked);
  void lay_out(const Case& asked);
  void fill(const Case& asked, const void* keys);
  std::string guard_fault(const Image& image, const char* what) const;
  bool untouched() const;
  Reply ask_about(Command command);
  Process::Clock::time_point after(double seconds) const;

  std::string program_;
  double timeout_;
  JudgeMemory memory_;
  std::unique_ptr<Process> process_;
  Request request_;  // of the case at hand
  std::uint64_t guard_seed_ = 0;
  double changed_share_ = 1;
  std::unique_ptr<char[]> gold_keys_;
  std::unique_ptr<char[]> gold_values_;  // or a task's result
  std::uint64_t range_ = 0;              // largest - smallest key, where the step cares
  bool stepped_ = false;                 // the step was called in the case at hand
  std::string table_text_;
  std::vector<StepFacts> table_;
};

}  // namespace lab

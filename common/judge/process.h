// A runner as the judge sees it: a process with a channel, shared memory, and what it prints.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runner/protocol.h"

namespace lab {

/// Owns a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  operator int() const { return fd_; }

 private:
  int fd_;
};

/// Memory that judge and runner both map. Errors: lab::NoMemory if there is not enough.
class JudgeMemory {
 public:
  JudgeMemory();
  JudgeMemory(const JudgeMemory&) = delete;
  JudgeMemory& operator=(const JudgeMemory&) = delete;
  ~JudgeMemory();

  /// Makes room for at least `bytes`; what was in it is lost when it grows.
  void reserve(std::int64_t bytes);
  char* at(std::int64_t offset) const { return data_ + offset; }
  std::int64_t bytes() const { return bytes_; }
  int fd() const { return fd_; }

 private:
  Descriptor fd_;
  char* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

/// Variables of a runner's environment, in addition to the judge's own.
using Environment = std::map<std::string, std::string>;

/// A command that starts a runner in a sandbox, without the runner's own words; empty: none. Its first word is a path.
using Sandbox = std::vector<std::string>;

/// Seconds that a busy machine may add to a limit.
inline constexpr double max_wait_extension = 120;

/// Seconds that this thread of the judge could have run while other processes had the processors; 0 where the system does
/// not report them.
double judge_seconds_waited();

/// A runner's process in a separate group. It and what it started are killed with this object, or with the judge.
class Process {
 public:
  using Clock = std::chrono::steady_clock;

  enum class ReceiveResult { reply, timeout, closed, malformed };

  /// Errors: lab::Unavailable if `program` or the sandbox cannot be run.
  Process(const std::string& program, const JudgeMemory& memory, const Environment& environment,
          const Sandbox& sandbox = {});
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  void send(const Request& request);

  /// Waits for a message until `deadline`. `malformed`: a message that no runner sends; `closed`: the process hung up.
  ReceiveResult receive(Reply& reply, Clock::time_point deadline);

  /// To be called after `closed`: how the process ended, and a description of it.
  std::pair<Status, std::string> ending();

  /// Seconds since the last mark that the process could have run while other processes had the processors: those of the
  /// thread that waited longest. 0 where the system does not report them. A busy machine must not make a step look
  /// endless.
  double seconds_waited() const;
  void mark_waits() { waits_ = waits(); }

  /// The most memory that the process has had resident, in bytes, with what it shares; 0 where the system does not
  /// report it.
  std::int64_t peak_bytes() const;

  /// Whether the step has started processes, for which it may then have to wait.
  bool has_company() const;

  /// Ends what the step has started, and asks the process, which hangs, to print where it is and to end.
  void ask_to_end();

  /// The last few KiB that the process has printed since the last call.
  std::string collect_output();

 private:
  void drain_output();
  pid_t runner() const;
  std::map<std::string, double> waits() const;  // seconds, by thread

  int memory_;  // the descriptor that messages must carry
  pid_t pid_ = -1;
  pid_t sender_ = -1;                    // of the last message
  std::map<std::string, double> waits_;  // at the last mark
  bool in_sandbox_ = false;
  Descriptor channel_;
  Descriptor output_pipe_;
  std::string output_;
};

}  // namespace lab

// What the judge and a runner say to each other: messages of fixed size over a SOCK_SEQPACKET socket pair, which keeps
// them whole, and keys in memory that both map. The runner is the student's process: the judge believes nothing of it
// that it can check.
//
//   judge                                   runner
//   sort, with the input in the memory  ->
//                                       <-  ready: the input is on the device; milliseconds that the copy took
//   go                                  ->  (the judge's clock starts)
//                                       <-  sorted: the device is idle; milliseconds by events (the clock stops)
//                                       <-  finished: the output is in the memory; milliseconds of that copy, and
//                                           a line a kernel where kernels are timed
// Any failure is a `finished` at once. `describe`, `table` and `device` are answered by one `finished` with a text.
#pragma once

#include <cstdint>
#include <string>

#include "step/keys.h"
#include "step/step.h"

namespace lab {

/// File descriptors that a runner inherits, and the argument that tells it so.
inline constexpr int channel_fd = 3;
inline constexpr int memory_fd = 4;
inline constexpr const char* judge_argument = "--judged";

enum class Command : std::uint32_t { describe, table, sort, go, device };
enum class Progress : std::uint32_t { ready, sorted, finished };

/// How a case ended. From a runner, `verified` means only that nothing failed: whether it is so, the judge finds out.
enum class Status : std::uint32_t {
  verified,
  wrong,
  not_written,
  unsupported,
  crashed,
  hung,
  exited,
  cuda_error,
  refused
};

constexpr const char* name_of(Status status) {
  constexpr const char* names[] = {"verified", "wrong",  "not-written", "unsupported", "crashed",
                                   "hung",     "exited", "cuda-error",  "refused"};
  return names[static_cast<int>(status)];
}

/// Keys or values with a guard on both sides, as they lie in the shared memory and on the device. All in bytes.
struct Image {
  std::int64_t input = 0;       ///< where the image to copy to the device begins in the memory
  std::int64_t output = 0;      ///< where the image copied back begins
  std::int64_t bytes = 0;       ///< of the image, 0: there is none
  std::int64_t span = 0;        ///< where keys or values begin within the image, a multiple of 256
  std::int64_t span_bytes = 0;  ///< of the keys or values
};

struct Request {
  std::uint64_t nonce = 0;  ///< to be repeated in every reply, so that a forged one is noticed
  Command command = Command::describe;
  std::int32_t step = 0;
  Task task = Task::sort;
  KeyType type = KeyType::u32;
  Order order = Order::ascending;
  LaunchShape shape;
  std::int64_t n = 0;
  std::int64_t memory_bytes = 0;  ///< size of the shared memory now
  Image keys;
  Image values;                   ///< of pairs; the result, where the task is not to sort
  std::int32_t poison = 0;        ///< byte that fills device memory which a step may allocate
  std::int32_t time_kernels = 0;  ///< 1: tell of each kernel; the step takes longer then
};

/// What the launches of one kernel took within a call of a step, all together.
struct KernelTime {
  std::string name;  ///< without namespaces and template arguments
  int launches = 0;
  double milliseconds = 0;
  std::int64_t blocks = 0, threads = 0;  ///< of the largest launch
  std::int64_t dynamic_shared = 0;       ///< bytes a block
  std::int64_t static_shared = -1;       ///< bytes a block, -1: not known
  int registers = -1;                    ///< of a thread, -1: not known
};

struct Reply {
  std::uint64_t nonce = 0;
  Progress progress = Progress::finished;
  Status status = Status::verified;
  double milliseconds = 0;
  std::int32_t on_gpu = 0;           ///< describe: 1 for a real GPU
  double copy_bytes_per_second = 0;  ///< describe: bytes read plus bytes written by a copy within the device
  char text[8192] = {};
};

}  // namespace lab

// The messages between the judge and a runner: fixed-size structs over a SOCK_SEQPACKET socket pair, which keeps each
// message whole, and keys in memory that both map. The runner is the student's process, so the judge trusts nothing
// that it can check, and refuses every message that is malformed. Each reply carries the descriptor of that memory: code
// that writes to the channel as to a file, such as printf(), cannot attach one.
//
//   judge                                   runner
//   sort, with the input in the memory  ->
//                                       <-  ready: the input is on the device; milliseconds of that copy. For a step
//                                           that sorts host memory: it is where it is sorted; milliseconds of pinning
//   (the judge overwrites the input, so that the step finds its keys on the device only)
//   go                                  ->  (the judge's clock starts)
//                                       <-  sorted: the device is idle; milliseconds by events (the clock stops)
//                                       <-  finished: the output is in the memory; milliseconds of that copy. For a
//                                           step that sorts host memory: of one trip's copies alone, if it is timed
//
// After a failure the runner sends `finished` at once, with the reason. `describe` is answered by `finished`.
// What does not fit a struct is a JSON document, sent before `finished` in as many `document` messages as it takes:
//   describe  {"device", "on_gpu", "copy_bytes_per_second", "facts": [[what, value]], "steps": [..]}
//   sort      {"kernels": [..], "timeline": {"spans": [..], "left_out"},
//              "observed": {"findings", "remarks", "notes", "lines", "launches", "copied_bytes",
//              "bytes_to_host"}}:
//             kernels and timeline where they are timed, `observed` from the check build, which also sends it when a
//             finding ends the process
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "step/keys.h"
#include "step/step.h"
#include "step/task.h"

namespace lab {

/// File descriptors that a runner inherits, and the argument that the judge starts it with.
inline constexpr int channel_fd = 3;
inline constexpr int memory_fd = 4;
inline constexpr const char* judge_argument = "--judged";

/// The judge refuses a longer document.
inline constexpr std::int64_t max_document_bytes = std::int64_t{64} << 20;

enum class Command : std::uint32_t { describe, sort, go };
enum class Progress : std::uint32_t { ready, sorted, document, finished };

/// How a case ended. From a runner, `verified` only means that nothing failed; the judge verifies the output.
enum class Status : std::uint32_t {
  verified,
  wrong,
  not_written,
  unsupported,
  crashed,
  hung,
  exited,
  cuda_error,
  refused,
  busy  ///< only from the judge: the machine was too busy to measure a time
};

constexpr const char* name_of(Status status) {
  constexpr const char* names[] = {"verified", "wrong",  "not-written", "unsupported", "crashed",
                                   "hung",     "exited", "cuda-error",  "refused",     "busy"};
  return names[static_cast<int>(status)];
}

/// Keys or values with a guard on both sides, as they lie in the shared memory and on the device. All in bytes.
struct Image {
  std::int64_t input = 0;       ///< where the image to copy to the device begins in the memory
  std::int64_t output = 0;      ///< where the image copied back begins; the same if it is changed in place
  std::int64_t bytes = 0;       ///< of the image; 0: there is none
  std::int64_t span = 0;        ///< where keys or values begin within the image
  std::int64_t span_bytes = 0;  ///< of the keys or values
};

struct Request {
  std::uint64_t nonce = 0;  ///< every reply repeats it, so that a forged one is noticed
  Command command = Command::describe;
  std::int32_t step = 0;
  Task task = Task::sort;
  KeyType type = KeyType::u32;
  Order order = Order::ascending;
  LaunchShape shape;
  std::int64_t n = 0;
  std::int64_t memory_bytes = 0;  ///< current size of the shared memory
  std::int64_t blocks_ended = 0;  ///< where in it CUDA on the CPU counts blocks, as a 64-bit number that is 0 at first
  Image keys;
  Image values;                        ///< of pairs; the result, where the task is not to sort
  Image scratch;                       ///< of a step that sorts host memory, which stays where it is
  std::int64_t device_bytes = 0;       ///< device memory that such a step may allocate; 0: nearly all that is free
  std::int32_t pageable = 0;           ///< 1: host memory is not pinned for it
  std::int32_t is_piece = 0;           ///< 1: another may follow in the same memory, which stays pinned for it
  std::int32_t poison = 0;             ///< byte that fills device memory which a step may allocate
  std::int32_t time_copies = 0;        ///< 1: of a step that sorts host memory, also time the copies alone
  std::int32_t time_kernels = 0;       ///< 1: time each kernel, which makes the step slower
  std::int32_t watch_host = 0;         ///< 1: kernels must do the work; which takes time, too
  std::int32_t measure_bandwidth = 0;  ///< describe: 1: also measure how fast device memory is copied
};

struct Reply {
  std::uint64_t nonce = 0;
  Progress progress = Progress::finished;
  Status status = Status::verified;
  double milliseconds = 0;
  std::int32_t text_bytes = 0;  ///< used bytes of `text`
  char text[8192] = {};         ///< finished: why it failed; document: the next part of it
};

/// The launches of one kernel within a call of a step, taken together.
struct KernelTime {
  std::string name;  ///< without namespaces and template arguments
  int launches = 0;
  double milliseconds = 0;
  std::int64_t blocks = 0, threads = 0;  ///< of the largest launch; threads per block
  std::int64_t dynamic_shared = 0;       ///< bytes per block
  std::int64_t static_shared = -1;       ///< bytes per block; -1: unknown
  int registers = -1;                    ///< per thread; -1: unknown
};

/// A kernel, or a copy between host and device, and when it ran. In milliseconds since shortly before the step was
/// called. It begins when its stream reaches it, so a copy may still wait for another one in the same direction.
struct TimelineSpan {
  int stream = 0;    ///< streams are numbered in the order of their first use
  std::string what;  ///< copy_in, copy_out, or the name of a kernel, as in KernelTime
  double begin = 0, end = 0;
  std::int64_t bytes = 0;  ///< of a copy
};

inline constexpr const char *copy_in = "copy in", *copy_out = "copy out";

/// The judge refuses a timeline with more spans.
inline constexpr std::size_t max_timeline_spans = 4096;

struct Timeline {
  std::vector<TimelineSpan> spans;  ///< the first ones, in the order in which they were requested
  std::int64_t left_out = 0;        ///< how many followed
};

}  // namespace lab

// Sorting a file of u32 keys that may be larger than the memory: pieces of it are sorted by a step and written as runs
// to a file without a name; then the runs are merged into the output. Every key is read and written twice, or once if
// one piece is enough. What is written is examined on the way: its order, and a hash of all keys, which must be that of
// the keys that were read.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "judge/case.h"
#include "judge/judge.h"
#include "judge/run_merge.h"

namespace lab {

struct FileSortRequest {
  std::string input;
  std::string output;           ///< exists, and is empty; its contents mean nothing until the sort has succeeded
  std::int64_t host_bytes = 0;  ///< memory for keys, scratch and buffers; 0: half of what is available
  double timeout = 0;           ///< seconds that the step may take for a piece; 0: by the number of keys
  Case which;                   ///< but for n and the input
};

/// How a file is sorted within a limit of memory. An eighth of the limit is left to the programs.
struct FilePlan {
  std::int64_t keys = 0;
  std::int64_t pieces = 0;
  std::int64_t piece = 0;  ///< keys of each piece but the last
  MergeShape merge{0, 0};
};

/// Errors: lab::Unsupported, with the least amount, if `host_bytes` are too few.
FilePlan plan_of(std::int64_t keys, std::int64_t host_bytes);

struct FileSorted {
  Outcome outcome;  ///< that of the piece that failed, or of the last one
  FilePlan plan;
  double sort_seconds = 0;                         ///< reading, sorting and writing the pieces
  double merge_seconds = 0;                        ///< and merging them; 0 if there is one
  double sync_seconds = 0;                         ///< waiting for the disk at the end
  std::int64_t judge_bytes = 0, runner_bytes = 0;  ///< most resident memory; 0: unknown
  std::int64_t shared_bytes = 0;                   ///< that both of these contain
  std::int64_t peak_bytes = 0;                     ///< of both processes at a time, what they share counted once
};

/// Called now and then with what is being done, and how many of the bytes have been read and written.
using FileProgress = std::function<void(const std::string& what, std::int64_t done, std::int64_t total)>;

/// Errors: those of Judge; lab::Unsupported for a file or a limit that cannot be, lab::Unavailable for what the disk
/// cannot do. Wherever possible they are found before anything is read.
FileSorted sort_file(const FileSortRequest& request, const std::string& runner, const Environment& environment,
                     const Sandbox& sandbox, const FileProgress& progress);

}  // namespace lab

#include "judge/file_sort.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>

#include "judge/errors.h"
#include "judge/key_file.h"
#include "judge/machine.h"
#include "judge/parallel.h"
#include "judge/workers.h"

namespace lab {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t key_size = sizeof(std::uint32_t);
constexpr std::int64_t max_block = 1 << 20, min_block = 1 << 14, target_block = 1 << 16;  // keys
constexpr std::int64_t keys_per_page = 1024;                                              // keys
constexpr std::int64_t min_host_bytes = 1 << 20;
constexpr std::int64_t guards = 64 << 10;      // bytes, around keys and scratch
constexpr std::int64_t max_samples = 1 << 14;  // of a run
constexpr double seconds_per_key = 1e-6;       // that a step may take, beyond a minute

double seconds_since(Clock::time_point started) {
  return std::chrono::duration<double>(Clock::now() - started).count();
}

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::string gib(std::int64_t bytes) {
  return bytes < 1 << 30 ? fmt::format("{:.1f} MiB", double(bytes) / (1 << 20))
                         : fmt::format("{:.1f} GiB", double(bytes) / (1 << 30));
}

// Half of the arrays' bytes are keys, half scratch. pieces = 0: the limit is too low.
FilePlan plan_within(std::int64_t keys, std::int64_t host_bytes) {
  const std::int64_t usable = host_bytes - host_bytes / 8;
  const std::int64_t fits = (usable - guards) / (2 * key_size) / keys_per_page * keys_per_page;
  FilePlan plan;
  plan.keys = keys;
  plan.pieces = ceil_div(keys, fits);
  if (plan.pieces < 2) {
    plan.piece = keys;
    return plan;
  }
  // All of about the same size, so that the last one does not leave memory unused.
  plan.piece = ceil_div(ceil_div(keys, plan.pieces), keys_per_page) * keys_per_page;
  plan.pieces = ceil_div(keys, plan.piece);
  const std::int64_t blocks = usable / key_size / (plan.pieces + 1);  // keys for one worker's blocks of each kind
  if (blocks < min_block) return {};
  // More workers than cores, since some always wait for the disk.
  const std::int64_t target_workers =
      std::min<std::int64_t>(std::clamp(2 * core_count(), 4, 64), ceil_div(keys, target_block));
  const std::int64_t workers =
      std::min(std::max(blocks / target_block, std::min<std::int64_t>(blocks / min_block, 4)), target_workers);
  plan.merge = {int(workers), std::min(blocks / workers, max_block) / keys_per_page * keys_per_page};
  return plan;
}

std::int64_t min_memory(std::int64_t keys) {
  std::int64_t too_few = 0, enough = 1;  // in units of min_host_bytes
  while (plan_within(keys, enough * min_host_bytes).keys != keys) enough *= 2;
  while (enough - too_few > 1) {
    const std::int64_t middle = (too_few + enough) / 2;
    (plan_within(keys, middle * min_host_bytes).keys == keys ? enough : too_few) = middle;
  }
  return enough * min_host_bytes;
}

class FileSort {
 public:
  // Finds whatever would make the sort fail, before anything is read. Reserves the space on the disk.
  FileSort(const FileSortRequest& request, const FileProgress& progress);

  FileSorted& result() { return result_; }
  const FilePlan& plan() const { return result_.plan; }

  // Sorts the pieces, and writes them to the runs, or a single one to the output. False: a piece has failed.
  bool sort_pieces(Judge& judge);

  // Merges the runs into the output.
  void merge_runs();

  // Waits until the output is on the disk.
  void finish();

 private:
  std::int64_t size_of(std::int64_t piece) const { return std::min(plan().piece, plan().keys - piece * plan().piece); }
  std::int64_t total_bytes() const { return plan().keys * key_size * (plan().pieces > 1 ? 4 : 2); }
  void require_memory(std::int64_t host_bytes) const;
  void require_space() const;
  void report(const std::string& what) const;
  void pass(std::int64_t piece, std::uint32_t* keys);
  void remember_peak(const Judge& judge);
  void examine(const WrittenKeys& written) const;

  const FileSortRequest& request_;
  const FileProgress& progress_;
  KeyFile input_;
  KeyFile output_;
  std::optional<KeyFile> runs_file_;
  std::optional<Runs> runs_;
  FileSorted result_;
  std::uint64_t hash_seed_ = fresh_number();
  std::uint64_t multiset_ = 0;                 // of the keys that were read
  std::atomic<std::int64_t> passed_keys_ = 0;  // by pass(): read or written
  std::atomic<std::int64_t> merged_keys_ = 0;  // read and written
};

FileSort::FileSort(const FileSortRequest& request, const FileProgress& progress)
    : request_(request),
      progress_(progress),
      input_(KeyFile::input(request.input)),
      output_(KeyFile::output(request.output)) {
  const Case& which = request.which;
  if (!which.step.in_host_memory || which.type != KeyType::u32) {
    throw Unsupported("files are sorted only by steps that sort u32 keys in host memory");
  }
  const std::int64_t bytes = input_.bytes();
  if (bytes % key_size != 0) {
    throw Unsupported(fmt::format(
        "{} has {} bytes, which is not a multiple of the 4 bytes of a u32 key: it has other contents, or its end is "
        "missing",
        request.input, bytes));
  }
  const std::int64_t host_bytes = request.host_bytes ? request.host_bytes : std::int64_t(available_memory() / 2);
  result_.plan = plan_of(bytes / key_size, host_bytes);
  require_memory(host_bytes);
  require_space();
  output_.reserve(bytes);
  if (plan().pieces < 2) return;
  runs_file_ = KeyFile::unnamed_beside(request.output);
  runs_file_->reserve(bytes);
  const std::int64_t samples = std::clamp(host_bytes / 64 / key_size / plan().pieces, std::int64_t{64}, max_samples);
  const std::int64_t stride = ceil_div(plan().piece, samples);
  runs_.emplace(Runs{*runs_file_, which.order, plan().keys, plan().piece, stride, {}});
}

void FileSort::require_memory(std::int64_t host_bytes) const {
  const std::int64_t needed = plan().pieces > 1 ? host_bytes : 2 * plan().keys * key_size;
  const auto available = std::int64_t(available_memory());
  if (available == 0 || needed <= available) return;
  throw NoMemory(
      fmt::format("the sort would use {} of host memory, but only {} are free: choose a smaller --host-memory",
                  gib(needed), gib(available)));
}

void FileSort::require_space() const {
  const std::int64_t bytes = plan().keys * key_size, needed = plan().pieces > 1 ? 2 * bytes : bytes;
  const std::int64_t available = available_space(request_.output);
  if (needed <= available) return;
  const std::string what = plan().pieces > 1 ? " for the output and as much for the sorted pieces" : " for the output";
  throw Unavailable(fmt::format(
      "the disk of the output has {} left, but the sort needs {}: {}{}. Free some space, or write to another disk",
      gib(available), gib(needed), gib(bytes), what));
}

void FileSort::report(const std::string& what) const {
  progress_(what, (passed_keys_ + 2 * merged_keys_) * key_size, total_bytes());
}

bool FileSort::sort_pieces(Judge& judge) {
  const auto started = Clock::now();
  Case which = request_.which;
  which.n = plan().piece;
  judge.begin_pieces(which, hash_seed_);
  for (std::int64_t piece = 0; piece < plan().pieces; ++piece) {
    which.n = size_of(piece);
    result_.outcome = judge.run_piece(which, [&](std::uint32_t* keys) {
      pass(piece, keys);
      report(fmt::format("piece {} of {}: sorting", piece + 1, plan().pieces));
    });
    if (result_.outcome.status != Status::verified) {
      result_.outcome.message = fmt::format("piece {} of {}: {}", piece + 1, plan().pieces, result_.outcome.message);
      return false;
    }
    multiset_ += judge.piece_multiset();
    if (runs_) add_samples(*runs_, judge.piece(), which.n);
  }
  remember_peak(judge);
  judge.end_runner();  // what has been verified must be what is written
  pass(plan().pieces, judge.piece());
  result_.sort_seconds = seconds_since(started);
  return true;
}

// Writes the piece before this one, which is sorted, and reads this one into the same memory, block by block: so the
// disk reads and writes at the same time, and no more memory is needed.
void FileSort::pass(std::int64_t piece, std::uint32_t* keys) {
  const bool is_last = piece == plan().pieces;
  const std::int64_t to_write = piece > 0 ? size_of(piece - 1) : 0, to_read = is_last ? 0 : size_of(piece);
  const std::int64_t end = std::max(to_write, to_read);
  std::vector<WrittenKeys> written(ceil_div(end, max_block), WrittenKeys(request_.which.order, hash_seed_));
  std::atomic<std::int64_t> next = 0;
  std::atomic<bool> stop = false;
  const auto work = [&](int) {
    KeyWriter writer(runs_ ? *runs_file_ : output_);
    for (std::int64_t at = next++ * max_block; at < end && !stop; at = next++ * max_block) {
      const std::int64_t writes = std::clamp<std::int64_t>(to_write - at, 0, max_block);
      const std::int64_t reads = std::clamp<std::int64_t>(to_read - at, 0, max_block);
      if (!runs_) written[at / max_block].add(keys + at, writes);
      if (writes > 0) writer.write(((piece - 1) * plan().piece + at) * key_size, keys + at, writes * key_size);
      if (reads > 0) input_.read((piece * plan().piece + at) * key_size, keys + at, reads * key_size);
      passed_keys_ += writes + reads;
    }
    writer.finish();
  };
  const std::string what = is_last ? "writing" : fmt::format("piece {} of {}: reading", piece + 1, plan().pieces);
  run_workers(std::clamp(core_count(), 4, 16), work, stop, [&] { report(what); });
  if (runs_ || !is_last) return;
  for (std::size_t block = 1; block < written.size(); ++block) written[0].join(written[block]);
  examine(written[0]);
}

void FileSort::merge_runs() {
  if (!runs_) return;
  const auto started = Clock::now();
  examine(merge(*runs_, output_, plan().merge, hash_seed_, merged_keys_, [&] { report("merging"); }));
  result_.merge_seconds = seconds_since(started);
}

void FileSort::finish() {
  const auto started = Clock::now();
  progress_("waiting for the disk", total_bytes(), total_bytes());
  output_.sync();
  result_.sync_seconds = seconds_since(started);
  result_.judge_bytes = memory_fact("VmHWM:");
  result_.peak_bytes = std::max(result_.peak_bytes, result_.judge_bytes);
}

// Both processes' resident memory contains the part of the shared memory that this one has touched.
void FileSort::remember_peak(const Judge& judge) {
  result_.runner_bytes = judge.runner_peak_bytes();
  result_.shared_bytes = memory_fact("RssShmem:");
  const std::int64_t own = memory_fact("VmHWM:");
  if (own > 0 && result_.runner_bytes > 0) result_.peak_bytes = own + result_.runner_bytes - result_.shared_bytes;
}

void FileSort::examine(const WrittenKeys& written) const {
  if (written.count() == plan().keys && written.multiset() == multiset_) return;
  throw Unavailable(
      "the keys that were written are not those that were read: they have changed in memory or on the disk. Try again; "
      "if it happens again, test this machine's memory and disk");
}

}  // namespace

FilePlan plan_of(std::int64_t keys, std::int64_t host_bytes) {
  const FilePlan plan = host_bytes < min_host_bytes ? FilePlan{} : plan_within(keys, host_bytes);
  if (host_bytes >= min_host_bytes && plan.keys == keys) return plan;
  throw Unsupported(fmt::format("{} of host memory are too little to sort {} keys: choose --host-memory {}M or more",
                                gib(host_bytes), keys, min_memory(keys) >> 20));
}

FileSorted sort_file(const FileSortRequest& request, const std::string& runner, const Environment& environment,
                     const Sandbox& sandbox, const FileProgress& progress) {
  signal(SIGXFSZ, SIG_IGN);  // a file that becomes too large is an error, not the end of this process
  FileSort sort(request, progress);
  if (sort.plan().keys > 0) {
    const double by_keys = 60 + seconds_per_key * double(sort.plan().piece);
    Judge judge(runner, request.timeout > 0 ? request.timeout : by_keys, environment, sandbox);
    if (!sort.sort_pieces(judge)) return sort.result();
  }  // the memory of the pieces is free for the merge
  sort.merge_runs();
  sort.finish();
  return sort.result();
}

}  // namespace lab

#include "trace.h"

#include <cinttypes>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <unordered_map>

#include "files.h"
#include "mentions.h"
#include "places.h"

namespace simt::check {
namespace {

constexpr std::uint64_t max_accesses = 500'000;

}  // namespace

struct Trace::Recording {
  /// A store or an atomic, whose value is known only after it has happened. `at` is null if there is none. The bytes
  /// are read as volatile: otherwise the compiler may call memcpy, whose accesses are observed.
  struct Pending {
    const volatile unsigned char* at = nullptr;
    unsigned bytes = 0;
  };

  const char* path;
  std::string text = {};
  std::unordered_map<const void*, int> arrays = {};
  std::set<Code> codes = {};
  std::uint64_t accesses = 0;
  bool is_cut = false;
  unsigned long launches = 0;  // so far
  unsigned long first_launch = 0, last_launch = ~0ul;
  Pending pending = {};
  std::string later = {};  // follows the line of the pending access

  bool is_left_out() const { return is_cut || launches <= first_launch || launches - 1 > last_launch; }

  [[gnu::format(printf, 2, 3)]] void line(const char* format, ...) {
    char line[512];
    std::va_list values;
    va_start(values, format);
    std::vsnprintf(line, sizeof line, format, values);
    va_end(values);
    text += line;
  }

  /// Adds the value of the last store, which has happened by now, as a number: the low byte lies first.
  void complete() {
    if (pending.at == nullptr) return;
    for (unsigned byte = pending.bytes; byte-- > 0;) line("%02x", unsigned(pending.at[byte]));
    pending.at = nullptr;
    text += "\n" + later;
    later.clear();
  }

  /// A line about an access that has been recorded.
  void about_access(const char* words) { (pending.at != nullptr ? later : text) += words; }
};

Trace::Trace() {
  const char* path = std::getenv("CHECK_TRACE");
  if (path == nullptr || *path == '\0') return;
  recording_.reset(new Recording{path});
  if (const char* const launches = std::getenv("CHECK_TRACE_LAUNCHES")) {
    std::sscanf(launches, "%lu-%lu", &recording_->first_launch, &recording_->last_launch);
  }
}

Trace::~Trace() = default;

void Trace::launch(const Launch& launch) {
  if (recording_->is_cut) return;
  recording_->complete();
  ++recording_->launches;
  const dim3 grid = launch.config.grid, block = launch.config.block;
  recording_->line("launch\t%.400s\t%u,%u,%u\t%u,%u,%u\n", launch.kernel.name, grid.x, grid.y, grid.z, block.x, block.y,
                   block.z);
}

void Trace::block(std::uint64_t block) {
  if (recording_->is_left_out()) return;
  recording_->complete();
  recording_->line("block\t%" PRIu64 "\n", block);
}

void Trace::barrier() {
  if (recording_->is_left_out()) return;
  recording_->complete();
  recording_->line("barrier\n");
}

void Trace::end_block() { recording_->complete(); }  // later, memory may have been freed

void Trace::access(const Owner& owner, const Access& access, std::size_t offset) {
  Recording& r = *recording_;
  if (r.is_left_out()) return;
  r.complete();
  if (r.accesses++ == max_accesses) {
    r.is_cut = true;
    r.line("cut\n");
    return;
  }
  const auto [array, is_new] = r.arrays.try_emplace(owner.identity, int(r.arrays.size()));
  if (is_new) {
    const std::string name = owner.name != nullptr ? owner.name : mention_allocation(owner.number, *owner.made_by);
    r.line("array\t%d\t%s\t%.300s\t%d\t%zu\n", array->second, name_of(access.space), name.c_str(), owner.number,
           owner.bytes);
  }
  r.codes.insert(access.code);
  r.line("access\t%d\t%u\t%" PRIxPTR "\t%s\t%td\t%u\t", array->second, access.thread, access.code, name_of(access.way),
         std::ptrdiff_t(offset), access.bytes);
  if (offset >= owner.bytes || access.bytes > owner.bytes - offset) {  // nothing may lie there
    r.text += '\n';
    return;
  }
  r.pending = {reinterpret_cast<const volatile unsigned char*>(access.address), access.bytes};
  if (access.way == Way::load) r.complete();  // its value is already there
}

void Trace::race(unsigned thread, Code code, std::uint64_t other_block, unsigned other_thread, Code other) {
  if (recording_->is_left_out()) return;
  char line[128];
  std::snprintf(line, sizeof line, "race\t%u\t%" PRIxPTR "\t%" PRIu64 "\t%u\t%" PRIxPTR "\n", thread, code, other_block,
                other_thread, other);
  recording_->about_access(line);
}

void Trace::fault(const Access& access) {
  if (recording_->is_left_out()) return;
  char line[64];
  std::snprintf(line, sizeof line, "fault\t%u\t%" PRIxPTR "\n", access.thread, access.code);
  recording_->about_access(line);
}

void Trace::conflict(const Conflict& c) {
  if (recording_->is_left_out()) return;
  recording_->complete();
  recording_->line("conflict\t%" PRIxPTR "\t%u\t%s\t%u\t%u\t%u\t%u\n", c.code, c.bytes, name_of(c.way), c.warp, c.time,
                   c.actual, c.ideal);
}

void Trace::write() {
  recording_->complete();
  std::set<Code> codes = recording_->codes;
  collect_mentions(recording_->text, codes);
  const Places places(codes);
  std::string text = with_lines(recording_->text, places);
  for (Code code : recording_->codes) {
    if (!places.know(code)) continue;
    char address[32];
    std::snprintf(address, sizeof address, "code\t%" PRIxPTR "\t", code);
    text += address + places.of(code) + "\n";
  }
  write_whole(recording_->path, text);
}

}  // namespace simt::check

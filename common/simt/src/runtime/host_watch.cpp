#include "simt/host_watch.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>

#include "../execution/failure.h"
#include "../faults/signals.h"
#include "../faults/source_lines.h"
#include "../memory/access.h"
#include "../memory/closed_memory.h"
#include "../memory/globals.h"
#include "call.h"

namespace simt {
namespace {

// A step may copy counters, splitters and flags.
constexpr std::size_t always_allowed = 8192;

/// What the host has done since the watch began.
struct Work {
  MemoryRange keys, result;
  std::map<std::uintptr_t, std::uintptr_t> read;  ///< device memory that was copied to the host: begin, end
  std::size_t shared = 0;
  std::string fault;

  std::size_t limit() const { return std::max(keys.bytes / 2, always_allowed); }

  void add(const HostCall& call, const std::string& text) {
    const Site site = line_of_call(call.caller);
    if (fault.empty()) fault = file_and_line(site) + ": " + call.name + "() " + text;
  }
};
std::optional<Work> work;  // only the host's thread uses it

std::uintptr_t address(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

bool overlap(const MemoryRange& range, const void* begin, std::size_t bytes) {
  return address(begin) < address(range.begin) + range.bytes && address(range.begin) < address(begin) + bytes;
}

/// Adds a range to what has been read. The same memory counts once, however often it is copied.
void add_read(std::uintptr_t begin, std::uintptr_t end) {
  auto& read = work->read;
  auto next = read.upper_bound(begin);
  if (next != read.begin() && std::prev(next)->second >= begin) --next;
  while (next != read.end() && next->first <= end) {
    begin = std::min(begin, next->first);
    end = std::max(end, next->second);
    next = read.erase(next);
  }
  read[begin] = end;
}

std::size_t bytes_read() {
  std::size_t bytes = 0;
  for (const auto& [begin, end] : work->read) bytes += end - begin;
  return bytes;
}

bool is_of_host(const void* pointer) { return access_of(pointer, 1).host; }

}  // namespace

HostWatch::HostWatch(MemoryRange keys, MemoryRange result) {
  work.emplace().keys = keys;
  work->result = result;
  if (managed_bytes() >= work->limit()) {
    work->fault = "the program has " + std::to_string(managed_bytes()) +
                  " bytes of __managed__ variables, which most of the keys fit into: kernels must do the work";
  }
#ifndef SIMT_CHECK  // whose observers report the access, and go on
  catch_faults();
  close_device_memory(true);
#endif
}

HostWatch::~HostWatch() {
  if (is_device_memory_closed()) close_device_memory(false);
  work.reset();
}

std::string HostWatch::fault() const { return work->fault; }

void watch_copy(const HostCall& call, const void* to, std::size_t to_bytes, const void* from, std::size_t from_bytes) {
  if (!work || is_of_host(to) == is_of_host(from)) return;
  if (is_of_host(from)) {
    if (overlap(work->result, to, to_bytes)) {
      work->add(call, "copies results from the host: kernels must compute and write them");
    }
    return;
  }
  add_read(address(from), address(from) + from_bytes);
  if (bytes_read() < work->limit()) return;
  work->add(call, "and calls before it copy most of the keys to the host: kernels must do the work");
}

bool is_default_stream_refused() { return work.has_value(); }

void watch_shared_memory(const HostCall& call, std::size_t bytes) {
  host_may_intervene = true;
  if (!work) return;
  work->shared += bytes;
  if (work->shared < work->limit()) return;
  work->add(call, "allocates memory for the host that most of the keys fit into: kernels must do the work");
}

}  // namespace simt

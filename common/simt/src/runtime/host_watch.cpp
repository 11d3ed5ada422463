#include "simt/host_watch.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>

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
  /// By address, the bytes of device memory that the host has copied. An unchanged byte tells the host nothing new when
  /// it is copied again. So a step may read a flag after each pass, but a buffer with other keys each time counts again.
  std::unordered_map<std::uintptr_t, unsigned char> known;
  std::size_t read = 0;       ///< bytes that were new to the host
  std::size_t allocated = 0;  ///< bytes that the host and kernels share
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

/// Counts what is new of the bytes that the host is about to copy.
void add_read(const unsigned char* begin, std::size_t bytes) {
  for (const unsigned char* at = begin; at < begin + bytes && work->read < work->limit(); ++at) {
    const auto [known, is_first] = work->known.try_emplace(address(at), *at);
    work->read += is_first || known->second != *at;
    known->second = *at;
  }
}

bool is_of_host(const void* pointer) { return access_of(pointer, 1).host && !is_device_variable(pointer); }

}  // namespace

HostWatch::HostWatch(MemoryRange keys, MemoryRange result) {
  work.emplace().keys = keys;
  work->result = result;
  if (managed_bytes() >= work->limit()) {
    work->fault = "the program has " + std::to_string(managed_bytes()) +
                  " bytes of __managed__ variables, which most of the keys fit into: kernels must do the work";
  }
#ifdef SIMT_CHECK
  check::watch_device_memory(true);
#else  // the observers report the access, and go on
  catch_faults();
  close_device_memory(true);
#endif
}

HostWatch::~HostWatch() {
  if (is_device_memory_closed()) close_device_memory(false);
  SIMT_OBSERVE(check::watch_device_memory(false);)
  work.reset();
}

std::string HostWatch::fault() const {
  SIMT_OBSERVE(check::look_at_device_memory();)
  return work->fault;
}

void watch_copy(const HostCall& call, const void* to, std::size_t to_bytes, const void* from, std::size_t from_bytes) {
  if (!work || is_of_host(to) == is_of_host(from)) return;
  if (is_of_host(from)) {
    if (overlap(work->result, to, to_bytes)) {
      work->add(call, "copies results from the host: kernels must compute and write them");
    }
    return;
  }
  {
    const OpenMemory open;
    add_read(static_cast<const unsigned char*>(from), from_bytes);
  }
  if (work->read < work->limit()) return;
  work->add(call, "and calls before it copy most of the keys to the host: kernels must do the work");
}

#ifdef SIMT_CHECK
void watch_unseen_write(const std::string& text) {
  if (work && work->fault.empty()) work->fault = text;
}

void watch_writes_for_host(const Kernel& kernel, std::size_t bytes) {
  if (!work) return;
  work->read += bytes;
  if (work->read < work->limit() || !work->fault.empty()) return;
  work->fault =
      file_and_line(kernel.site) + ": " + kernel.name +
      " writes most of the keys where the host can read them, counting what the host has read before: kernels "
      "must do the work";
}
#endif

bool is_host_watched() { return work.has_value(); }

void watch_shared_memory(const HostCall& call, std::size_t bytes) {
  host_may_intervene = true;
  if (!work) return;
  work->allocated += bytes;
  if (work->allocated < work->limit()) return;
  work->add(call, "allocates memory for the host that most of the keys fit into: kernels must do the work");
}

}  // namespace simt

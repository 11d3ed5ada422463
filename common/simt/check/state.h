// Everything that the check build knows while a program runs.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "check.h"
#include "counts.h"
#include "device_heap.h"
#include "exchanges.h"
#include "exits.h"
#include "findings.h"
#include "images.h"
#include "local_arrays.h"
#include "order.h"
#include "ownership.h"
#include "pending.h"
#include "progress.h"
#include "requests.h"
#include "results.h"
#include "running.h"
#include "shuffles.h"
#include "time_limit.h"
#include "trace.h"
#include "unwritten_copies.h"
#include "watch.h"

namespace simt::check {

/// The last launch of the program, if it has not read the last error since.
struct UnreadLaunch {
  std::string kernel;
  Site site;
};

/// The host's own memory that an asynchronous copy writes. It has no cells.
struct HostTarget {
  std::uintptr_t begin, end;
  std::uint32_t interval;  ///< of the copy
  bool is_registered;
};

/// All of those that copies may still write. Several of the host's threads copy, and access their memory.
class HostTargets {
 public:
  bool exist() const { return exist_.load(std::memory_order_relaxed); }
  void add(const HostTarget& target);
  /// The first in which these bytes lie, of those that copies may still write.
  std::optional<HostTarget> find(std::uintptr_t begin, std::size_t bytes);

 private:
  std::mutex mutex_;
  std::atomic<bool> exist_ = false;
  std::vector<HostTarget> targets_;
};

/// What is kept of the running copy or fill, and of those that may not have ended.
struct Transfers {
  Transfer running = {};
  bool in_host_function = false;  ///< of cudaLaunchHostFunc(): host code runs as an operation of a stream
  HostTargets targets;
};

/// Made before the program's own static objects and never destroyed, because findings are reported after theirs are.
/// begin_launch() (check.h) resets what belongs to a launch.
struct CheckState {
  Watch watch;
  Running running;
  Ownership ownership;
  Images images;
  DeviceHeap heap;
  Order order;
  Requests requests;
  Counts counts;
  Findings findings;
  Exchanges exchanges;
  Pending pending;
  Shuffles shuffles;
  Exits exits;
  LocalArrays local_arrays;
  std::optional<UnreadLaunch> unread_launch;
  TimeLimit time;
  Progress progress;
  Transfers transfers;
  Trace trace;
  Results results;
  UnwrittenCopies unwritten_copies;

  /// To be called when copies that the host's accesses concern have been added or removed, or the table of allocations
  /// has been made. Several of the host's threads may do that.
  void find_hosts_own();

  /// The kernel's next access by each instruction is looked at closely. (Watch::look_closely() is for other threads.)
  void look_closely() {
    watch.expire();
    requests.forget();
  }
};

/// Storage whose object is never destroyed.
union CheckStorage {
  CheckStorage() : state{} {}
  ~CheckStorage() {}
  CheckState state;
};
extern CheckStorage storage __attribute__((visibility("hidden")));  // accessed without an indirection

inline CheckState& state() { return storage.state; }

/// Whether the address is in the state itself. It is among the program's variables, and compilers turn some of its
/// changes into calls of memset and memcpy, which are observed.
inline bool is_in_state(std::uintptr_t address) { return address - std::uintptr_t(&storage) < sizeof storage; }

}  // namespace simt::check

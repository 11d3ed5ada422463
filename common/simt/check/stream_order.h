// What the host hands to the device's streams (kernels, copies, fills), and which of it is in order.
//
// Here, each operation runs to its end before the host continues. On a GPU, streams and the host run at the same time,
// unless something makes one wait for another. Therefore every stream, every event and the host has a vector clock: by
// stream, how many of its operations it comes after. An access races with one of an earlier operation that its own
// operation does not come after. The order that CUDA promises (Programming Guide, "Asynchronous Concurrent Execution"):
//
//     an operation    comes after what the host knows to have ended, what precedes it in its stream, and the events
//                     for which the stream waits. One of the default stream also comes after all that precedes it in
//                     blocking streams, and one of a blocking stream after what precedes it in the default stream.
//     an event        comes after what precedes it in its stream when it is recorded
//     the host        comes after the streams and events for which it waits, copies that return when they have
//                     ended, and everything at cudaDeviceSynchronize() and cudaFree()
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "access.h"
#include "simt/device.h"
#include "simt/runtime/types.h"

namespace simt::check {

/// A stream or an event, as the program holds it.
using Handle = std::uintptr_t;
inline constexpr Handle default_stream = 0;
/// cudaStreamLegacy is another name of the default stream.
inline Handle handle_of(cudaStream_t stream) { return stream == cudaStreamLegacy ? default_stream : Handle(stream); }

struct Operation {
  std::string name = {};             ///< of a kernel, or "cudaMemcpyAsync()"
  Site site = {};                    ///< of a launch; line 0 for others
  Code code = 0;                     ///< of other calls
  std::uint32_t first_interval = 0;  ///< it has all intervals up to the next operation's first one
  unsigned stream = 0;               ///< by order of first use
  std::uint32_t index = 0;           ///< in its stream, from 1
};

class StreamOrder {
 public:
  void add_stream(Handle stream, bool is_blocking);

  /// The host hands an operation to a stream; it is the current one from now on. `operation` has its name, place and
  /// first interval.
  void submit(Handle stream, Operation operation);
  void record(Handle event, Handle stream);
  void wait_for_event(Handle stream, Handle event);
  void host_waits_for_stream(Handle stream);
  void host_waits_for_event(Handle event);
  void host_waits_for_all();
  /// The host has seen what an operation wrote, as a flag.
  void host_waits_for_operation(std::uint32_t interval);

  /// The first interval of which something may not be in order with the current operation; its own first one if all is.
  std::uint32_t first_unordered() const { return first_unordered_; }
  /// Whether an earlier operation, known by one of its intervals, may run at the same time as the current one.
  bool is_unordered(std::uint32_t interval) const { return is_any_unordered(interval, interval); }
  /// The same for any from `first` to `last`.
  bool is_any_unordered(std::uint32_t first, std::uint32_t last) const;
  struct Span {
    std::uint32_t first, past;
  };
  /// The intervals around this one of operations that the current one comes after, if it comes after that one.
  Span in_order_around(std::uint32_t interval) const;
  /// Whether, as far as the host knows, something still runs; and the operation with that interval.
  bool may_run() const { return may_run_; }
  bool may_run(std::uint32_t interval) const;
  /// Whether there is more than one stream, so that operations may run at the same time.
  bool has_streams() const { return streams_.size() > 1; }

  const Operation& current() const { return current_; }
  /// An operation that is_unordered() or may_run() is about.
  Operation operation_of(std::uint32_t interval) const;
  /// Whether the current operation's stream, or the host, waits for an event of that operation's stream. If the two are
  /// not in order nevertheless, the event was recorded too early.
  bool current_waits_for_event_of(const Operation& before) const { return waits_for_event_of(before, current_.stream); }
  bool host_waits_for_event_of(const Operation& before) const { return waits_for_event_of(before, host); }

 private:
  /// By stream, how many operations.
  using Clock = std::vector<std::uint32_t>;
  struct Stream {
    bool is_blocking = true;
    Clock after = {};
    std::uint32_t count = 0;
  };
  struct Event {
    Clock after;
    unsigned stream;
  };
  static constexpr unsigned host = ~0u;

  static void join(Clock& clock, const Clock& other);
  static std::uint32_t at(const Clock& clock, unsigned stream) { return stream < clock.size() ? clock[stream] : 0; }
  unsigned index_of(Handle stream);
  /// What precedes an operation that the stream gets now.
  const Clock& before_next(unsigned stream);
  void host_learns(const Clock& clock);
  void find_unordered(const Clock& before, std::uint32_t first_interval);
  bool waits_for_event_of(const Operation& before, unsigned waiting) const;
  const Operation* find(std::uint32_t interval) const;

  mutable std::recursive_mutex mutex_;  // several of the program's threads may use streams
  std::map<Handle, unsigned> numbers_ = {{default_stream, 0}};
  std::vector<Stream> streams_ = {Stream{}};
  std::map<Handle, Event> events_;
  std::map<unsigned, std::set<unsigned>> waited_for_;  // by stream, or the host: the streams of the events
  Clock host_after_;
  std::deque<Operation> operations_;  // from the first one on that may still run
  Operation current_;
  std::vector<Span> unordered_;  // with the current operation
  std::uint32_t first_unordered_ = 1;
  bool may_run_ = false;
};

}  // namespace simt::check

// Records what the kernels of a program do, in order, and writes it to the file that CHECK_TRACE names: access pictures
// and the pages of ./workbook play are made from it. TRACE.md documents the format. CHECK_TRACE_LAUNCHES=FIRST-LAST and
// CHECK_TRACE_BLOCKS=FIRST-LAST choose the launches and blocks that are recorded, from 0. So a part can be shown of a
// run that makes more accesses than are kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "../src/execution/launch_state.h"
#include "access.h"

namespace simt::check {

struct Exchange;
struct Finding;
struct Report;

/// Memory that has a name: a __shared__ array, a variable, an allocation (by its number).
struct Owner {
  const void* identity;  ///< the same for all its accesses
  const char* name;      ///< null: an allocation without a name
  int number;            ///< of an allocation, otherwise 0
  std::size_t bytes;
  const std::vector<Code>* made_by = nullptr;  ///< of an allocation: see Region
};

/// A request that took more wavefronts than its lanes need: the `time`-th of this instruction in the interval.
struct Conflict {
  Code code;
  unsigned bytes;
  Way way;
  unsigned warp, time, actual, ideal;
};

class Trace {
 public:
  Trace();
  ~Trace();

  bool is_on() const { return recording_ != nullptr; }
  /// How many accesses have been recorded; -1 if the trace is off, or leaves out what happens now.
  std::int64_t moment() const;
  // To be called only if the trace is on.
  void launch(const Launch& launch);
  void block(std::uint64_t block);
  void barrier(Site site);
  void end_block();
  void access(const Owner& owner, const Access& access, std::size_t offset);  ///< before the access happens
  /// A copy or a fill has written bytes of an allocation. `from`: another one; 0 for a fill, or other memory.
  void transfer(int to, std::size_t offset, std::size_t bytes, int from, std::size_t from_offset, Code code);
  /// Lanes have exchanged values. `sources`: the lane that each one's value came from; null for a vote or the like.
  void exchange(const Exchange& exchange, const int* sources);
  void lanes_synchronized(unsigned warp, unsigned lanes, Site site);
  /// The block has failed, and this thread waits there.
  void waits(unsigned thread, Site site);
  /// Two accesses race: one of this block's interval, and an earlier one of this block or of another block of the
  /// launch.
  void race(unsigned thread, Code code, std::uint64_t other_block, unsigned other_thread, Code other);
  void fault(const Access& access);  ///< The access, which is the last one, is wrong in itself.
  void conflict(const Conflict& conflict);
  /// Writes what has been recorded so far, and what has been found. If it cannot be written, prints why.
  void write(const Report& report);

 private:
  struct Recording;
  std::unique_ptr<Recording> recording_;  ///< null: off
};

}  // namespace simt::check

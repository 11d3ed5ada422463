// Records every access of the program, in order, and writes them to the file that CHECK_TRACE names: access pictures
// are drawn from it. CHECK_TRACE_LAUNCHES=FIRST-LAST chooses the launches whose accesses are recorded, from 0; so part
// of a run can be drawn that makes more accesses than are kept. One line per record, fields separated by tabs:
//
//   launch    kernel  grid (x,y,z)  block (x,y,z)
//   block     number                           interval 0 of this block begins
//   barrier                                    the next interval begins
//   array     id  space  name  allocation's number or 0  bytes
//             an allocation without a name has one that says where it was made, or its number if that is not known
//   access    array  thread  code  way  offset (bytes)  bytes  value (hexadecimal, after a store or an atomic)
//             outside the array, the offset may be negative, and there is no value
//   race      thread  code  other block  other thread  other code      an access of this interval and an earlier one
//   fault     thread  code                                the last access is wrong in itself, for example out of bounds
//   conflict  code  bytes  way  warp  time  actual  ideal     wavefronts of a request in the interval that ends here
//   code      code  file:line
//   cut                                        there were more accesses than are kept
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "../src/execution/launch_state.h"
#include "access.h"

namespace simt::check {

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
  // To be called only if the trace is on.
  void launch(const Launch& launch);
  void block(std::uint64_t block);
  void barrier();
  void end_block();
  void access(const Owner& owner, const Access& access, std::size_t offset);  ///< before the access happens
  /// Two accesses race: one of this block's interval, and an earlier one of this block or of another block of the
  /// launch.
  void race(unsigned thread, Code code, std::uint64_t other_block, unsigned other_thread, Code other);
  void fault(const Access& access);  ///< The access, which is the last one, is wrong in itself.
  void conflict(const Conflict& conflict);
  /// Writes what has been recorded so far. If it cannot be written, prints why.
  void write();

 private:
  struct Recording;
  std::unique_ptr<Recording> recording_;  ///< null: off
};

}  // namespace simt::check

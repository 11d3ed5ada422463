// An order of threads that a number chooses (SIMT_SCHEDULE), to find results that depend on the order of atomics. No race
// detector sees those: `if (v > atomicAdd(&best, 0)) atomicExch(&best, v)` is free of data races, and wrong.
//
// The orders are those of PCT (Burckhardt et al., "A randomized scheduler with probabilistic guarantees of finding
// bugs", ASPLOS 2010). Every thread has a random priority, and of the threads that can run, the one with the highest
// runs. It may lose its turn only at a point: before an atomic, a volatile access or a fence. (At barriers and warp
// primitives it waits anyway.) At a few points of a launch, drawn in advance, the running thread gets a low priority.
// Faults show when few accesses come in an unusual order, and for those, few such changes are enough.
//
// What differs from the paper:
// - Blocks have an order, too. At a change, the thread or its whole block gets behind the others. Of a larger grid,
//   as many blocks are interleaved as have stacks (Worker::can_leave), like those of one multiprocessor; they begin in
//   the order of their numbers, on which programs rely more than they should. Those of a small grid begin in any order.
// - How many points a launch has is not known. The number's last five bits say from how many the changes are drawn: 2 to
//   the power of that. Who explores takes it from a run before.
// - A thread that finds the same value in the same place again and again is taken to wait for others, and gets behind
//   them all.
//
// The same number gives the same order on every machine. Only checked programs can do this: they have one OS thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../src/execution/launch_state.h"
#include "../src/execution/warp.h"
#include "access.h"

namespace simt::check {

/// Where a thread may lose its turn.
struct Point {
  Code code;
  std::uintptr_t address;
  unsigned bytes;  ///< 0: a fence, which has no address
};

enum class Turn : std::uint8_t {
  goes_on,  ///< unless a thread with a higher priority can run
  lowered,  ///< the same, with a low priority; if no other thread of the block can run, the block leaves
  block_leaves,
  waits  ///< until others have run
};

/// What a schedule keeps of a block. Threads are numbered as in Block::threads.
struct ScheduleOfBlock {
  struct OfThread {
    std::int64_t priority;
    // Where it was at its last point, and how often it has found the same there.
    Code code = 0;
    std::uintptr_t address = 0;
    std::uint64_t bits = 0;
    unsigned same = 0;
  };
  std::vector<OfThread> threads;
  std::array<std::uint32_t, max_warps> lowered = {};  ///< the others of a warp have descending priorities
};

class Schedule {
 public:
  /// The number; 0: threads run in the usual order.
  static std::uint64_t number() { return number_.value; }
  static bool is_on() { return number() != 0; }

  /// Whether its blocks begin in any order: there are few threads.
  static bool shuffles(const Launch& launch) {
    return is_on() && launch.blocks * unsigned(launch.threads) <= max_threads_per_multiprocessor;
  }

  void begin_launch(const Launch& launch);
  void begin_block(ScheduleOfBlock& block, int warps);
  /// The running thread comes to a point, which has been counted.
  Turn come_to(ScheduleOfBlock& block, std::size_t thread, const Point& point);
  /// The thread with the highest priority of those that can run; -1 if there is none.
  static int highest(const ScheduleOfBlock& block, const std::vector<Warp>& warps, int warp_count);

  /// Of the launch so far, also without a schedule.
  std::uint64_t points() const { return points_; }
  void count_point() { ++points_; }

 private:
  static void lower(ScheduleOfBlock& block, std::size_t thread, std::int64_t priority);

  /// Read before the program's own static objects are made, which may launch kernels. (Only objects of classes can be.)
  struct Number {
    std::uint64_t value;
  };
  static const Number number_;

  std::uint64_t random_ = 0, points_ = 0;
  bool has_blocks_ = false;
  std::vector<std::uint64_t> changes_;  ///< points, the next one last
  std::int64_t lowest_ = 0;
};

}  // namespace simt::check

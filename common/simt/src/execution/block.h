// The state of the block that an OS thread runs.
#pragma once

#include <string>
#include <vector>

#include "../emulation.h"
#include "context.h"
#include "launch_state.h"
#include "warp.h"
#ifdef SIMT_CHECK
#include "../../check/schedule.h"
#endif

namespace simt {

/// A thread of the running block: one cache line, because a switch reads one of these.
struct alignas(64) Thread {
  Context context;       ///< while it waits
  uint3 index;           ///< threadIdx
  std::int16_t step;     ///< from this one to the next one that has not exited; from the last to the first
  std::uint16_t number;  ///< in its block

  unsigned lane() const { return number % lanes_per_warp; }
  Thread* next() { return this + step; }
};

/// What a thread waits for; in an array parallel to that of the threads.
struct Waiting {
  static constexpr std::uint64_t grid = ~std::uint64_t(0);  ///< in place of a barrier's number: the barrier of the grid

  std::uint64_t barrier;  ///< the last barrier of the block that it came to, by number
  Site site;
};

/// Whose turn it is, and where the threads before it wait if they wait at the block's barrier in a sweep (see
/// Worker::enter_sweep). Outside a sweep, and before its first thread comes to the barrier, the site has line 0.
struct Turn {
  Thread* current = nullptr;
  Site site;
};

/// What remains of a block while another one has its turn.
struct BlockState {
  const Launch* launch = nullptr;
  std::uint64_t arranged_for = 0;  ///< number of the launch
  uint3 index = {};                ///< blockIdx
  // In the order in which the scheduler goes through them.
  std::vector<Thread> threads;
  std::vector<Waiting> waiting;
  std::vector<Warp> warps;
  int warp_count = 0;
  int alive = 0;                ///< threads that have not exited
  int in_barrier = 0;           ///< threads
  std::uint64_t barrier = 1;    ///< the number of the barrier that threads come to next
  Site barrier_site;            ///< of the barrier that threads wait at; line 0 if none does
  int in_grid_barrier = 0;      ///< threads
  unsigned named_barriers = 0;  ///< a bit for each that threads have come to
  Site grid_barrier_site;
  SIMT_OBSERVE(check::ScheduleOfBlock schedule;)
};

/// The running block.
struct Block : BlockState {
  explicit Block(Turn& turn) : turn(turn) {}

  Turn& turn;

  Thread& thread_at(int warp, int position) { return threads[warp * lanes_per_warp + position]; }
  const Thread& thread_at(int warp, int position) const { return threads[warp * lanes_per_warp + position]; }
  Waiting& waiting_of(const Thread* thread) { return waiting[std::size_t(thread - threads.data())]; }
  const Waiting& waiting_of(const Thread* thread) const { return waiting[std::size_t(thread - threads.data())]; }
  /// Some thread that waits at the block's barrier, or null.
  const Thread* thread_in_barrier() const { return thread_at_barrier(barrier); }
  /// The same for the barrier of the grid.
  const Thread* thread_in_grid_barrier() const { return thread_at_barrier(Waiting::grid); }

  /// Once per launch: decides in which order the threads of every block run. Warps and lanes are shuffled by the seed,
  /// so that a kernel cannot depend on an order that a GPU does not guarantee. Seed 0 keeps CUDA's numbering.
  void arrange(const Launch& launch);
  /// Once per block, after arrange(): no thread has started.
  void restart();
  /// No thread waits at the barrier of the grid any more.
  void open_grid_barrier();

  /// "kernel k, block (0,0,0), thread (3,0,0)" for the thread that runs.
  std::string here() const;

 private:
  const Thread* thread_at_barrier(std::uint64_t number) const;
};

}  // namespace simt

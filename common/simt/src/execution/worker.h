// How one OS thread runs the threads of a block, one at a time, each on its own stack once it has to wait.
//
// What device code calls again and again (a warp primitive) is defined inline here, so that device.cpp, which device
// code calls, contains it.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "../emulation.h"
#include "block.h"
#include "context.h"
#include "failure.h"
#include "launch_state.h"
#include "stacks.h"
#include "waiting_block.h"
#ifdef SIMT_CHECK
#include "../../check/check.h"
#endif

/// What simt_barrier() calls, unless the next thread in memory continues: the running thread, if there is one, waits.
extern "C" [[noreturn]] void simt_hand_over(simt::Site site);

namespace simt {

class Worker;

/// What the emulation keeps for an OS thread, in debugger.cpp. Outside the unnamed namespace, and not all zero: see
/// device.cpp.
struct WorkerOfThread {
  Turn turn;                  ///< of the running block
  Worker* running = nullptr;  ///< while it runs a block
  Worker* own = nullptr;
  int not_zero = 1;
};
extern constinit thread_local WorkerOfThread worker_of_thread;

/// How a block has left its OS thread.
enum class Left : std::uint8_t {
  ended,
  failed,  ///< and the failure has been reported
  waits    ///< for other blocks: Worker::continue_block() lets it go on
};

/// Runs blocks on the OS thread that owns it.
class Worker {
 public:
  /// The worker of this OS thread; created at first use.
  static Worker& current();
  /// The worker whose block this OS thread is running; null outside a kernel.
  static Worker* running();

  /// Is this address just past the end of this OS thread's last __shared__ array?
  static bool is_past_shared(const void* address);
  static const void* end_of_shared();
  /// Clears this OS thread's dynamic shared memory: host code must not read there what kernels have computed.
  void clear_dynamic_shared() { std::fill(dynamic_shared_.begin(), dynamic_shared_.end(), 0); }

  /// Runs one block until it ends, or waits for others.
  Left run_block(const Launch& launch, std::uint64_t block);

  // --- blocks that wait (turns.cpp) ---

  bool has_waiting_blocks() const { return !waiting_blocks_.empty(); }
  /// Whether there are stacks for one more block of the launch.
  bool has_room(const Launch& launch) const {
    const std::size_t stacks = std::size_t(stacks_used_) - free_stacks_.size();
    return stacks + std::size_t(launch.threads) <= stacks_.count();
  }
  /// Continues a block that may go on because the barrier of the grid has opened. Empty: there is none.
  std::optional<Left> continue_after_barrier();
  /// Continues a block that waits in a loop. Empty: there is none.
  std::optional<Left> continue_loop();
  /// The launch has ended, or failed.
  void drop_waiting_blocks();

  const Stacks& stacks() const { return stacks_; }
  /// Where it begins on a GPU, too, in a kernel that has no other shared memory: at a multiple of 128 bytes.
  void* dynamic_shared() {
    const auto begin = reinterpret_cast<std::uintptr_t>(dynamic_shared_.data());
    return reinterpret_cast<void*>((begin + shared_alignment - 1) & ~(shared_alignment - 1));
  }
  /// Whether this is the first time in the block.
  bool comes_to_named_barrier(unsigned number) {
    const unsigned before = block_.named_barriers;
    block_.named_barriers |= 1u << number % 16;
    return before != block_.named_barriers;
  }

  /// __syncthreads().
  void sync(Site site);
  /// The same for a thread whose context has been stored already.
  [[noreturn]] void hand_over(Site site);
  int barrier(bool predicate, Site site);
  void grid_barrier(Site site);
  bool is_cooperative() const { return block_.launch->config.is_cooperative; }
  std::uint64_t collective(WarpOp op, unsigned mask, std::uint64_t value, int argument, int width, Site site);
  void yield();
  void atomic_yield() {
    if (++atomics_ % atomics_per_turn() == 0) yield();
  }
#ifdef SIMT_CHECK
  /// Before an atomic, a volatile access or a fence: the schedule decides who goes on.
  void come_to(const check::Point& point) {
    schedule_.count_point();
    if (check::Schedule::is_on()) [[unlikely]]
      come_to_scheduled(point);
  }
  /// How many of these the last launch has had so far.
  std::uint64_t points() const { return schedule_.points(); }
#endif

  /// Reports the failure with kernel, block and thread, then abandons the block.
  [[noreturn, gnu::cold]] void fail(Failure failure);

  /// "kernel k, block (0,0,0), thread (3,0,0)" for the thread that runs.
  std::string here() const { return block_.here(); }
  Site barrier_site() const { return block_.barrier_site; }  ///< line 0 if no thread waits at a barrier
  Site launch_site() const { return block_.launch->kernel.site; }
  const Launch& launch() const { return *block_.launch; }
  /// Is this memory of the running thread or block, which no other grid can access?
  bool is_local_or_shared(const void* address) const;

  /// Does something that must not be interrupted: it may hold a lock.
  template <class Work>
  void uninterrupted(Work&& work) {
    set_scheduling(true);
    work();
    set_scheduling(false);
  }

  /// From a signal that interrupted this worker: if device code was running, its thread yields. A loop that waits for
  /// memory to change (`while (flag == 0) {}` on a volatile) calls no function, and would never end otherwise.
  void preempt(Site site);

  /// Changes whenever another thread or block gets its turn; read by the watchdog.
  std::uint64_t turn() const { return std::uint64_t(block_.turn.current) ^ block_.barrier << 8 ^ blocks_run_ << 40; }

  bool watched = false;  ///< the watchdog knows this worker

  /// What every stack runs: threads, until the block has ended.
  void run_threads();

  /// Leaves the block at once, from anywhere (also from a signal handler).
  [[noreturn]] void abandon();

 private:
  /// How often a thread calls atomic_yield() until others have a turn. A schedule gives them one before.
  static unsigned atomics_per_turn() {
    SIMT_OBSERVE(if (check::Schedule::is_on()) return 4096;)
    return 64;
  }

  Context fresh_stack();
  void prepare_launch(const Launch& launch);
  Left enter(const Context& context);
  void wait_for_grid();
  /// Whether the next block may have its turn before this one has ended.
  bool can_leave() const { return block_.launch->are_resident && (has_waiting_blocks() || has_room(*block_.launch)); }
  void leave_to_others(bool is_at_grid_barrier);
  WaitingBlock put_aside();
  Left continue_block(std::deque<WaitingBlock>::iterator block);
  void count_ended();

  /// While it is set, the worker is not interrupted. The compiler must not move what it guards to the other side.
  void set_scheduling(bool now) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    scheduling_ = now;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }

  bool pick();
  bool find_runnable_warp();
  void wake_or_fail();
  void wait();
  void run_current(Context* left);
  void arrive(bool predicate, Site site);
  void arrive_in_sweep(Site site);
  void finish();
  void release_groups_of(Warp& warp, unsigned lane_bit);
  void complete_group(Warp& warp, Rendezvous& group);
  void check_past_shared();
  void make_runnable(Warp& warp, unsigned lanes);
  std::uint64_t active_mask(Warp& warp, unsigned lane_bit, Site site);
  bool release_active_masks();
  void enter_sweep();
  void leave_sweep();
#ifdef SIMT_CHECK
  void observe_waiting() const;
  bool pick_scheduled();
  void come_to_scheduled(const check::Point& point);
#endif
  [[noreturn, gnu::cold]] void fail_divergent(Site site);
  [[noreturn, gnu::cold]] void fail_grid_barrier(Site site);
  [[noreturn, gnu::cold]] void fail_mask(WarpOp op, unsigned mask, Site site);
  [[noreturn, gnu::cold]] void fail_mixed(WarpOp op, const Rendezvous& group, Site site);
  [[noreturn, gnu::cold]] void fail_deadlock();

  SignalStack signal_stack_;
  Stacks stacks_;
  Block block_{worker_of_thread.turn};
  static constexpr std::uintptr_t shared_alignment = 128;
  std::vector<unsigned char> dynamic_shared_;
  int stacks_used_ = 0;           ///< the others have not been used since the OS thread had no block
  std::vector<int> free_stacks_;  ///< of those, the ones that no thread has
  std::deque<WaitingBlock> waiting_blocks_;
  Context place_{};                  ///< where the block that leaves continues
  bool is_at_grid_barrier_ = false;  ///< that is why it leaves
  std::uint64_t times_opened_ = 0;   ///< how often the barrier had opened when it came there
  std::uint64_t shuffled_ = 0;       ///< how often the barrier of the grid had opened when waiting_blocks_ was shuffled
  Context outside_{};                ///< the worker's own stack
  std::uint64_t prepared_ = 0;       ///< number of the launch that the worker is prepared for
  Thread* first_ = nullptr;          ///< of those that have not exited
  bool sweep_ = false;               ///< see enter_sweep()
  bool links_valid_ = false;         ///< first_ and Thread::step are up to date
  int warp_ = 0, position_ = 0, stack_ = 0;
  int barrier_true_ = 0, barrier_result_ = 0;
  unsigned atomics_ = 0;
  SIMT_OBSERVE(check::Schedule schedule_;)
  bool was_idle_ = false;  ///< threads that yielded have continued once since the last barrier
  std::uint64_t blocks_run_ = 0;
  volatile bool scheduling_ = true;
  Left left_ = Left::ended;
};

// --- the hot paths ---

/// The next thread to run becomes current. False: the block has ended.
[[gnu::always_inline]] inline bool Worker::pick() {
  SIMT_OBSERVE(if (check::Schedule::is_on()) [[unlikely]] return pick_scheduled();)
  Warp* warp = &block_.warps[warp_];
  if (warp->runnable == 0) {
    if (!find_runnable_warp()) return false;
    warp = &block_.warps[warp_];
  }
  position_ = std::countr_zero(warp->runnable);
  warp->runnable &= warp->runnable - 1;
  block_.turn.current = &block_.thread_at(warp_, position_);
  return true;
}

/// All lanes that the group waits for have arrived. They get their results, and the group is removed.
[[gnu::always_inline]] inline void Worker::complete_group(Warp& warp, Rendezvous& group) {
  SIMT_OBSERVE(if ((group.mask & warp.exited) != 0)
                   [[unlikely]] check::met_without_exited(group.site, name_of(group.op), warp.exited & group.mask);)
  complete(warp, group);
  group = warp.groups[--warp.group_count];
}

[[gnu::always_inline]] inline std::uint64_t Worker::collective(WarpOp op, unsigned mask, std::uint64_t value,
                                                               int argument, int width, Site site) {
  set_scheduling(true);
  if (sweep_) leave_sweep();
  Warp& warp = block_.warps[warp_];
  const unsigned lane = block_.turn.current->lane();
  const unsigned lane_bit = 1u << lane;
  if (op == WarpOp::active_mask) return active_mask(warp, lane_bit, site);
  if ((mask & lane_bit) == 0) [[unlikely]]
    fail_mask(op, mask, site);
  Rendezvous* group = warp.groups;
  Rendezvous* const end = warp.groups + warp.group_count;
  while (group != end && group->mask != mask) ++group;
  if (group == end) {
    *group = {mask, 0, op, width, site};
    ++warp.group_count;
  } else if (group->op != op || group->width != width) [[unlikely]] {
    fail_mixed(op, *group, site);
  }
  SIMT_OBSERVE(if (site != group->site && op != WarpOp::sync)
                   [[unlikely]] check::met_at_two_places(site, group->site, name_of(op));)
  warp.value[lane] = value;
  warp.argument[lane] = argument;
  group->arrived |= lane_bit;
  if (group->arrived == warp.expected(mask)) {
    const unsigned others = group->arrived & ~lane_bit;
    complete_group(warp, *group);
    make_runnable(warp, others);
    set_scheduling(false);
  } else {
    block_.waiting_of(block_.turn.current).site = site;
    wait();
  }
  return warp.result[lane];
}

}  // namespace simt

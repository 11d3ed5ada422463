// How one OS thread runs the threads of a block, one at a time, each on a stack of its own once it has to wait.
#pragma once

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "context.h"
#include "simt/launch.h"
#ifdef SIMT_CHECK
#define SIMT_OBSERVE(...) __VA_ARGS__
#else
#define SIMT_OBSERVE(...)  // nothing: a plain run pays nothing
#endif

namespace simt {

inline constexpr int lanes_per_warp = 32;
inline constexpr int max_threads = 1024;
inline constexpr int max_warps = max_threads / lanes_per_warp;

/// The stacks of one OS thread: each with a guard page below it. Spaced by 17 pages, and their tops by a few cache
/// lines more, so that the hot ends of a thousand stacks spread over all sets of the caches.
class Stacks {
 public:
  Stacks();
  ~Stacks();
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;

  char* top(int stack) const { return base_ + spacing * (stack + 1) - size_t(stack % 16) * colour; }
  bool guards(const void* address) const;  ///< does `address` lie in a guard page?
  /// Is `address` in one of them, and `here` not in the same?
  bool in_another(const void* address, const void* here) const {
    const auto of = [&](const void* place) { return std::size_t(static_cast<const char*>(place) - base_) / spacing; };
    return of(address) < max_threads && of(address) != of(here);
  }
  const void* above_guard(const void* address) const;  ///< the lowest place of the stack below which `address` lies

  static constexpr std::size_t usable = 16 * 4096 - 16 * 192;  ///< bytes a thread may use

 private:
  static constexpr std::size_t page = 4096, spacing = 17 * page, colour = 192;
  char* base_;
};

/// Where the OS thread that owns it handles signals: the fault may be that a thread's stack is used up.
class SignalStack {
 public:
  SignalStack();
  ~SignalStack();
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  std::vector<char> memory_;
};

/// One thread of the running block, in the order in which the scheduler goes through them. Small: a switch reads one
/// of these, and a thousand of them are to stay in the nearest cache.
struct alignas(32) Thread {
  Context context;  ///< while it waits
  Thread* next;     ///< the next one that has not exited; after the last, the first
  uint3 index;      ///< threadIdx
  int lane;
};

/// What a thread waits for; parallel to the threads.
struct Waiting {
  std::uint64_t barrier;  ///< the last barrier of the block it came to, by number
  Site site;
};

/// Lanes that meet at one primitive with one mask.
struct Rendezvous {
  unsigned mask;     ///< as the lanes named it
  unsigned arrived;  ///< lanes; 0: unused
  WarpOp op;
  int width;
  Site site;
};

struct Warp {
  // Positions are bits in the scheduler's order; lanes are CUDA's.
  std::uint32_t runnable;                 ///< positions that can run now
  std::uint32_t unstarted;                ///< positions that have not begun
  std::uint32_t yielded;                  ///< positions that run again when nothing else can
  std::uint32_t alive;                    ///< positions that have not exited
  unsigned existing;                      ///< lanes that the block has
  unsigned exited;                        ///< lanes
  std::uint8_t position[lanes_per_warp];  ///< of a lane
  std::uint64_t value[lanes_per_warp];    ///< operands, by lane
  int argument[lanes_per_warp];
  std::uint64_t result[lanes_per_warp];
  Rendezvous groups[lanes_per_warp];
  int group_count;
};

/// What all workers of one launch share.
struct Launch {
  Kernel kernel;
  LaunchConfig config;
  std::uint64_t blocks;
  int threads;               ///< in a block
  std::uint64_t number;      ///< no two launches of a process have the same, and none has 0
  std::uint64_t order_seed;  ///< 0: threads run in CUDA's order
};

/// Runs blocks on the OS thread that owns it.
class Worker {
 public:
  Worker();

  /// The worker of this OS thread; made at first use.
  static Worker& current();

  /// Runs one block to its end. False: it failed, and the failure has been reported.
  bool run_block(const Launch& launch, std::uint64_t block);

  /// The worker whose block this OS thread is running; null outside a kernel.
  static Worker* running();

  const Stacks& stacks() const { return stacks_; }
  void* dynamic_shared() { return dynamic_shared_.data(); }

  void sync(Site site);
  int barrier(bool predicate, Site site);
  std::uint64_t collective(WarpOp op, unsigned mask, std::uint64_t value, int argument, int width, Site site);
  void yield();
  void atomic_yield() {
    if (++atomics_ % atomics_a_turn == 0) yield();
  }

  /// Reports `path:line: error: kind: text` with kernel, block and thread, then abandons the block.
  [[noreturn, gnu::cold]] void fail(const char* kind, const std::string& text, Site site, cudaError_t error);

  /// "kernel k, block (0,0,0), thread (3,0,0)" of the thread that runs now.
  std::string here() const;
  Site barrier_site() const { return barrier_site_; }  ///< the barrier that threads are at, if any: else line 0
  Site launch_site() const { return launch_->kernel.site; }

  /// From a signal that interrupted this worker: if device code was running, its thread yields. A loop that waits for
  /// memory to change (`while (flag == 0) {}` on a volatile) calls nothing of ours, and would never end otherwise.
  void preempt(Site site);

  /// Changes whenever another thread or block has its turn; read by the watchdog.
  std::uint64_t turn() const { return std::uint64_t(current_) ^ barrier_ << 8 ^ blocks_ << 40; }

  bool watched = false;  ///< the watchdog knows of it

  /// What every stack runs: threads, until the block has ended.
  void run_threads();

  /// Leaves the block at once, from wherever it is (also from a signal handler).
  [[noreturn]] void abandon();

 private:
  static constexpr unsigned atomics_a_turn = 64;
  static constexpr int prefetch_distance = 6;  ///< threads

  void prepare(const Launch& launch);
  Context fresh_stack();

  /// The compiler must not move what it guards to the other side.
  void set_scheduling(bool now) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    scheduling_ = now;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }

  void check_past_shared();
  bool pick();  // the next thread to run becomes current; false: the block has ended
  bool find_runnable_warp();
  void wake_or_fail();  // nothing can run: release a barrier, or tell who waits for whom
  void wait();          // the current thread stops here until it is made runnable
  void finish();        // the current thread has exited
  std::uint64_t active_mask(Warp& warp, unsigned lane_bit, Site site);
  void complete(Warp& warp, Rendezvous& group);
  void make_runnable(Warp& warp, unsigned lanes);
  bool release_active_masks();
  void enter_sweep();
  void leave_sweep();
  void check_exit(const Warp& warp, unsigned lane_bit);
  [[noreturn, gnu::cold]] void fail_divergent(Site site);
  [[noreturn, gnu::cold]] void fail_mask(WarpOp op, unsigned mask, Site site);
  [[noreturn, gnu::cold]] void fail_mixed(WarpOp op, const Rendezvous& group, Site site);
  [[noreturn, gnu::cold]] void report_deadlock();
  const Thread* thread_in_barrier();
  std::string describe(const Thread& thread);

  Waiting& waiting(const Thread* thread) { return waiting_[std::size_t(thread - threads_.data())]; }
  Thread& thread_at(int warp, int position) { return threads_[warp * lanes_per_warp + position]; }

  SignalStack signal_stack_;
  Stacks stacks_;
  std::vector<Thread> threads_;
  std::vector<Waiting> waiting_;
  std::vector<Warp> warps_;
  std::vector<unsigned char> dynamic_shared_;
  std::vector<int> free_stacks_;
  Context outside_ = nullptr;  ///< the worker's own stack
  const Launch* launch_ = nullptr;
  std::uint64_t prepared_ = 0;  ///< number of the launch that threads_ and warps_ are set up for
  Thread* current_ = nullptr;
  Thread* first_ = nullptr;   ///< of those that have not exited
  bool sweep_ = false;        ///< see enter_sweep()
  bool links_valid_ = false;  ///< first_ and Thread::next are up to date
  int warp_ = 0, position_ = 0, stack_ = 0, warp_count_ = 0;
  int alive_ = 0, in_barrier_ = 0, barrier_true_ = 0, barrier_result_ = 0;
  std::uint64_t barrier_ = 1;  ///< the number of the barrier that threads come to next
  Site barrier_site_;
  unsigned atomics_ = 0;
  std::uint64_t blocks_ = 0;         ///< run so far
  volatile bool scheduling_ = true;  ///< not to be interrupted
  bool abandoned_ = false;
};

/// The functions that switch between the threads of a sweep, which are too short to say that they are scheduling: code
/// in this section is not interrupted.
#define SIMT_UNINTERRUPTED [[gnu::section("simt_uninterrupted")]]
bool is_uninterrupted(const void* code);

// --- fault.cpp ---

/// Prints a finding on standard error, once a launch, and makes `error` sticky.
void report(const char* kind, const std::string& text, Site site, cudaError_t error);

/// Sent to a worker whose thread has had its turn for long (default: ignored by everybody else).
inline constexpr int interrupt_signal = SIGURG;

/// The program is about to be ended: the signal has a worker look where it is. Looks come one after another, so that
/// the program gets on between them.
bool is_ending();
bool is_looked_at();

/// Turns faults in device code into findings, and has SIGTERM tell where a kernel was that does not end.
void catch_faults();

// --- launch.cpp ---

/// True once any block of the running launch has failed; the others then stop as well.
bool launch_failed();
bool a_kernel_runs();
std::uint64_t order_seed();  ///< SIMT_SEED

}  // namespace simt

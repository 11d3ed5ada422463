#include "worker.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include <cstring>

#include "../memory/pages.h"
#include "block_failures.h"
#include "os_threads.h"

namespace simt {
namespace {

/// Lies directly after all __shared__ arrays, because this library is linked after the program and has no other
/// thread-local variable that starts with zero. Catches what a kernel accesses past the end of the last array, so that
/// it can be reported. In the plain build its whole pages are closed, and the processor stops an access of them; what
/// is written before them shows when the block has ended.
alignas(1) thread_local unsigned char past_shared[262144];

#ifdef SIMT_CHECK
/// Lies directly before all __shared__ arrays, if the program itself has no thread-local variable that starts with zero:
/// the linker puts those that start with other values first, and of this library, which is one object
/// (link_library.py), this section last. An index below 0 of the lowest array reaches it.
[[gnu::used, gnu::section(".tdata.simt_shared_gap")]] thread_local unsigned char simt_shared_gap_before[4096] = {1};
#endif

unsigned char* first_closed_page() {
  const std::uintptr_t begin = std::uintptr_t(past_shared);
  return past_shared + (round_up(begin, page_bytes()) - begin);
}

/// For this OS thread. The pages are opened again before it ends: another thread may get the same memory.
void protect_past_shared([[maybe_unused]] int protection) {
  SIMT_OBSERVE(return;)  // the observers check every access
  mprotect(first_closed_page(), sizeof past_shared - page_bytes(), protection);
}

void stack_entry() { worker_of_thread.running->run_threads(); }

}  // namespace

Worker& Worker::current() {
  if (worker_of_thread.own == nullptr) {
    // Owned through a key, not by a thread-local object: that object's pointer would lie where kernels can reach it.
    static const pthread_key_t key = [] {
      pthread_key_t created;
      pthread_key_create(&created, [](void* own) {
        auto* const worker = static_cast<Worker*>(own);
        OsThreads::instance().forget(*worker);
        protect_past_shared(PROT_READ | PROT_WRITE);
        worker_of_thread.own = nullptr;
        delete worker;
      });
      return created;
    }();
    worker_of_thread.own = new Worker;
    pthread_setspecific(key, worker_of_thread.own);
    protect_past_shared(PROT_NONE);
  }
  return *worker_of_thread.own;
}

bool Worker::is_past_shared(const void* address) {
  return std::uintptr_t(address) - std::uintptr_t(past_shared) < sizeof past_shared;
}

const void* Worker::end_of_shared() { return past_shared; }

Worker* Worker::running() { return worker_of_thread.running; }

// --- a block from start to end ---

Left Worker::run_block(const Launch& launch, std::uint64_t block) {
  set_scheduling(true);
  ++blocks_run_;
  if (prepared_ != launch.number) prepare_launch(launch);
  if (block_.arranged_for != launch.number) block_.arrange(launch);
  block_.launch = &launch;
  gridDim = launch.config.grid;
  blockDim = launch.config.block;
  blockIdx = block_.index = {unsigned(block % gridDim.x), unsigned(block / gridDim.x % gridDim.y),
                             unsigned(block / gridDim.x / gridDim.y)};
  block_.restart();
  SIMT_OBSERVE(if (check::Schedule::is_on()) schedule_.begin_block(block_.schedule, block_.warp_count);)
  const std::size_t shared_bytes = launch.config.dynamic_shared;
  const std::size_t needed = shared_bytes + shared_alignment SIMT_OBSERVE(+check::past_dynamic_shared);
  if (dynamic_shared_.size() < needed) dynamic_shared_.resize(needed);
  // Shared memory has undefined contents at first; a pattern shows a read of what nothing wrote.
  if (shared_bytes > 0) std::memset(dynamic_shared(), 0xcd, shared_bytes);
  if (waiting_blocks_.empty()) {
    stacks_used_ = 0;
    free_stacks_.clear();
  }
  barrier_true_ = 0;
  warp_ = 0;
  SIMT_OBSERVE(check::begin_block(launch, block, dynamic_shared());)
  return enter(fresh_stack());
}

void Worker::prepare_launch(const Launch& launch) {
  if (launch.config.is_cooperative) stacks_.reserve(launch.blocks * std::uint64_t(launch.threads));
  prepared_ = launch.number;
  SIMT_OBSERVE(schedule_.begin_launch(launch);)
}

/// Runs the block from there on.
Left Worker::enter(const Context& context) {
  sweep_ = false;
  block_.turn.site = {};
  links_valid_ = false;
  left_ = Left::ended;
  worker_of_thread.running = this;
  switch_to(&outside_, context);
  if (left_ == Left::waits) {
    waiting_blocks_.push_back(put_aside());
  } else {
    SIMT_OBSERVE(check::end_block();)
  }
  worker_of_thread.running = nullptr;
  block_.turn = {};
  if (left_ != Left::failed) check_past_shared();
  if (left_ == Left::ended && block_.launch->config.is_cooperative) count_ended();
  return left_;
}

Context Worker::fresh_stack() {
  if (free_stacks_.empty()) {
    stack_ = stacks_used_++;
    stacks_.prepare(stack_);
  } else {
    stack_ = free_stacks_.back();
    free_stacks_.pop_back();
  }
  return fresh_context<stack_entry>(stacks_.top(stack_), Stacks::usable);
}

void Worker::abandon() {
  set_scheduling(true);
  left_ = Left::failed;
  Context lost;  // nothing continues from here: the next block starts on fresh stacks
  switch_to(&lost, outside_);
  __builtin_unreachable();
}

void Worker::check_past_shared() {
  SIMT_OBSERVE(return;)  // the observers check every access
  const std::size_t open = std::size_t(first_closed_page() - past_shared);
  if (open == 0 || (past_shared[0] == 0 && std::memcmp(past_shared, past_shared + 1, open - 1) == 0)) return;
  std::memset(past_shared, 0, open);
  report({"out-of-bounds",
          std::string("kernel ") + block_.launch->kernel.name + ", block " + coordinates(blockIdx) +
              ": a thread wrote past the end of a __shared__ array",
          block_.launch->kernel.site, cudaErrorIllegalAddress});
  left_ = Left::failed;
}

/// Threads that never wait run here in turn, as in a plain loop. A thread that waits keeps this stack, and the
/// scheduler continues in another call of this function, on another stack.
void Worker::run_threads() {
  const auto call = block_.launch->kernel.call;
  const void* const arguments = block_.launch->kernel.arguments;
  const int stack = stack_;
  while (pick()) {
    Warp& warp = block_.warps[warp_];
    const std::uint32_t bit = 1u << position_;
    if (warp.unstarted & bit) {
      warp.unstarted &= ~bit;
      threadIdx = block_.turn.current->index;
      set_scheduling(false);
      call(arguments);
      set_scheduling(true);
      finish();
    } else {
      free_stacks_.push_back(stack);  // this stack is empty: leave it for good
      Context left;
      run_current(&left);
    }
  }
  free_stacks_.push_back(stack);
  Context ended;
  switch_to(&ended, outside_);
}

[[gnu::noinline]] bool Worker::find_runnable_warp() {
  for (;;) {
    for (int tried = 0; tried < block_.warp_count; ++tried) {
      if (++warp_ >= block_.warp_count) warp_ = 0;
      if (block_.warps[warp_].runnable != 0) return true;
    }
    if (block_.alive == 0) return false;
    wake_or_fail();
  }
}

/// The current thread has exited.
void Worker::finish() {
  if (sweep_) leave_sweep();
  links_valid_ = false;
  Warp& warp = block_.warps[warp_];
  warp.alive &= ~(1u << position_);
  const unsigned lane_bit = 1u << block_.turn.current->lane();
  warp.exited |= lane_bit;
  --block_.alive;
  if (warp.group_count != 0) [[unlikely]]
    release_groups_of(warp, lane_bit);
}

/// A lane that has exited counts no longer: lanes that waited only for it continue.
void Worker::release_groups_of(Warp& warp, unsigned lane_bit) {
  for (int g = warp.group_count - 1; g >= 0; --g) {  // a group that is removed is replaced by the last one
    Rendezvous& group = warp.groups[g];
    const unsigned arrived = group.arrived;
    if ((group.mask & lane_bit) == 0 || arrived != warp.expected(group.mask)) continue;
    complete_group(warp, group);
    make_runnable(warp, arrived);
  }
}

/// The running thread keeps its stack and waits until it is made runnable; the next one that can run continues where it
/// is, or starts. Called with scheduling_ set, which is cleared when the thread continues.
void Worker::wait() {
  Thread* const self = block_.turn.current;
  pick();  // never ends the block: this thread is alive
  if (block_.turn.current != self) run_current(&self->context);
  set_scheduling(false);
}

/// The current thread continues, or starts. `left`: where what calls this continues. The thread clears scheduling_ where
/// it continues: a signal that came before that would make it wait while its context is still in use.
SIMT_UNINTERRUPTED [[gnu::noinline]] void Worker::run_current(Context* left) {
  if (block_.warps[warp_].unstarted & (1u << position_)) {  // never within a sweep, when these are out of date
    // It needs a stack to start on; run_threads() there picks it again.
    block_.warps[warp_].runnable |= 1u << position_;
    switch_to(left, fresh_stack());
    return;
  }
  threadIdx = block_.turn.current->index;
#ifdef SIMT_INLINE_BARRIER
  set_scheduling(false);  // a thread in simt_barrier() continues in the program; until then, this section is left alone
#endif
  switch_to(left, block_.turn.current->context);
}

void Worker::make_runnable(Warp& warp, unsigned lanes) {
  for_each_lane(lanes, [&](int lane) { warp.runnable |= 1u << warp.position[lane]; });
}

/// No thread can run, yet some are alive. If all of them are in the barrier, it opens; otherwise lanes at
/// __activemask() continue, because no more will come; otherwise threads that yielded continue. If there are none of
/// these either, all threads wait for something that cannot happen.
void Worker::wake_or_fail() {
  if (block_.in_barrier == block_.alive) {
    barrier_result_ = barrier_true_;
    block_.in_barrier = barrier_true_ = 0;
    was_idle_ = false;
    ++block_.barrier;
    SIMT_OBSERVE(check::barrier_opened(block_.barrier_site, block_.alive);)
    enter_sweep();
    return;
  }
  if (block_.in_grid_barrier == block_.launch->threads) return wait_for_grid();
  if (release_active_masks()) return;
  bool any = false;
  for (int w = 0; w < block_.warp_count; ++w) {
    Warp& warp = block_.warps[w];
    any |= warp.yielded != 0;
    warp.runnable |= warp.yielded;
    warp.yielded = 0;
  }
  if (!any) fail_deadlock();
  if (launch_state.failed()) abandon();  // what they wait for may never come
  if (was_idle_ && can_leave()) return leave_to_others(false);
#ifndef SIMT_CHECK
  // They may wait for another worker, unless this was only their turn to yield. The check build has only one worker,
  // and on a busy machine yielding takes long.
  if (was_idle_) sched_yield();
#endif
  was_idle_ = true;
}

void Worker::yield() {
  set_scheduling(true);
  if (sweep_) leave_sweep();
  block_.warps[warp_].yielded |= 1u << position_;
  block_.waiting_of(block_.turn.current).site = {};
  wait();
}

#ifdef SIMT_CHECK
bool Worker::pick_scheduled() {
  for (;;) {
    const int thread = check::Schedule::highest(block_.schedule, block_.warps, block_.warp_count);
    if (thread >= 0) {
      warp_ = thread / lanes_per_warp;
      position_ = thread % lanes_per_warp;
      block_.warps[warp_].runnable &= ~(1u << position_);
      block_.turn.current = &block_.threads[std::size_t(thread)];
      return true;
    }
    if (block_.alive == 0) return false;
    wake_or_fail();
  }
}

void Worker::come_to_scheduled(const check::Point& point) {
  set_scheduling(true);
  const auto thread = std::size_t(block_.turn.current - block_.threads.data());
  const check::Turn turn = schedule_.come_to(block_.schedule, thread, point);
  if (turn == check::Turn::waits) return yield();
  const bool is_alone =
      turn == check::Turn::lowered && check::Schedule::highest(block_.schedule, block_.warps, block_.warp_count) < 0;
  block_.warps[warp_].runnable |= 1u << position_;
  block_.waiting_of(block_.turn.current).site = {};
  if ((is_alone || turn == check::Turn::block_leaves) && can_leave()) leave_to_others(false);
  wait();
}
#endif

void Worker::preempt([[maybe_unused]] Site site) {
  if (scheduling_) return;
  // A checked program yields at its volatile reads; it is interrupted only to end it.
  SIMT_OBSERVE(set_scheduling(true); check::end_for_time(site, block_.turn.current->index);)
  yield();
}

// --- __activemask() ---

/// The active lanes are those that reach the same call before everything else in the block waits.
std::uint64_t Worker::active_mask(Warp& warp, unsigned lane_bit, Site site) {
  Rendezvous* group = warp.groups;
  Rendezvous* const end = warp.groups + warp.group_count;
  while (group != end && !(group->op == WarpOp::active_mask && group->site == site)) ++group;
  if (group == end) {
    *group = {0, 0, WarpOp::active_mask, lanes_per_warp, site};
    ++warp.group_count;
  }
  group->arrived |= lane_bit;
  block_.waiting_of(block_.turn.current).site = site;
  const unsigned lane = block_.turn.current->lane();
  wait();
  return warp.result[lane];
}

bool Worker::release_active_masks() {
  for (int w = 0; w < block_.warp_count; ++w) {
    Warp& warp = block_.warps[w];
    for (int g = 0; g < warp.group_count; ++g) {
      Rendezvous& group = warp.groups[g];
      if (group.op != WarpOp::active_mask) continue;
      const unsigned lanes = group.arrived;
      for_each_lane(lanes, [&](int lane) { warp.result[lane] = lanes; });
      group = warp.groups[--warp.group_count];
      make_runnable(warp, lanes);
      return true;
    }
  }
  return false;
}

// --- failures ---

#ifdef SIMT_CHECK
/// Reports where each thread of the block waits, apart from the one that runs.
void Worker::observe_waiting() const {
  const dim3 shape = block_.launch->config.block;
  for (int w = 0; w < block_.warp_count; ++w) {
    const Warp& warp = block_.warps[w];
    for_each_lane(warp.alive & ~warp.unstarted & ~warp.runnable & ~warp.yielded, [&](int position) {
      const Thread& thread = block_.thread_at(w, position);
      const Site site = block_.waiting_of(&thread).site;
      if (&thread == block_.turn.current || site.line == 0) return;
      check::thread_waits(thread.index.x + shape.x * (thread.index.y + shape.y * thread.index.z), site);
    });
  }
}
#endif

void Worker::fail(Failure failure) {
  set_scheduling(true);  // an interruption now would abandon the block before the failure is reported
  SIMT_OBSERVE(observe_waiting();)
  failure.text = here() + ": " + failure.text;
  failure.facts.kernel = block_.launch->kernel.name;
  failure.facts.launch = launch_site();
  failure.facts.block = blockIdx;
  failure.facts.thread = block_.turn.current->index;
  report(failure);
  abandon();
}

void Worker::fail_divergent(Site site) {
  if (sweep_) leave_sweep();
  fail(divergent_barrier(block_, site));
}

void Worker::fail_grid_barrier(Site site) { fail(divergent_grid_barrier(block_, site)); }

void Worker::fail_mask(WarpOp op, unsigned mask, Site site) { fail(invalid_mask(block_, op, mask, site)); }

void Worker::fail_mixed(WarpOp op, const Rendezvous& group, Site site) {
  fail(mixed_primitives(block_, op, group, site));
}

void Worker::fail_deadlock() {
  const auto [thread, failure] = deadlock(block_);
  if (thread != nullptr) block_.turn.current = thread;
  fail(failure);
}

}  // namespace simt

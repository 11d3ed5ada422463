#include "scheduler.h"

#ifdef SIMT_CHECK
#include "../check/check.h"
#endif

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

// A block's __shared__ arrays are thread-local variables, too, in the zero-initialised part of the OS thread's memory
// (.tbss). What the emulation needs itself starts with another value than zero, which puts it into the part before
// that (.tdata), out of the way of a kernel that writes past the end of an array.
constinit thread_local uint3 threadIdx{~0u, ~0u, ~0u};
constinit thread_local uint3 blockIdx{~0u, ~0u, ~0u};
constinit thread_local dim3 blockDim{~0u};
constinit thread_local dim3 gridDim{~0u};

namespace simt {

// Not in the unnamed namespace: a compiler takes a variable apart that only it can see, and the parts that start with
// zero would go where kernels can reach.
struct OfThisThread {
  Worker* running = nullptr;  ///< while it runs a block
  Worker* own = nullptr;
  int not_zero = 1;  ///< see threadIdx
};
constinit thread_local OfThisThread of_this_thread;

namespace {

/// Lies right behind all __shared__ arrays, because a library is linked after the program and nothing else in this one
/// is thread-local and starts with zero: takes what a kernel writes past
/// the end of the last one, and shows that it did.
alignas(1) thread_local unsigned char past_shared[16384];

/// splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014): one output a call.
std::uint64_t next_random(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

void shuffle(std::uint8_t* items, int n, std::uint64_t& state) {
  for (int i = n - 1; i > 0; --i) std::swap(items[i], items[next_random(state) % unsigned(i + 1)]);
}

const char* name_of(WarpOp op) {
  static constexpr const char* names[] = {
      "__syncwarp",        "__shfl_sync",       "__shfl_up_sync",    "__shfl_down_sync",  "__shfl_xor_sync",
      "__all_sync",        "__any_sync",        "__uni_sync",        "__ballot_sync",     "__match_any_sync",
      "__match_all_sync",  "__reduce_add_sync", "__reduce_min_sync", "__reduce_max_sync", "__reduce_min_sync",
      "__reduce_max_sync", "__reduce_and_sync", "__reduce_or_sync",  "__reduce_xor_sync", "__activemask"};
  return names[int(op)];
}

std::string hex(unsigned value) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", value);
  return text;
}

std::string coordinates(uint3 p) {
  return "(" + std::to_string(p.x) + "," + std::to_string(p.y) + "," + std::to_string(p.z) + ")";
}

std::string place(Site site) { return std::string(site.file) + ":" + std::to_string(site.line); }

/// Calls `visit(lane)` for each lane of a mask, lowest first.
template <class Visit>
void for_each_lane(unsigned mask, Visit visit) {
  for (; mask != 0; mask &= mask - 1) visit(std::countr_zero(mask));
}

}  // namespace

// --- stacks ---

Stacks::Stacks() {
  void* memory =
      mmap(nullptr, spacing * max_threads, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  base_ = static_cast<char*>(memory);
  for (int i = 0; i < max_threads; ++i) mprotect(base_ + spacing * i, page, PROT_NONE);
}

Stacks::~Stacks() { munmap(base_, spacing * max_threads); }

bool Stacks::guards(const void* address) const {
  const std::ptrdiff_t offset = static_cast<const char*>(address) - base_;
  return offset >= 0 && std::size_t(offset) < spacing * max_threads && std::size_t(offset) % spacing < page;
}

const void* Stacks::above_guard(const void* address) const {
  return base_ + (static_cast<const char*>(address) - base_) / std::ptrdiff_t(spacing) * std::ptrdiff_t(spacing) + page;
}

// --- a block from start to end ---

// The threads past the last are never run; they let a prefetch look ahead.
Worker::Worker() : threads_(max_threads + prefetch_distance), waiting_(max_threads), warps_(max_warps) {
  catch_faults();
}

Worker& Worker::current() {
  if (of_this_thread.own == nullptr) {
    // Owned through a key, not by a thread-local object: its pointer would lie where kernels can reach.
    static const pthread_key_t key = [] {
      pthread_key_t made;
      pthread_key_create(&made, [](void* own) { delete static_cast<Worker*>(own); });
      return made;
    }();
    of_this_thread.own = new Worker;
    pthread_setspecific(key, of_this_thread.own);
  }
  return *of_this_thread.own;
}

Worker* Worker::running() { return of_this_thread.running; }

/// Decides, once a launch, in which order the threads of every block run: warps and lanes shuffled by the seed, so
/// that a kernel cannot lean on an order that a GPU does not promise. Seed 0 keeps CUDA's numbering.
void Worker::prepare(const Launch& launch) {
  const dim3 shape = launch.config.block;
  warp_count_ = (launch.threads + lanes_per_warp - 1) / lanes_per_warp;
  std::uint64_t random = launch.order_seed;
  std::uint8_t warp_order[max_warps];
  for (int w = 0; w < warp_count_; ++w) warp_order[w] = std::uint8_t(w);
  // A short last warp stays last: positions are packed without holes.
  const int full_warps = launch.threads / lanes_per_warp;
  if (launch.order_seed != 0) shuffle(warp_order, full_warps, random);
  for (int w = 0; w < warp_count_; ++w) {
    Warp& warp = warps_[w];
    const int first = warp_order[w] * lanes_per_warp;
    const int lanes = std::min(lanes_per_warp, launch.threads - first);
    std::uint8_t lane_order[lanes_per_warp];
    for (int lane = 0; lane < lanes; ++lane) lane_order[lane] = std::uint8_t(lane);
    if (launch.order_seed != 0) shuffle(lane_order, lanes, random);
    warp.existing = lanes == lanes_per_warp ? ~0u : (1u << lanes) - 1;
    for (int position = 0; position < lanes; ++position) {
      Thread& thread = thread_at(w, position);
      const unsigned linear = unsigned(first + lane_order[position]);
      thread.lane = lane_order[position];
      thread.index = {linear % shape.x, linear / shape.x % shape.y, linear / (shape.x * shape.y)};
      warp.position[thread.lane] = std::uint8_t(position);
    }
  }
  const std::size_t dynamic_shared = launch.config.dynamic_shared SIMT_OBSERVE(+check::past_dynamic_shared);
  if (dynamic_shared_.size() < dynamic_shared) dynamic_shared_.resize(dynamic_shared);
}

bool Worker::run_block(const Launch& launch, std::uint64_t block) {
  set_scheduling(true);
  ++blocks_;
  if (prepared_ != launch.number) {
    prepare(launch);
    prepared_ = launch.number;
  }
  launch_ = &launch;
  gridDim = launch.config.grid;
  blockDim = launch.config.block;
  blockIdx = {unsigned(block % gridDim.x), unsigned(block / gridDim.x % gridDim.y),
              unsigned(block / gridDim.x / gridDim.y)};
  for (int w = 0; w < warp_count_; ++w) {
    Warp& warp = warps_[w];
    warp.runnable = warp.unstarted = warp.alive = warp.existing;  // positions are packed, so the bits are the same
    warp.yielded = 0;
    warp.exited = 0;
    warp.group_count = 0;
  }
  ++barrier_;  // no thread waits at it yet
  sweep_ = false;
  links_valid_ = false;
  // Shared memory holds anything at first; a pattern shows a read of what nothing wrote.
  std::memset(dynamic_shared_.data(), 0xcd, launch.config.dynamic_shared);
  free_stacks_.resize(max_threads);
  for (int i = 0; i < max_threads; ++i) free_stacks_[i] = max_threads - 1 - i;
  alive_ = launch.threads;
  in_barrier_ = barrier_true_ = 0;
  warp_ = 0;
  abandoned_ = false;
  of_this_thread.running = this;
  SIMT_OBSERVE(check::begin_block(launch, block, dynamic_shared_.data());)
  switch_to(&outside_, fresh_stack());
  SIMT_OBSERVE(check::end_block();)
  of_this_thread.running = nullptr;
  if (!abandoned_) check_past_shared();
  return !abandoned_;
}

Context Worker::fresh_stack() {
  stack_ = free_stacks_.back();
  free_stacks_.pop_back();
  return fresh_context(stacks_.top(stack_), Stacks::usable);
}

void Worker::abandon() {
  set_scheduling(true);
  abandoned_ = true;
  Context lost;  // nothing goes on from here: the next block starts on stacks made afresh
  switch_to(&lost, outside_);
  __builtin_unreachable();
}

void Worker::check_past_shared() {
  SIMT_OBSERVE(return;)  // every access has been looked at
  if (past_shared[0] == 0 && std::memcmp(past_shared, past_shared + 1, sizeof past_shared - 1) == 0) return;
  std::memset(past_shared, 0, sizeof past_shared);
  report("out-of-bounds",
         std::string("kernel ") + launch_->kernel.name + ", block " + coordinates(blockIdx) +
             ": a thread wrote past the end of a __shared__ array",
         launch_->kernel.site, cudaErrorIllegalAddress);
  abandoned_ = true;
}

void stack_entry() { of_this_thread.running->run_threads(); }

/// Threads that never wait run here one after another, as in a plain loop. A thread that waits keeps this stack; the
/// scheduler then goes on here, in another call, on another stack.
void Worker::run_threads() {
  const Kernel kernel = launch_->kernel;
  const int stack = stack_;
  while (pick()) {
    Warp& warp = warps_[warp_];
    const std::uint32_t bit = 1u << position_;
    if (warp.unstarted & bit) {
      warp.unstarted &= ~bit;
      threadIdx = current_->index;
      set_scheduling(false);
      kernel.call(kernel.arguments);
      set_scheduling(true);
      finish();
    } else {
      free_stacks_.push_back(stack);  // this stack is empty: leave it for good
      Context left;
      threadIdx = current_->index;
      switch_to(&left, current_->context);
    }
  }
  Context ended;
  switch_to(&ended, outside_);
}

[[gnu::always_inline]] inline bool Worker::pick() {
  Warp* warp = &warps_[warp_];
  if (warp->runnable == 0) {
    if (!find_runnable_warp()) return false;
    warp = &warps_[warp_];
  }
  position_ = std::countr_zero(warp->runnable);
  warp->runnable &= warp->runnable - 1;
  current_ = &thread_at(warp_, position_);
  return true;
}

[[gnu::noinline]] bool Worker::find_runnable_warp() {
  for (;;) {
    for (int tried = 0; tried < warp_count_; ++tried) {
      if (++warp_ >= warp_count_) warp_ = 0;
      if (warps_[warp_].runnable != 0) return true;
    }
    if (alive_ == 0) return false;
    wake_or_fail();
  }
}

void Worker::finish() {
  if (sweep_) leave_sweep();
  links_valid_ = false;
  Warp& warp = warps_[warp_];
  warp.alive &= ~(1u << position_);
  const unsigned lane_bit = 1u << current_->lane;
  warp.exited |= lane_bit;
  --alive_;
  if (warp.group_count != 0) [[unlikely]]
    check_exit(warp, lane_bit);
}

/// A lane that exits while others wait for it leaves them waiting forever.
void Worker::check_exit(const Warp& warp, unsigned lane_bit) {
  for (int g = 0; g < warp.group_count; ++g) {
    const Rendezvous& group = warp.groups[g];
    if ((group.mask & lane_bit) == 0) continue;
    fail("invalid-warp-mask",
         "lane " + std::to_string(current_->lane) + " has exited, but other lanes wait for it at " + name_of(group.op) +
             " with mask " + hex(group.mask),
         group.site, cudaErrorLaunchFailure);
  }
}

/// The running thread keeps its stack and waits; the next one that can run goes on where it is, or starts.
/// Call it with scheduling_ set; it is unset when the thread goes on.
void Worker::wait() {
  Thread* const self = current_;
  pick();  // never ends the block: this thread is alive
  if (current_ == self) {
    set_scheduling(false);
    return;
  }
  if (warps_[warp_].unstarted & (1u << position_)) {
    // Starting it needs a stack; the scheduler's loop there picks it again.
    warps_[warp_].runnable |= 1u << position_;
    switch_to(&self->context, fresh_stack());
  } else {
    threadIdx = current_->index;
    switch_to(&self->context, current_->context);
  }
  set_scheduling(false);
}

void Worker::make_runnable(Warp& warp, unsigned lanes) {
  for_each_lane(lanes, [&](int lane) { warp.runnable |= 1u << warp.position[lane]; });
}

/// Nothing can run, yet threads are alive: a complete barrier opens; lanes at __activemask() are as many as will come;
/// threads that yielded go on. Else all wait for something that cannot happen any more.
void Worker::wake_or_fail() {
  if (in_barrier_ == alive_) {
    barrier_result_ = barrier_true_;
    in_barrier_ = barrier_true_ = 0;
    ++barrier_;
    SIMT_OBSERVE(check::barrier_opened(barrier_site_, alive_);)
    enter_sweep();
    return;
  }
  if (release_active_masks()) return;
  bool any = false;
  for (int w = 0; w < warp_count_; ++w) {
    any |= warps_[w].yielded != 0;
    warps_[w].runnable |= warps_[w].yielded;
    warps_[w].yielded = 0;
  }
  if (!any) report_deadlock();
  if (launch_failed()) abandon();  // what they wait for may never come
#ifndef SIMT_CHECK                 // there it is the only one, and on a busy machine who yields waits long
  sched_yield();                   // another worker may have to run first
#endif
}

void Worker::yield() {
  set_scheduling(true);
  if (sweep_) leave_sweep();
  warps_[warp_].yielded |= 1u << position_;
  waiting(current_).site = {};
  wait();
}

// --- the block's barrier ---

// Most kernels go from barrier to barrier, every thread once between two. Such a sweep needs no bookkeeping but a
// pointer to the thread whose turn it is: those before it wait, those after it can run. Anything else a thread does
// (a warp primitive, a yield, an exit) first leaves the sweep, which writes down for each thread what that implies.

void Worker::enter_sweep() {
  if (!links_valid_) {
    Thread* last = nullptr;
    for (int w = 0; w < warp_count_; ++w) {
      for_each_lane(warps_[w].alive, [&](int position) {
        Thread* const thread = &thread_at(w, position);
        (last == nullptr ? first_ : last->next) = thread;
        last = thread;
      });
    }
    last->next = first_;
    links_valid_ = true;
  }
  for (int w = 0; w < warp_count_; ++w) warps_[w].runnable = 0;
  const int first = int(first_ - threads_.data());
  warp_ = first / lanes_per_warp;
  warps_[warp_].runnable = 1u << first % lanes_per_warp;
  barrier_site_ = {};
  sweep_ = true;
}

void Worker::leave_sweep() {
  sweep_ = false;
  const int current = int(current_ - threads_.data());
  warp_ = current / lanes_per_warp;
  position_ = current % lanes_per_warp;
  in_barrier_ = 0;
  for (Thread* thread = first_; thread != current_; thread = thread->next) {
    waiting(thread) = {barrier_, barrier_site_};
    ++in_barrier_;
  }
  for (Thread* thread = current_->next; thread != first_; thread = thread->next) {
    const int index = int(thread - threads_.data());
    warps_[index / lanes_per_warp].runnable |= 1u << index % lanes_per_warp;
  }
}

/// __syncthreads(): within a sweep, on to the next thread.
inline void Worker::sync(Site site) {
  if (!sweep_) [[unlikely]] {
    barrier(false, site);
    return;
  }
  if (site != barrier_site_) [[unlikely]] {
    if (barrier_site_.line != 0) fail_divergent(site);
    barrier_site_ = site;
  }
  Thread* const self = current_;
  Thread* const next = self->next;
  if (next == first_) [[unlikely]] {  // the last one opens the barrier
    ++barrier_;
    SIMT_OBSERVE(check::barrier_opened(site, alive_);)
    barrier_site_ = {};
  }
  current_ = next;
  threadIdx = next->index;
  // Few stacks fit the nearest cache: fetch the one that soon comes up, the saved registers and the caller's frame.
  const char* const soon = static_cast<const char*>(self[prefetch_distance].context);
  __builtin_prefetch(soon);
  __builtin_prefetch(soon + 64);
  if (next != self) switch_to(&self->context, next->context);
}

int Worker::barrier(bool predicate, Site site) {
  set_scheduling(true);
  if (sweep_) leave_sweep();
  if (in_barrier_ == 0) {
    barrier_site_ = site;
  } else if (site != barrier_site_) {
    fail_divergent(site);
  }
  ++in_barrier_;
  barrier_true_ += predicate;
  waiting(current_) = {barrier_, site};
  wait();
  return barrier_result_;
}

void Worker::fail_divergent(Site site) {
  if (sweep_) leave_sweep();
  fail("divergent-barrier",
       "__syncthreads() reached here, while thread " + coordinates(thread_in_barrier()->index) +
           " waits at the one in " + place(barrier_site_),
       site, cudaErrorLaunchFailure);
}

// --- lanes that meet ---

[[gnu::always_inline]] inline std::uint64_t Worker::collective(WarpOp op, unsigned mask, std::uint64_t value,
                                                               int argument, int width, Site site) {
  set_scheduling(true);
  if (sweep_) leave_sweep();
  Warp& warp = warps_[warp_];
  const int lane = current_->lane;
  const unsigned lane_bit = 1u << lane;
  if (op == WarpOp::active_mask) return active_mask(warp, lane_bit, site);
  if ((mask & lane_bit) == 0 || (mask & warp.exited) != 0) [[unlikely]]
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
  warp.value[lane] = value;
  warp.argument[lane] = argument;
  group->arrived |= lane_bit;
  if (group->arrived == (mask & warp.existing)) {
    complete(warp, *group);
    const unsigned others = group->arrived & ~lane_bit;
    *group = warp.groups[--warp.group_count];
    make_runnable(warp, others);
    set_scheduling(false);
  } else {
    waiting(current_).site = site;
    wait();
  }
  return warp.result[lane];
}

void Worker::fail_mask(WarpOp op, unsigned mask, Site site) {
  const unsigned exited = mask & warps_[warp_].exited;
  fail("invalid-warp-mask",
       name_of(op) + (exited == 0 ? ": lane " + std::to_string(current_->lane) + " is not in its own mask " + hex(mask)
                                  : ": mask " + hex(mask) + " names lanes " + hex(exited) + " that have exited"),
       site, cudaErrorLaunchFailure);
}

void Worker::fail_mixed(WarpOp op, const Rendezvous& group, Site site) {
  fail("invalid-warp-mask",
       std::string(name_of(op)) + " reached by lane " + std::to_string(current_->lane) + ", while lanes " +
           hex(group.arrived) + " of the same mask wait at " + name_of(group.op) + " in " + place(group.site),
       site, cudaErrorLaunchFailure);
}

/// All lanes have arrived: computes every lane's result in one pass, so that none depends on who runs on first.
[[gnu::noinline]] void Worker::complete(Warp& warp, Rendezvous& group) {
  const unsigned lanes = group.arrived;
  const auto all_lanes = [&](auto value_of) {
    for_each_lane(lanes, [&](int lane) { warp.result[lane] = value_of(lane); });
  };
  const auto reduce = [&](auto combine) {
    std::uint32_t total = std::uint32_t(warp.value[std::countr_zero(lanes)]);
    for_each_lane(lanes & (lanes - 1), [&](int lane) { total = combine(total, std::uint32_t(warp.value[lane])); });
    all_lanes([&](int) { return total; });
  };
  const auto lanes_where = [&](auto holds) {
    unsigned found = 0;
    for_each_lane(lanes, [&](int lane) { found |= unsigned(holds(lane)) << lane; });
    return found;
  };
  const int width = group.width;
  // Reading a lane that does not take part gives no promised value: a pattern makes the mistake visible.
  constexpr std::uint64_t undefined = 0xdeadbeefdeadbeefu;
  const auto value_from = [&](int source) { return (lanes >> source & 1) ? warp.value[source] : undefined; };
  switch (group.op) {
    case WarpOp::sync:
      SIMT_OBSERVE(check::lanes_synchronized(
                       (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) / lanes_per_warp, lanes);)
      return;
    case WarpOp::shuffle:
      return all_lanes(
          [&](int lane) { return value_from((lane & ~(width - 1)) | (warp.argument[lane] & (width - 1))); });
    case WarpOp::shuffle_up:
      return all_lanes([&](int lane) {
        const unsigned delta = unsigned(warp.argument[lane]), in_segment = unsigned(lane & (width - 1));
        return delta > in_segment ? warp.value[lane] : value_from(lane - int(delta));
      });
    case WarpOp::shuffle_down:
      return all_lanes([&](int lane) {
        const unsigned delta = unsigned(warp.argument[lane]), in_segment = unsigned(lane & (width - 1));
        return delta >= unsigned(width) - in_segment ? warp.value[lane] : value_from(lane + int(delta));
      });
    case WarpOp::shuffle_xor:
      return all_lanes([&](int lane) {
        const int source = lane ^ warp.argument[lane];
        // CUDA: a source in a later segment than one's own gives one's own value.
        return source < 0 || source > (lane | (width - 1)) ? warp.value[lane] : value_from(source);
      });
    case WarpOp::all:
    case WarpOp::any:
    case WarpOp::uniform:
    case WarpOp::ballot: {
      const unsigned yes = lanes_where([&](int lane) { return warp.value[lane] != 0; });
      const std::uint64_t result = group.op == WarpOp::all       ? yes == lanes
                                   : group.op == WarpOp::any     ? yes != 0
                                   : group.op == WarpOp::uniform ? yes == 0 || yes == lanes
                                                                 : yes;
      return all_lanes([&](int) { return result; });
    }
    case WarpOp::match_any:
      return all_lanes(
          [&](int lane) { return lanes_where([&](int other) { return warp.value[other] == warp.value[lane]; }); });
    case WarpOp::match_all: {
      const std::uint64_t first = warp.value[std::countr_zero(lanes)];
      const bool equal = lanes_where([&](int lane) { return warp.value[lane] == first; }) == lanes;
      return all_lanes([&](int) { return equal ? group.mask : 0u; });
    }
    case WarpOp::reduce_add:
      return reduce([](std::uint32_t a, std::uint32_t b) { return a + b; });
    case WarpOp::reduce_min:
      return reduce([](std::uint32_t a, std::uint32_t b) { return std::min(a, b); });
    case WarpOp::reduce_max:
      return reduce([](std::uint32_t a, std::uint32_t b) { return std::max(a, b); });
    case WarpOp::reduce_min_signed:
      return reduce([](std::uint32_t a, std::uint32_t b) { return std::uint32_t(std::min(int(a), int(b))); });
    case WarpOp::reduce_max_signed:
      return reduce([](std::uint32_t a, std::uint32_t b) { return std::uint32_t(std::max(int(a), int(b))); });
    case WarpOp::reduce_and:
      return reduce([](std::uint32_t a, std::uint32_t b) { return a & b; });
    case WarpOp::reduce_or:
      return reduce([](std::uint32_t a, std::uint32_t b) { return a | b; });
    case WarpOp::reduce_xor:
      return reduce([](std::uint32_t a, std::uint32_t b) { return a ^ b; });
    case WarpOp::active_mask:
      return;  // has its own way: active_mask()
  }
}

/// Which lanes are active is whichever reach the same call before all else in the block must wait.
std::uint64_t Worker::active_mask(Warp& warp, unsigned lane_bit, Site site) {
  Rendezvous* group = warp.groups;
  Rendezvous* const end = warp.groups + warp.group_count;
  while (group != end && !(group->op == WarpOp::active_mask && group->site == site)) ++group;
  if (group == end) {
    *group = {0, 0, WarpOp::active_mask, lanes_per_warp, site};
    ++warp.group_count;
  }
  group->arrived |= lane_bit;
  waiting(current_).site = site;
  const int lane = current_->lane;
  wait();
  return warp.result[lane];
}

bool Worker::release_active_masks() {
  for (int w = 0; w < warp_count_; ++w) {
    Warp& warp = warps_[w];
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

// --- what goes wrong ---

std::string Worker::describe(const Thread& thread) {
  const Waiting& where = waiting(&thread);
  return "thread " + coordinates(thread.index) + " waits at " +
         (where.barrier == barrier_ ? "__syncthreads()" : "a warp primitive") + " in " + place(where.site);
}

const Thread* Worker::thread_in_barrier() {
  for (int t = 0; t < launch_->threads; ++t) {
    if (waiting_[t].barrier == barrier_) return &threads_[t];
  }
  return nullptr;
}

std::string Worker::here() const {
  return std::string("kernel ") + launch_->kernel.name + ", block " + coordinates(blockIdx) + ", thread " +
         coordinates(current_->index);
}

void Worker::report_deadlock() {
  // Lanes that wait for lanes which wait elsewhere name the mistake best.
  for (int w = 0; w < warp_count_; ++w) {
    Warp& warp = warps_[w];
    if (warp.group_count == 0) continue;
    const Rendezvous& group = warp.groups[0];
    const unsigned missing = group.mask & warp.existing & ~group.arrived;
    current_ = &thread_at(w, warp.position[std::countr_zero(group.arrived)]);
    fail("deadlock",
         std::string(name_of(group.op)) + " with mask " + hex(group.mask) + " waits for lanes " + hex(missing) + "; " +
             describe(thread_at(w, warp.position[std::countr_zero(missing)])),
         group.site, cudaErrorLaunchFailure);
  }
  const Thread* const first = thread_in_barrier();
  fail("deadlock", first != nullptr ? describe(*first) : std::string("no thread can run"),
       first != nullptr ? waiting(first).site : launch_->kernel.site, cudaErrorLaunchFailure);
}

void Worker::preempt([[maybe_unused]] Site site) {
  if (scheduling_) return;
  // A checked program yields at its volatile reads, and is interrupted only to end it.
  SIMT_OBSERVE(check::out_of_time = check::Time::told; const auto [kind, text] = check::time_is_up();
               fail(kind, text, site, cudaErrorLaunchTimeout);)
  yield();
}

void Worker::fail(const char* kind, const std::string& text, Site site, cudaError_t error) {
  set_scheduling(true);  // an interruption now would abandon the block before the failure is told
  report(kind, here() + ": " + text, site, error);
  abandon();
}

extern "C" const char __start_simt_uninterrupted[], __stop_simt_uninterrupted[];

bool is_uninterrupted(const void* code) {
  return code >= __start_simt_uninterrupted && code < __stop_simt_uninterrupted;
}

// --- what device code calls ---

namespace {

[[noreturn, gnu::cold, gnu::noinline]] void outside_kernel(const char* what, Site site) {
  std::fprintf(stderr, "%s:%d: error: %s called outside a kernel\n", site.file, site.line, what);
  std::abort();
}

[[gnu::always_inline]] inline Worker& running_worker(const char* what, Site site) {
  Worker* const worker = of_this_thread.running;
  if (worker == nullptr) [[unlikely]]
    outside_kernel(what, site);
  return *worker;
}

}  // namespace

SIMT_UNINTERRUPTED void block_sync(Site site) { running_worker("__syncthreads()", site).sync(site); }

int block_barrier(bool predicate, Site site) {
  return running_worker("__syncthreads()", site).barrier(predicate, site);
}

std::uint64_t warp_collective(WarpOp op, unsigned mask, std::uint64_t value, int argument, int width, Site site) {
  return running_worker("a warp primitive", site).collective(op, mask, value, argument, width, site);
}

void yield() {
  if (Worker* const worker = of_this_thread.running) worker->yield();
}

void atomic_yield() {
  if (Worker* const worker = of_this_thread.running) worker->atomic_yield();
}

void trap(const char* what, Site site) { running_worker(what, site).fail("trap", what, site, cudaErrorLaunchFailure); }

void* dynamic_shared() { return running_worker("dynamic shared memory", {}).dynamic_shared(); }

}  // namespace simt

#include "os_threads.h"

#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <utility>

#include "../environment.h"
#include "../memory/globals.h"
#include "grid.h"
#include "shuffle.h"
#include "simt/host_watch.h"

namespace simt {

namespace {

// Waking a helper takes about as long as running a block of 256 threads that do little. So a launch wakes one at its
// beginning for each threads_per_helper of its threads, and more of them once it has taken longer than short_launch.
constexpr std::uint64_t threads_per_helper = 4096;
constexpr std::chrono::microseconds short_launch{50};

std::atomic<std::uint64_t*> ended_blocks = nullptr;

void count_block() {
  if (std::uint64_t* const counter = ended_blocks.load(std::memory_order_relaxed)) {
    std::atomic_ref(*counter).fetch_add(1, std::memory_order_relaxed);
  }
}

// The time between two looks of the watchdog during a launch. A worker that has run for half of this time may be in an
// endless loop, such as one that waits for what another thread will store. The threads that run next often wait for the
// same store, so after the first interruption the time drops to shortest_wait. If further looks keep finding such
// threads, these are probably long computations, and the time grows by 1/512 with each look.
constexpr std::chrono::microseconds longest_wait{1000}, shortest_wait{40};

#ifndef SIMT_CHECK
/// Processor time that the thread has used, in nanoseconds.
std::int64_t time_run(pthread_t thread) {
  clockid_t clock;
  timespec used{};
  if (pthread_getcpuclockid(thread, &clock) == 0) clock_gettime(clock, &used);
  return used.tv_sec * std::int64_t(1'000'000'000) + used.tv_nsec;
}
#endif

}  // namespace

void count_blocks_in(std::uint64_t* counter) { ended_blocks = counter; }

bool is_judged() { return ended_blocks != nullptr; }

OsThreads& OsThreads::instance() {
  static OsThreads* const threads = new OsThreads;  // never destroyed: a static's destructor may launch a kernel
  return *threads;
}

OsThreads::OsThreads() {
  std::thread([this] { watch(); }).detach();
  unsigned threads = unsigned(number_from_environment("SIMT_THREADS", std::thread::hardware_concurrency()));
  if (reverse_blocks()) threads = std::min(threads, 2u);
  SIMT_OBSERVE(threads = 1;)
  for (; threads > 1; --threads) helpers_.emplace_back([this] { help(); }).detach();
}

void OsThreads::run(const Launch& launch) {
  const std::lock_guard one_launch(launches_);
  launch_ = &launch;
  launch_state.begin();
  arrange_blocks();
  SIMT_OBSERVE(check::begin_launch(launch);)
  const bool share = launch.blocks > 1 && !helpers_.empty();
  {
    const std::lock_guard lock(mutex_);
    next_block_ = 0;
    blocks_ = launch.blocks;
    is_open_ = share;
    ++generation_;
    began_ = std::chrono::steady_clock::now();
  }
  if (share) {
    const std::uint64_t wanted = std::min(launch.blocks - 1, launch.blocks * launch.threads / threads_per_helper);
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(wanted, helpers_.size()); ++i) start_.notify_one();
  }
  run_blocks();
  if (share) {
    // A helper that has not started by now is not waited for: on a busy machine that may take longer than all blocks.
    std::unique_lock lock(mutex_);
    is_open_ = false;
    done_.wait(lock, [&] { return busy_ == 0; });
  }
  SIMT_OBSERVE(check::end_launch(launch);)
}

void OsThreads::forget(const Worker& worker) {
  const std::lock_guard lock(mutex_);
  std::erase_if(watched_, [&](const Watched& watched) { return watched.worker == &worker; });
}

void OsThreads::run_blocks() {
  Worker& worker = Worker::current();
  if (!worker.watched) {
    const std::lock_guard lock(mutex_);
    watched_.push_back({pthread_self(), &worker, 0, 0});
    worker.watched = true;
  }
  launch_state.worker_begins();
  while (const std::optional<Left> left = run_next(worker)) {
    if (*left == Left::ended) count_block();
    if (*left == Left::failed) break;
    if (!helpers_.empty() && has_blocks_left() && std::chrono::steady_clock::now() - began_ > short_launch)
      start_.notify_one();
  }
  if (launch_->are_resident) worker.drop_waiting_blocks();
  if (launch_->config.is_cooperative && launch_state.failed()) Grid::running().stop_waiting();
  SIMT_OBSERVE(check::end_search();)
  if (is_host_watched()) worker.clear_dynamic_shared();
  launch_state.worker_ends();
}

/// Runs the next block that can run, until it ends or waits. Empty: there is none.
std::optional<Left> OsThreads::run_next(Worker& worker) {
  for (;;) {
    if (launch_state.failed()) return {};
    const std::uint64_t opened = launch_->config.is_cooperative ? Grid::running().times_opened() : 0;
    if (worker.has_waiting_blocks()) {
      if (const auto left = worker.continue_after_barrier()) return left;
    }
    // Without stacks for one more block, those that wait take turns.
    const bool has_room = !worker.has_waiting_blocks() || worker.has_room(*launch_);
    if (const std::uint64_t block = has_room ? next_block_.fetch_add(1) : launch_->blocks; block < launch_->blocks) {
      const Left left = worker.run_block(*launch_, number_of(block));
      SIMT_OBSERVE(if (check::continues_search(*launch_, number_of(block))) continue;)
      return left;
    }
    if (!worker.has_waiting_blocks()) return {};
    if (const auto left = worker.continue_loop()) return left;
    Grid::running().wait(opened);
  }
}

std::uint64_t OsThreads::number_of(std::uint64_t block) const {
  if (!order_.empty()) return order_[block];
  return reverse_blocks() ? launch_->blocks - 1 - block : block;
}

/// The order in which the blocks of a cooperative launch begin is as undefined as that of lanes. So is that of any other
/// launch, but only schedules change it.
void OsThreads::arrange_blocks() {
  order_.clear();
  if (launch_->config.is_cooperative) Grid::running().begin(launch_->blocks);
  if (!launch_->config.is_cooperative SIMT_OBSERVE(&&!check::Schedule::shuffles(*launch_))) return;
  if (launch_->order_seed == 0 || reverse_blocks()) return;
  order_.resize(launch_->blocks);
  std::iota(order_.begin(), order_.end(), 0);
  std::uint64_t random = launch_->order_seed SIMT_OBSERVE(+check::Schedule::number());
  shuffle(order_, order_.size(), random);
}

bool OsThreads::has_blocks_left() const { return next_block_ < blocks_; }

/// The main loop of a helper thread.
void OsThreads::help() {
  for (std::uint64_t seen = 0;;) {
    std::unique_lock lock(mutex_);
    start_.wait(lock, [&] { return is_open_ && generation_ != seen; });
    seen = generation_;
    ++busy_;
    lock.unlock();
    run_blocks();
    lock.lock();
    if (--busy_ == 0) done_.notify_one();
  }
}

/// The watchdog: interrupts workers that have run, but not switched threads, since its last look (see Worker::preempt).
/// A worker that a debugger has stopped does not run.
void OsThreads::watch() {
  std::chrono::nanoseconds wait = longest_wait;
  for (bool has_interrupted = false;; has_interrupted = false) {
    std::this_thread::sleep_for(launch_state.active() ? wait : 20 * longest_wait);
    SIMT_OBSERVE(end_between_launches();)
    if (!launch_state.active()) continue;
    if (has_blocks_left()) start_.notify_all();  // blocks that take long, or wait for one that has not begun
    const std::lock_guard lock(mutex_);
#ifndef SIMT_CHECK
    look_at_time();
#endif
    for (Watched& watched : watched_) {
      if (!needs_interruption(watched, wait.count() / 2)) continue;
      pthread_kill(watched.thread, interrupt_signal);
      has_interrupted = true;
    }
    if (!has_interrupted) {
      wait = longest_wait;
    } else {
      wait = wait == longest_wait ? shortest_wait : std::min<std::chrono::nanoseconds>(wait + wait / 512, longest_wait);
    }
  }
}

#ifdef SIMT_CHECK
/// The program has been asked to end. While a launch runs, that ends first.
void OsThreads::end_between_launches() {
  if (!check::is_asked_to_end()) return;
  const std::unique_lock no_launch(launches_, std::try_to_lock);
  if (no_launch) check::end_by_signal();
}
#endif

#ifndef SIMT_CHECK
void OsThreads::look_at_time() {
  static std::uint64_t noted = 0;
  static const std::chrono::seconds limit(number_from_environment("SIMT_SECONDS", 30));
  if (noted == generation_ || std::chrono::steady_clock::now() - began_ < limit) return;
  noted = generation_;
  interruption.is_note_due = host_may_intervene || managed_bytes() != 0;
}
#endif

bool OsThreads::needs_interruption(Watched& watched, [[maybe_unused]] std::int64_t least_run) {
#ifdef SIMT_CHECK
  return check::must_interrupt(watched.thread) && !interruption.in_progress;
#else
  const std::uint64_t last_turn = std::exchange(watched.turn, watched.worker->turn());
  const std::int64_t last_run = std::exchange(watched.run, time_run(watched.thread));
  if (interruption.is_ending()) return !interruption.in_progress;
  if (interruption.is_note_due) return true;
  return watched.turn == last_turn && watched.run - last_run >= least_run;
#endif
}

}  // namespace simt

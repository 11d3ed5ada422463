#include "os_threads.h"

#include <algorithm>
#include <atomic>
#include <chrono>

#include "../environment.h"

namespace simt {

namespace {

std::atomic<std::uint64_t*> ended_blocks = nullptr;

void count_block() {
  if (std::uint64_t* const counter = ended_blocks.load(std::memory_order_relaxed)) {
    std::atomic_ref(*counter).fetch_add(1, std::memory_order_relaxed);
  }
}

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
  next_block_ = 0;
  launch_state.begin();
  SIMT_OBSERVE(check::begin_launch(launch);)
  const bool share = launch.blocks > 1 && !helpers_.empty();
  if (share) {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    ++generation_;
    start_.notify_all();
  }
  run_blocks();
  if (share) {
    // A helper that has not started by now is not waited for: on a busy machine that may take longer than all blocks.
    std::unique_lock lock(mutex_);
    is_open_ = false;
    done_.wait(lock, [&] { return busy_ == 0; });
  }
  SIMT_OBSERVE(check::end_launch();)
}

void OsThreads::run_blocks() {
  Worker& worker = Worker::current();
  if (!worker.watched) {
    const std::lock_guard lock(mutex_);
    watched_.push_back({pthread_self(), &worker, 0});
    worker.watched = true;
  }
  launch_state.worker_begins();
  for (;;) {
    const std::uint64_t block = next_block_.fetch_add(1);
    if (block >= launch_->blocks || launch_state.failed()) break;
    if (!worker.run_block(*launch_, reverse_blocks() ? launch_->blocks - 1 - block : block)) break;
    count_block();
  }
  launch_state.worker_ends();
}

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

/// The watchdog: interrupts workers that have not switched threads since its last look (see Worker::preempt).
void OsThreads::watch() {
  for (;;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(launch_state.active() ? 1 : 20));
    SIMT_OBSERVE(end_between_launches();)
    if (!launch_state.active()) continue;
    const std::lock_guard lock(mutex_);
    for (Watched& watched : watched_) {
      if (needs_interruption(watched)) pthread_kill(watched.thread, interrupt_signal);
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

bool OsThreads::needs_interruption(Watched& watched) {
#ifdef SIMT_CHECK
  return check::must_interrupt(watched.thread) && !interruption.in_progress;
#else
  const std::uint64_t last_turn = watched.turn;
  watched.turn = watched.worker->turn();
  return interruption.is_ending() ? !interruption.in_progress : watched.turn == last_turn;
#endif
}

}  // namespace simt

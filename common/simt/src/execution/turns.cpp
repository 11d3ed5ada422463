// Blocks of one OS thread that take turns. A block leaves its OS thread to others when all of its threads wait at the
// barrier of the grid, or in loops for what other blocks do. Its stacks remain, and no other OS thread continues it.
#include <link.h>
#include <sched.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "grid.h"
#include "shuffle.h"
#include "worker.h"

namespace simt {
namespace {

/// The part of this OS thread's memory that begins with zeros, up to `end`: the __shared__ arrays are there.
struct StaticShared {
  char* begin;
  std::size_t bytes;
};

StaticShared static_shared_before(const void* end) {
  StaticShared found{};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          if (info->dlpi_phdr[i].p_type != PT_TLS) continue;
          static_cast<StaticShared*>(out)->begin =
              static_cast<char*>(info->dlpi_tls_data) + info->dlpi_phdr[i].p_filesz;
        }
        return 1;  // the first is the program itself
      },
      &found);
  if (found.begin != nullptr) found.bytes = std::size_t(static_cast<const char*>(end) - found.begin);
  return found;
}

}  // namespace

// --- in the block ---

void Worker::grid_barrier(Site site) {
  set_scheduling(true);
  if (sweep_) leave_sweep();
  if (!is_cooperative()) fail_grid_barrier(site);
  if (block_.in_grid_barrier == 0) {
    block_.grid_barrier_site = site;
  } else if (site != block_.grid_barrier_site) {
    fail_grid_barrier(site);
  }
  ++block_.in_grid_barrier;
  block_.waiting_of(block_.turn.current) = {Waiting::grid, site};
  wait();
}

/// All threads of the block are at the barrier of the grid.
void Worker::wait_for_grid() {
  const Site site = block_.grid_barrier_site;
  times_opened_ = Grid::running().times_opened();
  SIMT_OBSERVE(check::reached_grid_barrier(site, block_.alive);)
  if (const auto failure = Grid::running().arrive({here(), site})) {
    report(*failure);
    abandon();
  }
  leave_to_others(true);
  block_.open_grid_barrier();
  enter_sweep();
}

void Worker::leave_to_others(bool is_at_grid_barrier) {
  is_at_grid_barrier_ = is_at_grid_barrier;
  left_ = Left::waits;
  switch_to(&place_, outside_);
  was_idle_ = false;
}

// --- outside of it ---

/// What remains of the block that has just left.
WaitingBlock Worker::put_aside() {
  const StaticShared shared = static_shared_before(end_of_shared());
  WaitingBlock block{.state = std::exchange(static_cast<BlockState&>(block_), BlockState{}),
                     .current = block_.turn.current,
                     .context = place_,
                     .warp = warp_,
                     .barrier_true = barrier_true_,
                     .barrier_result = barrier_result_,
                     .dynamic_shared = std::exchange(dynamic_shared_, {}),
                     .static_shared{shared.begin, shared.begin + shared.bytes},
                     .times_opened = times_opened_,
                     .is_at_grid_barrier = is_at_grid_barrier_,
                     SIMT_OBSERVE(.observed = check::put_aside())};
  block_.launch = block.state.launch;
  return block;
}

std::optional<Left> Worker::continue_after_barrier() {
  const std::uint64_t opened = Grid::running().times_opened();
  if (opened != shuffled_) {
    shuffled_ = opened;
    std::uint64_t random = block_.launch->order_seed + opened;
    if (block_.launch->order_seed != 0) shuffle(waiting_blocks_, waiting_blocks_.size(), random);
  }
  const auto block = std::find_if(waiting_blocks_.begin(), waiting_blocks_.end(), [&](const WaitingBlock& one) {
    return one.is_at_grid_barrier && one.times_opened < opened;
  });
  if (block == waiting_blocks_.end()) return {};
  return continue_block(block);
}

std::optional<Left> Worker::continue_loop() {
  const auto block = std::find_if(waiting_blocks_.begin(), waiting_blocks_.end(),
                                  [](const WaitingBlock& one) { return !one.is_at_grid_barrier; });
  if (block == waiting_blocks_.end()) return {};
  SIMT_OBSERVE(return continue_block(block);)
  sched_yield();  // it may wait for a block of another OS thread
  return continue_block(block);
}

Left Worker::continue_block(std::deque<WaitingBlock>::iterator position) {
  WaitingBlock block = std::move(*position);
  waiting_blocks_.erase(position);
  set_scheduling(true);
  static_cast<BlockState&>(block_) = std::move(block.state);
  dynamic_shared_ = std::move(block.dynamic_shared);
  std::memcpy(static_shared_before(end_of_shared()).begin, block.static_shared.data(), block.static_shared.size());
  block_.turn.current = block.current;
  warp_ = block.warp;
  barrier_true_ = block.barrier_true;
  barrier_result_ = block.barrier_result;
  blockIdx = block_.index;
  threadIdx = block.current->index;  // it may be the first to continue, without a switch
  SIMT_OBSERVE(check::continue_block(std::move(block.observed));)
  return enter(block.context);
}

void Worker::count_ended() {
  if (const auto failure = Grid::running().end(coordinates(block_.index))) {
    report(*failure);
    left_ = Left::failed;
  }
}

bool Worker::is_local_or_shared(const void* address) const {
  const StaticShared shared = static_shared_before(end_of_shared());
  const auto is_in = [&](const void* begin, std::size_t bytes) {
    return std::uintptr_t(address) - std::uintptr_t(begin) < bytes;
  };
  return stacks_.contains(address) || is_in(shared.begin, shared.bytes) ||
         is_in(dynamic_shared_.data(), dynamic_shared_.size());
}

void Worker::drop_waiting_blocks() {
  waiting_blocks_.clear();
  shuffled_ = 0;
  stacks_.trim();
}

}  // namespace simt

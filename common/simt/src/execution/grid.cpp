#include "grid.h"

#include "launch_state.h"
#ifdef SIMT_CHECK
#include "../../check/check.h"
#endif

namespace simt {

Grid& Grid::running() {
  static auto* const grid = new Grid;  // never destroyed: a static's destructor may launch a kernel
  return *grid;
}

void Grid::begin(std::uint64_t blocks) {
  blocks_ = blocks;
  arrived_ = ended_ = 0;
  times_opened_ = 0;
}

std::optional<Failure> Grid::arrive(const Arrival& arrival) {
  const std::lock_guard lock(mutex_);
  if (arrived_++ == 0) first_ = arrival;
  if (arrived_ < blocks_) return look_for_missing();
  arrived_ = 0;
  SIMT_OBSERVE(check::grid_barrier_opened();)
  ++times_opened_;
  opened_.notify_all();
  return {};
}

std::optional<Failure> Grid::end(const std::string& block) {
  const std::lock_guard lock(mutex_);
  if (ended_++ == 0) first_ended_ = block;
  return look_for_missing();
}

/// Every block is at the barrier or has ended.
std::optional<Failure> Grid::look_for_missing() const {
  if (arrived_ == 0 || arrived_ + ended_ < blocks_) return {};
  const std::string others = ended_ == 1 ? "" : " (like " + std::to_string(ended_ - 1) + " more)";
  return Failure{"divergent-barrier",
                 first_.thread + ": waits at grid.sync() here, which block " + first_ended_ + others +
                     " never reaches: it has ended; all threads of the grid must reach each grid.sync(): let a block "
                     "without work skip the work, but not the barrier",
                 first_.site, cudaErrorLaunchFailure};
}

void Grid::wait(std::uint64_t times) {
  std::unique_lock lock(mutex_);
  opened_.wait(lock, [&] { return times_opened_ > times || launch_state.failed(); });
}

void Grid::stop_waiting() {
  const std::lock_guard lock(mutex_);
  opened_.notify_all();
}

}  // namespace simt

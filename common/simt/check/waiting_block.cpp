#include "waiting_block.h"

#include <utility>

#include "state.h"

namespace simt::check {
namespace {

/// The memory that the observers take for shared memory of the running block, and what else belongs to that block.
struct Kept : WaitingBlock {
  Kept() = default;
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

  const Launch* launch = nullptr;
  std::uint64_t block = 0, span = 0;
  Site last_barrier;
  char* dynamic_begin = nullptr;
  SharedCells cells;
  OrderInBlock order;
  Exits::OfBlock exits;
  LocalArrays local_arrays;
  double time_run = 0;
};

}  // namespace

std::unique_ptr<WaitingBlock> put_aside() {
  CheckState& all = state();
  auto kept = std::make_unique<Kept>();
  kept->launch = all.running.launch;
  kept->block = all.running.block;
  kept->last_barrier = all.running.last_barrier;
  kept->span = all.requests.leave_block();
  kept->dynamic_begin = all.ownership.dynamic_begin;
  kept->time_run = all.time.leave_block();
  stop_observing();
  kept->cells = all.ownership.take_shared_cells();
  kept->order = all.order.leave_block();
  kept->exits = std::exchange(all.exits.of_block, {});
  kept->local_arrays = std::exchange(all.local_arrays, {});
  return kept;
}

void continue_block(std::unique_ptr<WaitingBlock> block) {
  CheckState& all = state();
  Kept& kept = static_cast<Kept&>(*block);
  all.running.launch = kept.launch;
  all.running.block = kept.block;
  all.running.last_barrier = kept.last_barrier;
  all.watch.mode = all.trace.is_on() ? Mode::observe_and_trace : Mode::observe;
  all.watch.array = nullptr;
  all.ownership.dynamic_begin = kept.dynamic_begin;
  all.ownership.give_shared_cells(kept.cells);
  all.requests.continue_block(kept.span);
  all.order.continue_block(kept.block, std::move(kept.order));
  all.exits.of_block = std::move(kept.exits);
  all.local_arrays = std::move(kept.local_arrays);
  all.time.continue_block(kept.time_run);
  if (all.trace.is_on()) all.trace.block(kept.block);
}

}  // namespace simt::check

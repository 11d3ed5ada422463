#include "block_failures.h"

#include <bit>

#ifdef SIMT_CHECK
#include "../../check/check.h"
#endif

namespace simt {
namespace {

std::string describe(const Block& block, const Thread& thread) {
  const Waiting& waiting = block.waiting_of(&thread);
  const char* const primitive = waiting.barrier == block.barrier   ? "__syncthreads()"
                                : waiting.barrier == Waiting::grid ? "grid.sync()"
                                                                   : "a warp primitive";
  return "thread " + coordinates(thread.index) + " waits at " + primitive + " in " + file_and_line(waiting.site);
}

/// A thread that waits at a barrier or a primitive, as a fact.
FailureFacts facts_on(const Block& block, const Thread& thread) {
  return {.others = {{thread.index, block.waiting_of(&thread).site}}};
}

std::string lane_of(const Block& block) { return "lane " + std::to_string(block.turn.current->lane()); }

#ifdef SIMT_CHECK

unsigned number_of(const uint3& index) { return index.x + blockDim.x * (index.y + blockDim.y * index.z); }

/// The same if a thread has returned from a function before the barrier at which another one is; kind null: none has.
Failure left_before_barrier(const Block& block, Site site) {
  const std::string advice =
      "; let every thread of the block reach each barrier, and put only the work around it into an if";
  const Thread& current = *block.turn.current;
  if (const Site left = check::left_before(number_of(current.index), block.barrier_site); left.line != 0) {
    return {"divergent-barrier",
            "returns here, before the __syncthreads() at " + file_and_line(block.barrier_site) + ", where thread " +
                coordinates(block.thread_in_barrier()->index) + " waits, and reaches the one at " +
                file_and_line(site) + advice,
            left,
            cudaErrorLaunchFailure,
            {.others = {{block.thread_in_barrier()->index, block.barrier_site}, {current.index, site}}}};
  }
  for (int t = 0; t < block.launch->threads; ++t) {
    if (block.waiting[t].barrier != block.barrier) continue;
    const uint3& other = block.threads[t].index;
    if (const Site left = check::left_before(number_of(other), site); left.line != 0) {
      return {"divergent-barrier",
              "reaches the __syncthreads() at " + file_and_line(site) + ", before which thread " + coordinates(other) +
                  " has returned here, and waits at the one at " + file_and_line(block.barrier_site) + advice,
              left,
              cudaErrorLaunchFailure,
              {.others = {{other, block.barrier_site}, {current.index, site}}}};
    }
  }
  return {nullptr, {}, {}, cudaSuccess};
}

#endif

const char* const all_of_grid = "; all threads of the grid must reach the same grid.sync(): ";

/// A thread of the block that has exited.
const Thread& exited_thread(const Block& block) {
  for (int w = 0; w < block.warp_count; ++w) {
    const Warp& warp = block.warps[w];
    if (warp.exited != 0) return block.thread_at(w, warp.position[std::countr_zero(warp.exited)]);
  }
  return *block.turn.current;
}

/// Some threads of the block wait at the barrier of the grid, and others never come.
Deadlock missing_at_grid_barrier(Block& block) {
  const Thread* const waits = block.thread_in_grid_barrier();
  const Thread* const other = block.thread_in_barrier();
  const std::string why = other != nullptr
                              ? ", while " + describe(block, *other) + all_of_grid + "move it out of an if or a loop"
                              : ", which thread " + coordinates(exited_thread(block).index) +
                                    " of the block never reaches: it has exited" + all_of_grid +
                                    "put only the work around it into an if, and not the barrier";
  return {const_cast<Thread*>(waits),
          {"divergent-barrier", "waits at grid.sync() here" + why, block.grid_barrier_site, cudaErrorLaunchFailure,
           other != nullptr ? facts_on(block, *other) : FailureFacts{}}};
}

}  // namespace

Failure divergent_grid_barrier(const Block& block, Site site) {
  if (!block.launch->config.is_cooperative) {
    return {"invalid-launch",
            "calls grid.sync(), but the launch at " + file_and_line(block.launch->kernel.site) +
                " is not cooperative, so that not all blocks may run at once; launch the kernel with "
                "cudaLaunchCooperativeKernel()",
            site, cudaErrorLaunchFailure};
  }
  return {"divergent-barrier",
          "reaches grid.sync() here, while " + describe(block, *block.thread_in_grid_barrier()) + all_of_grid +
              "move it out of an if or a loop that only some of them enter",
          site, cudaErrorLaunchFailure, facts_on(block, *block.thread_in_grid_barrier())};
}

Failure divergent_barrier(const Block& block, Site site) {
#ifdef SIMT_CHECK
  if (Failure failure = left_before_barrier(block, site); failure.kind != nullptr) return failure;
#endif
  return {"divergent-barrier",
          "reaches __syncthreads() here, while thread " + coordinates(block.thread_in_barrier()->index) +
              " waits at the one in " + file_and_line(block.barrier_site) +
              "; all threads of the block must reach the same __syncthreads(): move the one that only some of them "
              "reach out of its if or loop",
          site,
          cudaErrorLaunchFailure,
          {.others = {{block.thread_in_barrier()->index, block.barrier_site}}}};
}

Failure invalid_mask(const Block& block, WarpOp op, unsigned mask, Site site) {
  return {"invalid-warp-mask",
          std::string(name_of(op)) + ": " + lane_of(block) + " is not in its own mask " + hex(mask),
          site,
          cudaErrorLaunchFailure,
          {.numbers = {{"mask", mask}}}};
}

Failure mixed_primitives(const Block& block, WarpOp op, const Rendezvous& group, Site site) {
  const int w = int(block.turn.current - &block.threads[0]) / lanes_per_warp;
  const Thread& other = block.thread_at(w, block.warps[w].position[std::countr_zero(group.arrived)]);
  return {"invalid-warp-mask",
          lane_of(block) + " reaches " + name_of(op) + ", while " + lanes_text(group.arrived) + " of the same mask " +
              (std::has_single_bit(group.arrived) ? "waits" : "wait") + " at " + name_of(group.op) + " in " +
              file_and_line(group.site) + "; all lanes of a mask must reach the same primitive",
          site,
          cudaErrorLaunchFailure,
          {.others = {{other.index, group.site}}, .numbers = {{"mask", group.mask}, {"lanes", group.arrived}}}};
}

Deadlock deadlock(Block& block) {
  // Lanes that wait for lanes which wait elsewhere describe the mistake best.
  for (int w = 0; w < block.warp_count; ++w) {
    const Warp& warp = block.warps[w];
    if (warp.group_count == 0) continue;
    const Rendezvous& group = warp.groups[0];
    const unsigned missing = warp.expected(group.mask) & ~group.arrived;
    const Thread& other = block.thread_at(w, warp.position[std::countr_zero(missing)]);
    return {&block.thread_at(w, warp.position[std::countr_zero(group.arrived)]),
            {"deadlock",
             std::string(name_of(group.op)) + " with mask " + hex(group.mask) + " waits for " + lanes_text(missing) +
                 "; " + describe(block, other),
             group.site,
             cudaErrorLaunchFailure,
             {.others = {{other.index, block.waiting_of(&other).site}},
              .numbers = {{"mask", group.mask}, {"missing", missing}}}}};
  }
  if (block.in_grid_barrier > 0) return missing_at_grid_barrier(block);
  const Thread* const first = block.thread_in_barrier();
  if (first == nullptr) {
    return {nullptr, {"deadlock", "no thread can run", block.launch->kernel.site, cudaErrorLaunchFailure}};
  }
  return {nullptr, {"deadlock", describe(block, *first), block.waiting_of(first).site, cudaErrorLaunchFailure}};
}

}  // namespace simt

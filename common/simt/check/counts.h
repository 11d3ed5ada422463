// What the program's memory requests cost: per instruction, and per launch.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <tuple>

#include "../src/execution/launch_state.h"
#include "access.h"

namespace simt::check {

struct Cost {
  std::uint64_t requests = 0;
  std::uint64_t lanes = 0;   ///< that took part in the requests
  std::uint64_t actual = 0;  ///< wavefronts of shared memory, sectors of global memory, or turns of atomics
  std::uint64_t ideal = 0;

  void operator+=(const Cost& more) {
    requests += more.requests;
    lanes += more.lanes;
    actual += more.actual;
    ideal += more.ideal;
  }
};

/// What a launch has cost. Arrays are indexed by Way. Counted as Nsight Compute does: a request is one instruction of a
/// warp, and so is a barrier.
struct LaunchCounts {
  std::string kernel;
  dim3 grid, block;
  std::uint64_t shared_requests[3] = {}, shared_wavefronts[3] = {}, shared_ideal[3] = {};
  std::uint64_t global_requests[3] = {}, global_sectors[3] = {}, global_ideal[3] = {};
  std::uint64_t global_bytes[3] = {};  ///< that were used of the sectors (request_cost.h)
  std::uint64_t barriers = 0;
  /// Requests on the critical path: between two barriers, those of the warp with the most; then the sum over a block,
  /// and the most of all blocks.
  std::uint64_t span = 0;
  std::size_t static_shared = 0, dynamic_shared = 0;  ///< bytes per block
  std::uint64_t nanoseconds = 0;                      ///< of this run, on the CPU
};

class Counts {
 public:
  using Instruction = std::tuple<Code, Space, Way>;

  void begin_launch(const Launch& launch);
  void end_launch();
  LaunchCounts& launch() { return launches_.back(); }  ///< the running launch
  const std::deque<LaunchCounts>& launches() const { return launches_; }

  /// What an instruction has cost over the whole program; the reference stays valid.
  Cost& cost_of(const Instruction& instruction) { return costs_[instruction]; }
  void add_copy(std::uint64_t bytes_moved) { copied_bytes_ += bytes_moved; }
  /// Bytes that copies within the device have read and written.
  std::uint64_t copied_bytes() const { return copied_bytes_; }
  /// Bytes that kernels have passed to the host while it was watched (simt/host_watch.h).
  std::uint64_t bytes_to_host = 0;
  const std::map<Instruction, Cost>& costs() const { return costs_; }

 private:
  std::deque<LaunchCounts> launches_;
  std::map<Instruction, Cost> costs_;
  std::uint64_t copied_bytes_ = 0;
};

}  // namespace simt::check

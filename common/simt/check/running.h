// The launch and block that the observers watch.
#pragma once

#include <cstdint>
#include <string>

#include "../src/emulation.h"
#include "../src/execution/launch_state.h"
#include "../src/execution/worker.h"
#include "facts.h"

namespace simt::check {

struct Running {
  const Launch* launch = nullptr;  ///< null outside a kernel: accesses of host code are not observed
  std::uint64_t block = 0;
  bool has_exchanges = false;  ///< the launch has come to a shuffle or vote
  Site last_barrier = {};      ///< of the block; line 0: there was none
  /// Where the launch reads which kernel it calls, if that is in a variable of the host: each thread does so.
  struct {
    Code code = 0;
    std::uintptr_t address = 0;
  } choice_of_kernel = {};

  /// The thread of the block that this OS thread runs; null: it runs host code.
  static const Thread* current() { return worker_of_thread.turn.current; }
  /// The linear index of that thread in its block; 0 in host code.
  static unsigned thread() { return current() == nullptr ? 0 : current()->number; }
  /// Whether the address is among the kernel's own copies of its arguments, which each thread reads as it begins.
  bool is_argument(std::uintptr_t address) const {
    return address - std::uintptr_t(launch->kernel.arguments) < launch->kernel.bytes;
  }
  bool is_choice_of_kernel(Code code, std::uintptr_t address) const {
    return address == choice_of_kernel.address && code == choice_of_kernel.code;
  }
  /// Which run after the running one.
  bool has_later_blocks() const {
    return launch != nullptr && block + 1 < launch->blocks && !launch->config.is_cooperative;
  }
  static uint3 index_in(dim3 shape, std::uint64_t linear) {
    return {unsigned(linear % shape.x), unsigned(linear / shape.x % shape.y), unsigned(linear / shape.x / shape.y)};
  }
  uint3 index_of_block(std::uint64_t linear) const { return index_in(launch->config.grid, linear); }
  uint3 index_of_thread(unsigned linear) const { return index_in(launch->config.block, linear); }
  /// The running block, for a finding.
  Fact here() const {
    return {.kernel = launch->kernel.name, .launch = Place::of(launch->kernel.site), .block = index_of_block(block)};
  }
  Fact here(Site site) const {
    Fact fact = here();
    fact.place = Place::of(site);
    return fact;
  }
  /// A thread of it.
  Fact by(unsigned thread, Code code = 0) const {
    Fact fact = here();
    fact.place.code = code;
    fact.thread = index_of_thread(thread);
    return fact;
  }
};

}  // namespace simt::check

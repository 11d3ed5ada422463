// The launch and block that the observers watch.
#pragma once

#include <cstdint>
#include <string>

#include "../src/emulation.h"
#include "../src/execution/launch_state.h"
#include "../src/execution/worker.h"
#include "text.h"

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
  /// "kernel sort, block (1,0,0)"
  std::string place() const {
    return std::string("kernel ") + launch->kernel.name + ", block " + block_name(*launch, block);
  }
  /// The kernel, and the barrier that its block last came to.
  std::string since_barrier() const {
    return std::string(launch->kernel.name) + " " + std::to_string(last_barrier.line) + " ";
  }
  /// A finding's first words: the place and the thread, "...: "
  std::string subject(unsigned thread) const { return place() + ", thread " + thread_name(*launch, thread) + ": "; }
};

}  // namespace simt::check

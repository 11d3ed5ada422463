// The stacks on which the threads of a block run, and on which signals are handled.
#pragma once

#include <cstddef>
#include <vector>

#include "../emulation.h"

namespace simt {

/// The stacks of one OS thread, each with a guard page below it. With pages of 4 KiB they are 17 pages apart, and their
/// tops are shifted by a few cache lines, so that the hot ends of a thousand stacks spread over all sets of the caches.
class Stacks {
 public:
  Stacks();
  ~Stacks();
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;

  char* top(int stack) const { return base_ + spacing_ * (stack + 1) - std::size_t(stack % 48) * colour; }
  /// Is `address` in a guard page?
  bool guards(const void* address) const;
  bool contains(const void* address) const {
    return std::size_t(static_cast<const char*>(address) - base_) / spacing_ < max_threads_per_block;
  }
  /// Is `address` in one of these stacks, and `here` not in the same one?
  bool in_another(const void* address, const void* here) const {
    const auto stack_of = [&](const void* place) {
      return std::size_t(static_cast<const char*>(place) - base_) / spacing_;
    };
    return stack_of(address) < max_threads_per_block && stack_of(address) != stack_of(here);
  }
  /// The lowest usable address of the stack whose guard page holds `address`.
  const void* above_guard(const void* address) const;

  static constexpr std::size_t usable = 65536 - 48 * 64;  ///< bytes that a thread may use

 private:
  static constexpr std::size_t colour = 64;
  const std::size_t guard_, spacing_;
  char* base_;
};

/// Where its OS thread handles signals: the fault may be that a device thread has used up its stack.
class SignalStack {
 public:
  SignalStack();
  ~SignalStack();
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  std::vector<char> memory_;
};

}  // namespace simt

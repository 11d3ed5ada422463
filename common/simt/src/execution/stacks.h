// The stacks on which the threads of a block run, and on which signals are handled.
#pragma once

#include <cstddef>
#include <vector>

#include "../emulation.h"

namespace simt {

/// The stacks of one OS thread. With pages of 4 KiB they are 17 pages apart, and their tops are shifted by a few cache
/// lines, so that the hot ends of a thousand stacks spread over all sets of the caches.
///
/// Below each stack is a guard page. Before Linux 6.13, it splits a mapping, of which a process may have 65530. If there
/// are too many stacks for that, every 64th has one, so that endless recursion still ends there.
class Stacks {
 public:
  Stacks();
  ~Stacks();
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;

  /// How many there are. No more memory is used than their threads have touched.
  std::size_t count() const { return count_; }
  /// There are at least `count` from now on. None may be in use.
  void reserve(std::size_t count);
  /// Before a stack is used. The first use is in increasing order.
  void prepare(int stack) {
    if (std::size_t(stack) >= guarded_) guard_next();
  }
  /// Gives memory back, if many more have been used than a multiprocessor has. None may be in use.
  void trim();

  char* top(int stack) const { return base_ + spacing_ * (stack + 1) - std::size_t(stack % 48) * colour; }
  /// Is `address` in a guard page?
  bool guards(const void* address) const;
  bool contains(const void* address) const {
    return std::size_t(static_cast<const char*>(address) - base_) / spacing_ < count_;
  }
  /// Is `address` in one of these stacks, and `here` not in the same one?
  bool in_another(const void* address, const void* here) const {
    const auto stack_of = [&](const void* place) {
      return std::size_t(static_cast<const char*>(place) - base_) / spacing_;
    };
    return stack_of(address) < count_ && stack_of(address) != stack_of(here);
  }
  /// The end of the stack that `address` is in, which must be one of these.
  const char* end_of(const void* address) const {
    return top(int(std::size_t(static_cast<const char*>(address) - base_) / spacing_));
  }
  /// The lowest usable address of the stack whose guard page holds `address`.
  const void* above_guard(const void* address) const;

  static constexpr std::size_t usable = 65536 - 48 * 64;  ///< bytes that a thread may use

 private:
  void map(std::size_t count);
  void unmap();
  void guard_next();

  static constexpr std::size_t kept = max_threads_per_multiprocessor, colour = 64;
  const std::size_t guard_, spacing_;
  char* base_ = nullptr;
  std::size_t count_ = 0, guarded_ = 0;
  std::size_t split_ = 0;  ///< guard pages that have split the mapping
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

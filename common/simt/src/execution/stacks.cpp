#include "stacks.h"

#include <signal.h>
#include <sys/mman.h>

#include <new>

#include "../memory/pages.h"

namespace simt {

Stacks::Stacks() : guard_(page_bytes()), spacing_(guard_ + round_up(usable + 48 * colour, guard_)) {
  void* memory = mmap(nullptr, spacing_ * max_threads_per_block, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  base_ = static_cast<char*>(memory);
  for (int i = 0; i < max_threads_per_block; ++i) mprotect(base_ + spacing_ * i, guard_, PROT_NONE);
}

Stacks::~Stacks() { munmap(base_, spacing_ * max_threads_per_block); }

bool Stacks::guards(const void* address) const {
  const std::ptrdiff_t offset = static_cast<const char*>(address) - base_;
  return offset >= 0 && std::size_t(offset) < spacing_ * max_threads_per_block &&
         std::size_t(offset) % spacing_ < guard_;
}

const void* Stacks::above_guard(const void* address) const {
  return base_ + (static_cast<const char*>(address) - base_) / std::ptrdiff_t(spacing_) * std::ptrdiff_t(spacing_) +
         guard_;
}

SignalStack::SignalStack() : memory_(std::size_t(1) << 18) {
  stack_t stack{};
  stack.ss_sp = memory_.data();
  stack.ss_size = memory_.size();
  sigaltstack(&stack, nullptr);
}

SignalStack::~SignalStack() {
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
}

}  // namespace simt

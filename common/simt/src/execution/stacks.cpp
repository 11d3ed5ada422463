#include "stacks.h"

#include <signal.h>
#include <sys/mman.h>

#include <atomic>
#include <new>
#include <utility>

#include "../memory/pages.h"

namespace simt {

namespace {

constexpr std::size_t always_guarded = 64;  // one of so many stacks
constexpr int guard_install = 102;          // MADV_GUARD_INSTALL, which older headers lack

/// How many more guard pages may split a mapping of this process, which leaves half of the mappings for other uses.
std::atomic<std::ptrdiff_t> splits_left = 16384;

}  // namespace

Stacks::Stacks() : guard_(page_bytes()), spacing_(guard_ + round_up(usable + 48 * colour, guard_)) { map(kept); }

Stacks::~Stacks() { unmap(); }

void Stacks::map(std::size_t count) {
  void* memory =
      mmap(nullptr, spacing_ * count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  madvise(memory, spacing_ * count, MADV_NOHUGEPAGE);  // most stacks touch a page or two
  base_ = static_cast<char*>(memory);
  count_ = count;
}

void Stacks::unmap() {
  munmap(base_, spacing_ * count_);
  splits_left += std::ptrdiff_t(std::exchange(split_, 0));
  guarded_ = 0;
}

void Stacks::reserve(std::size_t count) {
  if (count <= count_) return;
  unmap();
  map(count);
}

void Stacks::guard_next() {
  char* const page = base_ + spacing_ * guarded_++;
  if (madvise(page, guard_, guard_install) == 0) return;
  if (--splits_left < 0 && guarded_ % always_guarded != 1) {
    ++splits_left;
  } else {
    mprotect(page, guard_, PROT_NONE);
    ++split_;
  }
}

void Stacks::trim() {
  if (guarded_ <= kept) return;
  // Guard pages remain.
  madvise(base_ + spacing_ * kept, spacing_ * (guarded_ - kept), MADV_DONTNEED);
}

bool Stacks::guards(const void* address) const {
  const std::ptrdiff_t offset = static_cast<const char*>(address) - base_;
  return offset >= 0 && std::size_t(offset) < spacing_ * count_ && std::size_t(offset) % spacing_ < guard_;
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

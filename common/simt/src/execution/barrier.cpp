// The block's barrier.
//
// Most kernels go from barrier to barrier, and every thread runs once between two of them. Such a sweep needs only a
// pointer to the thread whose turn it is: the threads before it wait, those after it can run. Anything else that a
// thread does (a warp primitive, a yield, an exit) leaves the sweep first, which records what that means for each
// thread.
#include <cstddef>

#include "worker.h"

namespace simt {

void Worker::enter_sweep() {
#ifdef SIMT_CHECK
  if (check::Schedule::is_on()) {  // no sweep: all threads can run
    for (int w = 0; w < block_.warp_count; ++w) block_.warps[w].runnable = block_.warps[w].alive;
    block_.barrier_site = {};
    return;
  }
#endif
  if (!links_valid_) {
    Thread* last = nullptr;
    for (int w = 0; w < block_.warp_count; ++w) {
      for_each_lane(block_.warps[w].alive, [&](int position) {
        Thread* const thread = &block_.thread_at(w, position);
        if (last == nullptr) {
          first_ = thread;
        } else {
          last->step = std::int16_t(thread - last);
        }
        last = thread;
      });
    }
    last->step = std::int16_t(first_ - last);
    links_valid_ = true;
  }
  for (int w = 0; w < block_.warp_count; ++w) block_.warps[w].runnable = 0;
  const int first = int(first_ - block_.threads.data());
  warp_ = first / lanes_per_warp;
  block_.warps[warp_].runnable = 1u << first % lanes_per_warp;
  block_.barrier_site = {};
  sweep_ = true;
}

void Worker::leave_sweep() {
  sweep_ = false;
  block_.turn.site = {};
  const int current = int(block_.turn.current - block_.threads.data());
  warp_ = current / lanes_per_warp;
  position_ = current % lanes_per_warp;
  block_.in_barrier = 0;
  for (Thread* thread = first_; thread != block_.turn.current; thread = thread->next()) {
    block_.waiting_of(thread) = {block_.barrier, block_.barrier_site};
    ++block_.in_barrier;
  }
  for (Thread* thread = block_.turn.current->next(); thread != first_; thread = thread->next()) {
    const int index = int(thread - block_.threads.data());
    block_.warps[index / lanes_per_warp].runnable |= 1u << index % lanes_per_warp;
  }
}

/// The current thread is at the barrier: another one becomes current, or the same one if it is the last of all.
void Worker::arrive(bool predicate, Site site) {
  if (block_.in_barrier == 0) {
    block_.barrier_site = site;
  } else if (site != block_.barrier_site) {
    fail_divergent(site);
  }
  ++block_.in_barrier;
  barrier_true_ += predicate;
  block_.waiting_of(block_.turn.current) = {block_.barrier, site};
  pick();
}

/// The same within a sweep. On x86-64, simt_barrier() does this for threads whose successor is the next one in memory,
/// but not for the first and the last one, nor in blocks with a z dimension.
void Worker::arrive_in_sweep(Site site) {
  if (site != block_.barrier_site) {
    if (block_.barrier_site.line != 0) fail_divergent(site);
    block_.barrier_site = site;
    if (blockDim.z == 1) block_.turn.site = site;  // simt_barrier() leaves threadIdx.z as it is
  }
  Thread* const next = block_.turn.current->next();
  if (next == first_) {  // the last one opens the barrier
    ++block_.barrier;
    SIMT_OBSERVE(check::barrier_opened(site, block_.alive);)
    block_.barrier_site = block_.turn.site = {};
  }
  block_.turn.current = next;
}

#ifndef SIMT_INLINE_BARRIER

void Worker::sync(Site site) {
  set_scheduling(true);
  Thread* const self = block_.turn.current;
  sweep_ ? arrive_in_sweep(site) : arrive(false, site);
  if (block_.turn.current != self) run_current(&self->context);
  set_scheduling(false);
}

#else

// Not to be interrupted before scheduling_ is set: the thread would wait in the interruption, and its context would be
// another one.
SIMT_UNINTERRUPTED void Worker::hand_over(Site site) {
  set_scheduling(true);
  sweep_ ? arrive_in_sweep(site) : arrive(false, site);
  Context lost;  // the thread continues where its context says
  run_current(&lost);
  __builtin_unreachable();
}

#endif

int Worker::barrier(bool predicate, Site site) {
  set_scheduling(true);
  if (sweep_) leave_sweep();
  Thread* const self = block_.turn.current;
  arrive(predicate, site);
  if (block_.turn.current != self) run_current(&self->context);
  set_scheduling(false);
  return barrier_result_;
}

}  // namespace simt

#ifdef SIMT_INLINE_BARRIER

namespace simt {

static_assert(offsetof(Context, kept) == 0 && offsetof(Context, stack) == 32 && offsetof(Context, code) == 40);
static_assert(offsetof(Thread, context) == 0 && offsetof(Thread, index) == 48 && offsetof(Thread, step) == 60 &&
              sizeof(Thread) == 64);
static_assert(offsetof(Turn, current) == 0 && offsetof(Turn, site) == 8);
static_assert(offsetof(Site, file) == 0 && offsetof(Site, line) == 8);
static_assert(offsetof(WorkerOfThread, turn) == 0);

}  // namespace simt

// On x86-64, the assembly in __syncthreads() jumps here. To the compiler, it changes all registers but rsp, rbp, rbx,
// r12 and r13, so the program itself saves what it needs of the others. These few are kept in the thread rather than on
// its stack, which is seldom in the first-level cache. A function that keeps all registers made the tile sort a seventh
// slower. To keep still fewer did not make it faster: kernels then read from the stack what their loops need.
//
// In: rdi and esi: the site; rax: where the program continues. Nothing is written to the stack, because the program may
// keep data below its stack pointer. The .cfi directives say so to a debugger, which then steps over the barrier as over
// a call.
//
// Usually the next thread in memory is the next one to run. The processor takes that for granted here, and need not
// wait for the address of the next one to be loaded. The first and the last thread of a sweep hand over in C++.
asm(R"(
.section simt_uninterrupted, "ax", @progbits
.globl simt_barrier
.type simt_barrier, @function
simt_barrier:
  .cfi_startproc
  .cfi_def_cfa %rsp, 0
  .cfi_register %rip, %rax
  movq _ZN4simt16worker_of_threadE@gottpoff(%rip), %rcx
  cmpl %esi, %fs:16(%rcx)
  jne 1f
  cmpq %rdi, %fs:8(%rcx)
  jne 1f
  movq %fs:(%rcx), %rdx    # this thread
  cmpw $1, 60(%rdx)
  jne 1f
  leaq 64(%rdx), %r8       # the next one
  movq %rbp, (%rdx)
  movq %rbx, 8(%rdx)
  movq %r12, 16(%rdx)
  movq %r13, 24(%rdx)
  movq %rsp, 32(%rdx)
  movq %rax, 40(%rdx)
  movq %r8, %fs:(%rcx)
  movq 48(%r8), %r9        # threadIdx.x and .y
  movq threadIdx@gottpoff(%rip), %r11
  movq %r9, %fs:(%r11)
  movq 32(%r8), %rsp
  movq (%r8), %rbp
  movq 8(%r8), %rbx
  movq 16(%r8), %r12
  movq 24(%r8), %r13
  jmpq *40(%r8)
1:
  movq %fs:(%rcx), %rdx
  testq %rdx, %rdx
  jz 2f
  movq %rbp, (%rdx)
  movq %rbx, 8(%rdx)
  movq %r12, 16(%rdx)
  movq %r13, 24(%rdx)
  movq %rsp, 32(%rdx)
  movq %rax, 40(%rdx)
2:
  subq $128, %rsp
  andq $-16, %rsp
  call simt_hand_over
  .cfi_endproc
.size simt_barrier, .-simt_barrier
.section .note.GNU-stack, "", @progbits
.text
)");

#endif

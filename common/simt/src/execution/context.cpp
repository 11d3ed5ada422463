#include "context.h"

#ifdef SIMT_INLINE_BARRIER

// What the C++ code that calls this needs again stays on its own stack. A thread that waits at a barrier has nothing
// there, but values in `kept` (see barrier.cpp): so these are loaded for whoever continues.
//
// Ends in a jump instead of `ret`: a processor predicts that a return goes to the last call, which was made on the
// other stack, but it learns where jumps go. With `ret`, the tile sort took a fifth longer.
//
// The .cfi directives say at each instruction where the registers lie, so that a debugger can follow a stack that was
// switched away from, and the one of a program that it has stopped here.
asm(R"(
.section simt_uninterrupted, "ax", @progbits
.globl simt_switch
.type simt_switch, @function
simt_switch:
  .cfi_startproc
  pushq %rbp
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %rbp, 0
  pushq %rbx
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %rbx, 0
  pushq %r15
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %r15, 0
  pushq %r14
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %r14, 0
  pushq %r13
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %r13, 0
  pushq %r12
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %r12, 0
  leaq 1f(%rip), %rdx
  movq %rsp, 32(%rdi)
  movq %rdx, 40(%rdi)
  .cfi_remember_state
  .cfi_escape 0x0f, 5, 0x75, 32, 0x06, 0x23, 56  # the caller's frame begins at 56 + *(%rdi + 32), as %rsp changes now
  movq 32(%rsi), %rsp
  movq (%rsi), %rbp
  movq 8(%rsi), %rbx
  movq 16(%rsi), %r12
  movq 24(%rsi), %r13
  jmpq *40(%rsi)
  .cfi_restore_state
  nop  # of a thread that waits, a debugger looks up the place before 1
1:
  popq %r12
  .cfi_adjust_cfa_offset -8
  .cfi_restore %r12
  popq %r13
  .cfi_adjust_cfa_offset -8
  .cfi_restore %r13
  popq %r14
  .cfi_adjust_cfa_offset -8
  .cfi_restore %r14
  popq %r15
  .cfi_adjust_cfa_offset -8
  .cfi_restore %r15
  popq %rbx
  .cfi_adjust_cfa_offset -8
  .cfi_restore %rbx
  popq %rbp
  .cfi_adjust_cfa_offset -8
  .cfi_restore %rbp
  popq %rcx
  .cfi_adjust_cfa_offset -8
  .cfi_register %rip, %rcx
  jmpq *%rcx
  .cfi_endproc
.size simt_switch, .-simt_switch
.section .note.GNU-stack, "", @progbits
.text
)");

#elif !defined(SIMT_BOOST_CONTEXT)

// Keeps what the procedure call standard for AArch64 lets a function rely on: x19 to x30, the lower halves of v8 to
// v15, and the stack pointer. Threads are nearly always switched away from at the same place, so the processor predicts
// rightly where `ret` goes. x30 becomes null: a function that begins on a fresh stack has no caller, and whoever follows
// the stack ends there.
asm(R"(
.section simt_uninterrupted, "ax", %progbits
.globl simt_switch
.type simt_switch, %function
.balign 16
simt_switch:
  stp x19, x20, [sp, #-160]!
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  ldr x9, [x1]
  mov sp, x9
  ldp d14, d15, [sp, #144]
  ldp d12, d13, [sp, #128]
  ldp d10, d11, [sp, #112]
  ldp d8, d9, [sp, #96]
  ldp x29, x9, [sp, #80]
  ldp x27, x28, [sp, #64]
  ldp x25, x26, [sp, #48]
  ldp x23, x24, [sp, #32]
  ldp x21, x22, [sp, #16]
  ldp x19, x20, [sp], #160
  mov x30, xzr
  ret x9
.size simt_switch, .-simt_switch
.section .note.GNU-stack, "", %progbits
.text
)");

#else

namespace simt {

// fcontext passes the context that was left to the one that continues, which stores it.
void store_context(boost::context::detail::transfer_t transfer) {
  *static_cast<Context*>(transfer.data) = {transfer.fctx};
}

void switch_to(Context* save, const Context& to) {
  store_context(boost::context::detail::jump_fcontext(to.place, save));
}

}  // namespace simt

#endif

extern "C" const char __start_simt_uninterrupted[], __stop_simt_uninterrupted[];

bool simt::is_uninterrupted(const void* code) {
  return code >= __start_simt_uninterrupted && code < __stop_simt_uninterrupted;
}

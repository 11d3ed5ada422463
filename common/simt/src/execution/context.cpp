#include "context.h"

#ifdef SIMT_INLINE_BARRIER

// What the C++ code that calls this needs again stays on its own stack. A thread that waits at a barrier has nothing
// there, but values in `kept` (see barrier.cpp): so these are loaded for whoever continues.
//
// Ends in a jump instead of `ret`: a processor predicts that a return goes to the last call, which was made on the
// other stack, but it learns where jumps go. With `ret`, the tile sort took a fifth longer.
//
// The .cfi directives say where the registers lie, so that a debugger can follow a stack that was switched away from.
asm(R"(
.section simt_uninterrupted, "ax", @progbits
.globl simt_switch
.type simt_switch, @function
simt_switch:
  .cfi_startproc
  pushq %rbp
  pushq %rbx
  pushq %r15
  pushq %r14
  pushq %r13
  pushq %r12
  .cfi_def_cfa_offset 56
  .cfi_offset %rbp, -16
  .cfi_offset %rbx, -24
  .cfi_offset %r15, -32
  .cfi_offset %r14, -40
  .cfi_offset %r13, -48
  .cfi_offset %r12, -56
  leaq 1f(%rip), %rdx
  movq %rsp, 32(%rdi)
  movq %rdx, 40(%rdi)
  movq 32(%rsi), %rsp
  movq (%rsi), %rbp
  movq 8(%rsi), %rbx
  movq 16(%rsi), %r12
  movq 24(%rsi), %r13
  jmpq *40(%rsi)
1:
  popq %r12
  popq %r13
  popq %r14
  popq %r15
  popq %rbx
  popq %rbp
  popq %rcx
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

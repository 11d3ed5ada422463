#include "context.h"

#ifndef SIMT_BOOST_CONTEXT

// What the C++ code that calls this needs again stays on its own stack. A thread that waits at a barrier has nothing
// there, but values in `kept` (see barrier.cpp): so these are loaded for whoever continues.
//
// Ends in a jump instead of `ret`: a processor predicts that a return goes to the last call, which was made on the
// other stack, but it learns where jumps go. With `ret`, the tile sort took a fifth longer.
asm(R"(
.section simt_uninterrupted, "ax", @progbits
.globl simt_switch
.type simt_switch, @function
simt_switch:
  pushq %rbp
  pushq %rbx
  pushq %r15
  pushq %r14
  pushq %r13
  pushq %r12
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
.size simt_switch, .-simt_switch
.section .note.GNU-stack, "", @progbits
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

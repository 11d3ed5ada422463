#include "context.h"

#ifndef SIMT_BOOST_CONTEXT

// Ends in a jump instead of `ret`: a processor predicts that a return goes to the last call, which was made on the
// other stack, but it learns where jumps go. With `ret`, the tile sort took a fifth longer.
asm(R"(
.section simt_uninterrupted, "ax", @progbits
.globl simt_switch
.type simt_switch, @function
simt_switch:
  pushq %r14
  pushq %r15
  leaq 1f(%rip), %rax
  movq %rax, (%rdi)
  movq %rsp, 8(%rdi)
  movq %rbp, 16(%rdi)
  movq %rbx, 24(%rdi)
  movq %r12, 32(%rdi)
  movq %r13, 40(%rdi)
  movq 8(%rsi), %rsp
  movq 16(%rsi), %rbp
  movq 24(%rsi), %rbx
  movq 32(%rsi), %r12
  movq 40(%rsi), %r13
  jmpq *(%rsi)
1:
  popq %r15
  popq %r14
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

#include "context.h"

#ifndef SIMT_BOOST_CONTEXT

// Ends in a jump, not in `ret`: a processor predicts a return to the last call, which was made on the other stack,
// but learns where jumps go (`ret` took a fifth longer on the tile sort).
asm(R"(
.section simt_uninterrupted, "ax", @progbits
.globl simt_switch
.type simt_switch, @function
simt_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  popq %rcx
  jmpq *%rcx
.size simt_switch, .-simt_switch
.section .note.GNU-stack, "", @progbits
.text
)");

#else

#include <boost/context/detail/fcontext.hpp>

namespace simt {
namespace {

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

// fcontext hands the context that was left to the one that goes on, which stores it where the leaver asked.
void store(transfer_t transfer) { *static_cast<Context*>(transfer.data) = transfer.fctx; }

}  // namespace

void switch_to(Context* save, Context to) { store(jump_fcontext(to, save)); }

Context fresh_context(char* top, std::size_t bytes) {
  return make_fcontext(top, bytes, [](transfer_t transfer) {
    store(transfer);
    stack_entry();
  });
}

}  // namespace simt

#endif

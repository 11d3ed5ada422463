// Switching stacks: on x86-64 a few instructions of our own, elsewhere Boost.Context.
#pragma once

#include <cstddef>

#if !defined(__x86_64__) && !defined(SIMT_BOOST_CONTEXT)
#define SIMT_BOOST_CONTEXT
#endif

namespace simt {

/// Where a stack that is switched out goes on.
using Context = void*;

/// What a fresh stack runs; never returns. Defined by the scheduler.
void stack_entry();

#ifndef SIMT_BOOST_CONTEXT

// Saves what the calling convention lets a callee not change, and the stack pointer; the floating-point control
// words stay as they are because device code cannot change them (they cost more than all the rest).
extern "C" void simt_switch(Context* save, Context to);

inline void switch_to(Context* save, Context to) { simt_switch(save, to); }

/// A stack of `bytes` below `top` (16-byte aligned), on which the first switch calls stack_entry().
inline Context fresh_context(char* top, std::size_t /*bytes*/) {
  void** slot = reinterpret_cast<void**>(top);
  *--slot = nullptr;  // the return address of stack_entry(): keeps the stack aligned as after a call
  *--slot = reinterpret_cast<void*>(stack_entry);
  return slot - 6;  // the six saved registers; their values do not matter
}

#else

void switch_to(Context* save, Context to);
Context fresh_context(char* top, std::size_t bytes);

#endif

}  // namespace simt

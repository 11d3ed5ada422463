// Switching stacks: on x86-64 with a few instructions of our own, elsewhere with Boost.Context.
#pragma once

#include <cstddef>

#if !defined(__x86_64__) && !defined(SIMT_BOOST_CONTEXT)
#define SIMT_BOOST_CONTEXT
#endif

#ifdef SIMT_BOOST_CONTEXT
#include <boost/context/detail/fcontext.hpp>
#endif

/// Puts a function into the section of code that is never interrupted (see Worker::preempt): for functions that switch
/// stacks and are too short to announce it.
#define SIMT_UNINTERRUPTED [[gnu::section("simt_uninterrupted")]]

namespace simt {

/// Where a stack that was switched away from continues.
using Context = void*;

/// Is this code in the section that is never interrupted?
bool is_uninterrupted(const void* code);

#ifndef SIMT_BOOST_CONTEXT

// Saves the registers that a callee must preserve, and the stack pointer. The floating-point control words are left
// alone: device code cannot change them, and saving them costs more than everything else together.
extern "C" void simt_switch(Context* save, Context to);

inline void switch_to(Context* save, Context to) { simt_switch(save, to); }

/// A stack of `bytes` below `top` (16-byte aligned), on which the first switch calls `entry`, which never returns.
template <void (*entry)()>
Context fresh_context(char* top, std::size_t /*bytes*/) {
  void** slot = reinterpret_cast<void**>(top);
  *--slot = nullptr;  // the return address of `entry`: keeps the stack aligned as after a call
  *--slot = reinterpret_cast<void*>(entry);
  return slot - 6;  // the six saved registers, whose values do not matter
}

#else

void switch_to(Context* save, Context to);

/// Stores the context that was left in the place that the switch named.
void store_context(boost::context::detail::transfer_t transfer);

template <void (*entry)()>
Context fresh_context(char* top, std::size_t bytes) {
  return boost::context::detail::make_fcontext(top, bytes, [](boost::context::detail::transfer_t transfer) {
    store_context(transfer);
    entry();
  });
}

#endif

}  // namespace simt

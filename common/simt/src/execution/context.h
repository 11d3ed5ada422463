// Switching stacks: on x86-64 and AArch64 with a few instructions of our own, elsewhere with Boost.Context.
#pragma once

#include <cstddef>
#include <cstring>

#include "simt/device.h"

#if !defined(__x86_64__) && !defined(__aarch64__) && !defined(SIMT_BOOST_CONTEXT)
#define SIMT_BOOST_CONTEXT
#endif

#ifdef SIMT_BOOST_CONTEXT
#include <boost/context/detail/fcontext.hpp>
#endif

/// Puts a function into the section of code that is never interrupted (see Worker::preempt): for functions that switch
/// stacks and are too short to announce it.
#define SIMT_UNINTERRUPTED [[gnu::section("simt_uninterrupted")]]

namespace simt {

/// Is this code in the section that is never interrupted?
bool is_uninterrupted(const void* code);

#ifdef SIMT_INLINE_BARRIER

/// Where a stack that was switched away from continues. The code there restores all other registers that it needs. The
/// floating-point control words are left alone: device code cannot change them, and saving them costs more than
/// everything else together.
struct Context {
  void* kept[4];  ///< rbp, rbx, r12 and r13 of a thread that waits at a barrier
  void* stack;    ///< the stack pointer
  void* code;
};

extern "C" void simt_switch(Context* save, const Context* to);

inline void switch_to(Context* save, const Context& to) { simt_switch(save, &to); }

/// A stack of `bytes` below `top` (16-byte aligned), on which the first switch calls `entry`, which never returns.
template <void (*entry)()>
Context fresh_context(char* top, std::size_t /*bytes*/) {
  void** const stack = reinterpret_cast<void**>(top) - 1;
  *stack = nullptr;  // the return address of `entry`: keeps the stack aligned as after a call
  return {{}, stack, reinterpret_cast<void*>(entry)};
}

#elif !defined(SIMT_BOOST_CONTEXT)

/// Where a stack that was switched away from continues: its stack pointer. The registers that a function must keep lie
/// there.
struct Context {
  void* stack;
};

extern "C" void simt_switch(Context* save, const Context* to);

inline void switch_to(Context* save, const Context& to) { simt_switch(save, &to); }

inline constexpr std::size_t kept_registers = 20, link_register = 11;  // as simt_switch() stores them

/// A stack of `bytes` below `top` (16-byte aligned), on which the first switch goes to `entry`, which never returns.
template <void (*entry)()>
Context fresh_context(char* top, std::size_t /*bytes*/) {
  void** const registers = reinterpret_cast<void**>(top) - kept_registers;
  std::memset(registers, 0, kept_registers * sizeof *registers);
  registers[link_register] = reinterpret_cast<void*>(entry);
  return {registers};
}

#else

/// Where a stack that was switched away from continues.
struct Context {
  boost::context::detail::fcontext_t place;
};

void switch_to(Context* save, const Context& to);

/// Stores the context that was left in the place that the switch named.
void store_context(boost::context::detail::transfer_t transfer);

template <void (*entry)()>
Context fresh_context(char* top, std::size_t bytes) {
  return {boost::context::detail::make_fcontext(top, bytes, [](boost::context::detail::transfer_t transfer) {
    store_context(transfer);
    entry();
  })};
}

#endif

}  // namespace simt

#include "signals.h"

#include <dlfcn.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>

#ifdef SIMT_CHECK
#include "../../check/check.h"
#endif
#include "../execution/failure.h"
#include "../execution/os_threads.h"
#include "../execution/worker.h"
#include "../memory/access.h"
#include "explanation.h"
#include "simt/host_pointers.h"
#include "simt/host_watch.h"
#include "source_lines.h"

namespace simt {
namespace {

/// The address of the instruction at which a signal came.
void* interrupted_at(void* context) {
  const auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return reinterpret_cast<void*>(registers.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return reinterpret_cast<void*>(registers.pc);
#endif
}

const void* stack_pointer(void* context) {
  const auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return reinterpret_cast<const void*>(registers.gregs[REG_RSP]);
#elif defined(__aarch64__)
  return reinterpret_cast<const void*>(registers.sp);
#endif
}

AccessKind access_of_fault([[maybe_unused]] void* context) {
#if defined(__x86_64__)
  // Bit 1 of the page fault's error code is set for a write.
  if ((static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & 2) != 0) return AccessKind::write;
#elif defined(__aarch64__)
  // Bit 6 of the syndrome register is set for a write. The kernel stores it in one of the records after the registers.
  const unsigned char* record = static_cast<ucontext_t*>(context)->uc_mcontext.__reserved;
  for (;;) {
    esr_context syndrome;
    std::memcpy(&syndrome, record, sizeof syndrome);
    if (syndrome.head.magic == ESR_MAGIC) return (syndrome.esr & 1 << 6) != 0 ? AccessKind::write : AccessKind::read;
    if (syndrome.head.size == 0) break;  // the last one
    record += syndrome.head.size;
  }
#endif
  return AccessKind::read;
}

/// Is this address in the program's own code, and not in a library's?
bool is_program(void* address) {
  Dl_info code, ours;
  return dladdr(address, &code) != 0 && dladdr(reinterpret_cast<void*>(&is_program), &ours) != 0 &&
         code.dli_fbase == ours.dli_fbase;
}

/// The innermost line of the program that called the emulation or a library, from the first return address on the stack
/// that is one of the program's. (Frames have no chain to follow.)
Site caller_on_stack(const void* lowest, Frame frame = Frame::innermost, int most_words = 512) {
  const auto* const words = static_cast<void* const*>(lowest);
  for (int i = 0; i < most_words; ++i) {
    if (!is_program(words[i])) continue;
    const Site site = site_of(static_cast<char*>(words[i]) - 1, frame);
    if (!is_emulation(site)) return site;
  }
  return {"?", 0};
}

Site site_of_fault(const Worker& worker, void* instruction, const void* address) {
  Site site = site_of(instruction);
  if (worker.stacks().guards(address) && is_emulation(site)) {
    site = caller_on_stack(worker.stacks().above_guard(address));
  }
#ifdef SIMT_CHECK
  if (is_emulation(site)) site = site_of(reinterpret_cast<void*>(check::last_call()));
#endif
  return site;
}

/// The line of host code that a signal has interrupted, or from which a library was called that it has interrupted.
Site host_site(void* context) {
  const Site site = site_of(interrupted_at(context), Frame::in_source);
  return is_emulation(site) ? caller_on_stack(stack_pointer(context), Frame::in_source) : site;
}

/// Reports the line of host code that a signal ends. `is_unknown`: the processor has not said which address it was.
void report_host_fault(int signal, void* context, const void* address, bool is_unknown) {
  if (signal == SIGILL) return;
  if (signal == SIGFPE) return report_error("arithmetic", host_site(context), "integer division by zero in host code");
  const bool writes = access_of_fault(context) == AccessKind::write;
  const Allocation* const allocation = is_device_memory_closed() ? allocation_of(address) : nullptr;
  if (allocation != nullptr && !allocation->freed && allocation->kind == MemoryKind::device) {
    return report_error("device-pointer", host_site(context),
                        std::string("host code ") + (writes ? "writes" : "reads") +
                            " device memory; let a kernel do that, or copy what is needed with cudaMemcpy");
  }
  const bool is_null = std::size_t(address) < 65536 && !is_unknown;
  report_error("out-of-bounds", host_site(context),
               is_null ? std::string("host code ") + (writes ? "writes" : "reads") +
                             " through a null pointer; was it set, and was memory allocated?"
                       : "host code accesses memory that it must not; was it freed, is an index too large, or is a "
                         "recursion too deep?");
}

struct sigaction previous[64];

void handle_fault(int signal, siginfo_t* info, void* context) {
  Worker* const worker = Worker::running();
  if (worker == nullptr) {  // host code: restore what would have happened without us
    sigaction(signal, &previous[signal], nullptr);
    // What follows allocates memory, and the fault may have come from there.
    alarm(30);
    if (info->si_code > 0) {  // no other program has sent it
      report_host_fault(signal, context, info->si_addr, info->si_code == SI_KERNEL);
    }
    SIMT_OBSERVE(check::end_program();)
    return;  // the instruction faults again
  }
  Site site = site_of_fault(*worker, interrupted_at(context), info->si_addr);
  if (signal == SIGFPE) worker->fail({"arithmetic", "integer division by zero", site, cudaErrorLaunchFailure});
  if (signal == SIGILL) worker->fail({"trap", "illegal instruction", site, cudaErrorIllegalInstruction});
  Explanation why = explain(static_cast<char*>(info->si_addr), access_of_fault(context));
#if defined(__x86_64__)
  if (info->si_code == SI_KERNEL) why = explain_without_address(static_cast<ucontext_t*>(context));
#endif
  // What a function is given is the matter of the program that calls it, and not that of a header.
  const Site in_source = site_of(interrupted_at(context), Frame::in_source);
  if (!is_emulation(in_source)) site = in_source;
  if (has_no_line(site)) site = worker->launch_site();  // a kernel of ours stands for a library's function
  worker->fail({why.kind, why.text, site, cudaErrorIllegalAddress});
}

/// The program is about to be ended: reports the line of device code that it is in, and ends it. If that line is the
/// emulation's, returns, because a later attempt may find a better one. The last attempt takes the barrier that threads
/// were seen to wait at, or else the launch.
void end_here(const Worker& worker, void* where, const void* lowest) {
  static Site barrier{"?", 0};
  // A loop that does not end is the matter of the program that calls a function of a header.
  Site site = site_of(where, Frame::in_source);
  if (!is_emulation(site) && !std::string_view(site.file).ends_with(".cu") && worker.stacks().contains(lowest)) {
    const auto words =
        (worker.stacks().end_of(lowest) - static_cast<const char*>(lowest)) / std::ptrdiff_t(sizeof(void*));
    const Site caller = caller_on_stack(lowest, Frame::in_source, int(std::min<std::ptrdiff_t>(words, 512)));
    if (!is_emulation(caller)) site = caller;
  }
  if (is_emulation(site)) site = site_of(where);
  if (is_emulation(site)) {
    if (worker.barrier_site().line != 0) barrier = worker.barrier_site();
    if (interruption.attempts_left.fetch_sub(1) > 1) return;
    site = barrier.line != 0 ? barrier : worker.launch_site();
  }
  const std::string text =
      is_judged() ? "error: hang: the kernel was still running here when the program was ended: " + worker.here()
                  : "note: interrupted: " + worker.here() + ": was running here when SIGTERM interrupted the program";
  std::fprintf(stderr, "%s:%d: %s\n", site.file, site.line, text.c_str());
  std::fflush(stderr);
  std::signal(SIGTERM, SIG_DFL);
  kill(getpid(), SIGTERM);
  for (;;) pause();
}

#ifdef SIMT_CHECK
/// The watchdog reports what has been found, and ends the program. A second signal ends it at once.
constexpr int ending_signals[] = {SIGTERM, SIGINT, SIGHUP};
void handle_end(int signal, siginfo_t*, void*) {
  std::signal(signal, SIG_DFL);
  check::ask_to_end(signal);
}
#else
constexpr int ending_signals[] = {SIGTERM};
/// While a kernel runs, the watchdog interrupts the workers, and one of them reports where it is.
void handle_end(int, siginfo_t*, void*) {
  if (launch_state.active()) {
    interruption.attempts_left = 10;
    return;
  }
  std::signal(SIGTERM, SIG_DFL);
  raise(SIGTERM);
}
#endif

/// Lets the signal through even before its handler has ended: other threads run before that.
void unblock_interruptions() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, interrupt_signal);
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

/// The kernel may wait for the host.
void note_long_run(const Worker& worker, void* where) {
  const Site site = site_of(where);
  if (is_emulation(site) || !interruption.is_note_due.exchange(false)) return;
  std::fprintf(stderr, "%s:%d: note: still-running: %s: has been running for long; %s\n", site.file, site.line,
               worker.here().c_str(), wait_for_host);
  std::fflush(stderr);
}

/// Whether this handler runs on the signal stack, because it has interrupted a handler with SA_ONSTACK. (If two signals
/// arrive together, it does so before that handler's first instruction.) A thread that waited there would be overwritten
/// by the next signal.
bool is_on_signal_stack() {
  stack_t stack{};
  return sigaltstack(nullptr, &stack) == 0 && (stack.ss_flags & SS_ONSTACK) != 0;
}

/// Runs on the interrupted thread's own stack, and continues there when that thread's turn comes again.
void handle_interruption(int, siginfo_t*, void* context) {
  if (is_on_signal_stack()) return;
  Worker* const worker = Worker::running();
  void* const where = interrupted_at(context);
  // Only the program's own code may be interrupted: a library may hold a lock.
  if (worker == nullptr || !is_program(where)) return;
  if (interruption.is_ending()) {
    if (!interruption.in_progress.exchange(true)) {
      end_here(*worker, where, stack_pointer(context));
      interruption.in_progress = false;
    }
    return;
  }
  if (is_uninterrupted(where)) return;
  if (interruption.is_note_due) note_long_run(*worker, where);
#ifdef SIMT_CHECK
  if (interruption.in_progress.exchange(true)) return;
  Site site = site_of(where);
  interruption.in_progress = false;
  if (is_emulation(site)) {
    // A later interruption finds the program; unless all of its kernel is a loop inside the header that calls it.
    static int in_header = 0;
    if (!is_in_headers(site) || ++in_header < 4) return;
    site = worker->launch_site();
  }
#else
  const Site site{};
#endif
  // Up to here the signal was blocked: a second one would have interrupted this handler, not code that can be
  // interrupted.
  unblock_interruptions();
  worker->preempt(site);
}

using Handler = void (*)(int, siginfo_t*, void*);

struct sigaction action_for(Handler handler, int flags) {
  struct sigaction action{};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | flags;
  sigemptyset(&action.sa_mask);
  return action;
}

}  // namespace

void catch_faults() {
  static std::once_flag once;
  std::call_once(once, [] {
    prepare_guarded_arguments();
    const struct sigaction interruptions = action_for(handle_interruption, SA_RESTART);
    sigaction(interrupt_signal, &interruptions, nullptr);
    const struct sigaction ending = action_for(handle_end, SA_ONSTACK | SA_RESTART);
    for (int signal : ending_signals) {
      struct sigaction before{};
      if (sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_DFL) sigaction(signal, &ending, nullptr);
    }
    // The handler leaves by switching stacks, so the signal must not stay blocked.
    const struct sigaction fault = action_for(handle_fault, SA_ONSTACK | SA_NODEFER);
    for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigaction(signal, &fault, &previous[signal]);
  });
}

}  // namespace simt

/// Replaces the C library's function that assert() calls. That one is declared with the promise not to throw.
extern "C" [[noreturn]] void simt_assert_fail(const char* assertion, const char* file, unsigned line,
                                              const char* function) __asm__("__assert_fail");

void simt_assert_fail(const char* assertion, const char* file, unsigned line, const char* function) {
  if (simt::Worker* const worker = simt::Worker::running()) {
    worker->fail({"assert", std::string("assertion failed: ") + assertion, {file, int(line)}, cudaErrorAssert});
  }
  std::fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, assertion);
  std::abort();
}

/// Replaces the C++ library's function that its containers call when an index is outside of them, say. That one names
/// the library's line.
extern "C" [[noreturn]] void simt_library_assert_fail(
    const char* file, int line, const char* function,
    const char* condition) noexcept(false) __asm__("_ZSt21__glibcxx_assert_failPKciS0_S0_");

void simt_library_assert_fail(const char* file, int line, const char* function, const char* condition) {
  const std::string text =
      std::string("the C++ library requires `") + condition + "`" +
      (std::strstr(condition, "size()") != nullptr ? "; is an index outside of its container?" : "");
  const simt::Site site = simt::caller_on_stack(__builtin_frame_address(0), simt::Frame::in_source);
  if (simt::Worker* const worker = simt::Worker::running()) {
    worker->fail({"assert", text, site.line != 0 ? site : worker->launch_site(), cudaErrorAssert});
  }
  if (site.line == 0) std::fprintf(stderr, "%s:%d: %s: Assertion `%s' failed.\n", file, line, function, condition);
  if (site.line != 0) simt::report_error("assert", site, text);
  SIMT_OBSERVE(simt::check::end_program();)
  std::abort();
}

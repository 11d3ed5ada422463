// Findings: how a failure in device code is told, and how a fault of the processor becomes one.
#include <cxxabi.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#ifdef SIMT_CHECK
#include "../check/check.h"
#endif
#include "scheduler.h"
#include "simt/memory.h"

namespace simt {

bool first_failure();

namespace {

/// Above 0 when the program is about to be ended: how many more looks at where it is may be taken.
std::atomic<int> looks_left = 0;
std::atomic<bool> looking = false;

std::atomic<cudaError_t> sticky_error = cudaSuccess;

/// Host pointers given to a kernel are replaced by addresses in this region, a slot an argument, which nobody can
/// read or write.
constexpr std::size_t slot_bytes = std::size_t(1) << 26;
constexpr int slots = 32;
std::atomic<unsigned> slots_used = 0;  // a bit each; a wild pointer may lead to the others as well

char* guarded_region() {
  static char* const region = static_cast<char*>(
      mmap(nullptr, slot_bytes * slots, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  return region;
}

/// The source line of a code address, by binutils' addr2line; the innermost line that is not the emulation's own.
Site site_of(void* address) {
  Dl_info info;
  if (dladdr(address, &info) == 0) return {"?", 0};
  const std::size_t offset = std::size_t(static_cast<char*>(address) - static_cast<char*>(info.dli_fbase));
  char program[4096];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  if (length < 0) return {"?", 0};
  program[length] = '\0';
  char command[4400];
  std::snprintf(command, sizeof command, "addr2line -i -e '%s' 0x%zx 2>/dev/null", program, offset);
  FILE* lines = popen(command, "r");
  if (lines == nullptr) return {"?", 0};
  Site site{"?", 0};
  char line[4096];
  while (site.line == 0 && fgets(line, sizeof line, lines) != nullptr) {
    char* colon = std::strrchr(line, ':');
    if (colon == nullptr || std::strstr(line, "simt/include/") != nullptr || std::strncmp(line, "/usr/", 5) == 0)
      continue;
    *colon = '\0';
    // Kept for good: a launch fails once, and lists may name it to the end.
    site = {strdup(std::strncmp(line, "./", 2) == 0 ? line + 2 : line), std::atoi(colon + 1)};
  }
  pclose(lines);
  return site;
}

bool is_emulation(Site site) { return site.line == 0 || std::strstr(site.file, "common/simt/") != nullptr; }

std::string hex(const void* address) {
  char text[32];
  std::snprintf(text, sizeof text, "%p", address);
  return text;
}

struct Explanation {
  const char* kind;
  std::string text;
};

/// What it means that device code touched `address`.
Explanation explain(const char* address, bool is_write) {
  const std::string access = is_write ? "writes " : "reads ";
  const std::ptrdiff_t guarded = address - guarded_region();
  if (guarded >= 0 && std::size_t(guarded) < slot_bytes * slots && (slots_used >> guarded / slot_bytes & 1) != 0) {
    return {"host-pointer", access + "through argument " + std::to_string(std::size_t(guarded) / slot_bytes + 1) +
                                ", which points to host memory; copy it to memory from cudaMalloc"};
  }
  if (std::size_t(address) < 65536) {
    return {"out-of-bounds", access + "through a null pointer" + (address == nullptr ? "" : " (" + hex(address) + ")")};
  }
  if (Worker::current().stacks().guards(address)) {
    return {"stack-overflow", "needs more than " + std::to_string(Stacks::usable / 1024) +
                                  " KiB of stack; move large arrays out of the thread, and do not recurse"};
  }
  if (const Allocation* allocation = allocation_of(address)) {
    const std::string of = " an allocation of " + std::to_string(allocation->bytes) + " bytes";
    if (allocation->freed) return {"use-after-free", access + "inside" + of + " that has been freed"};
    const std::ptrdiff_t past = address - (allocation->begin + allocation->bytes);
    if (past >= 0) return {"out-of-bounds", access + std::to_string(past) + " bytes past the end of" + of};
    return {"out-of-bounds", access + std::to_string(allocation->begin - address) + " bytes before" + of};
  }
  return {"out-of-bounds", access + "address " + hex(address) + ", which is in no allocation"};
}

/// The program counter at which a signal came.
void* interrupted_at(void* context) {
  const auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return reinterpret_cast<void*>(registers.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return reinterpret_cast<void*>(registers.pc);
#endif
}

/// The innermost line of the program from which the emulation or a library was called that has used up a stack: the
/// first return address that lies there. (Frames have no chain to follow.)
Site caller_at_end_of_stack(const void* lowest) {
  Dl_info code, ours;
  if (dladdr(reinterpret_cast<void*>(&caller_at_end_of_stack), &ours) == 0) return {"?", 0};
  const auto* const words = static_cast<void* const*>(lowest);
  for (int i = 0; i < 512; ++i) {
    if (dladdr(words[i], &code) == 0 || code.dli_fbase != ours.dli_fbase) continue;
    const Site site = site_of(static_cast<char*>(words[i]) - 1);
    if (!is_emulation(site)) return site;
  }
  return {"?", 0};
}

#if defined(__x86_64__)
/// Two kinds of faults come without an address. Of a pointer into nowhere, some register holds it.
Explanation explain_without_address(const ucontext_t* context) {
  for (int i = REG_R8; i <= REG_RSP; ++i) {
    const auto value = static_cast<long long>(context->uc_mcontext.gregs[i]);
    if (value << 16 >> 16 != value) return {"out-of-bounds", "follows a pointer that is no address: was it ever set?"};
  }
  return {"misaligned", "accesses 16 bytes or more at an address that is no multiple of that"};
}
#endif

/// Memory that the host has written to, and not one of its variables: a number is hardly ever such an address.
bool is_host_heap_or_stack(void* address) {
  const auto page = std::uintptr_t(sysconf(_SC_PAGESIZE));
  unsigned char resident = 0;
  Dl_info info;
  return std::uintptr_t(address) >= 65536 && std::uintptr_t(address) >> 47 == 0 &&
         mincore(reinterpret_cast<void*>(std::uintptr_t(address) / page * page), 1, &resident) == 0 &&
         (resident & 1) != 0 && dladdr(address, &info) == 0;
}

struct sigaction previous[64];

void handle(int signal, siginfo_t* info, void* context) {
  Worker* const worker = Worker::running();
  if (worker == nullptr) {  // host code: as if we had not been here
    sigaction(signal, &previous[signal], nullptr);
    SIMT_OBSERVE(check::end_program();)
    return;  // the instruction faults again
  }
  void* const where = interrupted_at(context);
#if defined(__x86_64__)
  // The page-fault error code's bit 1 tells a write.
  const bool is_write = (static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#else
  const bool is_write = false;
#endif
  Site site = site_of(where);
  const Stacks& stacks = worker->stacks();
  if (stacks.guards(info->si_addr) && is_emulation(site)) {
    site = caller_at_end_of_stack(stacks.above_guard(info->si_addr));
  }
#ifdef SIMT_CHECK
  if (is_emulation(site)) {
    site = site_of(reinterpret_cast<void*>(check::done_for()));
  }
#endif
  if (signal == SIGFPE) worker->fail("arithmetic", "integer division by zero", site, cudaErrorLaunchFailure);
  if (signal == SIGILL) worker->fail("trap", "illegal instruction", site, cudaErrorIllegalInstruction);
  Explanation why = explain(static_cast<char*>(info->si_addr), is_write);
#if defined(__x86_64__)
  if (info->si_code == SI_KERNEL) why = explain_without_address(static_cast<ucontext_t*>(context));
#endif
  worker->fail(why.kind, why.text, site, cudaErrorIllegalAddress);
}

/// Somebody ends this program: says in which line of device code it was, unless that is the emulation's own and a
/// later look may find a better one. The last look takes the barrier that threads were seen at, else the launch.
void tell_where(Worker& worker, void* where) {
  static Site barrier{"?", 0};
  Site told = site_of(where);
  if (is_emulation(told)) {
    if (worker.barrier_site().line != 0) barrier = worker.barrier_site();
    if (looks_left.fetch_sub(1) > 1) return;
    told = barrier.line != 0 ? barrier : worker.launch_site();
  }
  const std::string text = "this is where the program was when it was ended: " + worker.here();
  std::fprintf(stderr, "%s:%d: error: hang: %s\n", told.file, told.line, text.c_str());
  std::fflush(stderr);
  std::signal(SIGTERM, SIG_DFL);
  kill(getpid(), SIGTERM);
  for (;;) pause();
}

/// SIGTERM: the watchdog has the running workers tell where they are. Host code ends as if we had not been here.
void end(int, siginfo_t*, void*) {
  if (a_kernel_runs()) {
    SIMT_OBSERVE(check::ask_to_end(); return;)
    looks_left = 10;
    return;
  }
  std::signal(SIGTERM, SIG_DFL);
  raise(SIGTERM);
}

/// Runs on the interrupted thread's own stack, which goes on here when its turn comes again.
void interrupt(int, siginfo_t*, void* context) {
  Worker* const worker = Worker::running();
  void* const where = interrupted_at(context);
  Dl_info code, ours;
  // Only in the program's own code: a library may hold a lock.
  if (worker == nullptr || dladdr(where, &code) == 0 || dladdr(reinterpret_cast<void*>(&interrupt), &ours) == 0 ||
      code.dli_fbase != ours.dli_fbase) {
    return;
  }
  if (is_ending()) {
    if (!looking.exchange(true)) {
      tell_where(*worker, where);
      looking = false;
    }
    return;
  }
  if (is_uninterrupted(where)) return;
#ifdef SIMT_CHECK
  if (looking.exchange(true)) return;
  const Site site = site_of(where);
  looking = false;
  if (is_emulation(site)) return;  // a later look finds the program
#else
  const Site site{};
#endif
  // Until here the signal was blocked: another one now would find this handler, not what must not be interrupted.
  // From here on it has to come through, because other threads run before this handler ends.
  sigset_t this_signal;
  sigemptyset(&this_signal);
  sigaddset(&this_signal, interrupt_signal);
  pthread_sigmask(SIG_UNBLOCK, &this_signal, nullptr);
  worker->preempt(site);
}

}  // namespace

bool is_ending() { return looks_left > 0; }
bool is_looked_at() { return looking; }

cudaError_t sticky() { return sticky_error; }
void set_sticky(cudaError_t error) { sticky_error = error; }

const volatile void* guard_pointer(const volatile void* pointer, int position) {
  const void* address = const_cast<const void*>(pointer);
  if (address == nullptr || is_device(address) || allocation_of(address) != nullptr || position > slots) return pointer;
  slots_used |= 1u << (position - 1);
  return guarded_region() + std::size_t(position - 1) * slot_bytes + (std::size_t(address) & 255);
}

void guard_words(void* object, std::size_t bytes, int position) {
  for (std::size_t at = 0; at + sizeof(void*) <= bytes; at += sizeof(void*)) {
    void* word;
    std::memcpy(&word, static_cast<char*>(object) + at, sizeof word);
    if (!is_host_heap_or_stack(word)) continue;
    const auto guarded = guard_pointer(word, position);
    std::memcpy(static_cast<char*>(object) + at, &guarded, sizeof guarded);
  }
}

void report(const char* kind, const std::string& text, Site site, cudaError_t error) {
#ifdef SIMT_CHECK
  check::stop_observing();  // what follows is no device code
#endif
  if (!first_failure()) return;
  std::string end;
  if (order_seed() != 0) end = " (lane order: SIMT_SEED=" + std::to_string(order_seed()) + ")";
#ifdef SIMT_CHECK
  check::add_finding(kind, site, text + end);
#else
  std::fprintf(stderr, "%s:%d: error: %s: %s%s\n", site.file, site.line, kind, text.c_str(), end.c_str());
  std::fflush(stderr);
#endif
  set_sticky(error);
}

SignalStack::SignalStack() : memory_(std::size_t(1) << 18) {
  stack_t stack{};
  stack.ss_sp = memory_.data();
  stack.ss_size = memory_.size();
  sigaltstack(&stack, nullptr);
}

SignalStack::~SignalStack() {
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
}

void catch_faults() {
  static std::once_flag once;
  std::call_once(once, [] {
    guarded_region();
    struct sigaction action{};
    action.sa_sigaction = handle;
    // The handler leaves by switching stacks, so the signal must not stay blocked.
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    struct sigaction interruption{};
    interruption.sa_sigaction = interrupt;
    interruption.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&interruption.sa_mask);
    sigaction(interrupt_signal, &interruption, nullptr);
    struct sigaction ending{}, before{};
    ending.sa_sigaction = end;
    ending.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigemptyset(&ending.sa_mask);
    if (sigaction(SIGTERM, nullptr, &before) == 0 && before.sa_handler == SIG_DFL) sigaction(SIGTERM, &ending, nullptr);
    for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigaction(signal, &action, &previous[signal]);
  });
}

}  // namespace simt

/// In place of the C library's: what assert() calls.
extern "C" [[noreturn]] void __assert_fail(const char* assertion, const char* file, unsigned line,
                                           const char* function) noexcept(false) {
  if (simt::Worker* const worker = simt::Worker::running()) {
    worker->fail("assert", std::string("assertion failed: ") + assertion, {file, int(line)}, cudaErrorAssert);
  }
  std::fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, assertion);
  std::abort();
}

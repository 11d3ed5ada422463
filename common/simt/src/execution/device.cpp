// What device code calls.
#include "simt/device.h"
#include "simt/ptx.h"

#include <time.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "context.h"
#include "worker.h"

// A block's __shared__ arrays are thread-local variables too, in the zero-initialized part of the OS thread's memory
// (.tbss). What the emulation needs itself starts with a value other than zero, which puts it into the part before that
// (.tdata), out of reach of a kernel that writes past the end of an array. Nor is any of it in an unnamed namespace: a
// compiler may split a variable that only it can see, and the parts that start with zero would go into .tbss.
__thread uint3 threadIdx{~0u, ~0u, ~0u};
__thread uint3 blockIdx{~0u, ~0u, ~0u};
__thread dim3 blockDim{~0u};
__thread dim3 gridDim{~0u};

namespace simt {
namespace {

[[noreturn, gnu::cold, gnu::noinline]] void outside_kernel(const char* what, Site site) {
  std::fprintf(stderr, "%s:%d: error: %s was called outside a kernel; only device code may call it\n", site.file,
               site.line, what);
  std::abort();
}

[[gnu::always_inline]] inline Worker& running_worker(const char* what, Site site) {
  Worker* const worker = worker_of_thread.running;
  if (worker == nullptr) [[unlikely]]
    outside_kernel(what, site);
  return *worker;
}

}  // namespace

int block_barrier(bool predicate, Site site) {
  return running_worker("__syncthreads()", site).barrier(predicate, site);
}

void grid_barrier(Site site) { running_worker("grid.sync()", site).grid_barrier(site); }

bool is_cooperative_launch() {
  return worker_of_thread.running != nullptr && worker_of_thread.running->is_cooperative();
}

std::uint64_t warp_collective(WarpOp op, unsigned mask, std::uint64_t value, int argument, int width, Site site) {
  return running_worker("a warp primitive", site).collective(op, mask, value, argument, width, site);
}

void yield() {
  if (Worker* const worker = worker_of_thread.running) worker->yield();
}

void atomic_yield() {
  if (Worker* const worker = worker_of_thread.running) worker->atomic_yield();
}

void trap(const char* what, Site site) {
  running_worker(what, site).fail({"trap", what, site, cudaErrorLaunchFailure});
}

void* dynamic_shared() { return running_worker("dynamic shared memory", {}).dynamic_shared(); }

bool is_new_named_barrier(unsigned number) { return running_worker("a barrier", {}).comes_to_named_barrier(number); }

namespace ptx {
namespace {

constexpr std::uint32_t of_arrays = 1u << 31, middle = 1u << 30;

/// Arrays that are declared __shared__ are near it, because each OS thread has its own copy.
std::uintptr_t near_arrays() { return reinterpret_cast<std::uintptr_t>(&threadIdx); }

}  // namespace

std::uint32_t address_in_shared(const void* pointer) {
  const auto from_dynamic = std::uintptr_t(pointer) - std::uintptr_t(dynamic_shared());
  if (from_dynamic < (std::uintptr_t(1) << 20)) return std::uint32_t(from_dynamic);
  return of_arrays | std::uint32_t(std::uintptr_t(pointer) - near_arrays() + middle);
}

std::uintptr_t pointer_to_shared(std::uint32_t address) {
  if ((address & of_arrays) == 0) return std::uintptr_t(dynamic_shared()) + address;
  return near_arrays() + (address & ~of_arrays) - middle;
}

}  // namespace ptx
}  // namespace simt

#ifndef SIMT_INLINE_BARRIER
void simt_barrier(simt::Site site) { simt::running_worker("__syncthreads()", site).sync(site); }
#else
SIMT_UNINTERRUPTED void simt_hand_over(simt::Site site) {
  simt::running_worker("__syncthreads()", site).hand_over(site);
}
#endif

long long clock64() {
  SIMT_OBSERVE(simt::check::clock_read();)
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

/// In a kernel, the device's clock, which counts as clock64() does; elsewhere what the C library's function returns.
extern "C" clock_t clock() noexcept {
  if (simt::worker_of_thread.running != nullptr) return clock64();
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return used.tv_sec * CLOCKS_PER_SEC + used.tv_nsec / (1'000'000'000 / CLOCKS_PER_SEC);
}

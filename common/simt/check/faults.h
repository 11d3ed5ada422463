// The rare cases of an access: it is wrong, it is not the kernel's, or it must be recorded for a picture.
#pragma once

#include <cuda_runtime.h>

#include "state.h"

namespace simt::check {

/// Ends the running block; the launch fails with `error`.
[[noreturn]] void stop(cudaError_t error);

void report_out_of_bounds(const Access& access);
/// `freed_by`: the call that has freed it, or 0.
[[noreturn]] void report_use_after_free(const Access& access, Code freed_by);
/// Whether an access of the device's heap is in a block that has not been freed. Reports it if it is not.
bool is_in_heap_block(const Access& access);
/// Stops if the program cannot go on after the access.
void report_misaligned(const Access& access);
/// A kernel writes a __constant__ variable.
void report_constant_write(const Access& access);
void report_uninitialized(const Cell& cell, const Event& now, const Access& access);
/// The same for an exchange, once the program uses the old value (simt/atomic.h).
void await_use(const Cell& cell, const Event& now, const Access& access);

/// The first access of a __shared__ array in this launch.
void count_array(Symbol& array, Code code);

/// An access by host code. If it is to device memory, it would crash on a machine with a GPU.
void observe_host(const Access& access);
/// The same for a copy by memcpy() and the like.
void observe_host_range(const void* pointer, std::size_t bytes, Way way, Code code);
/// An access to memory without an owner, usually the thread's own variables. `frame`: an address on the thread's stack.
void observe_unowned(const Access& access, const void* frame);
/// Records the access if it lies inside memory that has a name.
void trace(Access access);
/// Shows that the launch is alive, notes that it takes long, or ends it.
void look_at_time(const Access& access);

}  // namespace simt::check

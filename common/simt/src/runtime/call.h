// What the functions of CUDA's host interface share.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>

#ifdef SIMT_CHECK
#include "../../check/check.h"
#endif
#include "../emulation.h"
#include "../execution/worker.h"
#include "../faults/host_faults.h"
#include "../faults/signals.h"
#include "simt/error.h"
#include "simt/runtime/graph_types.h"

namespace simt {

/// What the host functions keep for a host thread. Outside the unnamed namespace, and not all zero: see device.cpp.
struct NodeWork;
struct HostThread {
  bool in_host_function = false;    ///< while cudaLaunchHostFunc or cudaStreamAddCallback runs one
  NodeWork* kernel_node = nullptr;  ///< what gets the next launch, for a node of a graph
  cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;
  int not_zero = 1;
};
extern constinit thread_local HostThread host_thread;

/// Ends the kernel that called the host function `name`; `caller` is where.
[[noreturn]] void fail_host_call(Worker& worker, const char* name, void* caller);

/// What cudaMemcpyAsync does; without a stream, what cudaMemcpy does.
cudaError_t copy(const HostCall& call, void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                 std::optional<cudaStream_t> stream);

/// Rows of bytes that are copied. A pitch is the distance from one row to the next.
struct Rows {
  void* to;
  std::size_t to_pitch;
  const void* from;
  std::size_t from_pitch;
  std::size_t width;
  std::size_t height;

  std::size_t to_bytes() const { return (height - 1) * to_pitch + width; }
  std::size_t from_bytes() const { return (height - 1) * from_pitch + width; }
};

/// What cudaMemcpy2D does; with a stream, what cudaMemcpy2DAsync does.
cudaError_t copy_2d(const HostCall& call, const Rows& rows, cudaMemcpyKind kind,
                    std::optional<cudaStream_t> stream = {});

/// Rows of elements that are set to one value.
struct Fill {
  void* to;
  std::size_t pitch;
  unsigned value;
  std::size_t width;  ///< in elements
  std::size_t height;
  unsigned element_bytes = 1;

  std::size_t row_bytes() const { return width * element_bytes; }
};

/// What cudaMemset2DAsync does.
cudaError_t fill(const HostCall& call, const Fill& fill, cudaStream_t stream);

/// What a kernel asks for by cudaMemcpyAsync and the like.
struct Transfer {
  HostCall call;
  std::variant<Rows, Fill> work;
};
/// Does it in this stream, after the kernel. An error has been reported.
cudaError_t run_transfer_of_kernel(const Transfer& transfer, cudaStream_t stream);

/// What cudaLaunchHostFunc does.
void run_host_function(const HostCall& call, cudaStream_t stream, const std::function<void()>& function);

/// Frees the allocation that begins at `pointer`, and reports a pointer that is not one of these kinds'.
cudaError_t free_memory(const HostCall& call, void* pointer, std::initializer_list<MemoryKind> kinds);

// What HostWatch (simt/host_watch.h) learns of the host's work.

/// A copy, which has been found possible.
void watch_copy(const HostCall& call, const void* to, std::size_t to_bytes, const void* from, std::size_t from_bytes);

#ifdef SIMT_CHECK
/// Device memory has changed, and the observers have not seen what wrote it.
void watch_unseen_write(const std::string& text);

/// A kernel has changed this many bytes of memory that the host can read.
void watch_writes_for_host(const Kernel& kernel, std::size_t bytes);
#endif

/// Memory that kernels and the host share was allocated.
void watch_shared_memory(const HostCall& call, std::size_t bytes);

/// Runs the body of the CUDA function `name` and keeps its error for cudaGetLastError. Refused after a kernel has
/// failed, inside a host function, and inside a kernel (which nvcc would not compile).
template <class Body>
[[gnu::always_inline]] inline cudaError_t call(const char* name, Body&& body) {
  if (Worker* worker = Worker::running()) {
    fail_host_call(*worker, name, __builtin_return_address(0));  // of the CUDA function, which contains this one
  }
  catch_faults();  // host code may have some before it launches anything
  if (const cudaError_t error = sticky(); error != cudaSuccess) {
    SIMT_OBSERVE(check::host_waits_for_all();)  // nothing runs after a fault, and the host learns it here
    return error;
  }
  const cudaError_t error = host_thread.in_host_function ? cudaErrorNotPermitted : body();
  if (error != cudaSuccess) set_last_error(error);
  return error;
}

inline constexpr int* no_result = nullptr;

/// The same for a function that kernels may call, too (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism").
/// `result`: what it stores its result in, or null.
template <class Result, class Body>
[[gnu::always_inline]] inline cudaError_t call_on_both_sides(const char* name, [[maybe_unused]] Result* result,
                                                             Body&& body) {
  Worker* const worker = Worker::running();
  if (worker == nullptr) return call(name, body);
  SIMT_OBSERVE(if (result != nullptr) check::kernel_gets(result, sizeof *result, __builtin_return_address(0));)
  cudaError_t error = cudaSuccess;
  worker->uninterrupted([&] { error = body(); });
  return error;
}

}  // namespace simt

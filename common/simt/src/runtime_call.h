// What every call of the runtime API goes through.
#pragma once

#include "scheduler.h"
#include "simt/error.h"

namespace simt {

/// What the runtime knows of a host thread. In .tdata and not in the unnamed namespace: see scheduler.cpp.
struct OfHostThread {
  cudaError_t last_error = cudaSuccess;
  bool in_host_function = false;  ///< while cudaLaunchHostFunc or cudaStreamAddCallback run one
  int not_zero = 1;
};
extern constinit thread_local OfHostThread of_host_thread;

/// Runs the body of the API function `name` and keeps its error for cudaGetLastError. Refused: after a kernel failed,
/// inside a host function, and inside a kernel (which a real compiler would not let call it).
template <class Body>
cudaError_t call(const char* name, Body&& body) {
  if (Worker* worker = Worker::running()) {
    worker->fail("host-call", std::string("calls ") + name + ", which only host code may call", {"?", 0},
                 cudaErrorNotPermitted);
  }
  if (const cudaError_t lasting = sticky(); lasting != cudaSuccess) return lasting;
  const cudaError_t error = of_host_thread.in_host_function ? cudaErrorNotPermitted : body();
  if (error != cudaSuccess) set_last_error(error);
  return error;
}

// --- memory.cpp ---

void free_everything();
void release_pooled_memory();  ///< what the pools hold beyond their thresholds; at every synchronisation
std::size_t device_memory();   ///< bytes

}  // namespace simt

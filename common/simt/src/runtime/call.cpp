#include "call.h"

#include <cstring>

#include "../faults/source_lines.h"

constinit thread_local simt::HostThread simt::host_thread;

namespace simt {

void fail_host_call(Worker& worker, const char* name, void* caller) {
  Site site = line_of_call(caller);
  if (site.line == 0) site = worker.launch_site();
  const auto is = [name](const char* other) { return std::strcmp(name, other) == 0; };
  const char* const why =
      is("cudaDeviceSynchronize")
          ? ", which kernels cannot since CUDA 12: launch what must come after a child grid into cudaStreamTailLaunch"
      : is("cudaMemcpy") ? ", which only host code may call: write cudaMemcpyAsync()"
      : is("cudaMemset") ? ", which only host code may call: write cudaMemsetAsync()"
                         : ", which only host code may call: move the call there, before or after the launch";
  worker.fail({"host-call", std::string("calls ") + name + why, site, cudaErrorNotPermitted});
}

}  // namespace simt

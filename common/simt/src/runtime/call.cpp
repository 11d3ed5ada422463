#include "call.h"

#include "../faults/source_lines.h"

constinit thread_local simt::HostThread simt::host_thread;

namespace simt {

void fail_host_call(Worker& worker, const char* name, void* caller) {
  Site site = line_of_call(caller);
  if (site.line == 0) site = worker.launch_site();
  worker.fail({"host-call",
               std::string("calls ") + name +
                   ", which only host code may call: move the call there, before or after the launch",
               site, cudaErrorNotPermitted});
}

}  // namespace simt

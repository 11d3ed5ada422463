#include "graph_nodes.h"

#include "simt/launch_by_address.h"

namespace simt {
namespace {

/// While it lives, the calling thread's next launch becomes a node's work.
class NextLaunch {
 public:
  explicit NextLaunch(NodeWork& work) { host_thread.kernel_node = &work; }
  ~NextLaunch() { host_thread.kernel_node = nullptr; }
  NextLaunch(const NextLaunch&) = delete;
  NextLaunch& operator=(const NextLaunch&) = delete;
};

/// The first byte of a slice of what is copied.
char* slice_begin(const cudaPitchedPtr& memory, const cudaPos& at, std::size_t slice) {
  return static_cast<char*>(memory.ptr) + ((at.z + slice) * memory.ysize + at.y) * memory.pitch + at.x;
}

}  // namespace

cudaError_t make_kernel_work(const cudaKernelNodeParams* parameters, Site site, NodeWork& work) {
  if (parameters == nullptr || parameters->func == nullptr) return cudaErrorInvalidValue;
  if (parameters->extra != nullptr) return cudaErrorNotSupported;
  const NextLaunch next(work);
  return launch_known({parameters->func, site},
                      LaunchConfig(parameters->gridDim, parameters->blockDim, parameters->sharedMemBytes),
                      parameters->kernelParams);
}

cudaError_t make_copy_work(const HostCall& call, const cudaMemcpy3DParms* parameters, NodeWork& work) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  const cudaMemcpy3DParms& p = *parameters;
  if (p.srcArray != nullptr || p.dstArray != nullptr) return cudaErrorNotSupported;
  if (p.srcPtr.ptr == nullptr || p.dstPtr.ptr == nullptr) return cudaErrorInvalidValue;
  std::vector<Rows> slices;
  for (std::size_t slice = 0; slice < p.extent.depth; ++slice) {
    slices.push_back({slice_begin(p.dstPtr, p.dstPos, slice), p.dstPtr.pitch, slice_begin(p.srcPtr, p.srcPos, slice),
                      p.srcPtr.pitch, p.extent.width, p.extent.height});
  }
  work = copy_work(call, slices, p.kind);
  return cudaSuccess;
}

cudaError_t make_fill_work(const HostCall& call, const cudaMemsetParams* parameters, NodeWork& work) {
  if (parameters == nullptr || parameters->dst == nullptr) return cudaErrorInvalidValue;
  const cudaMemsetParams& p = *parameters;
  if (p.elementSize != 1 && p.elementSize != 2 && p.elementSize != 4) return cudaErrorInvalidValue;
  work = fill_work(call, {p.dst, p.pitch, p.value, p.width, p.height, p.elementSize});
  return cudaSuccess;
}

cudaError_t make_host_work(const HostCall& call, const cudaHostNodeParams* parameters, NodeWork& work) {
  if (parameters == nullptr || parameters->fn == nullptr) return cudaErrorInvalidValue;
  work = host_work(call, parameters->fn, parameters->userData);
  return cudaSuccess;
}

cudaError_t make_child_work(cudaGraph_t child, NodeWork& work) {
  const std::shared_ptr<Graph> graph = graph_of(child);
  if (graph == nullptr) return cudaErrorInvalidValue;
  work = {.type = cudaGraphNodeTypeGraph, .run = {}, .child = std::make_shared<Graph>(*graph)};
  return cudaSuccess;
}

cudaError_t make_work(const HostCall& call, cudaGraphNodeParams* parameters, Site site, NodeWork& work) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  cudaGraphNodeParams& p = *parameters;
  switch (p.type) {
    case cudaGraphNodeTypeKernel:
      return make_kernel_work(&p.kernel, site, work);
    case cudaGraphNodeTypeMemcpy:
      return make_copy_work(call, &p.memcpy.copyParams, work);
    case cudaGraphNodeTypeMemset:
      return make_fill_work(call, &p.memset, work);
    case cudaGraphNodeTypeHost:
      return make_host_work(call, &p.host, work);
    case cudaGraphNodeTypeGraph:
      return make_child_work(p.graph.graph, work);
    case cudaGraphNodeTypeEmpty:
      return cudaSuccess;
    case cudaGraphNodeTypeWaitEvent:
      work = wait_work(p.eventWait.event);
      return is_event(p.eventWait.event) ? cudaSuccess : cudaErrorInvalidValue;
    case cudaGraphNodeTypeEventRecord:
      work = record_work(p.eventRecord.event);
      return is_event(p.eventRecord.event) ? cudaSuccess : cudaErrorInvalidValue;
    case cudaGraphNodeTypeMemAlloc:
      return make_allocation_work(&p.alloc.dptr, p.alloc.bytesize, work);
    case cudaGraphNodeTypeMemFree:
      work = free_work(call, p.free.dptr);
      return p.free.dptr != nullptr ? cudaSuccess : cudaErrorInvalidValue;
    default:
      return p.type < cudaGraphNodeTypeCount ? cudaErrorNotSupported : cudaErrorInvalidValue;
  }
}

}  // namespace simt

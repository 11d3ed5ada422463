// What a node does, from the parameters that the program gives. Each returns an error for parameters that are wrong.
#pragma once

#include "graph.h"
#include "simt/runtime/graphs.h"

namespace simt {

/// Refuses `extra`, which passes the arguments in another way.
cudaError_t make_kernel_work(const cudaKernelNodeParams* parameters, Site site, NodeWork& work);
/// Refuses arrays.
cudaError_t make_copy_work(const HostCall& call, const cudaMemcpy3DParms* parameters, NodeWork& work);
cudaError_t make_fill_work(const HostCall& call, const cudaMemsetParams* parameters, NodeWork& work);
cudaError_t make_host_work(const HostCall& call, const cudaHostNodeParams* parameters, NodeWork& work);
/// The child as it is now.
cudaError_t make_child_work(cudaGraph_t child, NodeWork& work);
/// Any of these, and what the others of graph.h and graph_memory.h do.
cudaError_t make_work(const HostCall& call, cudaGraphNodeParams* parameters, Site site, NodeWork& work);

}  // namespace simt

#include <utility>

#include "captures.h"
#include "graph_nodes.h"
#include "handles.h"
#include "simt/runtime/graphs.h"
#include "simt/runtime/streams.h"

namespace simt {
namespace {

using Shared = std::shared_ptr<Executable>;

/// Under graphs_mutex().
std::map<cudaGraphExec_t, Shared>& executables() {
  static auto* const executables = new std::map<cudaGraphExec_t, Shared>;  // never destroyed, like graphs
  return *executables;
}

Shared executable_of(cudaGraphExec_t handle) {
  const auto found = executables().find(handle);
  return found == executables().end() ? nullptr : found->second;
}

/// Gives the step of a node other parameters.
template <class Make>
cudaError_t change_step(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraphNodeType type, Make&& make) {
  const std::lock_guard lock(graphs_mutex());
  const Shared executable = executable_of(exec);
  Executable::Step* const step = executable == nullptr ? nullptr : executable->step_of(node);
  if (step == nullptr || step->work.type != type) return cudaErrorInvalidValue;
  return make(step->work);
}

/// Whether the second graph can take the first one's place.
cudaGraphExecUpdateResultInfo compare(const Executable& old, const Executable& other) {
  const auto of_step = [&](cudaGraphExecUpdateResult result, std::size_t i) {
    return cudaGraphExecUpdateResultInfo{result, i < other.steps.size() ? other.steps[i].node : nullptr, nullptr};
  };
  for (std::size_t i = 0; i < old.steps.size() || i < other.steps.size(); ++i) {
    if (i >= old.steps.size() || i >= other.steps.size()) return of_step(cudaGraphExecUpdateErrorTopologyChanged, i);
    const Executable::Step &a = old.steps[i], &b = other.steps[i];
    if (a.work.type != b.work.type) return of_step(cudaGraphExecUpdateErrorNodeTypeChanged, i);
    if (a.after != b.after) return of_step(cudaGraphExecUpdateErrorTopologyChanged, i);
  }
  return {};
}

}  // namespace
}  // namespace simt

using namespace simt;

#define SELF {__func__, __builtin_return_address(0)}
#define CHANGE_STEP(type, make) \
  return call(__func__, [&] { return change_step(exec, node, type, [&](NodeWork& work) { return make; }); })

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t handle, unsigned long long flags) {
  return call(__func__, [&] {
    if (exec == nullptr) return cudaErrorInvalidValue;
    if ((flags & cudaGraphInstantiateFlagDeviceLaunch) != 0) return cudaErrorNotSupported;
    const std::lock_guard lock(graphs_mutex());
    const std::shared_ptr<Graph> graph = graph_of(handle);
    const auto executable = std::make_shared<Executable>();
    if (graph == nullptr || !executable->make(*graph)) return cudaErrorInvalidValue;
    executable->frees_on_launch = (flags & cudaGraphInstantiateFlagAutoFreeOnLaunch) != 0;
    *exec = reinterpret_cast<cudaGraphExec_t>(new_handle());
    executables().emplace(*exec, executable);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
  return call(__func__, [&] {
    const std::lock_guard lock(graphs_mutex());
    return is_stream(stream) && executable_of(exec) != nullptr ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  return call(__func__, [&] {
    const std::lock_guard lock(graphs_mutex());
    const Shared executable = executable_of(exec);
    if (executable == nullptr) return cudaErrorInvalidValue;
    if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t error = refused_in_capture(stream); error != cudaSuccess) return error;
    const auto as_node = [&] {
      return NodeWork{.type = cudaGraphNodeTypeGraph,
                      .run = [executable](cudaStream_t lane) { return executable->launch(lane); },
                      .child = {}};
    };
    if (const auto error = captured(stream, as_node)) return *error;
    return executable->launch(stream);
  });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return call(__func__, [&] {
    const std::lock_guard lock(graphs_mutex());
    return executables().erase(exec) == 1 ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* parameters, Site site) {
  CHANGE_STEP(cudaGraphNodeTypeKernel, make_kernel_work(parameters, site, work));
}
cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* parameters) {
  const HostCall self SELF;
  CHANGE_STEP(cudaGraphNodeTypeMemcpy, make_copy_work(self, parameters, work));
}
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void* to, const void* from,
                                               std::size_t bytes, cudaMemcpyKind kind) {
  const HostCall self SELF;
  CHANGE_STEP(cudaGraphNodeTypeMemcpy,
              (work = copy_work(self, {{to, bytes, from, bytes, bytes, 1}}, kind), cudaSuccess));
}
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemsetParams* parameters) {
  const HostCall self SELF;
  CHANGE_STEP(cudaGraphNodeTypeMemset, make_fill_work(self, parameters, work));
}
cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           const cudaHostNodeParams* parameters) {
  const HostCall self SELF;
  CHANGE_STEP(cudaGraphNodeTypeHost, make_host_work(self, parameters, work));
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraph_t child) {
  return call(__func__, [&] {
    const std::lock_guard lock(graphs_mutex());
    const Shared executable = executable_of(exec);
    const std::shared_ptr<Graph> graph = graph_of(child);
    Executable::Step* const step = executable == nullptr ? nullptr : executable->step_of(node);
    const auto made = std::make_shared<Executable>();
    if (step == nullptr || step->child == nullptr || graph == nullptr || !made->make(*graph)) {
      return cudaErrorInvalidValue;
    }
    if (compare(*step->child, *made).result != cudaGraphExecUpdateSuccess) return cudaErrorInvalidValue;
    step->child = made;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned is_enabled) {
  return call(__func__, [&] {
    const std::lock_guard lock(graphs_mutex());
    const Shared executable = executable_of(exec);
    Executable::Step* const step = executable == nullptr ? nullptr : executable->step_of(node);
    if (step == nullptr || step->work.type > cudaGraphNodeTypeMemset) return cudaErrorInvalidValue;
    step->is_enabled = is_enabled != 0;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned* is_enabled) {
  return call(__func__, [&] {
    const std::lock_guard lock(graphs_mutex());
    const Shared executable = executable_of(exec);
    const Executable::Step* const step = executable == nullptr ? nullptr : executable->step_of(node);
    if (step == nullptr || is_enabled == nullptr || step->work.type > cudaGraphNodeTypeMemset) {
      return cudaErrorInvalidValue;
    }
    *is_enabled = step->is_enabled;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t handle, cudaGraphExecUpdateResultInfo* result) {
  return call(__func__, [&] {
    const std::lock_guard lock(graphs_mutex());
    const Shared executable = executable_of(exec);
    const std::shared_ptr<Graph> graph = graph_of(handle);
    const auto made = std::make_shared<Executable>();
    if (executable == nullptr || graph == nullptr || result == nullptr || !made->make(*graph)) {
      return cudaErrorInvalidValue;
    }
    *result = compare(*executable, *made);
    if (result->result != cudaGraphExecUpdateSuccess) return cudaErrorGraphExecUpdateFailure;
    for (std::size_t i = 0; i < made->steps.size(); ++i) {
      executable->steps[i].work = made->steps[i].work;
      executable->steps[i].child = made->steps[i].child;
    }
    return cudaSuccess;
  });
}

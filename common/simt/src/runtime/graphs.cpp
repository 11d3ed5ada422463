#include "simt/runtime/graphs.h"

#include <algorithm>
#include <utility>

#include "graph.h"
#include "graph_memory.h"
#include "graph_nodes.h"
#include "simt/runtime/events.h"

namespace simt {
namespace {

/// The nodes with these handles; false if there is one that is not of the graph, or twice.
bool find_nodes(const Graph& graph, const cudaGraphNode_t* handles, std::size_t count, std::vector<Node*>& nodes) {
  if (handles == nullptr && count != 0) return false;
  for (std::size_t i = 0; i < count; ++i) {
    Node* const node = node_of(handles[i]);
    if (node == nullptr || node->graph != &graph) return false;
    if (std::find(nodes.begin(), nodes.end(), node) != nodes.end()) return false;
    nodes.push_back(node);
  }
  return true;
}

/// Where a new node goes.
struct Target {
  cudaGraphNode_t* node;
  cudaGraph_t graph;
  const cudaGraphNode_t* after;
  std::size_t count;
};

/// Adds what `make(work)` makes unless it returns an error.
template <class Make>
cudaError_t add_node(const Target& target, Make&& make) {
  const std::lock_guard lock(graphs_mutex());
  const std::shared_ptr<Graph> graph = graph_of(target.graph);
  std::vector<Node*> after;
  if (target.node == nullptr || graph == nullptr || !find_nodes(*graph, target.after, target.count, after)) {
    return cudaErrorInvalidValue;
  }
  NodeWork work;
  if (const cudaError_t error = make(work); error != cudaSuccess) return error;
  *target.node = graph->add(std::move(work), std::move(after))->handle;
  return cudaSuccess;
}

/// Gives an existing node other parameters.
template <class Make>
cudaError_t change_node(cudaGraphNode_t handle, cudaGraphNodeType type, Make&& make) {
  const std::lock_guard lock(graphs_mutex());
  Node* const node = node_of(handle);
  if (node == nullptr || node->work.type != type) return cudaErrorInvalidValue;
  return make(node->work);
}

/// What is in a list of handles, or its length.
cudaError_t give(const std::vector<cudaGraphNode_t>& found, cudaGraphNode_t* nodes, std::size_t* count) {
  if (count == nullptr) return cudaErrorInvalidValue;
  if (nodes != nullptr) {
    std::fill(nodes, nodes + *count, nullptr);
    std::copy_n(found.begin(), std::min(*count, found.size()), nodes);
    *count = std::min(*count, found.size());
  } else {
    *count = found.size();
  }
  return cudaSuccess;
}

template <class Select>
cudaError_t give_nodes(const Graph* graph, cudaGraphNode_t* nodes, std::size_t* count, Select&& select) {
  if (graph == nullptr) return cudaErrorInvalidValue;
  std::vector<cudaGraphNode_t> found;
  for (const auto& node : graph->nodes) {
    if (select(*node)) found.push_back(node->handle);
  }
  return give(found, nodes, count);
}

bool follows(const Node& node, const Node* before) {
  return std::find(node.after.begin(), node.after.end(), before) != node.after.end();
}

/// Calls `change(from, to)` for each pair of nodes of the graph.
template <class Change>
cudaError_t for_pairs(cudaGraph_t handle, const cudaGraphNode_t* from, const cudaGraphNode_t* to, std::size_t count,
                      Change&& change) {
  const std::lock_guard lock(graphs_mutex());
  const std::shared_ptr<Graph> graph = graph_of(handle);
  if (graph == nullptr || (count != 0 && (from == nullptr || to == nullptr))) return cudaErrorInvalidValue;
  for (std::size_t i = 0; i < count; ++i) {
    Node *const before = node_of(from[i]), *const after = node_of(to[i]);
    if (before == nullptr || after == nullptr || before == after) return cudaErrorInvalidValue;
    if (before->graph != graph.get() || after->graph != graph.get()) return cudaErrorInvalidValue;
    if (!change(*before, *after)) return cudaErrorInvalidValue;
  }
  return cudaSuccess;
}

}  // namespace
}  // namespace simt

using namespace simt;

// (Macros, because the return address is that of the function that uses them.)
#define SELF {__func__, __builtin_return_address(0)}
#define ADD_NODE(make) \
  return call(__func__, [&] { return add_node({node, graph, after, count}, [&](NodeWork& work) { return make; }); })
#define CHANGE_NODE(type, make) \
  return call(__func__, [&] { return change_node(node, type, [&](NodeWork& work) { return make; }); })

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  return call(__func__, [&] {
    if (graph == nullptr || flags != 0) return cudaErrorInvalidValue;
    const std::lock_guard lock(graphs_mutex());
    *graph = handle_of_graph(std::make_shared<Graph>());
    return cudaSuccess;
  });
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
  return call(__func__, [&] {
    const std::lock_guard lock(graphs_mutex());
    const std::shared_ptr<Graph> original = graph_of(graph);
    if (clone == nullptr || original == nullptr) return cudaErrorInvalidValue;
    *clone = handle_of_graph(std::make_shared<Graph>(*original));
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return call(__func__, [&] {
    const std::lock_guard lock(graphs_mutex());
    return remove_graph(graph);
  });
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                   std::size_t count, const cudaKernelNodeParams* parameters, Site site) {
  ADD_NODE(make_kernel_work(parameters, site, work));
}
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                   std::size_t count, const cudaMemcpy3DParms* parameters) {
  const HostCall self SELF;
  ADD_NODE(make_copy_work(self, parameters, work));
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                     std::size_t count, void* to, const void* from, std::size_t bytes,
                                     cudaMemcpyKind kind) {
  const HostCall self SELF;
  ADD_NODE((work = copy_work(self, {{to, bytes, from, bytes, bytes, 1}}, kind), cudaSuccess));
}
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                   std::size_t count, const cudaMemsetParams* parameters) {
  const HostCall self SELF;
  ADD_NODE(make_fill_work(self, parameters, work));
}
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                 std::size_t count, const cudaHostNodeParams* parameters) {
  const HostCall self SELF;
  ADD_NODE(make_host_work(self, parameters, work));
}
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                       std::size_t count, cudaGraph_t child) {
  ADD_NODE(make_child_work(child, work));
}
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                  std::size_t count) {
  ADD_NODE((work = NodeWork{}, cudaSuccess));
}
cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                        std::size_t count, cudaEvent_t event) {
  ADD_NODE((work = record_work(event), is_event(event) ? cudaSuccess : cudaErrorInvalidValue));
}
cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                      std::size_t count, cudaEvent_t event) {
  ADD_NODE((work = wait_work(event), is_event(event) ? cudaSuccess : cudaErrorInvalidValue));
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                     std::size_t count, cudaMemAllocNodeParams* parameters) {
  ADD_NODE(parameters == nullptr ? cudaErrorInvalidValue
                                 : make_allocation_work(&parameters->dptr, parameters->bytesize, work));
}
cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                    std::size_t count, void* pointer) {
  const HostCall self SELF;
  ADD_NODE((work = free_work(self, pointer), pointer == nullptr ? cudaErrorInvalidValue : cudaSuccess));
}
cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                             const cudaGraphEdgeData*, std::size_t count, cudaGraphNodeParams* parameters, Site site) {
  const HostCall self SELF;
  ADD_NODE(make_work(self, parameters, site, work));
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t handle) {
  return call(__func__, [&] {
    const std::lock_guard lock(graphs_mutex());
    Node* const node = node_of(handle);
    if (node == nullptr) return cudaErrorInvalidValue;
    Graph& graph = *node->graph;
    for (const auto& other : graph.nodes) std::erase(other->after, node);
    graph.remove(node);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* parameters, Site site) {
  CHANGE_NODE(cudaGraphNodeTypeKernel, make_kernel_work(parameters, site, work));
}
cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from, std::size_t bytes,
                                           cudaMemcpyKind kind) {
  const HostCall self SELF;
  CHANGE_NODE(cudaGraphNodeTypeMemcpy,
              (work = copy_work(self, {{to, bytes, from, bytes, bytes, 1}}, kind), cudaSuccess));
}
cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* parameters) {
  const HostCall self SELF;
  CHANGE_NODE(cudaGraphNodeTypeMemset, make_fill_work(self, parameters, work));
}
cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* parameters) {
  const HostCall self SELF;
  CHANGE_NODE(cudaGraphNodeTypeHost, make_host_work(self, parameters, work));
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                     const cudaGraphEdgeData*, std::size_t count) {
  return call(__func__, [&] {
    return for_pairs(graph, from, to, count, [](Node& before, Node& after) {
      if (follows(after, &before)) return false;
      after.after.push_back(&before);
      return true;
    });
  });
}
cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                        const cudaGraphEdgeData*, std::size_t count) {
  return call(__func__, [&] {
    return for_pairs(graph, from, to, count,
                     [](Node& before, Node& after) { return std::erase(after.after, &before) != 0; });
  });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  return call(__func__, [&] {
    const std::lock_guard lock(graphs_mutex());
    return give_nodes(graph_of(graph).get(), nodes, count, [](const Node&) { return true; });
  });
}
cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  return call(__func__, [&] {
    const std::lock_guard lock(graphs_mutex());
    return give_nodes(graph_of(graph).get(), nodes, count, [](const Node& node) { return node.after.empty(); });
  });
}
cudaError_t cudaGraphGetEdges(cudaGraph_t handle, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData*,
                              std::size_t* count) {
  return call(__func__, [&] {
    const std::lock_guard lock(graphs_mutex());
    const std::shared_ptr<Graph> graph = graph_of(handle);
    if (graph == nullptr || count == nullptr || (from == nullptr) != (to == nullptr)) return cudaErrorInvalidValue;
    std::vector<cudaGraphNode_t> befores, afters;
    for (const auto& node : graph->nodes) {
      for (const Node* const before : node->after) {
        befores.push_back(before->handle);
        afters.push_back(node->handle);
      }
    }
    std::size_t length = *count;
    give(befores, from, &length);
    return give(afters, to, count);
  });
}
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t handle, cudaGraphNode_t* nodes, cudaGraphEdgeData*,
                                         std::size_t* count) {
  return call(__func__, [&] {
    const std::lock_guard lock(graphs_mutex());
    const Node* const node = node_of(handle);
    if (node == nullptr) return cudaErrorInvalidValue;
    return give_nodes(node->graph, nodes, count, [&](const Node& other) { return follows(*node, &other); });
  });
}
cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t handle, cudaGraphNode_t* nodes, cudaGraphEdgeData*,
                                           std::size_t* count) {
  return call(__func__, [&] {
    const std::lock_guard lock(graphs_mutex());
    const Node* const node = node_of(handle);
    if (node == nullptr) return cudaErrorInvalidValue;
    return give_nodes(node->graph, nodes, count, [&](const Node& other) { return follows(other, node); });
  });
}
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t handle, cudaGraphNodeType* type) {
  return call(__func__, [&] {
    const std::lock_guard lock(graphs_mutex());
    const Node* const node = node_of(handle);
    if (node == nullptr || type == nullptr) return cudaErrorInvalidValue;
    *type = node->work.type;
    return cudaSuccess;
  });
}

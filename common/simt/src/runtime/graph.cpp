#include "graph.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "handles.h"
#include "simt/runtime/events.h"
#include "simt/runtime/streams.h"

namespace simt {
namespace {

/// Under graphs_mutex().
struct Known {
  std::map<cudaGraph_t, std::shared_ptr<Graph>> graphs;
  std::map<cudaGraphNode_t, Node*> nodes;
};
Known& known() {
  static auto* const known = new Known;  // never destroyed: a static's destructor may launch a graph
  return *known;
}

/// A launch of a kernel, with its own copy of the arguments.
struct KernelNode {
  Kernel kernel;
  LaunchConfig config;
  std::vector<std::max_align_t> arguments;

  cudaError_t operator()(cudaStream_t stream) {
    kernel.arguments = arguments.data();
    config.stream = stream;
    return simt::run(kernel, config);
  }
};

}  // namespace

std::recursive_mutex& graphs_mutex() {
  static auto* const mutex = new std::recursive_mutex;
  return *mutex;
}

Node* node_of(cudaGraphNode_t handle) {
  const auto found = known().nodes.find(handle);
  return found == known().nodes.end() ? nullptr : found->second;
}

std::shared_ptr<Graph> graph_of(cudaGraph_t handle) {
  const auto found = known().graphs.find(handle);
  return found == known().graphs.end() ? nullptr : found->second;
}

cudaGraph_t handle_of_graph(std::shared_ptr<Graph> graph) {
  const auto handle = reinterpret_cast<cudaGraph_t>(new_handle());
  known().graphs.emplace(handle, std::move(graph));
  return handle;
}

cudaError_t remove_graph(cudaGraph_t handle) {
  return known().graphs.erase(handle) == 1 ? cudaSuccess : cudaErrorInvalidValue;
}

void destroy_all_graphs() {
  const std::lock_guard lock(graphs_mutex());
  known().graphs.clear();
}

Graph::~Graph() {
  for (const auto& node : nodes) known().nodes.erase(node->handle);
}

Graph::Graph(const Graph& other) {
  std::map<const Node*, Node*> copies;
  for (const auto& node : other.nodes) copies[node.get()] = add(node->work, {});
  for (const auto& node : other.nodes) {
    for (const Node* const before : node->after) copies[node.get()]->after.push_back(copies[before]);
  }
}

Node* Graph::add(NodeWork work, std::vector<Node*> after) {
  const auto handle = reinterpret_cast<cudaGraphNode_t>(new_handle());
  nodes.push_back(std::make_unique<Node>(Node{handle, this, std::move(work), std::move(after)}));
  known().nodes.emplace(handle, nodes.back().get());
  return nodes.back().get();
}

void Graph::remove(Node* node) {
  known().nodes.erase(node->handle);
  std::erase_if(nodes, [&](const std::unique_ptr<Node>& other) { return other.get() == node; });
}

NodeWork kernel_work(const Kernel& kernel, const LaunchConfig& config) {
  KernelNode node{
      kernel, config,
      std::vector<std::max_align_t>((kernel.bytes + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t))};
  std::memcpy(static_cast<void*>(node.arguments.data()), kernel.arguments, kernel.bytes);
  node.config.returns_error = true;
  return {.type = cudaGraphNodeTypeKernel, .run = std::move(node)};
}

NodeWork copy_work(const HostCall& call, const std::vector<Rows>& slices, cudaMemcpyKind kind) {
  return {.type = cudaGraphNodeTypeMemcpy, .run = [=](cudaStream_t stream) {
            for (const Rows& rows : slices) {
              if (const cudaError_t error = copy_2d(call, rows, kind, stream); error != cudaSuccess) return error;
            }
            return cudaSuccess;
          }};
}

NodeWork fill_work(const HostCall& call, const Fill& values) {
  return {.type = cudaGraphNodeTypeMemset, .run = [=](cudaStream_t stream) { return fill(call, values, stream); }};
}

NodeWork host_work(const HostCall& call, cudaHostFn_t function, void* user_data) {
  return {.type = cudaGraphNodeTypeHost, .run = [=](cudaStream_t stream) {
            run_host_function(call, stream, [&] { function(user_data); });
            return cudaSuccess;
          }};
}

NodeWork record_work(cudaEvent_t event) {
  return {.type = cudaGraphNodeTypeEventRecord,
          .run = [=](cudaStream_t stream) { return cudaEventRecord(event, stream); }};
}

NodeWork wait_work(cudaEvent_t event) {
  return {.type = cudaGraphNodeTypeWaitEvent,
          .run = [=](cudaStream_t stream) { return cudaStreamWaitEvent(stream, event, 0); }};
}

}  // namespace simt

// Graphs as the program makes them, and as it launches them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "call.h"
#include "simt/launch.h"
#include "simt/runtime/graph_types.h"

namespace simt {

struct Graph;
class GraphMemory;

/// What a node does, in the stream that it gets.
struct NodeWork {
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  std::function<cudaError_t(cudaStream_t stream)> run = {};  ///< empty: nothing
  std::shared_ptr<const Graph> child = {};                   ///< instead: a graph
  std::shared_ptr<GraphMemory> memory = {};                  ///< that the node allocates
  void* freed = nullptr;                                     ///< what it frees
};

/// With copies of the arguments.
NodeWork kernel_work(const Kernel& kernel, const LaunchConfig& config);
NodeWork copy_work(const HostCall& call, const std::vector<Rows>& slices, cudaMemcpyKind kind);
NodeWork fill_work(const HostCall& call, const Fill& fill);
NodeWork host_work(const HostCall& call, cudaHostFn_t function, void* user_data);
NodeWork record_work(cudaEvent_t event);
NodeWork wait_work(cudaEvent_t event);

struct Node {
  cudaGraphNode_t handle;
  Graph* graph;
  NodeWork work;
  std::vector<Node*> after;  ///< in the order of creation of the dependencies
};

struct Graph {
  std::vector<std::unique_ptr<Node>> nodes;

  Graph() = default;
  ~Graph();
  Graph(const Graph& other);
  Graph& operator=(const Graph&) = delete;

  Node* add(NodeWork work, std::vector<Node*> after);
  /// Nothing must follow it.
  void remove(Node* node);
};

/// Of all graphs and captures. (Recursive: a node may launch what is captured.)
std::recursive_mutex& graphs_mutex();
/// Null: there is none.
Node* node_of(cudaGraphNode_t handle);
std::shared_ptr<Graph> graph_of(cudaGraph_t handle);
cudaGraph_t handle_of_graph(std::shared_ptr<Graph> graph);
cudaError_t remove_graph(cudaGraph_t handle);
void destroy_all_graphs();

/// A graph that can be launched. Nodes that follow one another run in one stream; each branch beside them has a stream
/// of its own, so that the observers know that nothing puts the branches in order.
class Executable {
 public:
  struct Step {
    cudaGraphNode_t node;
    NodeWork work;
    std::shared_ptr<Executable> child;
    std::vector<std::size_t> after;  ///< steps
    std::size_t lane;                ///< 0: in the stream of the launch
    cudaEvent_t done;
    bool is_enabled = true;
  };

  /// False: the dependencies form a circle.
  bool make(const Graph& graph);
  ~Executable();
  cudaError_t launch(cudaStream_t stream);
  Step* step_of(cudaGraphNode_t node);
  std::vector<Step> steps;
  bool frees_on_launch = false;  ///< what earlier launches have allocated

 private:
  std::size_t lane_for(std::size_t step, std::vector<std::size_t>& last_in_lane);
  void fork(std::size_t step, cudaStream_t stream) const;

  std::vector<cudaStream_t> lanes_;  // without the first one
  cudaEvent_t begun_ = nullptr, ended_ = nullptr;
};

}  // namespace simt

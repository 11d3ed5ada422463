#include <algorithm>
#include <limits>

#ifdef SIMT_CHECK
#include "../../check/check.h"
#endif
#include "../emulation.h"
#include "graph.h"
#include "graph_memory.h"
#include "handles.h"
#include "simt/runtime/streams.h"

namespace simt {
namespace {

constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

cudaEvent_t new_event() { return reinterpret_cast<cudaEvent_t>(new_handle()); }

// Events that only the observers know.
void record([[maybe_unused]] cudaEvent_t event, [[maybe_unused]] cudaStream_t stream) {
  SIMT_OBSERVE(check::event_recorded(event, stream);)
}
void wait([[maybe_unused]] cudaStream_t stream, [[maybe_unused]] cudaEvent_t event) {
  SIMT_OBSERVE(check::stream_waits(stream, event);)
}

/// The nodes in an order that their dependencies permit, and otherwise in that of their creation; fewer than there are
/// if there is none.
std::vector<const Node*> in_order(const Graph& graph) {
  std::vector<const Node*> order;
  std::map<const Node*, std::size_t> left;  // dependencies
  std::map<const Node*, std::vector<const Node*>> next;
  std::map<const Node*, std::size_t> number;
  for (const auto& node : graph.nodes) {
    number[node.get()] = number.size();
    left[node.get()] = node->after.size();
    for (const Node* const before : node->after) next[before].push_back(node.get());
  }
  const auto by_number = [&](const Node* a, const Node* b) { return number[a] > number[b]; };
  std::vector<const Node*> ready;
  for (const auto& node : graph.nodes) {
    if (node->after.empty()) ready.push_back(node.get());
  }
  std::make_heap(ready.begin(), ready.end(), by_number);
  while (!ready.empty()) {
    std::pop_heap(ready.begin(), ready.end(), by_number);
    const Node* const node = ready.back();
    ready.pop_back();
    order.push_back(node);
    for (const Node* const after : next[node]) {
      if (--left[after] != 0) continue;
      ready.push_back(after);
      std::push_heap(ready.begin(), ready.end(), by_number);
    }
  }
  return order;
}

}  // namespace

/// That of a node that it follows directly, if nothing has followed that one yet; otherwise a new one.
std::size_t Executable::lane_for(std::size_t step, std::vector<std::size_t>& last_in_lane) {
  for (const std::size_t before : steps[step].after) {
    std::size_t& last = last_in_lane[steps[before].lane];
    if (last != before) continue;
    last = step;
    return steps[before].lane;
  }
  last_in_lane.push_back(step);
  if (last_in_lane.size() > 1) lanes_.push_back(new_stream());
  return last_in_lane.size() - 1;
}

bool Executable::make(const Graph& graph) {
  const std::vector<const Node*> order = in_order(graph);
  if (order.size() != graph.nodes.size()) return false;
  std::map<const Node*, std::size_t> step_of_node;
  std::vector<std::size_t> last_in_lane;
  for (const Node* const node : order) {
    const std::size_t number = step_of_node[node] = steps.size();
    steps.push_back({.node = node->handle, .work = node->work, .child = {}, .after = {}, .lane = none, .done = {}});
    Step& step = steps.back();
    step.done = new_event();
    for (const Node* const before : node->after) step.after.push_back(step_of_node[before]);
    step.lane = lane_for(number, last_in_lane);
    if (node->work.child == nullptr) continue;
    step.child = std::make_shared<Executable>();
    if (!step.child->make(*node->work.child)) return false;
  }
  begun_ = new_event();
  ended_ = new_event();
  return true;
}

Executable::~Executable() {
  for (const cudaStream_t stream : lanes_) remove_stream(stream);
}

/// Lets the stream of a step wait for what precedes the step.
void Executable::fork(std::size_t number, cudaStream_t stream) const {
  const Step& step = steps[number];
  if (step.after.empty() && step.lane != 0) wait(stream, begun_);
  for (const std::size_t before : step.after) {
    if (steps[before].lane != step.lane) wait(stream, steps[before].done);
  }
}

cudaError_t Executable::launch(cudaStream_t stream) {
  for (const Step& step : steps) {
    if (step.work.memory == nullptr || !step.work.memory->is_in_use()) continue;
    const cudaError_t error = frees_on_launch ? step.work.memory->free() : cudaErrorInvalidValue;
    if (error != cudaSuccess) return error;
  }
  wait(stream, ended_);  // launches of one graph do not overlap
  if (!lanes_.empty()) record(begun_, stream);
  for (std::size_t number = 0; number < steps.size(); ++number) {
    Step& step = steps[number];
    const cudaStream_t lane = step.lane == 0 ? stream : lanes_[step.lane - 1];
    fork(number, lane);
    cudaError_t error = cudaSuccess;
    if (step.is_enabled && step.child != nullptr) error = step.child->launch(lane);
    if (step.is_enabled && step.work.run) error = step.work.run(lane);
    if (error != cudaSuccess) return error;
    if (!lanes_.empty()) record(step.done, lane);
  }
  for (const Step& step : steps) {
    if (step.lane != 0) wait(stream, step.done);
  }
  record(ended_, stream);
  return cudaSuccess;
}

Executable::Step* Executable::step_of(cudaGraphNode_t node) {
  const auto found = std::find_if(steps.begin(), steps.end(), [&](const Step& step) { return step.node == node; });
  return found == steps.end() ? nullptr : &*found;
}

}  // namespace simt

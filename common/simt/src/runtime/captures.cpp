#include "captures.h"

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>
#include <utility>

#include "handles.h"
#include "simt/runtime/graphs.h"
#include "simt/runtime/streams.h"

namespace simt {
namespace {

struct Capture {
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  cudaGraph_t handle = nullptr;  ///< once the program has asked for it
  cudaStream_t origin;
  cudaStreamCaptureMode mode;
  std::thread::id thread = std::this_thread::get_id();
  unsigned long long id;
  bool is_useless = false;  ///< an error has occurred
};

/// Where a stream or an event is in a capture: what comes next follows these nodes.
struct Place {
  std::shared_ptr<Capture> capture;
  std::vector<Node*> after;
};

/// Under graphs_mutex().
struct Captures {
  std::map<cudaStream_t, Place> streams;
  std::map<cudaEvent_t, Place> events;
  unsigned long long last_id = 0;
};
Captures& captures() {
  static auto* const captures = new Captures;  // never destroyed: a static's destructor may use a stream
  return *captures;
}
/// So that programs without captures need no lock.
std::atomic<std::size_t> streams_in_capture = 0;

void count_streams() { streams_in_capture = captures().streams.size(); }

Place* place_of(cudaStream_t stream) {
  const auto found = captures().streams.find(stream);
  return found == captures().streams.end() ? nullptr : &found->second;
}

bool is_legacy(cudaStream_t stream) { return stream == nullptr || stream == cudaStreamLegacy; }

cudaError_t fail(Place& place, cudaError_t error) {
  place.capture->is_useless = true;
  return error;
}

void join(std::vector<Node*>& nodes, const std::vector<Node*>& others) {
  for (Node* const node : others) {
    if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) nodes.push_back(node);
  }
}

/// All nodes that precede these, and these.
std::set<const Node*> all_before(const std::vector<Node*>& nodes) {
  std::set<const Node*> all;
  std::vector<const Node*> left(nodes.begin(), nodes.end());
  while (!left.empty()) {
    const Node* const node = left.back();
    left.pop_back();
    if (all.insert(node).second) left.insert(left.end(), node->after.begin(), node->after.end());
  }
  return all;
}

/// Whether every stream that has joined the capture has come back.
bool is_joined(const Place& origin) {
  const std::set<const Node*> known = all_before(origin.after);
  for (const auto& [stream, place] : captures().streams) {
    if (place.capture != origin.capture) continue;
    for (const Node* const node : place.after) {
      if (known.count(node) == 0) return false;
    }
  }
  return true;
}

void forget(const std::shared_ptr<Capture>& capture) {
  std::erase_if(captures().streams, [&](const auto& entry) { return entry.second.capture == capture; });
  std::erase_if(captures().events, [&](const auto& entry) { return entry.second.capture == capture; });
  count_streams();
}

/// What is wrong with the end of a capture in this stream.
cudaError_t error_at_end(cudaStream_t stream, const Place& place) {
  const Capture& capture = *place.capture;
  if (capture.origin != stream) return cudaErrorStreamCaptureUnmatched;
  if (capture.mode != cudaStreamCaptureModeRelaxed && capture.thread != std::this_thread::get_id()) {
    return cudaErrorStreamCaptureWrongThread;
  }
  if (capture.is_useless) return cudaErrorStreamCaptureInvalidated;
  return is_joined(place) ? cudaSuccess : cudaErrorStreamCaptureUnjoined;
}

/// Whether the calling thread may not do what could disturb this capture, such as to allocate memory.
bool forbids_unsafe_calls(const Capture& capture) {
  if (host_thread.capture_mode == cudaStreamCaptureModeRelaxed) return false;
  if (capture.mode == cudaStreamCaptureModeRelaxed) return false;
  if (capture.thread == std::this_thread::get_id()) return true;
  return capture.mode == cudaStreamCaptureModeGlobal && host_thread.capture_mode == cudaStreamCaptureModeGlobal;
}

}  // namespace

std::optional<cudaError_t> captured(cudaStream_t stream, const std::function<NodeWork()>& work) {
  if (streams_in_capture == 0) return {};
  const std::lock_guard lock(graphs_mutex());
  Place* const place = place_of(stream);
  if (place == nullptr) return {};
  if (place->capture->is_useless) return cudaErrorStreamCaptureInvalidated;
  place->after = {place->capture->graph->add(work(), place->after)};
  return cudaSuccess;
}

std::optional<cudaError_t> captured_record(cudaStream_t stream, cudaEvent_t event) {
  const std::lock_guard lock(graphs_mutex());
  captures().events.erase(event);
  Place* const place = place_of(stream);
  if (place == nullptr) return {};
  if (place->capture->is_useless) return cudaErrorStreamCaptureInvalidated;
  captures().events[event] = *place;
  return cudaSuccess;
}

std::optional<cudaError_t> captured_wait(cudaStream_t stream, cudaEvent_t event) {
  if (streams_in_capture == 0) return {};
  const std::lock_guard lock(graphs_mutex());
  const auto found = captures().events.find(event);
  Place* const place = place_of(stream);
  if (found == captures().events.end()) {
    if (place == nullptr) return {};
    return fail(*place, cudaErrorStreamCaptureIsolation);
  }
  Place& recorded = found->second;
  if (recorded.capture->is_useless) return cudaErrorStreamCaptureInvalidated;
  if (is_legacy(stream)) return fail(recorded, cudaErrorStreamCaptureImplicit);
  if (place == nullptr) {
    captures().streams[stream] = recorded;
    count_streams();
  } else if (place->capture != recorded.capture) {
    fail(*place, cudaSuccess);
    return fail(recorded, cudaErrorStreamCaptureMerge);
  } else {
    join(place->after, recorded.after);
  }
  return cudaSuccess;
}

cudaError_t refused_in_capture() {
  if (streams_in_capture == 0) return cudaSuccess;
  const std::lock_guard lock(graphs_mutex());
  cudaError_t error = cudaSuccess;
  for (auto& [stream, place] : captures().streams) {
    if (forbids_unsafe_calls(*place.capture)) error = fail(place, cudaErrorStreamCaptureUnsupported);
  }
  return error;
}

cudaError_t refused_in_capture(cudaStream_t stream) {
  if (streams_in_capture == 0) return cudaSuccess;
  const std::lock_guard lock(graphs_mutex());
  if (!is_legacy(stream)) return cudaSuccess;
  for (auto& [captured, place] : captures().streams) {
    if (is_blocking_stream(captured)) return fail(place, cudaErrorStreamCaptureImplicit);
  }
  return cudaSuccess;
}

cudaError_t refused_wait_in_capture(cudaStream_t stream) {
  if (streams_in_capture == 0) return cudaSuccess;
  const std::lock_guard lock(graphs_mutex());
  if (Place* const place = place_of(stream)) return fail(*place, cudaErrorStreamCaptureUnsupported);
  return refused_in_capture(stream);
}

cudaError_t refused_in_capture(cudaEvent_t event) {
  if (streams_in_capture == 0) return cudaSuccess;
  const std::lock_guard lock(graphs_mutex());
  const auto found = captures().events.find(event);
  return found == captures().events.end() ? cudaSuccess : fail(found->second, cudaErrorCapturedEvent);
}

void end_all_captures() {
  const std::lock_guard lock(graphs_mutex());
  captures().streams.clear();
  captures().events.clear();
  count_streams();
}

}  // namespace simt

using namespace simt;

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return call(__func__, [&] {
    if (mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed) return cudaErrorInvalidValue;
    if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
    if (is_legacy(stream)) return cudaErrorStreamCaptureUnsupported;
    const std::lock_guard lock(graphs_mutex());
    if (place_of(stream) != nullptr) return cudaErrorIllegalState;
    auto capture = std::make_shared<Capture>();
    capture->origin = stream;
    capture->mode = mode;
    capture->id = ++captures().last_id;
    captures().streams[stream] = {std::move(capture), {}};
    count_streams();
    return cudaSuccess;
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return call(__func__, [&] {
    if (graph == nullptr) return cudaErrorInvalidValue;
    if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
    const std::lock_guard lock(graphs_mutex());
    *graph = nullptr;
    const Place* const place = place_of(stream);
    if (place == nullptr) return cudaErrorIllegalState;
    const cudaError_t error = error_at_end(stream, *place);
    if (error == cudaErrorStreamCaptureUnmatched || error == cudaErrorStreamCaptureWrongThread) return error;
    const std::shared_ptr<Capture> capture = place->capture;
    forget(capture);
    if (error != cudaSuccess) return error;
    *graph = capture->handle != nullptr ? capture->handle : handle_of_graph(capture->graph);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                                     cudaGraph_t* graph) {
  return call(__func__, [&] {
    if (status == nullptr) return cudaErrorInvalidValue;
    if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
    const std::lock_guard lock(graphs_mutex());
    *status = cudaStreamCaptureStatusNone;
    const Place* const place = place_of(stream);
    if (place == nullptr) return refused_in_capture(stream);
    Capture& capture = *place->capture;
    *status = capture.is_useless ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
    if (id != nullptr) *id = capture.id;
    if (graph != nullptr && capture.handle == nullptr) capture.handle = handle_of_graph(capture.graph);
    if (graph != nullptr) *graph = capture.handle;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return cudaStreamGetCaptureInfo(stream, status);
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return call(__func__, [&] {
    if (mode == nullptr || *mode < cudaStreamCaptureModeGlobal || *mode > cudaStreamCaptureModeRelaxed) {
      return cudaErrorInvalidValue;
    }
    std::swap(*mode, host_thread.capture_mode);
    return cudaSuccess;
  });
}

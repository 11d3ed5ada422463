// Streams whose work is captured into a graph.
#pragma once

#include <functional>
#include <optional>

#include "graph.h"

namespace simt {

/// If the stream is being captured: adds the work to the graph instead of running it, and returns the error. To be
/// called once the work has been found possible.
std::optional<cudaError_t> captured(cudaStream_t stream, const std::function<NodeWork()>& work);
/// The same for an event that is recorded or waited for.
std::optional<cudaError_t> captured_record(cudaStream_t stream, cudaEvent_t event);
std::optional<cudaError_t> captured_wait(cudaStream_t stream, cudaEvent_t event);

/// Why the host may not do that while a stream is captured, or cudaSuccess. An error makes the capture useless.
cudaError_t refused_in_capture();                          ///< to allocate and free memory, and to wait for everything
cudaError_t refused_in_capture(cudaStream_t stream);       ///< to use this stream, if it is the default one
cudaError_t refused_wait_in_capture(cudaStream_t stream);  ///< to wait for this stream
cudaError_t refused_in_capture(cudaEvent_t event);         ///< to wait for this event

void end_all_captures();

}  // namespace simt

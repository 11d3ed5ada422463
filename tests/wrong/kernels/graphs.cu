// Graphs whose nodes nothing puts in order, and errors in their kernels.
#include "case.h"

__global__ void set(int* to, int value) {
  to[threadIdx.x] = value;  // expect: stream-race
}
__global__ void read_from(int* to, const int* from) { to[threadIdx.x] = from[threadIdx.x]; }

static cudaGraphExec_t exec;

/// Between two nodes, a dependency is missing.
CASE {
  int *from = device<int>(32), *to = device<int>(32), value = 1;
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  cudaGraphNode_t first, second;
  void* reading[] = {&to, &from};
  void* setting[] = {&from, &value};
  cudaMemset(from, 0, 32 * sizeof *from);
  cudaKernelNodeParams params = {(void*)read_from, dim3(1), dim3(32), 0, reading, nullptr};
  cudaGraphAddKernelNode(&first, graph, nullptr, 0, &params);
  params.func = (void*)set;
  params.kernelParams = setting;
  cudaGraphAddKernelNode(&second, graph, nullptr, 0, &params);
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphLaunch(exec, nullptr);
}

/// The second stream joins the first one too early.
__global__ void set_late(int* to, int value) { to[threadIdx.x] = value; }
__global__ void read_early(int* to, const int* from) {
  to[threadIdx.x] = from[threadIdx.x];  // expect: stream-race
}
CASE {
  int *from = device<int>(32), *to = device<int>(32);
  cudaMemset(from, 0, 32 * sizeof *from);
  cudaStream_t stream, other;
  cudaStreamCreate(&stream);
  cudaStreamCreate(&other);
  cudaEvent_t forked, joined;
  cudaEventCreate(&forked);
  cudaEventCreate(&joined);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  cudaEventRecord(forked, stream);
  cudaStreamWaitEvent(other, forked);
  set_late<<<1, 32, 0, other>>>(from, 1);
  read_early<<<1, 32, 0, stream>>>(to, from);
  cudaEventRecord(joined, other);
  cudaStreamWaitEvent(stream, joined);
  cudaGraph_t graph;
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphLaunch(exec, stream);
}

/// A node's kernel leaves its array.
__global__ void past(int* to, int n) {
  to[threadIdx.x + n] = 1;  // expect: out-of-bounds
}
CASE {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  int* to = device<int>(32);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  past<<<1, 32, 0, stream>>>(to, 1);
  cudaGraph_t graph;
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphLaunch(exec, stream);
}

/// The host reads what the graph may not have copied yet.
CASE {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  int *from = filled<int>(32), *host = nullptr;
  cudaMallocHost(&host, 32 * sizeof *host);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  cudaMemcpyAsync(host, from, 32 * sizeof *host, cudaMemcpyDeviceToHost, stream);
  cudaGraph_t graph;
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphLaunch(exec, stream);
  std::printf("%d\n", host[3]);  // expect: stream-race
}

/// A kernel's launch in a captured stream that no device could make.
__global__ void too_many(int* to) { to[threadIdx.x] = 1; }
CASE {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  int* to = device<int>(2048);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  too_many<<<1, 2048, 0, stream>>>(to);  // expect: invalid-launch
  cudaGraph_t graph;
  cudaStreamEndCapture(stream, &graph);
}

/// A kernel behind the node that frees its memory.
__global__ void late(int* to) { to[threadIdx.x] = 1; }  // expect: use-after-free
CASE {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  int* to = nullptr;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  cudaMallocAsync(&to, 32 * sizeof(int), stream);
  cudaFreeAsync(to, stream);
  late<<<1, 32, 0, stream>>>(to);
  cudaGraph_t graph;
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphLaunch(exec, stream);
}

/// Memory that a graph allocates and nothing writes.
__global__ void take(int* to, const int* from) { to[threadIdx.x] = from[threadIdx.x]; }  // expect: uninitialized
CASE {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  int *memory = nullptr, *to = device<int>(32);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  cudaMallocAsync(&memory, 32 * sizeof(int), stream);
  take<<<1, 32, 0, stream>>>(to, memory);
  cudaFreeAsync(memory, stream);
  cudaGraph_t graph;
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphLaunch(exec, stream);
}

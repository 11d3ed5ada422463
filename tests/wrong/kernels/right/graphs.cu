// Graphs whose nodes are in order, though in different branches.
#include "../case.h"

__global__ void set(int* to, int value) { to[threadIdx.x] = value; }
__global__ void copy(int* to, const int* from) { to[threadIdx.x] = from[threadIdx.x]; }
__global__ void add(int* to, const int* a, const int* b) { to[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x]; }

/// Two branches, then one; launched again and again, in two streams.
CASE {
  int *a = device<int>(32), *b = device<int>(32), *c = device<int>(32), host[32];
  cudaStream_t stream, other, third;
  for (cudaStream_t* one : {&stream, &other, &third}) cudaStreamCreateWithFlags(one, cudaStreamNonBlocking);
  cudaEvent_t forked, joined;
  cudaEventCreate(&forked);
  cudaEventCreate(&joined);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  set<<<1, 32, 0, stream>>>(a, 1);
  cudaEventRecord(forked, stream);
  cudaStreamWaitEvent(other, forked);
  copy<<<1, 32, 0, other>>>(b, a);
  copy<<<1, 32, 0, stream>>>(c, a);
  cudaEventRecord(joined, other);
  cudaStreamWaitEvent(stream, joined);
  add<<<1, 32, 0, stream>>>(a, b, c);
  cudaGraph_t graph;
  cudaStreamEndCapture(stream, &graph);
  cudaGraphExec_t exec;
  cudaGraphInstantiate(&exec, graph, 0);
  for (int i = 0; i < 3; ++i) {
    cudaGraphLaunch(exec, stream);
    cudaGraphLaunch(exec, third);
  }
  cudaStreamSynchronize(third);
  cudaMemcpy(host, a, sizeof host, cudaMemcpyDeviceToHost);
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
}

/// Dependencies between nodes, in a graph within a graph. What follows in the stream comes after the graph.
CASE {
  int *a = device<int>(32), *b = device<int>(32), value = 3;
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaGraph_t child, parent;
  cudaGraphCreate(&child, 0);
  cudaGraphCreate(&parent, 0);
  cudaGraphNode_t first, second, whole, empty;
  void* setting[] = {&a, &value};
  void* copying[] = {&b, &a};
  cudaKernelNodeParams params = {(void*)set, dim3(1), dim3(32), 0, setting, nullptr};
  cudaGraphAddKernelNode(&first, child, nullptr, 0, &params);
  params.func = (void*)copy;
  params.kernelParams = copying;
  cudaGraphAddKernelNode(&second, child, &first, 1, &params);
  cudaGraphAddEmptyNode(&empty, parent, nullptr, 0);
  cudaGraphAddChildGraphNode(&whole, parent, nullptr, 0, child);
  cudaGraphExec_t exec;
  cudaGraphInstantiate(&exec, parent, 0);
  cudaGraphDestroy(child);
  set<<<1, 32, 0, stream>>>(a, 2);
  cudaGraphLaunch(exec, stream);
  set<<<1, 32, 0, stream>>>(a, 4);
  set<<<1, 32, 0, stream>>>(b, 5);
}

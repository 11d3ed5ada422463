// Graphs: by capture, and node by node.
#include <vector>

#include "expect.h"

namespace {

__global__ void add(int* to, int value, int n) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) to[i] += value;
}
__global__ void multiply(int* to, const int* from, int factor) { to[threadIdx.x] = from[threadIdx.x] * factor; }
template <class T>
__global__ void sum_of(T* to, const T* a, const T* b) {
  to[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}
void count_up(void* counter) { ++*static_cast<int*>(counter); }

constexpr int n = 64;

void by_capture() {
  Array<int> a(n);
  std::vector<int> in(n, 5), out(n, 0);
  int calls = 0;
  cudaStream_t stream;
  CUDA(cudaStreamCreate(&stream));
  cudaStreamCaptureStatus status;
  CUDA(cudaStreamIsCapturing(stream, &status));
  EXPECT(status == cudaStreamCaptureStatusNone);
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CUDA(cudaStreamIsCapturing(stream, &status));
  EXPECT(status == cudaStreamCaptureStatusActive);
  CUDA(cudaMemcpyAsync(a.data(), in.data(), n * sizeof(int), cudaMemcpyHostToDevice, stream));
  for (int i = 1; i <= 3; ++i) add<<<2, 32, 0, stream>>>(a.data(), i, n);
  CUDA(cudaGetLastError());
  CUDA(cudaMemsetAsync(a.data(), 0, sizeof(int), stream));
  CUDA(cudaMemcpyAsync(out.data(), a.data(), n * sizeof(int), cudaMemcpyDeviceToHost, stream));
  CUDA(cudaLaunchHostFunc(stream, count_up, &calls));
  cudaGraph_t graph;
  CUDA(cudaStreamEndCapture(stream, &graph));
  EXPECT(calls == 0 && out[1] == 0);
  std::size_t count = 0;
  CUDA(cudaGraphGetNodes(graph, nullptr, &count));
  EXPECT(count == 7);
  cudaGraphExec_t exec;
  CUDA(cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  for (int i = 1; i <= 3; ++i) {
    CUDA(cudaGraphLaunch(exec, stream));
    CUDA(cudaStreamSynchronize(stream));
    EXPECT(calls == i && out[0] == 0 && out[1] == 11 && out[n - 1] == 11);
  }
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphDestroy(graph));
  CUDA(cudaStreamDestroy(stream));
}

/// Two streams that an event divides and another one joins.
void fork_and_join() {
  Array<int> a(n), b(n), c(n);
  a.fill([](int i) { return i; });
  cudaStream_t first, second;
  CUDA(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  CUDA(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  cudaEvent_t forked, joined;
  CUDA(cudaEventCreateWithFlags(&forked, cudaEventDisableTiming));
  CUDA(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming));
  CUDA(cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal));
  add<<<2, 32, 0, first>>>(a.data(), 1, n);
  CUDA(cudaEventRecord(forked, first));
  CUDA(cudaStreamWaitEvent(second, forked, 0));
  multiply<<<1, n, 0, first>>>(b.data(), a.data(), 2);
  multiply<<<1, n, 0, second>>>(c.data(), a.data(), 10);
  CUDA(cudaEventRecord(joined, second));
  CUDA(cudaStreamWaitEvent(first, joined, 0));
  sum_of<<<1, n, 0, first>>>(a.data(), b.data(), c.data());
  cudaGraph_t graph;
  CUDA(cudaStreamEndCapture(first, &graph));
  std::size_t roots = 0, nodes = 0;
  CUDA(cudaGraphGetRootNodes(graph, nullptr, &roots));
  CUDA(cudaGraphGetNodes(graph, nullptr, &nodes));
  EXPECT(roots == 1 && nodes == 4);
  cudaGraphExec_t exec;
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  CUDA(cudaGraphUpload(exec, first));
  CUDA(cudaGraphLaunch(exec, first));
  CUDA(cudaGraphLaunch(exec, second));  // after the first launch
  CUDA(cudaDeviceSynchronize());
  EXPECT(a.values()[3] == ((3 + 1) * 12 + 1) * 12);
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphDestroy(graph));
  CUDA(cudaEventDestroy(forked));
  CUDA(cudaEventDestroy(joined));
  CUDA(cudaStreamDestroy(first));
  CUDA(cudaStreamDestroy(second));
}

cudaKernelNodeParams launch_of(void* kernel, int threads, void** arguments) {
  cudaKernelNodeParams params = {};
  params.func = kernel;
  params.gridDim = dim3(1);
  params.blockDim = dim3(unsigned(threads));
  params.kernelParams = arguments;
  return params;
}

void by_nodes() {
  Array<int> a(n), b(n), c(n);
  std::vector<int> in(n, 7), out(n, 0);
  int calls = 0;
  cudaGraph_t graph;
  CUDA(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t copy, fill, kernel, back, host, empty;
  CUDA(
      cudaGraphAddMemcpyNode1D(&copy, graph, nullptr, 0, a.data(), in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  cudaMemsetParams memset_params = {};
  memset_params.dst = b.data();
  memset_params.value = 1000;
  memset_params.elementSize = 4;
  memset_params.width = n;
  memset_params.height = 1;
  CUDA(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &memset_params));
  int *to = c.data(), *left = a.data(), *right = b.data();
  void* arguments[] = {&to, &left, &right};
  cudaKernelNodeParams params = launch_of((void*)sum_of<int>, n, arguments);
  CUDA(cudaGraphAddKernelNode(&kernel, graph, nullptr, 0, &params));
  to = nullptr;  // the node has its own copy
  const cudaGraphNode_t before[] = {copy, fill}, after[] = {kernel, kernel};
#if CUDART_VERSION >= 13000
  CUDA(cudaGraphAddDependencies(graph, before, after, nullptr, 2));
#else
  CUDA(cudaGraphAddDependencies(graph, before, after, 2));
#endif
  cudaMemcpy3DParms back_params = {};
  back_params.srcPtr = make_cudaPitchedPtr(c.data(), n * sizeof(int), n, 1);
  back_params.dstPtr = make_cudaPitchedPtr(out.data(), n * sizeof(int), n, 1);
  back_params.extent = make_cudaExtent(n * sizeof(int), 1, 1);
  back_params.kind = cudaMemcpyDeviceToHost;
  CUDA(cudaGraphAddMemcpyNode(&back, graph, &kernel, 1, &back_params));
  cudaHostNodeParams host_params = {};
  host_params.fn = count_up;
  host_params.userData = &calls;
  CUDA(cudaGraphAddHostNode(&host, graph, &back, 1, &host_params));
  CUDA(cudaGraphAddEmptyNode(&empty, graph, &host, 1));
  cudaGraphNodeType type;
  CUDA(cudaGraphNodeGetType(host, &type));
  EXPECT(type == cudaGraphNodeTypeHost);

  cudaGraphExec_t exec;
  CUDA(cudaGraphInstantiate(&exec, graph));
  CUDA(cudaGraphLaunch(exec, cudaStreamLegacy));
  CUDA(cudaDeviceSynchronize());
  EXPECT(calls == 1 && out[0] == 1007 && out[n - 1] == 1007);

  int factor = 3;
  to = c.data();
  void* others[] = {&to, &left, &factor};
  params = launch_of((void*)multiply, n / 2, others);
  CUDA(cudaGraphExecKernelNodeSetParams(exec, kernel, &params));
  CUDA(cudaGraphLaunch(exec, nullptr));
  CUDA(cudaDeviceSynchronize());
  EXPECT(calls == 2 && out[0] == 21 && out[n - 1] == 1007);
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphDestroy(graph));
}

cudaGraph_t captured_sum(cudaStream_t stream, int* data, int value, int launches) {
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  for (int i = 0; i < launches; ++i) add<<<1, n, 0, stream>>>(data, value, n);
  cudaGraph_t graph;
  CUDA(cudaStreamEndCapture(stream, &graph));
  return graph;
}

void children_and_updates() {
  Array<int> a(n);
  a.fill([](int) { return 0; });
  cudaStream_t stream;
  CUDA(cudaStreamCreate(&stream));
  const cudaGraph_t once = captured_sum(stream, a.data(), 1, 1), again = captured_sum(stream, a.data(), 100, 1),
                    twice = captured_sum(stream, a.data(), 1, 2);
  cudaGraph_t parent;
  CUDA(cudaGraphCreate(&parent, 0));
  cudaGraphNode_t first, second;
  CUDA(cudaGraphAddChildGraphNode(&first, parent, nullptr, 0, once));
  CUDA(cudaGraphAddChildGraphNode(&second, parent, &first, 1, twice));
  cudaGraphExec_t exec, of_parent;
  CUDA(cudaGraphInstantiateWithFlags(&of_parent, parent, 0));
  CUDA(cudaGraphLaunch(of_parent, stream));
  CUDA(cudaStreamSynchronize(stream));
  EXPECT(a.values()[5] == 3);

  CUDA(cudaGraphInstantiate(&exec, once, 0));
  cudaGraphExecUpdateResultInfo info;
  CUDA(cudaGraphExecUpdate(exec, again, &info));
  EXPECT(info.result == cudaGraphExecUpdateSuccess);
  CUDA(cudaGraphLaunch(exec, stream));
  CUDA(cudaStreamSynchronize(stream));
  EXPECT(a.values()[5] == 103);
  EXPECT(cudaGraphExecUpdate(exec, twice, &info) == cudaErrorGraphExecUpdateFailure);
  EXPECT(cudaGetLastError() == cudaErrorGraphExecUpdateFailure);
  for (const cudaGraphExec_t one : {exec, of_parent}) CUDA(cudaGraphExecDestroy(one));
  for (const cudaGraph_t one : {once, again, twice, parent}) CUDA(cudaGraphDestroy(one));
  CUDA(cudaStreamDestroy(stream));
}

void refusals() {
  cudaStream_t stream, other;
  CUDA(cudaStreamCreate(&stream));
  CUDA(cudaStreamCreate(&other));
  cudaEvent_t event;
  CUDA(cudaEventCreate(&event));
  cudaGraph_t graph;
  EXPECT(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal) == cudaErrorStreamCaptureUnsupported);
  EXPECT(cudaStreamEndCapture(stream, &graph) == cudaErrorIllegalState);
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  EXPECT(cudaStreamSynchronize(stream) == cudaErrorStreamCaptureUnsupported);
  EXPECT(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated && graph == nullptr);
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  void* memory;
  EXPECT(cudaMalloc(&memory, 4) == cudaErrorStreamCaptureUnsupported);
  EXPECT(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CUDA(cudaEventRecord(event, stream));
  EXPECT(cudaEventSynchronize(event) == cudaErrorCapturedEvent);
  EXPECT(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CUDA(cudaEventRecord(event, stream));
  CUDA(cudaStreamWaitEvent(other, event, 0));
  CUDA(cudaLaunchHostFunc(other, count_up, nullptr));
  EXPECT(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureUnjoined);
  cudaGetLastError();
  CUDA(cudaEventDestroy(event));
  CUDA(cudaStreamDestroy(stream));
  CUDA(cudaStreamDestroy(other));
}

}  // namespace

int main() {
  by_capture();
  fork_and_join();
  by_nodes();
  children_and_updates();
  refusals();
  return finish();
}

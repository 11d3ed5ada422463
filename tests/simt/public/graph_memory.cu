// Graphs whose nodes allocate and free memory, and nodes of all types by one function.
#include <cstdint>
#include <vector>

#include "expect.h"

namespace {

constexpr int n = 64;

__global__ void fill(int* to, int value) { to[threadIdx.x] = value + int(threadIdx.x); }
__global__ void add(int* to, const int* from) { to[threadIdx.x] += from[threadIdx.x]; }

cudaGraphNode_t add_node(cudaGraph_t graph, const std::vector<cudaGraphNode_t>& after,
                         cudaGraphNodeParams& parameters) {
  cudaGraphNode_t node;
  CUDA(cudaGraphAddNode(&node, graph, after.data(), nullptr, after.size(), &parameters));
  return node;
}

cudaGraphNode_t add_kernel(cudaGraph_t graph, cudaGraphNode_t after, void* kernel, void** arguments) {
  cudaGraphNodeParams parameters = {cudaGraphNodeTypeKernel};
  parameters.kernel.func = kernel;
  parameters.kernel.gridDim = dim3(1);
  parameters.kernel.blockDim = dim3(n);
  parameters.kernel.kernelParams = arguments;
  return add_node(graph, {after}, parameters);
}

/// Memory that exists only while the graph runs.
void scratch() {
  Array<int> sums(n);
  sums.fill([](int) { return 100; });
  cudaGraph_t graph;
  CUDA(cudaGraphCreate(&graph, 0));
  cudaGraphNodeParams allocation = {cudaGraphNodeTypeMemAlloc};
  allocation.alloc.poolProps.allocType = cudaMemAllocationTypePinned;
  allocation.alloc.poolProps.location = {cudaMemLocationTypeDevice, 0};
  allocation.alloc.bytesize = n * sizeof(int);
  const cudaGraphNode_t allocated = add_node(graph, {}, allocation);
  int* memory = static_cast<int*>(allocation.alloc.dptr);
  EXPECT(memory != nullptr);
  int value = 1;
  int* to = sums.data();
  void* of_fill[] = {&memory, &value};
  void* of_add[] = {&to, &memory};
  const cudaGraphNode_t filled = add_kernel(graph, allocated, (void*)fill, of_fill);
  const cudaGraphNode_t added = add_kernel(graph, filled, (void*)add, of_add);
  cudaGraphNodeParams release = {cudaGraphNodeTypeMemFree};
  release.free.dptr = memory;
  const cudaGraphNode_t freed = add_node(graph, {added}, release);
  cudaMemAllocNodeParams read;
  CUDA(cudaGraphMemAllocNodeGetParams(allocated, &read));
  EXPECT(read.dptr == memory && read.bytesize == n * sizeof(int));
  void* pointer = nullptr;
  CUDA(cudaGraphMemFreeNodeGetParams(freed, &pointer));
  EXPECT(pointer == memory);

  cudaGraphExec_t exec;
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 3; ++i) CUDA(cudaGraphLaunch(exec, nullptr));
  CUDA(cudaDeviceSynchronize());
  EXPECT(sums.values()[0] == 103 && sums.values()[n - 1] == 103 + 3 * (n - 1));
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphDestroy(graph));
}

std::uint64_t memory_of_graphs(cudaGraphMemAttributeType attribute) {
  std::uint64_t bytes = 0;
  CUDA(cudaDeviceGetGraphMemAttribute(0, attribute, &bytes));
  return bytes;
}

/// Graphs whose memory does not exist at the same time share it, until the program gives it back.
void footprint() {
  constexpr std::size_t bytes = std::size_t(1) << 21;
  CUDA(cudaDeviceGraphMemTrim(0));
  const auto used = [] { return memory_of_graphs(cudaGraphMemAttrUsedMemCurrent); };
  const auto reserved = [] { return memory_of_graphs(cudaGraphMemAttrReservedMemCurrent); };
  EXPECT(used() == 0 && reserved() == 0);
  cudaGraphExec_t execs[2];
  void* memory[2];
  for (int i = 0; i < 2; ++i) {
    cudaGraph_t graph;
    CUDA(cudaGraphCreate(&graph, 0));
    cudaGraphNodeParams allocation = {cudaGraphNodeTypeMemAlloc};
    allocation.alloc.poolProps.allocType = cudaMemAllocationTypePinned;
    allocation.alloc.poolProps.location = {cudaMemLocationTypeDevice, 0};
    allocation.alloc.bytesize = bytes;
    add_node(graph, {}, allocation);
    memory[i] = allocation.alloc.dptr;
    CUDA(cudaGraphInstantiate(&execs[i], graph, 0));
    CUDA(cudaGraphDestroy(graph));
  }
  EXPECT(used() == 0 && reserved() == 0);  // before a launch
  std::uint64_t one = 0;                   // what the memory of one node takes: a GPU rounds it up
  for (int i = 0; i < 2; ++i) {
    CUDA(cudaGraphLaunch(execs[0], nullptr));
    CUDA(cudaDeviceSynchronize());
    if (i == 0) one = used();
    EXPECT(one >= bytes && used() == one && reserved() == one);
    CUDA(cudaFree(memory[0]));
  }
  EXPECT(used() == one && reserved() == one);  // although it has been freed
  for (const cudaGraphExec_t exec : execs) CUDA(cudaGraphLaunch(exec, nullptr));
  CUDA(cudaDeviceSynchronize());
  CUDA(cudaDeviceGraphMemTrim(0));
  EXPECT(used() == 2 * one && reserved() == 2 * one);
  CUDA(cudaFree(memory[1]));
  CUDA(cudaDeviceGraphMemTrim(0));
  EXPECT(used() == one && reserved() == one);
  CUDA(cudaFree(memory[0]));
  for (const cudaGraphExec_t exec : execs) CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaDeviceGraphMemTrim(0));
  EXPECT(used() == 0 && reserved() == 0 && memory_of_graphs(cudaGraphMemAttrUsedMemHigh) == 2 * one);
  std::uint64_t nothing = 0;
  CUDA(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &nothing));
  CUDA(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrReservedMemHigh, &nothing));
  EXPECT(memory_of_graphs(cudaGraphMemAttrUsedMemHigh) == 0 && memory_of_graphs(cudaGraphMemAttrReservedMemHigh) == 0);
  EXPECT(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &nothing) == cudaErrorInvalidValue);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
}

/// Memory that outlives the launch, until the program frees it.
void result() {
  std::vector<int> out(n, 0);
  cudaStream_t stream;
  CUDA(cudaStreamCreate(&stream));
  int* memory = nullptr;
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CUDA(cudaMallocAsync((void**)&memory, n * sizeof(int), stream));
  fill<<<1, n, 0, stream>>>(memory, 5);
  cudaGraph_t graph;
  CUDA(cudaStreamEndCapture(stream, &graph));
  cudaGraphNode_t nodes[2];
  std::size_t count = 2;
  CUDA(cudaGraphGetNodes(graph, nodes, &count));
  cudaGraphNodeType type;
  CUDA(cudaGraphNodeGetType(nodes[0], &type));
  EXPECT(count == 2 && type == cudaGraphNodeTypeMemAlloc);

  cudaGraphExec_t exec, frees;
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  CUDA(cudaGraphLaunch(exec, stream));
  CUDA(cudaMemcpyAsync(out.data(), memory, n * sizeof(int), cudaMemcpyDeviceToHost, stream));
  CUDA(cudaStreamSynchronize(stream));
  EXPECT(out[0] == 5 && out[n - 1] == 4 + n);
  EXPECT(cudaGraphLaunch(exec, stream) == cudaErrorInvalidValue);  // the memory has not been freed
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  CUDA(cudaFreeAsync(memory, stream));
  CUDA(cudaGraphLaunch(exec, stream));
  CUDA(cudaStreamSynchronize(stream));
  CUDA(cudaFree(memory));
  CUDA(cudaGraphExecDestroy(exec));

  CUDA(cudaGraphInstantiate(&frees, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
  for (int i = 0; i < 3; ++i) CUDA(cudaGraphLaunch(frees, stream));
  CUDA(cudaStreamSynchronize(stream));
  CUDA(cudaFree(memory));
  CUDA(cudaGraphExecDestroy(frees));
  CUDA(cudaGraphDestroy(graph));
  CUDA(cudaDeviceGraphMemTrim(0));
  CUDA(cudaStreamDestroy(stream));
}

void count_up(void* counter) { ++*static_cast<int*>(counter); }

/// The other types.
void other_nodes() {
  Array<int> a(n);
  std::vector<int> in(n, 7), out(n, 0);
  int calls = 0;
  cudaGraph_t graph, child;
  cudaEvent_t event;
  CUDA(cudaEventCreate(&event));
  CUDA(cudaGraphCreate(&graph, 0));
  CUDA(cudaGraphCreate(&child, 0));
  cudaGraphNodeParams host = {cudaGraphNodeTypeHost};
  host.host.fn = count_up;
  host.host.userData = &calls;
  add_node(child, {}, host);
  cudaGraphNodeParams empty = {cudaGraphNodeTypeEmpty}, of_child = {cudaGraphNodeTypeGraph};
  cudaGraphNodeParams set = {cudaGraphNodeTypeMemset}, copy = {cudaGraphNodeTypeMemcpy};
  cudaGraphNodeParams record = {cudaGraphNodeTypeEventRecord}, wait = {cudaGraphNodeTypeWaitEvent};
  of_child.graph.graph = child;
  set.memset = {a.data(), 0, 9, 4, n / 2, 1};
  copy.memcpy.copyParams.srcPtr = make_cudaPitchedPtr(a.data(), n * sizeof(int), n, 1);
  copy.memcpy.copyParams.dstPtr = make_cudaPitchedPtr(out.data(), n * sizeof(int), n, 1);
  copy.memcpy.copyParams.extent = make_cudaExtent(n * sizeof(int), 1, 1);
  copy.memcpy.copyParams.kind = cudaMemcpyDeviceToHost;
  record.eventRecord.event = wait.eventWait.event = event;
  const cudaGraphNode_t first = add_node(graph, {}, empty);
  const cudaGraphNode_t second = add_node(graph, {first}, of_child);
  const cudaGraphNode_t third = add_node(graph, {second}, set);
  const cudaGraphNode_t fourth = add_node(graph, {third}, record);
  add_node(graph, {add_node(graph, {fourth}, copy)}, wait);
  CUDA(cudaMemcpy(a.data(), in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  cudaGraphExec_t exec;
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  CUDA(cudaGraphLaunch(exec, nullptr));
  CUDA(cudaDeviceSynchronize());
  EXPECT(calls == 1 && out[0] == 9 && out[n / 2 - 1] == 9 && out[n - 1] == 7);
  CUDA(cudaGraphExecDestroy(exec));
  for (const cudaGraph_t one : {graph, child}) CUDA(cudaGraphDestroy(one));
  CUDA(cudaEventDestroy(event));
}

}  // namespace

int main() {
  footprint();
  scratch();
  result();
  other_nodes();
  return finish();
}

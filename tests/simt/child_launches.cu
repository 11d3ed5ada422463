// Launches from kernels.
#include <doctest/doctest.h>

#include <algorithm>

#include "managed.h"

namespace {

__global__ void fill(int* a, int first) { a[first + threadIdx.x] += first + int(threadIdx.x); }

__global__ void fill_by_children(int* a) {
  a[64 * blockIdx.x + 2 * threadIdx.x] = a[64 * blockIdx.x + 2 * threadIdx.x + 1] = 0;
  __syncthreads();
  if (threadIdx.x == 0) fill<<<1, 64>>>(a, 64 * int(blockIdx.x));
}

/// Sorts by halves: each grid launches two, and merges in a grid that comes after both.
__global__ void merge(int* keys, int* buffer, int first, int middle, int last) {
  int a = first, b = middle;
  for (int i = first; i < last; ++i) {
    buffer[i] = b == last || (a < middle && keys[a] <= keys[b]) ? keys[a++] : keys[b++];
  }
  for (int i = first; i < last; ++i) keys[i] = buffer[i];
}
__global__ void sort(int* keys, int* buffer, int first, int last) {
  if (last - first < 2) return;
  const int middle = (first + last) / 2;
  sort<<<1, 1>>>(keys, buffer, first, middle);
  sort<<<1, 1, 0, cudaStreamFireAndForget>>>(keys, buffer, middle, last);
  merge<<<1, 1, 0, cudaStreamTailLaunch>>>(keys, buffer, first, middle, last);
}

__global__ void note(int* notes, int what) { notes[1 + notes[0]++] = what; }
__global__ void note_in_order(int* notes, cudaError_t* error) {
  note<<<1, 1, 0, cudaStreamTailLaunch>>>(notes, 4);
  note<<<1, 1>>>(notes, 1);
  note<<<1, 1>>>(notes, 2);
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  note<<<1, 1, 0, stream>>>(notes, 3);
  cudaStreamDestroy(stream);
  note<<<1, 1, 0, cudaStreamTailLaunch>>>(notes, 5);
  notes[1 + notes[0]++] = 0;
  *error = cudaGetLastError();
}

struct Pair {
  double a;
  int b;
};
template <class T>
__global__ void store(T* to, T value, char unused, Pair pair) {
  *to = value + T(pair.a) + T(pair.b) + T(unused);
}
__global__ void pass_arguments(double* to) { store<double><<<1, 1>>>(to, 0.5, 'a', Pair{10, 100}); }

__global__ void launch_often(int* a, int times) {
  for (int i = 0; i < times; ++i) fill<<<1, 1>>>(a, 0);
}
__global__ void launch_deeper(int* depth) {
  ++*depth;
  launch_deeper<<<1, 1>>>(depth);
}
__global__ void launch_impossible(int* a) { fill<<<1, 1025>>>(a, 0); }
__global__ void into_stream(int* a, cudaStream_t stream) { fill<<<1, 1, 0, stream>>>(a, 0); }
__global__ void pass_local(int* a) {
  int own = *a;
  fill<<<1, 1>>>(&own, 0);
}
__global__ void pass_shared() {
  __shared__ int own[32];
  fill<<<1, 32>>>(own, 0);
}
__global__ void wait_for_child(int* a) {
  fill<<<1, 1>>>(a, 0);
  cudaDeviceSynchronize();
}

/// Lists squares in memory of its own, which child grids fill, double and copy, in the order of the stream.
__global__ void square(int* a, int n) {
  for (int i = 0; i < n; ++i) a[i] += i * i;
}
__global__ void free_list(int* list) { cudaFree(list); }
__global__ void use_own_memory(int* to, cudaError_t* errors, int n) {
  int* list = nullptr;
  errors[0] = cudaMalloc(&list, n * sizeof(int));
  list[0] = 7;
  errors[1] = cudaMemsetAsync(list, 0, n * sizeof(int));
  square<<<1, 1>>>(list, n);
  errors[2] = cudaMemcpyAsync(to, list, n * sizeof(int), cudaMemcpyDeviceToDevice);
  free_list<<<1, 1, 0, cudaStreamTailLaunch>>>(list);
}

template <class Launch>
void check_failure(cudaError_t error, Launch launch) {
  Managed<int>* const data = new Managed<int>(8);  // what the reset frees
  launch(data->data());
  CHECK(cudaDeviceSynchronize() == error);
  cudaDeviceReset();
}

}  // namespace

TEST_CASE("a child grid sees what its parent has written, and the host what both have") {
  Managed<int> a(512);
  std::fill(a.data(), a.data() + 512, -1);
  fill_by_children<<<8, 32>>>(a.data());
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  for (int i = 0; i < 512; ++i) CHECK(a[i] == i);
}

TEST_CASE("child grids launch others, and cudaStreamTailLaunch comes after all of them") {
  const int n = 100;
  Managed<int> keys(n), buffer(n);
  for (int i = 0; i < n; ++i) keys[i] = (i * 37) % 101;
  sort<<<1, 1>>>(keys.data(), buffer.data(), 0, n);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(std::is_sorted(keys.data(), keys.data() + n));
}

TEST_CASE("launches of a block run in the order of its streams") {
  Managed<int> notes(8);
  Managed<cudaError_t> error(1);
  note_in_order<<<1, 1>>>(notes.data(), error.data());
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  for (int i = 0; i < 6; ++i) CHECK(notes[1 + i] == i);
  CHECK(error[0] == cudaSuccess);
}

TEST_CASE("a child grid has copies of its arguments") {
  Managed<double> to(1);
  pass_arguments<<<1, 1>>>(to.data());
  CHECK(to[0] == 0.5 + 'a' + 110);
}

TEST_CASE("kernels allocate memory, fill and copy it in the order of their streams") {
  const int n = 100;
  Managed<int> to(n);
  Managed<cudaError_t> errors(3);
  use_own_memory<<<1, 1>>>(to.data(), errors.data(), n);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  for (int i = 0; i < n; ++i) CHECK(to[i] == i * i);
  for (int i = 0; i < 3; ++i) CHECK(errors[i] == cudaSuccess);
}

TEST_CASE("the number of launches that wait is limited") {
  Managed<int> a(1);
  launch_often<<<1, 1>>>(a.data(), 2048);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 3000) == cudaSuccess);
  launch_often<<<1, 1>>>(a.data(), 3000);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  check_failure(cudaErrorLaunchFailure, [](int* data) { launch_often<<<1, 1>>>(data, 3001); });
  std::size_t limit = 0;
  CHECK(cudaDeviceGetLimit(&limit, cudaLimitDevRuntimePendingLaunchCount) == cudaSuccess);
  CHECK(limit == 2048);
}

TEST_CASE("launches from kernels that a device would refuse end the kernel") {
  check_failure(cudaErrorLaunchFailure, [](int* data) { launch_deeper<<<1, 1>>>(data); });
  check_failure(cudaErrorLaunchFailure, [](int* data) { launch_impossible<<<1, 1>>>(data); });
  check_failure(cudaErrorLaunchFailure, [](int* data) { into_stream<<<1, 1>>>(data, cudaStream_t(99)); });
  check_failure(cudaErrorLaunchFailure, [](int* data) { pass_local<<<1, 1>>>(data); });
  check_failure(cudaErrorLaunchFailure, [](int*) { pass_shared<<<1, 1>>>(); });
  check_failure(cudaErrorNotPermitted, [](int* data) { wait_for_child<<<1, 1>>>(data); });
}

// The device's own heap, used as it should be.
#include "../case.h"

struct Node {
  int key;
  Node* next;
};

/// A list in each thread, and memory that a block shares.
__global__ void lists(int* out, int n) {
  __shared__ int* sums;
  if (threadIdx.x == 0) sums = static_cast<int*>(malloc(blockDim.x * sizeof(int)));
  __syncthreads();
  Node* first = nullptr;
  for (int i = 0; i < n; ++i) first = new Node{i, first};
  int sum = 0;
  while (first != nullptr) {
    Node* const next = first->next;
    sum += first->key;
    delete first;
    first = next;
  }
  sums[threadIdx.x] = sum;
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = sums[blockDim.x - 1 - threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) free(sums);
}
CASE { lists<<<2, 64>>>(device<int>(128), 20); }

/// A thread's own variable, on a stack that lies next to the heap.
__attribute__((noinline)) __device__ void copy(const int* from, int& to) { to = *from; }
__global__ void to_own_variables(int* out) {
  __shared__ int* shared;
  __syncthreads();  // from here on, each thread has a stack
  if (threadIdx.x == 0) shared = new int[1024];
  __syncthreads();
  shared[threadIdx.x] = threadIdx.x;
  int own;
  copy(&shared[threadIdx.x], own);
  out[threadIdx.x] = own;
}
CASE { to_own_variables<<<1, 1024>>>(device<int>(1024)); }

/// Memory that outlives its kernel, and a heap that is full.
__device__ int* kept;
__global__ void keep() {
  kept = new int[64];
  for (int i = 0; i < 64; ++i) kept[i] = i;
}
__global__ void take(int* out) { out[threadIdx.x] = kept[threadIdx.x]; }
__global__ void drop() {
  delete[] kept;
  int* const large = static_cast<int*>(malloc(std::size_t(1) << 40));
  if (large != nullptr) large[0] = 1;
}
CASE {
  keep<<<1, 1>>>();
  take<<<1, 64>>>(device<int>(64));
  drop<<<1, 1>>>();
}

/// The host's own memory is not the device's.
CASE {
  std::vector<int> host(100, 1);
  int* const more = new int[100]();
  int* keys = device<int>(100);
  cudaMemcpy(keys, host.data(), 400, cudaMemcpyHostToDevice);
  cudaMemcpy(more, keys, 400, cudaMemcpyDeviceToHost);
  if (more[99] != 1) std::abort();
  delete[] more;
}

/// Objects with pointers in device memory.
struct View {
  int* data;
  int n;
};
__global__ void through(const View* views, int* out) {
  out[threadIdx.x] = views[threadIdx.x % 2].data[threadIdx.x % views[threadIdx.x % 2].n];
}
CASE {
  int* pinned;
  cudaMallocHost(&pinned, 64);
  for (int i = 0; i < 16; ++i) pinned[i] = i;
  const View host[] = {{filled<int>(16), 16}, {pinned, 16}};
  View* views = device<View>(2);
  cudaMemcpy(views, host, sizeof host, cudaMemcpyHostToDevice);
  through<<<1, 32>>>(views, device<int>(32));
}

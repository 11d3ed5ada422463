// The device's own heap: memory that kernels allocate and free.
#include "case.h"

/// One element more than was allocated.
__global__ void one_more(int* out, int n) {
  int* own = new int[n];
  for (int i = 0; i <= n; ++i) own[i] = i;  // expect: out-of-bounds
  out[threadIdx.x] = own[n - 1];
  delete[] own;
}
CASE { one_more<<<1, 32>>>(device<int>(32), 10); }

__global__ void before(int* out, int back) {
  int* own = static_cast<int*>(malloc(16 * sizeof(int)));
  own[0] = threadIdx.x;
  out[threadIdx.x] = own[0] + own[-back];  // expect: out-of-bounds
  free(own);
}
CASE { before<<<1, 1>>>(device<int>(1), 3); }

struct Node {
  int key;
  Node* next;
};
__global__ void after_delete(int* out) {
  Node* const first = new Node{int(threadIdx.x), nullptr};
  Node* const second = new Node{7, first};
  delete first;
  out[threadIdx.x] = second->next->key;  // expect: use-after-free
  delete second;
}
CASE { after_delete<<<1, 32>>>(device<int>(32)); }

/// A list that one kernel makes and frees, and that a later kernel follows.
__device__ Node* list;
__global__ void make() { list = new Node{1, nullptr}; }
__global__ void drop() { delete list; }
__global__ void follow(int* out) { *out = list->key; }  // expect: use-after-free
CASE {
  make<<<1, 1>>>();
  drop<<<1, 1>>>();
  follow<<<1, 1>>>(device<int>(1));
}

/// Each thread frees what one thread has allocated.
__global__ void free_shared(int* out) {
  __shared__ int* all;
  if (threadIdx.x == 0) all = static_cast<int*>(malloc(32 * sizeof(int)));
  __syncthreads();
  all[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = all[31 - threadIdx.x];
  __syncthreads();
  free(all);  // expect: invalid-free
}
CASE { free_shared<<<1, 32>>>(device<int>(32)); }
__global__ void free_hosts(int* keys) {
  keys[0] = 1;
  free(keys);  // expect: invalid-free
}
CASE { free_hosts<<<1, 1>>>(device<int>(32)); }

/// Memory that nothing has written.
__global__ void fresh(int* out) {
  int* own = new int[4];
  own[threadIdx.x % 4] = 1;
  out[threadIdx.x] = own[(threadIdx.x + 1) % 4];  // expect: uninitialized
  delete[] own;
}
CASE { fresh<<<1, 32>>>(device<int>(32)); }

/// The device's heap is full, which nobody tests.
__global__ void full(int** rows) {
  int* own = static_cast<int*>(malloc(1 << 20));
  own[0] = threadIdx.x;  // expect: out-of-bounds
  rows[threadIdx.x] = own;
}
CASE { full<<<1, 32>>>(device<int*>(32)); }

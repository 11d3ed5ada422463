// Faults in code that `cc` compiles and nvcc refuses.
#include "case.h"

// nvcc refuses a store to a whole variable in __constant__ memory, but not one to a part of it (constants.cu).
extern __constant__ int scale;
__constant__ int scale = 3, offset;
__constant__ float* place;

__global__ void set_scale() {
  if (threadIdx.x == 0) scale = 4;  // expect: constant-write
}
CASE { set_scale<<<1, 32>>>(); }

__global__ void set_offset(int value) {
  offset = value;  // expect: constant-write
}
CASE { set_offset<<<1, 1>>>(5); }

/// The pointer is constant, and what it points to is not.
__global__ void move_place() {
  *place = 1;
  ++place;  // expect: constant-write
}
CASE {
  float* const memory = device<float>(2);
  cudaMemcpyToSymbol(place, &memory, sizeof memory);
  move_place<<<1, 1>>>();
}

/// An array without elements, and what is declared beside it.
__device__ int nothing[0];
__device__ int beside[4];
__global__ void into_nothing(int n) {
  nothing[threadIdx.x] = n;  // expect: out-of-bounds
}
CASE { into_nothing<<<1, 1>>>(1); }
__global__ void past_beside(int n) {
  beside[n] = n;  // expect: out-of-bounds
}
CASE { past_beside<<<1, 1>>>(4); }

/// A kernel cannot wait for its children.
__global__ void fill(int* a, int n) { a[blockIdx.x * blockDim.x + threadIdx.x] = n; }
__global__ void waiting(int* a) {
  fill<<<1, 32>>>(a, 1);
  cudaDeviceSynchronize();  // expect: host-call
}
CASE { waiting<<<1, 1>>>(device<int>(32)); }

// The host writes __constant__ memory, and kernels read it and write what is next to it.
#include "../case.h"

struct Limits {
  int low, high;
};
template <class T, int n>
struct Table {
  T values[n];
};

extern __constant__ int scale;
__constant__ int scale = 3, bounds[2] = {1, 2};
__device__ int before = 1;
__constant__ static Table<float, 4> table;
__device__ int after[4];
__constant__ Limits limits{1, 5}, others = {2, 3};
__constant__ int* place;
const __constant__ float pi = 3.25f;

__global__ void read_all(float* out) {
  const int i = threadIdx.x;
  Limits own = limits;
  own.low += others.high;
  out[i] = table.values[i % 4] * float(scale + bounds[i % 2] + own.low) + pi;
  if (i < 4) after[i] = i;
  if (i == 0) before = 2;
  place[i] = i;
}
CASE {
  const Table<float, 4> values = {{1, 2, 3, 4}};
  int* const memory = device<int>(32);
  cudaMemcpyToSymbol(place, &memory, sizeof memory);
  for (int round = 0; round < 2; ++round) {
    cudaMemcpyToSymbol(table, &values, sizeof values);
    cudaMemcpyToSymbol(bounds, &round, sizeof round, sizeof(int));
    read_all<<<1, 32>>>(device<float>(32));
  }
}

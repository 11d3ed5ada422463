// What looks like a fault and is none: loops around atomicCAS, objects in shared memory, padding that nothing writes.
#include <cmath>
#include <cstring>
#include <cuda/atomic>
#include <new>

#include "../case.h"

/// Addition as the programming guide builds it: the first read is plain, because atomicCAS compares what it returned.
__device__ double add(double* address, double value) {
  auto* const bits = reinterpret_cast<unsigned long long*>(address);
  unsigned long long old = *bits, assumed;
  do {
    assumed = old;
    old = atomicCAS(bits, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
  } while (assumed != old);
  return __longlong_as_double(old);
}
__global__ void add_all(double* total) {
  __shared__ double own;
  if (threadIdx.x == 0) own = 0;
  __syncthreads();
  add(&own, 1);
  add(total, 0.5);
  __syncthreads();
  if (threadIdx.x == 0) total[1 + blockIdx.x] = own;
}
CASE { add_all<<<3, 96>>>(filled<double>(4)); }

/// The same with a plain read in every round.
__global__ void clamp(int* sums) {
  int* const word = &sums[threadIdx.x % 2];
  int old;
  do old = *word;
  while (atomicCAS(word, old, old + 1 > 50 ? 50 : old + 1) != old);
}
CASE { clamp<<<2, 64>>>(filled<int>(2)); }

#ifndef __clang__  // which takes no __shared__ array whose elements have a constructor
/// A class whose constructor does nothing.
struct Point {
  float x, y;
  __host__ __device__ Point() {}
  __host__ __device__ Point(float x, float y) : x(x), y(y) {}
};
template <class T>
__global__ void reverse(T* points) {
  __shared__ T tile[64];
  tile[threadIdx.x] = points[threadIdx.x];
  __syncthreads();
  points[threadIdx.x] = tile[63 - threadIdx.x];
}
template <class T>
__global__ void rotate(T* points) {
  __shared__ T others[64];
  others[threadIdx.x] = points[threadIdx.x];
  __syncthreads();
  points[threadIdx.x] = others[(threadIdx.x + 1) % 64];
}
CASE {
  auto* points = filled<Point>(64);
  reverse<<<1, 64>>>(points);
  rotate<<<1, 64>>>(points);
}
#endif

/// Objects with virtual functions, made in shared memory.
struct Shape {
  int side;
  __device__ explicit Shape(int side) : side(side) {}
  __device__ virtual int area() const { return side; }
};
struct Square : Shape {
  __device__ explicit Square(int side) : Shape(side) {}
  __device__ int area() const override { return side * side; }
};
__global__ void areas(int* out) {
  __shared__ __align__(8) unsigned char memory[2][sizeof(Square)];
  __shared__ Shape* shapes[2];
  if (threadIdx.x == 0) shapes[0] = new (memory[0]) Shape(3);
  if (threadIdx.x == 1) shapes[1] = new (memory[1]) Square(4);
  __syncthreads();
  out[threadIdx.x] = shapes[threadIdx.x % 2]->area();
}
CASE { areas<<<1, 32>>>(device<int>(32)); }

/// The host copies structures of which the kernel has written each member.
struct Entry {
  int key;
  double value;
};
__global__ void fill(Entry* entries) {
  entries[threadIdx.x].key = threadIdx.x;
  entries[threadIdx.x].value = 1;
}
CASE {
  Entry *entries = device<Entry>(32), host[32];
  fill<<<1, 32>>>(entries);
  cudaMemcpy(host, entries, sizeof host, cudaMemcpyDeviceToHost);
}

/// Volatile shared memory with the barriers that it needs, and a flag that another lane waits for.
__global__ void volatile_steps(int* out) {
  __shared__ volatile int sums[64];
  __shared__ volatile int ready;
  sums[threadIdx.x] = 1;
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  for (int d = 32; d > 0; d /= 2) {
    if (threadIdx.x < d) sums[threadIdx.x] += sums[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 1) {
    out[0] = sums[0];
    __threadfence_block();
    ready = 1;
  } else if (threadIdx.x == 2) {
    while (ready == 0) {
    }
    __threadfence_block();
    out[1] = out[0];
  }
}
CASE { volatile_steps<<<1, 64>>>(device<int>(2)); }

/// Device arrays next to each other, used up to their ends.
__device__ int first[256], second[256];
__constant__ int limits[4] = {1, 2, 3, 4};
__global__ void add_up() { second[threadIdx.x] = first[255 - threadIdx.x] + limits[threadIdx.x % 4]; }
CASE { add_up<<<1, 256>>>(); }

/// Kernels whose addresses are in variables of the host.
__global__ void ones(int* out) { out[threadIdx.x] = 1; }
__global__ void numbers(int* out) { out[threadIdx.x] = threadIdx.x; }
CASE {
  void (*kernels[])(int*) = {ones, numbers};
  for (auto kernel : kernels) kernel<<<1, 32>>>(device<int>(32));
  kernels[1]<<<1, 32>>>(device<int>(32));
}

/// Variables of the device and of both, read by the host as they must be; and one of the host alone.
__device__ int on_device;
__managed__ int of_both;
static int on_host = 1;
__global__ void count_up() {
  atomicAdd(&on_device, 1);
  atomicAdd(&of_both, 1);
}
CASE {
  count_up<<<1, 32>>>();
  cudaDeviceSynchronize();
  int copy = 0;
  cudaMemcpyFromSymbol(&copy, on_device, sizeof copy);
  on_host += copy + of_both;
  std::printf("%d\n", on_host);
}

/// An array of each thread's own, too large for registers. It is written in another order than it is read, and the block
/// around it is entered again.
__device__ void put(int* slots, int at, int value) { slots[at] = value; }
__global__ void own_slots(int* out, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    int slots[128];
    for (int i = 0; i < 128; ++i) put(slots, (i * 37 + int(threadIdx.x)) % 128, i);
    __syncthreads();
    out[threadIdx.x] = slots[127 - threadIdx.x] + slots[threadIdx.x];
  }
}
CASE { own_slots<<<1, 64>>>(device<int>(64), 2); }

/// All threads leave a function before its barrier, or none does.
__device__ int neighbour(int* tile, int round) {
  if (round % 2 == 1) return 0;
  tile[threadIdx.x] = round;
  __syncthreads();
  return tile[(threadIdx.x + 1) % 64];
}
__global__ void rounds_of_a_function(int* out) {
  __shared__ int tile[64];
  int sum = 0;
  for (int round = 0; round < 4; ++round) {
    sum += neighbour(tile, round);
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}
CASE { rounds_of_a_function<<<1, 64>>>(device<int>(64)); }

/// A reference to managed memory.
struct Limits {
  int low, high;
};
__global__ void limit(int* keys, const Limits& limits) { keys[threadIdx.x] = max(keys[threadIdx.x], limits.low); }
CASE {
  Limits* limits;
  cudaMallocManaged(&limits, sizeof *limits);
  *limits = {1, 2};
  limit<<<1, 32>>>(filled<int>(32), *limits);
}

/// Large arrays of a thread's own, which calls write that the observers do not see.
__device__ int at(const int* array, int i) { return array[i]; }
__global__ void own_arrays(int* out) {
  int zeros[128], copies[128];
  double whole[64];
  memset(zeros, 0, sizeof zeros);
  memcpy(copies, zeros, sizeof copies);
  for (int i = 0; i < 64; ++i) modf(i * 1.5, &whole[i]);
  const int t = int(threadIdx.x);
  out[t] = at(zeros, 127 - t) + copies[t] + int(whole[t]);
}
CASE { own_arrays<<<1, 64>>>(device<int>(64)); }

/// An exchange whose old value nobody uses is a store, also of memory that nothing has written.
__global__ void set_by_exchange(int* flags, unsigned long long* keys, float* sums) {
  const int i = int(blockIdx.x * 32 + threadIdx.x);
  __shared__ int count;
  if (threadIdx.x == 0) atomicExch(&count, 0);
  (void)atomicExch(&keys[i], 1ull);
  atomicExch_block(&sums[i], 0.f);
  cuda::atomic_ref<int, cuda::thread_scope_device>(flags[i]).exchange(2, cuda::memory_order_relaxed);
  __syncthreads();
  atomicAdd(&count, flags[i] + int(keys[i]) + int(sums[i]));
}
CASE { set_by_exchange<<<2, 32>>>(device<int>(64), device<unsigned long long>(64), device<float>(64)); }

/// Copies and fills of a few bytes.
struct Bytes {
  char bytes[24];
};
__global__ void copy_parts(Bytes* to, const Bytes* from) {
  const int i = int(threadIdx.x);
  __builtin_memcpy(&to[i], &from[i], sizeof *to);
  __builtin_memset(&to[i].bytes[3], 0, 7);
  memset(&to[i].bytes[11], 0, 2);
}
CASE { copy_parts<<<1, 32>>>(device<Bytes>(32), filled<Bytes>(32)); }

__device__ int counts_of_none[0];
__device__ int counts_of_two[2];
__global__ void beside_none(int n) {
  for (int i = 0; i < n; ++i) counts_of_none[i] = 0;
  counts_of_two[threadIdx.x] = n;
}
CASE { beside_none<<<1, 2>>>(0); }

/// The host copies whole buffers, and reads only what kernels have written, or what it has written over the rest.
__global__ void lower_half(int* out) { out[threadIdx.x] = int(threadIdx.x); }
static int first_of(const int* data) {
  int host[64];
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);  // note: uninitialized
  return host[0];
}
static int read_line() {
  char line[256];
  std::FILE* const file = std::fopen("/proc/self/stat", "r");
  const bool is_read = file != nullptr && std::fgets(line, sizeof line, file) != nullptr;
  if (file != nullptr) std::fclose(file);
  return is_read ? line[0] + line[63] : 0;
}
CASE {
  int* data = device<int>(64);
  lower_half<<<1, 32>>>(data);
  int sum = first_of(data) + read_line();
  std::vector<int> host(64), other(64);
  cudaMemcpy(host.data(), data, 256, cudaMemcpyDeviceToHost);  // note: uninitialized
  for (int i = 32; i < 64; ++i) host[i] = 0;
  for (int i = 0; i < 64; ++i) sum += host[i];
  cudaMemcpy(other.data(), data, 256, cudaMemcpyDeviceToHost);  // note: uninitialized
  for (int i = 0; i < 32; ++i) sum += other[i];
  lower_half<<<1, 64>>>(data);
  cudaMemcpy(other.data(), data, 256, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 64; ++i) sum += other[i];
  std::printf("%d\n", sum);
}

/// A maximum by compare and swap, whose first read tests whether there is anything to do, and one behind a lock.
__global__ void swap_larger(unsigned* largest) {
  const unsigned own = blockIdx.x * 7 % 5;
  unsigned old = *largest;  // note: tested-atomic
  while (old < own) {
    const unsigned seen = atomicCAS(largest, old, own);  // note: tested-atomic
    if (seen == old) break;
    old = seen;
  }
}
CASE { swap_larger<<<8, 32>>>(filled<unsigned>(1)); }
__global__ void exchange_behind_lock(unsigned* largest, int* lock) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  atomicExch(largest, max(*largest, blockIdx.x * 7 % 5));
  __threadfence();
  atomicExch(lock, 0);
}
CASE { exchange_behind_lock<<<8, 32>>>(filled<unsigned>(1), filled<int>(1)); }

// Faulty kernels, for each of which advice_test.py knows what the check build must advise.
#include "../../wrong/kernels/case.h"

/// n keys in descending order.
__global__ void fill_falling(int* keys, int n) { keys[threadIdx.x] = n - int(threadIdx.x); }
static int* falling(int n) {
  int* keys = device<int>(n);
  fill_falling<<<1, n>>>(keys, n);
  return keys;
}

__global__ void no_block_in_index(int* keys) {
  const int i = threadIdx.x;
  const int key = keys[i];
  keys[i] = key + int(blockIdx.x) + 1;
}
CASE { no_block_in_index<<<2, 32>>>(filled<int>(32)); }

/// Phases that belong in launches of their own, in blocks of one thread.
__global__ void phases_in_one_launch(int* keys, int n) {
  for (int phase = 0; phase < n; ++phase) {
    const int i = 2 * int(blockIdx.x) + phase % 2;
    if (i + 1 >= n) continue;
    const int a = keys[i], b = keys[i + 1];
    keys[i] = b;
    keys[i + 1] = a;
  }
}
CASE { phases_in_one_launch<<<4, 1>>>(filled<int>(8), 8); }

/// A pair for each key: two threads have each key in common, of one block or of two.
__global__ void thread_per_key(int* keys, int n) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i + 1 >= n) return;
  const int a = keys[i], b = keys[i + 1];
  keys[i] = b;
  keys[i + 1] = a + 1;
}
CASE { thread_per_key<<<2, 32>>>(filled<int>(64), 64); }

/// The same after a barrier: at first it is found within a block.
__global__ void in_both(int* keys, int n) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  __syncthreads();
  const int next = keys[(i + 1) % n];
  keys[i] = next + 1;
}
CASE { in_both<<<2, 32>>>(filled<int>(64), 64); }

__global__ void unfenced(int* next, int* data, int* flag) {
  if (atomicAdd(next, 1) == 0) {
    data[0] = 7;
    atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {
    }
    data[1] = data[0];
  }
}
CASE { unfenced<<<2, 1>>>(filled<int>(1), filled<int>(2), filled<int>(1)); }

/// One barrier is missing, between three pairs of lines.
__global__ void one_barrier(int* out) {
  __shared__ int tile[64];
  tile[threadIdx.x] = int(threadIdx.x);
  const int next = tile[(threadIdx.x + 1) % 64];
  const int previous = tile[(threadIdx.x + 63) % 64];
  const int opposite = tile[63 - threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = next + previous + opposite;
}
CASE { one_barrier<<<1, 64>>>(device<int>(64)); }

__global__ void between_lanes(int* out, bool shuffle) {
  __shared__ int tile[32];
  if (shuffle) out[threadIdx.x] = __shfl_xor_sync(0xffffffffu, int(threadIdx.x), 1);
  tile[threadIdx.x] = int(threadIdx.x);
  const int next = tile[(threadIdx.x + 1) % 32];
  out[threadIdx.x] = next;
}
CASE { between_lanes<<<1, 32>>>(device<int>(32), false); }
CASE { between_lanes<<<1, 32>>>(device<int>(32), true); }

/// Threads that have nothing to compute should still load.
__global__ void leaves_early(const int* in, int* out) {
  __shared__ int tile[64];
  if (threadIdx.x >= 32) return;
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[2 * threadIdx.x] + tile[2 * threadIdx.x + 1];
}
CASE { leaves_early<<<1, 64>>>(filled<int>(64), device<int>(32)); }

/// The same, but the next launch reads what is missing.
__global__ void stores_late(const int* in, int* out) {
  __shared__ int tile[64];
  tile[threadIdx.x] = in[threadIdx.x];
  if (threadIdx.x >= 32) return;
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];
}
__global__ void copy(const int* in, int* out) { out[threadIdx.x] = in[threadIdx.x]; }
CASE {
  int* between = device<int>(64);
  stores_late<<<1, 64>>>(filled<int>(64), between);
  copy<<<1, 64>>>(between, device<int>(64));
}

/// Threads leave early, as they may; what is not written has nothing to do with it.
__global__ void leaves_rightly(const int* in, const int* unwritten, int* out) {
  __shared__ int tile[64];
  if (threadIdx.x >= 32) return;
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[31 - threadIdx.x] + unwritten[threadIdx.x];
}
CASE { leaves_rightly<<<1, 64>>>(filled<int>(64), device<int>(64), device<int>(32)); }

__global__ void from_exited_lane(int* keys, int n) {
  if (threadIdx.x >= n) return;
  keys[threadIdx.x] = __shfl_down_sync(0xffffffffu, keys[threadIdx.x], 1);
}
CASE { from_exited_lane<<<1, 32>>>(filled<int>(32, 1), 8); }

/// Rounds that differ in number, with a barrier in each.
__global__ void barrier_in_loop(int* out) {
  __shared__ int tile[64];
  tile[threadIdx.x] = int(threadIdx.x);
  for (int i = 0; i < int(threadIdx.x % 2); ++i) {
    tile[threadIdx.x] += tile[(threadIdx.x + 1) % 64];
    __syncthreads();
  }
  out[threadIdx.x] = tile[threadIdx.x];
  __syncthreads();
}
CASE { barrier_in_loop<<<1, 64>>>(device<int>(64)); }

/// A barrier between all phases, but the threads do not count by twos.
__global__ void shared_pairs(int* keys, int phases) {
  __shared__ int tile[64];
  tile[threadIdx.x] = keys[threadIdx.x];
  __syncthreads();
  for (int phase = 0; phase < phases; ++phase) {
    const int i = int(threadIdx.x) + phase % 2;
    if (i + 1 < 64) {
      const int a = tile[i], b = tile[i + 1];
      tile[i] = a < b ? a : b;
      tile[i + 1] = a < b ? b : a;
    }
    __syncthreads();
  }
  keys[threadIdx.x] = tile[threadIdx.x];
}
CASE { shared_pairs<<<1, 64>>>(falling(64), 64); }

__device__ void order_pair(int* tile, int low, int high) {
  const int a = tile[low], b = tile[high];
  tile[low] = a < b ? a : b;
  tile[high] = a < b ? b : a;
}
/// A stage whose partners are wrong: two threads have each element.
__global__ void wrong_partner(int* keys) {
  __shared__ int tile[64];
  for (int i = threadIdx.x; i < 64; i += blockDim.x) tile[i] = keys[i];
  __syncthreads();
  const int low = 2 * int(threadIdx.x);
  order_pair(tile, low, low ^ 2);
  __syncthreads();
  for (int i = threadIdx.x; i < 64; i += blockDim.x) keys[i] = tile[i];
}
CASE { wrong_partner<<<1, 32>>>(falling(64)); }

/// The pairs are right, but no barrier is between the phases.
__global__ void phases_without_barrier(int* keys) {
  __shared__ int tile[64];
  for (int i = threadIdx.x; i < 64; i += blockDim.x) tile[i] = keys[i];
  __syncthreads();
  for (int phase = 0; phase < 64; ++phase) {
    const int i = 2 * int(threadIdx.x) + phase % 2;
    if (i + 1 < 64) order_pair(tile, i, i + 1);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 64; i += blockDim.x) keys[i] = tile[i];
}
CASE { phases_without_barrier<<<1, 32>>>(falling(64)); }

/// Every block goes through the whole array from its own place on.
__global__ void stride_of_a_block(int* keys, int n) {
  for (int i = int(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += int(blockDim.x)) {
    const int key = keys[i];
    keys[i] = key + 1;
  }
}
CASE { stride_of_a_block<<<2, 32>>>(filled<int>(128), 128); }

/// The array before `tile` in memory is not the one that the index misses.
__global__ void below_zero(int* out) {
  __shared__ int one[1];
  __shared__ int tile[64];
  if (threadIdx.x == 0) one[0] = 1;
  tile[threadIdx.x] = int(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = tile[int(threadIdx.x) - 1] + one[0];
}
CASE { below_zero<<<1, 64>>>(device<int>(64)); }

__global__ void below_zero_of_one(int* out) {
  __shared__ int only[64];
  only[threadIdx.x] = int(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = only[int(threadIdx.x) - 1];
}
CASE { below_zero_of_one<<<1, 64>>>(device<int>(64)); }

/// Threads without a partner leave the function, and wait at the caller's barrier.
__device__ void add_partner(int* tile) {
  if (threadIdx.x >= 32) return;
  const int partner = tile[threadIdx.x + 32];
  __syncthreads();
  tile[threadIdx.x] += partner;
}
__global__ void leaves_function(int* out) {
  __shared__ int tile[64];
  tile[threadIdx.x] = int(threadIdx.x);
  __syncthreads();
  add_partner(tile);
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];
}
CASE { leaves_function<<<1, 64>>>(device<int>(64)); }

/// The same, but the caller has no barrier. What the threads that left should have written is missing.
__device__ int sum_of_pair(int* tile, int value) {
  if (threadIdx.x >= 32) return 0;
  tile[threadIdx.x] = value;
  __syncthreads();
  return tile[threadIdx.x] + tile[threadIdx.x + 32];
}
__global__ void leaves_function_and_kernel(int* out) {
  __shared__ int tile[64];
  const int sum = sum_of_pair(tile, int(threadIdx.x));
  out[threadIdx.x] = sum;
}
CASE { leaves_function_and_kernel<<<1, 64>>>(device<int>(64)); }

struct Pair {
  int a, b;
};
__global__ void by_reference(int* out, const Pair& pair, const long& n) {
  if (threadIdx.x < n) out[threadIdx.x] = pair.a + pair.b;
}
CASE {
  const Pair pair{1, 2};
  by_reference<<<1, 32>>>(device<int>(32), pair, 32);
}

__global__ void by_address(int** out) { (*out)[threadIdx.x] = 1; }
CASE {
  int* out = device<int>(32);
  by_address<<<1, 32>>>(&out);
}

/// __shared__ has been forgotten.
__global__ void not_shared(const int* in, int* out) {
  int tile[128];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[127 - threadIdx.x];
}
CASE { not_shared<<<1, 128>>>(filled<int>(128), device<int>(128)); }

/// The first kernel stores nothing.
__global__ void forgets_to_store(const int* in, int* out) {
  __shared__ int tile[32];
  tile[threadIdx.x] = in[threadIdx.x] + (out == nullptr);
}
CASE {
  int* between = device<int>(32);
  forgets_to_store<<<1, 32>>>(filled<int>(32), between);
  copy<<<1, 32>>>(between, device<int>(32));
}

/// One line reads what it writes in another thread, of the same warp or of the next.
__global__ void shifts_in_place(int* keys) {
  keys[threadIdx.x] += keys[(threadIdx.x + 1) % 64];
  __syncthreads();
}
CASE { shifts_in_place<<<1, 64>>>(filled<int>(64)); }

/// A block claims a number without an atomic: two blocks may get the same one.
__global__ void claims_number(int* counter, int* taken) {
  if (threadIdx.x != 0) return;
  const int n = *counter;
  *counter = n + 1;
  taken[blockIdx.x] = n;
}
CASE { claims_number<<<4, 32>>>(filled<int>(1), device<int>(4)); }

__global__ void claims_in_block(int* taken) {
  __shared__ int next;
  if (threadIdx.x == 0) next = 0;
  __syncthreads();
  const int n = next;
  next = n + 1;
  taken[threadIdx.x] = n;
}
CASE { claims_in_block<<<1, 64>>>(device<int>(64)); }

__global__ void sums_of_blocks(const int* keys, int* sum) {
  if (threadIdx.x == 0) *sum += keys[blockIdx.x];
}
CASE { sums_of_blocks<<<4, 32>>>(filled<int>(4, 1), filled<int>(1)); }

/// The launch asks for room for half of the threads.
__global__ void too_little_asked(int* out) {
  extern __shared__ int asked[];
  asked[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = asked[threadIdx.x];
}
CASE { too_little_asked<<<1, 32, 16 * sizeof(int)>>>(device<int>(32)); }

/// The number of keys in place of the number of bytes.
__global__ void reads_all(const int* in, int* out) { out[threadIdx.x] = in[threadIdx.x]; }
CASE {
  const int keys[3] = {1, 2, 3};
  int* in = device<int>(3);
  cudaMemcpy(in, keys, 3, cudaMemcpyHostToDevice);
  reads_all<<<1, 3>>>(in, device<int>(3));
}

/// Rows of blocks, or of threads, that the index leaves out.
__global__ void in_rows(int* keys, int n) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const int key = keys[i];
  keys[i] = key + int(blockIdx.y + threadIdx.y) + 1;
}
CASE { in_rows<<<dim3(1, 2), 32>>>(filled<int>(32), 32); }
CASE { in_rows<<<1, dim3(16, 2)>>>(filled<int>(32), 32); }

/// Every thread has its own elements, but a block reads its neighbours' while they write them.
__global__ void halo_in_place(int* keys, int n) {
  __shared__ int window[64];
  const int first = int(blockIdx.x) * 32, left = first < 16 ? 0 : first - 16;
  for (int i = threadIdx.x; i < 64 && left + i < n; i += blockDim.x) window[i] = keys[left + i];
  __syncthreads();
  for (int i = threadIdx.x; i < 32; i += blockDim.x) keys[first + i] = window[first - left + i] + 1;
}
CASE { halo_in_place<<<2, 32>>>(filled<int>(64), 64); }

/// Each thread loads one element, and there are more elements than threads.
__global__ void loads_half(const int* in, int* out) {
  __shared__ int tile[64];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  for (int i = threadIdx.x; i < 64; i += blockDim.x) out[i] = tile[63 - i];
}
CASE { loads_half<<<1, 32>>>(filled<int>(64), device<int>(64)); }

__global__ void loads_nothing(int* out) {
  __shared__ int tile[64];
  if (out == nullptr) tile[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];
}
CASE { loads_nothing<<<1, 64>>>(device<int>(64)); }

/// A shared array whose size has been forgotten.
__global__ void no_size(int* out) {
  __shared__ int* tile;
  tile[threadIdx.x] = 1;
  out[threadIdx.x] = tile[threadIdx.x];
}
CASE { no_size<<<1, 1>>>(device<int>(1)); }

/// The same in steps of a block, so that the threads of both accesses have the same index.
__global__ void next_block_in_place(int* keys, int n) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  const int next = keys[(i + int(blockDim.x)) % n];
  keys[i] = next + 1;
}
CASE { next_block_in_place<<<2, 32>>>(filled<int>(64), 64); }

/// The next round of the loop loads before all threads have read what the last one left.
__global__ void no_barrier_at_end(const int* in, int* out) {
  __shared__ int tile[64];
  for (int first = 0; first < 256; first += 64) {
    tile[threadIdx.x] = in[first + int(threadIdx.x)];
    __syncthreads();
    out[first + int(threadIdx.x)] = tile[63 - threadIdx.x];
  }
}
CASE { no_barrier_at_end<<<1, 64>>>(filled<int>(256), device<int>(256)); }

/// The kernel has a stream, and a copy or a fill of its result has none.
__global__ void copied_without_stream(int* keys) { keys[threadIdx.x] = 1; }
static int* in_stream() {
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  int* keys = device<int>(32);
  copied_without_stream<<<1, 32, 0, stream>>>(keys);
  return keys;
}
CASE {
  int host[32];
  cudaMemcpy(host, in_stream(), sizeof host, cudaMemcpyDeviceToHost);
}
CASE { cudaMemsetAsync(in_stream(), 0, 32 * sizeof(int)); }

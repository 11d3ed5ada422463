// Races in shared memory between threads of a block.
#include <cooperative_groups.h>

#include "case.h"

/// The neighbour's key is read before the barrier that should follow its write.
__global__ void missing_barrier(int* out) {
  __shared__ int tile[256];
  tile[threadIdx.x] = threadIdx.x;             // expect-one: race
  out[threadIdx.x] = tile[255 - threadIdx.x];  // expect-one: race
}
CASE { missing_barrier<<<1, 256>>>(device<int>(256)); }

/// A Hillis-Steele scan in one buffer: others still read what is written.
template <class T>
__global__ void scan_in_place(T* out) {
  __shared__ T sums[128];
  sums[threadIdx.x] = 1;
  __syncthreads();
  for (int d = 1; d < 128; d *= 2) {
    if (threadIdx.x >= d) sums[threadIdx.x] += sums[threadIdx.x - d];  // expect: race
    __syncthreads();
  }
  out[threadIdx.x] = sums[threadIdx.x];
}
CASE { scan_in_place<long long><<<1, 128>>>(device<long long>(128)); }

/// Two buffers but one barrier too few: the next round writes where slower threads still read.
__global__ void one_buffer_late(unsigned* out) {
  __shared__ unsigned sums[2][256];
  __shared__ unsigned first;
  sums[0][threadIdx.x] = 1;
  __syncthreads();
  for (int d = 1; d < 256; d *= 4) {
    sums[1][threadIdx.x] =                                                         // expect-one: race
        sums[0][threadIdx.x] + (threadIdx.x >= d ? sums[0][threadIdx.x - d] : 0);  // expect-one: race
    __syncthreads();
    sums[0][threadIdx.x] =                                                                 // expect-one: race
        sums[1][threadIdx.x] + (threadIdx.x >= 2 * d ? sums[1][threadIdx.x - 2 * d] : 0);  // expect-one: race
  }
  if (threadIdx.x == 0) first = sums[0][0];
  __syncthreads();
  out[threadIdx.x] = sums[0][threadIdx.x] + first;
}
CASE { one_buffer_late<<<1, 256>>>(device<unsigned>(256)); }

/// The input is copied for the next step without a barrier in between.
__global__ void scan_copies(const int* in, int* out, int n) {
  extern __shared__ int both[];
  int *from = both, *to = both + n;
  from[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  for (int d = 1; d < n; d *= 2) {
    to[threadIdx.x] = from[threadIdx.x] + (int(threadIdx.x) >= d ? from[threadIdx.x - d] : 0);  // expect-one: race
    from[threadIdx.x] = to[threadIdx.x];                                                        // expect-one: race
    __syncthreads();
  }
  out[threadIdx.x] = from[threadIdx.x];
}
CASE { scan_copies<<<1, 64, 2 * 64 * sizeof(int)>>>(filled<int>(64), device<int>(64), 64); }

/// A tile's halo is read while the neighbours still write it.
__global__ void halo(const float* in, float* out) {
  __shared__ float tile[18][18];
  const int x = threadIdx.x + 1, y = threadIdx.y + 1;
  if (threadIdx.x == 0) tile[y][0] = tile[y][17] = 0;
  if (threadIdx.y == 0) tile[0][x] = tile[17][x] = 0;                     // expect-one: race
  tile[y][x] = in[threadIdx.y * 16 + threadIdx.x];                        // expect-one: race
  out[threadIdx.y * 16 + threadIdx.x] = tile[y - 1][x] + tile[y + 1][x];  // expect-one: race uninitialized
}
CASE { halo<<<1, dim3(16, 16)>>>(filled<float>(256), device<float>(256)); }

/// A transpose through a tile, without the barrier; rows of 32 keep a warp to itself, columns do not.
template <class T>
__global__ void transpose(const T* in, T* out) {
  __shared__ T tile[32][33];
  for (int y = threadIdx.y; y < 32; y += blockDim.y)
    tile[y][threadIdx.x] = in[y * 32 + threadIdx.x];  // expect-one: race
  for (int y = threadIdx.y; y < 32; y += blockDim.y)
    out[y * 32 + threadIdx.x] = tile[threadIdx.x][y];  // expect-one: race uninitialized
}
CASE { transpose<double><<<1, dim3(32, 8)>>>(filled<double>(1024), device<double>(1024)); }

/// Counters without atomics.
__global__ void count(const unsigned char* keys, unsigned* counts) {
  __shared__ unsigned own[256];
  own[threadIdx.x] = 0;
  __syncthreads();
  ++own[keys[threadIdx.x] & 15];  // expect: race
  __syncthreads();
  counts[threadIdx.x] = own[threadIdx.x];
}
CASE { count<<<1, 256>>>(filled<unsigned char>(256), device<unsigned>(256)); }

/// All threads but one count with atomics.
__global__ void mixed_atomic(unsigned* out) {
  __shared__ unsigned counter;
  if (threadIdx.x == 0) counter = 0;
  __syncthreads();
  if (threadIdx.x % 2 == 0) atomicAdd(&counter, 1u);  // expect-one: race
  if (threadIdx.x == 33) counter += 1;                // expect-one: race
  __syncthreads();
  if (threadIdx.x == 0) *out = counter;
}
CASE { mixed_atomic<<<1, 64>>>(device<unsigned>(1)); }

/// A total is read while others still add to it.
__global__ void read_too_early(unsigned* out) {
  __shared__ unsigned total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  atomicAdd(&total, threadIdx.x);  // expect-one: race
  out[threadIdx.x] = total;        // expect-one: race
}
CASE { read_too_early<<<1, 128>>>(device<unsigned>(128)); }

/// One thread zeroes a counter, all count, with no barrier in between.
__global__ void zeroed_late(unsigned* out) {
  __shared__ unsigned total;
  if (threadIdx.x == 64) total = 0;  // expect-one: race uninitialized
  atomicAdd(&total, 1u);             // expect-one: race uninitialized
  __syncthreads();
  out[threadIdx.x] = total;
}
CASE { zeroed_late<<<1, 128>>>(device<unsigned>(128)); }

/// Writing the same value from every thread has a defined result.
__global__ void same_value(int* out) {
  __shared__ int found;
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  if (threadIdx.x % 3 == 0) found = 1;  // note: same-value
  __syncthreads();
  out[threadIdx.x] = found;
}
CASE { same_value<<<1, 96>>>(device<int>(96)); }

/// One byte each, but two threads share one.
__global__ void bytes(unsigned char* out) {
  __shared__ unsigned char flags[64];
  flags[threadIdx.x / 2] = threadIdx.x;  // expect: race
  __syncthreads();
  out[threadIdx.x] = flags[threadIdx.x / 2];
}
CASE { bytes<<<1, 128>>>(device<unsigned char>(128)); }

struct Pair {
  unsigned key, value;
};
__device__ void exchange(Pair& a, Pair& b) {
  const Pair kept = a;  // expect-one: race
  a = b;                // expect-one: race
  b = kept;             // expect-one: race
}

/// Odd-even exchange without a barrier between the two phases.
__global__ void odd_even(Pair* pairs, int n) {
  extern __shared__ Pair own[];
  own[threadIdx.x] = pairs[threadIdx.x];
  __syncthreads();
  for (int phase = 0; phase < n; ++phase) {
    const int i = 2 * threadIdx.x + phase % 2;
    if (i + 1 < n && own[i].key > own[i + 1].key) exchange(own[i], own[i + 1]);  // expect-one: race
  }
  __syncthreads();
  pairs[threadIdx.x] = own[threadIdx.x];
}
__global__ void falling(Pair* pairs, unsigned n) { pairs[threadIdx.x] = {n - threadIdx.x, threadIdx.x}; }
CASE {
  Pair* pairs = device<Pair>(128);
  falling<<<1, 128>>>(pairs, 128);
  odd_even<<<1, 128, 128 * sizeof(Pair)>>>(pairs, 128);
}

/// Bitonic steps without a barrier for distances within a warp, although lanes do not run in step.
template <class Less>
__global__ void bitonic(int* keys, Less less) {
  __shared__ int tile[128];
  tile[threadIdx.x] = keys[threadIdx.x];
  __syncthreads();
  for (int size = 2; size <= 128; size *= 2) {
    for (int stride = size / 2; stride > 0; stride /= 2) {
      const int i = threadIdx.x, j = i ^ stride;
      if (j > i && less(tile[j], tile[i]) == ((i & size) == 0)) {  // expect-one: race
        const int kept = tile[i];                                  // expect-one: race
        tile[i] = tile[j];                                         // expect-one: race
        tile[j] = kept;                                            // expect-one: race
      }
      if (stride > 16) __syncthreads();
    }
  }
  keys[threadIdx.x] = tile[threadIdx.x];  // expect-one: race
}
struct Less {
  __device__ bool operator()(int a, int b) const { return a < b; }
};
__global__ void falling_keys(int* keys, int n) { keys[threadIdx.x] = n - int(threadIdx.x) * 7 % 97; }
CASE {
  int* keys = device<int>(128);
  falling_keys<<<1, 128>>>(keys, 128);
  bitonic<<<1, 128>>>(keys, Less{});
}

/// Dynamic shared memory divided into two arrays that overlap by one element.
__global__ void carved(int* out, int n) {
  extern __shared__ int memory[];
  int* first = memory;
  int* second = memory + n - 1;
  first[threadIdx.x] = 1;   // expect-one: race
  second[threadIdx.x] = 2;  // expect-one: race
  __syncthreads();
  out[threadIdx.x] = first[threadIdx.x] + second[threadIdx.x];
}
CASE { carved<<<1, 64, 128 * sizeof(int)>>>(device<int>(64), 64); }

/// Vector stores of sixteen bytes, and single reads of what another thread stores.
__global__ void vectors(const uint4* in, unsigned* out) {
  __shared__ uint4 tile[64];
  tile[threadIdx.x] = in[threadIdx.x];                                        // expect-one: race
  out[threadIdx.x] = reinterpret_cast<unsigned*>(tile)[threadIdx.x * 4 ^ 4];  // expect-one: race uninitialized
}
CASE { vectors<<<1, 64>>>(filled<uint4>(64), device<unsigned>(64)); }

/// A thread waits for its own group of 32, not for the block.
__global__ void tile_sync(int* out) {
  namespace cg = cooperative_groups;
  __shared__ int tile[128];
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  tile[threadIdx.x] = threadIdx.x;  // expect-one: race
  warp.sync();
  out[threadIdx.x] = tile[127 - threadIdx.x];  // expect-one: race uninitialized
}
CASE { tile_sync<<<1, 128>>>(device<int>(128)); }

/// A reduction whose last steps have no barrier, through a lambda.
__global__ void reduce(int* out) {
  __shared__ int sums[256];
  const auto add = [&](unsigned d) {
    if (threadIdx.x < d) sums[threadIdx.x] += sums[threadIdx.x + d];  // expect: race
  };
  sums[threadIdx.x] = 1;
  __syncthreads();
  for (unsigned d = 128; d > 0; d /= 2) {
    add(d);
    if (d > 32) __syncthreads();
  }
  if (threadIdx.x == 0) *out = sums[0];
}
CASE { reduce<<<1, 256>>>(device<int>(1)); }

/// The tile of the next round is loaded while other threads still use the last tile.
__global__ void rounds(const int* in, int* out, int n) {
  __shared__ int tile[64];
  int sum = 0;
  for (int first = 0; first < n; first += 64) {
    tile[threadIdx.x] = in[first + threadIdx.x];  // expect-one: race
    __syncthreads();
    for (int i = 0; i < 64; ++i) sum += tile[i];  // expect-one: race
  }
  out[threadIdx.x] = sum;
}
CASE { rounds<<<1, 64>>>(filled<int>(256), device<int>(64), 256); }

/// Every warp's lane 0 writes to the same slot.
__global__ void warp_sums(int* out) {
  __shared__ int of_warp[8];
  const int sum = __reduce_add_sync(0xffffffffu, int(threadIdx.x));
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 64] = sum;  // expect: race
  __syncthreads();
  if (threadIdx.x < 4) out[threadIdx.x] = of_warp[threadIdx.x];
}
CASE { warp_sums<<<1, 256>>>(device<int>(8)); }

/// All but one store the same pair.
struct Two {
  short a, b;
};
__global__ void one_differs(Two* out) {
  __shared__ Two pair;
  pair = {1, short(threadIdx.x == 50)};  // expect: race
  __syncthreads();
  out[threadIdx.x] = pair;
}
CASE { one_differs<<<1, 96>>>(device<Two>(96)); }

/// Copies of a whole structure, all alike.
struct Large {
  int words[9];
};
__global__ void same_copy(const Large* in, int* out) {
  __shared__ Large all;
  all = *in;  // note: same-value
  __syncthreads();
  out[threadIdx.x] = all.words[threadIdx.x % 9];
}
CASE { same_copy<<<1, 96>>>(filled<Large>(1, 3), device<int>(96)); }

// Step 03: every position finds its value.
//
// Idea: a scan that is a tree, with 2 (n - 1) additions instead of n log2 n (Blelloch). And keys without values need
// not be moved: a binary search in the 257 sums for the partition point finds the value of any position of the output.
// New since step 02: padded indexes, which avoid bank conflicts, and placing without atomics, 16 bytes per write.
//- Cost: 1 byte read and 1 byte written per key. 20 stages and 24 barriers per tile of 1024 counters.
// Limits: bytes only, and without values, because a key that is not moved cannot carry one.
#include <cstdint>

#include "scan.cuh"

namespace counting {
namespace {

constexpr int scan_threads = scan_tile / 2, place_threads = 256;  // one scan thread per pair of the lowest level
/// Index of value i of a tile. Padding after every 16 and every 256 values puts distant nodes into different banks.
/// Source: M. Harris, S. Sengupta and J. D. Owens, GPU Gems 3, chapter 39, for 16 banks of one value each.
__host__ __device__ constexpr int padded(int i) { return i + i / 16 + i / 256; }

/// Replaces the `scan_tile` values of a tile by their exclusive sums. Returns the sum of all values to every thread.
__device__ std::uint64_t scan_in_shared(std::uint64_t* tile) {
  // begin solution
  //~ // Your code, always with tile[padded(i)]: the way up, half = 1, 2, ..., scan_tile / 2; keep the last value, which
  //~ // is the sum of all, and replace it by 0; the way down, half = scan_tile / 2, ..., 1 (see hint 1). Which barriers
  //~ // are needed? The caller has one before the call, but none between the call and its reads of the sums.
  //~ return tile[0];
  for (int half = 1; half < scan_tile; half *= 2) {
    for (int k = threadIdx.x; k < scan_tile / (2 * half); k += blockDim.x) {
      const int right = (2 * k + 2) * half - 1;
      tile[padded(right)] += tile[padded(right - half)];
    }
    __syncthreads();  // the next level adds sums in `tile` that other threads have just written
  }
  const std::uint64_t sum = tile[padded(scan_tile - 1)];
  __syncthreads();  // thread 0 overwrites the last element of `tile`, which all other threads read
  if (threadIdx.x == 0) tile[padded(scan_tile - 1)] = 0;
  __syncthreads();  // not needed as long as thread 0, which has written this 0 to `tile`, is the one that reads it
  for (int half = scan_tile / 2; half > 0; half /= 2) {
    for (int k = threadIdx.x; k < scan_tile / (2 * half); k += blockDim.x) {
      const int right = (2 * k + 2) * half - 1;
      const std::uint64_t before = tile[padded(right)], left = tile[padded(right - half)];
      tile[padded(right - half)] = before, tile[padded(right)] = before + left;
    }
    __syncthreads();  // the next level, or the store, reads sums in `tile` that other threads have just written
  }
  return sum;
  // end solution
}

__global__ void scan_tiles_by_tree(Values values, std::uint64_t* sums, std::uint64_t* tile_sums) {
  __shared__ std::uint64_t tile[padded(scan_tile)];
  for (std::int64_t tile_index = blockIdx.x; tile_index * scan_tile < values.n; tile_index += gridDim.x) {
    const std::int64_t first = tile_index * scan_tile;
    const int count = items_in_tile(values.n, first, scan_tile);
    // begin solution
    //~ // Your code: load the tile to padded positions, with zeros after its end; scan it; store the sums and
    //~ // tile_sums[tile_index].
    //~ (void)&tile, (void)sums, (void)tile_sums, (void)first, (void)count, (void)scan_in_shared;
    for (int i = threadIdx.x; i < scan_tile; i += blockDim.x) tile[padded(i)] = i < count ? values.data[first + i] : 0;
    __syncthreads();  // the lowest level adds values that other threads have loaded into `tile`
    const std::uint64_t sum = scan_in_shared(tile);
    for (int i = threadIdx.x; i < count; i += blockDim.x) sums[first + i] = tile[padded(i)];
    if (threadIdx.x == 0) tile_sums[tile_index] = sum;
    __syncthreads();  // not needed as long as each thread overwrites only elements of `tile` that it has stored itself
    // end solution
  }
}

/// Writes the sorted keys: value v to positions sums[v] ... sums[v + 1] - 1 of the ascending order.
__global__ void place(lab::Span<std::uint8_t> keys, Vectors<std::uint8_t> vectors, const std::uint64_t* sums,
                      lab::Order order) {
  __shared__ std::uint64_t runs[byte_values + 1];
  for (int v = threadIdx.x; v <= byte_values; v += blockDim.x) runs[v] = sums[v];
  __syncthreads();  // a search reads sums that other threads have loaded into `runs`
  // begin solution
  //~ // Your code, with for_each_index(): write every vector, vectors.in(keys.data)[j], then the edges (see hint 4).
  //~ (void)&runs;
  const auto value_at = [&](std::int64_t p) {
    return unsigned(
        counter_of(runs, std::uint64_t(order == lab::Order::ascending ? p : keys.n - 1 - p), 0, byte_values));
  };
  for_each_index(vectors.count, [&](std::int64_t j) {
    const std::int64_t p = vectors.first + j * vectors.keys_per_vector;
    const unsigned first = value_at(p), four = first * 0x01010101u;
    uint4 vector = {four, four, four, four};
    if (value_at(p + vectors.keys_per_vector - 1) != first)
      vector = vector_of_bytes([&](int i) { return value_at(p + i); });
    vectors.in(keys.data)[j] = vector;
  });
  for_each_index(vectors.edges, [&](std::int64_t e) { keys.data[vectors.edge(e)] = value_at(vectors.edge(e)); });
  // end solution
}

}  // namespace

void scan_blelloch(Values values, lab::Span<std::uint64_t> sums, lab::LaunchShape shape, cudaStream_t stream) {
  const int threads = lab::threads_or(shape, scan_threads);
  // begin solution
  //~ // Your code: as in step 02, with scan_tiles_by_tree.
  //~ (void)threads, (void)scan_tiles_by_tree;
  //~ NOT_WRITTEN("step 03");
  scan_all(values, sums, shape, stream, [&](unsigned blocks, auto from, std::uint64_t* to, std::uint64_t* tile_sums) {
    scan_tiles_by_tree<<<blocks, threads, 0, stream>>>(from, to, tile_sums);
    CUDA_CHECK(cudaGetLastError());
  });
  // end solution
}

void sort_parallel(lab::Span<std::uint8_t> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  const int threads = lab::threads_or(shape, place_threads);
  const unsigned blocks = resident_blocks_or(shape, threads, keys.n, Vectors<std::uint8_t>::keys_per_vector);
  if (keys.n < 2) return;
  const lab::DeviceArray<std::uint64_t> counts = scratch<std::uint64_t>(byte_values + 1, "counters", stream);
  // begin solution
  //~ // Your code: histogram() into the first byte_values counters; 0 into the last, whose sum is then n, the end of
  //~ // the last run (counter_of() requires it, but does not read it); scan_blelloch(); place.
  //~ (void)blocks, (void)place;
  //~ NOT_WRITTEN("step 03");
  histogram({keys.data, keys.n}, {counts.data(), byte_values}, shape, stream);
  CUDA_CHECK(cudaMemsetAsync(counts.data() + byte_values, 0, sizeof(std::uint64_t), stream));
  scan_blelloch({counts.data(), counts.size()}, counts.span(), shape, stream);
  place<<<blocks, threads, 0, stream>>>(keys, Vectors<std::uint8_t>(keys.data, keys.n), counts.data(), order);
  CUDA_CHECK(cudaGetLastError());
  // end solution
}

}  // namespace counting

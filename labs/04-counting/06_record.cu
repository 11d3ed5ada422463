// Step 06: the bandwidth of the memory.
//
// Idea: a byte must be read once and written once, and nothing else should take time. Two things did in step 03:
// - Threads waited for a counter that others needed. Now each lane of a warp has a column of counters to itself, in its
//   own bank, so that no two lanes of a warp ever need the same word or the same bank, whatever the keys are.
// - Every thread searched all sums for every vector. Now each block writes one tile, which nearly always lies in one
//   run or two, so it searches all sums only twice. There are many short blocks: while one scans and searches, others
//   on the same streaming multiprocessor (SM) write.
// New since step 03: columns of counters, and tiles. For descending order the counters are reversed, not the positions.
// Limits: bytes only, because the columns of longer keys would not fit in shared memory. The number of threads per block must
// be a multiple of 32. For few keys, the launches and the counters take longer than reading and writing the keys.
#include <algorithm>
#include <bit>
#include <cstdint>

#include "counting.cuh"

namespace counting {
namespace {

using ByteVectors = Vectors<std::uint8_t>;

constexpr int lanes = 32;  // of a warp, which is also the number of banks
constexpr int keys_per_vector = ByteVectors::keys_per_vector;
constexpr int count_threads = 1024;
constexpr int count_blocks_per_sm = 2;
constexpr int min_block_keys = 1 << 12;  // with fewer, clearing and adding counters takes longer than counting
constexpr int write_threads = 256;       // small blocks, so that some write while others scan and search
constexpr int min_tile_keys = write_threads * keys_per_vector, max_tile_keys = 1 << 15;  // that such a block writes

// --- from keys to counters ---

/// Adds a vector's bytes to the lane's column, in which counter v is 32 * v words behind the first.
__device__ inline void add_to_column(unsigned* column, uint4 vector) {
#pragma unroll
  for (int i = 0; i < keys_per_vector; ++i) atomicAdd(&column[key_of<std::uint8_t>(vector, i) * lanes], 1u);
}

/// counts[v ^ flip] += the number of keys equal to v.
__global__ void __launch_bounds__(count_threads)
    count_bytes(const std::uint8_t* keys, ByteVectors vectors, std::uint64_t* counts, unsigned flip) {
  __shared__ unsigned columns[byte_values * lanes];
  // PHASE 1: clear the columns, because a block's shared memory may hold anything when the block starts.
  for (int i = threadIdx.x; i < byte_values * lanes; i += blockDim.x) columns[i] = 0;
  __syncthreads();  // a thread adds to elements of `columns` that other threads have cleared
  // Your code. PHASE 2: count the vectors, two at a time as long as there are two, and the edges. A lane has a column
  // to itself within its warp, but shares it with the same lane of the other warps. PHASE 3: add up the columns, one
  // thread per value, without bank conflicts, and add the sum to counts[v ^ flip]. Which barrier is needed?
  (void)&columns, (void)add_to_column;
}

// --- from counters to keys ---

/// sums[c] = counts[0] + ... + counts[c - 1], for c up to byte_values. Each warp scans 32 counters, and then the sums
/// of the earlier warps are added.
__device__ void scan_bytes(const std::uint64_t* counts, std::uint64_t* sums) {
  __shared__ std::uint64_t groups[byte_values / lanes];
  const int lane = threadIdx.x % lanes;
  for (int c = threadIdx.x; c < byte_values; c += blockDim.x) {
    std::uint64_t sum = counts[c];
    for (int distance = 1; distance < lanes; distance *= 2) {
      const std::uint64_t left = __shfl_up_sync(~0u, sum, distance);
      if (lane >= distance) sum += left;
    }
    sums[c + 1] = sum;
    if (lane == lanes - 1) groups[c / lanes] = sum;
  }
  if (threadIdx.x == 0) sums[0] = 0;
  __syncthreads();  // a thread adds elements of `groups` that other warps have written
  for (int c = threadIdx.x; c < byte_values; c += blockDim.x) {
    for (int group = 0; group < c / lanes; ++group) sums[c + 1] += groups[group];
  }
  __syncthreads();  // a search reads elements of `sums` that other threads have completed
}

/// The vector of keys that begins at position `position`. Their counters are among low ... high, and the key of counter
/// c is c ^ flip.
__device__ inline uint4 vector_at(const std::uint64_t* sums, std::uint64_t position, int low, int high, unsigned flip) {
  int c = counter_of(sums, position, low, high + 1);
  std::uint64_t end = sums[c + 1];  // of the run of c
  // Your code: nearly always, the run of c continues to the end of the vector. Then each of the four words holds the
  // key c ^ flip four times. Otherwise look at every position: where the run ends, find the next counter.
  (void)c, (void)end;
  return {};
}

/// Writes the sorted keys, in tiles of `tile_vectors` vectors. counts[c]: the number of keys c ^ flip.
__global__ void write_runs(std::uint8_t* keys, ByteVectors vectors, const std::uint64_t* counts, unsigned flip,
                           int tile_vectors) {
  __shared__ std::uint64_t sums[byte_values + 1];
  // PHASE 4: scan. With so few counters, this is faster in every block than in a separate kernel.
  scan_bytes(counts, sums);
  const auto position_of = [&](std::int64_t j) { return std::uint64_t(vectors.first + j * keys_per_vector); };
  for (std::int64_t begin = std::int64_t(blockIdx.x) * tile_vectors; begin < vectors.count;
       begin += std::int64_t(gridDim.x) * tile_vectors) {
    const std::int64_t end = min(vectors.count, begin + tile_vectors);
    // Your code. PHASE 5: find the counters of the tile's first and last key (counter_of). PHASE 6: write its vectors,
    // neighbouring threads next to each other: vector_at() needs to search only between these two counters.
    (void)&position_of, (void)end, (void)vector_at;
  }
  // PHASE 7: write the edges, which no vector covers.
  for_each_index(vectors.edges, [&](std::int64_t e) {
    const std::uint64_t position = vectors.edge(e);
    keys[position] = std::uint8_t(counter_of(sums, position, 0, byte_values) ^ flip);
  });
}

// --- the host's part ---

/// The number of blocks that count. If the user does not choose, at most count_blocks_per_sm on each SM. They are
/// persistent: each goes on counting until no keys are left, and then adds up its counters once.
unsigned count_blocks(lab::LaunchShape shape, std::int64_t n) {
  const unsigned blocks = lab::blocks_or(shape, n, min_block_keys);
  if (shape.blocks != 0) return blocks;
  return std::min(blocks, unsigned(lab::device_attribute(cudaDevAttrMultiProcessorCount) * count_blocks_per_sm));
}

/// The number of keys in a tile: a power of two that gives each SM four tiles or more, if there are enough keys.
int tile_keys_for(std::int64_t n) {
  const std::int64_t share = n / (4 * lab::device_attribute(cudaDevAttrMultiProcessorCount));
  return int(std::bit_floor(std::uint64_t(std::clamp<std::int64_t>(share, min_tile_keys, max_tile_keys))));
}

}  // namespace

void sort_record(lab::Span<std::uint8_t> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  const int tile_keys = tile_keys_for(keys.n);
  const unsigned counting_blocks = count_blocks(shape, keys.n);
  const unsigned writing_blocks = lab::blocks_or(shape, keys.n, tile_keys);
  const int counting_threads = lab::threads_or(shape, count_threads);
  const int writing_threads = lab::threads_or(shape, write_threads);
  if (writing_threads % lanes != 0) {
    throw lab::Unsupported("this step needs whole warps: choose a multiple of 32 as --threads, or leave it out");
  }
  if (keys.n < 2) return;
  const ByteVectors vectors(keys.data, keys.n);
  const unsigned flip = order == lab::Order::ascending ? 0 : byte_values - 1;  // exchanges the first and the last value
  const lab::DeviceArray<std::uint64_t> counts = scratch<std::uint64_t>(byte_values, "counters", stream);
  CUDA_CHECK(cudaMemsetAsync(counts.data(), 0, counts.size() * sizeof(std::uint64_t), stream));
  count_bytes<<<counting_blocks, counting_threads, 0, stream>>>(keys.data, vectors, counts.data(), flip);
  CUDA_CHECK(cudaGetLastError());
  // Your code: launch write_runs, and check the launch.
  (void)writing_blocks, (void)write_runs;
  NOT_WRITTEN("step 06");
}

}  // namespace counting

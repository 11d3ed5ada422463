// Step 06: the bandwidth of the memory.
//
// Idea: a byte must be read once and written once, and nothing else should take time. Two things did in step 03:
// - Threads waited for a counter that others needed. Now each lane of a warp has a column of counters to itself, in its
//   own bank, so that no two lanes of a warp ever need the same word or the same bank, whatever the keys are.
// - Every thread searched all sums for every vector. Now each block writes one tile, which nearly always lies in one
//   run or two, so it searches all sums only twice. There are many short blocks: while one scans and searches, others
//   on the same streaming multiprocessor (SM) write.
// New since step 03: columns of counters, and tiles. For descending order the counters are reversed, not the positions.
// Limits: unsigned keys of 8 or 16 bits, and a multiple of 32 threads per block. 16-bit keys need 2^16 counters, so
// other sorts are faster for some million of them, and for fewer on a GPU without clusters.
// Lines: 44 to write, 166 given.
#include <algorithm>
#include <bit>
#include <cstdint>

#include "few_words.cuh"
#include "packed_counters.cuh"
#include "word_scan.cuh"

namespace counting {
namespace {

constexpr int lanes = 32;  // of a warp, which is also the number of banks
constexpr int count_threads = 1024;
constexpr int write_threads = 256;        // small blocks, so that some write while others scan and search
constexpr int max_tile_keys = 1 << 15;    // that such a block writes
constexpr int min_block_bytes = 1 << 12;  // with fewer, clearing and adding counters takes longer than counting

template <class Key>
constexpr int values = 1 << 8 * sizeof(Key);
template <class Key>
constexpr int min_tile_keys = (1 << 12) / sizeof(Key);  // a vector per thread

// --- histogram of bytes ---

/// Adds a vector's bytes to the lane's column, in which counter v is 32 * v words behind the first.
__device__ inline void add_to_column(unsigned* column, uint4 vector) {
#pragma unroll
  for (int i = 0; i < 16; ++i) atomicAdd(&column[key_of<std::uint8_t>(vector, i) * lanes], 1u);
}

/// counts[v ^ flip] += the number of keys equal to v.
__global__ void __launch_bounds__(count_threads)
    count_bytes(const std::uint8_t* keys, Vectors<std::uint8_t> vectors, std::uint64_t* counts, unsigned flip) {
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
template <class Key>
__device__ inline uint4 vector_at(const std::uint64_t* sums, std::uint64_t position, int low, int high, unsigned flip) {
  constexpr int keys = Vectors<Key>::keys_per_vector, keys_per_word = 4 / sizeof(Key), bits = 8 * sizeof(Key);
  int c = counter_of(sums, position, low, high + 1);
  std::uint64_t end = sums[c + 1];  // of the run of c
  // Your code: nearly always, the run of c continues to the end of the vector. Then each of the four words holds the
  // key c ^ flip as often as it fits. Otherwise look at every position: where the run ends, find the next counter.
  (void)bits, (void)keys, (void)keys_per_word, (void)c, (void)end;
  return {};
}

/// Writes the sorted keys, in tiles of `tile_vectors` vectors. `counts` holds the counters of bytes, or the sums of those
/// of 16-bit keys and one more sum.
template <class Key>
__global__ void write_runs(Key* keys, Vectors<Key> vectors, const std::uint64_t* counts, unsigned flip,
                           int tile_vectors) {
  constexpr bool bytes = sizeof(Key) == 1;
  __shared__ std::uint64_t own_sums[bytes ? byte_values + 1 : 1];
  // PHASE 4: scan. For 256 counters, this is faster in every block than in a separate kernel.
  if constexpr (bytes) scan_bytes(counts, own_sums);
  const std::uint64_t* const sums = bytes ? own_sums : counts;
  const auto position_of = [&](std::int64_t j) { return std::uint64_t(vectors.first + j * vectors.keys_per_vector); };
  for (std::int64_t begin = std::int64_t(blockIdx.x) * tile_vectors; begin < vectors.count;
       begin += std::int64_t(gridDim.x) * tile_vectors) {
    const std::int64_t end = min(vectors.count, begin + tile_vectors);
    // Your code. PHASE 5: find the counters of the tile's first and last key (counter_of). PHASE 6: write its vectors,
    // neighbouring threads next to each other: vector_at() needs to search only between these two counters.
    (void)sums, (void)position_of, (void)end, (void)vector_at<Key>;
  }
  // PHASE 7: write the edges, which no vector covers.
  for_each_index(vectors.edges, [&](std::int64_t e) {
    const std::uint64_t position = vectors.edge(e);
    keys[position] = Key(counter_of(sums, position, 0, values<Key>) ^ flip);
  });
}

// --- the host's part ---

/// The number of blocks that count. If the user does not choose, at most `per_sm` on each SM. They are persistent: each
/// goes on counting until no keys are left, and then adds up its counters once.
unsigned count_blocks(lab::LaunchShape shape, std::int64_t bytes, int per_sm) {
  const unsigned blocks = lab::blocks_or(shape, bytes, min_block_bytes);
  if (shape.blocks != 0) return blocks;
  return std::min(blocks, unsigned(lab::device_attribute(cudaDevAttrMultiProcessorCount) * per_sm));
}

/// The number of keys in a tile: a power of two that gives each SM four tiles or more, if there are enough keys.
template <class Key>
int tile_keys_for(std::int64_t n) {
  const std::int64_t share = n / (4 * lab::device_attribute(cudaDevAttrMultiProcessorCount));
  return int(std::bit_floor(std::uint64_t(std::clamp<std::int64_t>(share, min_tile_keys<Key>, max_tile_keys))));
}

/// Queues the histogram: counts[v ^ flip] += the number of keys equal to v.
void queue_counting(lab::Span<std::uint8_t> keys, std::uint64_t* counts, unsigned flip, lab::LaunchShape shape,
                    cudaStream_t stream) {
  count_bytes<<<count_blocks(shape, keys.n, 2), lab::threads_or(shape, count_threads), 0, stream>>>(
      keys.data, Vectors<std::uint8_t>(keys.data, keys.n), counts, flip);
  CUDA_CHECK(cudaGetLastError());
}

/// The same for 16-bit keys; then replaces the counters by their sums, which would take long in every block.
void queue_counting(lab::Span<std::uint16_t> keys, std::uint64_t* counts, unsigned flip, lab::LaunchShape shape,
                    cudaStream_t stream) {
  count_words({keys.data, keys.n}, counts, flip, count_blocks(shape, 2 * keys.n, 1),
              lab::threads_or(shape, count_threads), stream);
  scan_counters_of_words(counts, stream);
}

}  // namespace

bool sorts_in_one_launch(lab::Span<std::uint16_t> keys) { return fits_one_cluster(keys); }

template <class Key>
void sort_record(lab::Span<Key> keys, lab::Order order, lab::LaunchShape shape, cudaStream_t stream) {
  const int tile_keys = tile_keys_for<Key>(keys.n);
  const unsigned blocks = lab::blocks_or(shape, keys.n, tile_keys);
  const int threads = lab::threads_or(shape, write_threads);
  if (threads % lanes != 0) {
    throw lab::Unsupported("this step needs whole warps: choose a multiple of 32 as --threads, or leave it out");
  }
  if (keys.n < 2) return;
  const unsigned flip = order == lab::Order::ascending ? 0 : values<Key> - 1;  // exchanges the first and the last value
  if constexpr (sizeof(Key) == 2) {
    const bool auto_shape = shape.blocks == 0 && shape.threads == 0;
    if (auto_shape && sorts_in_one_launch(keys)) return sort_in_one_cluster(keys, flip, stream);
  }
  const lab::DeviceArray<std::uint64_t> counts = scratch<std::uint64_t>(values<Key> + 1, "counters", stream);
  CUDA_CHECK(cudaMemsetAsync(counts.data(), 0, counts.size() * sizeof(std::uint64_t), stream));
  queue_counting(keys, counts.data(), flip, shape, stream);
  // Your code: launch write_runs, and check the launch.
  (void)blocks, (void)write_runs<Key>;
  NOT_WRITTEN("step 06");
}

template void sort_record(lab::Span<std::uint8_t>, lab::Order, lab::LaunchShape, cudaStream_t);
template void sort_record(lab::Span<std::uint16_t>, lab::Order, lab::LaunchShape, cudaStream_t);

}  // namespace counting

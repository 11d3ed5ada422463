// Step 03: partition first.
//
// Idea: what is in order before the keys come back need not be merged. Splitters, which are keys from a sample, divide
// the keys into buckets that fit into a slot. In a first round trip to the device each piece is grouped by bucket. In a
// second round trip each bucket is gathered from all pieces, sorted, and copied to its final place. The host touches no
// key but the sample. A radix sort that begins with its highest digit (MSD, most significant digit first) partitions in
// the same way.
// New since step 02: a kernel that groups keys by any number of buckets, and splitters instead of digits, so that the
// buckets have about the same size whatever the distribution of the keys. The keys equal to a splitter have a separate
// bucket, so they cannot fill one that needs a sort. A bucket that is still too large is divided again.
//- Cost: every key is copied in and out twice, and everything else is hidden behind these copies.
// Limits: pieces of at most 2^30 keys, so that 32 bits are enough for a position in a piece.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "05-radix/scan.cuh"
#include "buckets.h"
#include "step/launch_shape.h"
#include "step/pinned_array.h"

namespace beyond {
namespace {

constexpr int threads_per_block = bucket_count;  // so that each thread sums up the counts of one bucket
constexpr int keys_per_thread = 16;
constexpr int tile_size = threads_per_block * keys_per_thread;
constexpr std::int64_t max_keys_per_slot = std::int64_t{1} << 30;
constexpr std::int64_t max_pieces = 72;  // 72 / 0.6 = 120 splitters, of at most max_splitters

/// The bucket of a key (struct Splitters describes them). `splitters`: n of them, in shared memory.
__device__ int bucket_of(unsigned bits, const unsigned* splitters, int n) {
  // begin solution
  //~ // Your code: a binary search for the first splitter that is not less than `bits`. Is it equal?
  //~ return 0;
  int first = 0, last = n;
  while (first < last) {
    const int middle = (first + last) / 2;
    if (splitters[middle] < bits) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return 2 * first + (first < n && splitters[first] == bits ? 1 : 0);
  // end solution
}

/// Copies the splitters to shared memory. A barrier must follow.
__device__ void load_splitters(const Splitters& splitters, unsigned* shared) {
  for (int i = threadIdx.x; i < splitters.n; i += blockDim.x) shared[i] = splitters.bits[i];
}

/// Adds the number of keys in each bucket to `counts`, which are 0 at the start.
__global__ void count_buckets(lab::Span<const unsigned> keys, Splitters splitters, unsigned inversion,
                              unsigned* counts) {
  __shared__ unsigned block_splitters[max_splitters], block_counts[bucket_count];
  load_splitters(splitters, block_splitters);
  block_counts[threadIdx.x] = 0;
  __syncthreads();  // a thread uses `block_counts` and `block_splitters`, which others have cleared and filled
  const std::int64_t first = std::int64_t(blockIdx.x) * threads_per_block + threadIdx.x;
  for (std::int64_t i = first; i < keys.n; i += std::int64_t(gridDim.x) * threads_per_block) {
    atomicAdd(&block_counts[bucket_of(keys.data[i] ^ inversion, block_splitters, splitters.n)], 1u);
  }
  __syncthreads();  // a thread reads elements of `block_counts` to which other threads have added
  if (block_counts[threadIdx.x] > 0) atomicAdd(&counts[threadIdx.x], block_counts[threadIdx.x]);
}

/// Stores where the buckets begin in the piece.
__global__ void scan_counts(const unsigned* counts, unsigned* begins) {
  __shared__ unsigned warp_sums[bucket_count / 32];
  unsigned total;
  begins[threadIdx.x] = radix::block_exclusive_sum(counts[threadIdx.x], warp_sums, total);
}

/// What the threads of a block share while they group a tile.
struct Tile {
  unsigned splitters[max_splitters];
  unsigned counts[bucket_count];   ///< of the tile's keys in each bucket
  unsigned firsts[bucket_count];   ///< where a bucket begins in the tile
  unsigned offsets[bucket_count];  ///< where the tile's keys of a bucket begin in the piece, less its element of firsts
  unsigned warp_sums[bucket_count / 32];
  unsigned keys[tile_size];          ///< grouped by bucket
  unsigned char buckets[tile_size];  ///< of the keys
};

/// How all tiles of a piece are grouped.
struct Grouping {
  int splitter_count;
  unsigned inversion;
  unsigned* next;  ///< the next free place of each bucket in `to`
  unsigned* to;
};

/// Groups the keys of one tile. `count`: of the tile's keys.
__device__ void group_tile(Tile& tile, const unsigned* from, int count, const Grouping& grouping) {
  const int t = threadIdx.x;
  // begin solution
  //~ // Your code, in five phases: clear the tile's counters. Find the bucket of each of the thread's keys, t, t + 256,
  //~ // ..., and its rank: how many keys of its bucket have been counted before, which atomicAdd returns. With one thread
  //~ // per bucket, find where the bucket begins in the tile (radix::block_exclusive_sum), and reserve places for its keys
  //~ // by one atomicAdd to grouping.next[bucket]. Put keys and buckets into tile.keys and tile.buckets. Store them in that
  //~ // order, so that neighbouring threads store to neighbouring places. Which barriers are needed?
  //~ (void)t, (void)grouping;
  unsigned keys[keys_per_thread];
  unsigned short ranks[keys_per_thread];
  unsigned char buckets[keys_per_thread];
  tile.counts[t] = 0;
  __syncthreads();  // a thread adds to elements of tile.counts that other threads have cleared
#pragma unroll
  for (int row = 0; row < keys_per_thread; ++row) {
    const int i = row * threads_per_block + t;
    if (i >= count) break;
    keys[row] = from[i];
    const unsigned bits = keys[row] ^ grouping.inversion;
    buckets[row] = static_cast<unsigned char>(bucket_of(bits, tile.splitters, grouping.splitter_count));
    ranks[row] = static_cast<unsigned short>(atomicAdd(&tile.counts[buckets[row]], 1u));
  }
  __syncthreads();  // a thread reads elements of tile.counts to which other threads have added
  unsigned total;
  const unsigned own = tile.counts[t], first = radix::block_exclusive_sum(own, tile.warp_sums, total);
  tile.firsts[t] = first;
  tile.offsets[t] = (own > 0 ? atomicAdd(&grouping.next[t], own) : 0) - first;
  __syncthreads();  // a thread reads elements of tile.firsts that other threads have written
#pragma unroll
  for (int row = 0; row < keys_per_thread; ++row) {
    if (row * threads_per_block + t >= count) break;
    const unsigned at = tile.firsts[buckets[row]] + ranks[row];
    tile.keys[at] = keys[row];
    tile.buckets[at] = buckets[row];
  }
  __syncthreads();  // a thread stores keys from tile.keys by tile.buckets and tile.offsets, which others have written
  for (int i = t; i < count; i += threads_per_block) grouping.to[tile.offsets[tile.buckets[i]] + i] = tile.keys[i];
  // end solution
}

/// Groups a piece by bucket, in any order within a bucket.
__global__ void group(lab::Span<const unsigned> keys, Splitters splitters, unsigned inversion, unsigned* next,
                      unsigned* to) {
  __shared__ Tile tile;
  load_splitters(splitters, tile.splitters);
  __syncthreads();  // not needed as long as group_tile(), which reads tile.splitters, begins with a barrier
  const std::int64_t stride = std::int64_t(gridDim.x) * tile_size;
  for (std::int64_t first = std::int64_t(blockIdx.x) * tile_size; first < keys.n; first += stride) {
    const int count = keys.n - first < tile_size ? int(keys.n - first) : tile_size;
    group_tile(tile, keys.data + first, count, {splitters.n, inversion, next, to});
  }
}

__global__ void fill(lab::Span<unsigned> keys, unsigned value) {
  const std::int64_t first = std::int64_t(blockIdx.x) * threads_per_block + threadIdx.x;
  for (std::int64_t i = first; i < keys.n; i += std::int64_t(gridDim.x) * threads_per_block) {
    keys.data[i] = value;
  }
}

/// What does not change in a sort.
struct Sort {
  lab::Order order;
  std::uint32_t inversion;
  std::int64_t capacity;  ///< keys that fit into a slot
  lab::LaunchShape shape;
  Slots& slots;
};

/// Queues the copy of a piece to its slot, slot piece % slot_count. Does nothing if there is no such piece.
void copy_piece_in(const Sort& sort, Keys keys, std::int64_t piece) {
  const std::int64_t first = piece * sort.capacity, count = std::min(sort.capacity, keys.n - first);
  const Slot& slot = sort.slots.begin()[piece % slot_count];
  if (count > 0) copy_in(slot.keys.data(), keys.data + first, count, slot.stream);
}

/// The first round trip: groups each piece of `keys` by bucket, and copies it to the same place of `scratch`. The first
/// piece of each slot is on its way to the slot. Stores to `counts`, for each piece, how many keys each bucket has.
void group_pieces(const Sort& sort, Keys keys, Keys scratch, const Splitters& splitters, unsigned* counts) {
  std::vector<lab::DeviceArray<unsigned>> grouped, counters;  // of each slot; counts, then next places
  for (Slot& slot : sort.slots) {
    grouped.emplace_back(sort.capacity, slot.stream);
    counters.emplace_back(2 * bucket_count, slot.stream);
  }
  // begin solution
  //~ // Your code, for each piece, in the stream of slot piece % slot_count, whose keys are there or on their way. Clear
  //~ // the slot's counts, and launch count_buckets, scan_counts and group. Copy the counts to counts + piece *
  //~ // bucket_count, and the grouped keys out. Then the slot is free for piece + slot_count: copy_piece_in(). A block of
  //~ // group should have about tile_size keys, and a block of count_buckets several times as many, because it adds up to
  //~ // 256 counters to those in global memory.
  //~ (void)keys, (void)scratch, (void)splitters, (void)counts, (void)count_buckets, (void)scan_counts, (void)group;
  //~ NOT_WRITTEN("step 03");
  for (std::int64_t piece = 0; piece * sort.capacity < keys.n; ++piece) {
    const std::int64_t first = piece * sort.capacity, n = std::min(sort.capacity, keys.n - first);
    const Slot& slot = sort.slots.begin()[piece % slot_count];
    unsigned* const counter = counters[piece % slot_count].data();
    unsigned* const next = counter + bucket_count;
    unsigned* const to = grouped[piece % slot_count].data();
    const lab::Span<const unsigned> piece_keys{slot.keys.data(), n};
    CUDA_CHECK(cudaMemsetAsync(counter, 0, bucket_count * sizeof(unsigned), slot.stream));
    count_buckets<<<lab::blocks_or(sort.shape, n, 16 * tile_size), threads_per_block, 0, slot.stream>>>(
        piece_keys, splitters, sort.inversion, counter);
    CUDA_CHECK(cudaGetLastError());
    scan_counts<<<1, bucket_count, 0, slot.stream>>>(counter, next);
    CUDA_CHECK(cudaGetLastError());
    group<<<lab::blocks_or(sort.shape, n, tile_size), threads_per_block, 0, slot.stream>>>(piece_keys, splitters,
                                                                                           sort.inversion, next, to);
    CUDA_CHECK(cudaGetLastError());
    // Only now, because the kernels would wait for it, and it waits until another slot's keys have been copied out.
    copy_out(counts + piece * bucket_count, counter, bucket_count, slot.stream);
    copy_out(scratch.data + first, to, n, slot.stream);
    copy_piece_in(sort, keys, piece + slot_count);
  }
  // end solution
  sort.slots.synchronize();  // the host reads the counts, and all buckets must be there before the first is gathered
}

/// Where the keys of each bucket are after the first round trip.
std::vector<Chunks> find_chunks(const Sort& sort, Keys scratch, const Splitters& splitters, const unsigned* counts) {
  std::vector<std::int64_t> sizes(splitters.buckets());
  const std::int64_t pieces = (scratch.n + sort.capacity - 1) / sort.capacity;
  const auto count_of = [&](std::int64_t piece, std::size_t bucket) {
    return std::int64_t{counts[piece * bucket_count + std::int64_t(bucket)]};
  };
  for (std::int64_t piece = 0; piece < pieces; ++piece) {
    for (std::size_t bucket = 0; bucket < sizes.size(); ++bucket) sizes[bucket] += count_of(piece, bucket);
  }
  std::vector<Chunks> buckets(sizes.size());
  for (std::int64_t piece = 0; piece < pieces; ++piece) {
    const std::uint32_t* at = scratch.data + piece * sort.capacity;
    for (std::size_t bucket = 0; bucket < sizes.size(); ++bucket) {
      buckets[gathered_with(bucket, sizes, sort.capacity)].add(at, count_of(piece, bucket));
      at += count_of(piece, bucket);
    }
  }
  return buckets;
}

/// The second round trip: brings every bucket to its place in `keys`, in order if it fits into a slot or has only one
/// value. Returns the places of the others.
std::vector<Keys> sort_buckets(const Sort& sort, Keys keys, std::vector<Chunks>& buckets, const Splitters& splitters) {
  std::vector<Keys> too_large;
  std::uint32_t* to = keys.data;
  for (std::size_t bucket = 0; bucket < buckets.size(); ++bucket) {
    Chunks& chunks = buckets[bucket];
    const bool has_one_value = bucket % 2 == 1, fits = chunks.size() <= sort.capacity;
    if (!has_one_value && !fits) too_large.push_back({to, chunks.size()});
    for (std::int64_t left = chunks.size(); left > 0;) {
      const std::int64_t n = std::min(left, sort.capacity);
      Slot& slot = sort.slots.next();
      // begin solution
      //~ // Your code, in the slot's stream: n keys of the bucket go to slot.keys. If it has only one value, that of
      //~ // splitter bucket / 2, `fill` makes them on the device. Otherwise chunks.copy_next() copies them there, and
      //~ // sort_piece() sorts them, if the bucket fits. Then they are copied out to `to`.
      //~ (void)splitters, (void)slot, (void)fill;
      //~ NOT_WRITTEN("step 03");
      if (has_one_value) {
        fill<<<lab::blocks_or(sort.shape, n, tile_size), threads_per_block, 0, slot.stream>>>(
            lab::Span<unsigned>{slot.keys.data(), n}, splitters.bits[bucket / 2] ^ sort.inversion);
        CUDA_CHECK(cudaGetLastError());
      } else {
        chunks.copy_next(slot.keys.data(), n, slot.stream);
        if (fits) sort_piece(slot.keys.data(), n, sort.order, sort.shape.blocks, slot.stream);
      }
      copy_out(to, slot.keys.data(), n, slot.stream);
      // end solution
      to += n;
      left -= n;
    }
  }
  sort.slots.synchronize();  // the keys are in place, and the scratch is free again
  return too_large;
}

/// In how many pieces n keys are grouped, if the slots are large enough.
//- Nothing overlaps with the first copy in and the last copy out of a round trip, which favours many pieces. But the
//- kernels of other slots are hidden only while a piece is copied, and launching and running them takes some time even
//- for few keys. The number of pieces that minimizes the sum of both costs grows with the square root of n.
std::int64_t pieces_for(std::int64_t n) {
  std::int64_t pieces = 1;
  while (pieces < max_pieces && (pieces * pieces << 18) < n) ++pieces;
  return pieces;
}

/// Sorts `keys`. `scratch` has room for as many.
void sort_keys(const Sort& sort, Keys keys, Keys scratch) {
  const std::int64_t pieces = (keys.n + sort.capacity - 1) / sort.capacity;
  for (int piece = 0; piece < slot_count; ++piece) copy_piece_in(sort, keys, piece);  // while the host reads the sample
  const lab::PinnedArray<unsigned> counts(pieces * bucket_count);
  // With 6/10 of the keys that fit into a slot, few buckets are too large, although a sample only estimates sizes.
  const Splitters splitters = choose_splitters(keys, sort.capacity * 6 / 10, sort.inversion);
  group_pieces(sort, keys, scratch, splitters, counts.data());
  std::vector<Chunks> buckets = find_chunks(sort, scratch, splitters, counts.data());
  for (const Keys& bucket : sort_buckets(sort, keys, buckets, splitters)) {
    sort_keys(sort, bucket, {scratch.data + (bucket.data - keys.data), bucket.n});
  }
}

}  // namespace

void sort_partition(Keys keys, Keys scratch, lab::Order order, std::int64_t device_bytes, lab::LaunchShape shape,
                    cudaStream_t stream) {
  if (lab::threads_or(shape, 0) != 0) {
    throw lab::Unsupported("the kernels of this step choose their threads per block: leave out --threads");
  }
  lab::blocks_or(shape, keys.n, 1);  // refuses impossible numbers
  const std::int64_t fits = std::min(keys_per_slot(usable_bytes(device_bytes)), max_keys_per_slot);
  if (keys.n < 2) return;
  const std::int64_t pieces = pieces_for(keys.n), capacity = std::min(fits, (keys.n + pieces - 1) / pieces);
  Slots slots(capacity);
  CUDA_CHECK(cudaStreamSynchronize(stream));  // earlier work in it may still write the keys
  sort_keys({order, inversion_of(order), capacity, shape, slots}, keys, scratch);
}

}  // namespace beyond
